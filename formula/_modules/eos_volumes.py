"""Volumes of this minion, directories or on LVM: a record says of each what Eos made, and nothing else is ever removed.

Nothing here may be called over the API; `eos` calls it. A record is `<cachedir>/eos/volumes/<name>.json`, where a name
is "<environment>/<component>/<need>"; one that was kept when its component went has its record still.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import stat
from collections.abc import Iterator

_LVM = "lvm"
# Where volumes may lie on a host whose settings do not say.
_BELOW = ("/opt", "/srv")
# What the state of a volume on LVM is given of its facts, beside path and owner.
_OF_LVM = (
    *("volume", "volume_group", "devices", "size", "filesystem", "compression", "shrink_from"),
    *("snapshots", "restore", "conversion"),
)


def allowed() -> list[str]:
    """The directories below which volumes may lie on this minion."""
    named = __opts__.get("eos", {}).get("volumes_below", _BELOW)
    return [directory.rstrip("/") or "/" for directory in ([named] if isinstance(named, str) else named)]


def _why_no_place(path: object, given_to: int | None = None) -> str | None:
    """As `eos_directory.why_no_place`; what Salt and Terraform keep on this minion is no place either."""
    if why := __utils__["eos_directory.why_no_place"](path, allowed(), given_to):
        return why
    own = [__opts__["cachedir"], __opts__.get("eos", {}).get("terraform_root")]
    taken = next((one for one in own if one and __utils__["eos_directory.within"](path, one)), None)
    return f"is in {taken}, which is root's own" if taken else None


def is_place(path: str) -> bool:
    """Whether a volume of Eos's is or could be here, for whoever asks: nothing else of this host is looked at.

    What lies in a volume is its component's own, and a task may have put a link there.
    """
    if os.path.realpath(path) != path:
        return False
    volumes = {record["path"] for record in _records().values()}
    within = __utils__["eos_directory.within"]
    return path in volumes or (
        any(path != one and within(path, one) for one in allowed()) and not any(within(path, one) for one in volumes)
    )


def why_not_its_own(name: str, path: str) -> str | None:
    """Why this directory of this minion is none for the volume of this name, in words that follow it; None if it is."""
    record = _records().get(name)
    if record and record["path"] == path:
        return None
    return _why_no_place(path) or ("was there before Eos" if os.path.lexists(path) else None)


def adopt(name: str, path: str) -> dict:
    """Hands Eos a directory that was there before, with all that is in it, as the volume of this name.

    For root alone, by `salt-call --local` on the minion: whoever may run a task with the volume reads what is in it.
    """
    status = os.lstat(path)
    facts = {"path": path, "user": str(status.st_uid), "group": str(status.st_gid)}
    _record(name, facts, "adopted")
    return _records()[name]


def place(wanted: dict[str, dict]) -> dict | None:
    """Makes what is above these volumes; answers None, or the failure if one of them must not lie where it is to."""
    if failure := refused_place(wanted):
        return failure
    records = _records()
    volumes = {record["path"] for record in records.values()}
    for name, facts in wanted.items():
        if (user := _given_to(facts, records.get(name))) is not None:
            __utils__["eos_directory.reclaim_above"](facts["path"], allowed(), user, volumes)
        if why := _why_no_place(facts["path"]):
            return _no_place(name, facts["path"], why)
        __utils__["eos_directory.make_above"](facts["path"])
    return None


def refused_place(wanted: dict[str, dict]) -> dict | None:
    """The failure of `place`, before anything is made."""
    records = _records()
    for name, facts in wanted.items():
        path, record = facts.get("path"), records.get(name)
        if why := _why_no_place(path, _given_to(facts, record)):
            return _no_place(name, path, why)
        if "volume_group" not in facts and (why := _why_strange(path, facts, record)):
            command = f"salt-call --local eos_volumes.adopt {name} {path}"
            return _failure(name, f"{path} {why}", f"Choose another path; root of the host hands it to Eos: {command}")
    return None


def _no_place(name: str, path: object, why: str) -> dict:
    hint = "Choose another path, or have the host's administrator allow it: volumes_below in the minion's settings"
    return _failure(name, f"{path} {why}", hint)


def _given_to(facts: dict, record: dict | None) -> int | None:
    """To whom Salt gave what is above a directory, when Eos had it made."""
    if not record or _is_on_lvm(record) or not record["made"] or record["path"] != facts["path"]:
        return None
    return _number(facts["user"], "file.user_to_uid")


def _why_strange(path: str, facts: dict, record: dict | None) -> str | None:
    """Why a directory that Eos did not make is not taken as it is; None if nothing of it would change hands."""
    if (record and record["path"] == path) or not os.path.lexists(path):
        return None
    status = os.lstat(path)
    owner = (_number(facts["user"], "file.user_to_uid"), _number(facts["group"], "file.group_to_gid"))
    if (status.st_uid, status.st_gid) != owner or stat.S_IMODE(status.st_mode) != int(facts["mode"], 8):
        return "was there before Eos, with another owner or mode"
    return "was there before Eos, and is not empty" if os.listdir(path) else None


def _number(name: str, lookup: str) -> int:
    """A container's user need have no name on its host, so that numbers are the rule."""
    return int(name) if name.isdigit() else __salt__[lookup](name)


