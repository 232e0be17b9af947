"""Targets and rules of components in a real Prometheus: read over its own API, never through Eos."""

import json
import os
import random
import signal
import socket
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from estates import Estate, get

pytestmark = pytest.mark.chain

ALERTS = ["InstanceDown", "InstanceMissing"]


def lasting_port() -> str:
    """One that nobody is given while its task is started anew: from below those that the kernel and Nomad choose from."""
    for port in random.sample(range(10_000, 20_000), 50):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("0.0.0.0", port))
            return str(port)
    raise AssertionError("no port is free")


class Prometheus:
    def __init__(self, estate: Estate):
        self.estate = estate

    def outputs(self) -> dict:
        return self.estate.json("read", "prometheus")["outputs"]

    def data(self, path: str):
        # Between the death of an instance and the next start it has no address.
        self.estate.wait_until(lambda: "prometheus_url" in self.outputs(), 60, "Prometheus is registered")
        url = self.outputs()["prometheus_url"]
        return json.loads(get(f"{url}/api/v1/{path}")[1])["data"]

    def targets(self, component: str) -> list[tuple[str, str]]:
        """Where instances of a component are asked, and how they answer."""
        active = self.data("targets?state=active")["activeTargets"]
        of_component = [one for one in active if one["labels"].get("component") == component]
        assert all(one["labels"]["environment"] == "production" for one in of_component)
        return [(one["labels"]["instance"], one["health"]) for one in of_component]

    def rules(self, component: str) -> list[dict]:
        groups = self.data("rules?type=alert")["groups"]
        return [rule for group in groups if group["name"] == f"production/{component}" for rule in group["rules"]]

    def states(self, component: str) -> dict[str, str]:
        return {rule["name"]: rule["state"] for rule in self.rules(component)}


def steps(ran) -> list[str]:
    """The steps as they were told, `N/M title` each."""
    words = [line.split() for line in (ran.stdout + ran.stderr).splitlines()]
    return [f"{line[0]} {line[1]}" for line in words if len(line) > 1 and "/" in line[0] and line[0][0].isdigit()]


def is_up(prometheus: Prometheus) -> bool:
    try:
        return [health for _, health in prometheus.targets("prometheus")] == ["up"]
    except OSError:
        return False


def is_settled(estate: Estate) -> bool:
    return "nothing to do" in estate.must("plan").stderr


def registered(estate: Estate, service: str) -> list[str]:
    found = estate.nomad(f"/v1/service/{service}?namespace=production") or []
    return [f"{one['Address']}:{one['Port']}" for one in found]


def process_of_hello(estate: Estate) -> int:
    """That of this lab: it listens on the lab's own address."""
    address = registered(estate, "hello")[0].split(":")[0]
    words = f"serve-hello --listen {address} ".encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words in path.read_bytes().replace(b"\0", b" "):
                return int(path.parent.name)
        except OSError:
            continue
    raise AssertionError("hello has no process")


def process_of_prometheus(estate: Estate) -> int:
    container = estate.docker("ps", "-q", "--filter", "name=prometheus").strip()
    return int(estate.docker("inspect", "--format", "{{.State.Pid}}", container))


@contextmanager
def stopped(pid: int):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        # Nomad may have replaced a task that did not pass its check.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def prometheus(with_containers):
    """One that looks often, in an estate where hello was there before it."""
    estate = with_containers
    estate.must("create", "hello", "--yes")
    options = ["--port", lasting_port(), "--scrape-interval", "1s", "--alert-after", "4s"]
    ran = estate.must("create", "prometheus", *options, "--yes")
    # What was there already is watched, and not made anew.
    assert sorted(steps(ran)[-2:]) == ["5/6 monitor", "6/6 monitor"], ran.stderr
    assert ran.stderr.count("terraform  ") == 1, ran.stderr
    yield Prometheus(estate)
    for component in ["hello", "prometheus"]:
        if any(one["component"] == component for one in estate.json("list")["components"]):
            estate.must("delete", component, "--yes")


