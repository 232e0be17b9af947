"""The kind `file`: files of hosts that a component has on this minion. `eos.py` says what a kind has.

Its facts are {"digest"} to write them, and {"files": {name: path}} to remove them, where a name is
"<environment>/<component><path>".
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from salt.exceptions import CommandExecutionError, SaltInvocationError

_FACTS = {"path", "text", "user", "group", "mode"}


def check(asked: dict) -> None:
    """Refuses facts of another form, and files of another component."""
    facts = asked["facts"]
    if asked["verb"] == "make":
        __utils__["eos_argument.check_keys"]("facts", facts, {"digest"})
        __utils__["eos_argument.check"]("digest", facts["digest"], "digest")
        return
    __utils__["eos_argument.check_keys"]("facts", facts, {"files"})
    if not isinstance(facts["files"], dict) or not facts["files"]:
        raise SaltInvocationError("files is not an object of names and paths")
    for name, path in facts["files"].items():
        __utils__["eos_argument.check_path"]("files", path)
        if name != f"{asked['name']}{path}":
            raise SaltInvocationError(f"files: {name!r} is no file of {asked['name']} at {path}")


def lock(environment: str, component: str) -> contextlib.AbstractContextManager:
    """One for all files: two components may ask for one path."""
    del environment, component
    return __utils__["eos_disk.locked"](os.path.join(__opts__["cachedir"], "eos", "locks", "files"))


def wanted(asked: dict, slices: Callable[[], dict]) -> dict:
    """To write: the files that are to be there. To remove: those that the pillar names of all components beside.

    Root's own call removes what it still names, too: that is how an emitted tree is taken down without Eos.
    """
    files = slices().get("files", {})
    if asked["verb"] == "make":
        return _compared(asked, files)
    going = asked["facts"]["files"]
    for name in () if asked["who"]["is_root"] else going:
        if name in files:
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names file {name}")
    return {name: facts for name, facts in files.items() if name not in going}


def risks(asked: dict, wanted: dict) -> tuple[list[tuple], str]:
    """A file of a host can be a rule of sudo, or a unit of systemd: whoever writes it is root there."""
    if asked["verb"] == "remove":
        files = asked["facts"]["files"]
        found = [__salt__["eos_files.tier"](path) for path in files.values()]
        recorded = (__salt__["eos_files.recorded_risk"](name) for name in files)
        return found + [(risk, "its record on this minion") for risk in recorded if risk], "high"
    found = [__salt__["eos_files.tier"](facts["path"]) for facts in wanted.values()]
    # Whoever replaces what is there reaches it as well.
    recorded = (__salt__["eos_files.recorded_risk"](name) for name in wanted)
    found += [(risk, "its record on this minion") for risk in recorded if risk]
    return found + [(facts.get("risk"), "its recipe") for facts in wanted.values()], "high"


def make(asked: dict, wanted: dict) -> dict:
    """One after the other. What one of them does not let happen leaves those before it as they are wanted."""
    states = []
    for name, facts in wanted.items():
        try:
            changes = __salt__["eos_files.bring"](name, facts, asked["operation"])
        except (CommandExecutionError, OSError) as failure:
            states.append(_outcome(name, facts["path"], False, {}, str(failure)))
            error = __utils__["eos_failure.described"](failure, f"file {name}")
            return {"status": "failed", "result": {"states": states, "terraform": None}, "error": error}
        comment = f"{facts['path']} is {'written' if changes else 'as wanted'}"
        states.append(_outcome(name, facts["path"], True, changes, comment))
    return {"status": "done", "result": {"states": states, "terraform": None}}


def remove(asked: dict, wanted: dict) -> dict:
    """Those that Eos made. To keep another is no failure: the result has {"removed", "kept": {name: why}}."""
    removed, kept = [], {}
    for name, path in asked["facts"]["files"].items():
        if why := __salt__["eos_files.why_kept"](name, path, wanted):
            __salt__["eos_files.leave"](name, path, wanted)
            kept[name] = why
            continue
        __salt__["eos_files.remove"](name, path)
        removed.append(name)
    return {"status": "done", "result": {"states": [], "terraform": None, "removed": sorted(removed), "kept": kept}}


def read_back(asked: dict) -> None:
    """Whoever wrote a file asks for it by its path, which a step record does not have."""
    del asked


def observe(who: dict, what: object, operation: str | None) -> tuple[dict, None]:
    """What is at these paths. Of a file that is no component's it says only whether it is there."""
    del who, operation
    paths = __utils__["eos_argument.check_all"]("file", what, "path")
    for path in paths:
        __utils__["eos_argument.check_path"]("file", path)
    known = __salt__["eos_files.recorded_paths"]() if paths else set()
    return {path: __salt__["eos_files.observe"](path, path in known) for path in paths}, None


