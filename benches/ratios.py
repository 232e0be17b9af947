"""Measures the compiler in made-up estates, prints each figure beside its bound, and fails if one is over it.

Every comparison uses figures of the same run on the same disk. `--quick` looks at 1,000 components only.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from table import Table

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
BENCH = TARGET / "release/eos-benches"
EOS = TARGET / "release/eos"
COMPILED = ["graph", "pillar/credentials", "pillar/hosts", "pillar/top.sls", "salt", "terraform"]
# Seconds of processor time, by components: what a person waits for on a machine of their own.
COMPILE_BUDGET = {10: 0.05, 100: 0.1, 1_000: 0.6, 10_000: 6.0}
PLAN_BUDGET = {10: 0.05, 100: 0.15, 1_000: 0.9, 10_000: 9.0}
MEBIBYTE = 1 << 20


def bench(*words: object) -> dict:
    answer = subprocess.run([BENCH, *map(str, words)], check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout)


def named(components: int) -> str:
    return f"{components:,} components"


def copy(source: Path, target: Path) -> float:
    """Seconds that `cp -r` takes for the compiled tree, into a directory that is not there yet."""
    (target / "pillar").mkdir(parents=True)
    begun = time.monotonic()
    for tree in COMPILED:
        subprocess.run(["cp", "-r", source / tree, target / tree], check=True)
    seconds = time.monotonic() - begun
    shutil.rmtree(target)
    return seconds


def commit(estate: Path) -> None:
    """The first commit of many files takes longer than Eos waits for one of its own."""
    settings = ["-c", "gc.auto=0", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for words in (["add", "--all"], ["commit", "--quiet", "--message", "Estate to measure"]):
        subprocess.run(["git", *settings, *words], cwd=estate, check=True)


def processor_milliseconds(words: list[str], directory: Path) -> float:
    """Processor time of one run of Eos, the median of 20."""
    times = []
    for _ in range(20):
        with open(os.devnull, "wb") as nowhere:
            process = subprocess.Popen([EOS, *words], cwd=directory, stdout=nowhere)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"error: `eos {' '.join(words)}` failed with exit code {process.returncode}")
        times.append((usage.ru_utime + usage.ru_stime) * 1000)
    return statistics.median(times)


def measure_sizes(table: Table, sizes: list[int]) -> None:
    for components in sizes:
        compiled = [bench("compile", components) for _ in range(3)]
        seconds = statistics.median(one["cpu_seconds"] for one in compiled)
        table.hold(f"compile, {named(components)}, processor", seconds, COMPILE_BUDGET[components], "s")
        planned = [bench("plan", components) for _ in range(3)]
        seconds = statistics.median(one["cpu_seconds"] for one in planned)
        figure = f"plan of one new component among {components:,}, processor"
        table.hold(figure, seconds, PLAN_BUDGET[components], "s")
        for phase, seconds in planned[0]["phases"].items():
            table.tell(f"  {phase}", seconds, "s")


def measure_estate(table: Table, components: int, directory: Path) -> None:
    """Compile against `cp -r`, and one more component, in an estate on disk."""
    estate = directory / "estate"
    written = bench("write", components, estate)
    table.tell(f"first write of {written['files_written']:,} files", written["seconds"], "s")
    compiled, copied = [], []
    for _ in range(3):
        compiled.append(bench("compile", components))
        copied.append(copy(estate, directory / "copy"))
    seconds = statistics.median(one["seconds"] for one in compiled)
    table.hold(f"compile, {named(components)}, against cp -r", seconds, statistics.median(copied), "s")
    one = compiled[0]
    for phase, seconds in one["phases"].items():
        table.tell(f"  {phase}", seconds, "s")
    table.hold(f"peak memory, {named(components)}", one["peak_rss_bytes"] / MEBIBYTE, 400e6 / MEBIBYTE, "MiB")
    table.hold("emitted bytes a component", one["bytes_per_component"], one["bytes_per_component_at_most"], "")
    for tree, size in one["bytes_by_tree"].items():
        table.tell(f"  {tree}", size / components, "")
    commit(estate)
    rounds = bench("create", components, estate)["rounds"]
    ratio = statistics.median(one["ratio"] for one in rounds)
    # In a small estate the few files that are made durable weigh more than all the compiling.
    bound = 1.2 if components >= 10_000 else 1.8
    table.hold("create one, against a full compile in memory", ratio, bound, "x")
    middle = sorted(rounds, key=lambda one: one["ratio"])[len(rounds) // 2]
    for phase, seconds in middle["phases"].items():
        table.tell(f"  {phase}", seconds, "s")
    table.tell("  git commit, beside it", middle["commit_seconds"], "s")
    most, bound = max(one["files_written"] for one in rounds), rounds[0]["files_written_at_most"]
    table.hold("files that create one writes", most, bound, "")
    table.hold("  of those, files of other components", max(one["foreign_files"] for one in rounds), 0, "")


def measure_program(table: Table, directory: Path) -> None:
    for words in (
        ["--version"],
        ["completions", "bash"],
        ["complete", "--", "eos", "create", "gr"],
        ["complete", "--", "eos", "create", "grafana", "--"],
    ):
        table.hold(f"eos {' '.join(words)}, processor", processor_milliseconds(words, directory), 10, "ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 components only")
    parser.add_argument("--directory", type=Path, default=TARGET / "benches", help="where estates are written")
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "eos", "-p", "eos-benches"], cwd=ROOT, check=True)
    directory = options.directory.resolve()
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    begun = time.monotonic()
    table = Table()
    try:
        measure_program(table, directory)
        measure_sizes(table, [1_000] if options.quick else list(COMPILE_BUDGET))
        measure_estate(table, 1_000 if options.quick else 10_000, directory)
        small, large = (100, 1_000) if options.quick else (1_000, 30_000)
        scaling = bench("scaling", small, large)
        table.hold(f"cost of a component among {large:,}, against {small:,}", scaling["ratio"], 1.2, "x")
    finally:
        shutil.rmtree(directory)
    return table.close(time.monotonic() - begun)


if __name__ == "__main__":
    sys.exit(main())
