"""Stopping, starting and restarting in the full profile: Consul says what is registered and passes its checks."""

import pytest

NAME = "acts-full"


@pytest.fixture(scope="module", autouse=True)
def component(full_estate):
    full_estate.must("create", "hello", "--name", NAME, "--yes")
    yield
    full_estate.must("delete", NAME, "--yes")


def registered(estate) -> list[str]:
    """How the checks of each registered instance stand."""
    return [check["Status"] for one in estate.consul(f"/v1/health/service/{NAME}") for check in one["Checks"]]


def started(estate) -> dict[str, str]:
    return {one["ID"]: one["TaskStates"]["hello"]["StartedAt"] for one in estate.running(NAME)}


def test_a_restart_ends_once_consul_has_it_passing_again(full_estate):
    before = started(full_estate)
    full_estate.must("restart", NAME, "--yes")
    assert set(registered(full_estate)) == {"passing"}
    after = started(full_estate)
    assert after.keys() == before.keys() and not set(after.values()) & set(before.values())


def test_a_stopped_component_is_registered_nowhere(full_estate):
    full_estate.must("stop", NAME, "--yes")
    assert registered(full_estate) == [] and full_estate.running(NAME) == []
    assert full_estate.eos("drift", NAME).returncode == 0
    full_estate.must("start", NAME, "--yes")
    assert set(registered(full_estate)) == {"passing"}
