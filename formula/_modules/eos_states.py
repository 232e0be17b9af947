"""Salt states that a kind makes of the facts it compared: run under one lock, with their outcome as a record has it.

Nothing here may be called over the API; the kinds call it. No state comes from a file that was delivered.
"""

from __future__ import annotations

import contextlib
import os

# Salt 3008 answers queue=True at once and runs the states later; with a number it waits, as long as fewer than that
# many state runs are before it.
_QUEUE = 1000


def lock() -> contextlib.AbstractContextManager:
    """State runs come one after the other: Salt's own queue sees only jobs named state.*."""
    return __utils__["eos_disk.locked"](os.path.join(__opts__["cachedir"], "eos", "locks", "states"))


def apply(name: str, high: dict) -> dict:
    """Runs these states, which are of the thing of this name; the caller holds `lock`."""
    return _outcome(name, __salt__["state.high"](high, test=False, queue=_QUEUE))


def _outcome(name: str, answer: object) -> dict:
    """Salt answers an object of states or, if it could not run them, a list of reasons."""
    if not isinstance(answer, dict) or not all(isinstance(state, dict) for state in answer.values()):
        words = "\n".join(map(str, answer)) if isinstance(answer, list) else str(answer)
        error = _error(name, words, "Deliver the release again, or see the minion's log")
        return {"status": "failed", "result": {"states": [], "terraform": None}, "error": error}
    ran = sorted(answer.values(), key=lambda state: state["__run_num__"])
    states = [
        {"id": state["__id__"], **{key: state[key] for key in ("name", "result", "changes", "comment")}}
        for state in ran
    ]
    result = {"states": states, "terraform": None}
    failed = [state for state in ran if state["result"] is not True]
    if not ran or failed:
        return {"status": "failed", "result": result, "error": _error_of(name, failed)}
    return {"status": "done", "result": result, "error": None}


def _error_of(name: str, failed: list[dict]) -> dict:
    if not failed:
        return _error(name, "Salt ran none of the states", "Compile and deliver again")
    first = next((state for state in failed if state.get("__state_ran__", True)), failed[0])
    words, _, hint = first["comment"].partition("\nhint: ")
    return _error(first["__id__"], words, hint or "Fix the fault that Salt names, then run the step again")


def _error(name: str, words: str, hint: str) -> dict:
    return {"layer": "salt", "object": name, "words": words, "hint": hint}
