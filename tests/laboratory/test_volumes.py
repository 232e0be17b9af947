"""Data of a deleted component: deleted in development, kept in staging, and kept by everything but a delete."""

import json

import pytest
import witness

# Owns the component keeper, and the whole of the environment development: it edits that one by hand.
pytestmark = pytest.mark.side_by_side

# Nothing mounts the volume, so that no container is needed: it is made, registered and removed all the same.
KEEPER = """\
recipe: keeper
summary: Has a volume
version: "1"
options:
  data_path: {type: path, default: "/opt/{{ instance }}/data", help: Where the data lie on the host}
needs:
  data: {volume: {purpose: application, size: 1GiB, path: "{{ data_path }}"}}
services:
  keeper:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello]
    ports: {http: {}}
    check: {http: /health}
"""


@pytest.fixture(scope="module")
def recipes(estate):
    estate.write_recipe("keeper", KEEPER)
    return estate


def directory(estate, environment: str):
    return estate.lab / f"volumes/opt/keeper-{environment}/data"


def filled(estate, environment: str):
    """The component with a file in its volume."""
    estate.must("create", "keeper", "-e", environment, "--yes")
    path = directory(estate, environment)
    (path / "deep").mkdir()
    (path / "deep/file").write_text("data")
    return path


def planned(estate, *words: str) -> dict:
    return estate.json(*words, "--plan")["plan"]


def test_data_of_development_go_and_data_of_staging_stay(recipes):
    estate = recipes
    ephemeral, persistent = filled(estate, "development"), filled(estate, "staging")

    plan = planned(estate, "delete", "keeper", "-e", "development")
    assert (plan["steps"][-1]["work"], plan["steps"][-1]["kind"]) == ("unmake", "volume"), plan["steps"]
    (volume,) = [change for change in plan["changes"] if change["address"].startswith("volume/")]
    assert volume["reversibility"] == "final"
    assert volume["note"] == "the directory and its data are deleted: storage of development is ephemeral"
    shown = " ".join(estate.must("delete", "keeper", "-e", "development", "--plan").stdout.split())
    assert "point of no return: volume/keeper-development-data" in shown

    assert (ephemeral / "deep/file").read_text() == "data", "a plan touches nothing"
    ran = estate.must("delete", "keeper", "-e", "development", "--yes", "--json")
    done = [one for one in map(json.loads, ran.stdout.splitlines()) if one["event"] == "done"]
    assert done[-1]["title"] == "volume" and "gone with all data, read back" in done[-1]["effect"], done
    assert not ephemeral.exists()

    plan = planned(estate, "delete", "keeper", "-e", "staging")
    assert not [step for step in plan["steps"] if step["work"] == "unmake" and step["kind"] == "volume"]
    estate.must("delete", "keeper", "-e", "staging", "--yes")
    assert (persistent / "deep/file").read_text() == "data"
    assert not [job for job in estate.jobs() if job.endswith("/keeper")]


def test_an_edit_by_hand_keeps_the_data_and_what_eos_did_not_make_is_refused(recipes):
    estate = recipes
    path = filled(estate, "development")
    estate.write("pillar/infrastructure/development.sls", "#!yaml\ncomponents: {}\n")
    estate.must("apply", "-e", "development", "--yes")
    assert (path / "deep/file").read_text() == "data"

    # A directory that was there before the component is not Eos's to remove.
    stranger = path.with_name("stranger")
    stranger.mkdir()
    create = ("create", "keeper", "-e", "development", "--data-path", f"/opt/{path.parent.name}/stranger", "--yes")
    refused = estate.eos(*create)
    assert refused.returncode == 1 and "with another owner or mode" in " ".join(refused.stderr.split()), refused.stderr
    assert stranger.stat().st_mode & 0o777 == 0o755
    stranger.chmod(0o750)
    (stranger / "file").write_text("of somebody")
    refused = estate.eos(*create)
    assert refused.returncode == 1 and "is not empty" in " ".join(refused.stderr.split()), refused.stderr
    (stranger / "file").unlink()
    estate.must(*create)
    delete = lambda: ["delete", "keeper", "-e", "development"]  # noqa: E731
    resume = lambda: ["resume", witness.operations(estate, "keeper")[0]["id"]]  # noqa: E731
    for words in (delete, resume):
        refused = estate.eos(*words(), "--yes")
        assert refused.returncode == 1, refused.stderr
        assert "is kept: it was there before Eos" in " ".join(refused.stderr.split()), refused.stderr
        assert stranger.is_dir() and "development/keeper" not in estate.jobs()
    estate.must("apply", "-e", "development", "--yes")
    assert stranger.is_dir()
    assert estate.json("plan", "-e", "development", "--check")["plan"]["changes"] == []


def test_data_that_vanish_while_they_are_to_be_kept_are_missed(recipes, tmp_path):
    estate, out = recipes, tmp_path / "plan.json"
    estate.must("create", "volume", "heirloom", "--size", "1G", "--host", "control", "-e", "staging", "--yes")
    path = estate.lab / "volumes/srv/heirloom-staging"
    assert path.is_dir()
    estate.must("delete", "volume", "heirloom", "-e", "staging", "--plan", "--out", str(out))
    path.rmdir()
    missed = estate.eos("apply", str(out), "--keep", "--yes")
    assert missed.returncode == 1, missed.stdout + missed.stderr
    assert f"{path.name} was there before, and is gone" in " ".join(missed.stderr.split()), missed.stderr
    # Whoever plans it now is told that it was gone already.
    path.mkdir(mode=0o750)
    estate.must("resume", witness.operations(estate, "heirloom")[0]["id"], "--yes")
