"""The solo profile reads Terraform's local state while Terraform writes it."""

from __future__ import annotations

import json
import threading
import time
import types

import pytest

NAME = "production/new"
STATE = {"serial": 1, "lineage": "l", "resources": []}


@pytest.fixture
def solo(load, tmp_path):
    """The profile, and the file of the workspace's state."""
    module = load("_modules/eos_profile.py", opts={"eos": {"terraform_root": str(tmp_path)}})
    file = tmp_path / NAME / "state/terraform.tfstate"
    file.parent.mkdir(parents=True)
    return module.of_this_minion(), file


def workspace(applied: dict | None) -> types.SimpleNamespace:
    return types.SimpleNamespace(name=NAME, applied=lambda: applied)


def test_a_state_that_the_first_run_has_not_filled_yet_is_none(solo):
    profile, file = solo
    assert profile.read_state(workspace(None)) is None
    # Terraform holds it so from its lock to its first write, while others plan.
    file.touch()
    assert profile.read_state(workspace(None)) is None


@pytest.mark.parametrize("part", ["", '{"serial": 1, "lin'])
def test_a_state_that_is_being_written_is_read_when_it_is_whole(solo, part):
    profile, file = solo
    file.write_text(part)

    def write():
        time.sleep(0.3)
        file.write_text(json.dumps(STATE))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert profile.read_state(workspace({"serial": 1})) == STATE
    finally:
        writer.join()


def test_a_state_that_somebody_broke_is_no_state_of_nobody(solo, monkeypatch):
    profile, file = solo
    monkeypatch.setitem(type(profile).read_state.__globals__, "_WRITING", 0.1)
    for text in ("", "no JSON"):
        file.write_text(text)
        with pytest.raises(ValueError):
            profile.read_state(workspace({"serial": 1}))
