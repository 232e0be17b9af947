"""LVM on this minion: what it reports, read in one command, and each of its verbs that Eos uses.

`run` is `eos_command.run`. What is Eos's own LVM itself remembers, by tags:

- `eos.volume=<id>`: the volume of this id
- `eos.of=<id>` with `eos.snapshot=<name>`, `eos.safety=<how>`, `eos.new=<when>` or `eos.old=<when>`: what is part of it
- `eos.making`: half-made, and never held anybody's data
"""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Callable
from typing import NamedTuple

MAKING = "eos.making"
_COLUMNS = {
    "vg": "vg_name,vg_size,vg_free,vg_extent_size",
    "pv": "pv_name,vg_name,dev_size,pv_mda_count",
    "lv": "lv_name,lv_size,lv_tags,lv_attr,origin,data_percent,lv_time,lv_kernel_major,lv_kernel_minor",
    "pvseg": "pv_name",
    "seg": "lv_name",
}
_WITHOUT_UDEV = "activation{udev_sync=0 udev_rules=0} devices{obtain_device_list_from_udev=0}"
# What LVM keeps of a physical volume for itself, at least.
_BEGINNING = 1 << 20
DEFAULT_EXTENT = 4 << 20


class Group(NamedTuple):
    name: str
    size: int
    free: int
    extent: int
    devices: list


class Volume(NamedTuple):
    """A logical volume; `number` is its device number, None while it is not active."""

    group: str
    name: str
    size: int
    tags: dict
    origin: str | None
    is_snapshot: bool
    is_merging: bool
    is_valid: bool
    used_percent: float | None
    made: str
    number: int | None

    @property
    def path(self) -> str:
        return f"/dev/{self.group}/{self.name}"

    @property
    def full_name(self) -> str:
        return f"{self.group}/{self.name}"

    @property
    def belongs_to(self) -> str | None:
        """The id of the volume that it is or belongs to; None if Eos did not make it."""
        return self.tags.get("eos.volume") or self.tags.get("eos.of")


class Report(NamedTuple):
    """`unused` are physical volumes of no group whose own metadata says so."""

    groups: dict
    volumes: list
    unused: list

    def volume(self, group: str, name: str) -> Volume | None:
        return next((one for one in self.volumes if (one.group, one.name) == (group, name)), None)

    def of(self, volume_id: str) -> list:
        return [one for one in self.volumes if one.belongs_to == volume_id]

    def snapshots_of(self, volume: Volume) -> list:
        return [one for one in self.volumes if one.group == volume.group and one.origin == volume.name]

    def group_of(self, device: str) -> str | None:
        real = os.path.realpath(device)
        return next((one.name for one in self.groups.values() if real in map(os.path.realpath, one.devices)), None)

    def is_unused(self, device: str) -> bool:
        return os.path.realpath(device) in map(os.path.realpath, self.unused)


def nothing() -> Report:
    """What there is where LVM is not installed."""
    return Report({}, [], [])


def report(run: Callable) -> Report:
    columns = [word for kind, names in _COLUMNS.items() for word in ("--configreport", kind, "-o", names)]
    shape = ["--reportformat", "json", "--units", "b", "--nosuffix"]
    return parsed(run(["lvm", "fullreport", *_settings(), *shape, *columns], "LVM"))


def parsed(text: str) -> Report:
    groups, volumes, unused = {}, [], []
    for part in json.loads(text)["report"]:
        devices = part.get("pv", [])
        for group in part.get("vg", []):
            name = group["vg_name"]
            sizes = (int(group[key]) for key in ("vg_size", "vg_free", "vg_extent_size"))
            groups[name] = Group(name, *sizes, [device["pv_name"] for device in devices])
            volumes += [_volume(name, facts) for facts in part.get("lv", [])]
        if "vg" not in part:
            # Without metadata of its own it may be part of a group whose other disks are away.
            unused += [device["pv_name"] for device in devices if int(device["pv_mda_count"] or 0) > 0]
    return Report(groups, volumes, unused)


def _volume(group: str, facts: dict) -> Volume:
    kind, state = facts["lv_attr"][0], facts["lv_attr"][4]
    major, minor = int(facts["lv_kernel_major"]), int(facts["lv_kernel_minor"])
    tags = (tag.partition("=") for tag in facts["lv_tags"].split(",") if tag)
    return Volume(
        group,
        facts["lv_name"],
        int(facts["lv_size"]),
        {name: value for name, _, value in tags},
        facts["origin"] or None,
        kind in "sS",
        kind in "OS",
        state not in "IS",
        float(facts["data_percent"]) if facts["data_percent"] else None,
        _utc(facts["lv_time"]),
        os.makedev(major, minor) if major >= 0 else None,
    )


