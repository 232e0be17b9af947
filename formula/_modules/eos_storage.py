"""Volumes on LVM on this minion: a volume is brought to what is wanted of it one step at a time, or refused.

Nothing here may be called over the API; `eos`, the state `eos_storage.mounted` and Salt's schedule call it. Each step
is decided from what LVM, the device and the kernel say now, never from memory: a run that was cut off anywhere is
continued by the next one. What would touch anything that Eos did not make is refused here, so that it is refused to
whoever runs the state by hand as well.

- `eos_storage_size`: growth and shrinking
- `eos_storage_snapshots`: snapshots and what is restored from them
- `eos_storage_conversion`: another filesystem
- `eos_storage_removal`: the end of a volume
- `eos_storage_samples`: how full, and how fast that grows
- `eos_storage_report`: all of it in one answer
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable

from salt.exceptions import CommandExecutionError, SaltInvocationError

# More steps than any volume takes: a machine that does not do what it says must not be asked for ever.
_MOST_STEPS = 60
_MAKING = "eos.making"


def ensure(test: bool = False, **facts: object) -> dict:
    """Makes, mounts, grows, snapshots, converts: {"result", "changes", "comment"} as a Salt state answers.

    The facts are those of the volume's slice of the pillar, with its id as `volume_id`.
    """
    changes: dict = {}
    try:
        wanted = __utils__["eos_volume.wanted"](facts)
        if test:
            for step in _steps(wanted, _Seen(wanted)):
                _add(changes, step.changes)
            comment = "would be changed" if changes else "is as it should be"
            comment = _sentence(f"{_named(wanted)} {comment}")
            return {"result": None if changes else True, "changes": changes, "comment": comment}
        with lock():
            overflowed = __salt__["eos_storage_snapshots.invalid"](wanted, _converge(wanted, changes))
    except (CommandExecutionError, SaltInvocationError, OSError) as failure:
        described = __utils__["eos_failure.described"](failure, str(facts.get("volume_id")))
        comment = f"{described['words']}\nhint: {described['hint']}"
        return {"result": False, "changes": changes, "comment": comment}
    comment = f"{_named(wanted)} is mounted at {wanted.path}"
    if overflowed:
        comment += f"; invalid, having run out of room for changes: {', '.join(overflowed)}"
    return {"result": True, "changes": changes, "comment": _sentence(comment)}


def risk(facts: dict, name: str) -> str | None:
    """The risk of bringing this volume to these facts, from what would have to be done on this minion now."""
    own = facts.get("risk")
    raised, _ = __salt__["eos_roles.highest"]([(own, ""), ("medium", "")], where_unknown="high")
    try:
        wanted = __utils__["eos_volume.wanted"]({**facts, "volume_id": name})
        seen = _Seen(wanted)
    except (CommandExecutionError, SaltInvocationError, OSError):
        return raised
    # Also where the run is refused now: what is in its way may be gone when it is carried out.
    if _would_take_a_disk(wanted, seen):
        return "high"
    try:
        steps = _steps(wanted, seen)
    except (CommandExecutionError, SaltInvocationError, OSError):
        return raised
    # A step that changes nothing clears away what was left unfinished. What comes after it is not known yet.
    is_partial = any(not step.changes for step in steps)
    if any("physical volumes" in step.changes for step in steps) or (is_partial and _has_other_disks(wanted, seen)):
        return "high"
    return raised if steps else own


def _would_take_a_disk(wanted: object, seen: _Seen) -> bool:
    if not _has_other_disks(wanted, seen):
        return False
    there = seen.volume.size if seen.volume is not None else 0
    return seen.group is None or wanted.size - there > seen.group.free


def _has_other_disks(wanted: object, seen: _Seen) -> bool:
    """Whether a disk may be taken that is not in the group yet."""
    return any(seen.report.group_of(device) != wanted.group for device in wanted.devices)


def sample() -> dict:
    """Notes how full each volume is; the function of Salt's schedule."""
    return __salt__["eos_storage_samples.sample"]()


