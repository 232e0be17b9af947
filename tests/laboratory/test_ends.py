"""The end of an operation: nobody else begins with its components before it is written, and nothing is kept for ever."""

import fcntl
import os
import signal
import sqlite3
import subprocess
from contextlib import closing, contextmanager

import pytest
from estates import PROGRAM, Estate, struck

SEALED = """\
recipe: sealed
summary: Has a secret, and needs an approval
version: "1"
risk: high
options:
  password: {type: secret, help: of a person's choice}
services:
  sealed:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello]
    secrets: {SEALED_PASSWORD: {file: password}}
    ports: {http: {}}
    check: {http: /health}
"""


@contextmanager
def held(path):
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_held(path) -> bool:
    with path.open("r") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def store(estate: Estate):
    return closing(sqlite3.connect(estate.root / ".eos/store.db", timeout=20, isolation_level=None))


def newest(estate: Estate) -> int:
    with store(estate) as opened:
        return opened.execute("SELECT max(number) FROM operations").fetchone()[0]


def has(estate: Estate, number: int, event: str, step: str) -> bool:
    """Whether a step of the operation with this number began, or ended."""
    of = "SELECT 1 FROM journal JOIN operations ON operation = id WHERE number = ? AND event = ? AND step LIKE ?"
    with store(estate) as opened:
        return opened.execute(of, [number, event, f"%-{step}"]).fetchone() is not None


def git(estate: Estate, *words: str) -> str:
    named = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words]
    return subprocess.run(named, cwd=estate.root, check=True, capture_output=True, text=True).stdout.strip()


def applied(estate: Estate) -> str:
    return git(estate, "rev-parse", "refs/eos/applied/production")


def test_the_end_is_written_before_others_may_begin(estate):
    estate.must("create", "hello", "--name", "earlier", "--yes")
    estate.write_recipe("ender", SEALED.replace("sealed", "ender").replace("risk: high", "risk: low"))
    before = applied(estate)
    number = newest(estate) + 1
    words = [PROGRAM, "--estate", str(estate.root), "create", "ender", "--password", "-", "--yes"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = subprocess.Popen(words, **pipes, text=True)
    running.stdin.write("given with it\n")
    running.stdin.close()
    running.stdin = None
    estate.wait_until(lambda: has(estate, number, "begin", "terraform"), 60, "it is delivered")
    with held(estate.root / ".eos/locks/estate.lock"):
        # Another operation commits: the estate's lock is its own.
        with store(estate) as opened:
            row = opened.execute("SELECT * FROM operations WHERE number = ?", [number])
            columns = [column[0] for column in row.description]
            other = dict(zip(columns, row.fetchone(), strict=True)) | {"id": "another", "number": number + 1}
        estate.wait_until(lambda: has(estate, number, "end", "healthy"), 60, "its last step ended")
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(4)
        assert applied(estate) == before
        git(estate, "commit", "--quiet", "--allow-empty", "-m", "another operation")
        with store(estate) as opened:
            marks = ", ".join("?" * len(columns))
            opened.execute(f"INSERT INTO operations ({', '.join(columns)}) VALUES ({marks})", list(other.values()))
        nomad = struck(estate, "nomad")
        nomad.__enter__()
    try:
        # It cannot remove what it kept in Nomad, and so has not come to its end.
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(4)
        assert is_held(estate.root / ".eos/locks/production/ender.lock")
    finally:
        nomad.__exit__(None, None, None)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert applied(estate) != git(estate, "rev-parse", "HEAD"), "another operation is on its way there"
    assert not (estate.root / ".eos/locks/production/ender.lock").exists()
    with store(estate) as opened:
        opened.execute("DELETE FROM operations WHERE id = 'another'")
    estate.must("update", "earlier", "--greeting", "after the end", "--yes")
    assert applied(estate) == git(estate, "rev-parse", "HEAD")


def given(estate: Estate, operation: str) -> list[str]:
    """Where the secrets that a person gave with an operation wait."""
    found = estate.nomad("/v1/vars?namespace=default&prefix=eos_users/") or []
    return [one["Path"] for one in found if f"/given/{operation}/" in one["Path"]]


def test_a_secret_of_an_operation_that_nobody_approves_is_given_back(estate):
    estate.write_recipe("sealed", SEALED)
    ran = estate.eos("create", "sealed", "--password", "-", "--yes", input="a secret of mine")
    assert "waits for approval" in " ".join(ran.stderr.split()), ran.stderr
    waiting = estate.json("history")["operations"][0]["id"]
    assert given(estate, waiting)
    estate.must("create", "hello", "--name", "next", "--yes")
    assert given(estate, waiting), "fifty may begin meanwhile"
    with store(estate) as opened:
        opened.execute("UPDATE operations SET number = number + 60 WHERE id != ?", [waiting])
    estate.must("update", "next", "--greeting", "the fiftieth", "--yes")
    assert not given(estate, waiting)
    ran = estate.eos("resume", waiting)
    assert ran.returncode == 2 and "it is rolled back" in " ".join(ran.stderr.split()), ran.stderr


def test_no_process_of_eos_leaves_its_memory_on_a_disk(estate, tmp_path):
    """It stands still where it reads the pillar, which is a pipe here."""
    pipe = tmp_path / "pillar/infrastructure/common.sls"
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    (tmp_path / "eos.toml").write_text('profile = "solo"\n')
    words = ["sh", "-c", 'ulimit -c unlimited && exec "$@"', "sh", PROGRAM, "--estate", tmp_path, "compile", "--check"]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        limits = f"/proc/{running.pid}/limits"
        core = lambda: next(line for line in open(limits) if line.startswith("Max core file size"))  # noqa: E731, SIM115
        estate.wait_until(lambda: core().split()[4] == "0", 10, "it limits its core to nothing")
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait(10)
