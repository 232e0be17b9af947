"""One run of the chaos: an operation, a fault at a random time, the way out, the verdict."""

from __future__ import annotations

import os
import random
import subprocess
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass

import witness
from estates import PROGRAM, Estate
from safe import SAFE

from .judge import Judge, operations, unfinished
from .subjects import PRODUCTION, RECIPE_OF, Operation, World, draw

# Seconds in which every command ends, whatever was struck.
BOUND = 420
# Commands that may be needed until an operation ends; each one that fails names the next.
TRIES = 3


@dataclass
class Ran:
    """One command and how it ended."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str
    took: float

    def __str__(self) -> str:
        return f"[{self.took:.0f} s, exit {self.code}] eos {' '.join(self.words)}\n{self.out[-3000:]}{self.err[-3000:]}"

    def untrue(self) -> list[str]:
        """Whatever no command may say or leave unsaid."""
        said, found = self.out + self.err, []
        found += [word for word in ("Traceback", "panicked", "RUST_BACKTRACE") if word in said]
        if self.code not in (0, -9) and not ("error:" in self.err and "hint:" in self.err):
            found.append("an error without its words or a hint")
        if self.code not in (0, 1, 2, 3, 4, -9):
            found.append("an unknown exit code")
        return [f"{one}: {self}" for one in found]


class Fault(ABC):
    """Something that goes wrong while a command runs."""

    @abstractmethod
    def strike(self, chance: random.Random, process: subprocess.Popen, operation: Operation) -> str:
        """Waits for its moment, strikes, and says what it did."""

    def mend(self) -> None:
        """Ends the fault, once the command has ended."""

    def untrue(self, ran: Ran) -> list[str]:
        """Whatever the command had to say about this fault and did not."""
        return []


class Play:
    """An estate that is struck again and again. What one run leaves is where the next one begins."""

    def __init__(self, estate: Estate):
        self.estate, self.judge, self.world = estate, Judge(estate), {}
        self.is_whole = True
        # Seconds that each verb took when nothing was struck.
        self.usual: dict[str, float] = {}
        estate.write_recipe("safe", SAFE)
        witness.git(estate, "add", "recipes")
        witness.git(estate, "commit", "--quiet", "--allow-empty", "-m", "Add a recipe")

    def run(self, chance: random.Random, fault: Fault) -> None:
        if not self.is_whole:
            self.start_over()
        self.is_whole = False
        story, faults = [], []
        operation = draw(chance, self.world)
        known = {one["id"] for one in operations(self.estate)}
        ran, blow = self.struck(operation, fault, chance)
        story += [blow, str(ran)]
        faults += ran.untrue() + fault.untrue(ran)
        fault.mend()
        begun = [one for one in operations(self.estate) if one["id"] not in known]
        ways = self.way_out(chance, operation, [one["id"] for one in begun], story)
        faults += [one for way in ways for one in way.untrue()]
        faults += self.settle(operation, ran, [one["id"] for one in begun])
        faults += self.judge.violations(self.world)
        assert not faults, "\n".join([*faults, "", "The story:", *story])
        self.is_whole = True

    def struck(self, operation: Operation, fault: Fault, chance: random.Random) -> tuple[Ran, str]:
        begun = time.monotonic()
        process = started(self.estate, operation.words)
        try:
            blow = fault.strike(chance, process, operation)
            out, err = process.communicate(timeout=BOUND)
        finally:
            # A command that does not end is a fault of its own, and must not outlive its run.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
        took = time.monotonic() - begun
        if process.returncode == 0:
            self.usual[operation.verb] = took
        return Ran(operation.words, process.returncode, out, err, took), blow

    def way_out(self, chance: random.Random, operation: Operation, ids: list[str], story: list[str]) -> list[Ran]:
        """Ends what the fault left: by `resume` or `rollback`, sometimes after something else was done."""
        ways = []
        if self.is_open(ids) and chance.random() < 0.3:
            ways += self.something_else(chance, operation)
        way = chance.choice(("resume", "rollback"))
        while self.is_open(ids) and len(ways) < TRIES:
            ways.append(self.ask(way, self.is_open(ids)[-1], "--yes"))
        story += map(str, ways)
        return ways

    def something_else(self, chance: random.Random, operation: Operation) -> list[Ran]:
        """Others are not kept from their work."""
        others = tuple(name for name in RECIPE_OF if name != operation.key[1])
        # An environment that is only just being made, or that goes, may have to wait for its end.
        if not any((PRODUCTION, name) in self.world for name in others):
            return []
        other = draw(chance, self.world, others)
        ran = self.ask(*other.words)
        if ran.code == 0:
            self.world = with_change(self.world, other)
        return [ran]

    def is_open(self, ids: list[str]) -> list[str]:
        return [one["id"] for one in unfinished(self.estate) if one["id"] in ids]

    def settle(self, operation: Operation, ran: Ran, ids: list[str]) -> list[str]:
        """The world as it must be now, by how the operation ended."""
        outcomes = [one["outcome"] for one in operations(self.estate) if one["id"] in ids]
        if ran.code == 0 and outcomes[:1] != ["done"]:
            return [f"the command ended well, and its operation is {outcomes}"]
        if outcomes[:1] == ["done"]:
            self.world = with_change(self.world, operation)
        elif outcomes[:1] not in ([], ["taken back"]):
            return [f"no way out was found: the operation is {outcomes}"]
        return []

    def ask(self, *words: str) -> Ran:
        begun = time.monotonic()
        process = started(self.estate, words)
        try:
            out, err = process.communicate(timeout=BOUND)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
        return Ran(words, process.returncode, out, err, time.monotonic() - begun)

    def start_over(self) -> None:
        """A run that failed may have left anything; the next one must not fail for that."""
        self.estate.must("lab", "up", timeout=300)
        for one in unfinished(self.estate):
            if self.estate.eos("resume", one["id"], "--yes").returncode:
                self.estate.eos("rollback", one["id"], "--dismiss", "the run before failed", "--yes")
        for file in (self.estate.root / "pillar/infrastructure").glob("*.sls"):
            for name in RECIPE_OF:
                self.estate.eos("delete", name, "-e", file.stem, "--yes")
        for left in (self.estate.lab / "volumes/opt").glob("k?"):
            subprocess.run(["rm", "-rf", left], check=True)
        self.world, self.judge = {}, Judge(self.estate)
        left = self.judge.violations({})
        assert not left, "the run before left this behind:\n" + "\n".join(left)


def with_change(world: World, operation: Operation) -> World:
    """Others may have changed meanwhile what the operation leaves alone."""
    there = lambda one: {key: subject for key, subject in one.items() if key == operation.key}  # noqa: E731
    return {key: subject for key, subject in world.items() if key != operation.key} | there(operation.after)


def chance_of(seed: int, number: int) -> random.Random:
    """The chance of one run. The seed of the test run and this number draw the same again."""
    return random.Random(f"{seed} {number}")


def started(estate: Estate, words: tuple[str, ...]) -> subprocess.Popen:
    """A command with a process group of its own, so that it dies whole."""
    return subprocess.Popen(
        [PROGRAM, "--estate", str(estate.root), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
