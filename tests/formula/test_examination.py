"""The doctor's and the graph's questions to a minion, over the real API: true answers, and no change."""

from __future__ import annotations

import fcntl
import json

import pytest

from configurations import workspace


def files_of(lab) -> dict[str, int]:
    root = lab.root
    return {str(file.relative_to(root)): file.stat().st_mtime_ns for file in root.rglob("*") if file.is_file()}


@pytest.fixture
def applied(laboratory):
    name = "production/drawn"
    release = laboratory.releases.deliver({name: workspace(name, "hello")})
    assert laboratory.run_workspace("drawn-1", name, release)["status"] == "done"
    return laboratory


@pytest.mark.parametrize("user", ["eos-user", "eos-operator", "eos-architect"])
def test_the_graph_is_terraforms_own_and_leaves_no_trace(applied, user):
    before = files_of(applied)
    with applied.salt.acting_as(user):
        answer = applied.salt.call("eos.examine", kind="workspace", name="production/drawn")
    assert answer["retcode"] == 0, answer
    assert answer["ret"].startswith("digraph") and "terraform_data.greeting" in answer["ret"], answer
    assert files_of(applied) == before


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"kind": "workspace", "name": "production/nothing"}, "it was never applied"),
        ({"kind": "workspace", "name": "production/../drawn"}, "name is not of the form"),
        ({"kind": "workspace", "name": "/drawn"}, "name is not of the form"),
        ({"kind": "workspace"}, "name is not of the form"),
        ({"kind": "volume", "name": "production/drawn"}, "name no volume"),
        ({"kind": "rules"}, "nothing to examine of rules"),
        ({"kind": "secret", "name": "production/drawn"}, "nothing to examine of secrets"),
        ({"kind": "../terraform"}, "kind is none of"),
        ({"kind": ["workspace"]}, "kind is none of"),
        ({"name": "production/drawn"}, "there is no kind"),
    ],
)
def test_what_cannot_be_examined_is_refused(applied, asked, words):
    answer = applied.salt.call("eos.examine", **asked)
    assert answer["retcode"] == 1 and words in answer["ret"], answer


@pytest.mark.parametrize("user", ["eos-user", "eos-operator", "eos-architect"])
def test_a_minion_tells_how_it_is_set_up(applied, user):
    with applied.salt.acting_as(user):
        seen = applied.salt.record("eos.examine")
    assert "base" in seen["environments"], seen
    control = seen["control"]
    assert control["terraform"]["error"] is None and control["terraform"]["version"].count(".") == 2, control
    assert control["credential"] is None and control["state_locks"] == [], control
    assert control["named"] == ["production/drawn"], control


def test_workspaces_and_locks_of_nobody_are_told(applied):
    state = applied.root / "production/drawn/state"
    file = state / ".terraform.tfstate.lock.info"
    file.write_text(json.dumps({"Created": "2026-11-16T10:00:00Z", "Who": "ada@desk"}))
    try:
        with (state / "terraform.tfstate").open("r+") as held:
            fcntl.lockf(held, fcntl.LOCK_EX)
            (lock,) = applied.salt.record("eos.examine")["control"]["state_locks"]
            told = {"workspace": "production/drawn", "held": True, "by_eos": False, "who": "ada@desk"}
            assert lock | told == lock and lock["since"] == "2026-11-16T10:00:00Z", lock
        (lock,) = applied.salt.record("eos.examine")["control"]["state_locks"]
        assert (lock["held"], lock["unlock"]) == (False, f"rm {file}")
    finally:
        file.unlink()
    assert "production/drawn" not in applied.salt.record("eos.examine")["control"]["orphans"]
    applied.releases.deliver({})
    assert "production/drawn" in applied.salt.record("eos.examine")["control"]["orphans"]


def test_a_schedule_is_seen_in_the_minions_own_settings_and_in_its_pillar(load):
    job = {"function": "eos_terraform.sync_states", "seconds": 300}
    for schedule, pillar, expected in (
        (None, {}, False),
        ({"drift": job}, {}, True),
        ({"other": {"function": "test.ping"}, "enabled": True}, {}, False),
        ({}, {"schedule": {"drift": job}}, True),
    ):
        module = load("_modules/eos_examination.py", pillar=pillar)
        module.__opts__["schedule"] = schedule
        assert module._is_scheduled() is expected, schedule
