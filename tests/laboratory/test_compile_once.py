"""An operation uses what its plan compiled, unless an input changed meanwhile: then Eos compiles again, or refuses."""

import fcntl
import json
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import witness
from estates import Estate

NAME = "compiled"
BUILT_IN = Path(__file__).parents[2] / "catalog/hello/recipe.yaml"


@pytest.fixture(autouse=True)
def leave_nothing(estate):
    yield
    if witness.pillar(estate, NAME):
        estate.must("delete", NAME, "--yes")


def compilations(trace) -> int:
    return trace.read_text().splitlines().count("compiled")


@contextmanager
def overtaken(estate: Estate, trace):
    """A `create` whose plan is made, and which waits for the estate's lock while the body of `with` runs.

    Afterwards `.code` is its exit code, `.told` its answer and its events.
    """
    with open(estate.root / ".eos/locks/estate.lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ["create", "hello", "--name", NAME, "--yes", "--json"]
        process = estate.start(*words, env={"EOS_COMPILE_TRACE": str(trace)})
        process.told = ""
        ends = time.monotonic() + 60
        while '"waiting"' not in process.told:
            assert time.monotonic() < ends and process.poll() is None, process.told
            process.told += process.stdout.readline()
        assert compilations(trace) == 1
        yield process
        fcntl.flock(lock, fcntl.LOCK_UN)
    out, err = process.communicate(timeout=300)
    process.told += out + err


def test_create_compiles_once(estate, tmp_path):
    trace = tmp_path / "trace"
    environment = {"EOS_COMPILE_TRACE": str(trace)}
    estate.must("create", "hello", "--name", NAME, "--yes", env=environment)
    assert compilations(trace) == 1
    estate.must("update", NAME, "--greeting", "once more", "--yes", env=environment)
    assert compilations(trace) == 2
    estate.must("undo", "--yes", env=environment)
    assert compilations(trace) == 3
    assert len(estate.running(NAME)) == 1


def test_a_pillar_edited_meanwhile_is_compiled_again(estate, tmp_path):
    trace = tmp_path / "trace"
    pillar = estate.root / "pillar/infrastructure/production.sls"
    with overtaken(estate, trace) as process:
        pillar.write_text(pillar.read_text() + "# An edit by hand.\n")
    assert process.returncode == 0, process.told
    assert compilations(trace) == 2
    assert "# An edit by hand.\n" in pillar.read_text() and witness.pillar(estate, NAME)
    assert len(estate.running(NAME)) == 1
    assert estate.eos("drift", NAME).returncode == 0


def test_a_recipe_that_came_meanwhile_is_compiled_again(estate, tmp_path):
    trace = tmp_path / "trace"
    own = estate.root / "recipes/hello/recipe.yaml"
    with overtaken(estate, trace) as process:
        own.parent.mkdir(parents=True)
        own.write_text(BUILT_IN.read_text().replace("Hello from Eos", "Hello from the estate"))
    try:
        assert process.returncode == 0, process.told
        assert compilations(trace) == 2
        # The plan that was confirmed names the recipe as it was.
        assert "Hello from the estate" not in json.dumps(estate.nomad(f"/v1/job/{NAME}?namespace=production"))
        assert estate.eos("drift", NAME).returncode == 0
    finally:
        own.unlink()
        own.parent.rmdir()


def test_other_settings_meanwhile_are_refused(estate, tmp_path):
    trace = tmp_path / "trace"
    settings = estate.root / "eos.toml"
    before = settings.read_text()
    with overtaken(estate, trace) as process:
        settings.write_text(before + '\n[terraform]\nbackend = "s3"\n')
    settings.write_text(before)
    assert process.returncode == 2, process.told
    assert "eos.toml changed after the plan was made" in process.told
    assert compilations(trace) == 1
    assert not witness.pillar(estate, NAME) and f"production/{NAME}" not in estate.jobs()
