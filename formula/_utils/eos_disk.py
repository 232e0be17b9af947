"""What the formula keeps on a minion's disk: JSON files written durably, and operating-system locks."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator


def write_json(path: str, data: object) -> None:
    """Replaces the file whole or not at all, readable by its owner only, and returns when it is on the disk."""
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    unfinished = f"{path}.{os.getpid()}.unfinished"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)
    sync_directory(directory)


def read_json(path: str) -> dict | None:
    """The file's content, or None if there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def sync_directory(path: str) -> None:
    """Makes a rename in this directory outlive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(path: str) -> Iterator[bool]:
    """Holds the lock of this name, which ends with its process; answers whether another holder was waited for."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        waited = False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited = True
            fcntl.flock(file, fcntl.LOCK_EX)
        yield waited


def is_locked(path: str) -> bool:
    """Whether somebody holds the lock of this name."""
    try:
        with open(path, encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False
