"""Killed at any instant, an operation can be resumed or rolled back; the engines themselves show the result."""

import os
import signal
import subprocess
import time

import pytest
import witness
from estates import FULL, Estate, sample

# A secret, a volume and a page: all that an operation of a component can touch.
SAFE = """\
recipe: safe
summary: Has a secret and a volume
version: "1"
options:
  greeting: {type: string, default: Hello, help: First line of the page}
  password: {type: secret, generate: 24, help: What a reader must know}
needs:
  data: {volume: {purpose: application, size: 1GiB, path: "/opt/{{ instance }}/data"}}
services:
  safe:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{ listen_address }}"]
    env: {EOS_HELLO_GREETING: "{{ greeting }}"}
    secrets: {SAFE_PASSWORD: {file: password}}
    ports: {http: {}}
    check: {http: /health}
"""

OLD, NEW = "the old greeting", "the new greeting"


@pytest.fixture(scope="module")
def lab(estate):
    directory = estate.root / "recipes/safe"
    directory.mkdir(parents=True)
    (directory / "recipe.yaml").write_text(SAFE)
    witness.commit(estate, "A recipe")
    yield estate
    clear(estate)
    (directory / "recipe.yaml").unlink()
    directory.rmdir()
    witness.commit(estate, "No recipe")


def data(estate: Estate):
    return estate.lab / "volumes/opt/safe/data"


def clear(estate: Estate):
    if "  safe:" in witness.pillar(estate):
        estate.must("delete", "safe", "--yes")
    witness.nothing(estate, "safe")
    subprocess.run(["rm", "-rf", estate.lab / "volumes/opt/safe"], check=True)


class Made:
    """The component with the old greeting and a file of data; what it must still be after a way back."""

    def __init__(self, estate: Estate):
        if "  safe:" not in witness.pillar(estate):
            estate.must("create", "safe", "--greeting", OLD, "--yes")
        elif OLD not in witness.pillar(estate):
            estate.must("update", "safe", "--greeting", OLD, "--yes")
        (data(estate) / "file").write_text("data")
        self.estate, self.pillar, self.secret = estate, witness.pillar(estate), witness.secret(estate, "safe")
        self.release = witness.served_release(estate)
        assert self.secret

    def is_as_before(self):
        witness.serves(self.estate, "safe", OLD)
        assert witness.pillar(self.estate) == self.pillar
        assert witness.secret(self.estate, "safe") == self.secret
        assert witness.served_release(self.estate) == self.release

    def data_is_there(self):
        assert (data(self.estate) / "file").read_text() == "data"


class Create:
    words = ("create", "safe", "--greeting", NEW, "--yes")

    def before(self, estate):
        clear(estate)
        self.pillar = witness.pillar(estate)

    def done(self, estate):
        witness.serves(estate, "safe", NEW)
        assert list(witness.secret(estate, "safe")) == ["password"] and data(estate).is_dir()

    def undone(self, estate):
        witness.nothing(estate, "safe")
        assert witness.pillar(estate) == self.pillar
        assert estate.json("list")["components"] == []
        # A task was never started before its volume is there; after that the directory is kept.
        assert not data(estate).exists() or not list(data(estate).iterdir())


class Update:
    words = ("update", "safe", "--greeting", NEW, "--yes")

    def before(self, estate):
        self.made = Made(estate)

    def done(self, estate):
        witness.serves(estate, "safe", NEW)
        assert witness.secret(estate, "safe") == self.made.secret
        self.made.data_is_there()

    def undone(self, estate):
        self.made.is_as_before()
        self.made.data_is_there()


class Delete:
    words = ("delete", "safe", "--yes")

    def before(self, estate):
        self.made = Made(estate)

    def done(self, estate):
        witness.nothing(estate, "safe")
        self.made.data_is_there()

    def undone(self, estate):
        self.made.is_as_before()
        self.made.data_is_there()


class Rollback:
    """Of an update that was done: forth is the way back to the old greeting."""

    @property
    def words(self):
        return ("rollback", self.operation, "--yes")

    def before(self, estate):
        self.made = Made(estate)
        estate.must("update", "safe", "--greeting", NEW, "--yes")
        self.operation = newest(estate)["id"]

    def done(self, estate):
        self.made.is_as_before()
        self.made.data_is_there()

    def undone(self, estate):
        witness.serves(estate, "safe", NEW)
        assert witness.secret(estate, "safe") == self.made.secret
        self.made.data_is_there()


class Rotate:
    words = ("rotate", "secret", "safe", "password", "--yes")

    def before(self, estate):
        self.made = Made(estate)

    def done(self, estate):
        witness.serves(estate, "safe", OLD)
        assert witness.secret(estate, "safe")["password"] != self.made.secret["password"]
        self.made.data_is_there()

    def undone(self, estate):
        self.made.is_as_before()
        self.made.data_is_there()


OPERATIONS = {"create": Create, "update": Update, "rotate": Rotate, "delete": Delete, "rollback": Rollback}


def newest(estate: Estate) -> dict:
    return estate.json("history", "--limit", "1")["operations"][0]


