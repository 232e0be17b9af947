"""The kind `rules`: the alert rules of a component, on the host of the Prometheus that watches it.

`eos.py` says what a kind has. The facts are {"digest"} to load them, {"monitor"} to take them from one that watches it
no longer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from salt.exceptions import CommandExecutionError, SaltInvocationError


def check(asked: dict) -> None:
    fact, form = ("digest", "digest") if asked["verb"] == "make" else ("monitor", "name")
    __utils__["eos_argument.check_keys"]("facts", asked["facts"], {fact})
    __utils__["eos_argument.check"](fact, asked["facts"][fact], form)


def lock(environment: str, component: str) -> contextlib.AbstractContextManager:
    """One for all: rules of several components lie in one directory."""
    del environment, component
    return __salt__["eos_prometheus.lock"]()


def wanted(asked: dict, slices: Callable[[], dict]) -> dict:
    """To load: this minion's slices, which name all rules of the directory. To take away: the monitor's slice.

    Root's own call takes away what is still watched, too: that is how an emitted tree is taken down without Eos.
    """
    found = slices()
    if asked["verb"] == "make":
        _compared(asked, found)
        return found
    name, monitor = asked["name"], asked["facts"]["monitor"]
    if not asked["who"]["is_root"] and _is_watched(name, monitor, found):
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still has {monitor} watch {name}")
    if (watching := _monitor(asked, monitor, found)) is None:
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} names no monitor {_beside(asked, monitor)}")
    return watching


def risks(asked: dict, wanted: dict) -> tuple[list[tuple], str]:
    there = (__salt__["eos_prometheus.recorded_risk"](asked["name"]), "its record on this minion")
    if asked["verb"] == "remove":
        return [there], "medium"
    return [(wanted["monitoring"][asked["name"]].get("risk"), "its recipe"), there], "high"


def make(asked: dict, wanted: dict) -> dict:
    error = __salt__["eos_prometheus.load"](asked["name"], wanted)["error"]
    return {"status": "failed" if error else "done", "error": error}


def remove(asked: dict, wanted: dict) -> dict:
    error = __salt__["eos_prometheus.unload"](asked["name"], wanted)
    return {"status": "failed" if error else "done", "error": error}


def read_back(asked: dict) -> None:
    """Prometheus itself says which rules it has loaded."""
    del asked


def observe(who: dict, what: object, operation: str | None) -> tuple[dict, None]:
    """Refused: a minion does not know more of rules than Prometheus says itself."""
    del who, what, operation
    raise SaltInvocationError("Rules are not observed on a minion: ask their Prometheus")


def preview(asked: dict, plan: str, unknown: list[str], pillar: dict) -> dict:
    """Salt's test run, or the files that would go; nothing of it waits for what is unknown."""
    del unknown
    name, slices = asked["name"], pillar.get("eos", {})
    if asked["verb"] == "make":
        states = __salt__["eos_prometheus.states"](_compared(asked, slices))
        return __salt__["eos_preview.states"](plan, f"rules of {name}", states, pillar)
    monitor = asked["facts"]["monitor"]
    if _is_watched(name, monitor, slices):
        return {"states": [], "error": __salt__["eos_preview.still_named"](f"rules of {name}", f"{monitor} watch it")}
    if (watching := _monitor(asked, monitor, slices)) is None:
        words = f"The plan's pillar of minion {__opts__['id']} names no monitor {_beside(asked, monitor)}"
        error = {"layer": "salt", "object": f"rules of {name}", "words": words, "hint": "Compile again"}
        return {"states": [], "error": error}
    files = __salt__["eos_prometheus.files_of"](name, watching)
    return {"states": [__salt__["eos_preview.gone"](name, "file", path) for path in files], "error": None}


def inspect(pillar: dict) -> dict:
    return {"states": __salt__["eos_prometheus.states"](pillar.get("eos", {}).get("monitoring", {})), "answer": {}}


def examine(name: object, slices: Callable[[], dict]) -> None:
    """Refused: a minion keeps no more of rules than `inspect` says."""
    del name, slices
    raise SaltInvocationError("There is nothing to examine of rules")


def section() -> str:
    return "monitoring"


def parts(slices: dict) -> dict[str, dict]:
    """The rules of each component, with the place of the monitor that loads them."""
    found = {}
    for name, facts in slices.get("monitoring", {}).items():
        at = slices.get("monitors", {}).get(f"{name.split('/')[0]}/{facts['monitor']}")
        digest = __utils__["eos_digest.of_json"]({name: {**facts, "at": at}})
        found[name] = {"digest": digest, "risks": [facts.get("risk")]}
    return found


def parting(name: str, slices: dict) -> dict | None:
    facts = slices.get("monitoring", {}).get(name)
    return facts and {"monitor": facts["monitor"]}


def actions() -> dict[str, str]:
    """None: rules are loaded or they are not."""
    return {}


def _compared(asked: dict, slices: dict) -> dict:
    """The rules of the component by its name, if they are those that the call means."""
    name, named = asked["name"], {}
    if facts := slices.get("monitoring", {}).get(name):
        # Where the rules go is part of what is compared.
        named = {name: {**facts, "at": _monitor(asked, facts["monitor"], slices)}}
    __utils__["eos_digest.require_same"](__opts__["id"], asked, named and __utils__["eos_digest.of_json"](named))
    return named


def _is_watched(name: str, monitor: str, slices: dict) -> bool:
    return slices.get("monitoring", {}).get(name, {}).get("monitor") == monitor


def _monitor(asked: dict, monitor: str, slices: dict) -> dict | None:
    return slices.get("monitors", {}).get(_beside(asked, monitor))


def _beside(asked: dict, monitor: str) -> str:
    return f"{asked['environment']}/{monitor}"
