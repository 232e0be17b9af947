"""The power fails while storage changes: after the reboot and `eos resume` a volume has its old or its new form.

A cut comes at the n-th run of one of the programs of a change: before it, amid it or after it. A script stands in for
each program and runs it. At the chosen instant the script says so and stops.
"""

import json
import random
import time
from typing import NamedTuple

import pytest
from estates import SEED
from guests import no_guests
from storage import MIB, StorageHost, storage_host

pytestmark = pytest.mark.quiet

GROUP = "data-vg"
SIZE = 320
# What the scripts stand in for; the commands of LVM are words of one program.
PROGRAMS = "lvm xfs_growfs resize2fs mkfs.btrfs cp btrfs-convert mount umount"
STAND_IN = """\
#!/bin/sh
name=${0##*/}
real=/usr/sbin/$name
[ -x $real ] || real=/usr/bin/$name
[ $name = lvm ] && name=$1
[ "$name" = PROGRAM ] || exec $real "$@"
echo >> /run/runs
[ $(wc -l < /run/runs) = NUMBER ] || exec $real "$@"
is=idle
case MOMENT in
amid)
    $real "$@" &
    sleep DELAY
    kill -0 $! && is=running
    ;;
after) $real "$@" ;;
esac
echo $is > /guest/instant.new
mv /guest/instant.new /guest/instant
exec sleep 600
"""
ARM = "mount -t tmpfs tmpfs /usr/local/sbin && rm -f /run/runs && cd /usr/local/sbin && "
ARM += f"for name in {PROGRAMS}; do cp /guest/stand-in $name && chmod 755 $name || exit 1; done"

CHECK = {"xfs": "xfs_repair -n", "ext4": "e2fsck -f -n", "btrfs": "btrfs check"}

# Seconds within which a program is still at it; starting to wait takes some as well.
LONGEST = {"xfs_growfs": 0.02, "resize2fs": 0.5, "mkfs.btrfs": 0.1, "cp": 0.8, "lvconvert": 0.6}


class Cut(NamedTuple):
    """`number` is the run of the program at which it comes."""

    change: str
    moment: str
    program: str
    number: int = 1

    def __str__(self) -> str:
        return f"{self.change}: {self.moment} {self.program} {self.number}".replace(" 1", "")

    @property
    def delay(self) -> float:
        """Seconds from the beginning of the program, if it comes amid it."""
        longest = LONGEST.get(self.program, 0.4)
        return round(random.Random(f"{SEED} {self}").uniform(longest / 4, longest), 2)


CUTS = [
    Cut("grow", "before", "lvextend"),
    Cut("grow", "amid", "lvextend"),
    Cut("grow", "before", "xfs_growfs"),
    Cut("grow", "amid", "xfs_growfs"),
    Cut("grow", "after", "xfs_growfs"),
    Cut("shrink", "amid", "resize2fs"),
    Cut("snapshot", "amid", "lvcreate"),
    Cut("restore", "before", "lvconvert"),
    Cut("snapshot", "after", "lvcreate"),
    Cut("restore", "amid", "lvconvert"),
    Cut("restore", "after", "lvconvert"),
    Cut("forget", "amid", "lvremove"),
    Cut("copy", "amid", "mkfs.btrfs"),
    Cut("copy", "amid", "cp"),
    Cut("copy", "after", "umount", 2),
    Cut("copy", "before", "lvrename", 2),
    Cut("copy", "after", "lvrename", 2),
    Cut("in place", "amid", "btrfs-convert"),
    Cut("in place", "after", "btrfs-convert"),
    Cut("in place", "before", "lvremove"),
]


class State(NamedTuple):
    """All that is seen of a volume from inside the guest: what its device and the kernel say, and every file."""

    filesystem: str
    size: int
    parts: frozenset[str]
    files: str


