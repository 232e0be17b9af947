"""Directories that are to go: why one must stay after all, and its removal."""

from __future__ import annotations

import os
import re
import stat
import subprocess

_MOUNTS = "/proc/self/mountinfo"
# Whoever has more to say about a tree says the same again.
_WORDS = 2000


def why_kept(path: str) -> str | None:
    """Why this path is nothing to remove whole, in words that follow it; None if it is."""
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory"
    real = os.path.realpath(path)
    if os.path.dirname(real) == "/":
        return f"is the top-level directory {real}"
    mounted = sorted(mount for mount in _mount_points() if within(mount, real))
    return f"has {mounted[0]} mounted on it or in it" if mounted else None


def within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def remove(path: str) -> str | None:
    """Removes the directory with all that is in it; answers what stood in the way, or None.

    `rm` follows no symbolic link, goes to any depth, and is told to stay on the one filesystem: a mount that came after
    `why_kept` is not emptied.
    """
    command = ["rm", "-rf", "--one-file-system", "--preserve-root=all", "--", path]
    ran = subprocess.run(  # noqa: S603
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if ran.returncode:
        return ran.stderr.strip()[:_WORDS] or f"rm ended with {ran.returncode}"
    return f"{path} is still there after rm" if os.path.lexists(path) else None


def _mount_points() -> list[str]:
    with open(_MOUNTS, "rb") as file:
        # The fifth field; blanks and backslashes in it are written in octal.
        escaped = [line.split(b" ")[4] for line in file]
    plain = (re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), point) for point in escaped)
    return [os.fsdecode(point) for point in plain]
