"""Runs the suites of Eos against the real engines, and prints a budget and a count for each.

What the suites need is installed into the user's cache by Eos itself (`eos lab install`); what they start, they stop.
The long suites run as seeded samples; `--full` runs all of them and writes docs/test-report.md.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eos"
PYTEST = "pytest==8.4.2"
RUFF = "ruff==0.14.4"
FIRST = ["lint", "compiler"]
SPINE = "tests/laboratory/test_spine.py::test_one_sentence_down_and_back"
# Guests are slow where others work beside them, and what measures is moved by it.
ALONE = ["storage", "speed", "operations", "speed of drift"]
# The files of the laboratory by suite, so that several labs run side by side; what is in none is in `laboratory`. Of these
# suites a third of the files is run, and all of them in a full run; tests of one file may build on one another.
LABORATORY = {
    "estates": ("composition", "environments", "governance", "hosts", "hostile", "volumes"),
    "containers": ("containers", "grafana", "hooks", "rotation"),
    "drift": ("drift",),
    "looks": ("doctor", "plan", "status"),
    "full": ("full", "operators"),
    "gitops": ("gitops", "discover"),
    "storage": (
        "guests",
        "storage",
        "storage_conversion",
        "storage_cuts",
        "storage_database",
        "storage_expansion",
    ),
    "survival": ("survive", "failures"),
    "truth": ("truth",),
}
# What a sampled run has of a suite instead of a third of its files.
CORE = {"storage": ("storage", "storage_cuts")}
# What the machine's own settings would do to the engines under test.
UNWANTED = (
    "TF_CLI_CONFIG_FILE",
    "AWS_CA_BUNDLE",
    "NOMAD_ADDR",
    "NOMAD_TOKEN",
    "CONSUL_HTTP_ADDR",
    "CONSUL_HTTP_TOKEN",
    "VAULT_ADDR",
    "VAULT_TOKEN",
    "EOS_ESTATE",
)


@dataclass
class Suite:
    name: str
    budget: int
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)
    # Left out by the sample.
    left_out: int = 0
    seconds: float = 0.0


def run(command: list[str], environment: dict[str, str], show: bool = True) -> tuple[int, str]:
    """Runs a command and gives back what it prints, shown as it comes if it runs alone."""
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = []
    for line in process.stdout:
        if show:
            sys.stdout.write(line)
            sys.stdout.flush()
        lines.append(line)
    return process.wait(), "".join(lines)


def must(command: list[str], environment: dict[str, str]) -> str:
    code, output = run(command, environment)
    if code:
        sys.exit(f"error: `{' '.join(command)}` failed with exit code {code}")
    return output


def count(suite: Suite, code: int, output: str) -> None:
    """Reads what cargo and pytest say at their end; a suite that fails without saying so counts as one failure."""
    for passed, failed in re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed", output):
        suite.passed += int(passed)
        suite.failed += int(failed)
    suite.skipped += re.findall(r"^test (\S+ \.\.\. ignored.*)$", output, re.M)
    for line in re.findall(r"^=+ (.*) in [\d.]+s.*=$", output, re.M):
        for number, what in re.findall(r"(\d+) (passed|failed|error)", line):
            suite.passed += int(number) if what == "passed" else 0
            suite.failed += int(number) if what != "passed" else 0
    suite.left_out = sum(int(number) for number in re.findall(r"(\d+) deselected", output.rsplit("\n=", 1)[-1]))
    # A test that prints why it skipped itself counted as passed above.
    own = re.findall(r"^skipped: (.+)$", output, re.M)
    suite.passed -= len(own)
    suite.skipped += own + re.findall(r"^SKIPPED \[\d+\] \S+ (.+)$", output, re.M)
    if code and not suite.failed:
        suite.failed = 1
    if not code and not suite.passed and suite.name != "lint":
        print(f"error: suite {suite.name} ran no test")
        suite.failed += 1


def run_suite(suite: Suite, environment: dict[str, str], show: bool = True) -> None:
    title = f"\n== {suite.name} (budget {suite.budget} s)"
    if show:
        print(title, flush=True)
    begun = time.monotonic()
    own = {
        name: environment["EOS_TEST_TOFU"] if value == "tofu" else value for name, value in suite.environment.items()
    }
    code, output = run(suite.command, environment | own, show)
    suite.seconds = time.monotonic() - begun
    if not show:
        print(f"{title}\n{output}", end="", flush=True)
    count(suite, code, output)


def tools() -> Path:
    """A Python environment with pytest and ruff, in the cache, made once."""
    place = CACHE / "test-tools" / f"{PYTEST}-{RUFF}".replace("==", "-")
    if not (place / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        install = [place / "bin/pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", PYTEST, RUFF]
        subprocess.run(install, check=True)
        (place / "complete").write_text("ok\n")
    return place / "bin"


def engines(environment: dict[str, str], *options: str) -> dict[str, str]:
    """Installs the engines and gives their places, as the test suites expect them."""
    install = [ROOT / "target/debug/eos", "lab", "install", "--full", *options]
    subprocess.run(install, cwd=ROOT, env=environment, check=True)
    answer = subprocess.run(
        [*install, "--json"],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    last = json.loads(answer.stdout.strip().splitlines()[-1])
    return last["engines"]


def laboratory(suite: str, options: argparse.Namespace) -> list[str]:
    """The files of one suite of the laboratory."""
    files = sorted((ROOT / "tests/laboratory").glob("test_*.py"))
    names = {file.stem.removeprefix("test_"): str(file.relative_to(ROOT)) for file in files}
    if suite not in LABORATORY:
        elsewhere = [name for names in LABORATORY.values() for name in names]
        return [path for name, path in names.items() if name not in elsewhere]
    wanted = LABORATORY[suite]
    if not options.full and suite in CORE:
        wanted = CORE[suite]
    elif not options.full:
        wanted = random.Random(f"{options.seed} {suite}").sample(wanted, -(-len(wanted) // 3))
    return [names[name] for name in wanted]


def suites(options: argparse.Namespace, environment: dict[str, str]) -> list[Suite]:
    bin = tools()
    pytest = [
        str(bin / "python"),
        "-m",
        "pytest",
        "-v",
        "-rs",
        "-s",
        "--tb=short",
        "--durations=8",
        "-p",
        "no:cacheprovider",
    ]
    cargo_test = ["cargo", "test", "-p"]
    in_full = {"EOS_TEST_FULL": "1"} if options.full else {}
    seed = {"EOS_TEST_SEED": str(options.seed)}
    quick = [] if options.full else ["--quick"]
    sampled = {**seed, **in_full}
    tofu = [
        Suite(
            "opentofu",
            1200,
            [*pytest, *laboratory("full", options), SPINE],
            {**sampled, "EOS_TEST_LAB_OPTIONS": "--tofu"},
        ),
        Suite(
            "tofu provider",
            180,
            [*cargo_test, "eos-terraform-provider", "--", "--nocapture"],
            {"EOS_TEST_TERRAFORM": "tofu"},
        ),
    ]
    # What else a machine does moves these ratios more than Eos does: they are for one that does nothing else.
    operations = [
        Suite("operations", 900, [sys.executable, "benches/operations.py"]),
        Suite("speed of drift", 900, [sys.executable, "benches/drift.py"]),
    ]
    return [
        Suite("lint", 180, ["sh", "tests/lint.sh", str(bin / "ruff")]),
        Suite("compiler", 300, [*cargo_test, "eos-core", "--", "--include-ignored"], seed),
        Suite("full", 900, [*pytest, *laboratory("full", options)], sampled),
        Suite("survival", 5400 if options.full else 600, [*pytest, *laboratory("survival", options)], sampled),
        Suite("truth", 3600 if options.full else 300, [*pytest, *laboratory("truth", options)], sampled),
        Suite("drift", 1200 if options.full else 600, [*pytest, *laboratory("drift", options)], sampled),
        Suite("gitops", 900, [*pytest, *laboratory("gitops", options)], sampled),
        Suite("estates", 900 if options.full else 600, [*pytest, *laboratory("estates", options)], sampled),
        Suite("looks", 900 if options.full else 500, [*pytest, *laboratory("looks", options)], sampled),
        Suite("laboratory", 600 if options.full else 300, [*pytest, *laboratory("laboratory", options)], sampled),
        Suite("formula", 900 if options.full else 360, [*pytest, "tests/formula"], sampled),
        Suite("containers", 1500 if options.full else 500, [*pytest, *laboratory("containers", options)], sampled),
        Suite("engine clients", 300, [*cargo_test, "eos-engine", "--features", "fault", "--", "--nocapture"]),
        Suite("provider", 180, [*cargo_test, "eos-terraform-provider", "--", "--nocapture"]),
        Suite("program", 120, [*cargo_test, "eos"]),
        Suite("lab", 480, [*cargo_test, "eos-lab", "-p", "eos-install", "--", "--nocapture"]),
        *(tofu if options.full else []),
        Suite("storage", 5400 if options.full else 600, [*pytest, *laboratory("storage", options)], sampled),
        Suite("speed", 1200 if options.full else 400, [sys.executable, "benches/ratios.py", *quick]),
        *(operations if options.full else []),
    ]


def build(environment: dict[str, str]) -> None:
    """The program, the provider, a second program that can kill itself at a journal boundary, and a blind provider."""
    must(["cargo", "build", "--quiet", "-p", "eos", "--features", "fault"], environment)
    (ROOT / "target/debug/eos").replace(ROOT / "target/debug/eos-fault")
    must(["cargo", "build", "--quiet", "-p", "eos-terraform-provider", "--features", "blind"], environment)
    (ROOT / "target/debug/eos-terraform-provider").replace(ROOT / "target/debug/eos-terraform-provider-blind")
    must(["cargo", "build", "--quiet", "-p", "eos", "-p", "eos-terraform-provider"], environment)


def report(ran: list[Suite], options: argparse.Namespace, seconds: float) -> str:
    lines = [f"{'suite':<16} {'passed':>6} {'failed':>6} {'skipped':>7} {'seconds':>8} {'budget':>7}"]
    for suite in ran:
        over = "  over budget" if suite.seconds > suite.budget else ""
        lines.append(
            f"{suite.name:<16} {suite.passed:>6} {suite.failed:>6} {len(suite.skipped):>7} "
            f"{suite.seconds:>8.0f} {suite.budget:>7}{over}"
        )
    lines += [f"skipped: {reason}" for suite in ran for reason in suite.skipped]
    lines += [f"left out by the sample: {suite.left_out} of {suite.name}" for suite in ran if suite.left_out]
    lines += [
        f"left out by the sample: test_{name}.py of {suite.name}"
        for suite in ran
        for name in LABORATORY.get(suite.name, ())
        if not any(word.endswith(f"/test_{name}.py") for word in suite.command)
    ]
    lines.append(f"seed {options.seed}, {seconds:.0f} s in all")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="run the long suites in full and write the report")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--only", action="append", help="run only the suites whose name starts so")
    options = parser.parse_args()
    started = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    environment["CARGO_TERM_COLOR"] = "never"
    print(f"seed {options.seed}")
    chosen = suites(options, environment)
    if options.only:
        chosen = [suite for suite in chosen if any(suite.name.startswith(only) for only in options.only)]
    if [suite.name for suite in chosen] != ["lint"]:
        build(environment)
        places = engines(environment)
        environment |= {
            "EOS_TEST_SALT": places["salt"],
            "EOS_SALT_PYTHON": places["salt"] + "/bin/python",
            "EOS_TEST_NOMAD": places["nomad"],
            "EOS_TEST_TERRAFORM": places["terraform"],
            "EOS_TEST_CONSUL": places["consul"],
            "EOS_TEST_VAULT": places["vault"],
            "EOS_TEST_VAULT_PLUGINS": places["vault_plugins"],
            # Where the suites of OpenTofu look for it.
            **({"EOS_TEST_TOFU": engines(environment, "--tofu")["terraform"]} if options.full else {}),
            "EOS_TEST_PROVIDER": str(ROOT / "target/debug/eos-terraform-provider"),
            "EOS_TEST_PROGRAM": str(ROOT / "target/debug/eos"),
            "EOS_TEST_FAULT_PROGRAM": str(ROOT / "target/debug/eos-fault"),
            "EOS_TEST_BLIND_PROVIDER": str(ROOT / "target/debug/eos-terraform-provider-blind"),
        }
    # Most of their time these wait for engines, so three run at once; the last ones run alone.
    together = [suite for suite in chosen if suite.name not in FIRST + ALONE]
    for suite in (suite for suite in chosen if suite.name in FIRST):
        run_suite(suite, environment)
    with ThreadPoolExecutor(max_workers=3) as pool:
        list(pool.map(lambda suite: run_suite(suite, environment, show=False), together))
    for suite in (suite for suite in chosen if suite.name in ALONE):
        run_suite(suite, environment)
    text = report(chosen, options, time.monotonic() - started)
    passed, failed = sum(suite.passed for suite in chosen), sum(suite.failed for suite in chosen)
    skipped = sum(len(suite.skipped) for suite in chosen)
    closing = f"{passed} passed, {failed} failed, {skipped} skipped"
    print(f"\n{text}\n{closing}")
    if options.full and not options.only:
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ).stdout.strip()
        title = "# The last full test run\n\n`make test-full`, at commit"
        (ROOT / "docs/test-report.md").write_text(f"{title} {commit}.\n\n```\n{text}\n{closing}\n```\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