def mounted_at(paths: list[str]) -> dict[str, dict | None]:
    """What is mounted at each path, of a volume on LVM: null for anything else. Asks LVM only if there is a mount."""
    mounts = __utils__["eos_mount.table"]()
    there = {path: mount for path in paths if (mount := __utils__["eos_mount.at"](mounts, path))}
    found: dict[str, dict | None] = dict.fromkeys(paths)
    if not there or not is_installed():
        return found
    reported = report()
    for path, mount in there.items():
        numbers = (mount.number, mount.source_number)
        volume = next((one for one in reported.volumes if one.number is not None and one.number in numbers), None)
        if volume is not None:
            found[path] = _told(volume, mount, reported)
    return found


def report() -> object:
    """What LVM has; nothing where it is not installed, or where this minion is not root and LVM tells it nothing."""
    if not is_installed() or os.geteuid() != 0:
        return __utils__["eos_lvm.nothing"]()
    return __utils__["eos_lvm.report"](__utils__["eos_command.run"])


def look(wanted: object) -> _Seen:
    """What this minion has of a volume now."""
    return _Seen(wanted)


def is_installed() -> bool:
    return __utils__["eos_command.is_installed"]("lvm")


def reload_mounts() -> None:
    """systemd acts on /etc/fstab as it has read it; whoever has no systemd reads it when it is wanted."""
    if __utils__["eos_command.has_systemd"]():
        __utils__["eos_command.run"](["systemctl", "daemon-reload"], "/etc/fstab", tuple(range(256)))


def lock() -> contextlib.AbstractContextManager:
    """One at a time, also where somebody runs a state by hand while an operation is under way."""
    return __utils__["eos_disk.locked"](os.path.join(__opts__["cachedir"], "eos", "locks", "storage"))


def announce(volume_id: str, words: str) -> None:
    """Tells the master what a long step is about now; nobody need listen."""
    __salt__["event.send"]("eos/storage/progress", {"volume": volume_id, "minion": __opts__["id"], "words": words})


class _Seen:
    """What this minion has of a volume, as it was when it was looked at."""

    def __init__(self, wanted: object, reported: object = None):
        self.wanted = wanted
        self.report = report() if reported is None else reported
        self.mounts = __utils__["eos_mount.table"]()
        self.group = self.report.groups.get(wanted.group)
        self.volume = self.report.volume(wanted.group, wanted.volume)
        self.mount = __utils__["eos_mount.at"](self.mounts, wanted.path)
        self.own = self.report.of(wanted.id)
        self._filesystem: dict | None = None

    @property
    def filesystem(self) -> dict:
        """{"type", "uuid"} of what the volume holds."""
        if self._filesystem is None:
            self._filesystem = self.filesystem_of(self.volume)
        return self._filesystem

    def filesystem_of(self, volume: object) -> dict:
        return __utils__["eos_filesystem.probe_one"](__utils__["eos_command.run"], volume.path)

    @property
    def is_mounted(self) -> bool:
        return self.mount is not None and self.volume is not None and self.volume.number in self._numbers(self.mount)

    @property
    def mounted_elsewhere(self) -> list:
        """Other places where the volume is mounted; a bind mount of what is in it counts as well."""
        return [
            mount
            for mount in __utils__["eos_mount.of_device"](self.mounts, self.volume.number)
            if mount.path != os.path.realpath(self.wanted.path)
        ]

    def part(self, what: str) -> object:
        """What is called `<volume>.<what>`, if it is Eos's own."""
        found = self.report.volume(self.wanted.group, self.wanted.part(what))
        return found if found is not None and found.belongs_to == self.wanted.id else None

    @staticmethod
    def _numbers(mount: object) -> tuple:
        return (mount.number, mount.source_number)


def _converge(wanted: object, changes: dict) -> _Seen:
    """Answers what was seen at last, which is what was wanted."""
    seen, last = _Seen(wanted), None
    was_mounted = seen.is_mounted
    for _ in range(_MOST_STEPS):
        steps = _steps(wanted, seen)
        if not steps:
            return seen
        step = steps[0]
        if step.changes and step.changes == last:
            words = f"{', '.join(step.changes)} of {_named(wanted)} was done and is not seen: {step.changes}"
            raise _refusal(wanted, words, "See what LVM and the kernel's log say on this minion")
        step.do()
        if not (was_mounted and step.changes.get("mount", {}).get("new") == wanted.path):
            # A step that takes the volume from its place for a while is no change of that.
            _add(changes, step.changes)
        last = step.changes
        seen = _Seen(wanted, None if step.moves_lvm else seen.report)
    raise _refusal(wanted, f"{_named(wanted)} is not as it should be after {_MOST_STEPS} steps", "See the minion's log")


