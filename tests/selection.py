"""Chooses the tests of a run by what they cost: all that are cheap, and of the others a seeded sample that fills a budget."""

import random
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

AREAS = tomllib.loads((Path(__file__).parent / "areas.toml").read_text())
# Seconds below which a test runs always.
CHEAP = 2.0
# A test that has the machine for itself keeps the other workers waiting.
ALONE = 2.5
# Seconds that a test is thought to take before a run has measured it, by the beginning of its name.
UNMEASURED = {
    "laboratory/test_storage": 70.0,
    "laboratory/test_difference": 0.1,
    "laboratory/": 25.0,
    "crates/test_crates.py::test_crate[eos-lab/real": 60.0,
    "": 1.0,
}


@dataclass(frozen=True)
class Unit:
    """Tests that run together or not at all: one test, or a file whose tests build on one another."""

    tests: tuple[str, ...]
    cost: float
    area: str
    # Runs in every run, whatever it costs.
    always: bool = False

    @property
    def is_cheap(self) -> bool:
        return self.always or self.cost < CHEAP


def area_of(test: str) -> str:
    for name, area in AREAS.items():
        if any(test.startswith(place) for place in area["tests"]):
            return name
    raise ValueError(f"{test} is in no area of areas.toml")


def cost_of(test: str, costs: dict[str, dict[str, float]]) -> float:
    """Seconds, as measured in a run like this one, or else in a full one."""
    measured = costs.get(test)
    if measured:
        return measured.get("sampled", measured.get("full", 0.0))
    return next(seconds for beginning, seconds in UNMEASURED.items() if test.startswith(beginning))


def units_of(
    tests: Iterable[tuple[str, str | None]], costs: dict[str, dict[str, float]], always: set[str], quiet: set[str]
) -> list[Unit]:
    """Each test comes with the name of its chain, if it has one."""
    chains: dict[str, list[str]] = {}
    for test, chain in tests:
        chains.setdefault(chain or test, []).append(test)

    def unit(names: list[str]) -> Unit:
        seconds = sum(cost_of(name, costs) for name in names)
        cost = seconds * ALONE if names[0] in quiet else seconds
        return Unit(tuple(names), cost, area_of(names[0]), names[0] in always)

    return [unit(names) for names in chains.values()]


def choose(units: list[Unit], budget: float, seed: int, changed: set[str]) -> list[Unit]:
    """Cheap ones always; then one of each area; then a seeded sample up to the budget, areas that changed first."""
    chosen = [unit for unit in units if unit.is_cheap]
    dear = [unit for unit in units if not unit.is_cheap]
    chance = random.Random(seed)
    chance.shuffle(dear)
    firsts = []
    for area in dict.fromkeys(unit.area for unit in dear):
        there = sorted((unit for unit in dear if unit.area == area), key=lambda unit: unit.cost)
        # Of the cheaper half, so that no area uses up the budget of the others.
        firsts.append(chance.choice(there[: (len(there) + 1) // 2]))
    rest = [unit for unit in dear if unit not in firsts]
    spent = sum(unit.cost for unit in firsts)
    for unit in sorted(rest, key=lambda unit: unit.area not in changed):
        if spent + unit.cost <= budget:
            firsts.append(unit)
            spent += unit.cost
    return chosen + firsts
