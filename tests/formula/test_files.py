"""Files of hosts on a real minion: written whole, never through a link, and removed only if Eos made them."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import stat

import pytest

from laboratory import FORMULA, canonical_digest, removed

# Cases of one test have a component each.
NUMBERS = itertools.count()
OWNER = {"user": str(os.getuid()), "group": str(os.getgid()), "mode": "0640"}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class File:
    """One file of one component, named after the test, as Eos would deliver, make and remove it."""

    def __init__(self, lab, component: str):
        self.lab, self.component, self.calls = lab, component, 0
        # As an administrator named it in the minion's settings.
        self.below = lab.directory / "files"
        self.below.mkdir(mode=0o755, exist_ok=True)
        self.path = self.below / f"{component}.conf"
        self.records = lab.salt.cache / "eos" / "files"

    def name(self, path: object = None) -> str:
        return f"development/{self.component}{path or self.path}"

    def record(self) -> dict | None:
        file = self.records / f"{sha256(self.name())}.json"
        return json.loads(file.read_text()) if file.exists() else None

    def facts(self, text: str, **changed: object) -> dict:
        return {"path": str(self.path), "text": text, **OWNER, "risk": "low", **changed}

    def step(self) -> dict:
        self.calls += 1
        return {"operation": self.component, "step": f"{self.calls}-file"}

    def ask(self, text: str, **changed: object) -> dict:
        """The whole answer of a call to make it with this text."""
        facts = self.facts(text, **changed)
        files = {self.name(facts["path"]): facts}
        self.lab.releases.deliver({}, files=files)
        part = {"kind": "file", "environment": "development", "component": self.component}
        return self.lab.salt.call("eos.make", **self.step(), **part, facts={"digest": canonical_digest(files)})

    def make(self, text: str, **changed: object) -> dict:
        answer = self.ask(text, **changed)
        assert isinstance(answer["ret"], dict), answer
        assert (answer["ret"]["status"], answer["ret"]["error"]) == ("done", None), answer
        return answer["ret"]

    def refused(self, words: str, text: str = "wanted\n", **changed: object) -> dict:
        """The call fails with these words and a hint, and has no effect."""
        answer = self.ask(text, **changed)
        assert isinstance(answer["ret"], dict), answer
        assert answer["ret"]["status"] == "failed", answer
        error = answer["ret"]["error"]
        assert words in error["words"] and error["hint"], error
        return error

    def remove(self, served: dict | None = None) -> dict:
        self.lab.releases.deliver({}, files=served or {})
        part = removed(f"development/{self.component}", "file", files={self.name(): str(self.path)})
        return self.lab.salt.call("eos.remove", **self.step(), **part)

    def seen(self, path: object = None) -> dict:
        path = str(path or self.path)
        return self.lab.salt.record("eos.observe", parts={"file": [path]})["file"][path]

    def left(self) -> list[str]:
        """Unfinished files that are in the directory."""
        return sorted(entry for entry in os.listdir(self.below) if entry.startswith(".eos-"))


@pytest.fixture
def file(laboratory, request):
    component = request.node.originalname.removeprefix("test_").replace("_", "-")[:40].rstrip("-")
    made = File(laboratory, f"{component}-{next(NUMBERS)}")
    yield made
    if os.path.lexists(made.path):
        made.path.unlink() if not made.path.is_dir() or made.path.is_symlink() else made.path.rmdir()


def test_a_file_is_written_read_back_updated_and_removed(file):
    record = file.make("one = {{ not rendered }} {% here %}\n")
    (state,) = record["result"]["states"]
    assert state["changes"]["content"] == {"old": None, "new": sha256("one = {{ not rendered }} {% here %}\n")}
    assert file.path.read_text() == "one = {{ not rendered }} {% here %}\n"
    status = file.path.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid, status.st_nlink) == (0o640, os.getuid(), 1)
    assert file.record()["made"] is True and file.record()["operation"] == file.component
    seen = file.seen()
    assert (seen["exists"], seen["mode"], seen["user"]) == (True, "0640", str(os.getuid()))
    assert seen["content"] == sha256("one = {{ not rendered }} {% here %}\n")

    file.make("two\n", mode="0600")
    assert (file.path.read_text(), stat.S_IMODE(file.path.stat().st_mode)) == ("two\n", 0o600)

    answer = file.remove()["ret"]
    assert (answer["status"], answer["result"]["removed"]) == ("done", [file.name()]), answer
    assert not os.path.lexists(file.path)
    assert (file.record(), file.left(), file.seen()["exists"]) == (None, [], False)
    # What is gone already is done.
    assert file.remove()["ret"]["status"] == "done"


def test_a_second_run_does_nothing(file):
    file.make("same\n")
    before = identity(file)
    (state,) = file.make("same\n")["result"]["states"]
    assert state["changes"] == {}
    assert identity(file) == before


def identity(file: File) -> tuple[int, int, int]:
    status = file.path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def test_a_file_that_was_there_before_is_refused_unless_it_is_the_wanted_one(file):
    file.path.write_text("an administrator's\n")
    file.path.chmod(0o640)
    file.refused("was there before Eos")
    assert file.path.read_text() == "an administrator's\n"
    assert file.record() is None

    file.make("an administrator's\n")
    assert file.record()["made"] is False
    assert file.seen()["content"] == sha256("an administrator's\n")
    file.refused("was there before Eos", "another\n")
    file.refused("was there before Eos", "an administrator's\n", mode="0600")

    answer = file.remove()["ret"]
    assert answer["result"]["kept"] == {file.name(): "Eos did not make it"}, answer
    assert (file.path.read_text(), file.record()) == ("an administrator's\n", None)


def test_root_of_the_host_hands_a_file_to_eos(file, laboratory):
    file.path.write_text("old\n")
    minion = ["-c", str(laboratory.salt.etc / "minion.d"), "--local"]
    ran = laboratory.salt.run("salt-call", *minion, "eos_files.adopt", file.name(), str(file.path))
    assert ran.returncode == 0, ran
    file.make("new\n")
    assert file.path.read_text() == "new\n"
    file.remove()
    assert not file.path.exists()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("relative", "names no file of"),
        ("/etc/../etc/x", "not a plain absolute path"),
        ("/proc/sys/vm/swappiness", "is in /proc"),
        ("/sys/x", "is in /sys"),
        ("/dev/x", "is in /dev"),
        ("/etc/salt/minion.d/x.conf", "is in /etc/salt"),
        ("/srv/eos/formula/_modules/x.py", "is in /srv/eos"),
        ("CACHE/x", "no place for a file"),
        ("TERRAFORM/x", "no place for a file"),
        ("BELOW/nothing/there", "has no directory"),
    ],
)
def test_a_hostile_path_is_refused(file, laboratory, path, words):
    named = {"CACHE": laboratory.salt.cache, "TERRAFORM": laboratory.root, "BELOW": file.below}
    for word, directory in named.items():
        path = path.replace(word, str(directory))
    with laboratory.salt.acting_as("eos-architect"):
        answer = file.ask("wanted\n", path=path)
    said = json.dumps(answer["ret"])
    assert words in said, answer
    # What is refused for good is nobody's to approve.
    assert "needs approval" not in said and '"done"' not in said
    assert not os.path.exists(path) or path.startswith("/proc")


def test_no_architect_writes_below_salt(load):
    """An approval is no way into directories of Salt's own."""
    utils = {}
    for name in ("eos_argument", "eos_directory"):
        used = load(f"_utils/{name}.py")
        utils |= {f"{name}.{function}": getattr(used, function) for function in dir(used)}
    module = load("_modules/eos_files.py", utils=utils)
    module.__opts__.update({"cachedir": "/var/cache/salt/minion", "config_dir": "/opt/salt/etc", "root_dir": "/"})
    for path in ("/etc/salt/x", "/var/cache/salt/minion/x", "/opt/salt/etc/x", "/proc/x", "/srv/salt/top.sls"):
        assert module.why_no_place(path), path
    assert module.why_no_place("/etc/sysctl.d/60-x.conf") is None
    assert module.why_no_place("/etc/saltine") is None


