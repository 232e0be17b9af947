"""The kind `volume`: the directories and volumes on LVM of a component on this minion. `eos.py` says what a kind has.

Its facts are {"digest"} to make them, and to remove them {"volumes": {name: path}}. Beside that, `with_data` names
those on LVM that go although they are not ephemeral, or `made_by` the operation whose unused volumes go.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable

from salt.exceptions import CommandExecutionError, SaltInvocationError


def check(asked: dict) -> None:
    """Refuses facts of another form, and volumes of another component."""
    facts = asked["facts"]
    if asked["verb"] == "make":
        __utils__["eos_argument.check_keys"]("facts", facts, {"digest"})
        __utils__["eos_argument.check"]("digest", facts["digest"], "digest")
        return
    more = {"made_by"} if isinstance(facts, dict) and "made_by" in facts else {"with_data"}
    __utils__["eos_argument.check_keys"]("facts", facts, {"volumes"}, more)
    if not isinstance(facts["volumes"], dict) or not facts["volumes"]:
        raise SaltInvocationError("volumes is not an object of names and paths")
    for name, path in facts["volumes"].items():
        _check_name("volumes", name, asked)
        __utils__["eos_argument.check_path"]("volumes", path)
    for name in __utils__["eos_argument.check_all"]("with_data", facts.get("with_data"), "part"):
        _check_name("with_data", name, asked)
    if "made_by" in facts:
        __utils__["eos_argument.check"]("made_by", facts["made_by"], "id")


def lock(environment: str, component: str) -> contextlib.AbstractContextManager:
    """One for all volumes: they lie on the same disks, and one state run ends before the next begins."""
    del environment, component
    return __salt__["eos_states.lock"]()


def wanted(asked: dict, slices: Callable[[], dict]) -> dict:
    """To make: the volumes that are to be there. To remove: those of all components that the pillar names."""
    volumes = slices().get("volumes", {})
    if asked["verb"] == "make":
        return _compared(asked, volumes)
    for name in asked["facts"]["volumes"] if "made_by" not in asked["facts"] else ():
        if name in volumes:
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names volume {name}")
    return volumes


def risks(asked: dict, wanted: dict) -> tuple[list[tuple], str]:
    """Those of a volume on LVM depend on what would have to be done.

    A directory has no tier of its own: `eos_volumes` refuses one that would take anything from anybody.
    """
    if asked["verb"] == "remove":
        return _recorded(__salt__["eos_volumes.risks"](list(asked["facts"]["volumes"]))), "medium"
    found = []
    for name, facts in wanted.items():
        found.append((facts.get("risk"), "its recipe"))
        if "volume_group" in facts:
            found.append((__salt__["eos_storage.risk"](facts, name), "its storage"))
    return found + _recorded(__salt__["eos_volumes.risks_there"](list(wanted))), "high"


def make(asked: dict, wanted: dict) -> dict:
    if error := __salt__["eos_volumes.place"](wanted):
        return {"status": "failed", "error": error}
    with __salt__["eos_volumes.recorded"](wanted, asked["operation"]):
        return __salt__["eos_states.apply"](f"volumes of {asked['name']}", __salt__["eos_volumes.states"](wanted))


def remove(asked: dict, wanted: dict) -> dict:
    """All of them or none, each made here by Eos.

    With `made_by` the empty ones go, and to keep one is no failure: the result has {"removed", "kept": {name: why}}.
    """
    facts = asked["facts"]
    if "made_by" in facts:
        outcome = __salt__["eos_volumes.remove_unused"](facts["volumes"], facts["made_by"], wanted)
        return {"status": "done", "result": {"states": [], "terraform": None, **outcome}}
    error = __salt__["eos_volumes.remove"](facts["volumes"], wanted, facts.get("with_data") or [])
    return {"status": "failed" if error else "done", "error": error}


def read_back(asked: dict) -> None:
    """Whoever made a volume asks for it by its path, which a step record does not have."""
    del asked


def observe(who: dict, what: object, operation: str | None) -> tuple[dict, None]:
    """What is at these paths, directories or what is mounted there."""
    del who, operation
    paths = __utils__["eos_argument.check_all"]("volume", what, "path")
    for path in paths:
        __utils__["eos_argument.check_path"]("volume", path)
    seen = {path: _observed(path) for path in paths}
    for path, mounted in __salt__["eos_storage.mounted_at"](paths).items() if paths else ():
        seen[path]["mounted"] = mounted
    return seen, None


def preview(asked: dict, plan: str, unknown: list[str], pillar: dict) -> dict:
    """Salt's test run, or the paths that would go; nothing of it waits for what is unknown."""
    del unknown
    named, facts = pillar.get("eos", {}).get("volumes", {}), asked["facts"]
    if asked["verb"] == "make":
        made = _compared(asked, named)
        if error := __salt__["eos_volumes.refused_place"](made):
            return {"states": [], "error": error}
        states = __salt__["eos_volumes.states"](made)
        return __salt__["eos_preview.states"](plan, f"volumes of {asked['name']}", states, pillar)
    if "made_by" in facts:
        raise SaltInvocationError("Which volumes an operation left unused is known when they are removed")
    if still := sorted(set(facts["volumes"]) & set(named)):
        return {"states": [], "error": __salt__["eos_preview.still_named"](f"volume {still[0]}", "it")}
    if failure := __salt__["eos_volumes.refused"](facts["volumes"], named, facts.get("with_data") or []):
        return {"states": [], "error": failure}
    kinds = __salt__["eos_volumes.kinds"](facts["volumes"])
    gone = [__salt__["eos_preview.gone"](name, kinds[name], path) for name, path in facts["volumes"].items()]
    return {"states": gone, "error": None}


