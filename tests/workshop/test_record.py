"""The record of runs: a cut line is no result, a test without an end did not pass, an unknown skip fails."""

import json

from record import Result, by_area, read_results

SKIP = "this user may write everywhere"


def line(test: str, phase: str, outcome: str = "passed", seconds: float = 1.0, why: str = "") -> str:
    return json.dumps({"test": test, "phase": phase, "outcome": outcome, "seconds": seconds, "why": why})


def whole(test: str, **call) -> list[str]:
    return [line(test, "setup"), line(test, "call", **call), line(test, "teardown")]


def test_the_worst_phase_counts_and_all_seconds():
    lines = [line("a", "setup"), line("a", "call"), line("a", "teardown", "failed")]
    assert read_results(lines) == {"a": Result("a", "failed", 3.0)}


def test_what_was_cut_off_did_not_pass():
    assert read_results([*whole("a"), line("b", "setup"), line("b", "call"), '{"test": "c", "pha']).keys() == {"a"}


def test_the_last_try_counts():
    assert read_results(whole("a", outcome="failed") + whole("a")) == {"a": Result("a", "passed", 3.0)}
    assert read_results([*whole("a"), line("a", "setup")]) == {}, "it was cut off"


def test_a_skip_counts_as_bad_unless_it_is_known():
    lines = whole("a", outcome="skipped", why=SKIP) + whole("b", outcome="skipped", why="no Docker")
    results = read_results(lines)
    assert not results["a"].is_bad and results["b"].is_bad


def test_the_table_counts_what_was_left_out():
    table = by_area([Result("laboratory/test_drift.py::a", "passed", 4.0)], ["laboratory/test_drift.py::b"])
    assert table[1].split() == ["drift", "1", "0", "0", "1", "4"]
