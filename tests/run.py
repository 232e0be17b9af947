"""Runs the tests of Eos against the real engines: installs what they need, starts it once, and stops it.

Cheap tests always run, dear ones as a seeded sample that fills a budget of seconds. `--full` runs everything and writes
docs/test-report.md; `--full --continue` goes on where a full run of the same product was stopped.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import record
from covered import BOUND, Covered
from packages import cannot_have
from record import Result
from selection import AREAS

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eos"
MOTO = "moto==5.2.5"
TOOLS = ("pytest==8.4.2", "pytest-xdist==3.8.0", "ruff==0.14.4")
WORKERS = 4
# Seconds of all dear tests of a run together; the workers share them.
BUDGET = 1100
# Seconds after which a sample begins no further dear test, and that one test may take. CI cuts off a run that takes
# longer than it may, and its results with it.
SAMPLE, LONGEST = 1500, 900
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
# Started while the tests compile; the others are started by the first test that needs them.
STANDING = ("solo", "spare", "full")
# What OpenTofu has to do as Terraform does.
OF_TOFU = [
    "tests/laboratory/test_full.py",
    "tests/laboratory/test_spine.py::test_one_sentence_down_and_back",
    "tests/crates/test_crates.py",
]
# Started by another test, in a directory of that one.
NO_TESTS = ("an_operation",)
# By program: Debian's package.
PACKAGES = {"fish": "fish", "groff": "groff-base", "zsh": "zsh"}
MEASUREMENTS = ("ratios", "operations", "drift")


class Run:
    """One run: its environment, its time, and what it found."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.begun = time.monotonic()
        self.environment = {name: value for name, value in os.environ.items() if name not in UNWANTED}
        self.environment |= {"CARGO_TERM_COLOR": "never", "EOS_TEST_SEED": str(options.seed)}
        self.place = Path(tempfile.mkdtemp(prefix="eos-test-", dir="/tmp"))
        self.results_file, counters = self.place / "results.jsonl", self.place / "coverage"
        if options.full:
            # Both outlive a run that is killed, and the next one goes on with them.
            digest = record.product_digest()[:12]
            self.results_file = ROOT / f"target/results-{digest}.jsonl"
            counters = ROOT / f"target/counters-{digest}"
            if not options.go_on:
                self.results_file.unlink(missing_ok=True)
                shutil.rmtree(counters, ignore_errors=True)
        self.results: dict[str, Result] = {}
        self.coverage: list[str] = []
        self.tools = tools()
        self.covered = Covered(ROOT, counters, CACHE) if options.full and not options.only else None
        if self.covered:
            self.environment |= self.covered.environment()
        self.target = Path(self.environment.get("CARGO_TARGET_DIR") or ROOT / "target")

    def say(self, words: str) -> None:
        print(f"== {time.monotonic() - self.begun:5.0f} s  {words}", flush=True)

    def must(self, *command: object, **more) -> str:
        words = [str(word) for word in command]
        ran = subprocess.run(words, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True, **more)
        if ran.returncode:
            sys.exit(f"error: `{' '.join(words)}` ended with {ran.returncode}\n{ran.stdout}")
        return ran.stdout

    def build(self) -> None:
        """The program and the provider first, so that laboratories start while the tests compile."""
        self.say("cargo builds Eos")
        self.must("cargo", "build", "--quiet", "--workspace", "--bins")
        # Copies, because cargo links its own again when it builds the tests, under the feet of the laboratories.
        programs = {"EOS_TEST_PROGRAM": "eos", "EOS_TEST_PROVIDER": "eos-terraform-provider"}
        for variable, name in programs.items():
            self.environment[variable] = shutil.copy2(self.target / "debug" / name, self.place / name)
        # Shells and a formatter whose reading of Eos is tested; who is not root has those tests skip, and fail.
        if missing := cannot_have(PACKAGES, "packages are root's to install"):
            self.say(f"some tests will skip: {missing}")
        self.say("eos installs the engines")
        self.environment |= self.engines("--full")
        self.environment["EOS_TEST_LABS"] = str(self.place)
        starting = threading.Thread(target=self.standing, args=("start", *STANDING))
        if self.needs_laboratories():
            self.say(f"eos starts the laboratories {', '.join(STANDING)}; cargo builds the tests")
            starting.start()
        self.write_crates(self.crates())
        if starting.ident:
            starting.join()

    def needs_laboratories(self) -> bool:
        return not self.options.only or any("laboratory" in word for word in self.options.only)

    def standing(self, *words: str) -> int:
        command = [sys.executable, "tests/laboratory/standing.py", *words]
        environment = self.environment | {"PYTHONPATH": str(ROOT / "tests")}
        return subprocess.run(command, cwd=ROOT, env=environment).returncode

    def engines(self, *words: str) -> dict[str, str]:
        install = [self.environment["EOS_TEST_PROGRAM"], "lab", "install", *words]
        subprocess.run(install, cwd=ROOT, env=self.environment, check=True)
        places = json.loads(self.must(*install, "--json").strip().splitlines()[-1])["engines"]
        return {
            "EOS_TEST_SALT": places["salt"],
            "EOS_SALT_PYTHON": places["salt"] + "/bin/python",
            "EOS_TEST_NOMAD": places["nomad"],
            "EOS_TEST_TERRAFORM": places["terraform"],
            "EOS_TEST_CONSUL": places["consul"],
            "EOS_TEST_VAULT": places["vault"],
            "EOS_TEST_VAULT_PLUGINS": places["vault_plugins"],
            "EOS_TEST_MOTO": str(programs_of("moto.txt", (MOTO,)) / "moto_server"),
            **azurite(),
        }

    def crates(self) -> dict[str, dict]:
        """The test programs of the crates by name: `eos-core` for its unit tests, `eos-core/golden` for a file of tests."""
        said = self.must("cargo", "test", "--quiet", "--workspace", "--no-run", "--message-format=json")
        found = {}
        for line in said.splitlines():
            message = json.loads(line) if line.startswith("{") else {}
            if message.get("executable") and message["profile"]["test"]:
                package, target = Path(message["manifest_path"]).parent, message["target"]
                name = "eos-benches" if package.name == "benches" else package.name
                name += "" if "lib" in target["kind"] else f"/{target['name']}"
                listed = self.must(message["executable"], "--list")
                tests = [test for test in re.findall(r"^(\S+): test$", listed, re.M) if test not in NO_TESTS]
                found[name] = {"path": message["executable"], "package": str(package), "tests": tests}
        return dict(sorted(found.items()))

    def write_crates(self, crates: dict[str, dict]) -> None:
        file = self.place / f"crates-{len(crates)}.json"
        file.write_text(json.dumps(crates))
        self.environment["EOS_TEST_CRATES"] = str(file)

    def pytest(self, phase: str, workers: int, places: list[str], more: dict[str, str]) -> None:
        command = [self.tools / "python", "-m", "pytest", "-c", "tests/pytest.ini", f"--rootdir={ROOT}", "-q"]
        command += ["-x"] if self.options.stop_at_first else []
        command += ["-n", str(workers), "--dist", "loadgroup", "--max-worker-restart=0", "-rfE", *places]
        chosen = {"EOS_TEST_PHASE": phase, "EOS_TEST_RESULTS": str(self.results_file), **more}
        chosen["EOS_TEST_LEFT_OUT"] = str(self.place / "left-out")
        ran = subprocess.run(list(map(str, command)), cwd=ROOT, env=self.environment | chosen)
        # 5: the sample has no test of this phase.
        if ran.returncode not in (0, 1, 5):
            name = f"workshop/pytest {phase}"
            self.results[name] = Result(name, "failed", 0.0, f"pytest ended with {ran.returncode}")

    def lint(self) -> None:
        begun = time.monotonic()
        command = ["nice", "sh", "tests/lint.sh", str(self.tools / "ruff")]
        ran = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True)
        self.note("workshop/lint", ran.returncode, begun)
        print(ran.stdout + ran.stderr, end="", flush=True)

    def note(self, name: str, code: int, begun: float) -> None:
        outcome = "failed" if code else "passed"
        self.results[name] = Result(name, outcome, time.monotonic() - begun, f"it ended with {code}" if code else "")

    def test(self) -> None:
        options = self.options
        places = options.only or ["tests"]
        more = {"EOS_TEST_BUDGET": "0" if options.only else str(options.budget)}
        more["EOS_TEST_CHANGED"] = " ".join(changed_areas())
        if options.area:
            more["EOS_TEST_AREA"] = options.area
        if options.full:
            more |= {"EOS_TEST_FULL": "1", "EOS_TEST_PASSED": str(self.passed_before())}
        elif not options.only:
            more |= {"EOS_TEST_DEADLINE": str(time.time() + SAMPLE), "EOS_TEST_LONGEST": str(LONGEST)}
        # Tests wait for engines, and lint uses the processor meanwhile.
        lint = threading.Thread(target=self.lint)
        if not options.only and not options.no_lint:
            lint.start()
        self.say("pytest")
        self.pytest("", WORKERS, places, more)
        if lint.ident:
            lint.join()
        if options.stop_at_first and any(result.is_bad for result in self.read_results().values()):
            return
        self.say("pytest, one after the other: guests and measurements")
        self.pytest("quiet", 1, places, more)

    def passed_before(self) -> Path:
        """What a full run of this product need not run again, as a file."""
        file = self.place / "passed"
        passed = record.load_record(record.product_digest()) if self.options.go_on else {}
        passed |= {test: one.seconds for test, one in self.read_results().items() if one.outcome == "passed"}
        file.write_text("".join(f"{test}\n" for test in passed))
        self.say(f"{len(passed)} tests passed before at this digest")
        return file

    def test_tofu(self) -> None:
        """The same laboratory with OpenTofu; its results have names of their own."""
        self.say("pytest with OpenTofu")
        file, self.results_file = self.results_file, self.place / "tofu.jsonl"
        kept = dict(self.environment)
        self.environment |= self.engines("--full", "--tofu")
        self.environment |= {"EOS_TEST_LAB_OPTIONS": "--tofu", "EOS_TEST_LABS": str(self.place / "tofu")}
        (self.place / "tofu").mkdir()
        crates = json.loads(Path(kept["EOS_TEST_CRATES"]).read_text())
        self.write_crates({name: crates[name] for name in crates if name.startswith("eos-terraform-provider")})
        self.pytest("", WORKERS, OF_TOFU, {"EOS_TEST_FULL": "1"})
        self.end_laboratories("tofu laboratories")
        for test, result in self.read_results().items():
            result.test = f"{test} (tofu)"
            self.results[result.test] = result
        self.results_file, self.environment = file, kept

    def measure_coverage(self) -> None:
        """Holds the lines of eos-engine and the formula that the tests executed to their bound."""
        crates = json.loads(Path(self.environment["EOS_TEST_CRATES"]).read_text())
        programs = [self.environment["EOS_TEST_PROGRAM"]]
        programs += [crate["path"] for name, crate in crates.items() if name.startswith(("eos-engine", "eos-lab"))]
        for what, measure in (
            ("eos-engine", lambda: self.covered.engine(programs)),
            ("the formula", self.covered.formula),
        ):
            begun, lines = time.monotonic(), measure()
            self.coverage.append(f"coverage of {what}: {lines:.1f} % of its lines, at least {BOUND:.0f} %")
            self.note(f"workshop/coverage of {what}", int(lines < BOUND), begun)

    def measure(self) -> None:
        # Counters slow programs down.
        environment = {name: value for name, value in self.environment.items() if name not in self.covered.names}
        for name in MEASUREMENTS:
            self.say(f"benches/{name}.py")
            begun = time.monotonic()
            ran = subprocess.run([sys.executable, f"benches/{name}.py"], cwd=ROOT, env=environment)
            self.note(f"workshop/benches {name}", ran.returncode, begun)

    def end_laboratories(self, name: str = "laboratories") -> None:
        """Everything of this run is gone: asked once, of all laboratories."""
        self.say("eos stops the laboratories")
        begun = time.monotonic()
        self.note(f"workshop/{name} leave nothing behind", self.standing("end"), begun)

    def read_results(self) -> dict[str, Result]:
        lines = self.results_file.read_text().splitlines() if self.results_file.exists() else []
        return record.read_results(lines)

    def close(self) -> int:
        """Prints what ran; a full run writes record, costs and report as well."""
        self.results |= self.read_results()
        options, results = self.options, list(self.results.values())
        left_out_file = self.place / "left-out"
        left_out = set(left_out_file.read_text().splitlines()) if left_out_file.exists() else set()
        left_out -= set(self.results)
        bad = [result for result in results if result.is_bad]
        skipped = [result for result in results if result.outcome == "skipped" and not result.is_bad]
        passed = [result for result in results if result.outcome == "passed"]
        if options.full:
            digest = record.product_digest()
            before = record.load_record(digest) if options.go_on else {}
            all_passed = before | {result.test: result.seconds for result in passed}
            record.save_record(digest, all_passed)
            results += [Result(test, "passed", seconds) for test, seconds in before.items() if test not in self.results]
            passed = [result for result in results if result.outcome == "passed"]
        if options.full or options.costs:
            record.save_costs(self.read_results().values(), "full" if options.full else "sampled")
        lines = record.by_area(results, left_out) + self.coverage
        lines += [f"failed: {result.test}: {result.why.partition(chr(10))[0][:200]}" for result in bad]
        lines += [f"skipped: {result.test}: {result.why}" for result in skipped]
        slowest = sorted(results, key=lambda result: -result.seconds)[:5]
        lines += [f"slowest: {result.seconds:.0f} s {result.test}" for result in slowest]
        lines.append(f"seed {options.seed}, {time.monotonic() - self.begun:.0f} s in all")
        closing = f"{len(passed)} passed, {len(bad)} failed, {len(skipped)} skipped"
        print("\n" + "\n".join([*lines, age_of_report(), closing]))
        if options.full and not options.only:
            write_report([*lines, closing], options.seed)
        shutil.rmtree(self.place)
        return 1 if bad or not passed else 0


