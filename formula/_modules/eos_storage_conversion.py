"""Another filesystem for a volume on LVM, with every file compared, and the old one kept until it is committed.

Nothing here may be called over the API; `eos_storage` calls it with what is wanted and what it saw.

ext4 becomes Btrfs in place where that is safe, behind a snapshot; Btrfs keeps the old one as a subvolume, `ext2_saved`.
Anything else is copied to a new volume, `<volume>.new`. Once the copy is proven, two renames make it the volume and the
old one `<volume>.old`. The first of them decides: before it, the new volume is a remnant; after it, the old one is old.
The way back is the same the other way round, and what was written since then is lost with it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

from salt.exceptions import CommandExecutionError

_GUARD = "eos-convert"
_SAVED = "ext2_saved"
_MAKING = "eos.making"
_SPARE = 64 << 20
# btrfs-convert looks for free space in one piece, and finds none in a small volume.
_SMALLEST_IN_PLACE = 256 << 20
_GUARDED_SHARE, _FREE_SHARE = 0.25, 0.2
_TOLD = 5


def unfinished(wanted: object, seen: object) -> list:
    """What a cut left between the renames of a switch, forward or back."""
    main, new, old = seen.volume, seen.part("new"), seen.part("old")
    if main is None:
        if _is_tagged(old, "eos.volume") and _is_tagged(new, "eos.new"):
            return [_step({}, lambda: _lvm("rename", wanted.group, new.name, wanted.volume))]
        if _is_tagged(new, "eos.volume") and _is_tagged(old, "eos.old"):
            return [_step({}, lambda: _lvm("rename", wanted.group, old.name, wanted.volume))]
        return []
    if "eos.new" in main.tags:
        return [_step({}, lambda: _became_volume(wanted, main, old))]
    if "eos.old" in main.tags:
        return [_step({}, lambda: _became_volume_again(wanted, main, new))]
    if new is not None:
        # The switch to it was not begun, and the volume may have been written to since.
        return [_step({}, lambda: _lvm("remove", new.full_name))]
    return []


def steps(wanted: object, seen: object) -> list:
    """To the wanted filesystem if a conversion is asked for, or back to the one that an earlier one kept."""
    found = seen.filesystem["type"]
    if "eos.saved" in seen.volume.tags and found != "btrfs":
        saved = f"eos.saved={seen.volume.tags['eos.saved']}"
        return [_step({}, lambda: _lvm("retag", wanted.full_name, [saved]))]
    if found is None or found == wanted.filesystem:
        return []
    if wanted.conversion:
        return _converted(wanted, seen, found)
    return _taken_back(wanted, seen, found)


def committed(wanted: object, seen: object) -> list:
    """What the conversion kept goes, once its result is in use and that is asked for."""
    if not wanted.conversion or not wanted.conversion.get("commit"):
        return []
    if not seen.is_mounted or seen.filesystem["type"] != wanted.filesystem:
        return []
    old = seen.part("old")
    if _is_tagged(old, "eos.old"):
        change = {"removed old volume": {"old": old.full_name, "new": None}}
        return [_step(change, lambda: _lvm("remove", old.full_name))]
    if "eos.saved" in seen.volume.tags:
        change = {"removed old volume": {"old": f"{wanted.path}/{_SAVED}", "new": None}}
        return [_step(change, lambda: _forget_saved(wanted, seen))]
    return []


def _converted(wanted: object, seen: object, found: str) -> list:
    if found != wanted.conversion["from"]:
        words = f"Volume {wanted.full_name} holds {found}, and the conversion is from {wanted.conversion['from']}"
        raise _refusal(wanted, words, "Plan again: it changed since")
    if kept := _kept(seen):
        words = f"Volume {wanted.full_name} has {kept} of an earlier conversion"
        raise _refusal(wanted, words, "Commit that conversion first")
    if snapshots := seen.report.snapshots_of(seen.volume):
        names = ", ".join(one.tags.get("eos.snapshot", one.name) for one in snapshots)
        words = f"Volume {wanted.full_name} cannot be converted while it has snapshots: {names}"
        raise _refusal(wanted, words, "Remove them first")
    if not __utils__["eos_filesystem.is_known"](found):
        words = f"Volume {wanted.full_name} holds {found}, which Eos cannot convert"
        raise _refusal(wanted, words, "Copy its data by hand")
    if not seen.is_mounted:
        # How it is converted depends on what it holds.
        return [_step({}, lambda: _mount_as_it_is(wanted, found))]
    __salt__["eos_storage_snapshots.require_closed"](wanted, seen, "converted")
    when = __utils__["eos_lvm.as_tag"](wanted.conversion["when"])
    change = {
        "filesystem": {"old": found, "new": wanted.filesystem},
        "conversion": {"old": None, "new": wanted.conversion["when"]},
    }
    room = _guard_size(seen)
    if _why_not_in_place(wanted, seen, found, room) is None:
        return [_step(change, lambda: _convert_in_place(wanted, seen, when, room))]
    size = __utils__["eos_lvm.rounded"](wanted.size, seen.group.extent)
    __salt__["eos_storage_size.require_may_shrink"](wanted, seen)
    _require_fit(wanted, seen, size)
    if size != seen.volume.size:
        change["size"] = {"old": seen.volume.size, "new": size}
    more = __salt__["eos_storage.room_for"](wanted, seen, size)
    return [*more, _step(change, lambda: _convert_by_copy(wanted, found, when, size))]


def _taken_back(wanted: object, seen: object, found: str) -> list:
    """No conversion is asked for, and what one kept has the wanted filesystem."""
    change = {
        "filesystem": {"old": found, "new": wanted.filesystem},
        "conversion": {"old": _since(seen), "new": None},
    }
    if "eos.saved" in seen.volume.tags and wanted.filesystem == "ext4":
        room = _guard_size(seen)
        if room > seen.group.free:
            free = __utils__["eos_volume.human"](seen.group.free)
            words = f"Volume group {wanted.group} has {free} free, and the snapshot that guards the way back needs"
            raise _refusal(wanted, f"{words} {__utils__['eos_volume.human'](room)}", "Add a disk to the group")
        __salt__["eos_storage_snapshots.require_closed"](wanted, seen, "rolled back")
        return [_step(change, lambda: _take_back_in_place(wanted, seen, room))]
    old = seen.part("old")
    if not _is_tagged(old, "eos.old"):
        return []
    if old.number is None:
        return [_step({}, lambda: _lvm("activate", old.full_name))]
    if seen.filesystem_of(old)["type"] != wanted.filesystem:
        return []
    __salt__["eos_storage_snapshots.require_closed"](wanted, seen, "rolled back")
    return [_step(change, lambda: _take_back(wanted, seen))]


def _why_not_in_place(wanted: object, seen: object, found: str, room: int) -> str | None:
    """Why btrfs-convert is not to touch it; None if it may."""
    if (found, wanted.filesystem) != ("ext4", "btrfs"):
        return "only ext4 becomes btrfs in place"
    if seen.volume.size != __utils__["eos_lvm.rounded"](wanted.size, seen.group.extent):
        return "it is to have another size"
    if not __utils__["eos_command.is_installed"]("btrfs-convert"):
        return "btrfs-convert is not installed"
    if __utils__["eos_filesystem.ext4_block_size"](wanted.device) != 4096:
        return "its blocks are not of 4 KiB"
    usage = __utils__["eos_filesystem.usage"](wanted.path)
    if usage["available"] < usage["capacity"] * _FREE_SHARE:
        return "less than a fifth of it is free"
    if seen.volume.size < _SMALLEST_IN_PLACE:
        return "it is too small"
    return "the group has no room for a snapshot" if room > seen.group.free else None


def _convert_in_place(wanted: object, seen: object, when: str, room: int) -> None:
    run = __utils__["eos_command.run"]
    with _read_only(wanted):
        _announce(wanted, "reading every file")
        before = __utils__["eos_manifest.of"](run, wanted.path)
        with __salt__["eos_storage_snapshots.guarded"](wanted, seen, _GUARD, room):
            __utils__["eos_filesystem.check_ext4"](run, wanted.device)
            _announce(wanted, "ext4 becomes btrfs in place")
            run(["btrfs-convert", "--no-progress", wanted.device], wanted.device, gently=True)
            _announce(wanted, "comparing every file")
            with _mounted_apart(wanted.device, "btrfs", "ro") as converted:
                _require_same(wanted, before, __utils__["eos_manifest.of"](run, converted))
            _lvm("retag", wanted.full_name, [], [f"eos.saved={when}"])


def _convert_by_copy(wanted: object, found: str, when: str, size: int) -> None:
    run = __utils__["eos_command.run"]
    name = wanted.part("new")
    full_name, device = f"{wanted.group}/{name}", f"/dev/{wanted.group}/{name}"
    with _read_only(wanted):
        _lvm("make_volume", wanted.group, name, size, [f"eos.of={wanted.id}", f"eos.new={when}", _MAKING])
        try:
            __salt__["eos_storage.format_new"](device, wanted.filesystem)
            with _mounted_apart(device, wanted.filesystem, _options(wanted)) as copy:
                _announce(wanted, f"copying {found} to {wanted.filesystem}")
                run(["cp", "-a", "--sparse=always", "--", f"{wanted.path}/.", copy], wanted.full_name, gently=True)
                _drop_lost(copy, wanted.filesystem)
                run(["sync", "-f", copy], wanted.full_name)
                _announce(wanted, "comparing every file")
                before = __utils__["eos_manifest.of"](run, wanted.path)
                _require_same(wanted, before, __utils__["eos_manifest.of"](run, copy))
        except (CommandExecutionError, OSError):
            _lvm("remove", full_name)
            raise
        _lvm("retag", full_name, [_MAKING])
        __utils__["eos_mount.unmount"](run, wanted.path)
    # From here on the copy is the volume.
    _lvm("rename", wanted.group, wanted.volume, wanted.part("old"))
    _lvm("rename", wanted.group, name, wanted.volume)


def _became_volume(wanted: object, main: object, old: object) -> None:
    when = main.tags["eos.new"]
    if _is_tagged(old, "eos.volume"):
        add = [f"eos.of={wanted.id}", f"eos.old={when}"]
        _lvm("retag", old.full_name, [f"eos.volume={wanted.id}"], add)
    gone = [f"eos.new={when}", f"eos.of={wanted.id}"]
    _lvm("retag", main.full_name, gone, [f"eos.volume={wanted.id}"])


def _became_volume_again(wanted: object, main: object, new: object) -> None:
    if _is_tagged(new, "eos.volume"):
        _lvm("retag", new.full_name, [f"eos.volume={wanted.id}"], [f"eos.of={wanted.id}", _MAKING])
    gone = [f"eos.old={main.tags['eos.old']}", f"eos.of={wanted.id}"]
    _lvm("retag", main.full_name, gone, [f"eos.volume={wanted.id}"])


def _take_back(wanted: object, seen: object) -> None:
    """The volume becomes what the next look finds half-made; the old one is the volume again."""
    if seen.is_mounted:
        __utils__["eos_mount.unmount"](__utils__["eos_command.run"], wanted.path)
    _lvm("rename", wanted.group, wanted.volume, wanted.part("new"))
    _lvm("rename", wanted.group, wanted.part("old"), wanted.volume)


def _take_back_in_place(wanted: object, seen: object, room: int) -> None:
    run = __utils__["eos_command.run"]
    with __salt__["eos_storage_snapshots.guarded"](wanted, seen, _GUARD, room):
        run(["btrfs-convert", "--no-progress", "--rollback", wanted.device], wanted.device)
        __utils__["eos_filesystem.check_ext4"](run, wanted.device)


def _forget_saved(wanted: object, seen: object) -> None:
    run = __utils__["eos_command.run"]
    try:
        saved = os.open(os.path.join(wanted.path, _SAVED), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        saved = None
    if saved is not None:
        try:
            # The volume's owner can put a link to another subvolume in its place, which `btrfs` would follow.
            path = f"/proc/{os.getpid()}/fd/{saved}"
            run(["btrfs", "subvolume", "delete", "--commit-after", path], wanted.full_name)
        finally:
            os.close(saved)
    _lvm("retag", wanted.full_name, [f"eos.saved={seen.volume.tags['eos.saved']}"])


def _require_fit(wanted: object, seen: object, size: int) -> None:
    used = __utils__["eos_filesystem.usage"](wanted.path)["used"]
    least = max(int(used * 1.1) + _SPARE, __utils__["eos_filesystem.least"](wanted.filesystem))
    if size < least:
        human = __utils__["eos_volume.human"]
        words = (
            f"Volume {wanted.full_name} holds {human(used)}, which is too much for {wanted.filesystem} in {human(size)}"
        )
        raise _refusal(wanted, words, f"Ask for {human(least)} at least")


def _require_same(wanted: object, before: dict, after: dict) -> None:
    found = __utils__["eos_manifest.differences"](before, after)
    if found:
        told = "; ".join(found[:_TOLD]) + (f"; and {len(found) - _TOLD} more" if len(found) > _TOLD else "")
        words = f"The converted copy of volume {wanted.full_name} is not the same: {told}"
        raise _refusal(wanted, words, "Nothing was changed; fix or move the named files, and run the step again")


@contextlib.contextmanager
def _read_only(wanted: object) -> Iterator[None]:
    """Every file of the volume can be read while nobody can write; as it was before if the block fails."""
    run = __utils__["eos_command.run"]
    __utils__["eos_mount.remount"](run, wanted.path, "ro")
    try:
        yield
    except (CommandExecutionError, OSError):
        # Nobody would be told of a second failure, and the next look finds what is not mounted or cannot be written to.
        with contextlib.suppress(CommandExecutionError):
            __utils__["eos_mount.remount"](run, wanted.path, "rw")
        raise


def _mounted_apart(device: str, filesystem: str, options: str) -> contextlib.AbstractContextManager:
    return __utils__["eos_mount.apart"](__utils__["eos_command.run"], device, filesystem, options)


def _mount_as_it_is(wanted: object, filesystem: str) -> None:
    os.makedirs(wanted.path, mode=0o755, exist_ok=True)
    options = __utils__["eos_filesystem.options"](filesystem, None).replace(",nofail", "")
    __utils__["eos_mount.mount"](__utils__["eos_command.run"], wanted.device, wanted.path, filesystem, options)


def _drop_lost(copy: str, filesystem: str) -> None:
    """ext4 has a directory of its own at its root, which is nothing elsewhere."""
    if filesystem != "ext4":
        with contextlib.suppress(OSError):
            os.rmdir(os.path.join(copy, "lost+found"))


def _options(wanted: object) -> str:
    return __utils__["eos_filesystem.options"](wanted.filesystem, wanted.compression).replace(",nofail", "")


def _guard_size(seen: object) -> int:
    return __utils__["eos_lvm.rounded"](int(seen.volume.size * _GUARDED_SHARE), seen.group.extent)


def _kept(seen: object) -> str | None:
    old = seen.part("old")
    if _is_tagged(old, "eos.old"):
        return old.full_name
    return _SAVED if "eos.saved" in seen.volume.tags else None


def _since(seen: object) -> str | None:
    old = seen.part("old")
    tag = seen.volume.tags.get("eos.saved") or (old.tags.get("eos.old") if old is not None else None)
    return tag and __utils__["eos_lvm.time_of_tag"](tag)


def _is_tagged(volume: object, tag: str) -> bool:
    return volume is not None and tag in volume.tags


def _announce(wanted: object, words: str) -> None:
    __salt__["eos_storage.announce"](wanted.id, words)


def _lvm(verb: str, *arguments: object) -> None:
    __utils__[f"eos_lvm.{verb}"](__utils__["eos_command.run"], *arguments)


def _step(changes: dict, do: Callable[[], None], moves_lvm: bool = True) -> object:
    return __utils__["eos_volume.step"](changes, do, moves_lvm)


def _refusal(wanted: object, words: str, hint: str) -> CommandExecutionError:
    return __utils__["eos_volume.refusal"](f"volume {wanted.id}", words, hint)
