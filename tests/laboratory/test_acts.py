"""Stopping, starting and restarting on real engines. Nomad itself says what ran, when it started, and how often."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from estates import Estate, sample

pytestmark = [pytest.mark.chain, pytest.mark.side_by_side]

WEB, PAIR = "acts-web", "acts-pair"
# After which write of its store Eos is killed: from the beginning of the operation to its last step.
KILLED_AT = [3, 4, 5, 6, 7, 8, 9, 10, 11]


def started(estate: Estate, job: str) -> dict[str, str]:
    """When the task of each running instance started."""
    running = estate.running(job)
    return {one["ID"]: state["StartedAt"] for one in running for state in one["TaskStates"].values()}


def told(estate: Estate, job: str) -> dict[str, list[int]]:
    """When each running instance was told to restart, of its last ten events: Nomad keeps no more."""
    times = {}
    for one in estate.running(job):
        [state] = estate.nomad(f"/v1/allocation/{one['ID']}?namespace=production")["TaskStates"].values()
        times[one["ID"]] = [event["Time"] for event in state["Events"] if event["Type"] == "Restart Signaled"]
    return times


def each_was_told_once_more(estate: Estate, job: str, before: dict[str, list[int]]) -> bool:
    now = told(estate, job)
    more = {instance: len(set(times) - set(before[instance])) for instance, times in now.items()}
    return more == dict.fromkeys(before, 1)


def status(estate: Estate, component: str) -> dict:
    [found] = estate.json("status", component)["components"]
    return found


def operations(estate: Estate, component: str) -> list[dict]:
    found = estate.json("history", "--limit", "200")["operations"]
    return [one for one in found if component in one["components"]]


def pillar(estate: Estate) -> str:
    return (estate.root / "pillar/infrastructure/production.sls").read_text()


def services(estate: Estate, name: str) -> list:
    return estate.nomad(f"/v1/service/{name}?namespace=production") or []


@pytest.fixture(scope="module", autouse=True)
def components(estate):
    estate.must("create", "hello", "--name", WEB, "--yes")
    estate.must("create", "hello", "--name", PAIR, "--replicas", "2", "--yes")
    yield
    for name in (WEB, PAIR):
        estate.must("delete", name, "--yes")


def test_a_restart_restarts_each_instance_and_changes_nothing_else(estate):
    before, index = started(estate, PAIR), estate.nomad(f"/v1/job/{PAIR}?namespace=production")["JobModifyIndex"]
    other = started(estate, WEB)
    plan = estate.json("restart", PAIR, "--plan")["plan"]
    assert (plan["changes"], [act["deed"] for act in plan["acts"]]) == ([], ["restart"])
    assert started(estate, PAIR) == before, "a plan restarts nothing"
    ran = estate.must("restart", PAIR, "--yes")
    assert "restart    2 instances restarted" in ran.stderr and "undo" not in ran.stderr, ran.stderr
    after = started(estate, PAIR)
    assert after.keys() == before.keys()
    assert all(after[instance] > before[instance] for instance in before), (before, after)
    # One after the other: the second was healthy before the first went.
    first, second = sorted(after.values())
    assert first[:19] < second[:19], after
    assert estate.nomad(f"/v1/job/{PAIR}?namespace=production")["JobModifyIndex"] == index
    assert started(estate, WEB) == other
    newest = operations(estate, PAIR)[0]
    assert (newest["words"], newest["outcome"]) == (f"eos restart {PAIR}", "done")
    audited = [one for one in estate.json("audit", "show")["entries"] if newest["id"] in json.dumps(one)]
    assert audited, "the audit has it"
    estate.must("audit", "verify")


def test_a_restart_cannot_be_undone(estate):
    newest, before = operations(estate, PAIR)[0], started(estate, PAIR)
    for verb in ("undo", "rollback"):
        ran = estate.eos(verb, newest["id"], "--yes")
        assert ran.returncode == 2, ran.stderr
        assert "a restart leaves nothing to undo" in " ".join(ran.stderr.split()), ran.stderr
        assert "hint: " in ran.stderr
    assert started(estate, PAIR) == before and operations(estate, PAIR)[0] == newest


@pytest.mark.parametrize("at", sample(KILLED_AT, 3))
def test_a_killed_restart_is_resumed_and_restarts_nothing_twice(estate, at):
    before = told(estate, PAIR)
    ran = estate.eos("restart", PAIR, "--yes", env={"EOS_FAULT_KILL_AT": str(at)})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    killed = operations(estate, PAIR)[0]["id"]
    estate.must("resume", killed, "--yes")
    assert each_was_told_once_more(estate, PAIR, before), (before, told(estate, PAIR))
    assert operations(estate, PAIR)[0]["outcome"] == "done"


def test_a_step_that_is_killed_between_two_instances_goes_on_with_the_second(estate):
    before, began = told(estate, PAIR), started(estate, PAIR)
    running = estate.start("restart", PAIR, "--yes")

    def one_is_restarted() -> bool:
        now = started(estate, PAIR)
        return any(now.get(instance) not in (None, when) for instance, when in began.items())

    estate.wait_until(one_is_restarted, 60, "the first instance restarts")
    operation = operations(estate, PAIR)[0]["id"]
    [file] = estate.files(f"salt/minion/cache/eos/steps/{operation}/*restart.json")
    record = json.loads(Path(file).read_text())
    assert record["status"] == "running", record
    os.kill(record["process"]["pid"], signal.SIGKILL)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 1 and "cannot be rolled back" in " ".join(said.split()), said
    # It has nothing to take back, and says how to go on.
    refused = estate.eos("rollback", operation, "--yes")
    assert refused.returncode == 2 and f"eos resume {operation}" in " ".join(refused.stderr.split()), refused.stderr
    estate.must("resume", operation, "--yes")
    assert each_was_told_once_more(estate, PAIR, before), (before, told(estate, PAIR))
    assert status(estate, PAIR)["healthy"] == 2


def test_two_components_are_acted_on_side_by_side(estate):
    web, pair = started(estate, WEB), started(estate, PAIR)
    both = [estate.start("restart", WEB, "--yes"), estate.start("restart", PAIR, "--yes")]
    for one in both:
        _, said = one.communicate(timeout=200)
        assert one.returncode == 0, said
    assert not set(web.values()) & set(started(estate, WEB).values())
    assert not set(pair.values()) & set(started(estate, PAIR).values())


def test_a_stopped_component_stays_so_and_all_it_has_stays(estate):
    job = f"/v1/job/{WEB}?namespace=production"
    other = started(estate, PAIR)
    estate.must("stop", WEB, "--yes", env={"SUDO_USER": "ada"})
    registered = estate.nomad(job)
    assert [group["Count"] for group in registered["TaskGroups"]] == [0] and not registered["Stop"]
    assert estate.running(WEB) == [] and services(estate, WEB) == []
    assert started(estate, PAIR) == other
    seen = status(estate, WEB)
    assert (seen["desired"], seen["running"], seen["trouble"]) == (0, 0, None)
    assert seen["stopped"]["words"] == f"eos stop {WEB}" and seen["stopped"]["who"] == "ada"
    shown = estate.must("status", WEB).stdout
    assert "stopped; nothing of it runs" in shown and "stopped    by ada, " in shown, shown
    assert f"{WEB}: stopped by ada, " in estate.must("status").stdout
    assert estate.eos("status", WEB, "--check").returncode == 0
    assert estate.eos("drift", WEB).returncode == 0, "it is in step"
    assert estate.json("stop", WEB, "--plan")["plan"]["changes"] == []
    refused = estate.eos("restart", WEB, "--yes")
    assert refused.returncode == 2 and f"eos start {WEB}" in refused.stderr

    # An update leaves it stopped, and the record of who stopped it as well.
    estate.must("update", WEB, "--greeting", "later", "--yes")
    assert estate.running(WEB) == []
    assert status(estate, WEB)["stopped"]["words"] == f"eos stop {WEB}"
    why = estate.must("why", f"job/{WEB}.group.count").stdout
    assert why.startswith("0\n  set by    stopped\n") and f"change    eos start {WEB}" in why, why


def test_drift_finds_what_somebody_started_by_hand(estate):
    scaled = {"Count": 1, "Target": {"Group": "hello"}}
    estate.nomad(f"/v1/job/{WEB}/scale?namespace=production", "POST", scaled)
    estate.wait_until(lambda: estate.running(WEB), 60, "it runs by hand")
    ran = estate.eos("drift", WEB)
    assert ran.returncode == 3 and f"job/{WEB}  changed in Nomad" in ran.stdout, ran.stdout
    seen = status(estate, WEB)
    assert "the pillar has it stopped, and 1 of it run" in seen["trouble"]["words"]
    adopted = estate.eos("reconcile", WEB, "--adopt", "--yes")
    assert adopted.returncode != 0 and f"eos start {WEB}" in adopted.stderr, adopted.stderr
    estate.must("reconcile", WEB, "--yes")
    assert estate.running(WEB) == [] and estate.eos("drift", WEB).returncode == 0


def test_a_start_brings_it_back_and_undo_goes_both_ways(estate):
    estate.must("start", WEB, "--yes")
    [instance] = estate.running(WEB)
    assert status(estate, WEB)["healthy"] == 1 and "stopped" not in status(estate, WEB)
    assert instance["ID"] and len(services(estate, WEB)) == 1
    assert "stopped:" not in pillar(estate)
    start = operations(estate, WEB)[0]["id"]
    estate.must("undo", start, "--yes")
    assert estate.running(WEB) == [] and "stopped:" in pillar(estate)
    undone = operations(estate, WEB)[0]["id"]
    estate.must("undo", undone, "--yes")
    assert len(estate.running(WEB)) == 1 and "stopped:" not in pillar(estate)


@pytest.mark.parametrize("at", sample(KILLED_AT, 2))
def test_a_killed_stop_is_resumed_or_rolled_back(estate, at):
    ran = estate.eos("stop", WEB, "--yes", env={"EOS_FAULT_KILL_AT": str(at)})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    killed = operations(estate, WEB)[0]["id"]
    estate.must("resume", killed, "--yes")
    assert estate.running(WEB) == [] and status(estate, WEB)["stopped"]
    estate.must("start", WEB, "--yes")
    ran = estate.eos("stop", WEB, "--yes", env={"EOS_FAULT_KILL_AT": str(at)})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    estate.must("rollback", operations(estate, WEB)[0]["id"], "--yes")
    assert len(estate.running(WEB)) == 1 and "stopped:" not in pillar(estate)
    assert estate.eos("drift", WEB).returncode == 0


def test_git_says_who_did_what(estate):
    log = subprocess.run(
        ["git", "-C", estate.root, "log", "--format=%s"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for verb in ("Stop", "Start", "Restart"):
        assert f"{verb} {WEB} (production)" in log, verb