def _utc(time: str) -> str:
    """LVM tells times as "2026-11-16 21:29:16 +0000"."""
    try:
        parsed_time = datetime.datetime.strptime(time, "%Y-%m-%d %H:%M:%S %z")
    except ValueError:
        return time
    return parsed_time.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rounded(size: int, extent: int) -> int:
    """As large as LVM makes a volume that is asked for with this size."""
    return -(-size // extent) * extent


def room_on(device_size: int, extent: int = DEFAULT_EXTENT) -> int:
    """What a disk of this size adds to a group."""
    return max(0, (device_size - _BEGINNING) // extent * extent)


def as_tag(text: str) -> str:
    """The text with what a tag's value may not have replaced."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)


def time_of_tag(tag: str) -> str:
    """A time as it was before `as_tag`, which changes nothing of one but its colons."""
    return tag.replace("_", ":")


def make_group(run: Callable, name: str, devices: list[str]) -> None:
    _lvm(run, name, "vgcreate", name, *devices)


def extend_group(run: Callable, name: str, devices: list[str]) -> None:
    _lvm(run, name, "vgextend", name, *devices)


def make_volume(run: Callable, group: str, name: str, size: int, tags: list[str]) -> None:
    """Makes a volume whose beginning is zero; signatures further on are for its maker to see, not LVM to ask about."""
    wanted = ["--wipesignatures", "n", "--zero", "y", *_each("--addtag", tags)]
    _lvm(run, f"{group}/{name}", "lvcreate", "--name", name, "--size", f"{size}b", *wanted, group)


def make_snapshot(run: Callable, volume: Volume, name: str, size: int, tags: list[str]) -> None:
    wanted = ["--name", name, "--size", f"{size}b", *_each("--addtag", tags)]
    _lvm(run, f"{volume.group}/{name}", "lvcreate", "--snapshot", *wanted, volume.full_name)


def deactivate(run: Callable, full_name: str) -> None:
    """LVM refuses it while the volume is in use."""
    _lvm(run, full_name, "lvchange", "--activate", "n", full_name)


def activate(run: Callable, full_name: str) -> None:
    _lvm(run, full_name, "lvchange", "--activate", "y", full_name)


def extend(run: Callable, full_name: str, size: int) -> None:
    _lvm(run, full_name, "lvextend", "--size", f"{size}b", full_name)


def reduce(run: Callable, full_name: str, size: int) -> None:
    """The filesystem in it has been made smaller before, which LVM cannot know and asks about."""
    _lvm(run, full_name, "lvreduce", "--force", "--size", f"{size}b", full_name)


def retag(run: Callable, full_name: str, remove: list[str] = (), add: list[str] = ()) -> None:
    """Both in one write of LVM's metadata."""
    _lvm(run, full_name, "lvchange", *_each("--deltag", remove), *_each("--addtag", add), full_name)


def rename(run: Callable, group: str, old: str, new: str) -> None:
    _lvm(run, f"{group}/{old}", "lvrename", group, old, new)


def remove(run: Callable, full_name: str) -> None:
    """LVM itself refuses what is in use; what it asks for otherwise is whether we are sure."""
    _lvm(run, full_name, "lvremove", "--yes", full_name)


def merge(run: Callable, full_name: str) -> None:
    """Puts a snapshot back into its origin, and returns when that is done.

    If somebody has the origin open, LVM only notes it down, and begins when the origin is activated the next time.
    """
    _lvm(run, full_name, "lvconvert", "--merge", "--interval", "1", full_name)


def is_merge_running(run: Callable, volume: Volume) -> bool:
    """Whether the kernel is at it; LVM's own report does not tell a merge that it only noted down."""
    name = "-".join(part.replace("-", "--") for part in (volume.group, volume.name))
    return "snapshot-merge" in run(["dmsetup", "table", name], volume.full_name)


def go_on_merging(run: Callable, full_name: str) -> None:
    """Has somebody finish a merge that began before, such as one that a reboot interrupted."""
    _lvm(run, full_name, "lvchange", "--poll", "y", full_name)


def _lvm(run: Callable, name: str, verb: str, *arguments: str) -> None:
    run(["lvm", verb, *_settings(), *arguments], name)


def _settings() -> list[str]:
    return [] if os.path.exists("/run/udev/control") else ["--config", _WITHOUT_UDEV]


def _each(option: str, values: list[str]) -> list[str]:
    return [word for value in values for word in (option, value)]
