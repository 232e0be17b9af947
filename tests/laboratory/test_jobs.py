"""Jobs of every type on real engines: at set times, to their end, on every host, and one after the other.

Nomad itself says what it starts and when; the jobs leave their traces in files of the host.
"""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest
from estates import Estate, sample

pytestmark = [pytest.mark.chain, pytest.mark.side_by_side]

NIGHTLY, SET_UP, LINE, STORE, SLOW = "jobs-nightly", "jobs-setup", "jobs-line", "jobs-store", "jobs-slow"
# After which write of its store Eos is killed while it runs a job.
KILLED_AT = [3, 4, 5, 6, 7, 8]

PERIODIC = """\
recipe: jobs-nightly
summary: A job every night
version: "1"
risk: low
options:
  at: {default: "0 3 * * *", help: When it runs}
  zone: {default: Europe/Berlin, help: Whose hours}
  waits: {type: integer, default: 0, help: Seconds it takes}
services:
  jobs-nightly:
    schedule: {cron: "{{ at }}", zone: "{{ zone }}"}
    cpu: 20
    memory: 32
    program: [sh, -c, "echo run >> TRACE/nights; sleep {{ waits }}; test ! -e TRACE/broken || { echo the disk is gone >&2; exit 4; }"]
"""

PREPARED = """\
recipe: jobs-setup
summary: A service that is prepared before it starts, and told of afterwards
version: "1"
risk: low
options:
  word: {default: first, help: What it is prepared with}
services:
  jobs-setup:
    instances: one
    cpu: 20
    memory: 32
    program: [sh, -c, "cat TRACE/prepared >> TRACE/served; exec sleep 1000000"]
    tasks:
      prepare:
        runs: before
        program: [sh, -c, "! grep -qsx {{ word }} TRACE/refuse && sleep 1 && echo {{ word }} > TRACE/prepared"]
      announce:
        runs: after
        memory: 32
        program: [sh, -c, "echo {{ word }} >> TRACE/announced"]
"""

IN_ORDER = """\
recipe: jobs-line
summary: Three services, one after the other
version: "1"
risk: low
options:
  word: {default: one, help: What they write}
services:
  jobs-line:
    instances: one
    cpu: 20
    memory: 32
    program: [sh, -c, "echo door {{ word }} >> TRACE/line; exec sleep 1000000"]
  migrate:
    type: batch
    after: [jobs-line]
    cpu: 20
    memory: 32
    program: [sh, -c, "sleep 2; ! grep -qsx {{ word }} TRACE/stuck || exit 5; echo migrate {{ word }} >> TRACE/line"]
  worker:
    after: [migrate]
    instances: one
    cpu: 20
    memory: 32
    program: [sh, -c, "echo worker {{ word }} >> TRACE/line; exec sleep 1000000"]
"""

LENT = """\
recipe: jobs-store
summary: A volume of which a further job has use, and a service on every host
version: "1"
risk: low
needs:
  data:
    volume: {purpose: application, size: 1M, path: "/opt/{{ instance }}/data"}
services:
  jobs-store:
    instances: one
    cpu: 20
    memory: 32
    program: [sh, -c, "echo kept > {{ volumes.data }}/word; exec sleep 1000000"]
    volumes: {data: /data}
  index:
    type: batch
    after: [jobs-store]
    instances: one
    cpu: 20
    memory: 32
    program: [sh, -c, "cat {{ volumes.data }}/word >> TRACE/lent"]
    volumes: {data: /data}
  probe:
    type: system
    cpu: 20
    memory: 32
    program: [sh, -c, "echo probe >> TRACE/probed; exec sleep 1000000"]
"""

# Each takes its time to end, and says when it has ended.
UNHURRIED = """\
recipe: jobs-slow
summary: A service and a run that take their time to end
version: "1"
risk: low
services:
  jobs-slow:
    instances: one
    cpu: 20
    memory: 32
    stop: {within: 25s}
    program: [sh, -c, "trap 'sleep 6; echo service >> TRACE/ended; exit 0' INT TERM; while true; do sleep 0.2; done"]
  nightly:
    schedule: "0 3 * * *"
    cpu: 20
    memory: 32
    stop: {within: 25s}
    program: [sh, -c, "trap 'sleep 6; echo run >> TRACE/ended; exit 0' INT TERM; while true; do sleep 0.2; done"]
"""


