"""The table of all scenarios, as it stands in the documentation."""

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
    def __init__(self, seed: int):
        self.seed = seed
        self.rows: list[tuple[str, Verdict]] = []

    def add(self, name: str, verdict: Verdict):
        self.rows.append((name, verdict))

    def covers(self, names: list[str]) -> bool:
        return set(names) == {name for name, _ in self.rows}

    def write(self, file: Path):
        numbers = [[len(items) for items in verdict.all()] for _, verdict in self.rows]
        sums = [sum(column) for column in zip(*numbers)]
        lines = [INTRODUCTION]
        lines.append(
            f"Last full run: {len(self.rows)} scenarios, seed {self.seed}: {sums[0]} predicted, {sums[1]} missed, "
            f"{sums[2]} unpredicted.\n"
        )
        lines += ["| scenario | predicted | missed | unpredicted | not asked |", "|---|---:|---:|---:|---:|"]
        for (name, _), row in zip(self.rows, numbers):
            lines.append(f"| {name.replace('|', '/')} | {' | '.join(map(str, row))} |")
        lines += ["", "## What is not compared", "", "Nothing else is left out, and nothing else may be unknown.", ""]
        lines += ["| object | attribute | | why |", "|---|---|---|---|"]
        lines += [f"| `{object}` | `{name}` | {kind} | {why} |" for object, name, kind, why in COMPUTED]
        file.write_text("\n".join(lines) + "\n")
