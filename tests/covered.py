"""Measures which lines of eos-engine and of the formula a full run executes.

Rust: the programs are built with counters, which LLVM's tools of Debian read. Python: every Python process that the tests
start, Salt's included, loads coverage by a `sitecustomize` of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

COVERAGE = "coverage==7.17.2"
LLVM = "19"
# Per cent of lines.
BOUND = 80.0
SETTINGS = """\
[run]
data_file = {place}/python.coverage
parallel = true
sigterm = true
concurrency = multiprocessing, thread
disable_warnings = no-data-collected, module-not-measured
include =
    {root}/formula/_*/*.py
    */extmods/*/eos*.py
[paths]
modules =
    {root}/formula/_modules
    */extmods/modules
utils =
    {root}/formula/_utils
    */extmods/utils
states =
    {root}/formula/_states
    */extmods/states
runners =
    {root}/formula/_runners
    */extmods/runners
"""


class Covered:
    """One measured run: where its figures lie, and what its processes need for it."""

    def __init__(self, root: Path, place: Path, cache: Path):
        self.root, self.place = root, place
        self.site = cache / "test-tools" / COVERAGE.replace("==", "-")
        self.place.mkdir(parents=True, exist_ok=True)

    # What `environment` sets.
    names = ("RUSTC_WORKSPACE_WRAPPER", "CARGO_TARGET_DIR", "LLVM_PROFILE_FILE", "COVERAGE_PROCESS_START", "PYTHONPATH")

    def environment(self) -> dict[str, str]:
        self._install()
        settings = self.place / "settings"
        settings.write_text(SETTINGS.format(root=self.root, place=self.place))
        return {
            "RUSTC_WORKSPACE_WRAPPER": str(self.root / "tests/counted_rustc"),
            "CARGO_TARGET_DIR": str(self.root / "target/coverage"),
            # Processes that end at the same time share a few files: thousands of them would fill the disk.
            "LLVM_PROFILE_FILE": str(self.place / "rust-%8m.profraw"),
            "COVERAGE_PROCESS_START": str(settings),
            "PYTHONPATH": str(self.site),
        }

    def _install(self) -> None:
        if not (self.site / "complete").exists():
            shutil.rmtree(self.site, ignore_errors=True)
            install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*install, "--target", self.site, COVERAGE], check=True)
            (self.site / "sitecustomize.py").write_text("import coverage\n\ncoverage.process_startup()\n")
            (self.site / "complete").write_text("ok\n")
        if not shutil.which(f"llvm-cov-{LLVM}"):
            install = f"apt-get update -qq && apt-get install -y -qq --no-install-recommends llvm-{LLVM}"
            subprocess.run(["sh", "-c", install], check=True, stdout=subprocess.DEVNULL)

    def engine(self, programs: list[str]) -> float:
        """Per cent of the lines of eos-engine, over all programs that hold it."""
        merged = self.place / "rust.profdata"
        raw = [str(file) for file in self.place.glob("*.profraw")]
        subprocess.run([f"llvm-profdata-{LLVM}", "merge", "--sparse", "-o", merged, *raw], check=True)
        objects = [word for program in programs for word in ("--object", program)][1:]
        export = [f"llvm-cov-{LLVM}", "export", "--summary-only", f"--instr-profile={merged}", *objects]
        answer = subprocess.run(export, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        lines = [
            file["summary"]["lines"]
            for file in json.loads(answer.stdout)["data"][0]["files"]
            if "/crates/eos-engine/src/" in file["filename"]
        ]
        return per_cent(sum(one["covered"] for one in lines), sum(one["count"] for one in lines))

    def formula(self) -> float:
        """Per cent of the lines of the formula's modules, states and utilities."""
        environment = {**os.environ, "PYTHONPATH": str(self.site)}
        settings = f"--rcfile={self.place}/settings"
        coverage = [sys.executable, "-m", "coverage"]
        combine = [*coverage, "combine", settings, "--append", "--quiet"]
        subprocess.run(combine, check=True, env=environment, cwd=self.root)
        report = self.place / "python.json"
        subprocess.run(
            [*coverage, "json", settings, "--quiet", "-i", "-o", report], check=True, env=environment, cwd=self.root
        )
        totals = json.loads(report.read_text())["totals"]
        return per_cent(totals["covered_lines"], totals["num_statements"])


def per_cent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