@contextlib.contextmanager
def recorded(wanted: dict[str, dict], operation: str) -> Iterator[None]:
    """Records these volumes before the block makes them: a killed run leaves none unrecorded.

    Those that are not there after it are forgotten.
    """
    on_lvm = {name: facts for name, facts in wanted.items() if "volume_group" in facts}
    directories = {name: facts for name, facts in wanted.items() if name not in on_lvm}
    for name, facts in directories.items():
        _record(name, facts, operation)
    _record_on_lvm(on_lvm, operation)
    try:
        yield
    finally:
        for name, facts in directories.items():
            if not os.path.isdir(facts["path"]):
                _forget(name)
        reported = __salt__["eos_storage.report"]() if on_lvm else None
        for name, facts in on_lvm.items():
            if reported.volume(facts["volume_group"], facts["volume"]) is None:
                _forget(name)


def risks(names: list[str]) -> list[str | None]:
    """The recorded risk of each that has a record; of a volume on LVM it is medium at least."""
    records = [record for name, record in _records().items() if name in names]
    on_lvm = ["medium"] if any(map(_is_on_lvm, records)) else []
    return [*(record.get("risk") for record in records), *on_lvm]


def risks_there(names: list[str]) -> list[str]:
    """The recorded risk of each that has one: whoever changes a volume reaches what it is."""
    records = [record for name, record in _records().items() if name in names]
    return [record["risk"] for record in records if record.get("risk")]


def states(wanted: dict[str, dict]) -> dict:
    """The Salt states that bring these volumes to their facts, made of the facts alone, in the form that Salt runs."""
    return {name: _state(name, facts) for name, facts in wanted.items()}


def kinds(volumes: dict[str, str]) -> dict[str, str]:
    """What goes with each: its directory, or its volume on LVM."""
    records = _records()
    return {name: "volume" if _is_on_lvm(records.get(name)) else "directory" for name in volumes}


def remove(volumes: dict[str, str], wanted: dict[str, dict], with_data: list[str] = ()) -> dict | None:
    """Removes volumes with all their data, unless one must be kept; answers None, or the failure.

    All are looked at before any is removed. `wanted` is what the pillar names, `with_data` which volumes on LVM may go
    that are not ephemeral.
    """
    if failure := refused(volumes, wanted, with_data):
        return failure
    records = _records()
    # What lies in another goes first.
    for name, path in _deepest_first(volumes):
        if _is_on_lvm(records.get(name)):
            if words := __salt__["eos_storage_removal.remove"](records[name]):
                return _failure(name, words, "Fix the fault that LVM names on this minion")
        elif os.path.lexists(path) and (words := __utils__["eos_directory.remove"](records[name]["real"])):
            return _failure(name, words, "Fix the fault that rm names on this minion")
        if records.get(name, {}).get("path") == path:
            _forget(name)
    return None


def refused(volumes: dict[str, str], wanted: dict[str, dict], with_data: list[str] = ()) -> dict | None:
    """The failure of `remove` if one of these must be kept, None if all may go."""
    records = _records()
    others = {name: record["path"] for name, record in records.items() if name not in volumes}
    others |= {name: facts["path"] for name, facts in wanted.items()}
    for name, path in volumes.items():
        record = records.get(name)
        if _is_on_lvm(record):
            why = _why_kept_on_lvm(name, path, record, others, with_data)
        else:
            why = _why_kept(name, path, record, others) if os.path.lexists(path) else None
        if why:
            hint = "Remove it by hand (to keep it, say `eos apply` instead)"
            return _failure(name, f"{path} is kept: {why}", hint)
    return None


def remove_unused(volumes: dict[str, str], made_by: str, wanted: dict[str, dict]) -> dict:
    """Removes what an operation made and nobody has written to: {"removed": names, "kept": {name: why}}."""
    records = _records()
    removed, kept = [], {}
    for name, path in _deepest_first(volumes):
        record = records.get(name)
        why = _why_used(name, path, record, made_by, wanted)
        if why is None:
            why = _why_not_removed_from_lvm(record) if _is_on_lvm(record) else _why_not_removed(record["real"])
        if why:
            kept[name] = why
        else:
            _forget(name)
            removed.append(name)
    return {"removed": sorted(removed), "kept": kept}


def _why_used(name: str, path: str, record: dict | None, made_by: str, wanted: dict[str, dict]) -> str | None:
    if name in wanted:
        return "the pillar still names it"
    if why := _why_not_made(name, path, record):
        return why
    if record.get("operation") != made_by:
        return f"operation {record.get('operation')} made it, not {made_by}"
    return None


