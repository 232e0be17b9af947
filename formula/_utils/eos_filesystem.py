"""Filesystems in a volume: XFS, ext4 and Btrfs, told apart, made, measured, grown, made smaller and checked.

`run` is `eos_command.run`.
"""

from __future__ import annotations

import array
import fcntl
import os
import struct
from collections.abc import Callable

_MAKE = {
    "xfs": ["mkfs.xfs", "-q"],
    # btrfs-convert wants blocks of 4 KiB, and mkfs.ext4 would choose smaller ones in a small volume.
    "ext4": ["mkfs.ext4", "-q", "-b", "4096"],
    "btrfs": ["mkfs.btrfs", "-q"],
}
_OPTIONS = {"xfs": "defaults,noatime", "ext4": "defaults,noatime", "btrfs": "defaults,noatime"}
_LEAST = {"xfs": 300 << 20, "ext4": 8 << 20, "btrfs": 112 << 20}
# What is left of a volume that is too little for another group of blocks is left unused.
_SLACK = 4 << 20
_NOTHING_FOUND, _SEVERAL_FOUND = 2, 8
# struct xfs_fsop_geom_v1: the block size is the first field, the number of data blocks the ninth.
_XFS_GEOMETRY, _XFS_GEOMETRY_BYTES, _XFS_BLOCKS_AT = 0x80705864, 112, 32


def least(filesystem: str) -> int:
    """The smallest volume that can hold one."""
    return _LEAST[filesystem]


def program(filesystem: str) -> str:
    """What makes one."""
    return _MAKE[filesystem][0]


def options(filesystem: str, compression: str | None) -> str:
    """How it is mounted; `nofail`, because a machine without one of its volumes is to come up all the same."""
    compressed = [f"compress={compression}"] if compression else []
    return ",".join([_OPTIONS[filesystem], *compressed, "nofail"])


def probe(run: Callable, devices: list[str]) -> dict[str, dict]:
    """Device -> {"type", "uuid"}; both None if nothing is in it, type "several" if nobody can tell which one it is."""
    found: dict[str, dict] = {device: {"type": None, "uuid": None} for device in devices}
    for device in devices:
        text = run(["blkid", "-p", "-o", "export", device], device, (0, _NOTHING_FOUND, _SEVERAL_FOUND))
        found[device] = parsed(text)
    return found


def probe_one(run: Callable, device: str) -> dict:
    return probe(run, [device])[device]


def parsed(text: str) -> dict:
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    kind = values.get("TYPE") or values.get("PTTYPE")
    return {"type": kind, "uuid": values.get("UUID")}


def make(run: Callable, device: str, filesystem: str) -> None:
    """Without force: each of them refuses a device that holds something."""
    run([*_MAKE[filesystem], device], device)


def is_known(filesystem: str) -> bool:
    """Whether it is one that Eos makes."""
    return filesystem in _LEAST


def size(device: str, filesystem: str, mounted_at: str | None) -> int:
    """How many bytes of the volume it takes for itself."""
    if filesystem == "xfs" and mounted_at:
        # What is on the disk lags behind: XFS has a cache of its own.
        return _mounted_xfs_size(mounted_at)
    with open(device, "rb") as file:
        if filesystem == "xfs":
            block, blocks = struct.unpack(">4xIQ", file.read(16))
            return block * blocks
        if filesystem == "ext4":
            file.seek(1024)
            superblock = file.read(1024)
            low, shift = (struct.unpack_from("<I", superblock, at)[0] for at in (0x4, 0x18))
            high = struct.unpack_from("<I", superblock, 0x150)[0]
            return ((high << 32) + low) << (10 + shift)
        file.seek(65536 + 0x70)
        return struct.unpack("<Q", file.read(8))[0]


def ext4_block_size(device: str) -> int:
    with open(device, "rb") as file:
        file.seek(1024 + 0x18)
        return 1024 << struct.unpack("<I", file.read(4))[0]


def is_short(filesystem_size: int, volume_size: int) -> bool:
    """Whether it leaves room in its volume unused that it could have."""
    return volume_size - filesystem_size >= _SLACK


def grow(run: Callable, device: str, filesystem: str, mounted_at: str) -> None:
    """To the size of its volume, while it is mounted."""
    commands = {
        "xfs": ["xfs_growfs", mounted_at],
        "ext4": ["resize2fs", device],
        "btrfs": ["btrfs", "filesystem", "resize", "max", mounted_at],
    }
    run(commands[filesystem], device)


def shrink_ext4(run: Callable, device: str, new_size: int) -> None:
    """Not while it is mounted; resize2fs wants it checked before."""
    check_ext4(run, device)
    run(["resize2fs", device, f"{new_size >> 10}K"], device)
    check_ext4(run, device)


def shrink_btrfs(run: Callable, mounted_at: str, new_size: int) -> None:
    run(["btrfs", "filesystem", "resize", str(new_size), mounted_at], mounted_at)


def check_ext4(run: Callable, device: str) -> None:
    """Whatever is wrong with it is a failure, but for what mounting would mend as well, such as a journal to replay."""
    run(["e2fsck", "-f", "-p", device], device, (0, 1))
    run(["e2fsck", "-f", "-n", device], device)


def usage(mounted_at: str) -> dict[str, int]:
    """What `df` says."""
    stated = os.statvfs(mounted_at)
    return {
        "capacity": stated.f_blocks * stated.f_frsize,
        "used": (stated.f_blocks - stated.f_bfree) * stated.f_frsize,
        "available": stated.f_bavail * stated.f_frsize,
    }


def is_empty(mounted_at: str) -> bool:
    return not set(os.listdir(mounted_at)) - {"lost+found"}


def _mounted_xfs_size(mounted_at: str) -> int:
    geometry = array.array("B", bytes(_XFS_GEOMETRY_BYTES))
    descriptor = os.open(mounted_at, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(descriptor, _XFS_GEOMETRY, geometry)
    finally:
        os.close(descriptor)
    return struct.unpack_from("=I", geometry)[0] * struct.unpack_from("=Q", geometry, _XFS_BLOCKS_AT)[0]
