"""Chooses the tests of a run, says which may run beside which, and writes down how each ended."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selection import choose, units_of

HERE = Path(__file__).resolve().parent
FULL = os.environ.get("EOS_TEST_FULL") == "1"
SEED = int(os.environ.get("EOS_TEST_SEED", "0"))
BUDGET = float(os.environ.get("EOS_TEST_BUDGET", "0"))
CHANGED = set(os.environ.get("EOS_TEST_CHANGED", "").split())
# Of the dear tests only those of this area.
AREA = os.environ.get("EOS_TEST_AREA")
# `quiet` tests run after all others, one at a time: a guest is slow, and a measurement wrong, where others work.
PHASE = os.environ.get("EOS_TEST_PHASE", "")
# Tests that a full run need not run again: a file with a line each.
PASSED = os.environ.get("EOS_TEST_PASSED")
RESULTS = os.environ.get("EOS_TEST_RESULTS")
LEFT_OUT = os.environ.get("EOS_TEST_LEFT_OUT")
# The time of day after which a sampled run begins no further dear test; see known_skips.toml.
DEADLINE = float(os.environ.get("EOS_TEST_DEADLINE", "inf"))
# Seconds that the setup, the body or the end of a test may take in a sampled run. One that hangs is a failure, and the
# others go on.
LONGEST = float(os.environ.get("EOS_TEST_LONGEST", "0"))
LABORATORIES = ("estate", "full_estate", "with_containers")
DEAR = pytest.StashKey[set[str]]()


def name_of(item: pytest.Item) -> str:
    return item.nodeid.removeprefix("tests/")


def file_of(item: pytest.Item) -> str:
    return name_of(item).split("::")[0]


# Before xdist, which reads the groups in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    costs = json.loads((HERE / "costs.json").read_text())
    chains = [(name_of(item), file_of(item) if item.get_closest_marker("chain") else None) for item in items]
    quiet = marked(items, "quiet")
    units = units_of(chains, costs, marked(items, "always"), quiet)
    if AREA:
        units = [unit for unit in units if unit.is_cheap or unit.area == AREA]
    if not FULL:
        units = [unit for unit in units if not (marked(items, "measures") & set(unit.tests))]
        units = choose(units, BUDGET, SEED, CHANGED) if BUDGET else units
    elif PASSED:
        passed = set(Path(PASSED).read_text().splitlines())
        units = [unit for unit in units if not passed.issuperset(unit.tests)]
    cost = {test: unit.cost for unit in units for test in unit.tests}
    chosen = [item for item in items if name_of(item) in cost and (name_of(item) in quiet) == (PHASE == "quiet")]
    here = set(map(name_of, chosen))
    left_out = [item for item in items if name_of(item) not in here]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    if LEFT_OUT and os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        with open(LEFT_OUT, "a") as file:
            file.writelines(f"{name_of(item)}\n" for item in left_out)
    # The dearest groups first; within one the order of the file.
    groups: dict[str, list[pytest.Item]] = {}
    for item in chosen:
        groups.setdefault(group_of(item), []).append(item)
    price = {group: sum(cost[name_of(item)] for item in there) for group, there in groups.items()}
    items[:] = [item for group in sorted(groups, key=lambda group: -price[group]) for item in groups[group]]
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    config.stash[DEAR] = {test for unit in units if not unit.is_cheap for test in unit.tests}


def marked(items: list[pytest.Item], mark: str) -> set[str]:
    return {name_of(item) for item in items if item.get_closest_marker(mark)}


def group_of(item: pytest.Item) -> str:
    """Tests of one group run one after the other in one process: those that share engines or a laboratory."""
    file = file_of(item)
    if file.startswith("crates/"):
        return name_of(item)
    return " ".join([file, *(name for name in LABORATORIES if name in item.fixturenames)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    with bounded():
        if time.time() > DEADLINE and name_of(item) in item.config.stash[DEAR]:
            pytest.skip("no time left: the sample took longer than it may")
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    with bounded():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown():
    with bounded():
        return (yield)


@contextmanager
def bounded() -> Iterator[None]:
    """Fails what takes longer than it may: a run that is cut off from outside says nothing at all."""
    if not LONGEST or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number, frame):
        pytest.fail(f"it took longer than {LONGEST:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    """One line for each phase of a test that has something to say; the process that hands out the tests writes them."""
    if not RESULTS or "PYTEST_XDIST_WORKER" in os.environ:
        return
    # xdist puts the group behind the name.
    test = report.nodeid.rsplit("@", 1)[0].removeprefix("tests/")
    line = {"test": test, "phase": report.when, "outcome": report.outcome, "seconds": report.duration}
    line["why"] = why(report)
    with open(RESULTS, "a") as file:
        file.write(json.dumps(line) + "\n")


def why(report: pytest.TestReport) -> str:
    """The reason of a skip, or the first words of a failure."""
    if report.skipped and isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message[:2000] if crash else ""