def _why_not_removed(path: str) -> str | None:
    try:
        __utils__["eos_directory.remove_empty"](path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return "it is not empty" if error.errno == errno.ENOTEMPTY else f"{error.strerror}: {path}"
    return None


def _why_not_removed_from_lvm(record: dict) -> str | None:
    if why := __salt__["eos_storage_removal.why_used"](record):
        return why
    return __salt__["eos_storage_removal.remove"](record)


def _why_kept_on_lvm(name: str, path: str, record: dict, others: dict[str, str], with_data: list[str]) -> str | None:
    if why := _why_not_made(name, path, record):
        return why
    if record["durability"] != "ephemeral" and name not in with_data:
        return f"{name} is {record['durability']}, not ephemeral"
    if why := __salt__["eos_storage_removal.why_kept"](record):
        return f"{record['volume_group']}/{record['volume']} {why}"
    return _why_holds_another(os.path.realpath(path), others)


def _why_kept(name: str, path: str, record: dict | None, others: dict[str, str]) -> str | None:
    if why := _why_not_made(name, path, record):
        return why
    if record["durability"] != "ephemeral":
        return f"{name} is {record['durability']}, not ephemeral"
    if why := __utils__["eos_directory.why_kept"](path):
        return f"it {why}"
    real = os.path.realpath(path)
    if record["real"] != real:
        return f"it was {record['real']} when Eos made it, and is {real}"
    return _why_holds_another(real, others)


def _why_holds_another(real: str, others: dict[str, str]) -> str | None:
    within = __utils__["eos_directory.within"]
    there = {other: at for other, at in others.items() if os.path.lexists(at)}
    inside = sorted(other for other, at in there.items() if within(os.path.realpath(at), real))
    return f"volume {inside[0]} is in it" if inside else None


def _why_not_made(name: str, path: str, record: dict | None) -> str | None:
    """Why this directory is none that Eos made for this volume."""
    if record is None:
        return f"minion {__opts__['id']} has no record of making it for {name}"
    if record["path"] != path:
        return f"{name} was made at {record['path']}"
    if not record["made"]:
        return f"it was there before Eos made {name}"
    return None


def _state(name: str, facts: dict) -> dict:
    owner = {"user": _account(facts["user"]), "group": _account(facts["group"]), "mode": facts["mode"]}
    arguments = {"name": facts["path"], **owner}
    if "volume_group" not in facts:
        return {"file": ["directory", *_listed({**arguments, "makedirs": True})]}
    storage = {key: facts[key] for key in _OF_LVM if key in facts}
    return {"eos_storage": ["mounted", *_listed({**arguments, "volume_id": name, **storage})]}


def _account(name: str) -> str | int:
    """Salt takes a number in quotes for a name, and finds no such user."""
    return int(name) if name.isascii() and name.isdigit() else name


def _listed(arguments: dict) -> list[dict]:
    return [{key: value} for key, value in arguments.items()]


def _record(name: str, facts: dict, operation: str) -> None:
    """What was there before Eos is not Eos's to remove, whatever the environment's durability."""
    known, path = _records().get(name), facts["path"]
    place = {"path": path, "real": os.path.realpath(path)}
    made_before = known is not None and known["made"] and all(known[key] == place[key] for key in place)
    record = {
        "name": name,
        **place,
        "durability": facts.get("durability"),
        "risk": facts.get("risk"),
        "made": made_before or not os.path.lexists(path),
        "operation": known.get("operation") if made_before else operation,
    }
    __utils__["eos_disk.write_json"](_record_path(name), record)


def _record_on_lvm(wanted: dict[str, dict], operation: str) -> None:
    """What LVM has without Eos's own tag is not Eos's to remove; who made what is there stays."""
    reported = __salt__["eos_storage.report"]() if wanted else None
    records = _records() if wanted else {}
    for name, facts in wanted.items():
        there = reported.volume(facts["volume_group"], facts["volume"])
        record = {
            "name": name,
            "kind": _LVM,
            "path": facts["path"],
            "real": os.path.realpath(facts["path"]),
            "volume_group": facts["volume_group"],
            "volume": facts["volume"],
            "durability": facts.get("durability"),
            "risk": facts.get("risk"),
            "made": there is None or there.belongs_to == name,
            "operation": operation if there is None else records.get(name, {}).get("operation"),
        }
        __utils__["eos_disk.write_json"](_record_path(name), record)


def _is_on_lvm(record: dict | None) -> bool:
    return record is not None and record.get("kind") == _LVM


def _forget(name: str) -> None:
    path = _record_path(name)
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
        __utils__["eos_disk.sync_directory"](os.path.dirname(path))


def _record_path(name: str) -> str:
    return os.path.join(_directory(), f"{name}.json")


def _records() -> dict[str, dict]:
    found = glob.glob("*/*/*.json", root_dir=_directory())
    records = (__utils__["eos_disk.read_json"](os.path.join(_directory(), path), "name") for path in found)
    return {record["name"]: record for record in records if record}


def _directory() -> str:
    return os.path.join(__opts__["cachedir"], "eos", "volumes")


def _deepest_first(volumes: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(volumes.items(), key=lambda item: len(item[1]), reverse=True)


def _failure(name: str, words: str, hint: str) -> dict:
    return {"layer": "salt", "object": f"volume {name}", "words": words, "hint": hint}
