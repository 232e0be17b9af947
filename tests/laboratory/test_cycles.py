"""Create, update and delete again and again: no slower at the end, and no place grows by more than its record of it says."""

import json
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import witness
from estates import FULL, Estate
from safe import SAFE

pytestmark = pytest.mark.quiet

CYCLES = 100 if FULL else 4
OPERATIONS = 3
# The first ones, before everything that is bounded has reached its bound, are no measure of growth.
SETTLED = 12 if FULL else 1
NAME = "cycled"
# Bytes that an operation may add, as docs/operations.md has them, with room for long words.
GROWTH = {"store": 16 * 1024, "git": 24 * 1024}
# How many of a sort there may be after any number of operations.
BOUNDS = {"releases": 11, "plans": 0, "locks": 0, "workspaces": 0, "steps": 500}
SLOWER = 1.1


@dataclass
class Cycles:
    """Seconds of each cycle, and what lay on the disk after each."""

    seconds: list[float] = field(default_factory=list)
    sizes: list[dict[str, int]] = field(default_factory=list)


def size_below(directory: Path) -> int:
    total = 0
    for file in directory.rglob("*"):
        try:
            total += file.lstat().st_size if file.is_file() else 0
        except FileNotFoundError:
            # Git packs its objects whenever it likes.
            continue
    return total


def sizes(estate: Estate) -> dict[str, int]:
    root = estate.root
    return {
        "store": sum(file.stat().st_size for file in (root / ".eos").glob("store.db*")),
        "git": size_below(root / ".git"),
        "releases": len(estate.files("srv/releases/*")),
        "plans": len(estate.files("srv/plans/*")),
        "locks": len([file for file in (root / ".eos/locks").rglob("*.lock") if NAME in file.name]),
        "workspaces": len(list((estate.lab / "terraform").glob(f"*/production/{NAME}"))),
        "steps": max((len(list(place.iterdir())) for place in estate.files("**/eos/steps")), default=0),
    }


@pytest.fixture(scope="module")
def cycles(estate):
    estate.write_recipe("safe", SAFE)
    made = Cycles()
    for number in range(CYCLES):
        begun = time.monotonic()
        estate.must("create", "safe", "--name", NAME, "--yes")
        estate.must("update", NAME, "--greeting", f"greeting {number}", "--yes")
        estate.must("delete", NAME, "--yes")
        made.seconds.append(time.monotonic() - begun)
        made.sizes.append(sizes(estate))
    print(json.dumps({"seconds": made.seconds, "first": made.sizes[0], "last": made.sizes[-1]}))
    return made


def test_every_place_on_the_disk_is_bounded(estate, cycles):
    witness.nothing(estate, NAME)
    first, last = cycles.sizes[SETTLED - 1], cycles.sizes[-1]
    operations = (CYCLES - SETTLED) * OPERATIONS
    for place, bound in GROWTH.items():
        assert last[place] - first[place] <= operations * bound, (place, first, last)
    assert first["steps"] > 0, "the records of steps were not found"
    for place, bound in BOUNDS.items():
        assert max(size[place] for size in cycles.sizes) <= bound, (place, last)


@pytest.mark.measures
def test_the_last_cycles_take_no_longer_than_the_first(cycles):
    first, last = statistics.median(cycles.seconds[:10]), statistics.median(cycles.seconds[-10:])
    print(f"the first ten {first:.2f} s, the last ten {last:.2f} s: {last / first:.2f} x")
    assert last <= SLOWER * first, cycles.seconds
