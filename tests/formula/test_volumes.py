"""Directories of volumes on a real minion: made, recorded, and removed only if Eos made them as ephemeral."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from laboratory import MINION, removed

# Cases of one test have a component each.
NUMBERS = itertools.count()
OWNER = {"user": str(os.getuid()), "group": str(os.getgid()), "mode": "0750"}


class Volume:
    """One volume of one component, named after the test, as Eos would deliver, make and remove it."""

    def __init__(self, lab, component: str):
        self.lab = lab
        self.component = component
        self.name = f"development/{component}/data"
        self.path = lab.directory / "volumes" / component / "data"
        self.record_file = lab.salt.cache / "eos" / "volumes" / f"{self.name}.json"
        self.calls = 0

    def facts(self, durability: str | None) -> dict:
        return {"path": str(self.path), **OWNER} | ({"durability": durability} if durability else {})

    def make(self, durability: str | None = "ephemeral", operation: str | None = None) -> dict:
        release = self.lab.releases.deliver({}, volumes={self.name: self.facts(durability)})
        self.calls += 1
        sls = f"components.{self.component}.development.volumes"
        record = self.lab.run_step(operation or self.component, f"{self.calls}-volume", sls, release)["ret"]
        assert record["status"] == "done", record
        return record

    def not_made(self, **facts: object) -> dict:
        """The error of a call that must not make it."""
        release = self.lab.releases.deliver({}, volumes={self.name: {**self.facts("ephemeral"), **facts}})
        self.calls += 1
        sls = f"components.{self.component}.development.volumes"
        record = self.lab.run_step(self.component, f"{self.calls}-volume", sls, release)["ret"]
        assert (record["status"], record["error"]["object"]) == ("failed", f"volume {self.name}"), record
        return record["error"]

    def fill(self):
        (self.path / "deep" / "deeper").mkdir(parents=True)
        (self.path / "deep" / "deeper" / "file").write_text("data")

    def remove(self, served: dict | None = None, path: pathlib.Path | None = None, **changed: object) -> dict:
        """The whole answer of a call under new ids, with the release that has `served` in it."""
        self.lab.releases.deliver({}, volumes=served)
        self.calls += 1
        names = {"operation": self.component, "step": f"{self.calls}-volume"}
        facts = {"volumes": {self.name: str(path or self.path)}, **changed}
        return self.lab.salt.call("eos.remove", **names, **removed(f"development/{self.component}", "volume", **facts))

    def remove_unused(self, made_by: str, served: dict | None = None) -> dict:
        """What a take-back says of this volume: the names removed, and why one is kept."""
        self.lab.releases.deliver({}, volumes=served)
        self.calls += 1
        names = {"operation": self.component, "step": f"{self.calls}-volume"}
        facts = {"volumes": {self.name: str(self.path)}, "made_by": made_by}
        part = removed(f"development/{self.component}", "volume", **facts)
        record = self.lab.salt.record("eos.remove", **names, **part)
        assert (record["status"], record["error"]) == ("done", None), record
        return {key: record["result"][key] for key in ("removed", "kept")}

    def refused(self, words: str, **how: object):
        """The removal fails by name, with these words and a hint."""
        answer = self.remove(**how)
        record = answer["ret"]
        assert (answer["retcode"], record["status"]) == (2, "failed"), answer
        assert (record["error"]["layer"], record["error"]["object"]) == ("salt", f"volume {self.name}")
        assert words in record["error"]["words"], record["error"]
        assert "by hand" in record["error"]["hint"]


@pytest.fixture
def volume(laboratory, request):
    component = request.node.originalname.removeprefix("test_").replace("_", "-")[:40].rstrip("-")
    return Volume(laboratory, f"{component}-{next(NUMBERS)}")


def test_what_eos_made_is_removed_whole(volume, laboratory):
    volume.make()
    record = json.loads(volume.record_file.read_text())
    assert record == {
        "name": volume.name,
        "path": str(volume.path),
        "real": str(volume.path),
        "durability": "ephemeral",
        "risk": "low",
        "made": True,
        "operation": volume.component,
    }
    assert volume.record_file.stat().st_mode & 0o777 == 0o600
    volume.fill()
    outside = laboratory.directory / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (volume.path / "link").symlink_to(outside)
    (volume.path / "deep" / "file-link").symlink_to(outside / "kept")

    # Made again, as by an update, it is still the same directory of Eos's own.
    volume.make()
    answer = volume.remove()
    assert (answer["retcode"], answer["ret"]["status"], answer["ret"]["error"]) == (0, "done", None), answer
    assert not os.path.lexists(volume.path)
    assert volume.path.parent.is_dir()
    assert (outside / "kept").read_text() == "kept"
    assert not volume.record_file.exists()
    seen = laboratory.salt.record("eos.observe", parts={"volume": [str(volume.path)]})["volume"]
    assert seen[str(volume.path)]["exists"] is False

    # The same call again is answered from its record, and touches nothing.
    volume.path.mkdir()
    names = {key: answer["ret"][key] for key in ("operation", "step")}
    again = laboratory.salt.record("eos.remove", **names, **answer["ret"]["arguments"])
    assert again == answer["ret"]
    assert volume.path.is_dir()


def test_what_is_gone_already_is_done(volume):
    volume.make()
    shutil.rmtree(volume.path)
    assert volume.remove()["ret"]["status"] == "done"
    assert not volume.record_file.exists()
    assert volume.remove()["ret"]["status"] == "done"


@pytest.mark.parametrize(
    ("durability", "word"), [("persistent", "persistent"), ("redundant", "redundant"), (None, "None")]
)
def test_what_is_not_ephemeral_is_refused(volume, durability, word):
    volume.make(durability)
    volume.fill()
    volume.refused(f"is {word}, not ephemeral")
    assert (volume.path / "deep" / "deeper" / "file").read_text() == "data"


def test_what_has_no_record_is_refused(volume):
    volume.path.mkdir(parents=True)
    volume.fill()
    volume.refused(f"minion {MINION} has no record")
    assert (volume.path / "deep").is_dir()


def test_what_was_there_before_is_refused(volume):
    volume.path.mkdir(parents=True)
    volume.path.chmod(0o750)
    volume.make()
    volume.fill()
    volume.make()
    volume.refused("was there before Eos")
    assert (volume.path / "deep").is_dir()


def test_a_directory_of_somebody_else_keeps_its_owner_and_mode(volume):
    volume.path.mkdir(parents=True)
    volume.path.chmod(0o755)
    before = volume.path.stat()
    assert "another owner or mode" in volume.not_made()["words"]
    outside = volume.lab.directory.parent / f"{volume.component}-outside"
    outside.mkdir(mode=0o755)
    for path in (str(outside), f"{volume.lab.directory}/../{outside.name}"):
        assert volume.not_made(path=path)["hint"], path
    assert volume.path.stat() == before
    assert outside.stat().st_mode & 0o777 == 0o755
    outside.rmdir()


def test_what_is_above_a_volume_stays_roots(volume):
    if os.getuid() != 0:
        pytest.skip("only root can give a directory away")
    release = volume.lab.releases.deliver({}, volumes={volume.name: {**volume.facts("ephemeral"), "user": "65534"}})
    sls = f"components.{volume.component}.development.volumes"
    assert volume.lab.run_step(volume.component, "given", sls, release)["ret"]["status"] == "done"
    assert (volume.path.stat().st_uid, volume.path.parent.stat().st_uid) == (65534, 0)


def test_what_the_pillar_still_names_is_refused(volume):
    volume.make()
    answer = volume.remove(served={volume.name: volume.facts("ephemeral")})
    assert answer["retcode"] == 1
    assert f"still names volume {volume.name}" in answer["ret"]
    assert volume.path.is_dir()


def test_another_path_than_the_recorded_one_is_refused(volume):
    volume.make()
    other = volume.path.parent / "other"
    other.mkdir()
    volume.refused(f"was made at {volume.path}", path=other)
    assert volume.path.is_dir() and other.is_dir()
    assert volume.record_file.exists()


def test_a_link_in_place_of_the_directory_is_refused(volume):
    volume.make()
    moved = volume.path.rename(volume.path.parent / "moved")
    volume.path.symlink_to(moved)
    volume.refused("is a symbolic link")
    assert moved.is_dir() and volume.path.is_symlink()


def test_a_link_above_the_directory_is_refused(volume):
    volume.make()
    moved = volume.path.parent.rename(volume.path.parent.with_name("moved-above"))
    volume.path.parent.symlink_to(moved)
    volume.refused("when Eos made it")
    assert (moved / "data").is_dir()
    # Neither does it become Eos's own by being made again.
    error = volume.not_made()
    assert "is not a directory" in error["words"], error
    volume.refused("when Eos made it")


@pytest.mark.parametrize("below", ["", "deep/with blank"])
def test_a_mount_point_is_refused(volume, below):
    if os.getuid() != 0:
        pytest.skip("a mount needs root")
    volume.make()
    point = volume.path / below
    point.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "none", point], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr.strip()}")
    try:
        (point / "file").write_text("data")
        volume.refused(f"has {point} mounted")
        assert (point / "file").read_text() == "data"
    finally:
        subprocess.run(["umount", point], check=True)
    assert volume.remove()["ret"]["status"] == "done"


@pytest.mark.parametrize("named_by", ["pillar", "record"])
def test_what_holds_another_volume_is_refused(volume, laboratory, named_by):
    volume.make()
    inner = Volume(laboratory, f"inner-{named_by}")
    inner.path = volume.path / "inner"
    served = {inner.name: inner.facts("persistent")}
    if named_by == "record":
        inner.make("persistent")
        served = None
    else:
        inner.path.mkdir()
    volume.refused(f"volume {inner.name} is in it", served=served)
    assert inner.path.is_dir()
    shutil.rmtree(inner.path)
    assert volume.remove()["ret"]["status"] == "done"


def test_all_or_none_are_removed(volume):
    volume.make()
    stranger = volume.path.parent / "stranger"
    stranger.mkdir()
    both = {volume.name: str(volume.path), f"development/{volume.component}/other": str(stranger)}
    answer = volume.remove(volumes=both)
    assert answer["ret"]["error"]["object"] == f"volume development/{volume.component}/other", answer
    assert volume.path.is_dir() and stranger.is_dir()


def test_a_failed_making_leaves_no_record(laboratory):
    volume = Volume(laboratory, "stillborn")
    volume.path.parent.parent.mkdir(parents=True, exist_ok=True)
    volume.path.parent.write_text("in the way")
    release = laboratory.releases.deliver({}, volumes={volume.name: volume.facts("ephemeral")})
    sls = "components.stillborn.development.volumes"
    failed = laboratory.run_step("stillborn", "v", sls, release)["ret"]
    assert failed["status"] == "failed"
    assert not volume.record_file.exists()


def test_an_unused_directory_of_the_operation_is_taken_back(volume):
    volume.make(operation="first")
    # An update by another operation makes nothing: who made it stays.
    volume.make(operation="second")
    kept = volume.remove_unused("second")["kept"]
    assert kept == {volume.name: "operation first made it, not second"}
    served = {volume.name: volume.facts("ephemeral")}
    assert volume.remove_unused("first", served)["kept"] == {volume.name: "the pillar still names it"}
    (volume.path / "file").write_text("data")
    assert volume.remove_unused("first")["kept"] == {volume.name: "it is not empty"}
    assert (volume.path / "file").read_text() == "data"
    (volume.path / "file").unlink()
    assert volume.remove_unused("first") == {"removed": [volume.name], "kept": {}}
    assert not volume.path.exists() and not volume.record_file.exists()
    assert list(volume.remove_unused("first")["kept"]) == [volume.name]


@pytest.mark.parametrize("durability", ["persistent", "redundant"])
def test_an_unused_directory_is_taken_back_whatever_it_was_meant_for(volume, durability):
    volume.make(durability)
    assert volume.remove_unused(volume.component)["removed"] == [volume.name]


def test_what_was_there_before_is_not_taken_back(volume):
    volume.path.mkdir(parents=True)
    volume.path.chmod(0o750)
    volume.make()
    kept = volume.remove_unused(volume.component)["kept"]
    assert "was there before" in kept[volume.name]
    assert volume.path.is_dir()


@pytest.mark.parametrize(
    "volumes",
    [
        {},
        [],
        "development/x/data",
        {"development/x": "/a/b"},
        {"development/x/data/more": "/a/b"},
        {"development/../data": "/a/b"},
        {"development/x/data": "relative"},
        {"development/x/data": "/a/../b"},
        {"development/x/data": "/"},
        {"development/x/data": "/a/b/"},
        {"development/x/data": ["/a/b"]},
        {"development/x/data\n": "/a/b"},
        {"development/y/data": "/a/b"},
    ],
)
def test_malformed_volumes_are_refused(laboratory, volumes):
    laboratory.releases.deliver({})
    names = {"operation": "malformed", "step": "volume"}
    for more in ({}, {"made_by": "malformed"}):
        part = removed("development/x", "volume", volumes=volumes, **more)
        answer = laboratory.salt.call("eos.remove", **names, **part)
        assert answer["retcode"] == 1 and isinstance(answer["ret"], str), answer
    assert laboratory.salt.record("eos.status", operation="malformed", step="volume") == {"status": "unknown"}


def test_a_top_level_directory_is_nothing_to_remove(load):
    directory = load("_utils/eos_directory.py")
    for path in ("/", "/usr", "/proc/self/root/usr"):
        assert directory.why_kept(path), path
    assert "top-level" in directory.why_kept("/usr")


def test_only_places_of_volumes_are_looked_at(volume, laboratory):
    volume.make()
    volume.fill()
    outside = laboratory.directory.parent / f"{laboratory.directory.name}-outside"
    outside.mkdir()
    beside, absent = volume.path.with_name("beside"), volume.path.with_name("absent")
    beside.mkdir()
    (volume.path / "link").symlink_to("/etc")
    link = volume.path.with_name("link")
    link.symlink_to("/etc")
    asked = [volume.path, beside, absent, outside, "/etc", "/root", volume.path / "deep", volume.path / "link/ssl"]
    asked += [link / "ssl", laboratory.directory]
    try:
        with laboratory.salt.acting_as("eos-user"):
            seen = laboratory.salt.record("eos.observe", parts={"volume": list(map(str, asked))})["volume"]
    finally:
        outside.rmdir()
    assert [path for path, facts in seen.items() if facts["exists"]] == [str(volume.path), str(beside)]
    assert seen["/root"]["mode"] is None and set(seen) == set(map(str, asked))


def test_a_volume_stays_what_it_was_if_its_slice_says_less(volume, laboratory):
    """Whoever changes it reaches what it is, and only who does makes it less."""
    with laboratory.salt.acting_as("eos-operator"):
        facts = {volume.name: {**volume.facts("ephemeral"), "risk": "medium"}}
        sls = f"components.{volume.component}.development.volumes"
        made = laboratory.run_step(volume.component, "made", sls, laboratory.releases.deliver({}, volumes=facts))
        assert made["ret"]["status"] == "done", made
    lowered = {volume.name: {**facts[volume.name], "risk": "low"}}
    release = laboratory.releases.deliver({}, volumes=lowered)
    with laboratory.salt.acting_as("eos-user"):
        refused = laboratory.run_step(volume.component, "lowered", sls, release)
        assert "needs approval: " in refused["ret"] and "medium risk (its record on this minion)" in refused["ret"]
        assert json.loads(volume.record_file.read_text())["risk"] == "medium"
        laboratory.releases.deliver({})
        names = {"operation": volume.component, "step": "removed"}
        part = removed(f"development/{volume.component}", "volume", volumes={volume.name: str(volume.path)})
        refused = laboratory.salt.call("eos.remove", **names, **part)
        assert "needs approval: " in refused["ret"], refused
    assert volume.path.is_dir()
