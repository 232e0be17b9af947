"""The emitted tree without Eos: Salt's own orchestration, and the states by hand."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from configurations import provisioned, workspace
from laboratory import MINION

# A component with volumes on several hosts has one SLS for each, whose name ends in the host's; and that may be long.
VOLUMES = f"components.data.ejected.volumes-{'.'.join(['w' * 31] * 4)}"
WAVES = [
    [
        {"minion": MINION, "sls": "components.platform.ejected.workspace"},
        {"minion": MINION, "sls": VOLUMES},
    ],
    [
        {"minion": MINION, "sls": "components.first.ejected.workspace"},
        {"minion": MINION, "sls": "components.second.ejected.workspace"},
    ],
    [{"minion": MINION, "sls": "components.third.ejected.workspace"}],
]
NAMES = [f"ejected/{component}" for component in ("platform", "first", "second", "third")]


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
    seen = lab.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name]
    return seen and seen["resources"]


def test_waves_run_in_order_and_stop_at_the_first_failure(laboratory):
    deliver(laboratory, second=provisioned("exit 3"))
    states = orchestrate(laboratory, "orchestrate.deploy")
    outcome = {name.rpartition(" ")[2]: state["result"] for name, state in states.items()}
    assert outcome[VOLUMES] is True
    assert outcome["components.first.ejected.workspace"] is True
    assert outcome["components.second.ejected.workspace"] is False
    assert outcome["components.third.ejected.workspace"] is False
    assert resources(laboratory, "ejected/third") is None

    deliver(laboratory)
    states = orchestrate(laboratory, "orchestrate.deploy")
    assert all(state["result"] is True for state in states.values()), states
    order = sorted(states, key=lambda name: states[name]["__run_num__"])
    assert [name.rpartition(" ")[2] for name in order if name.startswith("wave")] == [
        step["sls"] for wave in WAVES for step in wave
    ]
    assert resources(laboratory, "ejected/third") == ["module.component.terraform_data.greeting"]

    runs = laboratory.runs()
    states = orchestrate(laboratory, "orchestrate.deploy")
    assert all(state["result"] is True for state in states.values()), states
    assert laboratory.runs() == runs


def test_all_workspaces_are_destroyed_last_first(laboratory):
    deliver(laboratory)
    assert all(state["result"] for state in orchestrate(laboratory, "orchestrate.deploy").values())
    states = orchestrate(laboratory, "orchestrate.destroy")
    assert all(state["result"] is True for state in states.values()), states
    order = [name for name in sorted(states, key=lambda name: states[name]["__run_num__"]) if "destroy" in name]
    assert order == [f"destroy {name}" for name in reversed(NAMES)]
    assert [resources(laboratory, name) for name in NAMES] == [None] * 4
    assert (laboratory.directory / "volumes" / "ejected").is_dir()


def test_a_missing_secret_fails_first_and_by_name(laboratory):
    secrets = [{"namespace": "default", "path": f"nomad/jobs/{name}", "items": ["password"]} for name in ("one", "two")]
    name = "ejected/third"
    third = workspace(name, "hello", secrets=secrets[:1])
    first = workspace("ejected/first", "hello", secrets=secrets[1:])
    shared = workspace("ejected/platform", "hello")
    waves = [[WAVES[0][0]], [WAVES[1][0]], WAVES[2]]
    laboratory.releases.deliver({"ejected/platform": shared, "ejected/first": first, name: third}, waves=waves)
    runs = laboratory.runs()
    laboratory.nomad.write_variable("default", "nomad/jobs/two", password="x")
    states = orchestrate(laboratory, "orchestrate.deploy")
    told = states[f"secrets are there for {MINION}"]
    assert told["result"] is False
    assert "nomad/jobs/one in namespace default is missing" in json.dumps(told), told
    assert "nomad/jobs/two" not in json.dumps(told)
    # What components share may come first, but the one of the wave before it was not begun either.
    assert laboratory.runs() == [*runs, "init", "plan", "apply"]
    assert [resources(laboratory, name) for name in NAMES[1:]] == [None] * 3
    laboratory.nomad.write_variable("default", "nomad/jobs/one", password="x")
    states = orchestrate(laboratory, "orchestrate.deploy")
    assert all(state["result"] is True for state in states.values()), states


def test_the_runners_limit_what_is_done(laboratory):
    names = ["limited/first", "elsewhere/first", "limited/second"]
    sls = [f"components.{name.split('/')[1]}.{name.split('/')[0]}.workspace" for name in names]
    waves = [[{"minion": MINION, "sls": piece}] for piece in sls]
    laboratory.releases.deliver({name: workspace(name, "hello") for name in names}, waves=waves)
    laboratory.salt.run("salt-run", "saltutil.sync_runners")

    ran = laboratory.salt.run("salt-run", "infrastructure.orchestrate_infrastructure", "env=limited")
    assert ran.returncode == 0, ran
    assert [bool(resources(laboratory, name)) for name in names] == [True, False, True]

    # One that is not there: none is destroyed.
    ran = laboratory.salt.run("salt-run", "infrastructure.staged_rollback", '["limited/first", "limited/third"]')
    assert "no component limited/third" in ran.stdout + ran.stderr, ran
    assert ran.returncode != 0, ran
    ran = laboratory.salt.run("salt-run", "infrastructure.staged_rollback", '["limited/first", "limited/second"]')
    assert ran.returncode == 0, ran
    destroyed = [name for name in json.loads(ran.stdout) if name.startswith("destroy")]
    assert destroyed == ["destroy limited/second", "destroy limited/first"]
    assert [resources(laboratory, name) for name in names] == [None, None, None]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("orchestrate_infrastructure", {"env": "../x"}),
        ("orchestrate_infrastructure", {"env": ""}),
        ("staged_rollback", {"components": []}),
        ("staged_rollback", {"components": "production/x"}),
        ("staged_rollback", {"components": ["a/b/c"]}),
        ("staged_rollback", {"components": ["x"], "preserve_data": False}),
    ],
)
def test_a_runner_refuses_what_it_cannot_mean(load, function, arguments):
    module = load("_runners/infrastructure.py")
    with pytest.raises(module.SaltInvocationError):
        getattr(module, function)(**arguments)


@pytest.mark.parametrize(
    ("states", "words"),
    [(["Rendering failed"], "Rendering failed"), ({"a": {"result": False}}, "a: said"), ({"a": {"result": None}}, "a")],
)
def test_a_runner_tells_what_failed(load, states, words):
    common = {"__id__": "a", "__run_num__": 0, "comment": "said"}
    states = {key: {**common, **state} for key, state in states.items()} if isinstance(states, dict) else states
    asked = []

    def orchestrate_stub(sls: str, pillar: dict) -> dict:
        asked.append((sls, pillar))
        return {"data": {"here_master": states}}

    module = load("_runners/infrastructure.py", salt={"state.orchestrate": orchestrate_stub})
    with pytest.raises(module.CommandExecutionError, match=words):
        module.staged_rollback(["x", "staging/y"])
    assert asked == [("orchestrate.destroy", {"eos_components": ["production/x", "staging/y"]})]


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
