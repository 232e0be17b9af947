"""Releases as trees of files, by descriptors: nothing follows a link, and a tree is whole under its name, or not there.

A tree that others can write to counts as damaged, whatever it holds.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import time

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe in its place must not make the reader wait.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_EXCHANGE = 2
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
# Of a minion's id. A dot in it is the end of a directory, so that a minion has one slice.
_LABEL = r"[A-Za-z0-9_-]{1,128}"
# What the compiler emits for minions, and nothing else. No module, no top file, no link of Salt's has such a name.
_PLACES = re.compile(
    r"pillar/top\.sls|pillar/credentials/vault\.sls|salt/orchestrate/waves\.json"
    rf"|pillar/hosts/({_LABEL}/)*{_LABEL}\.sls|salt/components/({_NAME}/)+{_NAME}"
    rf"|files/terraform/(modules|environments)/({_NAME}/)+{_NAME}"
)
_LONGEST_PATH = 1024
# Names of what is not whole yet begin so.
UNFINISHED = ".deliver-"

_renameat2 = ctypes.CDLL(None, use_errno=True).renameat2


def is_place(path: object) -> bool:
    """Whether a release may have a file here."""
    return isinstance(path, str) and len(path) <= _LONGEST_PATH and _PLACES.fullmatch(path) is not None


def digest(files: dict[str, bytes]) -> str:
    """The name of a release with these files, as the compiler computes it from the paths in an estate."""
    own = {path.removeprefix("files/"): content for path, content in files.items()}
    whole = hashlib.sha256()
    for path in sorted(own, key=str.encode):
        for part in (path.encode(), own[path]):
            whole.update(len(part).to_bytes(8, "big"))
            whole.update(part)
    return whole.hexdigest()


@contextlib.contextmanager
def opened(name: str, above: int | None = None):
    """A descriptor of a directory: of one that an administrator chose, or of a name in another one."""
    flags = _DIRECTORY if above is not None else _DIRECTORY & ~os.O_NOFOLLOW
    try:
        descriptor = os.open(name, flags, dir_fd=above)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise ValueError(f"{name} is a link, or no directory") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def made(name: str, above: int):
    """The same of a directory that is made if it is not there."""
    with contextlib.suppress(FileExistsError):
        _make(name, above)
        os.fsync(above)
    with opened(name, above) as directory:
        yield directory


def _make(name: str, above: int) -> None:
    os.mkdir(name, 0o755, dir_fd=above)
    with opened(name, above) as directory:
        # Whoever the master runs as reads it, whatever the umask of the minion is.
        os.fchmod(directory, 0o755)


def why_shared(directory: int) -> str | None:
    """Why others than root can put something else in the place of what this has, in words that follow its name."""
    status = os.fstat(directory)
    if status.st_uid not in (0, os.geteuid()):
        return f"belongs to user {status.st_uid}"
    return "lets other users write to it" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


def read(directory: int) -> dict[str, bytes]:
    """All files below, by their paths; a ValueError if there is anything else, or others can write to any of it."""
    files: dict[str, bytes] = {}
    _read(directory, "", files)
    return files


def _read(directory: int, above: str, files: dict[str, bytes]) -> None:
    if why := why_shared(directory):
        raise ValueError(f"{above or 'it'} {why}")
    for name in os.listdir(directory):
        path = f"{above}{name}"
        try:
            descriptor = os.open(name, _READ, dir_fd=directory)
        except OSError as error:
            raise ValueError(f"{path} is a link, or nothing to read") from error
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(mode):
                _read(descriptor, f"{path}/", files)
            elif stat.S_ISREG(mode) and not why_shared(descriptor):
                with open(descriptor, "rb", closefd=False) as file:
                    files[path] = file.read()
            else:
                raise ValueError(f"{path} is no plain file of root's")
        finally:
            os.close(descriptor)


def write(above: int, name: str, files: dict[str, bytes], lasting: bool) -> None:
    """Puts a directory of exactly these files under this name, whole, in place of what is there.

    What another one was goes; the name has one of both at every moment. With `lasting` it outlives a crash.
    """
    unfinished = f"{UNFINISHED}{secrets.token_hex(16)}"
    try:
        _make(unfinished, above)
        with opened(unfinished, above) as top:
            for path, content in files.items():
                _write_file(top, path.split("/"), content, lasting)
            if lasting:
                _sync(top)
        try:
            _rename(above, unfinished, name, _EXCHANGE)
        except FileNotFoundError:
            os.rename(unfinished, name, src_dir_fd=above, dst_dir_fd=above)
        os.fsync(above)
    finally:
        remove(above, unfinished)


def _write_file(directory: int, names: list[str], content: bytes, lasting: bool) -> None:
    if len(names) > 1:
        with contextlib.suppress(FileExistsError):
            _make(names[0], directory)
        with opened(names[0], directory) as inner:
            _write_file(inner, names[1:], content, lasting)
        return
    descriptor = os.open(names[0], _WRITE, 0o644, dir_fd=directory)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(descriptor, 0o644)
        if lasting:
            os.fsync(descriptor)


def _sync(directory: int) -> None:
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            with opened(entry.name, directory) as inner:
                _sync(inner)
    os.fsync(directory)


def _rename(above: int, source: str, target: str, flags: int) -> None:
    if _renameat2(above, source.encode(), above, target.encode(), flags):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)


def target(directory: int, link: str) -> str | None:
    """Where a link leads, None without one; a ValueError if it is none."""
    try:
        return os.readlink(link, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(f"{link} is no link") from error


def point(directory: int, link: str, to: str) -> None:
    """Makes a link lead elsewhere, in one go."""
    unfinished = f"{UNFINISHED}{secrets.token_hex(16)}"
    try:
        os.symlink(to, unfinished, dir_fd=directory)
        os.rename(unfinished, link, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)
    finally:
        remove(directory, unfinished)


def remove(above: int, name: str) -> None:
    """Removes the name with all below it, and follows no link; what is gone is gone."""
    try:
        mode = os.lstat(name, dir_fd=above).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        shutil.rmtree(name, dir_fd=above)
    else:
        os.unlink(name, dir_fd=above)


def remove_unfinished(above: int) -> None:
    """Removes what deliveries left that were killed."""
    for name in os.listdir(above):
        if name.startswith(UNFINISHED):
            remove(above, name)


def remove_oldest(above: int, most: int, keep: str) -> None:
    """Removes all but the newest releases, by the time of their directories; `keep` stays."""
    found = []
    for name in os.listdir(above):
        status = os.lstat(name, dir_fd=above)
        if stat.S_ISDIR(status.st_mode) and re.fullmatch(r"[0-9a-f]{64}", name):
            found.append((status.st_mtime_ns, name))
    for _, name in sorted(found, reverse=True)[most:]:
        if name != keep:
            remove(above, name)


def make_newest(above: int, name: str) -> None:
    """Makes this the newest directory beside the others, also if the clock was set back since."""
    times = [os.lstat(other, dir_fd=above).st_mtime_ns for other in os.listdir(above) if other != name]
    newest = max([time.time_ns(), *(then + 1_000_000 for then in times)])
    os.utime(name, ns=(newest, newest), dir_fd=above, follow_symlinks=False)
