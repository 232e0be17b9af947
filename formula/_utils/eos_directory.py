"""Directories of volumes: where one may lie, why one must stay after all, and its removal."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess

_MOUNTS = "/proc/self/mountinfo"
_PATH = re.compile(r"(/[^/\x00-\x1f]+)+")
# Nothing of a component lies in these, unless the host's settings name a directory in one.
_SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/root", "/run", "/sbin")
_SYSTEM += ("/sys", "/usr")
# Salt runs as root what lies in these.
_SYSTEM += ("/srv/eos", "/srv/formulas", "/srv/pillar", "/srv/salt", "/srv/spm")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Whoever has more to say about a tree says the same again.
_WORDS = 2000
# A tree of millions of files takes minutes.
_SECONDS = 3600


def why_no_place(path: object, allowed: list[str], given_to: int | None = None) -> str | None:
    """Why nothing is made at this path, in words that follow it; None if it lies below one of the allowed directories.

    From that one down, every directory above the path belongs to root alone: nobody else can put another in its place,
    and nothing is followed. So what is looked at here is what is worked on afterwards. What belongs to the user
    `given_to` is overlooked: `reclaim_above` takes it back.
    """
    if not isinstance(path, str) or not _PATH.fullmatch(path) or os.path.normpath(path) != path:
        return "is not a plain absolute path"
    top = _top(path, allowed)
    if top is None:
        return f"is not below {' or '.join(allowed)}"
    system = next((one for one in _SYSTEM if within(path, one) and not within(top, one)), None)
    if system:
        return f"is in the system directory {system}"
    return _why_movable(top, path, given_to) or _why_no_directory(path)


def make_above(path: str) -> None:
    """Makes what is missing above a path that `why_no_place` has nothing against: root's, whoever the path is for.

    Whoever the path is for comes through, whatever the umask of the minion is.
    """
    above = os.path.dirname(path)
    if os.path.isdir(above):
        return
    make_above(above)
    os.mkdir(above)
    os.chmod(above, 0o755)  # noqa: S103  others only pass through it


def reclaim_above(path: str, allowed: list[str], user: int, volumes: set[str]) -> None:
    """Gives root what is above a path and belongs to the user whom the path is for; volumes stay as they are.

    Salt's own states give it away with the path.
    """
    top = _top(path, allowed)
    for above in _above(top, path)[1:] if top else ():
        try:
            descriptor = os.open(above, _DIRECTORY)
        except OSError:
            return
        try:
            is_given_away = os.fstat(descriptor).st_uid == user != os.geteuid()
            if is_given_away and above not in volumes:
                os.fchown(descriptor, os.geteuid(), os.getegid())
                os.fchmod(descriptor, 0o755)
        finally:
            os.close(descriptor)


def opened(path: str, allowed: list[str]) -> int:
    """A descriptor of this directory, with no link followed below the allowed one."""
    top = _top(os.path.join(path, "any"), allowed) if os.path.normpath(path) == path else None
    if top is None:
        raise NotADirectoryError(errno.ENOTDIR, f"It is not below {' or '.join(allowed)}", path)
    descriptor = os.open(top, _DIRECTORY & ~os.O_NOFOLLOW)
    for name in os.path.relpath(path, top).split("/"):
        try:
            inner = os.open(name, _DIRECTORY, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _top(path: str, allowed: list[str]) -> str | None:
    """The innermost of the allowed directories that the path is below."""
    return max((one for one in allowed if path != one and within(path, one)), key=len, default=None)


def _above(top: str, path: str) -> list[str]:
    """The directories from the allowed one down to that of the path."""
    found = [top]
    for name in os.path.relpath(path, top).split("/")[:-1]:
        found.append(os.path.join(found[-1], name))
    return found


def _why_movable(top: str, path: str, given_to: int | None) -> str | None:
    for above in _above(top, path):
        try:
            status = os.stat(above) if above == top else os.lstat(above)
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(status.st_mode):
            return f"is not reached: {above} is not a directory"
        if status.st_uid not in (0, os.geteuid(), given_to):
            return f"is in {above}, which belongs to user {status.st_uid}"
        is_group_trusted = status.st_gid in (0, os.getegid())
        if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not is_group_trusted):
            return f"is in {above}, which other users can write to"
    return None


def _why_no_directory(path: str) -> str | None:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    return None if stat.S_ISDIR(mode) else "is not a directory"


def why_kept(path: str) -> str | None:
    """Why this path is nothing to remove whole, in words that follow it; None if it is."""
    if why := _why_no_directory(path):
        return why
    real = os.path.realpath(path)
    if os.path.dirname(real) == "/":
        return f"is the top-level directory {real}"
    mounted = sorted(mount for mount in _mount_points() if within(mount, real))
    return f"has {mounted[0]} mounted on it or in it" if mounted else None


def within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def remove(path: str) -> str | None:
    """Removes the directory of this real path with all that is in it; answers what stood in the way, or None.

    `rm` follows no symbolic link, goes to any depth, and is told to stay on the one filesystem: a mount that came after
    `why_kept` is not emptied. It works in the directory above, by descriptor: a link that came after is not followed.
    """
    command = ["rm", "-rf", "--one-file-system", "--preserve-root=all", "--", f"./{os.path.basename(path)}"]
    try:
        above = opened(os.path.dirname(path), ["/"])
    except OSError as error:
        return f"{error.strerror}: {path}"
    try:
        ran = subprocess.run(  # noqa: S603
            command,
            cwd=f"/proc/self/fd/{above}",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"rm did not end in {_SECONDS} s"
    finally:
        os.close(above)
    if ran.returncode:
        return ran.stderr.strip()[:_WORDS] or f"rm ended with {ran.returncode}"
    return f"{path} is still there after rm" if os.path.lexists(path) else None


def remove_empty(path: str) -> None:
    """Removes the directory of this real path if nothing is in it: the look and the removal in one."""
    above = opened(os.path.dirname(path), ["/"])
    try:
        os.rmdir(os.path.basename(path), dir_fd=above)
    finally:
        os.close(above)


def _mount_points() -> list[str]:
    with open(_MOUNTS, "rb") as file:
        # The fifth field; blanks and backslashes in it are written in octal.
        escaped = [line.split(b" ")[4] for line in file]
    plain = (re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), point) for point in escaped)
    return [os.fsdecode(point) for point in plain]
