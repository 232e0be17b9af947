"""The blows: each waits for its moment while a command runs, strikes, and says what it did."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from contextlib import suppress

from estates import Estate, family

from .play import Fault
from .subjects import Operation

# Seconds that a command is thought to take before one was seen to end.
UNKNOWN = 8.0


def until(process: subprocess.Popen, seconds: float) -> bool:
    """Waits so long; answers whether the command still runs."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.poll() is None


class Kill(Fault):
    """SIGKILL for the command's whole process group."""

    def __init__(self, usual: dict[str, float]):
        self.usual = usual

    def strike(self, chance: random.Random, process: subprocess.Popen, operation: Operation) -> str:
        after = chance.uniform(0, 1.1 * self.usual.get(operation.verb, UNKNOWN))
        if not until(process, after):
            return f"{operation} ended within {after:.2f} s"
        os.killpg(process.pid, signal.SIGKILL)
        return f"{operation} was killed after {after:.2f} s"


class Engine(Fault):
    """One engine is killed, or stands still for a while."""

    def __init__(self, estate: Estate, engines: tuple[str, ...], longest: float, usual: dict[str, float]):
        self.estate, self.engines, self.longest, self.usual = (estate, engines, longest, usual)

    def strike(self, chance: random.Random, process: subprocess.Popen, operation: Operation) -> str:
        engine, is_killed = chance.choice(self.engines), chance.random() < 0.5
        after = chance.uniform(0, self.usual.get(operation.verb, UNKNOWN))
        pause = chance.uniform(1, self.longest)
        until(process, after)
        found = family(self.estate.pid(engine))
        blow(found, signal.SIGKILL if is_killed else signal.SIGSTOP)
        if is_killed:
            return f"{operation}: {engine} was killed after {after:.2f} s"
        try:
            until(process, pause)
        finally:
            blow(found, signal.SIGCONT)
        return f"{operation}: {engine} stood still after {after:.2f} s for at most {pause:.0f} s"

    def mend(self) -> None:
        self.estate.must("lab", "up", timeout=300)


class Window(Fault):
    """Terraform, or the minion, is killed while Terraform applies."""

    def __init__(self, estate: Estate, whom: str):
        self.estate, self.whom = estate, whom

    def strike(self, chance: random.Random, process: subprocess.Popen, operation: Operation) -> str:
        after = chance.uniform(0, 6)
        while process.poll() is None and not self.terraforms():
            time.sleep(0.02)
        until(process, after)
        if self.whom == "terraform":
            found = self.terraforms()
        else:
            found = family(self.estate.pid("salt-minion"))
        blow(found, signal.SIGKILL)
        return f"{operation}: {self.whom} was killed {after:.2f} s after Terraform began, {len(found)} processes"

    def mend(self) -> None:
        self.estate.must("lab", "up", timeout=300)

    def terraforms(self) -> list[int]:
        lines = self.estate.processes()
        return [int(line.split()[0]) for line in lines if re.match(r"\d+ \S*(terraform|tofu) .*(apply|destroy)", line)]


def blow(pids: list[int], kind: signal.Signals) -> None:
    for pid in pids:
        # It may have ended by itself.
        with suppress(ProcessLookupError):
            os.kill(pid, kind)