class Volumes:
    """The volumes of the guest, each with what is to be there of it."""

    def __init__(self, host: StorageHost):
        self.host = host
        self.machine = host.machine
        self.made: list[str] = []
        self.machine.must(f"pvcreate -q /dev/ubdb && vgcreate -q {GROUP} /dev/ubdb")

    def new(self, filesystem: str, size: int = SIZE) -> str:
        """One with files in it."""
        name = f"files{len(self.made) + 1}"
        words = f"create volume {name} --size {size}M --on {GROUP} --host node5 --filesystem {filesystem}"
        self.ask(words)
        self.made.append(name)
        self.host.fill(f"/srv/{name}")
        return name

    def ask(self, words: str) -> None:
        ran = self.host.eos(*words.split(), "--yes", "--keep")
        if ran.returncode != 0:
            ran = self.resume()
        assert ran.returncode == 0, f"eos {words}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"

    def resume(self):
        """As the hint says, again where a guest was too slow for an answer in time."""
        for _ in range(4):
            ran = self.host.eos("resume", "--yes")
            if "did not answer" not in ran.stderr:
                break
            print("resumed again: the minion did not answer in time")
        return ran

    def shared(self, purpose: dict, filesystem: str) -> str:
        if "name" not in purpose:
            purpose["name"] = self.new(filesystem)
        return purpose["name"]

    def parts(self) -> dict[str, set[str]]:
        """Each volume of LVM, hidden ones included, with its tags."""
        found = json.loads(self.machine.must(f"lvs -a -o lv_name,lv_tags --reportformat json {GROUP}"))
        return {one["lv_name"]: set(filter(None, one["lv_tags"].split(","))) for one in found["report"][0]["lv"]}

    def seen(self, name: str) -> State:
        source, filesystem = self.host.mounted(f"/srv/{name}")
        assert source == f"/dev/mapper/{GROUP.replace('-', '--')}-{name}", source
        options = self.machine.must(f"findmnt -no OPTIONS --mountpoint /srv/{name}").strip().split(",")
        assert "rw" in options, options
        size = self.host.size(f"/dev/{GROUP}/{name}")
        unused = size - self.host.capacity(f"/srv/{name}")
        assert unused < 80 * MIB, f"{unused} bytes of {name} are not in its filesystem"
        own = frozenset(one for one in self.parts() if one == name or one.startswith(f"{name}."))
        return State(filesystem, size // MIB, own, self.host.listed(f"/srv/{name}"))

    def are_sound(self, name: str, filesystem: str) -> None:
        """Without errors on the disk, named once in fstab, known to LVM as itself, and nothing left beside it."""
        device, path = f"/dev/{GROUP}/{name}", f"/srv/{name}"
        assert self.machine.must(f"blkid -p -o value -s TYPE {device}").strip() == filesystem
        checked = f"umount {path} && {{ {CHECK[filesystem]} {device}; code=$?; mount {path} && exit $code; }}"
        self.machine.must(f"({checked}) 2>&1", timeout=120)
        assert self.host.mounted(path)[1] == filesystem
        lines = [line.split() for line in self.machine.must("cat /etc/fstab").splitlines()]
        assert sorted(line[1] for line in lines) == sorted(f"/srv/{one}" for one in self.made), lines
        entry = next(line for line in lines if line[1] == path)
        assert entry[0] == device and entry[2] == filesystem, entry
        parts = self.parts()
        tags = {tag for tag in parts[name] if not tag.startswith(("eos.restored=", "eos.saved="))}
        assert tags == {f"eos.volume=production/{name}/data"}, parts
        strange = [one for one in parts if one.partition(".")[0] not in self.made or one.startswith("[")]
        assert not strange, parts
        mounts = self.machine.must(f"findmnt -rno TARGET,SOURCE | grep {GROUP.replace('-', '--')}-{name}")
        assert len(mounts.splitlines()) == 1, mounts


class Change(NamedTuple):
    """What is asked for, and the volume before and after it."""

    words: str
    name: str
    before: State
    after: State


# Volumes that several cuts share.
GROWN: dict = {}
KEPT: dict = {}


def change_of(volumes: Volumes, kind: str) -> Change:
    """A volume that is brought to the beginning of a change."""
    if kind == "grow":
        name = volumes.shared(GROWN, "xfs")
        before = volumes.seen(name)
        return Change(f"resize lvm {name} +32M", name, before, before._replace(size=before.size + 32))
    if kind == "shrink":
        name = volumes.new("ext4", 400)
        # A file at the end of the volume, which has to move.
        volumes.host.write(f"/srv/{name}/passing", 200)
        volumes.host.write(f"/srv/{name}/large", 60)
        volumes.machine.must(f"rm /srv/{name}/passing && sync")
        before = volumes.seen(name)
        return Change(f"resize lvm {name} 300M", name, before, before._replace(size=300))
    if kind in ("copy", "in place"):
        name = volumes.new("xfs" if kind == "copy" else "ext4")
        # So that a copy takes seconds.
        volumes.host.write(f"/srv/{name}/large", 60)
        before = volumes.seen(name)
        parts = {name, f"{name}.old"} if kind == "copy" else {name}
        after = before._replace(filesystem="btrfs", parts=frozenset(parts))
        return Change(f"convert filesystem /srv/{name} btrfs", name, before, after)
    return snapshot_change(volumes, kind)


def snapshot_change(volumes: Volumes, kind: str) -> Change:
    name = volumes.shared(KEPT, "xfs")
    there = volumes.seen(name)
    is_there = f"{name}.before" in there.parts
    if kind == "snapshot":
        if is_there:
            volumes.ask(f"snapshot delete {name} before")
        before = volumes.seen(name)
        return Change(
            f"snapshot create {name} before", name, before, before._replace(parts=before.parts | {f"{name}.before"})
        )
    if not is_there:
        volumes.ask(f"snapshot create {name} before")
        KEPT["files"] = there.files
    if kind == "forget":
        before = volumes.seen(name)
        return Change(f"snapshot delete {name} before", name, before, before._replace(parts=frozenset({name})))
    volumes.machine.must(
        f"cd /srv/{name} && rm linked && head -c 40M /dev/urandom > inner/file-6 && date > later-$(date +%N) && sync"
    )
    before = volumes.seen(name)
    after = before._replace(parts=frozenset({name}), files=KEPT["files"])
    return Change(f"snapshot restore {name} before", name, before, after)


@pytest.fixture(scope="module")
def volumes(estate):
    if why := no_guests():
        pytest.skip(why)
    with storage_host(estate, "node5", ["12G"]) as host:
        yield Volumes(host)


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_a_volume_outlives_a_power_cut(volumes, cut):
    machine, estate = volumes.machine, volumes.host.estate
    if machine.process is None:
        # The one before failed.
        machine.boot()
        machine.wait_for_minion()
    change = change_of(volumes, cut.change)
    if cut.change == "snapshot":
        KEPT["files"] = change.before.files

    instant = machine.share / "instant"
    instant.unlink(missing_ok=True)
    script = STAND_IN.replace("PROGRAM", cut.program).replace("NUMBER", str(cut.number))
    script = script.replace("MOMENT", cut.moment).replace("DELAY", str(cut.delay))
    (machine.share / "stand-in").write_text(script)
    machine.must(ARM)
    running = estate.start(*change.words.split(), "--yes", "--keep")
    ends = time.monotonic() + 300
    while not instant.exists() and running.poll() is None and time.monotonic() < ends:
        time.sleep(0.005)
    machine.power_cut()
    assert instant.exists(), f"`eos {change.words}` ended before {cut}: {running.communicate()}"
    late = cut.moment == "amid" and instant.read_text().strip() != "running"
    print(f"\n{cut}{f', too late: it had ended within {cut.delay} s, and the step had not' if late else ''}")
    machine.boot()
    out, err = running.communicate(timeout=300)
    print(f"eos {change.words}: exit {running.returncode}: {' '.join(err.split())[:200]}")
    machine.wait_for_minion()

    resumed = volumes.resume()
    operation = estate.json("history")["operations"][0]
    where = f"{cut}, then: {out}\n{err}\nresumed: {resumed.stdout}\n{resumed.stderr}\n{operation}"
    assert operation["outcome"] == "done", where
    assert resumed.returncode == 0 or running.returncode == 0, where
    seen = volumes.seen(change.name)
    assert seen._replace(files="") == change.after._replace(files=""), f"{where}\nbefore: {change.before[:3]}"
    assert json.loads(seen.files) == json.loads(change.after.files), where
    volumes.are_sound(change.name, change.after.filesystem)