def _steps(wanted: object, seen: _Seen) -> list:
    """All that is to be done, as far as it can be foretold; only the first is certain. Raises what is refused."""
    _require_tools(wanted)
    _require_own(wanted, seen)
    # What a cut left comes first: the rest is decided from what is there without it.
    if steps := [*_unfinished(seen), *_remnants(wanted, seen)]:
        return steps
    if steps := __salt__["eos_storage_conversion.unfinished"](wanted, seen):
        return steps
    if seen.volume is None:
        return _made(wanted, seen)
    if seen.volume.number is None:
        return [_step({}, lambda: _lvm("activate", wanted.full_name)), *_mounted(wanted, seen)]
    if steps := __salt__["eos_storage_conversion.steps"](wanted, seen):
        return steps
    _require_filesystem(wanted, seen)
    if steps := __salt__["eos_storage_snapshots.restored"](wanted, seen):
        return steps
    return [
        *_mounted(wanted, seen),
        *__salt__["eos_storage_size.shrunk"](wanted, seen),
        *__salt__["eos_storage_size.grown"](wanted, seen),
        *__salt__["eos_storage_snapshots.kept"](wanted, seen),
        *__salt__["eos_storage_conversion.committed"](wanted, seen),
    ]


def _require_tools(wanted: object) -> None:
    if os.geteuid() != 0:
        words = f"Minion {__opts__['id']} is not run by root, which {_named(wanted)} needs"
        raise _refusal(wanted, words, "Run the minion as root, or keep the volume as a directory")
    for program in ("lvm", __utils__["eos_filesystem.program"](wanted.filesystem)):
        if not __utils__["eos_command.is_installed"](program):
            package = __utils__["eos_command.package_of"](program)
            words = f"{program} is not installed on minion {__opts__['id']}, which {_named(wanted)} needs"
            raise _refusal(wanted, words, f"Install the Debian package {package}")


def _require_own(wanted: object, seen: _Seen) -> None:
    """What goes by the volume's name is the volume of this id, and the path is free or its own."""
    if seen.volume is not None and seen.volume.belongs_to != wanted.id:
        of = f"is volume {seen.volume.belongs_to}" if seen.volume.belongs_to else "was not made by Eos"
        words = f"{_named(wanted)} is there already and {of}"
        raise _refusal(wanted, words, "Choose another name, or remove it by hand")
    elsewhere = [one for one in seen.own if one.group != wanted.group and one.tags.get("eos.volume")]
    if elsewhere:
        words = f"{wanted.id} is volume {elsewhere[0].full_name} already, not {wanted.full_name}"
        raise _refusal(wanted, words, f"Give its volume group as {elsewhere[0].group}, or move the data by hand")
    if seen.mount is not None and not seen.is_mounted and not _is_own_part(seen):
        words = f"{wanted.path} has {seen.mount.source} mounted on it, not {_named(wanted)}"
        raise _refusal(wanted, words, "Unmount it, or choose another path")
    if seen.mount is None:
        _require_free(wanted)


def _is_own_part(seen: _Seen) -> bool:
    numbers = (seen.mount.number, seen.mount.source_number)
    return any(one.number is not None and one.number in numbers for one in seen.own)


def _require_free(wanted: object) -> None:
    """Nothing is hidden below a mount."""
    try:
        status = os.lstat(wanted.path)
    except (FileNotFoundError, NotADirectoryError):
        status = None
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        raise _refusal(wanted, f"{wanted.path} is not a directory", "Move it away, or choose another path")
    if os.listdir(wanted.path):
        words = f"The directory {wanted.path} is not empty, and what is in it would be hidden by {_named(wanted)}"
        raise _refusal(wanted, words, "Move its content away, or choose another path")


def _unfinished(seen: _Seen) -> list:
    """A merge goes on by itself once the volume is active: its end is waited for. A guarded step is taken back."""
    if seen.volume is None:
        return []
    if seen.volume.number is None and seen.volume.is_merging:
        return [_step({}, lambda: _lvm("activate", seen.volume.full_name))]
    if seen.volume.is_merging:
        return __salt__["eos_storage_snapshots.merge_awaited"](seen)
    return __salt__["eos_storage_snapshots.put_back"](seen.wanted, seen)


