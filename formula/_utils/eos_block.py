"""Disks of this minion: which there are, and why one must not become part of a volume group.

`run` is `eos_command.run`, `report` what `eos_lvm.report` answered, `mounts` what `eos_mount.table` did.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable

_SYSFS = "/sys/class/block"
_SWAPS = "/proc/swaps"
_SECTOR = 512
_SMALLEST = 64 << 20
# Memory, optical and floppy drives, files in disguise, and what is made of other disks.
_NO_DISKS = re.compile(r"(ram|zram|sr|fd|loop|dm-|md|nbd|rbd|mtdblock)\d")
_PHYSICAL_VOLUME = "LVM2_member"


def disks(run: Callable, report: object, mounts: list) -> list[dict]:
    """Every disk, with whether and why not it can be given to a group."""
    found = []
    for name in sorted(os.listdir(_SYSFS)):
        at = os.path.join(_SYSFS, name)
        size = _number(at, "size") * _SECTOR
        if _NO_DISKS.match(name) or size == 0 or os.path.exists(os.path.join(at, "partition")):
            continue
        path = f"/dev/{name.replace('!', '/')}"
        why = why_unusable(run, path, report, mounts)
        found.append(
            {
                "path": path,
                "size": size,
                "usable": why is None,
                "why": why,
                "group": report.group_of(path),
                "model": _text(os.path.join(at, "device", "model")),
            }
        )
    return found


def size_of(path: str) -> int:
    return _number(_sysfs_of(os.stat(path).st_rdev), "size") * _SECTOR


def why_unusable(run: Callable, path: str, report: object, mounts: list) -> str | None:
    """Why this device must not be made a physical volume, in words that follow it; None if nothing is in the way.

    A physical volume of no group is not in the way: vgcreate that was cut off leaves one.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not stat.S_ISBLK(status.st_mode):
        return "is not a block device"
    if not os.access(path, os.R_OK):
        return "cannot be read: Permission denied"
    at = _sysfs_of(status.st_rdev)
    whole = [at, *_partitions(at)]
    if point := next((point for part in whole if (point := _mounted_at(part, mounts))), None):
        return f"mounted at {point}"
    if any(_is_swap(part) for part in whole):
        return "swap"
    if group := report.group_of(path):
        return f"physical volume of group {group}"
    if len(whole) > 1:
        return "partitioned"
    if _number(at, "ro"):
        return "read-only"
    if holders := sorted(os.listdir(os.path.join(at, "holders"))):
        return f"in use by {holders[0]}"
    if _number(at, "size") * _SECTOR < _SMALLEST:
        return "smaller than 64 MiB"
    return _why_signed(signatures(run, path), report.is_unused(path))


def signatures(run: Callable, path: str) -> list[dict]:
    """Everything that says what the device holds: [{"type", "usage", "offset"}]; changes nothing."""
    text = run(["wipefs", "--no-act", "--json", "--output", "TYPE,USAGE,OFFSET", path], path)
    return json.loads(text)["signatures"] if text.strip() else []


def clear(run: Callable, path: str) -> None:
    """Takes the signatures from a volume that was just made: they are of whoever had that space before."""
    run(["wipefs", "--all", "--quiet", path], path)


def _why_signed(found: list[dict], is_unused_volume: bool) -> str | None:
    if is_unused_volume:
        found = [one for one in found if one["type"] != _PHYSICAL_VOLUME]
    if not found:
        return None
    first = found[0]
    if first["usage"] == "filesystem":
        return f"holds a filesystem ({first['type']})"
    if first["usage"] == "partition-table":
        return "partitioned"
    return "swap" if first["type"] == "swap" else f"holds a signature ({first['type']})"


def _mounted_at(at: str, mounts: list) -> str | None:
    number = _device_number(at)
    return next((mount.path for mount in mounts if number in (mount.number, mount.source_number)), None)


def _is_swap(at: str) -> bool:
    number = _device_number(at)
    with open(_SWAPS, encoding="utf-8") as file:
        used = [line.split()[0] for line in file.readlines()[1:]]
    return any(_number_of_node(path) == number for path in used)


def _number_of_node(path: str) -> int | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_rdev if stat.S_ISBLK(status.st_mode) else None


def _sysfs_of(number: int) -> str:
    """As /sys/class/block has it, whatever the node is called."""
    return os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")


def _partitions(at: str) -> list[str]:
    inside = (os.path.join(at, name) for name in sorted(os.listdir(at)))
    return [part for part in inside if os.path.exists(os.path.join(part, "partition"))]


def _device_number(at: str) -> int:
    major, _, minor = (_text(os.path.join(at, "dev")) or "0:0").partition(":")
    return os.makedev(int(major), int(minor))


def _number(at: str, name: str) -> int:
    return int(_text(os.path.join(at, name)) or 0)


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip() or None
    except OSError:
        return None