def preview(asked: dict, plan: str, unknown: list[str], pillar: dict) -> dict:
    """Salt's test run, or the files that would go; nothing of it waits for what is unknown."""
    del unknown
    named, name = pillar.get("eos", {}).get("files", {}), f"files of {asked['name']}"
    if asked["verb"] == "make":
        wanted = _compared(asked, named)
        if error := _why_unseen(asked["who"], wanted):
            return {"states": [], "error": error}
        answer = __salt__["eos_preview.states"](plan, name, __salt__["eos_files.states"](wanted), pillar)
        return {**answer, "error": answer["error"] or _refusal(answer["states"])}
    files = asked["facts"]["files"]
    if still := sorted(set(files) & set(named)):
        return {"states": [], "error": __salt__["eos_preview.still_named"](f"file {still[0]}", "it")}
    kept = {name: __salt__["eos_files.why_kept"](name, path, named) for name, path in files.items()}
    gone = [__salt__["eos_preview.gone"](name, "file", path) for name, path in files.items() if not kept[name]]
    stay = [_outcome(name, files[name], True, {}, f"{files[name]} is kept: {why}") for name, why in kept.items() if why]
    return {"states": [*gone, *stay], "error": None}


def inspect(pillar: dict) -> dict:
    return {"states": __salt__["eos_files.states"](pillar.get("eos", {}).get("files", {})), "answer": {}}


def examine(name: object, slices: Callable[[], dict]) -> None:
    """Refused: a minion keeps no more of files than `inspect` says."""
    del name, slices
    raise SaltInvocationError("There is nothing to examine of files")


def section() -> str:
    return "files"


def parts(slices: dict) -> dict[str, dict]:
    """The files of each component together, as a step makes them."""
    of_component: dict[str, dict] = {}
    for part, facts in slices.get("files", {}).items():
        of_component.setdefault("/".join(part.split("/")[:2]), {})[part] = facts
    return {name: _part(named) for name, named in of_component.items()}


def _part(named: dict) -> dict:
    risks = [facts.get("risk") for facts in named.values()]
    return {"digest": __utils__["eos_digest.of_json"](named), "risks": risks}


def parting(name: str, slices: dict) -> dict | None:
    files = {part: facts["path"] for part, facts in slices.get("files", {}).items() if part.startswith(f"{name}/")}
    return {"files": files} if files else None


def actions() -> dict[str, str]:
    """None: what a file is to be, its facts say."""
    return {}


def _compared(asked: dict, files: dict) -> dict:
    """The files of the component, if they are those that the call means."""
    inside = f"{asked['name']}/"
    named = {name: facts for name, facts in files.items() if name.startswith(inside)}
    for name, facts in named.items():
        # A record on the disk has the name of what it is about.
        if not facts.keys() >= _FACTS or name != f"{asked['name']}{facts['path']}" or not _is_plain(facts):
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} has {name!r}, which is no file")
    __utils__["eos_digest.require_same"](__opts__["id"], asked, named and __utils__["eos_digest.of_json"](named))
    # Nobody is asked to approve what no approval allows.
    for facts in named.values():
        if why := __salt__["eos_files.why_no_place"](facts["path"]):
            raise CommandExecutionError(f"{facts['path']} {why}")
    return named


def _is_plain(facts: dict) -> bool:
    mode = facts["mode"]
    is_mode = isinstance(mode, str) and len(mode) == 4 and mode[0] == "0" and all(digit in "01234567" for digit in mode)
    return is_mode and all(isinstance(facts[key], str) for key in _FACTS)


def _why_unseen(who: dict, wanted: dict) -> dict | None:
    """Only a role that reaches the path learns how a file that Eos did not make differs: others could guess it."""
    for name, facts in wanted.items():
        tier, _ = __salt__["eos_files.tier"](facts["path"])
        if __salt__["eos_files.is_foreign"](name, facts["path"]) and not __salt__["eos_roles.covers"](who, tier):
            words = f"{facts['path']} was there before Eos, and this caller's role does not reach {tier} risk"
            hint = "An architect's `eos plan` shows whether it is the wanted one"
            return {"layer": "salt", "object": f"file {name}", "words": words, "hint": hint}
    return None


def _refusal(states: list[dict]) -> dict | None:
    """Of a test run: why one of the files would not be written."""
    refused = next((state for state in states if state["result"] is False), None)
    if refused is None:
        return None
    words, _, hint = refused["comment"].partition("\nhint: ")
    return {"layer": "salt", "object": f"file {refused['id']}", "words": words, "hint": hint or "See the minion's log"}


def _outcome(name: str, path: str, result: bool, changes: dict, comment: str) -> dict:
    return {"id": name, "name": path, "result": result, "changes": changes, "comment": comment}