def _remnants(wanted: object, seen: _Seen) -> list:
    """What Eos was making when it was cut off, and which never held anybody's data."""
    left = [one for one in seen.own if _is_remnant(wanted, one)]
    for one in left:
        if __utils__["eos_mount.of_device"](seen.mounts, one.number):
            words = f"{one.full_name} was left half-made and is mounted"
            raise _refusal(wanted, words, "Unmount it, and run the step again")
    return [_step({}, lambda one=one: _lvm("remove", one.full_name)) for one in left]


def _is_remnant(wanted: object, volume: object) -> bool:
    if volume.group != wanted.group:
        return False
    if _MAKING in volume.tags:
        return True
    # LVM makes a plain volume first and turns it into a snapshot then.
    return not volume.is_snapshot and ("eos.snapshot" in volume.tags or "eos.safety" in volume.tags)


def _made(wanted: object, seen: _Seen) -> list:
    """A volume that is not there yet, with all that follows from it."""
    extent = seen.group.extent if seen.group else __utils__["eos_lvm.rounded"](1, 4 << 20)
    size = __utils__["eos_lvm.rounded"](wanted.size, extent)
    least = __utils__["eos_filesystem.least"](wanted.filesystem)
    if size < least:
        words = f"{_named(wanted)} of {_human(size)} is too small for {wanted.filesystem}, which needs {_human(least)}"
        raise _refusal(wanted, words, f"Ask for {_human(least)} at least")
    old = [one for one in seen.own if "eos.volume" in one.tags or "eos.old" in one.tags]
    if old:
        words = f"{_named(wanted)} is gone, though {old[0].full_name} of it is there"
        raise _refusal(wanted, words, f"See `lvs {wanted.group}` on this minion, and rename what is the volume's data")
    _require_no_entry(wanted, None)
    owner = _wanted_owner(wanted)
    return [
        *room_for(wanted, seen, size),
        _step(
            {"volume": {"old": None, "new": wanted.full_name}, "size": {"old": None, "new": size}}
            | {"filesystem": {"old": None, "new": wanted.filesystem}},
            lambda: _make(wanted, size),
        ),
        _step({"mount": {"old": None, "new": wanted.path}}, lambda: None),
        *([_step({"owner": {"old": None, "new": owner}}, lambda: None)] if owner else []),
        *[
            _step({f"snapshot {name}": {"old": None, "new": room}}, lambda: None)
            for name, room in wanted.snapshots.items()
        ],
    ]


def _make(wanted: object, size: int) -> None:
    """The volume is Eos's own and holds nobody's data until its filesystem is made: only then the tag goes."""
    run = __utils__["eos_command.run"]
    _lvm("make_volume", wanted.group, wanted.volume, size, [f"eos.volume={wanted.id}", _MAKING])
    __salt__["eos_storage.format_new"](wanted.device, wanted.filesystem)
    found = __utils__["eos_filesystem.probe_one"](run, wanted.device)
    if found["type"] != wanted.filesystem:
        words = f"{wanted.device} holds {found['type'] or 'nothing'} after {wanted.filesystem} was made in it"
        raise _refusal(wanted, words, "See the kernel's log on this minion")
    _lvm("retag", wanted.full_name, [_MAKING])


def format_new(device: str, filesystem: str) -> None:
    """Makes a filesystem in a volume that was just made; what the space held before belongs to nobody any more."""
    run = __utils__["eos_command.run"]
    if __utils__["eos_block.signatures"](run, device):
        __utils__["eos_block.clear"](run, device)
    __utils__["eos_filesystem.make"](run, device, filesystem)


