"""Snapshots of a volume on LVM: those that are wanted by name, the way back to one, and those that guard a step.

Nothing here may be called over the API; `eos_storage` calls it with what is wanted and what it saw.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from salt.exceptions import CommandExecutionError

_SECONDS_BETWEEN_LOOKS = 1


def kept(wanted: object, seen: object) -> list:
    """Those that are wanted are there, and those of Eos's own that are not go."""
    there = _named(wanted, seen)
    steps, free = [], seen.group.free
    for name, asked in wanted.snapshots.items():
        size = __utils__["eos_lvm.rounded"](asked, seen.group.extent)
        found = there.get(name)
        if found is None:
            _require_room(wanted, seen, name, size, free)
            change = {f"snapshot {name}": {"old": None, "new": size}}
            steps.append(_step(change, lambda name=name, size=size: _make(wanted, seen, name, size)))
            free -= size
        elif found.is_valid and found.size < size:
            _require_room(wanted, seen, name, size - found.size, free)
            change = {f"snapshot {name}": {"old": found.size, "new": size}}
            steps.append(_step(change, lambda found=found, size=size: _lvm("extend", found.full_name, size)))
            free -= size - found.size
    for name, found in there.items():
        if name not in wanted.snapshots:
            change = {f"snapshot {name}": {"old": found.size, "new": None}}
            steps.append(_step(change, lambda found=found: _lvm("remove", found.full_name)))
    return steps


def invalid(wanted: object, seen: object) -> list[str]:
    """The wanted ones that ran out of room for changes, and hold nothing any more."""
    return sorted(name for name, one in _named(wanted, seen).items() if name in wanted.snapshots and not one.is_valid)


def restored(wanted: object, seen: object) -> list:
    """The volume is what it was when the snapshot was made, once for each time that it was asked for."""
    if not wanted.restore:
        return []
    name, when = wanted.restore["snapshot"], __utils__["eos_lvm.as_tag"](wanted.restore["when"])
    tags = seen.volume.tags
    if tags.get("eos.restored") == when:
        return []
    change = {"restored": {"old": None, "new": name}}
    found = _named(wanted, seen).get(name)
    if found is None and tags.get("eos.restoring") == when:
        # A cut came between the end of the merge, which takes the snapshot away, and the mark.
        return [_step(change, lambda: _mark(seen, when))]
    if found is None:
        words = f"Volume {wanted.full_name} has no snapshot {name} to restore"
        raise _refusal(wanted, words, "Restore an existing one")
    if not found.is_valid:
        words = f"Snapshot {name} of volume {wanted.full_name} ran out of room for changes, and is invalid"
        raise _refusal(wanted, words, "Restore another one; give the next one more room")
    require_closed(wanted, seen, "restored")
    return [_step(change, lambda: _restore(wanted, seen, found, when))]


def merge_awaited(seen: object) -> list:
    return [_step({}, lambda: _finish_merge(seen.wanted, seen))]


def put_back(wanted: object, seen: object) -> list:
    """What a cut left of a guarded step: the volume becomes again what it was before it."""
    steps = []
    for guard in [one for one in seen.own if "eos.safety" in one.tags and one.origin == wanted.volume]:
        if guard.tags["eos.safety"] == "drop":
            steps.append(_step({}, lambda guard=guard: _lvm("remove", guard.full_name)))
            continue
        if not guard.is_valid:
            words = f"{guard.full_name}, the way back of a step that was cut off, ran out of room and is invalid"
            hint = f"Check the filesystem of {wanted.full_name} by hand, then remove {guard.full_name}"
            raise _refusal(wanted, words, hint)
        require_closed(wanted, seen, "put back")
        steps.append(_step({}, lambda guard=guard: _merge(wanted, seen, guard.name)))
    return steps


@contextlib.contextmanager
def guarded(wanted: object, seen: object, what: str, room: int) -> Iterator[None]:
    """Does the block while the volume is not mounted, not even after a reboot, and a snapshot is the way back.

    If the block fails, the volume is what it was, and mounted again.
    """
    name, entry = wanted.part(what), __utils__["eos_mount.fstab_entry"](wanted.path)
    is_guarded = False
    # Whatever a boot would mount of it would be lost with the merge.
    __utils__["eos_mount.forget_fstab"](wanted.path, wanted.device)
    __salt__["eos_storage.reload_mounts"]()
    try:
        _unmount(wanted, seen)
        _lvm("make_snapshot", seen.volume, name, room, [f"eos.of={wanted.id}", "eos.safety=merge"])
        is_guarded = True
        yield
    except (CommandExecutionError, OSError):
        if is_guarded:
            _merge(wanted, __salt__["eos_storage.look"](wanted), name)
        if entry is not None:
            _mount_again(wanted, entry)
        raise
    _lvm("remove", f"{wanted.group}/{name}")