@pytest.fixture(scope="module")
def boundaries(lab, tmp_path_factory):
    """How many writes of the store each operation has: it can be killed after any of them."""
    found = {}
    for name, kind in OPERATIONS.items():
        operation = kind()
        operation.before(lab)
        trace = tmp_path_factory.mktemp("trace") / name
        lab.must(*operation.words, env={"EOS_FAULT_TRACE": str(trace)})
        operation.done(lab)
        found[name] = len(trace.read_text().splitlines())
        assert found[name] >= 10, f"only {found[name]} boundaries of {name}"
    return found


@pytest.mark.parametrize("way", ["resume", "rollback"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_killed_at_every_journal_boundary(lab, boundaries, name, way):
    for number in sample(list(range(1, boundaries[name] + 1)), 1):
        operation = OPERATIONS[name]()
        operation.before(lab)
        ran = lab.eos(*operation.words, env={"EOS_FAULT_KILL_AT": str(number)})
        where = f"{name} killed at boundary {number} of {boundaries[name]}, then {way}"
        assert ran.returncode == -signal.SIGKILL, f"{where}: exit {ran.returncode}\n{ran.stderr}"
        killed = newest(lab)
        made = getattr(operation, "made", None)
        values = set(made.secret.values()) if made else set()
        if killed["outcome"] == "done":
            # After the last write there is nothing left to do.
            operation.done(lab)
            continue
        after = lab.eos("resume", "--yes") if way == "resume" else lab.eos("rollback", killed["id"], "--yes")
        assert after.returncode == 0, f"{where}\n{after.stderr}"
        try:
            operation.done(lab) if way == "resume" else operation.undone(lab)
            witness.is_committed(lab)
            assert witness.staged(lab) == []
            assert newest(lab)["outcome"] == ("done" if way == "resume" else "taken back")
            values |= set((witness.secret(lab, "safe") or {}).values())
            assert [path for value in values for path in witness.leaks(lab, value)] == []
        except AssertionError as error:
            raise AssertionError(f"{where}\n{after.stderr}\n{error}") from error


def test_ten_operations_and_all_the_way_back(lab):
    clear(lab)
    pillars = [witness.pillar(lab)]
    lab.must("create", "safe", "--greeting", "1", "--yes")
    pillars.append(witness.pillar(lab))
    count = 10 if FULL else 4
    for number in range(2, count + 1):
        lab.must("update", "safe", "--greeting", f"greeting {number}", "--yes")
        pillars.append(witness.pillar(lab))
    # One in the middle was overwritten since: it is named, and nothing is changed.
    middle = lab.json("history")["operations"][count // 2]["id"]
    refused = lab.eos("rollback", middle, "--yes")
    assert refused.returncode == 2 and "changed again since" in refused.stderr, refused.stderr
    for number in range(count - 1, 0, -1):
        pillars.pop()
        lab.must("undo", "--yes")
        assert witness.pillar(lab) == pillars[-1]
        witness.serves(lab, "safe", "1" if number == 1 else f"greeting {number}")
    lab.must("undo", "--yes")
    witness.nothing(lab, "safe")
    assert witness.pillar(lab) == pillars[0]


BLOWS = [
    (engine, blow) for engine in ("nomad", "salt-api", "salt-master", "salt-minion") for blow in ("SIGKILL", "SIGSTOP")
]


@pytest.mark.parametrize(("engine", "blow"), BLOWS)
def test_an_engine_that_falls_silent_is_a_clear_error_in_bounded_time(lab, engine, blow):
    made = Made(lab)
    before = commits(lab)
    running = lab.start("update", "safe", "--greeting", NEW, "--yes")
    lab.wait_until(lambda: commits(lab) > before or running.poll() is not None, 60, "the operation's commit")
    group = lab.pid(engine)
    os.killpg(group, getattr(signal, blow))
    begun = time.monotonic()
    try:
        _, talk = running.communicate(timeout=240)
    finally:
        if blow == "SIGSTOP":
            os.killpg(group, signal.SIGCONT)
    took = time.monotonic() - begun
    lab.must("lab", "up", timeout=300)
    if running.returncode == 0:
        # It was over before the engine fell silent, or did not need it any more.
        witness.serves(lab, "safe", NEW)
        return
    assert running.returncode == 1, talk
    words = " ".join(talk.split())
    assert "error:" in words and "hint:" in words and "eos resume" in words and "eos rollback" in words, talk
    assert took < 120, f"{took:.0f} s until the error"
    lab.must("rollback", newest(lab)["id"], "--yes")
    made.is_as_before()
    made.data_is_there()


def test_the_first_interrupt_lets_a_step_end_and_says_so(lab):
    made = Made(lab)
    running = lab.start("update", "safe", "--greeting", NEW, "--yes", "--json")
    lines = []
    for line in running.stdout:
        lines.append(line)
        if '"event":"step"' in line and '"title":"terraform"' in line:
            break
    running.send_signal(signal.SIGINT)
    rest, _ = running.communicate(timeout=120)
    assert running.returncode == 130, "".join(lines) + rest
    assert "no step is half done" in rest, rest
    assert '"title":"terraform"' in rest and '"event":"done"' in rest, rest
    assert newest(lab)["outcome"] == "interrupted"
    lab.must("rollback", newest(lab)["id"], "--yes")
    made.is_as_before()


def commits(estate: Estate) -> int:
    counted = subprocess.run(["git", "-C", estate.root, "rev-list", "--count", "HEAD"], capture_output=True, text=True)
    return int(counted.stdout)
