"""Measures operations of Eos on a laboratory against a script that does the same by hand, in the same run.

The bench measures both in turns, one right after the other. The least ratio of several rounds counts, since other work
of the machine only adds to it. The program is a release build. `--quick` measures two rounds.
"""

import argparse
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from table import Table

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
# One instance on both sides: how many there are by default differs between environments.
VERBS = {"create": ["--replicas", "1"], "update": ["--greeting", "Hello again"], "delete": []}
# Seconds of an operation that are Eos's own: no engine was waited for.
OWN = 0.5
AGAINST_BY_HAND = 1.5
# A delete has no wait for health in which the rest would not be seen, and Terraform is done within half a second: what
# Salt takes to carry these calls at all (observe, remove the component, remove its namespace) is as much as the script
# takes for all of it. They are measured empty, and do not count against Eos.
EMPTY_CALLS = {"delete": 3}
TEN_AGAINST_ONE = 3.0


class Measured:
    """One command of Eos: its wall time, and how much of it was spent waiting for engines."""

    def __init__(self, seconds: float, events: list[dict]):
        self.seconds = seconds
        finished = events[-1]
        if finished.get("event") != "finished":
            sys.exit(f"error: the operation did not finish: {finished}")
        # Planning is shown with the plan, the rest at the end.
        self.waited = sum(event["waited"] for event in events if event["event"] in ("plan", "finished"))
        self.steps = [event for event in events if event["event"] == "done"]

    @property
    def own(self) -> float:
        return self.seconds - self.waited