@pytest.fixture(scope="module")
def trace(estate) -> Path:
    directory = estate.lab / "jobs-trace"
    directory.mkdir()
    # Tasks run as whoever runs Nomad.
    directory.chmod(0o777)
    recipes = {NIGHTLY: PERIODIC, SET_UP: PREPARED, LINE: IN_ORDER, STORE: LENT, SLOW: UNHURRIED}
    for name, recipe in recipes.items():
        estate.write_recipe(name, recipe.replace("TRACE", str(directory)))
    yield directory
    for name in recipes:
        if estate.nomad(f"/v1/job/{name}?namespace=production"):
            estate.must("delete", name, "--yes")
    shutil.rmtree(directory)


def lines(trace: Path, name: str) -> list[str]:
    file = trace / name
    return file.read_text().splitlines() if file.exists() else []


def job(estate: Estate, name: str) -> dict | None:
    return estate.nomad(f"/v1/job/{name}?namespace=production")


def runs(estate: Estate, name: str) -> list[dict]:
    listed = estate.nomad(f"/v1/jobs?namespace=production&prefix={name}/") or []
    return [one for one in listed if one["ParentID"] == name]


def status(estate: Estate, component: str) -> dict:
    [found] = estate.json("status", component)["components"]
    return found


def drift(estate: Estate, component: str) -> dict[str, str]:
    ran = estate.eos("drift", component, "--json")
    assert ran.returncode in (0, 3), ran.stderr
    objects = json.loads(ran.stdout.strip().split("\n")[-1])["objects"]
    return {one["object"]: one["verdict"] for one in objects if one["verdict"] != "in_step"}


def test_a_job_at_set_times_is_registered_and_proved(estate, trace):
    ran = estate.must("create", NIGHTLY, "--yes")
    assert "starts at 0 3 * * * (Europe/Berlin)" in " ".join(ran.stderr.split()), ran.stderr
    periodic = job(estate, NIGHTLY)["Periodic"]
    assert (periodic["Specs"], periodic["TimeZone"], periodic["Enabled"]) == (["0 3 * * *"], "Europe/Berlin", True)
    assert periodic["ProhibitOverlap"] and runs(estate, NIGHTLY) == [] and lines(trace, "nights") == []
    seen = status(estate, NIGHTLY)
    assert (seen["runs"], seen.get("trouble")) == ({"scheduled": True, "last": None}, None)
    assert "waits" in estate.must("status", NIGHTLY).stdout
    assert drift(estate, NIGHTLY) == {}


def test_a_run_now_is_waited_for_and_told(estate, trace):
    before = job(estate, NIGHTLY)["JobModifyIndex"]
    plan = estate.json("run", NIGHTLY, "--plan")["plan"]
    assert (plan["changes"], [act["deed"] for act in plan["acts"]]) == ([], ["run"])
    assert lines(trace, "nights") == [], "a plan runs nothing"
    ran = estate.must("run", NIGHTLY, "--yes")
    assert "the run ended well" in ran.stderr and "undo" not in ran.stderr, ran.stderr
    assert lines(trace, "nights") == ["run"]
    assert job(estate, NIGHTLY)["JobModifyIndex"] == before
    assert status(estate, NIGHTLY)["runs"]["last"]["outcome"] == "ended"
    undone = estate.eos("undo", "--yes")
    assert undone.returncode == 2, undone.stderr


def test_a_run_that_fails_is_a_trouble_with_its_last_lines(estate, trace):
    (trace / "broken").touch()
    ran = estate.eos("run", NIGHTLY, "--yes")
    assert ran.returncode == 1 and "eos logs jobs-nightly" in " ".join(ran.stderr.split()), ran.stderr
    seen = status(estate, NIGHTLY)
    assert (seen["runs"]["last"]["outcome"], seen["runs"]["last"]["lines"]) == ("failed", ["the disk is gone"])
    assert "its last run failed" in seen["trouble"]["words"], seen
    shown = estate.eos("status", "--check")
    assert shown.returncode == 3 and "the disk is gone" in shown.stdout, shown.stdout
    assert "the disk is gone" in estate.must("logs", NIGHTLY).stdout
    # Nomad repeats nothing: half of the work of a run may be done.
    assert lines(trace, "nights") == ["run", "run"]
    (trace / "broken").unlink()
    estate.must("run", NIGHTLY, "--yes")
    assert status(estate, NIGHTLY).get("trouble") is None


