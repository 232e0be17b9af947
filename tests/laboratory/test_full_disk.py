"""A full disk is called a full disk, and looking works all the same."""

import json

import pytest
from disks import empty, fill, may_mount, small_disk

pytestmark = pytest.mark.skipif(not may_mount(), reason="this user may not mount")

ROOMY = """\
recipe: roomy
summary: Has a secret of any length
version: "1"
options:
  password: {type: secret, help: of any length}
services:
  roomy:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello]
    secrets: {ROOMY_PASSWORD: {file: password}}
    ports: {http: {}}
    check: {http: /health}
"""
LOOKS = (["status"], ["history"], ["list"], ["plan"], ["audit", "show"])


@pytest.fixture(scope="module")
def served(estate):
    estate.must("create", "hello", "--name", "crowded", "--yes")
    yield estate
    estate.must("delete", "crowded", "--yes")


def words_of(ran) -> str:
    return " ".join((ran.stdout + ran.stderr).split())


def update(estate, greeting: str):
    return estate.eos("update", "crowded", "--greeting", greeting, "--yes")


def disks(estate) -> dict[str, str]:
    """What the doctor finds wrong with disks: words by condition."""
    findings = json.loads(estate.eos("doctor", "--json").stdout)["findings"]
    found = [one for one in findings if one["what"].startswith("disk") and one["condition"] != "ok"]
    assert all("df -h " in one["mend"] for one in found), found
    return {one["words"]: one["condition"] for one in found}


def test_who_looks_needs_no_room_beside_the_store(served, tmp_path):
    history = served.json("history")
    assert history["operations"], history
    place = served.root / ".eos"
    with small_disk(place, tmp_path, "1m", without="lab"):
        fill(place)
        assert disks(served)[f"the disk of {place} is full"] == "broken"
        for look in LOOKS:
            ran = served.eos(*look)
            assert ran.returncode == 0, (look, words_of(ran))
        assert served.json("history") == history
        ran = update(served, "on a full disk")
        assert ran.returncode == 1 and f"the disk of {place} is full" in words_of(ran), words_of(ran)
        assert f"`df -h {place}`" in words_of(ran), words_of(ran)
        empty(place)
        ran = update(served, "after the hint")
        assert ran.returncode == 0, words_of(ran)


@pytest.mark.parametrize(("disk", "size"), [(".git", "2m"), (".eos/lab/srv", "3m")])
def test_a_change_that_has_no_room_names_the_disk_and_is_rolled_back(served, tmp_path, disk, size):
    place = served.root / disk
    with small_disk(place, tmp_path, size):
        fill(place)
        ran = update(served, f"too much for {disk}")
        assert ran.returncode == 1 and f"the disk of {place} is full" in words_of(ran), words_of(ran)
        assert f"`df -h {place}`" in words_of(ran) and "rolled back" in words_of(ran), words_of(ran)
        served.must("status")
        empty(place)
        served.must("plan")


@pytest.mark.parametrize("room", [0, 64 << 10])
def test_a_minions_full_disk_is_no_traceback(served, tmp_path, room):
    place = served.lab / "terraform"
    with small_disk(place, tmp_path, "200m"):
        fill(place, room)
        assert disks(served)[f"the disk of {place} is full"] == "broken"
        ran = update(served, "too much for Terraform")
        assert ran.returncode == 1 and "is full" in words_of(ran), words_of(ran)
        assert "df -h" in words_of(ran) and "Error:" not in words_of(ran), words_of(ran)
        served.must("status")


def test_the_doctor_knows_why_a_minion_with_a_full_cache_is_silent(served, tmp_path):
    """Salt writes a file for every job before it calls anything: without room for that no minion answers."""
    place = served.lab / "salt/minion/cache"
    with small_disk(place, tmp_path, "8m"):
        assert "limited" in disks(served).values()
        fill(place)
        assert disks(served)[f"the disk of {place} is full"] == "broken"
        empty(place)
        served.must("status")


def test_a_secret_that_nomad_has_no_room_for_is_called_too_large(served):
    served.write_recipe("roomy", ROOMY)
    given = ("create", "roomy", "--password", "-", "--yes")
    ran = served.eos(*given, input="x" * 70_000)
    assert ran.returncode == 1 and "at most 65536" in words_of(ran) and "hint:" in words_of(ran), words_of(ran)
    assert "production/roomy" not in served.jobs()
    left = [one["Path"] for one in served.nomad("/v1/vars?namespace=default") or []]
    operation = served.json("history")["operations"][0]["id"]
    assert not [path for path in left if operation in path], left
