"""Every operation can be ended: the first of an environment, one on top of a failed one, one after a tried rollback."""

import json
import signal
import sqlite3
from pathlib import Path

import pytest
import witness
from estates import Estate

# More than any machine has: Nomad places it nowhere.
TOO_MUCH = ("--cpu", "999999")


@pytest.fixture
def empty(estate):
    """An estate whose pillar names production alone, as a new one does."""
    clear(estate)
    yield estate
    clear(estate)


def clear(estate: Estate) -> None:
    for environment in ("staging", "development"):
        if witness.pillar(estate, "first", environment):
            estate.must("delete", "first", "-e", environment, "--yes")
        file = pillar_file(estate, environment)
        if file.exists():
            file.unlink()
            estate.must("compile")
            witness.git(estate, "add", "--all", "pillar")
            witness.git(estate, "commit", "--quiet", "-m", f"Remove {environment}")


def pillar_file(estate: Estate, environment: str = "staging") -> Path:
    return estate.root / f"pillar/infrastructure/{environment}.sls"


def create(*words: str) -> tuple[str, ...]:
    return ("create", "hello", "--name", "first", "-e", "staging", "--yes", *words)


def newest(estate: Estate) -> dict:
    return estate.json("history", "--limit", "1")["operations"][0]


def outcome(estate: Estate, operation: str) -> str:
    return estate.json("history", "show", operation)["operation"]["outcome"]


def is_new(estate: Estate, environment: str = "staging") -> None:
    """Neither the pillar nor an engine knows the environment."""
    assert not pillar_file(estate, environment).exists()
    assert environment not in witness.environments(estate)
    assert [job for job in estate.jobs() if job.startswith(f"{environment}/")] == []
    assert estate.files(f"terraform/**/{environment}/*/state/terraform.tfstate") == []
    assert witness.git(estate, "status", "--porcelain") == ""
    assert witness.git(estate, "ls-tree", "HEAD", str(pillar_file(estate, environment))) == ""


def fails(estate: Estate, *words: str) -> dict:
    ran = estate.eos(*words, "--json")
    assert ran.returncode in (1, 2), f"{ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    (error,) = [one for one in map(json.loads, ran.stdout.splitlines()) if one.get("event") == "error"]
    return error


def test_the_first_operation_of_an_environment_fails_and_is_rolled_back(empty):
    error = fails(empty, *create(*TOO_MUCH))
    assert "taken_back" in error and "stands" not in error, error
    assert newest(empty)["outcome"] == "taken back"
    is_new(empty)


def test_it_is_killed_and_rolled_back_and_the_rollback_is_killed_too(empty):
    ran = empty.eos(*create(), env={"EOS_FAULT_KILL_AT": "10"})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    killed = newest(empty)["id"]
    assert pillar_file(empty).exists()
    ran = empty.eos("rollback", killed, "--yes", env={"EOS_FAULT_KILL_AT": "5"})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    empty.must("resume", killed)
    assert outcome(empty, killed) == "taken back"
    is_new(empty)


def test_it_is_undone_and_the_undo_is_rolled_back(empty):
    empty.must(*create())
    pillar = pillar_file(empty).read_text()
    plan = empty.json("undo", "--plan")["plan"]
    assert plan["pillar"] == {"pillar/infrastructure/staging.sls": None}, plan["pillar"]
    empty.must("undo", "--yes")
    is_new(empty)
    empty.must("rollback", newest(empty)["id"], "--yes")
    assert pillar_file(empty).read_text() == pillar
    assert empty.running("first", "staging")


def test_a_promotion_into_a_new_environment_is_rolled_back(empty):
    empty.must(*create())
    empty.must("promote", "first", "--from", "staging", "--to", "development", "--yes")
    assert empty.running("first", "development")
    empty.must("rollback", newest(empty)["id"], "--yes")
    is_new(empty, "development")
    assert empty.running("first", "staging")


def test_one_on_top_of_a_failed_one_and_the_failed_one_both_end(empty):
    below = fails(empty, *create(*TOO_MUCH), "--keep")["operation"]
    above = fails(empty, "update", "first", "-e", "staging", "--cpu", "888888", "--yes")["operation"]
    # Its way back leads to what failed before.
    assert (outcome(empty, below), outcome(empty, above)) == ("failed", "failed")
    for operation in (below, above):
        empty.must("rollback", operation, "--yes")
        assert outcome(empty, operation) == "taken back"
    is_new(empty)
    empty.must(*create())
    assert empty.running("first", "staging")


def test_one_that_others_built_upon_is_dismissed_with_a_reason(empty):
    below = fails(empty, *create(*TOO_MUCH), "--keep")["operation"]
    empty.must("update", "first", "-e", "staging", "--cpu", "50", "--yes")
    for way in ("resume", "rollback"):
        ran = empty.eos(way, below, "--yes")
        assert ran.returncode == 2, ran.stderr
        assert f"eos rollback {below} --dismiss REASON" in " ".join(ran.stderr.split()), ran.stderr
        assert outcome(empty, below) == "failed"
    assert empty.eos("rollback", below, "--dismiss", " ", "--yes").returncode == 2
    reason = "the update after it set the right number"
    told = empty.json("rollback", below, "--dismiss", reason, "--yes")
    assert "terraform of first in staging: begun" in told["stays"], told
    assert outcome(empty, below) == "dismissed"
    entries = empty.json("audit", "show")["entries"]
    assert reason in [one["detail"]["reason"] for one in entries if one["action"] == "operation dismissed"]
    empty.must("audit", "verify")
    assert reason in empty.must("history", "show", below).stdout
    for way in (("resume", below), ("rollback", below, "--yes"), ("rollback", below, "--dismiss", reason, "--yes")):
        ran = empty.eos(*way)
        assert ran.returncode == 2 and "dismissed" in ran.stderr, ran.stderr
    assert empty.running("first", "staging")


def test_one_that_waits_on_its_way_is_rolled_back_for_real(empty):
    ran = empty.eos(*create(), env={"EOS_FAULT_KILL_AT": "10"})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    killed = newest(empty)["id"]
    # As where the approval of it ends after its first steps.
    with sqlite3.connect(empty.root / ".eos/store.db") as store:
        store.execute("UPDATE operations SET outcome = 'waiting for approval' WHERE id = ?", [killed])
    store.close()
    empty.must("rollback", killed, "--yes")
    is_new(empty)
