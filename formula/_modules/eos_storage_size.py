"""The size of a volume on LVM: growth while it is in use, and shrinking where it is proven that the data fit.

Nothing here may be called over the API; `eos_storage` calls it with what is wanted and what it saw.
"""

from __future__ import annotations

from collections.abc import Callable

from salt.exceptions import CommandExecutionError

# What a filesystem needs beside the data, for a start of the next ones.
_SPARE = 64 << 20
_SAFETY = "eos-shrink"
# One can be made smaller than that, but the kernel makes none so.
_SMALLEST_BTRFS = 256 << 20


def grown(wanted: object, seen: object) -> list:
    """LVM first, then the filesystem; one that a cut left smaller than its volume is grown, too."""
    target = _target(wanted, seen)
    if seen.volume.size < target:
        _require_no_snapshots(wanted, seen, "grown")
        room = __salt__["eos_storage.room_for"](wanted, seen, target - seen.volume.size)
        return [*room, _step({"size": {"old": seen.volume.size, "new": target}}, lambda: _grow(wanted, target))]
    if seen.is_mounted:
        size, there = __utils__["eos_filesystem.size"](wanted.device, wanted.filesystem, wanted.path), seen.volume.size
        if __utils__["eos_filesystem.is_short"](size, there):
            return [_step({"size": {"old": size, "new": there}}, lambda: _grow_filesystem(wanted), False)]
    return []


def shrunk(wanted: object, seen: object) -> list:
    """The filesystem first, then LVM; never below what the data need, and never without a way back.

    A volume that is larger than wanted, without that somebody asked to shrink it, keeps what it has: so it is when
    its growth is taken back.
    """
    target = _target(wanted, seen)
    if seen.volume.size <= target or not _may_shrink(wanted, seen):
        return []
    asked = _human(target)
    if wanted.filesystem == "xfs":
        words = f"Volume {wanted.full_name} cannot shrink: XFS can only grow"
        raise _refusal(wanted, words, "Make a smaller volume and copy the data, or convert it to ext4 or btrfs")
    if wanted.filesystem == "btrfs" and target < _SMALLEST_BTRFS:
        words = (
            f"Volume {wanted.full_name} cannot be made smaller than {_human(_SMALLEST_BTRFS)}: btrfs shrinks no further"
        )
        raise _refusal(wanted, words, f"Ask for {_human(_SMALLEST_BTRFS)} at least")
    _require_no_snapshots(wanted, seen, "made smaller")
    if not seen.is_mounted:
        # It is mounted first: how much it holds is known then.
        return []
    change = {"size": {"old": seen.volume.size, "new": target}}
    if __utils__["eos_filesystem.size"](wanted.device, wanted.filesystem, wanted.path) <= target:
        return [_step(change, lambda: _lvm("reduce", wanted.full_name, target))]
    used = __utils__["eos_filesystem.usage"](wanted.path)["used"]
    if used * 1.1 + _SPARE > target:
        words = f"Volume {wanted.full_name} holds {_human(used)}, which is too much for {asked}"
        raise _refusal(wanted, words, f"Ask for {_human(int(used * 1.1) + _SPARE)} at least, or remove data")
    room = min(__utils__["eos_lvm.rounded"](int(used * 1.2) + _SPARE, seen.group.extent), seen.volume.size)
    if room > seen.group.free:
        words = (
            f"Volume group {wanted.group} has {_human(seen.group.free)} free, and the snapshot that would be the way"
        )
        raise _refusal(wanted, f"{words} back needs {_human(room)}", "Add a disk to the group")
    if wanted.filesystem == "btrfs":
        return [_step(change, lambda: _shrink_btrfs(wanted, seen, target, room))]
    __salt__["eos_storage_snapshots.require_closed"](wanted, seen, "made smaller")
    return [_step(change, lambda: _shrink_ext4(wanted, seen, target, room))]


def require_may_shrink(wanted: object, seen: object) -> None:
    """Refuses a smaller size than the present one, unless this very shrinking is asked for."""
    target = _target(wanted, seen)
    if seen.volume.size > target and not _may_shrink(wanted, seen):
        there, asked = _human(seen.volume.size), _human(target)
        words = f"Volume {wanted.full_name} has {there}, and {asked} are wanted: Eos shrinks a volume only on request"
        raise _refusal(wanted, words, "Ask for its present size, or for it to be shrunk")


def _may_shrink(wanted: object, seen: object) -> bool:
    allowed = wanted.shrink_from and __utils__["eos_lvm.rounded"](wanted.shrink_from, seen.group.extent)
    return bool(allowed) and seen.volume.size <= allowed


def _grow(wanted: object, target: int) -> None:
    _lvm("extend", wanted.full_name, target)
    _grow_filesystem(wanted)


def _grow_filesystem(wanted: object) -> None:
    run = __utils__["eos_command.run"]
    __utils__["eos_filesystem.grow"](run, wanted.device, wanted.filesystem, wanted.path)


def _shrink_btrfs(wanted: object, seen: object, target: int, room: int) -> None:
    """While it is mounted. Btrfs outlives a cut at any instant, so that the snapshot is then not needed."""
    _lvm("make_snapshot", seen.volume, wanted.part(_SAFETY), room, [f"eos.of={wanted.id}", "eos.safety=drop"])
    try:
        __utils__["eos_filesystem.shrink_btrfs"](__utils__["eos_command.run"], wanted.path, target)
    finally:
        _lvm("remove", f"{wanted.group}/{wanted.part(_SAFETY)}")
    _lvm("reduce", wanted.full_name, target)


def _shrink_ext4(wanted: object, seen: object, target: int, room: int) -> None:
    """resize2fs outlives no cut: if one comes, the snapshot is the volume. Until then nothing mounts it."""
    with __salt__["eos_storage_snapshots.guarded"](wanted, seen, _SAFETY, room):
        __utils__["eos_filesystem.shrink_ext4"](__utils__["eos_command.run"], wanted.device, target)
    _lvm("reduce", wanted.full_name, target)


def _target(wanted: object, seen: object) -> int:
    return __utils__["eos_lvm.rounded"](wanted.size, seen.group.extent)


def _require_no_snapshots(wanted: object, seen: object, what: str) -> None:
    """LVM resizes no volume that has snapshots and is in use."""
    if found := seen.report.snapshots_of(seen.volume):
        names = ", ".join(one.tags.get("eos.snapshot", one.name) for one in found)
        words = f"Volume {wanted.full_name} cannot be {what} while it has snapshots: {names}"
        raise _refusal(wanted, words, "Remove them first")


def _lvm(verb: str, *arguments: object) -> None:
    __utils__[f"eos_lvm.{verb}"](__utils__["eos_command.run"], *arguments)


def _step(changes: dict, do: Callable[[], None], moves_lvm: bool = True) -> object:
    return __utils__["eos_volume.step"](changes, do, moves_lvm)


def _refusal(wanted: object, words: str, hint: str) -> CommandExecutionError:
    return __utils__["eos_volume.refusal"](f"volume {wanted.id}", words, hint)


def _human(size: int) -> str:
    return __utils__["eos_volume.human"](size)