def test_a_directory_that_others_can_write_to_is_refused(file):
    inner = file.below / file.component
    inner.mkdir()
    inner.chmod(0o777)
    try:
        file.refused("which other users can write to", path=str(inner / "x"))
        inner.chmod(0o755)
        if os.getuid() == 0:
            os.chown(inner, 1234, 1234)
            file.refused("which belongs to user 1234", path=str(inner / "x"))
    finally:
        inner.rmdir()


def test_no_link_is_followed(file, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    file.path.symlink_to(victim)
    file.refused("is a link")
    file.path.unlink()
    inner = file.below / file.component
    inner.symlink_to(tmp_path)
    try:
        file.refused("is a link", path=str(inner / "victim"))
    finally:
        inner.unlink()
    assert victim.read_text() == "untouched"

    # Put in the place of a file that Eos made, it is not removed through either.
    file.make("mine\n")
    file.path.unlink()
    file.path.symlink_to(victim)
    answer = file.remove()["ret"]
    assert (answer["status"], "is a link" in answer["error"]["words"]) == ("failed", True), answer
    assert victim.read_text() == "untouched"


def test_what_is_no_plain_file_is_refused(file):
    file.path.mkdir()
    file.refused("is no plain file")
    file.path.rmdir()
    os.mkfifo(file.path)
    file.refused("is no plain file")


def test_nothing_that_comes_between_the_look_and_the_write_is_touched(load, tmp_path):
    """Somebody puts a link, another file, or nothing in place of the file that Eos looked at."""
    files = load("_utils/eos_file.py")
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    directory = tmp_path / "etc"
    directory.mkdir(mode=0o755)
    target = directory / "x.conf"
    owner = (os.getuid(), os.getgid())

    def write(seen):
        files.write(descriptor, "x.conf", files.spare_name(), b"eos\n", owner, 0o644, seen)

    with files.directory_of(str(target), str(tmp_path)) as descriptor:
        seen = files.look(descriptor, "x.conf")
        assert seen is None
        target.symlink_to(victim)
        with pytest.raises(ValueError, match="appeared"):
            write(seen)
        assert target.is_symlink() and victim.read_text() == "untouched"

        target.unlink()
        write(None)
        assert target.read_text() == "eos\n"
        seen = files.look(descriptor, "x.conf")
        target.unlink()
        target.symlink_to(victim)
        with pytest.raises(ValueError, match="changed"):
            write(seen)
        assert target.is_symlink() and victim.read_text() == "untouched"

        target.unlink()
        with pytest.raises(ValueError, match="disappeared"):
            write(seen)
        target.write_text("an administrator's, meanwhile\n")
        with pytest.raises(ValueError, match="changed"):
            write(seen)
        assert target.read_text() == "an administrator's, meanwhile\n"
    assert sorted(os.listdir(directory)) == ["x.conf"]


def test_an_unknown_owner_is_named(file):
    error = file.refused("user nobody-of-this-name, whom this host does not have", user="nobody-of-this-name")
    assert not os.path.lexists(file.path), error
    file.refused("group nobody-of-this-name, which this host does not have", group="nobody-of-this-name")


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_belongs_to_the_wanted_owner_and_drift_of_it_is_named(file, laboratory):
    file.make("theirs\n", user="1234", group="1235")
    assert (file.path.stat().st_uid, file.path.stat().st_gid) == (1234, 1235)
    assert drift(laboratory, file) == {}
    os.chown(file.path, 0, 1235)
    file.path.chmod(0o666)
    assert drift(laboratory, file) == {"user": {"old": 0, "new": 1234}, "mode": {"old": "0666", "new": "0640"}}
    file.make("theirs\n", user="1234", group="1235")
    assert drift(laboratory, file) == {}


def drift(laboratory, file: File) -> dict:
    """What the minion says differs of this file."""
    found = laboratory.salt.record("eos.inspect")["states"]
    own = [state for state in found if (state["kind"], state["part"]) == ("file", file.name())]
    assert "theirs" not in json.dumps(found), "the text of a file is in no answer"
    return own[0]["changes"] if own else {}


def test_a_changed_or_missing_file_is_named_by_digest_and_made_again(file, laboratory):
    file.make("theirs\n")
    assert drift(laboratory, file) == {}
    file.path.write_text("by hand\n")
    assert drift(laboratory, file) == {"content": {"old": sha256("by hand\n"), "new": sha256("theirs\n")}}
    file.make("theirs\n")
    assert file.path.read_text() == "theirs\n"
    file.path.unlink()
    assert {change["old"] for change in drift(laboratory, file).values()} == {None}
    file.make("theirs\n")
    assert drift(laboratory, file) == {}


def test_an_interrupted_step_leaves_nothing_and_goes_on(file):
    """The process died before the file had its name, and after it."""
    spare = file.below / ".eos-0123456789abcdef"
    record = {"name": file.name(), "path": str(file.path), "risk": "low", "operation": "dead", "made": False}
    unfinished = {"spare": spare.name, "content": sha256("wanted\n")}
    file.records.mkdir(parents=True, exist_ok=True)
    place = file.records / f"{sha256(file.name())}.json"

    place.write_text(json.dumps({**record, "unfinished": unfinished}))
    spare.write_text("wan")
    file.make("wanted\n")
    assert (file.path.read_text(), file.left(), file.record()["made"]) == ("wanted\n", [], True)

    place.write_text(json.dumps({**record, "unfinished": unfinished}))
    os.link(file.path, spare)
    assert file.remove()["ret"]["status"] == "done"
    assert (file.left(), file.path.exists(), file.record()) == ([], False, None)

    # What somebody else put there meanwhile is not Eos's.
    place.write_text(json.dumps({**record, "unfinished": unfinished}))
    file.path.write_text("an administrator's\n")
    file.refused("was there before Eos")
    assert file.path.read_text() == "an administrator's\n"


def test_a_removal_is_refused_while_the_pillar_names_the_file(file):
    file.make("mine\n")
    answer = file.remove({file.name(): file.facts("mine\n")})
    assert "still names file" in str(answer["ret"]), answer
    assert file.path.exists()


def test_files_of_another_component_are_refused(file, laboratory):
    other = {f"development/other{file.path}": str(file.path)}
    for files in (other, {file.name(): "/etc/passwd"}, {}, {file.name(): 1}):
        part = removed(f"development/{file.component}", "file", files=files)
        answer = laboratory.salt.call("eos.remove", **file.step(), **part)
        assert not isinstance(answer["ret"], dict), answer


def test_a_path_of_two_components_is_the_first_ones(file, laboratory):
    file.make("mine\n")
    other = File(laboratory, f"{file.component}-b")
    other.path = file.path
    other.refused(f"is a file of {file.name()}")
    assert file.path.read_text() == "mine\n"


def test_a_file_of_the_host_is_an_architects_unless_the_settings_say_otherwise(file, laboratory):
    for user in ("eos-user", "eos-operator", "eos-architect"):
        with laboratory.salt.acting_as(user):
            answer = file.ask("vm.swappiness = 1\n", path="/etc/sysctl.d/99-eos-test-of-the-formula.conf")
        assert "needs approval: " in str(answer["ret"]), answer
    assert not os.path.exists("/etc/sysctl.d/99-eos-test-of-the-formula.conf")
    with laboratory.salt.acting_as("eos-user"):
        assert file.make("low\n")["risk"][0] == "low"
        assert "high" in str(file.ask("low\n", risk="high")["ret"])


def test_the_table_of_risks_has_files():
    words = (FORMULA.parent / "docs/security.md").read_text()
    assert "a file of the host outside of the directories that the settings of the minion name" in words


def test_a_preview_says_what_a_step_would_do_and_changes_nothing(file, laboratory):
    def preview(function: str, plan: str, facts: dict) -> dict:
        part = {"kind": "file", "environment": "development", "component": file.component, "facts": facts}
        return laboratory.salt.record("eos.preview", plan=plan, function=function, arguments=part)

    files = {file.name(): file.facts("wanted\n")}
    plan = laboratory.releases.plan({}, files=files)
    said = preview("eos.make", plan, {"digest": canonical_digest(files)})
    (state,) = said["states"]
    assert (said["error"], state["result"], state["name"]) == (None, None, str(file.path)), said
    assert state["changes"]["content"] == {"old": None, "new": sha256("wanted\n")}
    assert not file.path.exists() and file.record() is None

    file.make("wanted\n")
    empty = laboratory.releases.plan({}, files={})
    (state,) = preview("eos.remove", empty, {"files": {file.name(): str(file.path)}})["states"]
    assert state["changes"] == {str(file.path): {"file": "removed"}}
    assert file.path.exists()
    assert preview("eos.remove", plan, {"files": {file.name(): str(file.path)}})["error"]


def test_of_another_file_nothing_but_its_being_there_is_said(file):
    other = file.below / f"{file.component}.other"
    other.write_text("secret\n")
    try:
        assert file.seen(other) == {
            **dict.fromkeys(("content", "user", "group", "mode", "names")),
            "exists": True,
        }
    finally:
        other.unlink()
    assert file.seen("/proc/self/environ")["exists"] is False


def test_what_was_written_for_a_higher_risk_is_replaced_by_no_lower_one(file, laboratory):
    file.make("guarded\n", risk="medium")
    with laboratory.salt.acting_as("eos-user"):
        answer = file.ask("open\n", risk="low")
    assert "needs approval: " in str(answer["ret"]) and "of medium risk" in str(answer["ret"]), answer
    assert file.path.read_text() == "guarded\n" and file.record()["risk"] == "medium"


def test_a_file_that_moves_to_another_component_goes_with_it(file, laboratory):
    file.make("moved\n", risk="medium")
    other = File(laboratory, f"{file.component}-b")
    other.path = file.path
    served = {other.name(): other.facts("moved\n")}
    assert file.remove(served)["ret"]["result"]["kept"] == {file.name(): f"{other.name()} has it now"}
    assert file.record() is None and other.record()["made"] is True and other.record()["risk"] == "medium"
    other.make("moved on\n")
    assert other.remove()["ret"]["result"]["removed"] == [other.name()]
    assert not other.path.exists()


def test_a_preview_is_no_way_to_guess_what_is_in_a_file(file, laboratory):
    def previewed(path: str, text: str) -> dict:
        files = {file.name(path): file.facts(text, path=path)}
        plan = laboratory.releases.plan({}, files=files)
        part = {"kind": "file", "environment": "development", "component": file.component}
        arguments = {**part, "facts": {"digest": canonical_digest(files)}}
        with laboratory.salt.acting_as("eos-user"):
            return laboratory.salt.record("eos.preview", plan=plan, function="eos.make", arguments=arguments)

    with open("/etc/hostname") as hostname:
        there = hostname.read()
    right, wrong = previewed("/etc/hostname", there), previewed("/etc/hostname", "a guess")
    assert right == wrong and "does not reach high risk" in right["error"]["words"], (right, wrong)
    file.path.write_text("an administrator's\n")
    said = previewed(str(file.path), "wanted\n")
    assert "was there before Eos" in said["error"]["words"] and said["error"]["hint"], said
