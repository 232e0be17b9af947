"""While a component is applied for the first time, commands on others neither fail nor warn."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest
import witness
from estates import FULL, Estate
from safe import SAFE

COMMANDS = 100 if FULL else 12
# At once: more would only wait for the processor.
SIDE_BY_SIDE = 3
WARNINGS = ("warning", "did not answer", "could not be asked", "unreachable", "Traceback")
NAME, OTHER = "newborn", "bystander"


@pytest.fixture
def lab(estate):
    estate.write_recipe("safe", SAFE)
    estate.must("create", "hello", "--name", OTHER, "--yes")
    yield estate
    for name in (NAME, OTHER):
        if witness.pillar(estate, name):
            estate.must("delete", name, "--yes")


def asked(number: int) -> tuple[str, ...]:
    """One after the other; the numbered greeting makes each update a change."""
    every = (
        ("status",),
        ("update", OTHER, "--greeting", f"greeting {number}", "--yes"),
        ("drift", OTHER),
        ("plan",),
        ("list",),
        ("why", OTHER),
    )
    return every[number % len(every)]


def first_applies(estate: Estate):
    """Begins one first apply after the other; ends each well."""
    while True:
        process = estate.start("create", "safe", "--name", NAME, "--yes")
        yield process
        said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        estate.must("delete", NAME, "--yes")


def test_a_first_apply_keeps_nobody_from_work(lab):
    numbers, amiss, counted = itertools.count(), [], 0
    for process in first_applies(lab):
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            while process.poll() is None and counted < COMMANDS:
                words = [asked(next(numbers)) for _ in range(SIDE_BY_SIDE)]
                for ran in pool.map(lambda one: lab.eos(*one), words):
                    counted += 1
                    said = f"{ran.stdout}\n{ran.stderr}"
                    if ran.returncode or any(word in said for word in WARNINGS):
                        amiss.append(f"{' '.join(ran.args)}: exit {ran.returncode}\n{said}")
        if counted >= COMMANDS:
            process.communicate(timeout=300)
            break
    assert not amiss, "\n".join(amiss)
