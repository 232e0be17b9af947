"""A component that uses another: ordered, linked by address and secret, and deleted together. Real engines."""

import json
import re

import pytest
import witness
from estates import get

pytestmark = [pytest.mark.chain, pytest.mark.side_by_side]

STORE = """\
recipe: store
summary: Keeps things
version: "1"
options:
  title: {type: string, default: plain, help: What the store is called}
  password: {type: secret, generate: 24, help: What a reader must know}
services:
  store:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello]
    env: {EOS_HELLO_GREETING: "{{ title }}"}
    secrets: {STORE_PASSWORD: password}
    ports: {http: {}}
    check: {http: /health}
"""

NOTES = """\
recipe: notes
summary: Writes things into a store of its own
version: "1"
options:
  words: {type: list, default: [a], help: Words to write}
uses:
  store: {recipe: store, with: {title: "store of {{ component }}"}}
needs:
  key: {secret: {generate: 16}}
services:
  notes:
    replicas: 1
    cpu: 50
    memory: 64
    program: [/bin/sh, -c, "env; cat {{ files_dir }}/notes.conf {{ secrets_dir }}/secret.conf; exec eos serve-hello"]
    env:
      STORE_ADDRESS: "{{ store.address }}"
      STORE_TITLE: "{{ store.title }}"
    files:
      notes.conf: |
        store at {{ store.host }} port {{ store.port }}
        {% for word in words -%}
        word <{{ word }}>
        {% endfor -%}
    secrets:
      STORE_URL: {text: "store://u:{{ store.password }}@{{ store.address }}/x"}
      CONF: {file: secret.conf, text: "key={{ key }} password={{ store.password }}\\n"}
    ports: {http: {}}
    check: {http: /health}
"""

WORDS = ["{{y}}", '"z"', "100%s", "ü 🦀"]


@pytest.fixture(scope="module")
def recipes(estate):
    estate.write_recipe("store", STORE)
    estate.write_recipe("notes", NOTES)
    return estate


def variable(estate, component: str) -> dict:
    found = estate.nomad(f"/v1/var/nomad/jobs/{component}?namespace=production")
    return found["Items"] if found else {}


def address(estate, service: str) -> str:
    (one,) = estate.nomad(f"/v1/service/{service}?namespace=production")
    return f"{one['Address']}:{one['Port']}"


def written(estate) -> str:
    """What the one running instance of notes wrote when it started."""
    (allocation,) = estate.running("notes")
    found = estate.files(f"nomad/**/{allocation['ID']}/alloc/logs/notes.stdout.0")
    assert len(found) == 1, found
    return found[0].read_text()


def test_what_is_used_comes_first_and_is_linked(recipes):
    estate = recipes
    ran = estate.must("create", "notes", "--words", ",".join(WORDS), "--yes", "--json")
    events = [json.loads(line) for line in ran.stdout.strip().split("\n")]
    healthy = [one["component"] for one in events if one["event"] == "done" and one["title"] == "healthy"]
    assert healthy == ["notes-store", "notes"], "a dependent starts after its dependency's check passes"

    own, copy = variable(estate, "notes-store"), variable(estate, "notes")
    assert copy["store_password"] == own["password"]
    where = address(estate, "notes-store")
    assert "store of notes" in get(f"http://{where}/")[1]
    text = written(estate)
    environment = dict(re.findall(r"^([A-Z_]+)=(.*)$", text, re.M))
    assert environment["STORE_ADDRESS"] == where
    assert environment["STORE_TITLE"] == "store of notes"
    assert environment["STORE_URL"] == f"store://u:{own['password']}@{where}/x"
    host, port = where.split(":")
    lines = "".join(f"word <{word}>\n" for word in WORDS)
    assert f"store at {host} port {port}\n{lines}key={copy['key']} password={own['password']}\n" in text


def test_nothing_is_left_to_do(recipes):
    assert witness.pending(recipes, "notes") == witness.pending(recipes, "notes-store") == []