def room_for(wanted: object, seen: _Seen, needed: int) -> list:
    """The steps that give the group room for so many more bytes: none if it has it."""
    if seen.group is None:
        if not wanted.devices:
            words = f"There is no volume group {wanted.group} on minion {__opts__['id']}, and no disk to make it of"
            raise _refusal(wanted, words, "Name a disk, or a volume group that is there")
        added, free, make = wanted.devices, 0, "make_group"
    else:
        if needed <= seen.group.free:
            return []
        added = [device for device in wanted.devices if seen.report.group_of(device) != wanted.group]
        free, make = seen.group.free, "extend_group"
    extent = seen.group.extent if seen.group else 4 << 20
    chosen = []
    for device in added:
        if free >= needed and seen.group is not None:
            break
        _require_usable(wanted, seen, device)
        chosen.append(device)
        free += __utils__["eos_lvm.room_on"](__utils__["eos_block.size_of"](device), extent)
    if free < needed:
        has = "would have" if chosen else "has"
        words = f"Volume group {wanted.group} {has} {_human(free)} free, and {_named(wanted)} needs {_human(needed)}"
        raise _refusal(wanted, words, "Name another disk that may become part of it, or ask for less")
    changes = {"physical volumes": {"old": None, "new": chosen}}
    if seen.group is None:
        changes["volume group"] = {"old": None, "new": wanted.group}
    return [_step(changes, lambda: _lvm(make, wanted.group, chosen))]


def _require_usable(wanted: object, seen: _Seen, device: str) -> None:
    run = __utils__["eos_command.run"]
    why = __utils__["eos_block.why_unusable"](run, device, seen.report, seen.mounts)
    if why is not None:
        is_words = why if why.startswith(("is ", "holds ", "cannot ")) else f"is {why}"
        words = f"{device} {is_words}: it is not made part of volume group {wanted.group}"
        raise _refusal(wanted, words, "Name a disk that holds nothing; Eos never wipes one")


def _require_filesystem(wanted: object, seen: _Seen) -> None:
    found = seen.filesystem["type"]
    if found == wanted.filesystem:
        return
    if found is None:
        words = f"{_named(wanted)} holds no filesystem that Eos recognises, though Eos made one in it"
        raise _refusal(wanted, words, "Repair it by hand; to start again, remove the volume with its data")
    words = f"{_named(wanted)} holds {found}, not {wanted.filesystem}"
    raise _refusal(wanted, words, "Ask for a conversion of it, or for the filesystem that it has")


def _mounted(wanted: object, seen: _Seen) -> list:
    """Mounted now and after a reboot, with its owner."""
    options = __utils__["eos_filesystem.options"](wanted.filesystem, wanted.compression)
    uuid = seen.filesystem["uuid"] if seen.volume.number is not None else None
    entry = _require_no_entry(wanted, uuid)
    meant = [wanted.device, wanted.path, wanted.filesystem, options]
    steps = []
    if not seen.is_mounted:
        if seen.volume.number is not None and seen.mounted_elsewhere:
            other = seen.mounted_elsewhere[0].path
            words = f"{_named(wanted)} is mounted at {other}, not at {wanted.path}"
            raise _refusal(wanted, words, f"Unmount {other}, after you stop its users")
        steps.append(_step({"mount": {"old": None, "new": wanted.path}}, lambda: _mount(wanted, options), False))
    else:
        if entry is None or entry[:4] != meant:
            old = entry and " ".join(entry[:4])
            change = {"mount": {"old": old, "new": " ".join(meant)}}
            steps.append(_step(change, lambda: _write_fstab(wanted, options), False))
        steps += _remounted(wanted, seen, options)
    owner = _wanted_owner(wanted)
    there = _owner_of(wanted.path) if seen.is_mounted else None
    if owner and there != owner:
        steps.append(_step({"owner": {"old": there, "new": owner}}, lambda: _own(wanted), False))
    return steps


def _remounted(wanted: object, seen: _Seen, options: str) -> list:
    old, new = _mode_of_mount(seen.mount.options), _mode_of_mount(["rw", *options.split(",")])
    if old == new:
        return []
    # Btrfs keeps a compression that is not named.
    asked = options if wanted.filesystem != "btrfs" or wanted.compression else f"{options},compress=no"
    run = __utils__["eos_command.run"]
    change = {"mount": {"old": old, "new": new}}
    return [_step(change, lambda: __utils__["eos_mount.remount"](run, wanted.path, f"rw,{asked}"), False)]


def _mode_of_mount(options: list[str]) -> str:
    """What of a mount's options is looked after: whether it can be written to, and with which compression."""
    return f"{'ro' if 'ro' in options else 'rw'}, compression {_compression(options) or 'none'}"


def _compression(options: list[str]) -> str | None:
    """Without its level, which the kernel adds."""
    return next((one.partition("=")[2].partition(":")[0] for one in options if one.startswith("compress=")), None)


