"""What is mounted where on this minion, what will be after a reboot (/etc/fstab), and who has files open there."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

_MOUNTS = "/proc/self/mountinfo"
_FSTAB = "/etc/fstab"


class Mount(NamedTuple):
    """`number` is the device number that the kernel tells, `source_number` that of the node it was mounted from.

    They differ with Btrfs, which has numbers of its own.
    """

    path: str
    number: int
    source: str
    source_number: int | None
    filesystem: str
    options: list
    root: str


def table() -> list[Mount]:
    with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        return [parsed(line) for line in file]


def parsed(line: str) -> Mount:
    """A line of mountinfo; the fields behind the dash follow any number of optional ones."""
    before, _, after = line.rstrip("\n").partition(" - ")
    fields, (filesystem, source, *rest) = before.split(" "), after.split(" ")
    major, _, minor = fields[2].partition(":")
    source = _plain(source)
    options = [*fields[5].split(","), *(rest[0].split(",") if rest else [])]
    number = os.makedev(int(major), int(minor))
    return Mount(_plain(fields[4]), number, source, _device_of(source), filesystem, options, _plain(fields[3]))


def at(mounts: list[Mount], path: str) -> Mount | None:
    """What one sees at the path: the last of several that are mounted over each other."""
    real = os.path.realpath(path)
    return next((mount for mount in reversed(mounts) if mount.path == real), None)


def of_device(mounts: list[Mount], number: int | None) -> list[Mount]:
    if number is None:
        return []
    return [mount for mount in mounts if number in (mount.number, mount.source_number)]


def mount(run: Callable, device: str, path: str, filesystem: str, options: str) -> None:
    run(["mount", "-t", filesystem, "-o", options, device, path], path)


def remount(run: Callable, path: str, options: str) -> None:
    run(["mount", "-o", f"remount,{options}", path], path)


def unmount(run: Callable, path: str) -> None:
    run(["umount", path], path)


@contextlib.contextmanager
def apart(run: Callable, device: str, filesystem: str, options: str) -> Iterator[str]:
    """Mounted for the moment, below a directory that root alone can enter.

    The mount covers the mode of the directory that it is on, and its own says nothing yet of who may read it.
    """
    private = tempfile.mkdtemp(prefix="eos-apart-")
    path = os.path.join(private, "mounted")
    os.mkdir(path)
    try:
        mount(run, device, path, filesystem, options)
        try:
            yield path
        finally:
            unmount(run, path)
    finally:
        # Not with all that is in them: what did not unmount holds data.
        os.rmdir(path)
        os.rmdir(private)


def open_files(paths: list[str]) -> dict[str, str]:
    """Mount point -> who uses it, "postgres (pid 812)", of those mount points where somebody does."""
    numbers = {os.stat(path).st_dev: path for path in paths}
    used: dict[str, str] = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for path in _used_by(pid, numbers, paths):
            used.setdefault(path, f"{_name_of(pid)} (pid {pid})")
    return used


def fstab_entry(path: str) -> list[str] | None:
    """The fields of the entry for this mount point."""
    return next((fields for _, fields in _fstab() if fields and _is_for(fields, path)), None)


def write_fstab(path: str, device: str, filesystem: str, options: str) -> None:
    """Makes the entry of this mount point; every other line stays as it is."""
    fields = [_escaped(device), _escaped(path), filesystem, options, "0", "0"]
    lines, written = [], False
    for line, found in _fstab():
        if not found or not _is_for(found, path):
            lines.append(line)
        elif not written:
            lines.append(" ".join(fields) + "\n")
            written = True
    _replace_fstab(lines if written else [*lines, " ".join(fields) + "\n"])


def forget_fstab(path: str, device: str) -> None:
    """Takes the entry of this mount point out if it is for this device."""
    lines = list(_fstab())
    kept = [line for line, found in lines if not (found and _is_for(found, path) and found[0] == device)]
    if len(kept) != len(lines):
        _replace_fstab(kept)


def _fstab() -> list[tuple[str, list[str]]]:
    """Every line, with its fields, none if it is blank or a comment."""
    try:
        with open(_FSTAB, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.readlines()
    except FileNotFoundError:
        lines = []
    return [(line if line.endswith("\n") else f"{line}\n", _fields(line)) for line in lines]


def _fields(line: str) -> list[str]:
    plain = line.strip()
    return [] if plain.startswith("#") else [_plain(field) for field in plain.split()]


def _is_for(fields: list[str], path: str) -> bool:
    return len(fields) > 1 and fields[1].rstrip("/") == path


def _replace_fstab(lines: list[str]) -> None:
    """Whole or not at all: a machine without an fstab may not come up."""
    unfinished = f"{_FSTAB}.eos-unfinished"
    mode = stat.S_IMODE(os.stat(_FSTAB).st_mode) if os.path.exists(_FSTAB) else 0o644
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, _FSTAB)
    descriptor = os.open(os.path.dirname(_FSTAB), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _used_by(pid: str, numbers: dict[int, str], paths: list[str]) -> set[str]:
    """The mount points of which a process has a file open, mapped or run, or which it is in.

    By device number, which holds for a container as well, or by path: subvolumes of Btrfs have numbers of their own.
    """
    found: set[str] = set()
    base = f"/proc/{pid}"
    links = [f"{base}/cwd", f"{base}/root", f"{base}/exe"]
    with contextlib.suppress(OSError):
        links += [f"{base}/fd/{number}" for number in os.listdir(f"{base}/fd")]
    for link in links:
        with contextlib.suppress(OSError):
            if path := numbers.get(os.stat(link).st_dev):
                found.add(path)
            target = os.readlink(link)
            found.update(path for path in paths if target == path or target.startswith(f"{path}/"))
    with contextlib.suppress(OSError), open(f"{base}/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            name = line.partition("/")[2]
            found.update(path for path in paths if name and f"/{name}".startswith(f"{path}/"))
    return found


def _name_of(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "a process"


def _device_of(source: str) -> int | None:
    try:
        status = os.stat(source)
    except (OSError, ValueError):
        return None
    return status.st_rdev if stat.S_ISBLK(status.st_mode) else None


def _plain(text: str) -> str:
    """Blanks and backslashes are written in octal."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _escaped(text: str) -> str:
    return re.sub(r"[ \t\n\\#]", lambda match: f"\\{ord(match[0]):03o}", text)
