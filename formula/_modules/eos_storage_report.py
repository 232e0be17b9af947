"""All storage of this minion in one answer: disks, volume groups, volumes with their use, other filesystems, tools.

Nothing here may be called over the API; `eos_kind_volume` calls it. It changes nothing but the samples of use.
"""

from __future__ import annotations

_TOOLS = {"lvm": "lvm", "xfs": "mkfs.xfs", "btrfs": "mkfs.btrfs", "ext4": "mkfs.ext4"}


def of_this_minion(wanted: dict) -> dict:
    """`wanted` are the volumes of this minion's slice of the pillar."""
    reported, mounts = __salt__["eos_storage.report"](), __utils__["eos_mount.table"]()
    # LVM names groups in the order in which it finds their disks.
    volumes = sorted(filter(_is_volume, reported.volumes), key=lambda one: (one.group, one.name))
    volumes = [_volume(one, reported, mounts, wanted) for one in volumes]
    return {
        "disks": __utils__["eos_block.disks"](__utils__["eos_command.run"], reported, mounts),
        "groups": [
            {"name": one.name, "size": one.size, "free": one.free, "extent": one.extent, "devices": one.devices}
            for _, one in sorted(reported.groups.items())
        ],
        "volumes": __salt__["eos_storage_samples.with_growth"](volumes),
        "filesystems": _filesystems(reported, mounts),
        "tools": {tool: __utils__["eos_command.is_installed"](program) for tool, program in _TOOLS.items()},
    }


def _is_volume(volume: object) -> bool:
    """What belongs to a volume is told with it."""
    return not volume.is_snapshot and "eos.of" not in volume.tags


def _volume(volume: object, reported: object, mounts: list, wanted: dict) -> dict:
    found = {"type": None, "uuid": None}
    if volume.number is not None:
        found = __utils__["eos_filesystem.probe_one"](__utils__["eos_command.run"], volume.path)
    points = __utils__["eos_mount.of_device"](mounts, volume.number)
    path = points[0].path if points else None
    usage = {"capacity": None, "used": None, "available": None}
    if path is not None:
        usage = __utils__["eos_filesystem.usage"](path)
    name = volume.tags.get("eos.volume")
    return {
        "name": volume.name,
        "group": volume.group,
        "id": name,
        "size": volume.size,
        "filesystem": found["type"],
        "uuid": found["uuid"],
        "mount": path,
        **usage,
        "open_files": None if path is None else bool(__utils__["eos_mount.open_files"]([path])),
        "alert": wanted.get(name, {}).get("alert"),
        "snapshots": [
            {
                "name": one.tags.get("eos.snapshot", one.name),
                "made": one.made,
                "size": one.size,
                "used_percent": one.used_percent,
                "valid": one.is_valid,
                "eos": one.belongs_to is not None,
            }
            for one in reported.snapshots_of(volume)
        ],
        "old": _old(volume, reported) if name else None,
    }


def _old(volume: object, reported: object) -> dict | None:
    """What a conversion left for the way back."""
    if "eos.saved" in volume.tags:
        return {"filesystem": "ext4", "since": __utils__["eos_lvm.time_of_tag"](volume.tags["eos.saved"])}
    old = next((one for one in reported.of(volume.tags["eos.volume"]) if "eos.old" in one.tags), None)
    if old is None:
        return None
    run = __utils__["eos_command.run"]
    kind = __utils__["eos_filesystem.probe_one"](run, old.path)["type"] if old.number is not None else None
    return {"filesystem": kind, "since": __utils__["eos_lvm.time_of_tag"](old.tags["eos.old"])}


def _filesystems(reported: object, mounts: list) -> list[dict]:
    """Those on real block devices that are no volumes of LVM, each once."""
    numbers = {volume.number for volume in reported.volumes}
    found: dict[int, dict] = {}
    for mount in mounts:
        number = mount.source_number
        if number is None or number in numbers or number in found or mount.root != "/":
            continue
        try:
            usage = __utils__["eos_filesystem.usage"](mount.path)
        except OSError:
            continue
        found[number] = {"path": mount.path, "source": mount.source, "filesystem": mount.filesystem, **usage}
    return list(found.values())