class Estate:
    def __init__(self, program: Path, root: Path):
        self.program, self.root = program, root
        self.lab = root / ".eos/lab"
        self.eos("init", str(root), estate=False)

    def eos(self, *words: str, estate: bool = True) -> str:
        place = ["--estate", str(self.root)] if estate else []
        ran = subprocess.run([self.program, *place, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if ran.returncode:
            sys.exit(f"error: `eos {' '.join(words)}` failed with exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def measure(self, *words: str) -> Measured:
        begun = time.monotonic()
        answer = self.eos(*words, "--yes", "--json")
        seconds = time.monotonic() - begun
        # Only a line feed ends a line here: a text may hold any of the others.
        return Measured(seconds, [json.loads(line) for line in answer.strip().split("\n")])

    def write(self, components: dict[str, str | None], environment: str = "production") -> None:
        """A pillar of hellos, by name, each with its greeting."""
        lines = ["#!yaml", "components:" if components else "components: {}"]
        for name, greeting in components.items():
            lines += [f"  {name}:", "    recipe: hello", "    options:", "      replicas: 1"]
            lines += [f"      greeting: {greeting}"] if greeting else []
        (self.root / f"pillar/infrastructure/{environment}.sls").write_text("\n".join(lines) + "\n")


class ByHand:
    """The script, with the tree of an estate that has no engines of its own, in an environment of its own."""

    ENVIRONMENT = "staging"

    def __init__(self, estate: Estate, lab: Path):
        self.estate = estate
        engines = json.loads((lab / "salt/minion/etc/minion").read_text())["eos"]
        self.options = [
            f"--environment={self.ENVIRONMENT}",
            f"--tree={estate.root / 'terraform'}",
            f"--workspaces={estate.root / '.eos/by-hand'}",
            f"--terraform={engines['terraform']}",
            f"--cli-config={engines['terraform_cli_config']}",
            f"--nomad={engines['nomad_address']}",
            f"--authority={engines['engines_authority']}",
            f"--token-file={lab / 'secrets/nomad-management-token'}",
        ]

    def measure(self, verb: str) -> float:
        """The tree is compiled beforehand: that is no work of the script's."""
        self.estate.write({"hello": "Hello again" if verb == "update" else None}, self.ENVIRONMENT)
        self.estate.eos("compile")
        begun = time.monotonic()
        subprocess.run(
            [sys.executable, Path(__file__).with_name("by_hand.py"), verb, "hello", *self.options], check=True
        )
        return time.monotonic() - begun


class Salt:
    """Salt's API, asked as Eos asks it."""

    def __init__(self, lab: Path):
        endpoints = json.loads((lab / "endpoints.json").read_text())
        self.salt, self.control = endpoints["salt"], endpoints["control"]
        self.context = ssl.create_default_context(cafile=self.salt["certificate"])
        password = Path(self.salt["password_file"]).read_text().strip()
        login = {"eauth": "file", "username": self.salt["user"], "password": password}
        self.token = self.post("/login", login)[0]["token"]

    def post(self, path: str, body: dict | list, **headers: str) -> list:
        request = urllib.request.Request(
            self.salt["url"] + path, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}
        )
        with urllib.request.urlopen(request, timeout=60, context=self.context) as answer:
            return json.load(answer)["return"]

    def empty_call(self) -> float:
        """Seconds that the least call of a minion takes."""
        low = {"client": "local", "tgt": [self.control], "tgt_type": "list", "fun": "test.ping"}
        begun = time.monotonic()
        answer = self.post("/", [low], **{"X-Auth-Token": self.token})
        if answer != [{self.control: True}]:
            sys.exit(f"error: the minion does not answer: {answer}")
        return time.monotonic() - begun


def measure_against_by_hand(table: Table, estate: Estate, by_hand: ByHand, rounds: int) -> None:
    salt = Salt(estate.lab)
    empty = min(salt.empty_call() for _ in range(3 * rounds))
    table.tell("an empty call of Salt", empty, "s")
    pairs: dict[str, list[tuple[float, Measured]]] = {verb: [] for verb in VERBS}
    for _ in range(rounds):
        for verb, options in VERBS.items():
            theirs = by_hand.measure(verb)
            pairs[verb].append((theirs, estate.measure(verb, "hello", *options)))
    for verb, measured in pairs.items():
        ratios = [ours.seconds / theirs for theirs, ours in measured]
        theirs, ours = measured[ratios.index(min(ratios))]
        table.tell(f"{verb} hello by hand", theirs, "s")
        table.tell(f"eos {verb} hello", ours.seconds, "s")
        for step in ours.steps:
            table.tell(f"  {step['title']} {step['component']}", step["seconds"], "s")
        if calls := EMPTY_CALLS.get(verb):
            table.tell("  against by hand", ours.seconds / theirs, "x")
            without = (ours.seconds - calls * empty) / theirs
            table.hold(f"  without {calls} empty calls of Salt", without, AGAINST_BY_HAND, "x")
        else:
            table.hold("  against by hand", ours.seconds / theirs, AGAINST_BY_HAND, "x")
        table.hold("  not spent waiting for an engine", min(ours.own for _, ours in measured), OWN, "s")


def measure_side_by_side(table: Table, estate: Estate, rounds: int) -> None:
    """One more component in an environment that is there, then ten more."""
    names = [f"hello-{number}" for number in range(11)]
    estate.write({names[0]: None})
    estate.measure("apply")
    one, ten = [], []
    for _ in range(rounds):
        for count, times in ((1, one), (10, ten)):
            estate.write(dict.fromkeys(names[: 1 + count]))
            times.append(estate.measure("apply"))
            estate.write({names[0]: None})
            estate.measure("apply")
    estate.write({})
    estate.measure("apply")
    pairs = list(zip(one, ten, strict=True))
    ratios = [ten.seconds / one.seconds for one, ten in pairs]
    alone, together = pairs[ratios.index(min(ratios))]
    table.tell("one component", alone.seconds, "s")
    table.tell("ten independent components at once", together.seconds, "s")
    table.hold("  against one", together.seconds / alone.seconds, TEN_AGAINST_ONE, "x")
    table.hold("  not spent waiting for an engine", min(one.own for one in ten), OWN, "s")


def built() -> Path:
    packages = ["-p", "eos", "-p", "eos-terraform-provider"]
    subprocess.run(["cargo", "build", "--quiet", "--release", *packages], cwd=ROOT, check=True)
    return TARGET / "release/eos"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two rounds")
    options = parser.parse_args()
    program = built()
    rounds = 2 if options.quick else 4
    begun = time.monotonic()
    directory = Path(tempfile.mkdtemp(prefix="eos-operations-"))
    try:
        estate = Estate(program, directory / "estate")
        try:
            estate.eos("lab", "up")
            table = Table()
            by_hand = ByHand(Estate(program, directory / "by-hand"), estate.lab)
            # The first operation of a laboratory waits for what later ones find ready.
            estate.measure("create", "hello")
            estate.measure("delete", "hello")
            measure_against_by_hand(table, estate, by_hand, rounds)
            measure_side_by_side(table, estate, rounds)
        finally:
            estate.eos("lab", "down")
    finally:
        shutil.rmtree(directory)
    return table.close(time.monotonic() - begun)


if __name__ == "__main__":
    sys.exit(main())
