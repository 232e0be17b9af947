"""Roles on real engines: approvals that Salt enforces, the home, and an audit that shows every change of it."""

import hashlib
import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from estates import PROGRAM, Estate

RECIPE = """\
recipe: {name}
summary: A page of {risk} risk
version: "1"
risk: {risk}
options:
  greeting: {{type: string, default: Hello, help: First line of the page}}
services:
  page:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{{{ listen_address }}}}"]
    env: {{EOS_HELLO_GREETING: "{{{{ greeting }}}}"}}
    ports: {{http: {{}}}}
    check: {{http: /health}}
"""
WAITING = 4


@pytest.fixture(autouse=True)
def home(estate):
    """The estate is operated from here, whichever test is the first; a viewer could not take it."""
    estate.must("home", "take", "--yes")


@pytest.fixture
def governed(estate):
    """The estate with a recipe of high and one of medium risk; nothing of them is left."""
    for name, risk in [("guard", "high"), ("tracker", "medium")]:
        recipe = estate.root / f"recipes/{name}/recipe.yaml"
        recipe.parent.mkdir(parents=True, exist_ok=True)
        recipe.write_text(RECIPE.format(name=name, risk=risk))
    yield estate
    for name in ["guard", "tracker"]:
        if f"production/{name}" in estate.jobs():
            carried_out(estate, "delete", name)
    shutil.rmtree(estate.root / "recipes/guard", ignore_errors=True)
    shutil.rmtree(estate.root / "recipes/tracker", ignore_errors=True)


def waits(estate: Estate, *words: str, env: dict | None = None) -> str:
    """The command is refused for want of an approval; the id of its operation."""
    ran = estate.eos(*words, "--yes", "--json", env=env)
    assert ran.returncode == WAITING, f"exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    error = json.loads(ran.stdout.strip().split("\n")[-1])
    assert error["event"] == "error" and "waits for approval" in error["message"], error
    return error["operation"]


def carried_out(estate: Estate, *words: str):
    """What an operator asks for and an architect approves."""
    ran = estate.eos(*words, "--yes", "--json")
    if ran.returncode == WAITING:
        operation = json.loads(ran.stdout.strip().split("\n")[-1])["operation"]
        estate.must("approve", operation, "--as", "eos-architect", "--yes")
        ran = estate.eos("resume", operation)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"


def approval_file(estate: Estate, operation: str) -> Path:
    return next(estate.lab.glob(f"salt/**/eos/approvals/{operation}.json"))


def outcome(estate: Estate, operation: str) -> str:
    return estate.json("history", "show", operation)["operation"]["outcome"]