def tools() -> Path:
    """The programs that the tests themselves need."""
    return programs_of("tools.txt", TOOLS)


def programs_of(requirements: str, names: tuple[str, ...]) -> Path:
    """The programs of a Python environment in the cache, made once."""
    place = CACHE / "test-tools" / "-".join(names).replace("==", "-")
    if not (place / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        install = [place / "bin/pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        # With hashes for every file, written by crates/eos-install/requirements/lock.py.
        install += ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", ROOT / "tests" / requirements]
        subprocess.run(install, check=True)
        (place / "complete").write_text("ok\n")
    return place / "bin"


def azurite() -> dict[str, str]:
    """The program of the locked Azurite, in the cache, made once; none without npm, and its tests skip."""
    if not shutil.which("npm"):
        return {}
    source = ROOT / "tests/azurite"
    version = json.loads((source / "package.json").read_text())["dependencies"]["azurite"]
    place = CACHE / "test-tools" / f"azurite-{version}"
    if not (place / "complete").exists():
        shutil.copytree(source, place, dirs_exist_ok=True)
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=place, check=True)
        (place / "complete").write_text("ok\n")
    return {"EOS_TEST_AZURITE": str(place / "node_modules/.bin/azurite-blob")}


def git(*words: str) -> str | None:
    ran = subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return ran.stdout.strip() if ran.returncode == 0 else None


def seed_of_product() -> int:
    """Another sample for every change of the product, and the same one whoever runs it."""
    return int(record.product_digest()[:6], 16) % 1_000_000


def changed_areas() -> set[str]:
    """Areas whose sources changed since the last full run; all of them where that is not known."""
    commit = record.reported_commit()
    listed = git("diff", "--name-only", commit) if commit else None
    if listed is None:
        return set(AREAS)
    files = listed.splitlines()
    return {name for name, area in AREAS.items() if any(file.startswith(tuple(area["sources"])) for file in files)}


def age_of_report() -> str:
    commit = record.reported_commit()
    commits = git("rev-list", "--count", f"{commit}..HEAD") if commit else None
    return f"docs/test-report.md is {commits or 'an unknown number of'} commits old"


def write_report(lines: list[str], seed: int) -> None:
    text = "\n".join(lines)
    record.REPORT.write_text(
        f"# The last full test run\n\n`make test-full` at commit {git('rev-parse', 'HEAD')},"
        f" {datetime.now(UTC):%d %B %Y}, seed {seed}.\n\n```\n{text}\n```\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="run everything and write the report")
    parser.add_argument("--continue", dest="go_on", action="store_true", help="leave out what passed at this digest")
    parser.add_argument("--seed", type=int, default=seed_of_product(), help="draws another sample")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of all dear tests together")
    parser.add_argument("--area", choices=sorted(AREAS), help="cheap tests, and of the dear ones only this area's")
    parser.add_argument("--costs", action="store_true", help="write what each test took to tests/costs.json")
    parser.add_argument("--no-lint", action="store_true", help="leave lint out")
    parser.add_argument("--stop-at-first", action="store_true", help="stop at the first test that fails")
    parser.add_argument("--lint", action="store_true", help="formatting, lints and voice only")
    parser.add_argument("only", nargs="*", help="run these files or tests, such as tests/laboratory/test_spine.py")
    run = Run(parser.parse_args())
    print(f"seed {run.options.seed}")
    if run.options.lint:
        run.lint()
        return run.close()
    try:
        run.build()
        run.test()
    finally:
        if "EOS_TEST_LABS" in run.environment:
            run.end_laboratories()
    if run.options.full and not run.options.only:
        run.test_tofu()
        run.measure_coverage()
        run.measure()
    return run.close()


if __name__ == "__main__":
    sys.exit(main())
