"""Two environments side by side on one cluster, a recipe that moves on, and a promotion."""

import json
import socket
from pathlib import Path

import pytest
from estates import Estate, get

RECIPE = """\
recipe: leaflet
summary: A page with a greeting, which may go along, and a sign, which stays
version: "1"

options:
  greeting:
    type: string
    default: First print
    help: What it says
  sign:
    type: string
    default: unsigned
    promote: false
    help: Where it is
  fixed_port:
    type: port
    default: null
    help: Port of the host; without one Nomad chooses

services:
  leaflet:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello]
    env:
      EOS_HELLO_GREETING: "{{ greeting }}, {{ sign }}"
    ports:
      http: {static: "{{ fixed_port }}"}
    check: {http: /health}

outputs:
  leaflet_url: "http://{{ address }}:{{ port }}"
"""
NEWER = RECIPE.replace('version: "1"', 'version: "2"').replace("First print", "Second print")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def leaflet(estate):
    """The estate's own recipe; what was made from it is gone afterwards."""
    file = estate.root / "recipes/leaflet/recipe.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(RECIPE)
    yield file
    for environment in ("staging", "production"):
        if estate.nomad(f"/v1/job/leaflet?namespace={environment}") is not None:
            estate.must("delete", "leaflet", "-e", environment, "--yes")
    assert estate.jobs() == []


def page(estate: Estate, environment: str) -> str:
    status, body = get(estate.json("read", "leaflet", "-e", environment)["outputs"]["leaflet_url"])
    assert status == 200, body
    return body


def seen(estate: Estate, environment: str) -> dict:
    """What would show that something of an environment was touched."""
    state = estate.lab.glob(f"terraform/**/{environment}/leaflet/state/terraform.tfstate")
    return {
        "allocations": sorted(one["ID"] for one in estate.running("leaflet", environment)),
        "job version": estate.nomad(f"/v1/job/leaflet?namespace={environment}")["Version"],
        "serial": json.loads(next(state).read_text())["serial"],
        "page": page(estate, environment),
    }


def services(estate: Estate, environment: str) -> list[str]:
    found = estate.nomad(f"/v1/services?namespace={environment}")
    return sorted(service["ServiceName"] for space in found for service in space["Services"])


def test_a_recipe_is_tried_in_staging_and_promoted_to_production(estate, leaflet: Path):
    port = free_port()
    made = ("create", "leaflet", "--yes")
    estate.must(*made, "-e", "staging", "--sign", "in staging", "--replicas", "2")
    estate.must(*made, "-e", "production", "--sign", "in production", "--fixed-port", str(port))
    assert "First print, in staging" in page(estate, "staging")
    assert "First print, in production" in page(estate, "production")
    assert {"staging", "production"} <= {one["Name"] for one in estate.nomad("/v1/namespaces")}
    assert services(estate, "staging") == ["leaflet-staging"]
    assert services(estate, "production") == ["leaflet"]
    pins = list((estate.root / "recipes/kept/leaflet").iterdir())
    assert len(pins) == 1 and pins[0].read_text() == RECIPE

    before = {environment: seen(estate, environment) for environment in ("staging", "production")}
    leaflet.write_text(NEWER)
    for environment in before:
        planned = estate.must("plan", "-e", environment, "--check")
        assert "nothing to do" in planned.stderr, planned.stdout
    promote = ("promote", "leaflet", "--from", "staging", "--to", "production", "--yes")
    assert "nothing to do" in estate.must(*promote).stderr

    estate.must("update", "leaflet", "--upgrade", "-e", "staging", "--yes")
    assert "Second print, in staging" in page(estate, "staging")
    assert seen(estate, "production") == before["production"]
    assert "nothing to do" in estate.must("plan", "-e", "production", "--check").stderr

    plan = estate.json(*promote[:-1], "--plan")["plan"]
    assert {change["address"] for change in plan["changes"]} == {"job/leaflet"}
    tried = seen(estate, "staging")
    estate.must(*promote)
    after = seen(estate, "production")
    assert "Second print, in production" in after["page"]
    assert after["job version"] > before["production"]["job version"]
    assert after["serial"] > before["production"]["serial"]
    read = estate.json("read", "leaflet", "-e", "production")
    assert read["recipe_version"] == "2"
    assert read["outputs"]["leaflet_url"].endswith(f":{port}"), "the port of production stayed"
    assert len(after["allocations"]) == 1, "and so did its size"
    assert seen(estate, "staging") == tried and len(tried["allocations"]) == 2
    assert "nothing to do" in estate.must(*promote).stderr
    assert "nothing to do" in estate.must("plan", "-e", "staging", "--check").stderr
    words = estate.json("history")["operations"][0]["words"]
    assert words == "eos promote leaflet --from staging --to production"
