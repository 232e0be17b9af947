"""Workspaces that a crash or a full disk left between two states: each hides no other, and is repaired."""

from __future__ import annotations

import itertools
import json

import pytest

from configurations import workspace
from laboratory import removed

CUT = '{"version": 4, "terraform_version": "1.1", "serial": 2, "lineage'


NAMES = ("between/hurt", "between/sound")
OPERATIONS = (f"between-{number}" for number in itertools.count())


def apply(lab, name: str, release: str) -> dict:
    return lab.run_workspace(next(OPERATIONS), name, release)


def remove(lab, name: str) -> dict:
    return lab.salt.record("eos.remove", operation=next(OPERATIONS), step="workspace", **removed(name))


@pytest.fixture
def two(laboratory):
    """A workspace to damage and its neighbour, both applied and served."""
    release = laboratory.releases.deliver({name: workspace(name, "hello") for name in NAMES})
    for name in NAMES:
        record = apply(laboratory, name, release)
        assert record["status"] == "done", record
    yield laboratory, release
    laboratory.releases.deliver({})
    for name in NAMES:
        removed = remove(laboratory, name)
        assert removed["status"] == "done", removed


DAMAGES = [("state/terraform.tfstate", ""), ("state/terraform.tfstate", CUT), ("applied.json", '{"digest": "')]


@pytest.mark.parametrize(("file", "text"), DAMAGES)
def test_a_damaged_workspace_hides_no_other_and_is_mended(two, file, text):
    lab, release = two
    path = lab.workspace("between/hurt") / file
    path.write_text(text)

    seen = lab.salt.record("eos.observe", parts={"workspace": ["between/hurt", "between/sound"]})["workspace"]
    assert seen["between/sound"]["digest"] and "error" not in seen["between/sound"], seen
    assert seen["between/hurt"]["digest"] is None, seen
    inspected = lab.salt.record("eos.inspect")["workspaces"]
    assert inspected["between/sound"]["error"] is None and inspected["between/sound"]["digest"]
    damaged = lab.salt.record("eos.examine")["damaged"]
    assert [(one["file"], one["workspace"]) for one in damaged] == [(str(path), "between/hurt")], damaged
    if file.endswith("tfstate"):
        for error in (seen["between/hurt"]["error"], inspected["between/hurt"]["error"]):
            assert error["layer"] == "terraform" and str(path) in error["words"], error
            assert "eos reconcile hurt" in error["hint"], error
    plan = lab.releases.plan({name: workspace(name, "changed") for name in NAMES})
    for name in NAMES:
        assert lab.preview_workspace(plan, name)["error"] is None

    beside = apply(lab, "between/sound", release)
    assert (beside["status"], beside["result"]["terraform"]["ran"]) == ("done", False), beside
    mended = apply(lab, "between/hurt", release)
    assert (mended["status"], mended["result"]["terraform"]["ran"]) == ("done", True), mended
    assert mended["result"]["terraform"]["outputs"]["greeting"] == "hello"
    state = json.loads((lab.workspace("between/hurt") / "state" / "terraform.tfstate").read_text())
    assert state["resources"]
    assert lab.salt.record("eos.examine")["damaged"] == []


@pytest.mark.parametrize(("file", "text"), DAMAGES)
def test_a_damaged_workspace_can_be_removed(two, file, text):
    lab, _ = two
    (lab.workspace("between/hurt") / file).write_text(text)
    lab.releases.deliver({"between/sound": workspace("between/sound", "hello")})
    removed = remove(lab, "between/hurt")
    assert removed["status"] == "done", removed
    assert not lab.workspace("between/hurt").exists()


def test_nothing_of_another_fails_while_a_first_apply_runs(two):
    """Terraform holds the state of a first apply empty for as long as the apply takes."""
    lab, release = two
    new = lab.workspace("between/new") / "state"
    new.mkdir(parents=True)
    (new / "terraform.tfstate").touch()
    for number in range(34):
        seen = lab.salt.record("eos.observe", parts={"workspace": ["between/new", "between/sound"]})["workspace"]
        assert seen["between/new"] is None and seen["between/sound"]["digest"], (number, seen)
        inspected = lab.salt.record("eos.inspect")["workspaces"]
        assert inspected["between/sound"]["digest"] and inspected["between/new"]["error"] is None, (number, inspected)
        record = apply(lab, "between/sound", release)
        assert record["status"] == "done", (number, record)
    assert remove(lab, "between/new")["status"] == "done"