def _mount_again(wanted: object, entry: list[str]) -> None:
    device, path, filesystem, options = entry[:4]
    if __utils__["eos_mount.at"](__utils__["eos_mount.table"](), path) is None:
        plain = options.replace(",nofail", "")
        __utils__["eos_mount.mount"](__utils__["eos_command.run"], wanted.device, path, filesystem, plain)
    __utils__["eos_mount.write_fstab"](path, device, filesystem, options)
    __salt__["eos_storage.reload_mounts"]()


def require_closed(wanted: object, seen: object, what: str) -> None:
    """Refuses while somebody works with the volume: nobody's files are taken away under their hands."""
    if not seen.is_mounted:
        return
    if elsewhere := seen.mounted_elsewhere:
        words = f"Volume {wanted.full_name} cannot be {what} while it is mounted at {elsewhere[0].path} as well"
        raise _refusal(wanted, words, "Stop its users there, and unmount it")
    if inside := [mount.path for mount in seen.mounts if mount.path.startswith(f"{seen.mount.path}/")]:
        words = f"Volume {wanted.full_name} cannot be {what} while {inside[0]} is mounted in it"
        raise _refusal(wanted, words, "Unmount that first")
    if used := __utils__["eos_mount.open_files"]([wanted.path]):
        words = f"Volume {wanted.full_name} cannot be {what} while {used[wanted.path]} has files open in {wanted.path}"
        raise _refusal(wanted, words, "Stop the users of the volume, and run the step again")


def _merge(wanted: object, seen: object, snapshot: object) -> None:
    _unmount(wanted, seen)
    _lvm("merge", f"{wanted.group}/{snapshot}")
    _finish_merge(wanted, __salt__["eos_storage.look"](wanted))


def _finish_merge(wanted: object, seen: object) -> None:
    """Waits for its end, however long it takes: nothing else may be done with the volume before."""
    volume = seen.volume
    if not volume.is_merging:
        return
    if not __utils__["eos_lvm.is_merge_running"](__utils__["eos_command.run"], volume):
        require_closed(wanted, seen, "put back")
        _unmount(wanted, seen)
        _lvm("deactivate", volume.full_name)
        _lvm("activate", volume.full_name)
    _lvm("go_on_merging", volume.full_name)
    while volume is not None and volume.is_merging:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        volume = __salt__["eos_storage.report"]().volume(volume.group, volume.name)


def _named(wanted: object, seen: object) -> dict[str, object]:
    own = (one for one in seen.own if one.is_snapshot and one.origin == wanted.volume)
    return {one.tags["eos.snapshot"]: one for one in own if "eos.snapshot" in one.tags}


def _require_room(wanted: object, seen: object, name: str, size: int, free: int) -> None:
    found = seen.report.volume(wanted.group, wanted.part(name))
    if found is not None and found.belongs_to != wanted.id:
        words = f"{found.full_name} is there already and was not made by Eos"
        raise _refusal(wanted, words, "Choose another name for the snapshot, or remove it by hand")
    if size > free:
        words = f"Volume group {wanted.group} has {_human(free)} free, and snapshot {name} of {wanted.full_name} needs"
        raise _refusal(wanted, f"{words} {_human(size)}", "Add a disk to the group, or give the snapshot less room")


def _make(wanted: object, seen: object, name: str, size: int) -> None:
    tags = [f"eos.of={wanted.id}", f"eos.snapshot={name}"]
    _lvm("make_snapshot", seen.volume, wanted.part(name), size, tags)


def _restore(wanted: object, seen: object, snapshot: object, when: str) -> None:
    _lvm("retag", seen.volume.full_name, [], [f"eos.restoring={when}"])
    _merge(wanted, seen, snapshot.name)
    _mark(seen, when)


def _mark(seen: object, when: str) -> None:
    tags = seen.volume.tags
    gone = [f"{tag}={tags[tag]}" for tag in ("eos.restored", "eos.restoring") if tag in tags]
    _lvm("retag", seen.volume.full_name, [*gone, f"eos.restoring={when}"], [f"eos.restored={when}"])


def _unmount(wanted: object, seen: object) -> None:
    if seen.is_mounted:
        __utils__["eos_mount.unmount"](__utils__["eos_command.run"], wanted.path)


def _lvm(verb: str, *arguments: object) -> None:
    __utils__[f"eos_lvm.{verb}"](__utils__["eos_command.run"], *arguments)


def _step(changes: dict, do: Callable[[], None], moves_lvm: bool = True) -> object:
    return __utils__["eos_volume.step"](changes, do, moves_lvm)


def _refusal(wanted: object, words: str, hint: str) -> CommandExecutionError:
    return __utils__["eos_volume.refusal"](f"volume {wanted.id}", words, hint)


def _human(size: int) -> str:
    return __utils__["eos_volume.human"](size)
