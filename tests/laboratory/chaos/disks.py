"""An estate whose parts lie on small disks of their own, each of which a test can fill."""

from __future__ import annotations

import random
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

from disks import empty, fill, mount
from estates import LAB_OPTIONS, PROGRAM, Estate

from .faults import UNKNOWN, until
from .play import Fault, Play, Ran
from .subjects import Operation

# By name: the directory, below the estate.
PARTS = {
    "estate": ".",
    "releases": ".eos/lab/srv",
    "workspaces": ".eos/lab/terraform/workspaces",
    "minion": ".eos/lab/salt/minion/cache",
}
SIZE = 128 << 20


@contextmanager
def estate_on_small_disks(place: Path):
    """A laboratory of its own; at the end it is gone with its disks."""
    estate, mounted = Estate(place / "estate"), []

    def put(path: Path, *words: str | Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        mount(*words, path)
        mounted.append(path)

    try:
        put(estate.root, "-t", "tmpfs", "-o", f"size={SIZE},mode=0755", "tmpfs")
        subprocess.run([PROGRAM, "init", estate.root], check=True, capture_output=True, timeout=60)
        # The engines themselves have room: this is about Eos.
        (place / "lab").mkdir()
        put(estate.lab, "--bind", place / "lab")
        for part in list(PARTS.values())[1:]:
            put(estate.root / part, "-t", "tmpfs", "-o", f"size={SIZE},mode=0755", "tmpfs")
        estate.trust_recipes()
        estate.must("lab", "up", *LAB_OPTIONS, timeout=900)
        yield estate
    finally:
        for part in PARTS.values():
            empty(estate.root / part)
        down = estate.eos("lab", "down", timeout=180)
        left = [] if down.returncode == 0 else [down.stderr]
        left += estate.processes()
        for path in reversed(mounted):
            subprocess.run(["umount", "--lazy", path], check=True)
    assert not left, "\n".join(left)


class Full(Fault):
    """One disk is full from some moment on, but for a few bytes; looking must still work."""

    def __init__(self, play: Play):
        self.play, self.estate = play, play.estate
        self.looked: list[Ran] = []

    def strike(self, chance: random.Random, process: subprocess.Popen, operation: Operation) -> str:
        part, room = chance.choice(list(PARTS)), chance.choice((0, 4 << 10, 64 << 10, 512 << 10))
        after = chance.uniform(0, self.play.usual.get(operation.verb, UNKNOWN))
        until(process, after)
        fill(self.estate.root / PARTS[part], room)
        self.looked = [self.play.ask(*words) for words in (("status",), ("history",), ("list",))]
        return f"{operation}: the disk of the {part} had {room} bytes left after {after:.2f} s"

    def mend(self) -> None:
        for part in PARTS.values():
            empty(self.estate.root / part)
        self.estate.must("lab", "up", timeout=300)

    def untrue(self, ran: Ran) -> list[str]:
        found = [f"nobody can look: {look}" for look in self.looked if look.code]
        # A command that fails for want of room says so, and asks for it where a minion can say nothing at all.
        words = " ".join((ran.out + ran.err).split())
        if ran.code and not re.search(r"(is|was) full|[Nn]o space left|room on its disk", words):
            found.append(f"no word of the full disk: {ran}")
        return found