@pytest.mark.parametrize("at", sample(KILLED_AT, 2))
def test_a_killed_run_is_resumed_and_not_started_twice(estate, trace, at):
    before = len(lines(trace, "nights"))
    ran = estate.eos("run", NIGHTLY, "--yes", env={"EOS_FAULT_KILL_AT": str(at)})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    killed = estate.json("history")["operations"][0]["id"]
    estate.must("resume", killed, "--yes")
    assert len(lines(trace, "nights")) == before + 1


def test_its_times_change_and_come_back(estate, trace):
    estate.must("update", NIGHTLY, "--at", "30 4 * * mon-fri", "--yes")
    assert job(estate, NIGHTLY)["Periodic"]["Specs"] == ["30 4 * * mon-fri"]
    estate.must("undo", "--yes")
    assert job(estate, NIGHTLY)["Periodic"]["Specs"] == ["0 3 * * *"]
    refused = estate.eos("update", NIGHTLY, "--at", "61 4 * * *", "--yes")
    assert refused.returncode == 2 and '"61" is no minute of a schedule' in " ".join(refused.stderr.split())
    refused = estate.eos("update", NIGHTLY, "--zone", "Berlin/../x", "--yes")
    assert refused.returncode == 2 and "is no time zone" in " ".join(refused.stderr.split()), refused.stderr


def test_a_job_removed_by_hand_is_found_and_made_again(estate, trace):
    estate.nomad(f"/v1/job/{NIGHTLY}?namespace=production&purge=true", "DELETE")
    assert drift(estate, NIGHTLY) == {f"job/{NIGHTLY}": "missing"}
    estate.must("reconcile", NIGHTLY, "--yes")
    assert job(estate, NIGHTLY)["Periodic"]["Enabled"] and drift(estate, NIGHTLY) == {}


def test_a_stop_ends_the_run_that_goes_on(estate, trace):
    estate.must("update", NIGHTLY, "--waits", "600", "--yes")
    estate.nomad(f"/v1/job/{NIGHTLY}/periodic/force?namespace=production", "PUT", {})
    estate.wait_until(lambda: any(one["Status"] == "running" for one in runs(estate, NIGHTLY)), 30, "a run")
    refused = estate.eos("run", NIGHTLY, "--yes")
    assert refused.returncode == 1 and "runs may not overlap" in " ".join(refused.stderr.split()), refused.stderr
    estate.must("rollback", estate.json("history")["operations"][0]["id"], "--dismiss", "The run goes on", "--yes")
    estate.must("stop", NIGHTLY, "--yes")
    assert not job(estate, NIGHTLY)["Periodic"]["Enabled"]
    assert [one for one in runs(estate, NIGHTLY) if one["Status"] != "dead"] == []
    refused = estate.eos("run", NIGHTLY, "--yes")
    assert refused.returncode == 2 and "is stopped" in refused.stderr, refused.stderr
    estate.must("start", NIGHTLY, "--yes")
    assert job(estate, NIGHTLY)["Periodic"]["Enabled"]


def test_a_delete_leaves_neither_job_nor_run(estate, trace):
    estate.nomad(f"/v1/job/{NIGHTLY}/periodic/force?namespace=production", "PUT", {})
    estate.wait_until(lambda: any(one["Status"] == "running" for one in runs(estate, NIGHTLY)), 30, "a run")
    estate.must("delete", NIGHTLY, "--yes")
    assert job(estate, NIGHTLY) is None
    assert [one for one in runs(estate, NIGHTLY) if one["Status"] != "dead"] == []


def test_tasks_run_before_and_after_a_start(estate, trace):
    estate.must("create", SET_UP, "--yes")
    assert (lines(trace, "prepared"), lines(trace, "served")) == (["first"], ["first"])
    estate.wait_until(lambda: lines(trace, "announced") == ["first"], 20, "the task after the start")
    estate.must("update", SET_UP, "--word", "second", "--yes")
    assert lines(trace, "served") == ["first", "second"], "it was prepared before it started"
    assert drift(estate, SET_UP) == {}


