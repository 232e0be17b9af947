"""Restarts of a component's instances in a real Nomad, over Salt's API."""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest

from configurations import job, platform
from laboratory import MINION, removed, wait_until
from test_workspaces import remove

PAIR = 2
NAMESPACE = "restarts"


@pytest.fixture(scope="module", autouse=True)
def nothing_stays(laboratory):
    """Other files compare what the laboratory has, and a job that runs changes by itself."""
    yield
    laboratory.releases.deliver({})
    jobs = laboratory.nomad.call("GET", f"/v1/jobs?namespace={NAMESPACE}") or []
    for name in [*(f"{NAMESPACE}/{one['ID']}" for one in jobs), f"{NAMESPACE}/platform"]:
        record = remove(laboratory, f"end-{name.split('/')[1]}", name)
        assert record["status"] == "done", record
    # That of the step that was killed ends by itself, in half an hour.
    for token in laboratory.nomad.call("GET", "/v1/acl/tokens"):
        if f"{NAMESPACE}/" in token["Name"]:
            laboratory.nomad.call("DELETE", f"/v1/acl/token/{token['AccessorID']}")


def restartable(name: str, **fields: object) -> dict:
    """A job with the mark of its component, of which two instances run."""
    component = name.split("/")[1]
    made = job(name, count=PAIR, **fields)
    meta = f'  meta = {{\n    eos_component = "{component}"\n  }}\n'
    marked = {path: text.replace('  group "main"', f'{meta}  group "main"') for path, text in made["files"].items()}
    return {**made, "files": marked}


def instances(lab, component: str) -> dict[str, str]:
    """When the task of each running instance started."""
    found = lab.nomad.call("GET", f"/v1/job/{component}/allocations?namespace=restarts")
    running = [one for one in found if one["ClientStatus"] == "running" and one["DesiredStatus"] == "run"]
    return {one["ID"]: one["TaskStates"]["main"]["StartedAt"] for one in running}


def signals(lab, component: str) -> dict[str, int]:
    """How often each running instance was told to restart."""
    counts = {}
    for instance in instances(lab, component):
        events = lab.nomad.call("GET", f"/v1/allocation/{instance}?namespace=restarts")["TaskStates"]["main"]["Events"]
        counts[instance] = sum(event["Type"] == "Restart Signaled" for event in events)
    return counts


def applied(lab, component: str, risk: str) -> str:
    """A job of this risk that runs; answers the workspace's name."""
    name = f"restarts/{component}"
    workspaces = {"restarts/platform": platform("restarts"), name: restartable(name, risk=risk)}
    release = lab.releases.deliver(workspaces)
    for number, one in enumerate(workspaces):
        record = lab.run_workspace(f"{component}-{number}", one, release)
        assert record["status"] == "done", record
    wait_until("both run", lambda: len(instances(lab, component)) == PAIR)
    return name


def call(name: str, operation: str) -> dict:
    return {"operation": operation, "step": "2-restart", **removed(name), "action": "restart"}


def test_a_user_restarts_a_low_component_and_each_instance_once(laboratory):
    name = applied(laboratory, "lowly", "low")
    before, told = instances(laboratory, "lowly"), signals(laboratory, "lowly")
    with laboratory.salt.acting_as("eos-user"):
        record = laboratory.salt.record("eos.act", **call(name, "restart-low"))
    assert (record["status"], record["error"], record["risk"][0]) == ("done", None, "low"), record
    assert record["result"]["restarted"] == {instance: {"main": when} for instance, when in before.items()}
    after = instances(laboratory, "lowly")
    assert after.keys() == before.keys() and not set(after.values()) & set(before.values())
    # The same call again answers its record; another operation restarts again.
    assert laboratory.salt.record("eos.act", **call(name, "restart-low")) == record
    assert instances(laboratory, "lowly") == after
    laboratory.salt.record("eos.act", **call(name, "restart-low-2"))
    assert signals(laboratory, "lowly") == {instance: count + 2 for instance, count in told.items()}
    # The token of the run is gone with it.
    assert [one for one in laboratory.nomad.token_names() if name in one] == []


def test_a_user_may_not_restart_a_medium_component(laboratory):
    name = applied(laboratory, "middling", "medium")
    before = instances(laboratory, "middling")
    with laboratory.salt.acting_as("eos-user"):
        answer = laboratory.salt.call("eos.act", **call(name, "restart-medium"))
    assert answer["ret"].startswith("ERROR: needs approval: ") and "of medium risk" in answer["ret"], answer
    assert instances(laboratory, "middling") == before
    with laboratory.salt.acting_as("eos-operator"):
        record = laboratory.salt.record("eos.act", **call(name, "restart-medium"))
    assert record["status"] == "done" and not set(instances(laboratory, "middling").values()) & set(before.values())


def test_a_step_that_was_killed_between_restarts_the_rest_alone(laboratory):
    name = applied(laboratory, "halved", "low")
    before, told = instances(laboratory, "halved"), signals(laboratory, "halved")
    asked = call(name, "restart-halved")
    caller = threading.Thread(target=lambda: laboratory.salt.call("eos.act", **asked))
    caller.start()
    wait_until("one restarts", lambda: set(before.values()) - set(instances(laboratory, "halved").values()))
    file = laboratory.salt.cache / "eos" / "steps" / "restart-halved" / "2-restart.json"
    process = json.loads(file.read_text())
    assert process["status"] == "running", "the second instance was restarted too soon"
    os.kill(process["process"]["pid"], signal.SIGKILL)
    caller.join()
    status = laboratory.salt.record("eos.status", operation="restart-halved", step="2-restart")
    assert status["status"] == "interrupted"
    assert laboratory.salt.record("eos.act", **asked)["status"] == "done"
    assert signals(laboratory, "halved") == {instance: count + 1 for instance, count in told.items()}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"facts": {"digest": "0" * 64}}, "facts"),
        ({"action": "explode"}, "has no action explode, but: restart"),
        ({"component": "nobody"}, f"The pillar of minion {MINION} names no workspace restarts/nobody"),
        ({"environment": None, "component": None}, "environment"),
    ],
)
def test_a_strange_request_restarts_nothing(laboratory, changed, words):
    name = applied(laboratory, "quiet", "low")
    before = instances(laboratory, "quiet")
    answer = laboratory.salt.call("eos.act", **{**call(name, "restart-strange"), **changed})
    assert answer["retcode"] and words in str(answer["ret"]), answer
    assert instances(laboratory, "quiet") == before


def test_a_job_that_is_not_the_component_s_is_left_alone(laboratory):
    name = "restarts/stranger"
    workspaces = {"restarts/platform": platform("restarts"), name: job(name, risk="low")}
    release = laboratory.releases.deliver(workspaces)
    for number, one in enumerate(workspaces):
        laboratory.run_workspace(f"stranger-{number}", one, release)
    wait_until("it runs", lambda: instances(laboratory, "stranger"))
    before = instances(laboratory, "stranger")
    record = laboratory.salt.call("eos.act", **call(name, "restart-stranger"))["ret"]
    assert record["status"] == "failed" and "no such job of this component" in record["error"]["words"], record
    assert instances(laboratory, "stranger") == before
