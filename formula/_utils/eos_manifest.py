"""All that a tree of files is, entry by entry, so that a copy of it can be compared: made by a process of its own.

It is run as a program, with little claim to processor and disk: whoever uses the machine comes first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable

_CHUNK = 1 << 20
# What a filesystem makes at its root for itself, or btrfs-convert for the way back.
_NOT_DATA = ("ext2_saved",)
_LOST = "lost+found"
# By how much a sparse file may have become less so: filesystems allocate in different units.
_SLACK = 1 << 20


def of(run: Callable, path: str) -> dict[str, dict]:
    """Relative path -> what there is; `run` is `eos_command.run`."""
    program = [sys.executable, os.path.abspath(__file__), path]
    return json.loads(run(program, path, gently=True))


def differences(source: dict[str, dict], copy: dict[str, dict]) -> list[str]:
    """What is not the same, in words, an entry each; empty if the copy is one."""
    found = [f"{path} is missing" for path in sorted(source.keys() - copy.keys())]
    found += [f"{path} is an extra file" for path in sorted(copy.keys() - source.keys())]
    for path in sorted(source.keys() & copy.keys()):
        old, new = dict(source[path]), dict(copy[path])
        old_room, new_room = old.pop("allocated", 0), new.pop("allocated", 0)
        if other := sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key)):
            found.append(f"{path} differs in {', '.join(other)}")
        elif old_room < old.get("size", 0) and new_room > old_room * 1.1 + _SLACK:
            found.append(f"{path} takes {new_room} bytes, not {old_room}: it is sparse no longer")
    return found


def scan(root: str) -> dict[str, dict]:
    entries: dict[str, dict] = {}
    first_of: dict[tuple[int, int], str] = {}
    pending = [b""]
    base = os.fsencode(root)
    while pending:
        relative = pending.pop()
        path = os.path.join(base, relative) if relative else base
        status = os.lstat(path)
        name = os.fsdecode(relative) or "."
        entries[name] = _entry(path, status, name, first_of)
        if stat.S_ISDIR(status.st_mode):
            for inner in sorted(os.listdir(path)):
                if relative or not _is_no_data(path, inner):
                    pending.append(os.path.join(relative, inner))
    return _with_links(entries)


def _is_no_data(root: bytes, name: bytes) -> bool:
    plain = os.fsdecode(name)
    if plain in _NOT_DATA:
        return True
    path = os.path.join(root, name)
    return plain == _LOST and os.path.isdir(path) and not os.listdir(path)


def _entry(path: bytes, status: os.stat_result, name: str, first_of: dict) -> dict:
    mode = status.st_mode
    entry: dict = {
        "type": stat.S_IFMT(mode),
        "mode": stat.S_IMODE(mode),
        "user": status.st_uid,
        "group": status.st_gid,
        "attributes": _attributes(path),
    }
    # The root's own time changes with what a filesystem makes there for itself.
    if name != ".":
        entry["time"] = status.st_mtime_ns
    if stat.S_ISREG(mode):
        entry |= {"size": status.st_size, "allocated": status.st_blocks * 512}
    if stat.S_ISLNK(mode):
        entry["target"] = os.fsdecode(os.readlink(path))
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        entry["device"] = status.st_rdev
    if not stat.S_ISDIR(mode) and status.st_nlink > 1:
        entry["same as"] = first_of.setdefault((status.st_dev, status.st_ino), name)
        if stat.S_ISREG(mode) and entry["same as"] != name:
            return entry
    if stat.S_ISREG(mode):
        entry["sha256"] = _digest(path)
    return entry


def _with_links(entries: dict[str, dict]) -> dict[str, dict]:
    """Which of several names of a file is met first is chance: each is given the first of them by name."""
    groups: dict[str, list[str]] = {}
    for name, entry in entries.items():
        if "same as" in entry:
            groups.setdefault(entry["same as"], []).append(name)
    for met_first, names in groups.items():
        digest = entries[met_first].get("sha256")
        for name in names:
            entries[name]["same as"] = min(names)
            if digest is not None:
                entries[name]["sha256"] = digest
    return entries


def _attributes(path: bytes) -> dict[str, str]:
    """Extended attributes, among them access control lists and capabilities."""
    found = {}
    with contextlib.suppress(OSError):
        for name in os.listxattr(path, follow_symlinks=False):
            with contextlib.suppress(OSError):
                found[name] = os.getxattr(path, name, follow_symlinks=False).hex()
    return found


def _digest(path: bytes) -> str:
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


if __name__ == "__main__":
    json.dump(scan(sys.argv[1]), sys.stdout)
