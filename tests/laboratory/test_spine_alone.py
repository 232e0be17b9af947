"""Tests for an estate without other components: the last one takes its environment with it, and all is applied."""

import signal

import pytest
import witness
from estates import Estate


@pytest.fixture
def bare(estate):
    """An estate with nothing in it, before and after."""
    assert_bare(estate)
    yield estate
    if witness.pillar(estate, "hello"):
        estate.must("delete", "hello", "--yes")
    assert_bare(estate)


def assert_bare(estate: Estate):
    assert estate.jobs() == []
    assert witness.environments(estate) == []


def test_the_last_component_takes_its_environment_with_it(bare):
    bare.must("create", "hello", "--yes")
    assert bare.jobs() == ["production/hello"] and witness.environments(bare) == ["production"]
    assert bare.json("plan", "--check")["plan"]["changes"] == []
    bare.must("delete", "hello", "--yes")
    assert_bare(bare)
    witness.nothing(bare, "hello")
    assert bare.json("list")["components"] == []
    assert not bare.files("terraform/**/terraform.tfstate")
    assert not [line for line in bare.processes() if "serve-hello" in line]
    assert witness.git(bare, "status", "--porcelain") == ""


def test_an_operation_that_can_never_go_on_does_not_stand_in_the_way(bare):
    ran = bare.eos("create", "hello", "--yes", env={"EOS_FAULT_KILL_AT": "5"})
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    blocked = bare.eos("create", "hello", "--yes")
    assert blocked.returncode != 0 and "eos resume" in blocked.stderr, blocked.stderr
    pillar = bare.root / "pillar/infrastructure/production.sls"
    pillar.write_text(pillar.read_text().replace("recipe: hello", "recipe: hello\n    options: {replicas: 2}"))
    resumed = bare.eos("resume")
    assert resumed.returncode != 0 and "eos apply" in resumed.stderr, resumed.stderr
    bare.must("apply", "--yes")
    assert len(bare.running("hello")) == 2
