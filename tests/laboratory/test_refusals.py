"""Terraform and Nomad refuse before the first effect: with --yes, at a prompt, and for a plan from a file."""

import json
import os
import pty
import subprocess

import pytest
import witness
from estates import PROGRAM

# It needs a secret and a directory before its workspace.
SITTER = """\
recipe: sitter
summary: Has a volume and a secret
version: "1"
options:
  data_path: {type: path, default: "/opt/{{ instance }}/data", help: Where the data lie on the host}
  key: {type: secret, generate: 24, help: A key}
needs:
  data: {volume: {purpose: application, size: 1GiB, path: "{{ data_path }}"}}
services:
  sitter:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello]
    secrets: {SITTER_KEY: {file: key}}
    ports: {http: {}}
    check: {http: /health}
"""
COMMON, PRODUCTION = "pillar/infrastructure/common.sls", "pillar/infrastructure/production.sls"
GHOST = "  ghost: {address: 127.0.0.9, roles: [client]}\n"
NOWHERE = "#!yaml\ncomponents:\n  sitter:\n    recipe: sitter\n    hosts: {data: [ghost]}\n"


@pytest.fixture(scope="module")
def strict(estate):
    estate.write_recipe("sitter", SITTER)
    return estate


@pytest.fixture
def by_hand(strict):
    """Writes the pillar of production by hand; afterwards it is as it was."""
    before = {path: (strict.root / path).read_text() for path in (COMMON, PRODUCTION)}
    yield lambda text: strict.write(PRODUCTION, text)
    for path, text in before.items():
        strict.write(path, text)


@pytest.fixture
def homeless(strict, by_hand):
    """A volume lies on a host of the pillar that Nomad has no node of."""
    strict.write(COMMON, (strict.root / COMMON).read_text() + GHOST)
    by_hand(NOWHERE)
    return strict


@pytest.fixture
def without_rights(strict):
    """Terraform's token may neither read nor submit a job, so that Terraform can plan none."""
    path = "/v1/acl/policy/eos-deploy"
    policy = strict.nomad(path)
    rules = policy["Rules"]
    for right in ('"submit-job",', '"parse-job",'):
        assert right in rules
        rules = rules.replace(right, "")

    def strip():
        strict.nomad(path, "POST", {**policy, "Rules": rules})

    def give_back():
        strict.nomad(path, "POST", policy)

    yield strip, give_back
    give_back()


def untouched(estate, component: str, operations: list[dict]):
    """Nothing of it is there, and no operation of it began."""
    witness.nothing(estate, component)
    assert not (estate.lab / f"volumes/opt/{component}").exists()
    assert not estate.nomad("/v1/vars?namespace=*&prefix=eos_")
    assert witness.operations(estate, component) == operations
    (row,) = [one for one in estate.json("list")["components"] if one["component"] == component]
    assert (row["applied"], row["operation"]) == ("no", None)


def test_a_volume_on_a_node_that_nomad_lacks_stops_before_secret_and_directory(homeless):
    estate = homeless
    before, head = witness.operations(estate, "sitter"), witness.git(estate, "rev-parse", "HEAD")
    refused = estate.eos("create", "sitter", "--yes")
    words = " ".join(refused.stderr.split())
    assert refused.returncode == 1, refused.stderr
    assert "Nothing was changed: nomad refused node ghost" in words and "hint:" in words, refused.stderr
    said = estate.eos("create", "sitter", "--yes", "--json")
    event = json.loads(said.stdout.strip().split("\n")[-1])
    assert said.returncode == 1 and event["event"] == "error", said.stdout
    assert (event["layer"], event["object"]) == ("nomad", "node ghost") and event["hint"], event
    untouched(estate, "sitter", before)
    assert witness.git(estate, "rev-parse", "HEAD") == head


def test_a_plan_shows_the_refusal_and_nobody_can_confirm_it(homeless, tmp_path):
    estate, out = homeless, tmp_path / "plan.json"
    before = witness.operations(estate, "sitter")
    estate.must("create", "sitter", "--plan", "--out", str(out))
    (refused,) = json.loads(out.read_text())["refused"]
    assert (refused["engine"], refused["object"]) == ("nomad", "node ghost"), refused
    screen, code = on_a_terminal(estate, "create", "sitter")
    assert code == 1 and "nomad refuses node ghost" in screen, screen
    assert "Apply?" not in screen and "Nothing was changed" in screen, screen
    # The file says it; applying it asks again.
    applied = estate.eos("apply", str(out), "--yes")
    assert applied.returncode == 1 and "nomad refused node ghost" in applied.stderr, applied.stderr
    untouched(estate, "sitter", before)


def on_a_terminal(estate, *words: str) -> tuple[str, int]:
    """What a person sees who says yes to everything, in one line, and the exit code."""
    ours, theirs = pty.openpty()
    os.write(ours, b"y\ny\n")
    command = [PROGRAM, "--estate", str(estate.root), "--color", "never", *words]
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    screen = b""
    try:
        while chunk := os.read(ours, 4096):
            screen += chunk
    except OSError:
        # Linux says so once the last program has left the terminal.
        pass
    os.close(ours)
    return " ".join(screen.decode().split()), running.wait(timeout=60)


def test_a_pillar_with_a_wrong_type_is_refused_with_its_place(strict, by_hand):
    before = witness.operations(strict, "sitter")
    by_hand(NOWHERE.replace("hosts: {data: [ghost]}", "options: {replicas: many}"))
    for words in (("apply",), ("create", "sitter")):
        refused = strict.eos(*words, "--yes")
        assert refused.returncode == 2, refused.stderr
        assert '"many" is not a whole number' in refused.stderr and "hint:" in refused.stderr, refused.stderr
        assert f"{PRODUCTION}:5:25" in refused.stderr, refused.stderr
    witness.nothing(strict, "sitter")
    by_hand("#!yaml\ncomponents: {}\n")
    assert witness.operations(strict, "sitter") == before


def test_a_plan_from_a_file_is_asked_again_and_a_way_back_is_not(strict, without_rights, tmp_path):
    estate, out = strict, tmp_path / "plan.json"
    strip, give_back = without_rights
    estate.must("create", "hello", "--replicas", "1", "--yes")
    estate.must("update", "hello", "--greeting", "second", "--plan", "--out", str(out))
    plan = json.loads(out.read_text())
    assert plan["unasked"] == [] and "refused" not in plan
    before = witness.operations(estate, "hello")
    strip()
    refused = estate.eos("apply", str(out), "--yes")
    words = " ".join(refused.stderr.split())
    assert refused.returncode == 1 and "Nothing was changed: nomad refused" in words, refused.stderr
    assert "Permission denied" in words and "hint:" in words, refused.stderr
    assert witness.operations(estate, "hello") == before
    witness.serves(estate, "hello", "Hello from Eos")
    give_back()
    estate.must("apply", str(out), "--yes")
    witness.serves(estate, "hello", "second")

    # What was there before is put back, and what goes away goes: an engine's word is shown, and stops neither.
    strip()
    back = estate.json("undo", "--plan")["plan"]
    assert "refused" not in back and back["unasked"], back
    gone = estate.json("delete", "hello", "--plan")["plan"]
    assert "refused" not in gone, gone
    applied = witness.operations(estate, "hello")[0]["id"]
    began = estate.eos("undo", "--yes")
    operation = witness.operations(estate, "hello")[0]
    assert began.returncode == 1 and "Step " in began.stderr, began.stderr
    assert operation["id"] != applied and operation["outcome"] == "taken back", operation
    give_back()
    witness.serves(estate, "hello", "second")
    estate.must("delete", "hello", "--yes")
