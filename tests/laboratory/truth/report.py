"""The table of all scenarios in the documentation."""

import hashlib
import json
import os
from functools import cached_property
from pathlib import Path

from .difference import COMPUTED, Verdict

INTRODUCTION = """\
# How true plans are

A plan predicts the act of every engine, in every layer. Each scenario below tests the prediction. It takes raw dumps of
the estate and its engines (`tests/laboratory/truth/dump.py`, which shares no code with Eos). It makes the plan, checks that the
plan changed nothing, applies it, and compares the prediction with the dumps.

An item is one changed attribute, or an object that came or went. The objects of the engines are jobs, allocations, services,
volumes, directories, secrets, entries in Consul and resources in a Terraform state. The objects of the estate are files of the
pillar and the release.

- predicted: the plan named it, and it happened, with that value
- missed: the plan named it, and it did not happen
- unpredicted: it happened, and the plan did not name it
- not asked: it happened, and the plan had named the engine that did not answer

`make test-full` writes this page; `make test` plays a seeded sample.
"""


class Report:
    """Every play of a scenario is kept in the cache, for one program and seed, so that a run of an hour that was cut off need
    not begin again. What failed is not forgotten when it is played once more: the page has the worst verdict, and how
    often a scenario was played."""

    def __init__(self, seed: int):
        self.seed = seed

    @cached_property
    def place(self) -> Path:
        digest = hashlib.sha256(Path(os.environ["EOS_TEST_PROGRAM"]).read_bytes()).hexdigest()[:16]
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return cache / "eos/truth" / f"{digest}-{self.seed}"

    def begin(self, name: str):
        self._note(name, None)

    def end(self, name: str, verdict: Verdict):
        self._note(name, [len(items) for items in verdict.all()])

    def _note(self, name: str, numbers: list[int] | None):
        self.place.mkdir(parents=True, exist_ok=True)
        with (self.place / hashlib.sha256(name.encode()).hexdigest()).open("a") as file:
            file.write(json.dumps({"name": name, "numbers": numbers}) + "\n")

    def rows(self) -> dict[str, tuple[int, list[list[int]]]]:
        """Scenario -> how often it was begun, and the verdicts that it came to."""
        rows = {}
        for file in self.place.glob("*"):
            notes = [json.loads(line) for line in file.read_text().splitlines()]
            verdicts = [note["numbers"] for note in notes if note["numbers"] is not None]
            rows[notes[0]["name"]] = (len(notes) - len(verdicts), verdicts)
        return rows

    def write(self, file: Path, names: list[str]):
        """Only if all of these came to a verdict."""
        rows = self.rows()
        if not all(rows.get(name, (0, []))[1] for name in names):
            return
        plays = [rows[name][0] for name in names]
        numbers = [max(rows[name][1], key=lambda verdict: verdict[1] + verdict[2]) for name in names]
        sums = [sum(column) for column in zip(*numbers)]
        lines = [INTRODUCTION]
        lines.append(
            f"{len(names)} scenarios, seed {self.seed}: {sums[0]} predicted, {sums[1]} missed, {sums[2]} unpredicted. "
            f"{sum(1 for count in plays if count > 1)} of them were played more than once; the worst verdict counts.\n"
        )
        lines += [
            "| scenario | played | predicted | missed | unpredicted | not asked |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        for name, count, row in zip(names, plays, numbers):
            lines.append(f"| {name.replace('|', '/')} | {count} | {' | '.join(map(str, row))} |")
        lines += ["", "## Exceptions", "", "The test leaves out nothing else, and nothing else may be unknown.", ""]
        lines += ["| object | attribute | | why |", "|---|---|---|---|"]
        lines += [f"| `{object}` | `{name}` | {kind} | {why} |" for object, name, kind, why in COMPUTED]
        file.write_text("\n".join(lines) + "\n")
