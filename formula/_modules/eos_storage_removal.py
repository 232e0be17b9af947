"""The end of a volume on LVM: what Eos made goes with its data where that is asked for, and nothing else ever.

Nothing here may be called over the API; `eos_volumes` calls it with the volume's record. The volume group and its disks
stay as they are.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from salt.exceptions import CommandExecutionError


def is_there(record: dict) -> bool:
    return _volume(record) is not None


def why_kept(record: dict) -> str | None:
    """Why the volume must stay, in words that follow its name; None if it may go or is gone."""
    reported = __salt__["eos_storage.report"]()
    volume = reported.volume(record["volume_group"], record["volume"])
    if volume is None:
        return None
    if volume.belongs_to != record["name"]:
        return "was not made by Eos" if volume.belongs_to is None else f"is volume {volume.belongs_to}"
    if strange := [one for one in reported.snapshots_of(volume) if one.belongs_to != record["name"]]:
        return f"has snapshot {strange[0].name}, which was not made by Eos"
    mounts = __utils__["eos_mount.table"]()
    points = [mount.path for mount in __utils__["eos_mount.of_device"](mounts, volume.number)]
    if elsewhere := [point for point in points if point != os.path.realpath(record["path"])]:
        return f"is mounted at {elsewhere[0]} as well"
    if points and (used := __utils__["eos_mount.open_files"](points)):
        return f"is in use: {next(iter(used.values()))} has files open in {record['path']}"
    return None


def why_used(record: dict) -> str | None:
    """Why nobody can say that nothing was ever written to the volume; None if it is empty or gone."""
    volume = _volume(record)
    if volume is None or "eos.making" in volume.tags:
        return None
    try:
        with _seen_inside(volume, record) as path:
            return None if __utils__["eos_filesystem.is_empty"](path) else "it is not empty"
    except (CommandExecutionError, OSError) as failure:
        return f"it cannot be looked into: {_words(failure, record)}"


def remove(record: dict) -> str | None:
    """Removes the volume with its data and its snapshots; answers what stood in the way, or None."""
    try:
        with __salt__["eos_storage.lock"]():
            if why := why_kept(record):
                return f"it {why}"
            _remove(record)
            left = [one.full_name for one in __salt__["eos_storage.report"]().of(record["name"])]
    except (CommandExecutionError, OSError) as failure:
        return _words(failure, record)
    if left:
        return f"{left[0]} is still there after lvremove"
    # The directory that it was mounted on; what somebody put there meanwhile stays.
    with contextlib.suppress(OSError):
        os.rmdir(record["path"])
    return None


def _remove(record: dict) -> None:
    run = __utils__["eos_command.run"]
    device = f"/dev/{record['volume_group']}/{record['volume']}"
    reported = __salt__["eos_storage.report"]()
    volume = reported.volume(record["volume_group"], record["volume"])
    __utils__["eos_mount.forget_fstab"](record["path"], device)
    __salt__["eos_storage.reload_mounts"]()
    if volume is not None:
        for mount in __utils__["eos_mount.of_device"](__utils__["eos_mount.table"](), volume.number):
            __utils__["eos_mount.unmount"](run, mount.path)
    own = [one for one in reported.of(record["name"]) if one.group == record["volume_group"]]
    # A snapshot goes before what it is of.
    for one in sorted(own, key=lambda one: not one.is_snapshot):
        __utils__["eos_lvm.remove"](run, one.full_name)


@contextlib.contextmanager
def _seen_inside(volume: object, record: dict) -> Iterator[str]:
    """Where to look into the volume: where it is mounted, or a place of our own for the moment."""
    run = __utils__["eos_command.run"]
    mounted = __utils__["eos_mount.of_device"](__utils__["eos_mount.table"](), volume.number)
    if mounted:
        yield mounted[0].path
        return
    if volume.number is None:
        __utils__["eos_lvm.activate"](run, volume.full_name)
    kind = __utils__["eos_filesystem.probe_one"](run, volume.path)["type"]
    if kind is None:
        raise CommandExecutionError(f"{volume.full_name} holds no filesystem that Eos recognises")
    with __utils__["eos_mount.apart"](run, volume.path, kind, "ro") as place:
        yield place


def _words(failure: Exception, record: dict) -> str:
    return __utils__["eos_failure.described"](failure, record["name"])["words"]


def _volume(record: dict) -> object:
    return __salt__["eos_storage.report"]().volume(record["volume_group"], record["volume"])