def test_a_change_of_what_is_used_reaches_its_user(recipes):
    estate = recipes
    before = {one["ID"] for one in estate.running("notes")}
    estate.must("update", "notes-store", "--title", "renamed", "--yes")
    assert "renamed" in get(f"http://{address(estate, 'notes-store')}/")[1]
    assert {one["ID"] for one in estate.running("notes")} != before
    assert "STORE_TITLE=renamed" in written(estate)


def test_a_given_secret_reaches_the_copy(recipes):
    estate = recipes
    estate.must("update", "notes-store", "--password", "-", "--yes", input="new-password-of-the-store\n")
    assert variable(estate, "notes-store")["password"] == "new-password-of-the-store"
    assert variable(estate, "notes")["store_password"] == "new-password-of-the-store"
    expected = "password=new-password-of-the-store"
    started = lambda: estate.running("notes") and expected in written(estate)  # noqa: E731
    estate.wait_until(started, 60, "the task is started again with the new secret")


def test_what_is_owned_cannot_go_alone_and_goes_along(recipes):
    estate = recipes
    refused = estate.eos("delete", "notes-store", "--yes")
    assert refused.returncode == 2 and "belongs to notes" in refused.stderr, refused.stderr
    estate.must("delete", "notes", "--yes")
    assert not [job for job in estate.jobs() if "/notes" in job]
    assert variable(estate, "notes") == {} and variable(estate, "notes-store") == {}
    assert witness.pending(estate, "notes") == witness.pending(estate, "notes-store") == []


def test_a_job_that_nomad_refuses_stops_before_what_it_uses_is_made(recipes):
    estate = recipes
    estate.write_recipe("notes", NOTES.replace("check: {http: /health}", "check: {http: 'http://elsewhere/'}"))
    before = witness.operations(estate, "notes")
    try:
        for words in ((), ("--json",), ("--keep",)):
            refused = estate.eos("create", "notes", "--yes", *words)
            said = refused.stdout + refused.stderr
            assert refused.returncode == 1 and "relative http path" in said, said
            assert "Nothing was changed: nomad refused" in " ".join(said.split()), said
        event = json.loads(estate.eos("create", "notes", "--yes", "--json").stdout.strip().split("\n")[-1])
        assert (event["event"], event["layer"]) == ("error", "nomad"), event
        assert "relative http path" in event["words"] and "notes" in event["object"] and event["hint"], event
        for component in ("notes-store", "notes"):
            witness.nothing(estate, component)
            assert witness.pillar(estate, component) == ""
        assert witness.operations(estate, "notes") == before, "no operation began"
        assert witness.pending(estate, "notes") == []
    finally:
        estate.write_recipe("notes", NOTES)


def test_a_failed_create_leaves_nothing_or_what_can_be_deleted(recipes):
    estate = recipes
    # Nomad takes the job and finds no place for it, when what it uses is there already.
    head, own = NOTES.split("  notes:\n    replicas")
    large = f"{head}  notes:\n    replicas{own.replace('cpu: 50', 'cpu: 900000')}"
    estate.write_recipe("notes", large)
    try:
        failed = estate.eos("create", "notes", "--yes")
        assert failed.returncode == 1 and "900000 MHz wanted" in " ".join(failed.stderr.split()), failed.stderr
        assert "rolled back:" in failed.stderr and not [job for job in estate.jobs() if "/notes" in job], failed.stderr
        assert variable(estate, "notes-store") == {}
        kept = estate.eos("create", "notes", "--yes", "--keep")
        assert kept.returncode == 1 and "not rolled back:" in kept.stderr, kept.stderr
        assert "production/notes-store" in estate.jobs()
        estate.must("delete", "notes", "--yes")
        assert not [job for job in estate.jobs() if "/notes" in job]
        assert variable(estate, "notes-store") == {}
    finally:
        estate.write_recipe("notes", NOTES)