def _mount(wanted: object, options: str) -> None:
    """By its device: a snapshot has the UUID of its origin, and which of them a UUID would mount is chance."""
    os.makedirs(wanted.path, mode=0o755, exist_ok=True)
    __utils__["eos_mount.mount"](
        __utils__["eos_command.run"], wanted.device, wanted.path, wanted.filesystem, options.replace(",nofail", "")
    )
    _write_fstab(wanted, options)


def _write_fstab(wanted: object, options: str) -> None:
    __utils__["eos_mount.write_fstab"](wanted.path, wanted.device, wanted.filesystem, options)
    reload_mounts()


def _require_no_entry(wanted: object, uuid: str | None) -> list[str] | None:
    """The entry of /etc/fstab for the path, which is of this volume if there is one."""
    entry = __utils__["eos_mount.fstab_entry"](wanted.path)
    if entry is None:
        return None
    mapped = f"/dev/mapper/{wanted.group.replace('-', '--')}-{wanted.volume.replace('-', '--')}"
    if entry[0] not in (wanted.device, mapped, f"UUID={uuid}"):
        words = f"/etc/fstab has {entry[0]} for {wanted.path}, not {_named(wanted)}"
        raise _refusal(wanted, words, "Take that line out, or choose another path")
    return entry


def _wanted_owner(wanted: object) -> str | None:
    if None in (wanted.user, wanted.group_owner, wanted.mode):
        return None
    return f"{wanted.user}:{wanted.group_owner} {wanted.mode:04o}"


def _owner_of(path: str) -> str:
    status = os.stat(path)
    return f"{status.st_uid}:{status.st_gid} {stat.S_IMODE(status.st_mode):04o}"


def _own(wanted: object) -> None:
    os.chown(wanted.path, wanted.user, wanted.group_owner)
    # After the owner: a change of that takes bits of the mode away.
    os.chmod(wanted.path, wanted.mode)


def _told(volume: object, mount: object, reported: object) -> dict:
    probed = __utils__["eos_filesystem.probe_one"](__utils__["eos_command.run"], volume.path)
    named = [one.tags["eos.snapshot"] for one in reported.snapshots_of(volume) if "eos.snapshot" in one.tags]
    parts = reported.of(volume.belongs_to) if volume.belongs_to else []
    restored = volume.tags.get("eos.restored")
    return {
        "source": volume.path,
        "filesystem": mount.filesystem,
        "filesystem_size": _size_of(volume, mount),
        "uuid": probed["uuid"],
        "size": volume.size,
        "extent": reported.groups[volume.group].extent,
        "volume_group": volume.group,
        "volume": volume.name,
        "snapshots": sorted(named),
        "restored": restored and __utils__["eos_lvm.time_of_tag"](restored),
        "compression": _compression(mount.options),
        "old": "eos.saved" in volume.tags or any("eos.old" in one.tags for one in parts),
    }


def _size_of(volume: object, mount: object) -> int | None:
    """Of the filesystem, if it is one that Eos makes."""
    is_known = __utils__["eos_filesystem.is_known"](mount.filesystem)
    return __utils__["eos_filesystem.size"](volume.path, mount.filesystem, mount.path) if is_known else None


def _add(changes: dict, more: dict) -> None:
    """Several steps may move one thing: it was what it was before the first of them."""
    for what, change in more.items():
        before = changes.get(what, change)["old"]
        changes[what] = {"old": before, "new": change["new"]}


def _lvm(verb: str, *arguments: object) -> None:
    __utils__[f"eos_lvm.{verb}"](__utils__["eos_command.run"], *arguments)


def _step(changes: dict, do: Callable[[], None], moves_lvm: bool = True) -> object:
    return __utils__["eos_volume.step"](changes, do, moves_lvm)


def _refusal(wanted: object, words: str, hint: str) -> CommandExecutionError:
    return __utils__["eos_volume.refusal"](f"volume {wanted.id}", _sentence(words), hint)


def _sentence(words: str) -> str:
    return f"V{words[1:]}" if words.startswith("volume ") else words


def _named(wanted: object) -> str:
    return f"volume {wanted.full_name}"


def _human(size: int) -> str:
    return __utils__["eos_volume.human"](size)
