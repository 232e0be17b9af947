"""Files of hosts, by descriptors: nothing follows a link, and a file is whole with its owner and mode, or not there.

A ValueError says in words that follow the path why Eos neither reads nor replaces what is there.
"""

from __future__ import annotations

import contextlib
import grp
import hashlib
import os
import pwd
import secrets
import stat

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe in its place must not make the reader wait, nor a terminal become the reader's own.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# What Eos writes is never longer.
_LONGEST = 1 << 20


@contextlib.contextmanager
def directory_of(path: str, top: str):
    """A descriptor of the directory that the path is in, below `top`, which the host's administrator chose.

    From there down every directory is root's or this process's own, and no other user can write to it: nobody puts
    another one in its place.
    """
    descriptor = os.open(top, _DIRECTORY & ~os.O_NOFOLLOW)
    try:
        above = top
        _refuse_movable(above, os.fstat(descriptor))
        inside = os.path.relpath(os.path.dirname(path), top)
        for name in inside.split("/") if inside != "." else ():
            above = os.path.join(above, name)
            try:
                inner = os.open(name, _DIRECTORY, dir_fd=descriptor)
            except FileNotFoundError as error:
                raise ValueError(f"has no directory: {above} is not there") from error
            except OSError as error:
                raise ValueError(f"is not reached: {above} is a link, or no directory") from error
            os.close(descriptor)
            descriptor = inner
            _refuse_movable(above, os.fstat(descriptor))
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse_movable(directory: str, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise ValueError(f"is in {directory}, which belongs to user {status.st_uid}")
    is_group_trusted = status.st_gid in (0, os.getegid())
    if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not is_group_trusted):
        raise ValueError(f"is in {directory}, which other users can write to")


def look(directory: int, name: str) -> dict | None:
    """The plain file of this name, or None: content by digest, owner, mode, and `mark`, which changes with it."""
    try:
        descriptor = os.open(name, _READ, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError("is a link, or nothing to read") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is no plain file")
        with open(descriptor, "rb", closefd=False) as file:
            text = file.read(_LONGEST + 1)
    finally:
        os.close(descriptor)
    return {
        "content": hashlib.sha256(text).hexdigest() if len(text) <= _LONGEST else "longer than 1 MiB",
        "user": status.st_uid,
        "group": status.st_gid,
        "mode": f"{stat.S_IMODE(status.st_mode):04o}",
        "mark": _mark(status),
    }


def _mark(status: os.stat_result) -> list[int]:
    return [status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]


def spare_name() -> str:
    """A name that nobody can guess, for a file that is not whole yet."""
    return f".eos-{secrets.token_hex(16)}"


def write(directory: int, name: str, spare: str, text: bytes, owner: tuple[int, int], mode: int, seen: dict | None):
    """Puts a whole file in place of the one that was `seen`, or of none; refused if another is there by now."""
    descriptor = os.open(spare, _WRITE, 0o600, dir_fd=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            status = os.fstat(descriptor)
            if (status.st_uid, status.st_gid) != owner:
                os.fchown(descriptor, *owner)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        if seen is None:
            # Unlike a rename, this fails if somebody made one meanwhile.
            os.link(spare, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
            os.unlink(spare, dir_fd=directory)
        else:
            if _mark(os.stat(name, dir_fd=directory, follow_symlinks=False)) != seen["mark"]:
                raise ValueError("changed while Eos looked at it")
            os.replace(spare, name, src_dir_fd=directory, dst_dir_fd=directory)
    except FileExistsError as error:
        raise ValueError("appeared while Eos looked at it") from error
    except FileNotFoundError as error:
        raise ValueError("disappeared while Eos looked at it") from error
    finally:
        remove(directory, spare)
        os.fsync(directory)


def remove(directory: int, name: str) -> None:
    """Removes the name, whatever it names; what is gone is gone."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
        os.fsync(directory)


def user_id(name: str) -> int:
    """The number of a user by name or number."""
    if name.isascii() and name.isdigit():
        return int(name)
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError as error:
        raise ValueError(f"is for user {name}, whom this host does not have") from error


def group_id(name: str) -> int:
    """The number of a group by name or number."""
    if name.isascii() and name.isdigit():
        return int(name)
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError as error:
        raise ValueError(f"is for group {name}, which this host does not have") from error


def names(user: int, group: int) -> str:
    """Both by name where they have one."""
    shown = [str(user), str(group)]
    with contextlib.suppress(KeyError):
        shown[0] = pwd.getpwuid(user).pw_name
    with contextlib.suppress(KeyError):
        shown[1] = grp.getgrgid(group).gr_name
    return ":".join(shown)
