"""Volumes on LVM, without device-mapper: the formula reads the tools' answers right, and refuses forbidden requests.

A real LVM gave the recorded answers (`recorded/`). Disks are loop devices of the machine that runs the tests.
The laboratory makes volumes on a real LVM: it has guests with a kernel of their own.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time
import types

import pytest
from packages import cannot_have

from laboratory import FORMULA, MINION

# By program: Debian's package.
PACKAGES = {
    "lvm": "lvm2",
    "mkfs.btrfs": "btrfs-progs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkswap": "util-linux",
    "wipefs": "util-linux",
}

RECORDED = pathlib.Path(__file__).parent / "recorded"
ID = "production/pg/data"
MIB = 1 << 20
DAY = 86400
FACTS = {
    "volume_id": ID,
    "path": "/nowhere/pg",
    "user": 472,
    "group": "472",
    "mode": "0750",
    "volume": "pg",
    "volume_group": "data-vg",
    "devices": [],
    "size": 100 * MIB,
    "filesystem": "ext4",
}


@pytest.fixture
def formula(load, tmp_path):
    """The storage modules wired to each other, as Salt does: `formula("eos_lvm.parsed")` is a function of them."""
    functions: dict = {}
    options = {"id": MINION, "cachedir": str(tmp_path / "cache"), "test": False, "eos": {"roles": {}}}
    for kind in ("_utils", "_modules"):
        for file in sorted((FORMULA / kind).glob("eos_*.py")):
            if not (kind == "_utils" or file.name.startswith(("eos_storage", "eos_volumes", "eos_roles"))):
                continue
            module = load(f"{kind}/{file.name}", opts=options, salt=functions, utils=functions)
            for name in dir(module):
                if isinstance(getattr(module, name), types.FunctionType) and not name.startswith("_"):
                    functions[f"{file.stem}.{name}"] = getattr(module, name)
    functions["event.send"] = lambda *_: True
    functions["pillar.items"] = lambda **_: {}

    def function(name: str, instead: object = None):
        if instead is not None:
            functions[name] = instead
        return functions[name]

    return function


@pytest.fixture
def recorded(formula):
    """The minion has what LVM once reported."""
    report = formula("eos_lvm.parsed")((RECORDED / "lvm-report.json").read_text())
    formula("eos_lvm.report", lambda _: report)
    formula("eos_command.is_installed", lambda _: True)
    if os.geteuid() != 0:
        pytest.skip("LVM tells nothing to who is not root")
    return report


class Disks:
    """Loop devices that are gone after the test."""

    def __init__(self, directory: pathlib.Path):
        self.directory, self.made, self.mounted = directory, [], []

    def make(self, size: int = 100 * MIB, *options: str) -> str:
        file = self.directory / f"disk{len(self.made)}"
        with file.open("wb") as disk:
            disk.truncate(size)
        ran = subprocess.run(["losetup", "--find", "--show", *options, file], capture_output=True, text=True)
        if ran.returncode:
            pytest.skip(f"no loop device can be made here: {ran.stderr.strip()}")
        self.made.append(ran.stdout.strip())
        return self.made[-1]

    def mount(self, device: str, *options: str) -> pathlib.Path:
        path = self.directory / f"mount{len(self.mounted)}"
        path.mkdir()
        ran = subprocess.run(["mount", *options, device, path], capture_output=True, text=True)
        if ran.returncode:
            pytest.skip(f"nothing can be mounted here: {ran.stderr.strip()}")
        self.mounted.append(path)
        return path

    def grow(self, device: str, size: int):
        os.truncate(self.directory / f"disk{self.made.index(device)}", size)
        subprocess.run(["losetup", "--set-capacity", device], check=True)

    def end(self):
        for path in self.mounted:
            subprocess.run(["umount", path], check=False, capture_output=True)
        for device in self.made:
            subprocess.run(["losetup", "--detach", device], check=False)


@pytest.fixture
def disks(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("a loop device needs root")
    made = Disks(tmp_path)
    yield made
    made.end()


def needs(*programs: str):
    """Installs what is missing of these."""
    if why := cannot_have({program: PACKAGES[program] for program in programs}, "packages are root's to install"):
        pytest.skip(why)


def refused(answer: dict, words: str):
    """A sentence that names the object, and a hint."""
    assert (answer["result"], answer["changes"]) == (False, {}), answer
    assert words in answer["comment"], answer
    sentence, _, hint = answer["comment"].partition("\nhint: ")
    assert hint and not sentence.endswith("."), answer


def test_what_lvm_reports_is_read(formula):
    report = formula("eos_lvm.parsed")((RECORDED / "lvm-report.json").read_text())
    group = report.groups["data-vg"]
    assert (group.size, group.free, group.extent) == (1065353216, 578813952, 4 * MIB)
    assert (group.devices, report.unused) == (["/dev/ubda", "/dev/ubdb"], ["/dev/ubdc"])
    volumes = {volume.name: volume for volume in report.volumes}
    main, snapshot, small, old = (volumes[name] for name in ("pg", "pg.before", "pg.small", "pg.old"))
    assert (main.size, main.tags, main.belongs_to) == (100 * MIB, {"eos.volume": ID}, ID)
    assert (main.number, main.path) == (os.makedev(254, 0), "/dev/data-vg/pg")
    assert (snapshot.is_snapshot, snapshot.origin, snapshot.is_valid, snapshot.used_percent) == (
        True,
        "pg",
        True,
        50.21,
    )
    assert (snapshot.made, small.is_valid) == ("2026-11-16T22:11:33Z", False)
    assert (old.number, old.tags["eos.old"]) == (None, "2026-11-16T21_00_00Z")
    assert volumes["foreign"].belongs_to is None
    assert not volumes["pg.late"].is_snapshot
    assert [one.name for one in report.snapshots_of(main)] == ["pg.before", "pg.small"]


def test_a_merge_that_goes_on_is_seen(formula):
    report = formula("eos_lvm.parsed")((RECORDED / "lvm-report-merging.json").read_text())
    merging = [volume.name for volume in report.volumes if volume.is_merging]
    assert merging == ["m"]


def test_sizes_are_what_lvm_makes_of_them(formula):
    rounded, room_on = formula("eos_lvm.rounded"), formula("eos_lvm.room_on")
    assert [rounded(size * MIB, 4 * MIB) // MIB for size in (1, 4, 5, 400)] == [4, 4, 8, 400]
    # As the recorded group says of its two disks.
    assert 2 * room_on(536870912) == 1065353216
    assert formula("eos_lvm.as_tag")("2026-11-16T21:00:00Z") == "2026-11-16T21_00_00Z"
    assert formula("eos_lvm.time_of_tag")("2026-11-16T21_00_00Z") == "2026-11-16T21:00:00Z"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"volume": "foreign"}, "is there already and was not made by Eos"),
        ({"volume": "m"}, "is there already and is volume production/m/data"),
        ({"volume_group": "other-vg"}, "is volume data-vg/pg already"),
        ({"volume_id": "production/new/data", "volume": "new", "volume_group": "no-vg"}, "no disk to make it of"),
        (
            {"volume_id": "production/new/data", "volume": "new", "size": 4 << 30},
            "has 552 MiB free, and volume data-vg/new needs 4 GiB",
        ),
        (
            {"volume_id": "production/new/data", "volume": "new", "filesystem": "xfs"},
            "is too small for xfs, which needs 300 MiB",
        ),
        ({"size": 0}, "size is not a number of bytes"),
        ({"size": "100"}, "size is not a number of bytes"),
        ({"path": "relative"}, "path is not of the form"),
        ({"volume": "pg.old"}, "volume is not of the form"),
        ({"volume": "--help"}, "volume is not of the form"),
        ({"volume_group": "-y"}, "volume_group is not of the form"),
        ({"filesystem": "ntfs"}, "filesystem is none of"),
        ({"snapshots": {"old": MIB}}, "snapshots is not of the form"),
        ({"snapshots": {"eos-convert": MIB}}, "snapshots is not of the form"),
        ({"devices": ["sdb"]}, "devices is not of the form"),
        ({"compression": "zstd,exec"}, "compression is not of the form"),
        ({"mode": "0999"}, "mode is not of the form"),
    ],
)
def test_what_must_not_be_is_refused(formula, recorded, facts, words):
    for test in (True, False):
        refused(formula("eos_storage.ensure")(test=test, **{**FACTS, **facts}), words)


def test_a_directory_with_files_is_not_hidden(formula, recorded, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_text("precious")
    refused(formula("eos_storage.ensure")(**{**FACTS, "path": str(tmp_path / "data")}), "is not empty")
    (tmp_path / "file").write_text("precious")
    refused(formula("eos_storage.ensure")(**{**FACTS, "path": str(tmp_path / "file")}), "is not a directory")


def test_what_else_is_mounted_stays(formula, recorded):
    refused(formula("eos_storage.ensure")(**{**FACTS, "path": "/proc"}), "/proc has proc mounted on it")


def test_a_remnant_is_known_by_its_tag(formula, recorded):
    """LVM makes a plain volume first and turns it into a snapshot then; a kept old volume is none."""
    removed = []
    formula("eos_lvm.remove", lambda _, name: removed.append(name) or (_ for _ in ()).throw(OSError("enough")))
    formula("eos_storage.ensure")(**FACTS)
    assert removed == ["data-vg/pg.late"]


@pytest.mark.parametrize(("devices", "expected"), [([], "medium"), (["/dev/nowhere"], "high")])
def test_a_run_that_finds_something_unfinished_counts_as_what_it_may_go_on_to_do(formula, recorded, devices, expected):
    """To clear away a remnant changes nothing of the volume; what comes after it does."""
    recorded_size = formula("eos_storage.report")().volume("data-vg", "pg").size
    facts = {**FACTS, "risk": "low", "size": recorded_size, "devices": devices}
    assert formula("eos_storage.risk")(facts, ID) == expected


def test_without_lvm_there_is_nothing_and_the_package_is_named(formula):
    formula("eos_command.is_installed", lambda program: program != "lvm")
    storage = formula("eos_storage_report.of_this_minion")({})
    assert (storage["groups"], storage["volumes"], storage["tools"]["lvm"]) == ([], [], False)
    if os.geteuid() == 0:
        answer = formula("eos_storage.ensure")(**FACTS)
        refused(answer, "lvm is not installed")
        assert "lvm2" in answer["comment"]


def test_disks_are_told_with_why_not(formula, disks):
    needs("mkfs.ext4", "mkswap", "wipefs")
    run, report = formula("eos_command.run"), formula("eos_lvm.nothing")()
    clean, filesystem, swap, small, table = (disks.make(size * MIB) for size in (100, 100, 100, 32, 100))
    for command in (["mkfs.ext4", "-q", filesystem], ["mkswap", swap]):
        subprocess.run(command, check=True, capture_output=True)
    sector = bytearray(512)
    sector[446:462] = bytes([0, 0, 2, 0, 0x83, 255, 255, 255, 0, 8, 0, 0, 0, 64, 0, 0])
    sector[510:] = b"\x55\xaa"
    pathlib.Path(table).write_bytes(bytes(sector))
    fixed = disks.make(100 * MIB, "--read-only")
    used = disks.make()
    subprocess.run(["mkfs.ext4", "-q", used], check=True)
    point = disks.mount(used)

    def why(path: str) -> str | None:
        return formula("eos_block.why_unusable")(run, path, report, formula("eos_mount.table")())

    before = pathlib.Path(filesystem).read_bytes()
    assert why(clean) is None
    assert why(filesystem) == "holds a filesystem (ext4)"
    assert (why(swap), why(small), why(table)) == ("swap", "smaller than 64 MiB", "partitioned")
    assert (why(fixed), why(used)) == ("read-only", f"mounted at {point}")
    assert why("/dev/null") == "is not a block device"
    assert why("/nowhere") == "cannot be read: No such file or directory"
    assert pathlib.Path(filesystem).read_bytes() == before


def test_a_physical_volume_is_told_with_its_group(formula, disks):
    needs("lvm")
    run = formula("eos_command.run")
    of_group, unused = disks.make(), disks.make()
    subprocess.run(["pvcreate", "--quiet", unused], check=True, capture_output=True)
    made = ["vgcreate", "--quiet", "--autobackup", "n", "eos-test-vg", of_group]
    subprocess.run(made, check=True, capture_output=True)
    try:
        report = formula("eos_lvm.report")(run)
        assert report.groups["eos-test-vg"].devices == [of_group]
        why = formula("eos_block.why_unusable")
        assert why(run, of_group, report, []) == "physical volume of group eos-test-vg"
        # It is in nobody's group: vgcreate that was cut off leaves one.
        assert why(run, unused, report, []) is None
    finally:
        subprocess.run(["vgremove", "--quiet", "--force", "eos-test-vg"], check=True, capture_output=True)


@pytest.mark.parametrize("kind", ["ext4", "swap"])
def test_a_disk_that_holds_something_is_never_taken(formula, disks, kind):
    needs("lvm", "mkfs.ext4", "mkswap")
    disk = disks.make()
    subprocess.run(["mkswap" if kind == "swap" else "mkfs.ext4", disk], check=True, capture_output=True)
    before = pathlib.Path(disk).read_bytes()
    facts = {**FACTS, "volume_group": "eos-test-none", "devices": [disk], "size": 64 * MIB}
    refused(formula("eos_storage.ensure")(**facts), f"{disk} ")
    assert pathlib.Path(disk).read_bytes() == before
    assert formula("eos_storage.risk")({**facts, "risk": "low"}, ID) == "high"


@pytest.mark.parametrize("kind", ["xfs", "ext4", "btrfs"])
def test_a_filesystem_is_made_measured_and_grown(formula, disks, kind):
    needs(formula("eos_filesystem.program")(kind))
    run = formula("eos_command.run")
    disk = disks.make(320 * MIB)
    assert formula("eos_filesystem.probe_one")(run, disk) == {"type": None, "uuid": None}
    formula("eos_filesystem.make")(run, disk, kind)
    found = formula("eos_filesystem.probe_one")(run, disk)
    assert found["type"] == kind and found["uuid"]
    size, is_short = formula("eos_filesystem.size"), formula("eos_filesystem.is_short")
    assert size(disk, kind, None) == 320 * MIB
    point = disks.mount(disk)
    (point / "file").write_text("data")
    disks.grow(disk, 400 * MIB)
    assert size(disk, kind, str(point)) == 320 * MIB and is_short(320 * MIB, 400 * MIB)
    try:
        formula("eos_filesystem.grow")(run, disk, kind, str(point))
    except Exception as failure:
        if "Permission denied" not in str(failure):
            raise
        pytest.skip(f"this machine's kernel grows no {kind} for us: {failure.info['words']}")
    assert size(disk, kind, str(point)) == 400 * MIB
    assert (point / "file").read_text() == "data"
    assert formula("eos_filesystem.usage")(str(point))["capacity"] > 300 * MIB


def test_who_has_files_open_is_named(formula, disks):
    needs("mkfs.ext4")
    disk = disks.make()
    subprocess.run(["mkfs.ext4", "-q", disk], check=True)
    point = disks.mount(disk)
    opened = formula("eos_mount.open_files")
    assert opened([str(point)]) == {}
    with (point / "file").open("w"):
        assert f"(pid {os.getpid()})" in opened([str(point)])[str(point)]
    sleeper = subprocess.Popen(["sleep", "100"], cwd=point)
    try:
        assert opened([str(point)]) == {str(point): f"sleep (pid {sleeper.pid})"}
    finally:
        sleeper.kill()
        sleeper.wait()


def test_fstab_keeps_every_other_line(load, tmp_path):
    mount = load("_utils/eos_mount.py")
    mount._FSTAB = str(tmp_path / "fstab")
    others = "# a comment\nUUID=1 / ext4 defaults 0 1\n\n/dev/sdb1 /srv/other\\040name xfs defaults 0 0"
    (tmp_path / "fstab").write_text(others)
    mount.write_fstab("/srv/x y", "/dev/data-vg/pg", "xfs", "defaults,nofail")
    line = "/dev/data-vg/pg /srv/x\\040y xfs defaults,nofail 0 0\n"
    assert (tmp_path / "fstab").read_text() == f"{others}\n{line}"
    assert mount.fstab_entry("/srv/x y")[:2] == ["/dev/data-vg/pg", "/srv/x y"]
    assert mount.fstab_entry("/srv/other name")[0] == "/dev/sdb1"
    mount.write_fstab("/srv/x y", "/dev/data-vg/pg", "ext4", "defaults")
    assert (tmp_path / "fstab").read_text().count("/srv/x") == 1
    mount.forget_fstab("/srv/x y", "/dev/other-vg/pg")
    assert mount.fstab_entry("/srv/x y") is not None
    mount.forget_fstab("/srv/x y", "/dev/data-vg/pg")
    assert (tmp_path / "fstab").read_text() == f"{others}\n"


def test_mounts_are_read_with_their_blanks(load):
    mount = load("_utils/eos_mount.py")
    line = "30 22 254:0 / /srv/x\\040y rw,noatime shared:1 - xfs /dev/mapper/data--vg-pg rw,attr2,inode64\n"
    parsed = mount.parsed(line)
    assert (parsed.path, parsed.number, parsed.filesystem) == ("/srv/x y", os.makedev(254, 0), "xfs")
    assert (parsed.source, parsed.root) == ("/dev/mapper/data--vg-pg", "/")
    assert "noatime" in parsed.options and "inode64" in parsed.options


def test_a_copy_is_compared_in_all_that_a_file_is(load, tmp_path):
    manifest = load("_utils/eos_manifest.py")
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "deep" / "er").mkdir(parents=True)
    (source / "a").write_text("a")
    os.link(source / "a", source / "deep" / "b")
    (source / "link").symlink_to("/nowhere")
    (source / "deep" / "blank\n\udcff").write_text("odd name")
    os.mkfifo(source / "fifo")
    with (source / "sparse").open("wb") as file:
        file.seek(20 * MIB)
        file.write(b"x")
    with contextlib.suppress(OSError):
        os.setxattr(source / "a", "user.eos", b"value")

    def differences() -> list[str]:
        return manifest.differences(manifest.scan(str(source)), manifest.scan(str(copy)))

    def copied() -> list[str]:
        shutil.rmtree(copy, ignore_errors=True)
        subprocess.run(["cp", "-a", "--sparse=always", "--", source, copy], check=True)
        return differences()

    assert copied() == []
    changes = {
        "content": (lambda: (copy / "a").write_text("b"), "a differs in sha256"),
        "mode": (lambda: (copy / "deep" / "er").chmod(0o711), "deep/er differs in mode"),
        "time": (lambda: os.utime(copy / "sparse", (1, 1)), "sparse differs in time"),
        "link": (lambda: ((copy / "link").unlink(), (copy / "link").symlink_to("/other")), "link differs in target"),
        "missing": (lambda: (copy / "fifo").unlink(), "fifo is missing"),
        "more": (lambda: (copy / "more").write_text("x"), "more is an extra file"),
        "apart": (lambda: _set_apart(copy), "differs in same as"),
        "dense": (lambda: _made_dense(copy / "sparse"), "sparse takes"),
    }
    for what, (change, words) in changes.items():
        assert copied() == [], what
        change()
        assert any(words in one for one in differences()), (what, differences())
    # What a filesystem has at its root for itself is nobody's data.
    assert copied() == []
    (copy / "lost+found").mkdir()
    (copy / "ext2_saved").mkdir()
    assert differences() == []


def _set_apart(copy: pathlib.Path):
    status = (copy / "a").stat()
    shutil.copy2(copy / "a", copy / "apart")
    os.replace(copy / "apart", copy / "a")
    os.utime(copy / "a", ns=(status.st_atime_ns, status.st_mtime_ns))


def _made_dense(path: pathlib.Path):
    status = path.stat()
    content = path.read_bytes()
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_growth_is_the_slope_of_the_last_week(formula):
    growth = formula("eos_storage_samples.growth")
    now = 100 * DAY
    assert growth([], now) is None
    assert growth([[now, 5]], now) is None
    assert growth([[now - 59, 5], [now, 9]], now) is None
    assert growth([[now - 3600 * hour, 1000 * MIB - hour * MIB] for hour in range(48, -1, -1)], now) == 24 * MIB
    assert growth([[now - 3600 * hour, 7 * MIB] for hour in range(48, -1, -1)], now) == 0
    assert growth([[now - DAY, 9 * MIB], [now, 4 * MIB]], now) == -5 * MIB
    # What is older than a week says nothing.
    assert growth([[now - 20 * DAY, 0], [now - DAY, 9 * MIB], [now, 4 * MIB]], now) == -5 * MIB


def test_samples_are_thinned_and_end(formula):
    thinned = formula("eos_storage_samples.thinned")
    now = 100 * DAY
    many = [[now - 300 * number, number] for number in range(20000, -1, -1)]
    kept = thinned(many, now)
    assert len(kept) <= 500 and kept[-1] == [now, 0] and kept[-2] == [now - 300, 1]
    assert min(at for at, _ in kept) >= now - 30 * DAY
    assert kept == sorted(kept)


def test_samples_are_noted_at_most_once_a_minute(formula, tmp_path):
    volumes = [{"id": ID, "used": 5 * MIB}, {"id": None, "used": 1}, {"id": "production/m/data", "used": None}]
    first = formula("eos_storage_samples.with_growth")(volumes)
    again = formula("eos_storage_samples.with_growth")(volumes)
    assert [one["samples"] for one in first] == [one["samples"] for one in again] == [1, 0, 0]
    assert [one["growth"] for one in first] == [None, None, None]
    kept = json.loads((tmp_path / "cache" / "eos" / "storage" / "samples.json").read_text())
    assert list(kept) == [ID] and kept[ID][0][1] == 5 * MIB and abs(kept[ID][0][0] - time.time()) < 60


def test_a_program_that_fails_is_told_in_its_own_words(formula):
    run = formula("eos_command.run")
    with pytest.raises(Exception, match="cat: cat: /nowhere: No such file") as failure:
        run(["cat", "/nowhere"], "the object")
    assert failure.value.info["object"] == "the object"
    with pytest.raises(Exception, match="no-such-program is not installed"):
        run(["no-such-program"], "the object")
    # Nothing of the minion's own environment, and no shell.
    environment = run(["env"], "it").split()
    assert "LC_ALL=C" in environment and not any(line.startswith("HOME=") for line in environment)
    assert run(["echo", "$PATH; id"], "it") == "$PATH; id\n"