def test_what_was_there_before_is_watched(prometheus):
    estate = prometheus.estate
    for component in ["hello", "prometheus"]:
        assert prometheus.targets(component) == [(at, "up") for at in registered(estate, component)]
        assert [rule["name"] for rule in prometheus.rules(component)] == ALERTS
        assert all(rule["duration"] == 4 and rule["health"] != "err" for rule in prometheus.rules(component))
    assert is_settled(estate)
    pages = get(f"http://{registered(estate, 'hello')[0]}/metrics")[1]
    assert "eos_hello_pages_total 0" in pages


def test_the_step_counts_a_target_for_each_instance(prometheus):
    estate = prometheus.estate
    ran = estate.must("update", "hello", "--replicas", "2", "--yes")
    assert "hello: 2 targets up" in ran.stderr, ran.stderr
    assert sorted(prometheus.targets("hello")) == sorted((at, "up") for at in registered(estate, "hello"))
    assert len(registered(estate, "hello")) == 2
    estate.must("update", "hello", "--unset", "replicas", "--yes")


def test_an_instance_that_hangs_raises_the_alarm_and_ends_it(prometheus):
    estate = prometheus.estate
    with stopped(process_of_hello(estate)):
        estate.wait_until(lambda: prometheus.states("hello") == dict.fromkeys(ALERTS, "pending"), 15, "it is noticed")
        estate.wait_until(lambda: prometheus.states("hello") == dict.fromkeys(ALERTS, "firing"), 15, "it is told")
    estate.wait_until(lambda: prometheus.states("hello") == dict.fromkeys(ALERTS, "inactive"), 30, "all is well")
    [alert] = [rule for rule in prometheus.rules("hello") if rule["name"] == "InstanceDown"]
    assert alert["labels"] == {"severity": "critical"}
    assert "of hello in production does not answer" in alert["annotations"]["summary"]


def test_an_instance_that_is_gone_is_missed_and_found_again_elsewhere(prometheus):
    estate = prometheus.estate
    before = registered(estate, "hello")
    scale = {"Target": {"Group": "hello"}, "Count": 0, "Message": "behind Eos"}
    estate.nomad("/v1/job/hello/scale?namespace=production", "POST", scale)
    estate.wait_until(lambda: prometheus.targets("hello") == [], 30, "it is asked no longer")
    missing = {"InstanceDown": "inactive", "InstanceMissing": "firing"}
    estate.wait_until(lambda: prometheus.states("hello") == missing, 30, "one is missing")
    estate.nomad("/v1/job/hello/scale?namespace=production", "POST", {**scale, "Count": 1})
    estate.wait_until(lambda: [health for _, health in prometheus.targets("hello")] == ["up"], 60, "it is back")
    # Nobody told Prometheus, or Eos, where.
    assert registered(estate, "hello") != before
    assert prometheus.targets("hello")[0][0] == registered(estate, "hello")[0]


def test_an_update_moves_the_target_and_more_patience_moves_nothing(prometheus):
    estate = prometheus.estate
    ran = estate.must("update", "hello", "--greeting", "Good morning", "--yes")
    assert steps(ran)[-1].endswith("monitor"), ran.stderr
    assert (registered(estate, "hello")[0], "up") in prometheus.targets("hello")
    running = {job: estate.running(job)[0]["ID"] for job in ["hello", "prometheus"]}
    ran = estate.must("update", "prometheus", "--alert-after", "5s", "--yes")
    assert [step.split()[1] for step in steps(ran)] == ["deliver", "monitor", "monitor"], ran.stderr
    assert [rule["duration"] for rule in prometheus.rules("hello")] == [5, 5]
    assert running == {job: estate.running(job)[0]["ID"] for job in running}


def test_what_nobody_can_watch_is_no_success(prometheus):
    estate = prometheus.estate
    with stopped(process_of_prometheus(estate)):
        begun = time.monotonic()
        ran = estate.eos("create", "hello", "--name", "greeter", "--yes")
        assert time.monotonic() - begun < 180
    assert ran.returncode == 1, ran.stderr
    assert "monitor failed" in ran.stderr and "No Prometheus answers" in ran.stderr, ran.stderr
    estate.wait_until(lambda: is_up(prometheus), 60, "Prometheus answers again, or anew")
    # One that hangs cannot say that it has forgotten; one that Nomad replaced in the meantime never knew.
    if "not rolled back" in ran.stderr:
        estate.must("rollback", estate.json("history")["operations"][0]["id"], "--yes")
    assert "production/greeter" not in estate.jobs()
    assert prometheus.targets("greeter") == [] and prometheus.rules("greeter") == []
    assert is_settled(estate)


