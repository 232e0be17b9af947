"""What is wanted of a volume on LVM, one step towards it, and the refusal of what must not be done."""

from __future__ import annotations

import grp
import pwd
import re
from collections.abc import Callable
from typing import NamedTuple

from salt.exceptions import CommandExecutionError, SaltInvocationError

FILESYSTEMS = ("xfs", "ext4", "btrfs")
# No dot: what belongs to a volume is called `<volume>.<what>`.
_VOLUME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_+-]{0,99}")
_GROUP = re.compile(r"[A-Za-z0-9_+.][A-Za-z0-9_+.-]{0,99}")
_SNAPSHOT = re.compile(r"(?!(old|new)\Z|eos-)[a-z0-9][a-z0-9_-]{0,62}")
_ID = re.compile(r"[a-z0-9-]+/[a-z0-9_-]+/[a-z0-9_-]+")
_PATH = re.compile(r"(/[^/\x00-\x1f]+)+")
_MODE = re.compile(r"0?[0-7]{3,4}")
_COMPRESSION = re.compile(r"(zstd|lzo|zlib)(:\d{1,2})?")


class Step(NamedTuple):
    """`changes` is {what: {"old", "new"}}; `do` does it; `moves_lvm`: whether LVM has to be asked again after it."""

    changes: dict
    do: Callable[[], None]
    moves_lvm: bool = True


class Wanted:
    """The facts of a volume, each checked for its form."""

    def __init__(self, facts: dict):
        self.id = _formed("volume_id", facts["volume_id"], _ID)
        self.path = _formed("path", facts["path"], _PATH).rstrip("/")
        self.volume = _formed("volume", facts["volume"], _VOLUME)
        self.group = _formed("volume_group", facts["volume_group"], _GROUP)
        self.devices = [_formed("devices", device, _PATH) for device in facts.get("devices") or []]
        self.size = _bytes("size", facts["size"])
        self.filesystem = facts["filesystem"]
        if self.filesystem not in FILESYSTEMS:
            raise SaltInvocationError(f"filesystem is none of {', '.join(FILESYSTEMS)}")
        self.compression = facts.get("compression")
        if self.compression is not None:
            _formed("compression", self.compression, _COMPRESSION)
        self.user = _number("user", facts.get("user"), lambda name: pwd.getpwnam(name).pw_uid)
        self.group_owner = _number("group", facts.get("group"), lambda name: grp.getgrnam(name).gr_gid)
        self.mode = facts.get("mode") and int(_formed("mode", str(facts["mode"]), _MODE), 8)
        self.shrink_from = facts.get("shrink_from") and _bytes("shrink_from", facts["shrink_from"])
        self.snapshots = {
            _formed("snapshots", name, _SNAPSHOT): _bytes("snapshots", size)
            for name, size in (facts.get("snapshots") or {}).items()
        }
        self.restore = facts.get("restore")
        self.conversion = facts.get("conversion")

    @property
    def device(self) -> str:
        return f"/dev/{self.group}/{self.volume}"

    @property
    def full_name(self) -> str:
        return f"{self.group}/{self.volume}"

    def part(self, what: str) -> str:
        """The name of a volume that belongs to this one."""
        return f"{self.volume}.{what}"


def wanted(facts: dict) -> Wanted:
    return Wanted(facts)


def step(changes: dict, do: Callable[[], None], moves_lvm: bool = True) -> Step:
    return Step(changes, do, moves_lvm)


def refusal(name: str, words: str, hint: str) -> CommandExecutionError:
    return CommandExecutionError(words, info={"layer": "salt", "object": name, "words": words, "hint": hint})


def human(size: int) -> str:
    """The size as people say it, to compare two of them."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.2f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{size} bytes"


def _formed(name: str, value: object, pattern: re.Pattern) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise SaltInvocationError(f"{name} is not of the form {pattern.pattern}")
    return value


def _bytes(name: str, value: object) -> int:
    if type(value) is not int or value <= 0:
        raise SaltInvocationError(f"{name} is not a number of bytes")
    return value


def _number(name: str, value: object, by_name: Callable[[str], int]) -> int | None:
    """A container's user need have no name on its host, so that numbers are the rule."""
    if value is None or type(value) is int:
        return value
    if isinstance(value, str) and value.isdigit():
        return int(value)
    try:
        return by_name(str(value))
    except KeyError:
        raise SaltInvocationError(f"There is no {name} {value} on this minion") from None
