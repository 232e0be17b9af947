"""The emitted tree without Eos: Salt's own orchestration, and the states by hand."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from configurations import provisioned, workspace
from laboratory import MINION, readme_block

WAVES = [
    [{"minion": MINION, "sls": "components.data.ejected.volumes"}],
    [
        {"minion": MINION, "sls": "components.first.ejected.workspace"},
        {"minion": MINION, "sls": "components.second.ejected.workspace"},
    ],
    [{"minion": MINION, "sls": "components.third.ejected.workspace"}],
]
NAMES = [f"ejected/{component}" for component in ("first", "second", "third")]


def orchestrate(lab, sls: str) -> dict:
    answer = lab.salt.run("salt-run", "state.orchestrate", sls)
    (states,) = json.loads(answer.stdout)["data"].values() if answer.stdout else ({},)
    assert isinstance(states, dict), (states, answer.stderr)
    return {state["__id__"]: state for state in states.values()}


def deliver(lab, **broken: str) -> str:
    workspaces = {name: workspace(name, "hello", broken.get(name.split("/")[1], "")) for name in NAMES}
    owner = {"user": str(os.getuid()), "group": str(os.getgid()), "mode": "0700"}
    volume = {"path": str(lab.directory / "volumes" / "ejected"), **owner}
    return lab.releases.deliver(workspaces, volumes={"ejected/data/data": volume}, waves=WAVES)


def resources(lab, name: str) -> list | None:
    seen = lab.salt.record("eos.observe", workspaces=[name])["workspaces"][name]
    return seen and seen["resources"]


@pytest.fixture
def unfenced(laboratory):
    """A master that has no API user any more, as one who leaves Eos has it; put back afterwards."""
    fence = readme_block("external_auth")
    without = fence[: fence.index("publisher_acl_blacklist:")]

    def restart(access: str):
        laboratory.processes.stop("master")
        laboratory.salt.write_master(access)
        laboratory.salt.up_master()
        laboratory.salt.wait()

    restart(without)
    yield
    restart(fence)


def test_waves_run_in_order_and_stop_at_the_first_failure(laboratory):
    deliver(laboratory, second=provisioned("exit 3"))
    states = orchestrate(laboratory, "orchestrate.deploy")
    outcome = {name.rpartition(" ")[2]: state["result"] for name, state in states.items()}
    assert outcome["components.data.ejected.volumes"] is True
    assert outcome["components.first.ejected.workspace"] is True
    assert outcome["components.second.ejected.workspace"] is False
    assert outcome["components.third.ejected.workspace"] is False
    assert resources(laboratory, "ejected/third") is None

    deliver(laboratory)
    states = orchestrate(laboratory, "orchestrate.deploy")
    assert all(state["result"] is True for state in states.values()), states
    order = sorted(states, key=lambda name: states[name]["__run_num__"])
    assert [name.rpartition(" ")[2] for name in order[1:]] == [step["sls"] for wave in WAVES for step in wave]
    assert resources(laboratory, "ejected/third") == ["module.component.terraform_data.greeting"]

    runs = laboratory.runs()
    states = orchestrate(laboratory, "orchestrate.deploy")
    assert all(state["result"] is True for state in states.values()), states
    assert laboratory.runs() == runs


def test_the_fence_holds_for_orchestrations_too(laboratory):
    deliver(laboratory)
    states = orchestrate(laboratory, "orchestrate.destroy")
    assert states["destroy ejected/third"]["result"] is False


def test_all_workspaces_are_destroyed_last_first(laboratory, unfenced):
    deliver(laboratory)
    assert all(state["result"] for state in orchestrate(laboratory, "orchestrate.deploy").values())
    states = orchestrate(laboratory, "orchestrate.destroy")
    assert all(state["result"] is True for state in states.values()), states
    order = [name for name in sorted(states, key=lambda name: states[name]["__run_num__"]) if "destroy" in name]
    assert order == [f"destroy {name}" for name in reversed(NAMES)]
    assert [resources(laboratory, name) for name in NAMES] == [None, None, None]
    assert (laboratory.directory / "volumes" / "ejected").is_dir()


def by_hand(lab, *arguments: str) -> object:
    """What an administrator sees who calls a function on the minion itself."""
    command = [lab.salt.bin / "salt-call", "-c", lab.salt.etc / "minion.d", "--out=json", "--log-level=quiet"]
    answer = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)
    return json.loads(answer.stdout)["local"]


def state_by_hand(lab, *arguments: str) -> dict:
    (state,) = by_hand(lab, *arguments).values()
    return state


def test_a_dry_run_tells_whether_terraform_would_run(laboratory):
    name, sls = "production/dry", "components.dry.production.workspace"
    laboratory.releases.deliver({name: workspace(name, "x")})
    runs = laboratory.runs()
    assert state_by_hand(laboratory, "state.apply", sls, "test=True")["result"] is None
    assert laboratory.runs() == runs
    applied = state_by_hand(laboratory, "state.apply", sls)
    assert (applied["result"], applied["changes"]) == (True, {"terraform": {"added": 1}})
    record = json.loads((laboratory.workspace(name) / "applied.json").read_text())
    assert record["operation"].startswith("eject-")
    assert state_by_hand(laboratory, "state.apply", sls, "test=True")["result"] is True
    assert (
        state_by_hand(laboratory, "state.single", "eos_terraform.absent", f"name={name}", "test=True")["result"] is None
    )


def test_a_plan_counts_and_changes_nothing(laboratory):
    name = "production/planned"
    names = ("production", "planned", "by-hand", "plan")
    laboratory.releases.deliver({name: workspace(name, "x")})
    planned = by_hand(laboratory, "eos_terraform.plan", *names)
    assert (planned["result"], planned["terraform"]["added"]) == (True, 1), planned
    assert resources(laboratory, name) is None
    assert by_hand(laboratory, "eos_terraform.apply", *names)["terraform"]["added"] == 1
    assert by_hand(laboratory, "eos_terraform.get_terraform_output", "production", "planned", "greeting") == "x"
    planned = by_hand(laboratory, "eos_terraform.plan", *names)
    assert [planned["terraform"][count] for count in ("added", "changed", "destroyed")] == [0, 0, 0]
    assert not (laboratory.workspace(name) / "planning").exists()
