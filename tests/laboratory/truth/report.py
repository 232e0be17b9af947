"""The table of all scenarios, as it stands in the documentation."""

import hashlib
import json
import os
from functools import cached_property
from pathlib import Path

from .difference import COMPUTED, Verdict

INTRODUCTION = """\
# How true plans are

A plan says what every engine would do, in every layer. Whether that is so is tested: each scenario below takes raw dumps of
the estate and its engines (`tests/laboratory/truth/dump.py`, which shares no code with Eos), makes the plan, looks that the
plan changed nothing, carries it out, and compares what was foretold with what the dumps show. An item is one attribute
that became another, or an object that came or went: a job, its allocations, a service, a volume, a directory, a secret, an
entry in Consul, a resource in a Terraform state, a file of the pillar, the release.

- predicted: foretold, and it happened, with that value
- missed: foretold, and it did not happen
- unpredicted: it happened, and was not foretold
- not asked: it happened, and the plan had named the engine that did not answer

`make test-full` writes this page; `make test` plays a seeded sample.
"""


class Report:
    """Its rows are kept in the cache, for one program and seed: a run of an hour that was cut off need not begin again."""

    def __init__(self, seed: int):
        self.seed = seed

    @cached_property
    def place(self) -> Path:
        digest = hashlib.sha256(Path(os.environ["EOS_TEST_PROGRAM"]).read_bytes()).hexdigest()[:16]
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return cache / "eos/truth" / f"{digest}-{self.seed}"

    def add(self, name: str, verdict: Verdict):
        self.place.mkdir(parents=True, exist_ok=True)
        row = {"name": name, "numbers": [len(items) for items in verdict.all()]}
        file = self.place / hashlib.sha256(name.encode()).hexdigest()
        made = file.with_suffix(f".{os.getpid()}")
        made.write_text(json.dumps(row))
        made.replace(file)

    def rows(self) -> dict[str, list[int]]:
        rows = [json.loads(file.read_text()) for file in self.place.glob("*") if not file.suffix]
        return {row["name"]: row["numbers"] for row in rows}

    def write(self, file: Path, names: list[str]):
        """Only if all of these were played."""
        rows = self.rows()
        if set(names) - set(rows):
            return
        numbers = [rows[name] for name in names]
        sums = [sum(column) for column in zip(*numbers)]
        lines = [INTRODUCTION]
        lines.append(
            f"Last full run: {len(names)} scenarios, seed {self.seed}: {sums[0]} predicted, {sums[1]} missed, "
            f"{sums[2]} unpredicted.\n"
        )
        lines += ["| scenario | predicted | missed | unpredicted | not asked |", "|---|---:|---:|---:|---:|"]
        for name, row in zip(names, numbers):
            lines.append(f"| {name.replace('|', '/')} | {' | '.join(map(str, row))} |")
        lines += ["", "## What is not compared", "", "Nothing else is left out, and nothing else may be unknown.", ""]
        lines += ["| object | attribute | | why |", "|---|---|---|---|"]
        lines += [f"| `{object}` | `{name}` | {kind} | {why} |" for object, name, kind, why in COMPUTED]
        file.write_text("\n".join(lines) + "\n")
