"""Two environments side by side on one cluster, a recipe that moves on, and a promotion."""

import json
import socket

import pytest
import witness
from estates import Estate, get

pytestmark = pytest.mark.side_by_side

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
    """An estate with this recipe; what was made from it is gone afterwards."""
    estate.write_recipe("leaflet", RECIPE)
    yield estate
    for environment in ("staging", "production"):
        if witness.pillar(estate, "leaflet", environment):
            estate.must("delete", "leaflet", "-e", environment, "--yes")
    assert not [job for job in estate.jobs() if job.endswith("/leaflet")]


def page(estate: Estate, environment: str) -> str:
    status, body = get(estate.json("read", "leaflet", "-e", environment)["outputs"]["leaflet_url"])
    assert status == 200, body
    return body


def seen(estate: Estate, environment: str) -> dict:
    """What would show that something of an environment was touched."""
    return {
        "allocations": sorted(one["ID"] for one in estate.running("leaflet", environment)),
        "job version": estate.nomad(f"/v1/job/leaflet?namespace={environment}")["Version"],
        "serial": json.loads(witness.terraform_state(estate, "leaflet", environment).read_text())["serial"],
        "page": page(estate, environment),
    }


def services(estate: Estate, environment: str) -> list[str]:
    found = estate.nomad(f"/v1/services?namespace={environment}")
    names = sorted(service["ServiceName"] for space in found for service in space["Services"])
    return [name for name in names if name.startswith("leaflet")]


def test_a_recipe_is_tried_in_staging_and_promoted_to_production(leaflet):
    estate = leaflet
    port = free_port()
    made = ("create", "leaflet", "--yes")
    estate.must(*made, "-e", "staging", "--sign", "in staging", "--replicas", "2")
    estate.must(*made, "-e", "production", "--sign", "in production", "--fixed-port", str(port))
    assert "First print, in staging" in page(estate, "staging")
    assert "First print, in production" in page(estate, "production")
    assert {"staging", "production"} <= set(witness.environments(estate))
    assert services(estate, "staging") == ["leaflet-staging"]
    assert services(estate, "production") == ["leaflet"]
    pins = list((estate.root / "recipes/kept/leaflet").iterdir())
    assert len(pins) == 1 and pins[0].read_text() == RECIPE

    before = {environment: seen(estate, environment) for environment in ("staging", "production")}
    estate.write_recipe("leaflet", NEWER)
    for environment in before:
        assert witness.pending(estate, "leaflet", environment) == []
    promote = ("promote", "leaflet", "--from", "staging", "--to", "production", "--yes")
    assert "nothing to do" in estate.must(*promote).stderr

    estate.must("update", "leaflet", "--upgrade", "-e", "staging", "--yes")
    assert "Second print, in staging" in page(estate, "staging")
    assert seen(estate, "production") == before["production"]
    assert witness.pending(estate, "leaflet") == []

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
    assert witness.pending(estate, "leaflet", "staging") == []
    words = witness.operations(estate, "leaflet")[0]["words"]
    assert words == "eos promote leaflet --from staging --to production"