def inspect(pillar: dict) -> dict:
    return {"states": __salt__["eos_volumes.states"](pillar.get("eos", {}).get("volumes", {})), "answer": {}}


def examine(name: object, slices: Callable[[], dict]) -> dict:
    """Disks, volume groups, volumes with their use and growth, and other filesystems of this minion."""
    if name is not None:
        raise SaltInvocationError("The storage of a minion is examined as a whole: name no volume")
    return __salt__["eos_storage_report.of_this_minion"](slices().get("volumes", {}))


def section() -> str:
    return "volumes"


def parts(slices: dict) -> dict[str, dict]:
    """The volumes of each component together, as a step makes them."""
    of_component: dict[str, dict] = {}
    for part, facts in slices.get("volumes", {}).items():
        of_component.setdefault("/".join(part.split("/")[:2]), {})[part] = facts
    return {name: _part(named) for name, named in of_component.items()}


def _part(named: dict) -> dict:
    risks = [facts.get("risk") for facts in named.values()]
    risks += ["medium" for facts in named.values() if "volume_group" in facts]
    return {"digest": __utils__["eos_digest.of_json"](named), "risks": risks}


def parting(name: str, slices: dict) -> None:
    """Data stay."""
    del name, slices


def actions() -> dict[str, str]:
    """None: what a volume is to be, its facts say."""
    return {}


def _compared(asked: dict, volumes: dict) -> dict:
    """The volumes of the component, if they are those that the call means."""
    inside = f"{asked['name']}/"
    named = {name: facts for name, facts in volumes.items() if name.startswith(inside)}
    # A record on the disk has the name of what it is about.
    if strange := [name for name in named if not __utils__["eos_argument.fits"](name, "part")]:
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} has {strange[0]!r}, which is no name")
    __utils__["eos_digest.require_same"](__opts__["id"], asked, named and __utils__["eos_digest.of_json"](named))
    return named


def _check_name(argument: str, name: object, asked: dict) -> None:
    __utils__["eos_argument.check"](argument, name, "part")
    if not name.startswith(f"{asked['name']}/"):
        raise SaltInvocationError(f"{argument}: {name} is no volume of {asked['name']}")


def _recorded(risks: list) -> list[tuple]:
    return [(risk, "its record on this minion") for risk in risks]


def _observed(path: str) -> dict:
    """Owners are given as numbers, because a container's user need have no name on its host; and by their names."""
    try:
        status = os.lstat(path) if __salt__["eos_volumes.is_place"](path) else None
    except (FileNotFoundError, NotADirectoryError):
        status = None
    if status is None or not stat.S_ISDIR(status.st_mode):
        return {"exists": False, "user": None, "group": None, "mode": None, "names": None}
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    user, group = status.st_uid, status.st_gid
    names = f"{__salt__['file.uid_to_user'](user)}:{__salt__['file.gid_to_group'](group)}"
    return {"exists": True, "user": str(user), "group": str(group), "mode": mode, "names": names}
