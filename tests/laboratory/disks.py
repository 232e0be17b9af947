"""A small disk in place of a directory, for as long as a test fills it. Needs root."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

FILLER = "filler"


def may_mount() -> bool:
    return os.geteuid() == 0


def mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True, timeout=30)


@contextmanager
def small_disk(directory: Path, beside: Path, size: str, without: str | None = None):
    """Puts a disk of this size under a directory, with a copy of all that is in it; it goes at the end, with what was written.

    The subdirectory `without` stays on its own disk. `beside` is an empty directory on another one.
    """
    kept = beside / "kept"
    kept.mkdir()
    mounted = []
    try:
        if without:
            mount("--bind", directory / without, kept)
            mounted.append(kept)
        copy = beside / "copy"
        left_out = shutil.ignore_patterns(without) if without else None
        shutil.copytree(directory, copy, symlinks=True, ignore=left_out)
        mount("-t", "tmpfs", "-o", f"size={size},mode=0700", "small", directory)
        mounted.append(directory)
        shutil.copytree(copy, directory, symlinks=True, dirs_exist_ok=True)
        if without:
            (directory / without).mkdir()
            mount("--bind", kept, directory / without)
            mounted.append(directory / without)
        yield directory
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", "--lazy", place], check=True, timeout=30)


def fill(directory: Path, room: int = 0) -> None:
    """Leaves no more room than these bytes on the disk of a directory."""
    with (directory / FILLER).open("ab", buffering=0) as file:
        for block in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"x" * block):
                    pass
            except OSError as error:
                assert error.errno == 28, error
        file.truncate(max(0, file.tell() - room))


def empty(directory: Path) -> None:
    (directory / FILLER).unlink(missing_ok=True)
