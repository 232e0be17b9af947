"""Two operators at once: side by side on two components, in turn on one; Eos reports a dead or overtaken one."""

import json
import os
import signal
import subprocess
import threading
import time

import pytest
import witness
from estates import Estate, no_mesh

pytestmark = pytest.mark.side_by_side

# Consul takes no less, and holds back what a dead session held for some seconds.
TTL = 10


def started(estate: Estate, *words: str) -> subprocess.Popen:
    """An operation in the background, whose events can be read."""
    return subprocess.Popen(
        [os.environ["EOS_TEST_PROGRAM"], "--estate", str(estate.root), *words, "--yes", "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Events:
    """The events of a running operation, gathered as they come."""

    def __init__(self, process: subprocess.Popen):
        self.process, self.seen = process, []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.seen.append({"at": time.monotonic(), **json.loads(line)})

    def find(self, event: str, **fields) -> list[dict]:
        return [
            one for one in list(self.seen) if one["event"] == event and all(one.get(k) == v for k, v in fields.items())
        ]

    def end(self, seconds: float = 300) -> int:
        code = self.process.wait(timeout=seconds)
        self.reader.join(timeout=10)
        return code


def wait_for(events: Events, event: str, seconds: float = 60, **fields) -> dict:
    ends = time.monotonic() + seconds
    while not (found := events.find(event, **fields)):
        assert time.monotonic() < ends and events.process.poll() is None, (event, fields, events.seen)
        time.sleep(0.05)
    return found[0]


def working(events: Events) -> tuple[float, float]:
    """When the first step of an operation began, and when its last one ended."""
    return events.find("step")[0]["at"], events.find("done")[-1]["at"]


def with_ground(estate: Estate):
    """Something is in the lab already, so that nobody has to make the environment first."""
    estate.must("create", "hello", "--name", "op-ground", "--yes")
    yield estate
    for name in ("op-one", "op-two", "op-ground"):
        if witness.pillar(estate, name):
            estate.must("delete", name, "--yes")


@pytest.fixture(scope="module")
def solo(estate):
    yield from with_ground(estate)


@pytest.fixture(scope="module")
def of_full(full_estate):
    if why := no_mesh():
        pytest.skip(why)
    yield from with_ground(full_estate)


def go_side_by_side(lab: Estate):
    first = Events(started(lab, "create", "hello", "--name", "op-one"))
    second = Events(started(lab, "create", "hello", "--name", "op-two"))
    assert (first.end(), second.end()) == (0, 0), (first.seen, second.seen)
    (begun_1, ended_1), (begun_2, ended_2) = working(first), working(second)
    assert begun_1 < ended_2 and begun_2 < ended_1, "they did not overlap"
    assert {"production/op-one", "production/op-two", "production/op-ground"} <= set(lab.jobs())
    assert len(lab.running("op-one")) == len(lab.running("op-two")) == 1
    for name in ("op-one", "op-two"):
        witness.is_committed(lab, name)


def test_on_two_components_they_go_side_by_side(solo):
    go_side_by_side(solo)


def test_in_full_on_two_components_they_go_side_by_side(of_full):
    go_side_by_side(of_full)


def second_waits_or_is_refused(lab: Estate):
    first = Events(started(lab, "update", "op-ground", "--greeting", "first"))
    wait_for(first, "step", title="terraform")
    refused = lab.eos("update", "op-ground", "--greeting", "never", "--yes", "--no-wait")
    # The line may wrap anywhere.
    assert refused.returncode != 0 and "held by operation" in " ".join(refused.stderr.split()), refused.stderr
    second = Events(started(lab, "update", "op-ground", "--greeting", "second"))
    told = wait_for(second, "waiting")
    assert "held by operation" in told["message"], told
    assert first.end() == 0, first.seen
    # What it had planned was overtaken: it says so, or what it wanted still holds and is done.
    code = second.end()
    greeting = "second" if code == 0 else "first"
    if code:
        assert "the plan" in json.dumps(second.seen), second.seen
    assert f"greeting: {greeting}" in witness.pillar(lab, "op-ground")


def test_on_one_component_the_second_waits_or_is_refused(solo):
    second_waits_or_is_refused(solo)


def test_in_full_on_one_component_the_second_waits_or_is_refused(of_full):
    second_waits_or_is_refused(of_full)


def killed_is_taken_over(lab: Estate):
    killed = lab.eos("update", "op-ground", "--greeting", "left", "--yes", env={"EOS_FAULT_KILL_AT": "9"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    left = witness.operations(lab, "op-ground")[0]["id"]
    blocked = lab.eos("update", "op-ground", "--greeting", "other", "--yes", "--no-wait")
    assert blocked.returncode != 0, blocked.stderr
    begun = time.monotonic()
    lab.must("resume", left)
    assert time.monotonic() - begun < 60
    assert "greeting: left" in witness.pillar(lab, "op-ground")


def test_the_work_of_one_who_was_killed_is_taken_over_at_once(solo):
    killed_is_taken_over(solo)


def test_in_full_the_work_of_one_who_was_killed_is_taken_over_at_once(of_full):
    killed_is_taken_over(of_full)


@pytest.fixture
def full(full_estate):
    if why := no_mesh():
        pytest.skip(why)
    settings = full_estate.root / "eos.toml"
    before = settings.read_text()
    settings.write_text(before + f"\n[lock]\nttl_seconds = {TTL}\n")
    full_estate.must("create", "hello", "--name", "ground", "--yes")
    yield full_estate
    settings.write_text(before)
    full_estate.must("delete", "ground", "--yes")


KEY = "/v1/kv/terraform/production/ground/lock"


def session(estate: Estate, ttl: int) -> str:
    body = {"Name": "another operator", "TTL": f"{ttl}s", "LockDelay": "1s", "Behavior": "release"}
    return estate.consul("/v1/session/create", "PUT", body)["ID"]


def taken(estate: Estate, holder: str) -> bool:
    value = {"operation": "01ELSEWHERE", "who": "eve", "since": "2026-01-01T00:00:00Z"}
    return estate.consul(f"{KEY}?acquire={holder}", "PUT", value) is True


def test_the_lock_of_a_dead_holder_elsewhere_is_had_after_its_time(full):
    # A session that nobody renews: its holder is dead.
    assert taken(full, session(full, TTL))
    begun = time.monotonic()
    waiting = Events(started(full, "update", "ground", "--greeting", "taken"))
    told = wait_for(waiting, "waiting")
    assert "01ELSEWHERE of eve" in told["message"], told
    assert waiting.end() == 0, waiting.seen
    # Consul ends a session at twice its time at the latest.
    assert time.monotonic() - begun < 2 * TTL + 60
    assert "greeting: taken" in witness.pillar(full, "ground")


def test_a_holder_that_was_overtaken_applies_nothing(full):
    index = full.nomad("/v1/job/ground?namespace=production")["JobModifyIndex"]
    stale = Events(started(full, "update", "ground", "--greeting", "stale"))
    wait_for(stale, "step", title="deliver")
    os.kill(stale.process.pid, signal.SIGSTOP)
    try:
        other = session(full, 600)
        full.wait_until(lambda: taken(full, other), 3 * TTL + 30, "the lock is had by another")
    finally:
        os.kill(stale.process.pid, signal.SIGCONT)
    assert stale.end() == 1, stale.seen
    failed = json.dumps(stale.seen)
    assert "lock of production/ground" in failed and "01ELSEWHERE" in failed, failed
    assert full.nomad("/v1/job/ground?namespace=production")["JobModifyIndex"] == index
    full.consul(f"/v1/session/destroy/{other}", "PUT")
    full.consul(KEY, "DELETE")
    full.must("resume")
    assert "greeting: stale" in witness.pillar(full, "ground")