def test_high_risk_needs_an_architect_who_did_not_ask(governed):
    head = subprocess.run(["git", "-C", governed.root, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    operation = waits(governed, "create", "guard")
    assert outcome(governed, operation) == "waiting for approval"
    # Nothing was changed: neither in the pillar nor in an engine.
    assert "production/guard" not in governed.jobs()
    again = subprocess.run(["git", "-C", governed.root, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    assert head == again and "guard" not in (governed.root / "pillar/infrastructure/production.sls").read_text()
    assert governed.eos("resume", operation).returncode == WAITING

    for user, why in [("eos-operator", "asked for it"), ("eos-user", "its risk is high")]:
        refused = governed.eos("approve", operation, "--as", user, "--yes")
        assert refused.returncode == 1 and why in refused.stderr, refused.stderr
    # An architect cannot approve what the same user asks for, either.
    own = waits(governed, "create", "guard", env={"EOS_SALT_USER": "eos-architect"})
    refused = governed.eos("approve", own, "--as", "eos-architect", "--yes")
    assert refused.returncode == 1 and "asked for it" in refused.stderr, refused.stderr
    # Nobody is there to say yes.
    assert governed.eos("approve", operation, "--as", "eos-architect").returncode == 2
    assert not list(governed.lab.glob(f"salt/**/eos/approvals/{operation}.json"))

    governed.must("approve", operation, "--as", "eos-architect", "--minutes", "5", "--yes")
    approval = json.loads(approval_file(governed, operation).read_text())
    assert (approval["by"], approval["role"]) == ("eos-architect", "architect")
    governed.must("resume", operation)
    assert len(governed.running("guard")) == 1
    assert outcome(governed, operation) == "done"
    # What is done waits for nothing.
    assert governed.eos("approve", operation, "--as", "eos-architect", "--yes").returncode == 2

    # To take it away is as risky.
    gone = waits(governed, "delete", "guard")
    assert len(governed.running("guard")) == 1
    governed.must("approve", gone, "--as", "eos-architect", "--yes")
    governed.must("resume", gone)
    assert "production/guard" not in governed.jobs()


def test_an_approval_ends_by_itself_and_is_for_one_plan(governed):
    operation = waits(governed, "create", "guard")
    governed.must("approve", operation, "--as", "eos-architect", "--yes")
    # On the minion it is over, though Eos has not noticed: Salt refuses the step, and the operation waits again.
    file = approval_file(governed, operation)
    approval = json.loads(file.read_text())
    file.write_text(json.dumps({**approval, "until": "2020-01-01T00:00:00+00:00"}))
    ran = governed.eos("resume", operation)
    assert ran.returncode == WAITING, ran.stderr
    assert outcome(governed, operation) == "waiting for approval"
    assert "production/guard" not in governed.jobs()
    # Nor does one for other calls help.
    other = {step: "0" * 64 for step in approval["calls"]}
    file.write_text(json.dumps({**approval, "calls": other}))
    assert governed.eos("resume", operation).returncode == WAITING
    governed.must("approve", operation, "--as", "eos-architect", "--yes")
    governed.must("resume", operation)
    assert len(governed.running("guard")) == 1


def test_medium_risk_is_for_operators(governed):
    as_user = {"EOS_SALT_USER": "eos-user"}
    operation = waits(governed, "create", "tracker", env=as_user)
    assert "production/tracker" not in governed.jobs()
    governed.must("approve", operation, "--as", "eos-operator", "--yes")
    governed.must("resume", operation, env=as_user)
    assert len(governed.running("tracker")) == 1
    # An operator asks nobody.
    governed.must("update", "tracker", "--greeting", "Hi", "--yes")
    governed.must("delete", "tracker", "--yes")


def test_low_risk_is_for_everybody(governed):
    as_user = {"EOS_SALT_USER": "eos-user"}
    governed.must("create", "hello", "--yes", env=as_user)
    governed.must("delete", "hello", "--yes", env=as_user)


def elsewhere(estate: Estate, root: Path) -> Estate:
    """The same estate on what is another machine to it: the repository, and where the engines are."""
    subprocess.run(["git", "clone", "-q", estate.root, root], check=True)
    (root / ".eos/lab").mkdir(parents=True)
    shutil.copy(estate.lab / "endpoints.json", root / ".eos/lab")
    return Estate(root)


def test_one_machine_operates_an_estate(estate, tmp_path):
    estate.must("create", "hello", "--yes")
    first = estate.json("home")
    assert first["is_here"] and first["home"]["home"] == first["this"]["id"]
    other = elsewhere(estate, tmp_path / "other")
    other.must("plan")
    other.must("create", "hello", "--name", "second", "--plan")
    refused = other.eos("delete", "hello", "--yes")
    assert refused.returncode == 2 and "eos home take" in refused.stderr, refused.stderr
    assert len(estate.running("hello")) == 1

    assert other.eos("home", "take").returncode == 2, "nobody was there to confirm it"
    other.must("home", "take", "--yes")
    assert other.json("home")["is_here"] and not estate.json("home")["is_here"]
    refused = estate.eos("delete", "hello", "--yes")
    assert refused.returncode == 2 and "eos home take" in refused.stderr, refused.stderr
    taken = other.json("audit", "show")["entries"][0]
    assert (taken["action"], taken["detail"]["instead_of"]["home"]) == ("take home", first["this"]["id"])

    estate.must("home", "take", "--yes")
    estate.must("delete", "hello", "--yes")
    # The commits name entries of the first audit, which the other one does not have.
    other.must("audit", "verify")
    estate.must("audit", "verify")


COLUMNS = ["seq", "at", "who", "user", "action", "object", "outcome", "detail", "previous", "hash"]


def chain_fits(store: sqlite3.Connection) -> bool:
    """The chain as anybody can compute it."""
    previous = ""
    rows = store.execute(f"SELECT {', '.join(COLUMNS)} FROM audit ORDER BY seq").fetchall()
    for number, row in enumerate(rows, 1):
        entry = dict(zip(COLUMNS, row, strict=True))
        found = entry.pop("hash")
        entry["detail"] = json.loads(entry["detail"])
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if (entry["seq"], entry["previous"]) != (number, previous):
            return False
        if hashlib.sha256(text.encode()).hexdigest() != found:
            return False
        previous = found
    return bool(rows)


def test_the_audit_shows_every_change_of_it(estate, tmp_path):
    estate.must("login", "--user", "eos-architect")
    estate.must("create", "hello", "--yes")
    estate.must("delete", "hello", "--yes")
    entries = estate.json("audit", "show", "--limit", "1000")["entries"]
    actions = [entry["action"] for entry in entries]
    assert {"login", "operation begun", "operation ended"} <= set(actions)
    verdict = estate.json("audit", "verify")
    assert verdict["entries"] == len(entries) and verdict["anchors"] >= 2 and verdict["misfit"] is None

    # Without the lab: what is to be looked at is the store and the repository.
    pristine = tmp_path / "pristine"
    shutil.copytree(estate.root, pristine, ignore=shutil.ignore_patterns("lab"), symlinks=True)
    with sqlite3.connect(pristine / ".eos/store.db") as store:
        assert chain_fits(store)
        triggers = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for forbidden in ["DELETE FROM audit", "UPDATE audit SET who = 'eve'", "DELETE FROM journal"]:
            with pytest.raises(sqlite3.DatabaseError, match="append-only"):
                store.execute(forbidden)

    def after(number: int, *statements: str) -> subprocess.CompletedProcess:
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(pristine, copy, symlinks=True)
        with sqlite3.connect(copy / ".eos/store.db") as store:
            for trigger in triggers:
                store.execute(f"DROP TRIGGER {trigger}")
            for statement in statements:
                assert store.execute(statement).rowcount > 0, statement
        ran = subprocess.run([PROGRAM, "--estate", copy, "audit", "verify"], capture_output=True, text=True)
        shutil.rmtree(copy)
        return ran

    assert after(0).returncode == 0
    changed = {
        f"UPDATE audit SET {column} = 'x' || substr({column}, 2) WHERE seq = 2": "Entry 2 " for column in COLUMNS[1:]
    }
    changed |= {
        "UPDATE audit SET seq = 1000 WHERE seq = 2": "Entry 2 ",
        f"DELETE FROM audit WHERE seq = {len(entries)}": f"Entry {len(entries)} ",
        "UPDATE journal SET detail = replace(detail, 'e', 'E') WHERE seq = (SELECT max(seq) FROM journal)": "journal",
        "UPDATE operations SET plan = replace(plan, 'hello', 'hallo')": "plan",
    }
    for number, (statement, named) in enumerate(changed.items(), 1):
        ran = after(number, statement)
        assert ran.returncode == 1 and named in ran.stderr, f"{statement}: {ran.stdout}{ran.stderr}"
    # The tail cut, and SQLite's own count with it: the commits still know.
    cut = [
        f"DELETE FROM audit WHERE seq > {len(entries) - 2}",
        "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'audit'",
    ]
    ran = after(100, *cut)
    assert ran.returncode == 1 and "commit" in ran.stderr, ran.stderr


def test_operations_at_once_keep_the_chain(estate):
    names = ["alpha", "beta"]
    begun = [estate.start("create", "hello", "--name", name, "--yes") for name in names]
    for process in begun:
        out, error = process.communicate(timeout=400)
        assert process.returncode == 0, f"{out}\n{error}"
    for name in names:
        estate.must("delete", name, "--yes")
    estate.must("audit", "verify")
