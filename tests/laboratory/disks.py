"""A small disk in place of a directory, for as long as a test fills it. Needs root."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

FILLER = "filler"
# Of memory, in which the disk lies; and how many of them it has beside what is copied.
PAGE, SPARE = 4096, 64


def may_mount() -> bool:
    return os.geteuid() == 0


def mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True, timeout=30)


@contextmanager
def small_disk(directory: Path, beside: Path, size: str, without: str | None = None):
    """Puts a disk under a directory, with a copy of all that is in it; it goes at the end, with what was written.

    It has this size, or more if a directory that other tests have used needs it.
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
        room = max(int(size.removesuffix("m")) << 20, room_for(copy))
        mount("-t", "tmpfs", "-o", f"size={room},mode=0700", "small", directory)
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


def room_for(directory: Path) -> int:
    """Bytes of a disk that has room for these files and a few more."""
    pages = sum(path.lstat().st_size // PAGE + 1 for path in directory.rglob("*"))
    return (pages + SPARE) * PAGE


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