def test_a_preparation_that_fails_keeps_the_service_from_starting(estate, trace):
    (trace / "refuse").write_text("third\n")
    ran = estate.eos("update", SET_UP, "--word", "third", "--yes")
    words = " ".join(ran.stderr.split())
    assert ran.returncode == 1 and "task prepare ended with exit code 1" in words, ran.stderr
    # It went back to what was there before, and prepared that again.
    assert estate.json("history")["operations"][0]["outcome"] == "taken back"
    assert "third" not in lines(trace, "served") and lines(trace, "prepared") == ["second"]
    assert len(estate.running(SET_UP)) == 1 and drift(estate, SET_UP) == {}
    (trace / "refuse").unlink()


def test_a_service_with_tasks_drifts_and_comes_back(estate, trace):
    estate.nomad(f"/v1/job/{SET_UP}?namespace=production&purge=true", "DELETE")
    assert drift(estate, SET_UP)[f"job/{SET_UP}"] == "missing"
    estate.must("reconcile", SET_UP, "--yes")
    assert len(estate.running(SET_UP)) == 1 and drift(estate, SET_UP) == {}
    estate.must("update", SET_UP, "--word", "fourth", "--yes")
    estate.must("undo", "--yes")
    assert lines(trace, "served")[-2:] == ["fourth", "second"]
    estate.must("delete", SET_UP, "--yes")
    assert job(estate, SET_UP) is None


def test_services_start_in_order(estate, trace):
    estate.must("create", LINE, "--yes")
    assert lines(trace, "line") == ["door one", "migrate one", "worker one"]
    assert {name for name in (LINE, f"{LINE}-migrate", f"{LINE}-worker") if job(estate, name)} == {
        LINE,
        f"{LINE}-migrate",
        f"{LINE}-worker",
    }
    assert job(estate, f"{LINE}-migrate")["Type"] == "batch"
    estate.must("update", LINE, "--word", "two", "--yes")
    assert lines(trace, "line")[3:] == ["door two", "migrate two", "worker two"]


def test_what_ended_and_was_forgotten_is_no_drift(estate, trace):
    before = lines(trace, "line")
    estate.nomad(f"/v1/job/{LINE}-migrate?namespace=production&purge=true", "DELETE")
    for name in (LINE, f"{LINE}-migrate", f"{LINE}-worker"):
        assert drift(estate, name) == {}
    assert status(estate, f"{LINE}-migrate").get("trouble") is None
    assert "nothing to do" in estate.must("apply", "--yes").stderr
    assert "nothing to do" in estate.must("plan").stderr
    assert lines(trace, "line") == before, "nothing ran again"


def test_a_job_in_the_middle_that_fails_takes_all_back(estate, trace):
    (trace / "stuck").write_text("three\n")
    ran = estate.eos("update", LINE, "--word", "three", "--yes")
    assert ran.returncode == 1 and "exit code 5" in " ".join(ran.stderr.split()), ran.stderr
    (trace / "stuck").unlink()
    assert estate.json("history")["operations"][0]["outcome"] == "taken back"
    assert "worker three" not in lines(trace, "line"), "it waited for the job before it"
    assert [estate.running(name) != [] for name in (LINE, f"{LINE}-worker")] == [True, True]
    for verb in ("stop", "update", "delete"):
        refused = estate.eos(verb, f"{LINE}-worker", "--yes")
        assert refused.returncode == 2 and LINE in refused.stderr, refused.stderr


def test_a_service_in_order_drifts_and_comes_back(estate, trace):
    estate.nomad(f"/v1/job/{LINE}-worker?namespace=production&purge=true", "DELETE")
    assert drift(estate, f"{LINE}-worker") == {f"job/{LINE}-worker": "missing"}
    estate.must("reconcile", f"{LINE}-worker", "--yes")
    assert len(estate.running(f"{LINE}-worker")) == 1 and drift(estate, f"{LINE}-worker") == {}
    before = len(lines(trace, "line"))
    estate.must("update", LINE, "--word", "four", "--yes")
    estate.must("undo", "--yes")
    order = ["door", "migrate", "worker"]
    assert lines(trace, "line")[before:] == [f"{name} {word}" for word in ("four", "two") for name in order]


