"""Keeps how tests ended: results of one run, the record of full runs at one digest, and the report that is committed."""

import hashlib
import json
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from selection import area_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
COSTS = HERE / "costs.json"
RECORD = HERE / "record.json"
REPORT = ROOT / "docs/test-report.md"
KNOWN_SKIPS = tomllib.loads((HERE / "known_skips.toml").read_text())
# What tests depend on; what the runs themselves write is no part of it.
PRODUCT = ["Cargo.lock", "Cargo.toml", "benches", "catalog", "crates", "formula", "fuzz", "tests"]
WRITTEN = {"tests/costs.json", "tests/record.json"}


@dataclass
class Result:
    test: str
    outcome: str = "passed"
    seconds: float = 0.0
    why: str = ""

    @property
    def is_bad(self) -> bool:
        return self.outcome == "failed" or (self.outcome == "skipped" and not self.why.startswith(tuple(KNOWN_SKIPS)))


def read_results(lines: Iterable[str]) -> dict[str, Result]:
    """One result a test: the worst of its phases, the seconds of all of them. The last try counts; a cut line does not."""
    found: dict[str, Result] = {}
    ended = set()
    for text in lines:
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if line["phase"] == "setup":
            found.pop(line["test"], None)
            ended.discard(line["test"])
        result = found.setdefault(line["test"], Result(line["test"]))
        result.seconds += line["seconds"]
        if line["outcome"] == "failed" or (line["outcome"] == "skipped" and result.outcome == "passed"):
            result.outcome, result.why = line["outcome"], line["why"]
        if line["phase"] == "teardown":
            ended.add(line["test"])
    # A test without an end was cut off.
    return {test: result for test, result in found.items() if test in ended or result.outcome == "failed"}


def product_digest() -> str:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *PRODUCT]
    names = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    digest = hashlib.sha256()
    for name in sorted(name for name in names if name and name not in WRITTEN and (ROOT / name).is_file()):
        digest.update(f"{name}\0{hashlib.sha256((ROOT / name).read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def load_record(digest: str) -> dict[str, float]:
    """Tests that passed at this digest, with their seconds."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    return record["passed"] if record.get("digest") == digest else {}


def save_record(digest: str, passed: dict[str, float]) -> None:
    rounded = {test: round(seconds, 1) for test, seconds in sorted(passed.items())}
    RECORD.write_text(json.dumps({"digest": digest, "passed": rounded}, indent=0, ensure_ascii=False) + "\n")


def save_costs(results: Iterable[Result], kind: str) -> None:
    costs = json.loads(COSTS.read_text())
    for result in results:
        if result.outcome == "passed":
            costs.setdefault(result.test, {})[kind] = round(result.seconds, 1)
    COSTS.write_text(json.dumps(dict(sorted(costs.items())), indent=0, ensure_ascii=False) + "\n")


def by_area(results: Iterable[Result], left_out: Iterable[str]) -> list[str]:
    """A table: what ran of each area, and what was left out."""
    rows: dict[str, list[float]] = {}
    for result in results:
        row = rows.setdefault(area_of(result.test), [0, 0, 0, 0, 0.0])
        row[{"passed": 0, "failed": 1, "skipped": 2}[result.outcome]] += 1
        row[4] += result.seconds
    for test in left_out:
        rows.setdefault(area_of(test), [0, 0, 0, 0, 0.0])[3] += 1
    lines = [f"{'area':<12} {'passed':>6} {'failed':>6} {'skipped':>7} {'left out':>8} {'seconds':>8}"]
    for area, (passed, failed, skipped, out, seconds) in sorted(rows.items()):
        lines.append(f"{area:<12} {passed:>6} {failed:>6} {skipped:>7} {out:>8} {seconds:>8.0f}")
    return lines


def reported_commit() -> str | None:
    """The commit that the committed report is about."""
    words = REPORT.read_text().split() if REPORT.exists() else []
    return next((word.strip(".`") for word in words if len(word.strip(".`")) == 40), None)
