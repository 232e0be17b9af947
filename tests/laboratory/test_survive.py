"""Killed at any instant, an operation can be resumed or rolled back; the engines themselves show the result."""

import functools
import signal

import pytest
import witness
from estates import sample
from safe import NEW, OLD, SAFE, Made, clear, data, newest

pytestmark = pytest.mark.side_by_side


@pytest.fixture(scope="module")
def lab(estate):
    estate.write_recipe("safe", SAFE)
    yield estate
    clear(estate)


class Create:
    words = ("create", "safe", "--greeting", NEW, "--yes")

    def before(self, estate):
        clear(estate)

    def done(self, estate):
        witness.serves(estate, "safe", NEW)
        assert list(witness.secret(estate, "safe")) == ["password"] and data(estate).is_dir()

    def undone(self, estate):
        witness.nothing(estate, "safe")
        assert witness.pillar(estate, "safe") == ""
        assert "safe" not in [one["component"] for one in estate.json("list")["components"]]
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


@pytest.fixture(scope="module")
def boundaries(lab, tmp_path_factory):
    """How many writes of the store an operation has: it can be killed after any of them."""

    @functools.cache
    def count(name: str) -> int:
        operation = OPERATIONS[name]()
        operation.before(lab)
        trace = tmp_path_factory.mktemp("trace") / name
        lab.must(*operation.words, env={"EOS_FAULT_TRACE": str(trace)})
        operation.done(lab)
        found = len(trace.read_text().splitlines())
        assert found >= 10, f"only {found} boundaries of {name}"
        return found

    return count


@pytest.mark.parametrize("way", ["resume", "rollback"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_killed_at_every_journal_boundary(lab, boundaries, name, way):
    last = boundaries(name)
    for number in sample(list(range(1, last + 1)), 1):
        operation = OPERATIONS[name]()
        operation.before(lab)
        ran = lab.eos(*operation.words, env={"EOS_FAULT_KILL_AT": str(number)})
        where = f"{name} killed at boundary {number} of {last}, then {way}"
        if ran.returncode == 0 and number == last:
            # When they were counted another operation came in between, and the plan was written once more.
            operation.done(lab)
            continue
        assert ran.returncode == -signal.SIGKILL, f"{where}: exit {ran.returncode}\n{ran.stderr}"
        killed = newest(lab)
        made = getattr(operation, "made", None)
        values = set(made.secret.values()) if made else set()
        if killed["outcome"] == "done":
            # After the last write there is nothing left to do.
            operation.done(lab)
            continue
        after = lab.eos(way, killed["id"], "--yes")
        assert after.returncode == 0, f"{where}\n{after.stderr}"
        try:
            operation.done(lab) if way == "resume" else operation.undone(lab)
            witness.is_committed(lab, "safe")
            assert witness.staged(lab, killed["id"]) == []
            assert newest(lab)["outcome"] == ("done" if way == "resume" else "taken back")
            values |= set((witness.secret(lab, "safe") or {}).values())
            assert [path for value in values for path in witness.leaks(lab, value)] == []
        except AssertionError as error:
            raise AssertionError(f"{where}\n{after.stderr}\n{error}") from error


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