def test_rules_that_prometheus_refuses_are_taken_back_on_the_host(prometheus):
    estate = prometheus.estate
    waves = json.loads((estate.lab / "srv/current/salt/orchestrate/waves.json").read_text())["waves"]
    [wanted] = [one for wave in waves for one in wave if one["sls"] == "components.hello.production.monitoring"]

    def run(step: str) -> dict:
        part = {"kind": "rules", "environment": "production", "component": "hello"}
        call = {"operation": "by-hand", "step": step, **part, "facts": {"digest": wanted["digest"]}}
        status, body = estate.salt([{"client": "local", "tgt": "control", "fun": "eos.make", "kwarg": call}])
        assert status == 200, body
        return json.loads(body)["return"][0]["control"]

    rules = estate.lab / "volumes/opt/prometheus/data/eos-rules"
    whole = (rules / "hello.json").read_text()
    before = whole.replace("does not answer", "is silent")
    (rules / "hello.json").write_text(before)
    # A name that no component can have: what is not Eos's is left alone.
    (rules / "_broken.json").write_text('{"groups": [{"name": "x", "rules": [{"alert": "X", "expr": "up ==="}]}]}')
    record = run("refused")
    assert (record["status"], record["error"]["layer"]) == ("failed", "prometheus"), record
    assert "failed to reload config" in record["error"]["words"], record
    assert (rules / "hello.json").read_text() == before
    (rules / "_broken.json").unlink()
    assert run("taken")["status"] == "done"
    assert (rules / "hello.json").read_text() == whole
    assert all("silent" not in rule["annotations"]["summary"] for rule in prometheus.rules("hello"))


def test_rules_that_somebody_edits_are_named_and_brought_back(prometheus):
    estate = prometheus.estate
    rules = estate.lab / "volumes/opt/prometheus/data/eos-rules/hello.json"
    whole = rules.read_text()
    rules.write_text(whole.replace("does not answer", "is silent"))
    ran = estate.eos("drift", "--json")
    assert ran.returncode == 3, ran.stderr
    [found] = json.loads(ran.stdout.strip().split("\n")[-1])["objects"]
    assert (found["object"], found["verdict"], found["layer"]) == ("rules/hello", "changed", "host"), found
    assert rules.read_text() != whole, "a look changes nothing"
    kept = [one["ID"] for one in estate.running("hello")]
    estate.must("reconcile", "--yes")
    assert rules.read_text() == whole and [one["ID"] for one in estate.running("hello")] == kept
    assert all("silent" not in rule["annotations"]["summary"] for rule in prometheus.rules("hello"))
    assert estate.must("drift", "--json").returncode == 0


def test_what_is_deleted_is_forgotten(prometheus):
    estate = prometheus.estate
    ran = estate.must("delete", "hello", "--yes")
    assert [step.split()[1] for step in steps(ran)] == ["deliver", "monitor", "terraform", "gone", "monitor"]
    assert prometheus.targets("hello") == [] and prometheus.rules("hello") == []
    assert not (estate.lab / "volumes/opt/prometheus/data/eos-rules/hello.json").exists()


def test_a_monitor_that_goes_takes_all_hooks_along_and_finds_no_stale_ones(prometheus):
    estate = prometheus.estate
    estate.must("create", "hello", "--yes")
    rules = estate.lab / "volumes/opt/prometheus/data/eos-rules"
    ran = estate.must("delete", "prometheus", "--yes")
    assert [step.split()[1] for step in steps(ran)] == ["deliver", "terraform", "gone"], ran.stderr
    assert is_settled(estate)
    # Its data are kept, and so are rules of what is gone by the time it comes again.
    assert (rules / "hello.json").exists()
    estate.must("delete", "hello", "--yes")
    estate.must("create", "prometheus", "--port", lasting_port(), "--scrape-interval", "1s", "--yes")
    assert prometheus.rules("hello") == [] and not (rules / "hello.json").exists()
    assert [rule["name"] for rule in prometheus.rules("prometheus")] == ALERTS
