"""Delivery over the API: what is taken, what is refused, and what a kill at any moment leaves."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import random

import pytest

PIECE = 1 << 18
SLICE = "pillar/hosts/control.sls"
MAIN = "files/terraform/environments/production/hello/main.tf"
USER = {"__pub_user": "eos-user"}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def pieces_of(content: bytes) -> list[bytes]:
    return [content[start : start + PIECE] for start in range(0, len(content), PIECE)]


def packed(piece: bytes) -> str:
    return base64.b64encode(piece).decode()


def name_of(files: dict[str, bytes]) -> str:
    """As docs/contracts.md has it: each path and content, with its length before it, in the order of the paths."""
    whole = hashlib.sha256()
    for path, content in sorted((path.removeprefix("files/"), content) for path, content in files.items()):
        for part in (path.encode(), content):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def slice_text(**eos: object) -> bytes:
    return b"#!json\n" + json.dumps({"eos": eos}).encode()


def release(text: str = "one", **more: bytes) -> dict[str, bytes]:
    return {
        "pillar/top.sls": b"top",
        SLICE: slice_text(),
        "pillar/credentials/vault.sls": b"paths",
        "salt/orchestrate/waves.json": b"{}",
        "salt/components/hello/production/workspace.sls": b"#!json",
        MAIN: text.encode(),
        **more,
    }


class Control:
    """A control minion as far as delivery goes."""

    def __init__(self, load, directory: pathlib.Path):
        self.srv, self.cache = directory / "srv", directory / "cache"
        self.srv.mkdir(mode=0o755)
        self.cache.mkdir()
        options = {"id": "control", "cachedir": str(self.cache), "eos": {"roles": {"eos-user": "user"}}}
        roles = load("_modules/eos_roles.py", opts=options)
        functions = {f"eos_roles.{name}": getattr(roles, name) for name in ("caller", "require_role")}
        functions["eos_profile.optional_setting"] = {"delivery": str(self.srv)}.get
        self.delivery = load("_modules/eos_delivery.py", opts=options, salt=functions)
        functions |= {f"eos_delivery.{name}": getattr(self.delivery, name) for name in ("served", "take")}
        self.eos = load("_modules/eos.py", opts=options, salt=functions)

    def call(self, **asked: object) -> dict:
        return self.eos.deliver(**asked, **USER)

    def deliver(self, files: dict[str, bytes], named: str | None = None, **more: object) -> dict:
        """All that is missing, as Eos brings it."""
        manifest = json.dumps({path: [sha256(one) for one in pieces_of(text)] for path, text in files.items()})
        return self.deliver_manifest(manifest.encode(), files, named or name_of(files), **more)

    def deliver_manifest(self, manifest: bytes, files: dict[str, bytes], named: str, **more: object) -> dict:
        known = {sha256(piece): piece for text in (manifest, *files.values()) for piece in pieces_of(text)}
        asked = {"release": named, "manifest": [sha256(piece) for piece in pieces_of(manifest)], **more}
        answer = self.call(**asked)
        for _ in range(5):
            if not answer["missing"]:
                break
            answer = self.call(**asked, contents={digest: packed(known[digest]) for digest in answer["missing"]})
        return answer

    def served(self) -> dict[str, bytes]:
        current = self.srv / "current"
        found = {str(path.relative_to(current)): path.read_bytes() for path in current.rglob("*") if path.is_file()}
        found.pop("salt/release", None)
        return found

    def leftovers(self) -> list[str]:
        return [str(path) for path in self.srv.rglob(".deliver-*")]


@pytest.fixture
def control(load, tmp_path) -> Control:
    return Control(load, tmp_path)


@pytest.fixture
def refused(salt_python):
    from salt.exceptions import CommandExecutionError, SaltInvocationError

    @contextlib.contextmanager
    def is_refused(words: str):
        with pytest.raises((CommandExecutionError, SaltInvocationError), match=words):
            yield

    return is_refused


def test_a_release_is_served_under_the_digest_of_its_files(control):
    files = release()
    assert control.deliver(files)["missing"] == []
    assert control.served() == files
    assert os.readlink(control.srv / "current") == f"releases/{name_of(files)}"
    assert (control.srv / "current/salt/release").read_text() == f"{name_of(files)}\n"
    assert control.call() == {"current": name_of(files), "files": None}
    assert control.leftovers() == [] and not list((control.cache / "eos/incoming").glob("*/*"))


def test_the_master_reads_it_whatever_the_umask_of_the_minion(control):
    before = os.umask(0o077)
    try:
        control.deliver(release())
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in control.srv.rglob("*")}
    assert modes == {0o755, 0o644}


def test_only_what_changed_is_brought(control):
    control.deliver(release("one"))
    files = release("two")
    asked = {"release": name_of(files)}
    manifest = json.dumps({path: [sha256(text)] for path, text in files.items()}).encode()
    asked["manifest"] = [sha256(manifest)]
    assert control.call(**asked)["missing"] == [sha256(manifest)]
    answer = control.call(**asked, contents={sha256(manifest): packed(manifest)})
    assert answer == {"missing": [sha256(b"two")], "current": name_of(release("one"))}
    assert control.call(**asked, contents={sha256(b"two"): packed(b"two")})["missing"] == []
    assert control.served() == files


def test_a_release_that_is_kept_comes_back_without_a_piece(control):
    one, two = release("one"), release("two")
    control.deliver(one)
    control.deliver(two)
    assert control.call(release=name_of(one), manifest=["0" * 64])["missing"] == []
    assert control.served() == one


def test_a_large_file_comes_in_pieces(control):
    text = random.Random(1).randbytes(3 * PIECE + 5)
    files = release(**{"files/terraform/modules/hello/0123/large": text, "salt/components/hello/empty": b""})
    assert control.deliver(files)["missing"] == []
    assert control.served() == files


HOSTILE = (
    *("../x", "salt/../../x", "/etc/x", "salt/components/../../x", "salt/components/hello/..", "", "salt/release"),
    *("salt/components/x\n", "salt/components//x", "salt/components/./x", "salt/components/hello/", "current"),
    *("salt/_modules/eos.py", "salt/components/_modules/x.py", "salt/top.sls", "files/_modules/x.py", "files/top.sls"),
    *("pillar/infrastructure/production.sls", "pillar/hosts/.sls", "pillar/hosts/../top.sls"),
    *(
        "formula/_modules/eos.py",
        "files/terraform/x",
        "salt/components/a\\b",
        "salt/components/\u202ex",
        f"salt/components/{'a/' * 600}x",
    ),
    *(f"salt/components/{'a' * 300}", "salt/components/.deliver-x", "salt/components/x\0"),
)


@pytest.mark.parametrize("path", HOSTILE)
def test_a_path_that_no_release_has_is_refused(control, refused, path):
    control.deliver(release())
    before = control.served()
    with refused("where no release has a file"):
        control.deliver(release(**{path: b"x"}))
    assert control.served() == before
    assert {path.name for path in control.srv.iterdir()} == {"current", "releases"}


@pytest.mark.parametrize(
    "manifest",
    [
        *(b"", b"[]", b"{}", b"null", b'"x"', b"[" * 100_000, b"\xff"),
        *(b'{"pillar/top.sls": "x"}', b'{"pillar/top.sls": ["x"]}', b'{"pillar/top.sls": null}'),
        json.dumps({"salt/components/a/b": [], "salt/components/a/b/c": []}).encode(),
        json.dumps({f"salt/components/a/{number}": [] for number in range(50_001)}).encode(),
        json.dumps({"salt/components/a/b": [sha256(b"x")] * 60_000}).encode(),
        json.dumps({"salt/components/a/b": [sha256(bytes(PIECE))] * 300}).encode(),
    ],
)
def test_a_manifest_that_is_none_is_refused(control, refused, manifest):
    control.deliver(release())
    before = control.served()
    with refused("manifest|larger than|digest"):
        control.deliver_manifest(manifest, {"x": b"x", "zeros": bytes(PIECE)}, "0" * 64)
    assert control.served() == before


def test_files_under_another_name_are_refused(control, refused):
    control.deliver(release())
    with refused("its files have another digest"):
        control.deliver(release("two"), named="0" * 64)
    assert control.served() == release()


@pytest.mark.parametrize(
    ("digest", "content"),
    [
        (sha256(b"x"), packed(b"y")),
        (sha256(b"x"), "no base64!"),
        (sha256(bytes(PIECE + 1)), packed(bytes(PIECE + 1))),
        ("../x", packed(b"x")),
        (sha256(b"x"), 7),
    ],
)
def test_a_piece_that_is_not_what_its_digest_says_is_refused(control, refused, digest, content):
    with refused("contents"):
        control.call(release="0" * 64, manifest=[], contents={digest: content})
    assert not list((control.cache).glob("eos/incoming/*/*"))


@pytest.mark.parametrize(
    "more",
    [
        {"release": "../x"},
        {"release": "0" * 64, "plan": "plan-x"},
        {"release": "0" * 64, "plan": "../current"},
        {"release": "0" * 64, "manifest": "x"},
        {"release": "0" * 64, "manifest": ["../x"]},
        {"release": "0" * 64, "contents": ["x"]},
        {"plan": f"plan-{'0' * 32}"},
        {"contents": {}},
    ],
)
def test_arguments_of_another_form_are_refused(control, refused, more):
    with refused("form|list|object|nothing to deliver"):
        control.call(**more)


@pytest.mark.parametrize(
    "text",
    [
        *(b"#!py\ndef run(): pass", b"", b"[]", b'#!json\n{"eos": []}', b"#!json\n{}", b'{"eos": {}} x'),
        *(b'#!json\n{"eos": {}, "other": {}}', b'{"eos": {"a": 1}, "eos": {}}', b'{"eos": {"a": 1, "a": 2}}'),
        *('{"eos": {}}'.encode("utf-16"), b'\xff{"eos": {}}', b'{"eos": ' + b'{"a":' * 100_000),
    ],
)
def test_a_slice_has_the_key_eos_and_nothing_beside_it(control, refused, text):
    control.deliver(release())
    before = control.served()
    for path in (SLICE, "pillar/hosts/web1/example/org.sls"):
        with refused("is refused"):
            control.deliver(release(**{path: text}))
        with refused("is refused"):
            control.deliver(release(**{path: text}), plan=f"plan-{'0' * 32}")
    assert control.served() == before


def test_a_user_without_a_role_delivers_nothing(control, refused):
    with refused("may not deliver"):
        control.eos.deliver(release="0" * 64, manifest=[], __pub_user="eve")


def test_a_minion_without_the_setting_takes_nothing(control, refused):
    control.delivery.__salt__["eos_profile.optional_setting"] = {}.get
    for more in ({}, {"release": "0" * 64, "manifest": []}):
        with refused("takes no delivery"):
            control.call(**more)


def test_links_in_the_place_of_directories_are_not_followed(control, refused, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (control.srv / "releases").symlink_to(outside)
    with refused("is a link, or no directory"):
        control.deliver(release())
    (control.srv / "releases").unlink()
    (control.srv / "plans").symlink_to(outside)
    with refused("is a link, or no directory"):
        control.deliver(release(), plan=f"plan-{'0' * 32}")
    (control.srv / "current").symlink_to(outside)
    with refused("current leads to no release"):
        control.deliver(release())
    (control.srv / "current").unlink()
    (control.srv / "current").mkdir()
    with refused("current is no link"):
        control.deliver(release())
    assert [path.name for path in outside.iterdir()] == ["precious"]


def test_a_release_with_a_link_or_a_stranger_in_it_is_made_again(control, tmp_path):
    files = release()
    control.deliver(files)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/precious").write_text("precious")
    own = control.srv / "releases" / name_of(files)

    def replaced_by_a_link():
        (own / "pillar/top.sls").unlink()
        (own / "pillar/top.sls").symlink_to(tmp_path / "outside/precious")

    def a_link_of_directories():
        (own / "salt/more").symlink_to(tmp_path / "outside")

    def whole_by_a_link():
        own.rename(control.srv / "aside")
        own.symlink_to(tmp_path / "outside")

    damages = [
        lambda: (own / "pillar/top.sls").write_text("changed"),
        lambda: (own / "pillar/top.sls").unlink(),
        lambda: (own / "salt/more").write_text("added"),
        lambda: (own / "salt").chmod(0o777),
        lambda: (own / "pillar/top.sls").chmod(0o666),
        lambda: os.mkfifo(own / "salt/pipe"),
        *(replaced_by_a_link, a_link_of_directories, whole_by_a_link),
    ]
    for damage in damages:
        damage()
        assert control.call()["files"] is not None
        assert control.deliver(files)["missing"] == []
        assert control.served() == files and control.call() == {"current": name_of(files), "files": None}
        assert not (own / "salt/more").exists() and not own.is_symlink()
    assert (tmp_path / "outside/precious").read_text() == "precious"
    assert control.leftovers() == []


def test_a_changed_file_is_named_by_its_digest(control):
    control.deliver(release())
    (control.srv / "current" / MAIN).write_text("by hand")
    assert control.call()["files"][MAIN] == sha256(b"by hand")


def test_a_directory_that_others_can_write_to_takes_nothing(control, refused):
    control.srv.chmod(0o1777)
    with refused("lets other users write to it"):
        control.deliver(release())
    control.srv.chmod(0o755)
    (control.srv / "releases").mkdir(mode=0o755)
    (control.srv / "releases").chmod(0o775)
    with refused("lets other users write to it"):
        control.deliver(release())
    if os.getuid() == 0:
        (control.srv / "releases").chmod(0o755)
        os.chown(control.srv, 65534, -1)
        with refused("belongs to user 65534"):
            control.deliver(release())
    assert not (control.srv / "current").exists()


def test_the_last_releases_stay(control):
    names = []
    for number in range(13):
        names.append(name_of(release(str(number))))
        control.deliver(release(str(number)))
        # The clock of a machine may be set back.
        os.utime(control.srv / "releases" / names[-1], (4e9, 4e9 + number))
    assert {path.name for path in (control.srv / "releases").iterdir()} == set(names[-10:])


def test_nobody_has_more_waiting_than_the_disk_can_bear(control, refused, monkeypatch):
    monkeypatch.setattr(control.delivery, "_MOST_WAITING", 3 * PIECE)
    pieces = [random.Random(number).randbytes(PIECE) for number in range(4)]
    for piece in pieces[:3]:
        asked = {"release": "0" * 64, "manifest": ["1" * 64]}
        assert control.call(**asked, contents={sha256(piece): packed(piece)})["missing"] == ["1" * 64]
    with refused("More than 0 MiB of yours wait"):
        control.call(**asked, contents={sha256(pieces[3]): packed(pieces[3])})
    (waiting,) = (control.cache / "eos/incoming").iterdir()
    for piece in waiting.iterdir():
        os.utime(piece, (1, 1))
    control.call(**asked, contents={sha256(pieces[3]): packed(pieces[3])})
    assert [piece.name for piece in waiting.iterdir()] == [sha256(pieces[3])]


def test_a_piece_that_a_crash_cut_comes_again(control):
    files = release()
    manifest = json.dumps({path: [sha256(text)] for path, text in files.items()}).encode()
    asked = {"release": name_of(files), "manifest": [sha256(manifest)]}
    control.call(**asked, contents={sha256(manifest): packed(manifest)})
    (cut,) = (control.cache / "eos/incoming").glob("*/*")
    cut.write_bytes(manifest[:7])
    assert control.call(**asked)["missing"] == [sha256(manifest)]
    assert control.deliver(files)["missing"] == []


def test_a_plan_is_there_beside_what_is_served_and_goes_with_later_ones(control, refused, monkeypatch):
    control.deliver(release())
    plans = [f"plan-{number:032x}" for number in range(20)]
    for plan in plans:
        assert control.deliver(release("planned"), plan=plan)["missing"] == []
    assert control.served() == release()
    left = {path.name for path in (control.srv / "plans").iterdir()}
    assert left == set(plans[-16:])
    place = control.srv / "plans" / plans[-1]
    assert (place / MAIN).read_text() == "planned"
    assert (place / "salt/release").read_text() == f"{name_of(release('planned'))}\n"
    with refused("is there already"):
        control.deliver(release("other"), plan=plans[-1])
    assert (place / MAIN).read_text() == "planned"
    record = control.cache / "eos/plans.json"
    record.write_text(record.read_text().replace('"when": ', '"when": 1, "then": '))
    control.deliver(release("planned"), plan=plans[0])
    assert {path.name for path in (control.srv / "plans").iterdir()} == {plans[0]}


# What changes something on a disk.
WRITES = ("mkdir", "open", "fchmod", "fsync", "rename", "symlink", "unlink", "rmdir", "utime", "replace", "write")


def killed_at(number: int, control: Control, files: dict[str, bytes]) -> bool:
    """Whether a process that delivers was killed before its write of this number; else it delivered."""
    child = os.fork()
    if child == 0:
        left = [number]

        def striking(function):
            def strike(*arguments, **keywords):
                if left[0] == 0:
                    os._exit(9)
                left[0] -= 1
                return function(*arguments, **keywords)

            return strike

        for name in WRITES:
            setattr(os, name, striking(getattr(os, name)))
        exchange = control.delivery.__utils__["eos_release.write"].__globals__
        exchange["_renameat2"] = striking(exchange["_renameat2"])
        try:
            os._exit(0 if control.deliver(files)["missing"] == [] else 1)
        finally:
            # Of an exception, too: this is no second run of the tests.
            os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), code
    return code == 9


def test_killed_anywhere_it_leaves_the_old_release_or_the_new_one(control):
    before, after = release("before"), release("after")
    control.deliver(before)
    number = 0
    while killed_at(number, control, after):
        served = control.served()
        assert served in (before, after), number
        assert control.call() == {"current": name_of(served), "files": None}, number
        if number % 7 == 0:
            # The next delivery clears what is left, and goes on.
            assert control.deliver(after)["missing"] == []
            assert control.served() == after and control.leftovers() == [], number
            control.deliver(before)
            control.delivery.__utils__["eos_release.remove"](
                os.open(control.srv / "releases", os.O_RDONLY), name_of(after)
            )
        elif served == after:
            control.deliver(before)
        number += 1
    assert number > 40
    assert control.served() == after and control.leftovers() == []


def test_killed_while_a_damaged_release_is_made_again_it_leaves_one_there(control):
    files = release()
    number = 0
    while True:
        control.deliver(files)
        (control.srv / "current/pillar/top.sls").write_text("changed")
        killed = killed_at(number, control, files)
        assert control.served().keys() == files.keys(), number
        if not killed:
            break
        number += 3
    assert control.served() == files and control.leftovers() == []