def test_all_of_it_goes_together(estate, trace):
    estate.must("delete", LINE, "--yes")
    assert [job(estate, name) for name in (LINE, f"{LINE}-migrate", f"{LINE}-worker")] == [None] * 3
    # Salt keeps what its master has served and its minions fetched, and releases of before stay.
    kept = ("/cache/", "/releases/")
    left = [path for path in estate.files(f"**/{LINE}*") if not any(place in str(path) for place in kept)]
    assert not [path for path in left if os.sep + "terraform" + os.sep in str(path) and path.is_dir()], left


def test_a_further_job_mounts_the_volume_of_its_component(estate, trace):
    ran = estate.must("create", STORE, "--yes")
    assert lines(trace, "lent") == ["kept"], ran.stderr
    assert job(estate, f"{STORE}-index")["TaskGroups"][0]["Volumes"]["data"]["Source"] == f"{STORE}-data"
    ready = [node for node in estate.nomad("/v1/nodes") if node["Status"] == "ready"]
    assert job(estate, f"{STORE}-probe")["Type"] == "system"
    assert len(lines(trace, "probed")) == len(estate.running(f"{STORE}-probe")) == len(ready)
    for name in (STORE, f"{STORE}-index", f"{STORE}-probe"):
        assert drift(estate, name) == {}


def test_a_stopped_job_that_nomad_forgot_is_no_drift_and_a_removed_one_comes_back(estate, trace):
    estate.must("restart", f"{STORE}-probe", "--yes")
    estate.nomad(f"/v1/job/{STORE}-probe?namespace=production&purge=true", "DELETE")
    assert drift(estate, f"{STORE}-probe")[f"job/{STORE}-probe"] == "missing"
    estate.must("reconcile", f"{STORE}-probe", "--yes")
    # The whole component is registered again: what runs to its end does so once more.
    assert estate.running(f"{STORE}-probe") and lines(trace, "lent") == ["kept", "kept"]
    estate.must("stop", STORE, "--yes")
    estate.nomad(f"/v1/job/{STORE}-index?namespace=production&purge=true", "DELETE")
    assert drift(estate, f"{STORE}-index") == {}
    estate.must("delete", STORE, "--yes")


def test_a_run_that_somebody_stops_did_not_end_well(estate, trace):
    estate.must("create", SLOW, "--yes")
    estate.nomad(f"/v1/job/{SLOW}-nightly/periodic/force?namespace=production", "PUT", {})
    estate.wait_until(lambda: any(one["Status"] == "running" for one in runs(estate, f"{SLOW}-nightly")), 30, "a run")
    [run] = runs(estate, f"{SLOW}-nightly")
    estate.wait_until(lambda: estate.running(run["ID"]), 30, "its instance")
    estate.nomad(f"/v1/job/{run['ID']}?namespace=production", "DELETE")
    estate.wait_until(lambda: lines(trace, "ended") == ["run"], 30, "it ended")
    estate.wait_until(lambda: status(estate, f"{SLOW}-nightly")["runs"]["last"]["outcome"] == "failed", 20, "told")
    assert "somebody stopped it" in status(estate, f"{SLOW}-nightly")["trouble"]["words"]


def test_a_stop_and_a_delete_wait_until_nothing_works_any_more(estate, trace):
    def begin_a_run() -> None:
        estate.nomad(f"/v1/job/{SLOW}-nightly/periodic/force?namespace=production", "PUT", {})
        going_on = lambda: [one for one in runs(estate, f"{SLOW}-nightly") if estate.running(one["ID"])]  # noqa: E731
        estate.wait_until(going_on, 30, "a run")

    begin_a_run()
    estate.must("stop", SLOW, "--yes")
    assert sorted(lines(trace, "ended")) == ["run", "run", "service"]
    estate.must("start", SLOW, "--yes")
    begin_a_run()
    estate.must("delete", SLOW, "--yes")
    assert sorted(lines(trace, "ended")) == ["run", "run", "run", "service", "service"]
    assert [job(estate, name) for name in (SLOW, f"{SLOW}-nightly")] == [None, None]
