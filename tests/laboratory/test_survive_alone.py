"""Undo reverts the newest of all operations, and engines are struck: `safe` survives both, alone in its estate."""

import os
import signal
import subprocess
import time

import pytest
import witness
from estates import FULL, Estate
from safe import NEW, SAFE, Made, clear, newest


@pytest.fixture(scope="module")
def lab(estate):
    estate.write_recipe("safe", SAFE)
    yield estate
    clear(estate)


def test_ten_operations_and_all_the_way_back(lab):
    clear(lab)
    pillars = [witness.pillar(lab, "safe")]
    lab.must("create", "safe", "--greeting", "1", "--yes")
    pillars.append(witness.pillar(lab, "safe"))
    count = 10 if FULL else 4
    for number in range(2, count + 1):
        lab.must("update", "safe", "--greeting", f"greeting {number}", "--yes")
        pillars.append(witness.pillar(lab, "safe"))
    # One in the middle was overwritten since: it is named, and nothing is changed.
    middle = lab.json("history")["operations"][count // 2]["id"]
    refused = lab.eos("rollback", middle, "--yes")
    assert refused.returncode == 2 and "changed again since" in refused.stderr, refused.stderr
    for number in range(count - 1, 0, -1):
        pillars.pop()
        lab.must("undo", "--yes")
        assert witness.pillar(lab, "safe") == pillars[-1]
        witness.serves(lab, "safe", "1" if number == 1 else f"greeting {number}")
    lab.must("undo", "--yes")
    witness.nothing(lab, "safe")
    assert witness.pillar(lab, "safe") == pillars[0]


BLOWS = [
    (engine, blow) for engine in ("nomad", "salt-api", "salt-master", "salt-minion") for blow in ("SIGKILL", "SIGSTOP")
]


@pytest.mark.parametrize(("engine", "blow"), BLOWS)
def test_an_engine_that_falls_silent_is_a_clear_error_in_bounded_time(lab, engine, blow):
    made = Made(lab)
    before = commits(lab)
    running = lab.start("update", "safe", "--greeting", NEW, "--yes")
    lab.wait_until(lambda: commits(lab) > before or running.poll() is not None, 60, "the operation's commit")
    group = lab.pid(engine)
    os.killpg(group, getattr(signal, blow))
    begun = time.monotonic()
    try:
        _, talk = running.communicate(timeout=240)
    finally:
        if blow == "SIGSTOP":
            os.killpg(group, signal.SIGCONT)
    took = time.monotonic() - begun
    lab.must("lab", "up", timeout=300)
    if running.returncode == 0:
        # It was over before the engine fell silent, or did not need it any more.
        witness.serves(lab, "safe", NEW)
        return
    assert running.returncode == 1, talk
    words = " ".join(talk.split())
    assert "error:" in words and "hint:" in words and "eos resume" in words and "eos rollback" in words, talk
    assert took < 120, f"{took:.0f} s until the error"
    lab.must("rollback", newest(lab)["id"], "--yes")
    made.is_as_before()
    made.data_is_there()


def commits(estate: Estate) -> int:
    counted = subprocess.run(["git", "-C", estate.root, "rev-list", "--count", "HEAD"], capture_output=True, text=True)
    return int(counted.stdout)
