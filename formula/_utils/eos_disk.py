"""What the formula keeps on a minion's disk: JSON files written durably, and operating-system locks."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import json
import os
import shutil
import struct
import time
from collections.abc import Iterator
from typing import TextIO

from salt.exceptions import CommandExecutionError

# A lock of the kind that Terraform takes on a local state: type, whence, start, length, process.
_RECORD_LOCK = "hhqqi0q"
_SECONDS_BETWEEN_LOOKS = 0.05


def write_json(path: str, data: object) -> None:
    """Replaces the file whole or not at all, readable by its owner only, and returns when it is on the disk."""
    directory = os.path.dirname(path)
    _remove_abandoned(path)
    unfinished = f"{path}.{os.getpid()}.unfinished"
    with naming_a_full_disk(directory):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(data, file, indent=1, sort_keys=True)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(unfinished)
            raise
        sync_directory(directory)


def _remove_abandoned(path: str) -> None:
    """Removes what processes that were killed left of the same file."""
    for left in glob.glob(f"{glob.escape(path)}.*.unfinished"):
        process = left.removeprefix(f"{path}.").removesuffix(".unfinished")
        if not os.path.exists(f"/proc/{process}"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(left)


def keep_newest(directory: str, name: str, most: int, owner: str | None) -> None:
    """Makes this the newest name in a directory, and removes the oldest of more than so many of one owner's.

    A name is its first owner's, so that nobody pushes out what is another's. Their order is that of these calls, kept
    in a file beside them: no clock decides. A directory stays for as long as somebody holds a lock in it, and a file
    while somebody holds its lock, which goes with it.
    """
    order = os.path.join(directory, ".order")
    with locked(f"{order}.lock", 10):
        kept = read_json(order, "names") or {"names": []}
        known, owners = kept["names"], kept.get("owners", {})
        if known[-1:] == [name]:
            return
        there = {entry for entry in os.listdir(directory) if entry[0] != "." and not entry.endswith(".lock")}
        names = [*sorted(there.difference(known)), *(entry for entry in known if entry in there)]
        names = [entry for entry in names if entry != name]
        owner = owners.get(name, owner)
        # What is from before there were owners is anybody's.
        own = [entry for entry in names if owners.get(entry, owner) == owner]
        for oldest in [entry for entry in own if not _is_in_use(os.path.join(directory, entry))]:
            if len(own) < most:
                break
            remove(os.path.join(directory, oldest))
            own.remove(oldest)
            names.remove(oldest)
        owners = {entry: owners[entry] for entry in names if entry in owners} | {name: owner}
        write_json(order, {"names": [*names, name], "owners": owners})


def _is_in_use(path: str) -> bool:
    return any(map(is_locked, [f"{path}.lock", *glob.glob(os.path.join(glob.escape(path), "*.lock"))]))


def remove(path: str) -> None:
    """Removes a file or directory with the lock beside it."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{path}.lock")


@contextlib.contextmanager
def naming_a_full_disk(directory: str) -> Iterator[None]:
    """Says of a disk without room that it is full, and which one it is, instead of Python's words for it."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        words = f"the disk of {directory} is full"
        hint = f"Free some space on this minion (`df -h {directory}` shows how much is left), then run the step again"
        information = {"layer": "salt", "object": directory, "words": words, "hint": hint}
        raise CommandExecutionError(words, info=information) from error


def read_json(path: str, *fields: str) -> dict | None:
    """The object in the file, or None: the file is absent, empty or cut, or its object has not all of these fields.

    Other programs, crashes and full disks leave each of these. Whoever must tell them apart asks `contents`.
    """
    return contents(path, *fields)[0]


def contents(path: str, *fields: str) -> tuple[dict | None, str | None]:
    """The object in the file, and why a file that is there has none, in words that follow its name."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except (OSError, UnicodeDecodeError) as error:
        return None, f"cannot be read: {error}"
    if not text.strip("\0 \n"):
        return None, "is empty"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None, "is cut, or no JSON"
    if not isinstance(found, dict) or any(field not in found for field in fields):
        return None, "is of another version: it lacks " + ", ".join(fields)
    return found, None


def sync_directory(path: str) -> None:
    """Makes a rename in this directory outlive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(path: str, seconds: float = 7200) -> Iterator[bool]:
    """Holds the lock of this name, which ends with its process; answers whether another holder was waited for.

    Whoever has not got it after so many seconds is told who holds it. Eos waits less than two hours for any step.
    """
    with _opened(path) as file:
        waited, ends = False, time.monotonic() + seconds
        while not _took(file):
            waited = True
            if time.monotonic() >= ends:
                raise _still_held(path, file, seconds)
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        with naming_a_full_disk(os.path.dirname(path)):
            # Not through the file's buffer, which closing the file would try to write once more.
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), f"{os.getpid()}\n".encode())
        yield waited


def _opened(path: str) -> TextIO:
    directory = os.path.dirname(path)
    with naming_a_full_disk(directory):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        return open(path, "a+", encoding="utf-8")


def _took(file: object) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _still_held(path: str, file: object, seconds: float) -> CommandExecutionError:
    file.seek(0)
    holder = file.read().strip() or "unknown"
    words = f"Process {holder} still holds {path} after {seconds:g} s"
    hint = f"Wait for that process, or end it on this minion: kill {holder}"
    return CommandExecutionError(words, info={"layer": "salt", "object": path, "words": words, "hint": hint})


def is_locked(path: str) -> bool:
    """Whether somebody holds the lock of this name."""
    try:
        with open(path, encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (FileNotFoundError, IsADirectoryError):
        pass
    return False


def is_record_locked(path: str) -> bool:
    """Whether a process holds a record lock on this file, as Terraform does while it works; asks without taking it."""
    try:
        with open(path, "rb") as file:
            asked = struct.pack(_RECORD_LOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            return struct.unpack(_RECORD_LOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK
    except FileNotFoundError:
        return False
