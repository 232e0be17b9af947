"""Six operators work on the same components at once, and some of their commands are killed: nothing is lost or half-made."""

import os
import random
import signal
import subprocess
import threading
import time

import pytest
from chaos.judge import Judge, unfinished, wanted
from chaos.play import BOUND, Play, Ran, chance_of, started
from chaos.subjects import PRODUCTION, RECIPE_OF, Subject
from estates import FULL, SEED

OPERATORS = 6
SECONDS = 600 if FULL else 40
KILLED = 0.15
NAMES = tuple(RECIPE_OF)


@pytest.fixture(scope="module")
def play(estate):
    return Play(estate)


class Operator(threading.Thread):
    """Asks for one thing after the other, without a look at what the others do."""

    def __init__(self, play: Play, chance: random.Random, ends: float):
        super().__init__()
        self.play, self.chance, self.ends = play, chance, ends
        self.ran: list[Ran] = []

    def run(self) -> None:
        while time.monotonic() < self.ends:
            self.ran.append(self.once(words(self.chance)))

    def once(self, words: tuple[str, ...]) -> Ran:
        begun = time.monotonic()
        process = started(self.play.estate, words)
        patience = self.chance.uniform(0, 15) if self.chance.random() < KILLED else BOUND
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            if patience == BOUND:
                err += f"error: it did not end in {BOUND} s"
        return Ran(words, process.returncode, out, err, time.monotonic() - begun)


def words(chance: random.Random) -> tuple[str, ...]:
    name = chance.choice(NAMES)
    greeting = ("--greeting", f"greeting {chance.randrange(10**6)}")
    asked = [
        ("create", RECIPE_OF[name], "--name", name, *greeting, "--yes"),
        ("update", name, *greeting, "--yes"),
        ("update", name, *greeting, "--yes"),
        ("rotate", "secret", name, "password", "--yes"),
        ("delete", name, "--yes"),
        ("status",),
        ("plan",),
        ("resume", "--yes"),
    ]
    return chance.choice(asked)


def end_all(play: Play) -> list[Ran]:
    """Every operation that a kill left ends by the command that Eos names for it."""
    ways = []
    for way in (("resume",), ("rollback",), ("rollback", "--dismiss", "others built upon it")):
        for one in reversed(unfinished(play.estate)):
            ways.append(play.ask(way[0], one["id"], *way[1:], "--yes"))
    return ways


@pytest.mark.parametrize("number", range(2 if FULL else 1))
def test_six_operators_are_killed_now_and_then(play, number):
    if not play.is_whole:
        play.start_over()
    play.is_whole = False
    ends = time.monotonic() + SECONDS
    operators = [Operator(play, chance_of(SEED, 100 * number + one), ends) for one in range(OPERATORS)]
    for operator in operators:
        operator.start()
    for operator in operators:
        operator.join()
    ways = end_all(play)
    ran = [one for operator in operators for one in operator.ran]
    faults = [fault for one in [*ran, *ways] for fault in one.untrue()]
    faults += [str(one) for one in ran if "it did not end in" in one.err]
    world = {key: Subject(greeting) for key, greeting in wanted(play.estate).items()}
    faults += Judge(play.estate).violations(world)
    assert not faults, "\n".join(faults)
    well = sum(one.code == 0 for one in ran)
    print(f"{len(ran)} commands, {well} ended well, {sum(one.code == -9 for one in ran)} were killed")
    assert well > len(ran) // 4, "\n".join(map(str, ran))
    assert {environment for environment, _ in world} <= {PRODUCTION}
    play.start_over()
    play.is_whole = True
