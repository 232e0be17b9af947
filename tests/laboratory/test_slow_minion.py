"""The doctor tells a slow minion from a dead one, and waits for the slow one alone."""

import json
import os
import signal
import threading
import time
from contextlib import suppress

from estates import Estate, family


def look(estate: Estate) -> tuple[dict, float]:
    """What the doctor finds of the control minion, and how long that took."""
    begun = time.monotonic()
    findings = json.loads(estate.eos("doctor", "--json").stdout)["findings"]
    (found,) = [one for one in findings if one["what"] == "minion control"]
    return found, time.monotonic() - begun


def test_a_minion_that_pauses_is_slow_and_a_dead_one_is_broken(estate):
    well, usual = look(estate)
    assert well["condition"] == "ok", well
    processes = family(estate.pid("salt-minion"))

    def strike(blow: signal.Signals) -> None:
        for pid in processes:
            # One that carried out a job may have ended by itself.
            with suppress(ProcessLookupError):
                os.kill(pid, blow)

    strike(signal.SIGSTOP)
    threading.Timer(9, strike, [signal.SIGCONT]).start()
    found, _ = look(estate)
    assert found["condition"] == "limited" and "slow" in found["words"], found

    strike(signal.SIGKILL)
    found, took = look(estate)
    assert (found["condition"], found["mend"]) == ("broken", "eos lab up"), found
    assert took < usual + 7, (took, usual)
    estate.must("lab", "up", timeout=300)
    assert look(estate)[0]["condition"] == "ok"
