"""A running step is stopped by whoever may run it: its process ends with its children, and no other process does."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from laboratory import wait_until
from test_records import Engine, by, engine, eos, run  # noqa: F401  fixtures

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"


class Running:
    """A step that hangs in a command, in a process of its own, as Salt runs it."""

    def __init__(self, eos, engine, directory: pathlib.Path, stubborn: bool):  # noqa: F811
        self.eos, self.path = eos, directory / "eos" / "steps" / "op" / "1.json"
        self.child_file = directory / "child"

        def hang(**_: object) -> dict:
            if stubborn:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            command = [sys.executable, "-c", STUBBORN] if stubborn else ["sleep", "600"]
            child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
            if stubborn:
                child.stdout.readline()
            self.child_file.write_text(str(child.pid))
            child.wait()
            return {"result": False, "error": None, "stopped": True, "terraform": {"ran": True}}

        eos.__salt__["eos_terraform.ensure_infrastructure"] = hang
        self.pid = os.fork()
        if self.pid == 0:
            # What is not caught in a step must not become pytest's.
            try:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                run(eos, **by("eos-operator"))
            finally:
                os._exit(0)
        self.child = int(wait_until("the command", lambda: self.child_file.exists() and self.child_file.read_text()))
        assert self.status()["status"] == "running"

    def status(self) -> dict:
        return self.eos.status(operation="op", step="1")

    def stop(self, user: str | None = "eos-operator") -> dict:
        return self.eos.stop(operation="op", step="1", **by(user))

    def end(self):
        for pid in (self.child, self.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        os.waitpid(self.pid, 0)


@pytest.fixture
def running(eos, engine, tmp_path, monkeypatch, request):  # noqa: F811
    monkeypatch.setattr(eos, "_SECONDS_TO_SAVE", 1)
    monkeypatch.setattr(eos, "_SECONDS_TO_DIE", 5)
    engine.there = [("medium", "it was so")]
    step = Running(eos, engine, tmp_path, stubborn=getattr(request, "param", False))
    yield step
    step.end()


def is_running(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("running", [False, True], indirect=True, ids=["obeys", "stubborn"])
def test_a_hanging_step_is_stopped_with_its_children(running, eos, engine):  # noqa: F811
    record = running.stop()
    assert (record["status"], record["stopped_by"]) == ("interrupted", "eos-operator"), record
    assert "eos-operator stopped the step" in record["error"]["words"] and record["ended"], record
    assert not is_running(running.pid) and not is_running(running.child)
    assert running.status() == record == json.loads(running.path.read_text())
    # It is run again as after a crash.
    eos.__salt__["eos_terraform.ensure_infrastructure"] = engine.ensure
    again = run(eos, **by("eos-operator"))
    assert again["status"] == "done" and "stopped_by" not in again


def test_what_may_not_be_run_may_not_be_stopped(running, eos):  # noqa: F811
    with pytest.raises(eos.CommandExecutionError, match="needs approval: .*medium risk.*it was so"):
        running.stop("eos-user")
    with pytest.raises(eos.CommandExecutionError, match="has no role"):
        running.stop("stranger")
    assert running.status()["status"] == "running" and is_running(running.pid)
    # The approval of the step is one to stop it.
    digest = eos.__utils__["eos_digest.of_json"]([running.status()["function"], running.status()["arguments"]])
    eos.approve(operation="op", plan="0" * 64, calls={"1": digest}, minutes=5, **by("eos-architect"))
    assert running.stop("eos-user")["stopped_by"] == "eos-user"


def test_a_step_that_is_not_running_is_left_as_it_is(eos, engine):  # noqa: F811
    assert eos.stop(operation="op", step="1", **by("eos-user")) == {"status": "unknown"}
    first = run(eos, **by("eos-operator"))
    del first["observed"]
    assert eos.stop(operation="op", step="1", **by("eos-user")) == first
    for malformed in ({"operation": "../op"}, {"step": "1.lock"}):
        with pytest.raises(eos.SaltInvocationError):
            eos.stop(**{"operation": "op", "step": "1", **malformed})


def test_a_step_that_ends_while_it_is_stopped_keeps_its_own_end(running, eos):  # noqa: F811
    end = eos.__utils__["eos_process.end"]

    def ends_first(*arguments: object) -> bool:
        record = json.loads(running.path.read_text())
        running.path.write_text(json.dumps({**record, "status": "done", "ended": "now"}))
        return end(*arguments)

    eos.__utils__["eos_process.end"] = ends_first
    record = running.stop()
    assert (record["status"], record["ended"]) == ("done", "now") and "stopped_by" not in record


def test_a_process_that_has_the_number_of_another_is_not_signalled(eos, tmp_path):  # noqa: F811
    run(eos)
    path = tmp_path / "eos" / "steps" / "op" / "1.json"
    record = json.loads(path.read_text())
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        its = {"pid": stranger.pid, "boot": eos.__utils__["eos_process.boot"]()}
        for process in ({**its, "start": 1}, {**its, "start": start_of(stranger.pid), "boot": "another"}):
            path.write_text(json.dumps({**record, "status": "running", "process": process}))
            assert eos.stop(operation="op", step="1")["status"] == "interrupted"
            # The number was given away after the record was read.
            assert eos.__utils__["eos_process.end"](process, 1, 1) is True
        time.sleep(0.2)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def start_of(pid: int) -> int:
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def test_a_minion_that_runs_steps_in_itself_is_not_ended(eos, tmp_path):  # noqa: F811
    run(eos)
    path = tmp_path / "eos" / "steps" / "op" / "1.json"
    own = {"status": "running", "process": eos.__utils__["eos_process.own"]()}
    path.write_text(json.dumps({**json.loads(path.read_text()), **own}))
    with pytest.raises(eos.CommandExecutionError, match="set multiprocessing to true"):
        eos.stop(operation="op", step="1")


@pytest.mark.parametrize("status", ["running", "failed", "interrupted", "done"])
@pytest.mark.parametrize(
    ("first", "second", "runs"),
    [
        ("eos-user", "eos-user", True),
        ("eos-user", "eos-operator", True),
        ("eos-operator", "eos-user", False),
        (None, None, True),
        (None, "eos-architect", False),
    ],
)
def test_a_step_that_an_earlier_formula_left_is_run_again(eos, engine, tmp_path, status, first, second, runs):  # noqa: F811
    """Its function is no more: what it was called with cannot be compared, and must not block the step forever."""
    path = tmp_path / "eos" / "steps" / "op" / "1.json"
    gone = subprocess.Popen(["true"])
    gone.wait()
    old = {
        "operation": "op",
        "step": "1",
        "function": "eos.run_step",
        "arguments": {"sls": "components.hello.production.workspace", "digest": "0" * 64},
        "user": first,
        "status": status,
        "started": "then",
        "ended": None,
        "process": {"pid": gone.pid, "start": 1, "boot": "another"},
        "result": {"states": [], "terraform": None},
        "error": None,
    }
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(old))
    assert eos.status(operation="op", step="1")["status"] == ("interrupted" if status == "running" else status)
    if runs:
        assert run(eos, **by(second))["status"] == "done"
        assert engine.ran == ["production/hello"]
    else:
        with pytest.raises(eos.SaltInvocationError, match="called before with other arguments"):
            run(eos, **by(second))
        assert engine.ran == [] and json.loads(path.read_text()) == old
