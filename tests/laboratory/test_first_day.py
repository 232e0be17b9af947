"""The first day of a newcomer: names in recipes, previews, and words about what runs and what was done."""

import pytest

# Owns the components orders, smile and counted.
pytestmark = pytest.mark.side_by_side

# The page shows its greeting, and so where the program was told that its volume is.
ORDERS = """\
recipe: orders
summary: A program with a volume
version: "1"
needs:
  in_box: {volume: {purpose: application, size: 1M, path: "/opt/{{ instance }}/inbox"}}
services:
  orders:
    instances: one
    cpu: 50
    memory: 64
    program: [eos, serve-hello]
    env: {EOS_HELLO_GREETING: "{{ volumes.in_box }}"}
    ports: {http: {}}
    check: {http: /health}
    volumes: {in_box: /inbox}
outputs:
  orders_url: "http://{{ address }}:{{ port }}"
"""


def component(estate, name: str) -> dict:
    (found,) = [one for one in estate.json("status")["components"] if one["component"] == name]
    return found


def operation(estate, words: str) -> dict:
    return next(one for one in estate.json("history")["operations"] if one["words"] == words)


def test_a_program_finds_its_volume_where_the_host_has_it(estate):
    estate.write_recipe("orders", ORDERS)
    estate.must("create", "orders", "--yes")
    directory = estate.lab / "volumes/opt/orders/inbox"
    assert directory.is_dir()
    (task,) = estate.running("orders")
    job = estate.nomad("/v1/job/orders?namespace=production")
    (group,) = job["TaskGroups"]
    assert group["Tasks"][0]["Env"]["EOS_HELLO_GREETING"] == str(directory), task
    (host,) = estate.json("storage")["hosts"]
    assert str(directory) in [one["path"] for one in host["directories"]]
    estate.must("delete", "orders", "--yes")


def test_a_preview_takes_any_letter(estate):
    create = ("create", "hello", "--name", "smile", "--greeting", 'Hi 🎉 "q" \\ {{ x }} $HOME')
    plan = estate.json(*create, "--plan")["plan"]
    assert plan["unasked"] == [], plan["unasked"]
    assert "nomad" in {effect["engine"] for effect in plan["effects"]}, plan["effects"]


def test_status_counts_what_the_pillar_wants_and_history_says_how_operations_stand(estate):
    estate.must("create", "hello", "--name", "counted", "--yes")
    body = {"Count": 2, "Target": {"Group": "hello"}}
    estate.nomad("/v1/job/counted/scale?namespace=production", "POST", body)
    estate.wait_until(lambda: len(estate.running("counted")) == 2, 60, "a second instance")
    seen = component(estate, "counted")
    assert (seen["desired"], seen["running"]) == (1, 2), seen
    trouble = {"words": "Nomad has a count of 2, the pillar has 1", "look": "eos drift"}
    assert {key: seen["trouble"][key] for key in trouble} == trouble

    words = "eos create hello --name counted"
    created = operation(estate, words)
    assert (created["outcome"], created["standing"]) == ("done", "done")
    estate.must("undo", created["id"], "--yes")
    created = operation(estate, words)
    assert (created["outcome"], created["standing"]) == ("done", "undone")
