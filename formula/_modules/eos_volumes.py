"""Directories of volumes on this minion: a record says of each what Eos made, and nothing else is ever removed.

Nothing here may be called over the API; `eos` calls it. A record is `<cachedir>/eos/volumes/<name>.json`, where a name
is "<environment>/<component>/<need>"; one that was kept when its component went has its record still.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
from collections.abc import Iterator


@contextlib.contextmanager
def recorded(wanted: dict[str, dict], operation: str) -> Iterator[None]:
    """Records the directories of these volumes before the block makes them: a killed run leaves none unrecorded.

    Those that are not there after it are forgotten.
    """
    directories = {name: facts for name, facts in wanted.items() if "volume_group" not in facts}
    for name, facts in directories.items():
        _record(name, facts, operation)
    try:
        yield
    finally:
        for name, facts in directories.items():
            if not os.path.isdir(facts["path"]):
                _forget(name)


def risks(names: list[str]) -> list[str | None]:
    """The recorded risk of each that has a record."""
    records = _records()
    return [records[name].get("risk") for name in names if name in records]


def remove(volumes: dict[str, str], wanted: dict[str, dict]) -> dict | None:
    """Removes directories with all their data, unless one must be kept; answers None, or the failure.

    All are looked at before any is removed. `wanted` is what the pillar names.
    """
    if failure := refused(volumes, wanted):
        return failure
    records = _records()
    # What lies in another goes first.
    for name, path in _deepest_first(volumes):
        if os.path.lexists(path) and (words := __utils__["eos_directory.remove"](path)):
            return _failure(name, words, "Mend what rm names on this minion")
        if records.get(name, {}).get("path") == path:
            _forget(name)
    return None


def refused(volumes: dict[str, str], wanted: dict[str, dict]) -> dict | None:
    """The failure of `remove` if one of these must be kept, None if all may go."""
    records = _records()
    others = {name: record["path"] for name, record in records.items() if name not in volumes}
    others |= {name: facts["path"] for name, facts in wanted.items()}
    for name, path in volumes.items():
        if os.path.lexists(path) and (why := _why_kept(name, path, records.get(name), others)):
            hint = "Remove it by hand (to keep it, say `eos apply` instead)"
            return _failure(name, f"{path} is kept: {why}", hint)
    return None


def remove_unused(volumes: dict[str, str], made_by: str, wanted: dict[str, dict]) -> dict:
    """Removes what an operation made and nobody has written to: {"removed": names, "kept": {name: why}}."""
    records = _records()
    removed, kept = [], {}
    for name, path in _deepest_first(volumes):
        why = _why_used(name, path, records.get(name), made_by, wanted) or _why_not_removed(path)
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
    """`rmdir` takes nothing but an empty directory: it is the look and the removal in one."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return "it is not empty" if error.errno == errno.ENOTEMPTY else f"{error.strerror}: {path}"
    return None


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


def _forget(name: str) -> None:
    path = _record_path(name)
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
        __utils__["eos_disk.sync_directory"](os.path.dirname(path))


def _record_path(name: str) -> str:
    return os.path.join(_directory(), f"{name}.json")


def _records() -> dict[str, dict]:
    found = glob.glob("*/*/*.json", root_dir=_directory())
    records = (__utils__["eos_disk.read_json"](os.path.join(_directory(), path)) for path in found)
    return {record["name"]: record for record in records if record}


def _directory() -> str:
    return os.path.join(__opts__["cachedir"], "eos", "volumes")


def _deepest_first(volumes: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(volumes.items(), key=lambda item: len(item[1]), reverse=True)


def _failure(name: str, words: str, hint: str) -> dict:
    return {"layer": "salt", "object": f"volume {name}", "words": words, "hint": hint}
