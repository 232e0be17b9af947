"""The spine on real engines: one sentence all the way down, read back, and rolled back."""

import json
import time
from pathlib import Path

import pytest
import witness
from estates import Estate, get, sample

pytestmark = pytest.mark.side_by_side


@pytest.fixture(scope="module")
def hello(estate):
    """`spine` is there and healthy, for the tests that change it; it is gone again afterwards."""
    estate.must("create", "hello", "--name", "spine", "--yes")
    yield estate
    gone(estate, "spine")


@pytest.fixture
def once(estate):
    """`spine-once` is there and healthy; it is gone again afterwards."""
    estate.must("create", "hello", "--name", "spine-once", "--yes")
    yield estate
    gone(estate, "spine-once")


def gone(estate: Estate, component: str):
    if witness.pillar(estate, component):
        estate.must("delete", component, "--yes")
    assert f"production/{component}" not in estate.jobs()


def test_one_sentence_down_and_back(once):
    estate = once
    estate.wait_until(lambda: len(estate.running("spine-once")) == 1, 30, "one running allocation")
    read = estate.json("read", "spine-once")
    assert read["component"] == "spine-once"
    status, body = get(read["outputs"]["hello_url"])
    assert status == 200 and "Hello from Eos" in body
    job = estate.nomad("/v1/job/spine-once?namespace=production")
    assert job["Meta"]["eos_component"] == "spine-once"
    assert len(estate.nomad("/v1/service/spine-once?namespace=production")) == 1

    state = witness.terraform_state(estate, "spine-once")
    serial = json.loads(state.read_text())["serial"]
    took = []
    for _ in range(3):
        begun = time.monotonic()
        again = estate.must("create", "hello", "--name", "spine-once", "--yes")
        took.append(time.monotonic() - begun)
        assert "nothing to do" in again.stderr + again.stdout
    # Other tests run at the same time: the quickest one counts.
    assert min(took) < 2, f"a second create took {min(took):.1f} s"
    assert json.loads(state.read_text())["serial"] == serial

    estate.must("delete", "spine-once", "--yes")
    witness.nothing(estate, "spine-once")
    assert not witness.terraform_state(estate, "spine-once")


HOSTILE = [
    'it\'s "quoted" \\ back',
    "a\nb\tc",
    "$ {x} % {y} {{ z }}",
    "%{ if true }",
    "ünïcödé 🦀",
    "$(id) `id` ; rm",
    "null",
    "0123",
    "yes",
]


def test_values_reach_the_task_byte_for_byte(hello):
    for value in sample(HOSTILE, 2):
        hello.must("update", "spine", "--greeting", value, "--yes")
        allocation = hello.running("spine")[-1]["ID"]
        seen = set()
        for found in Path("/proc").iterdir():
            try:
                block = (found / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"NOMAD_ALLOC_ID={allocation}".encode() in block:
                seen |= {one.split(b"=", 1)[1].decode() for one in block if one.startswith(b"EOS_HELLO_GREETING=")}
        assert seen == {value}


def test_interpolation_by_nomad_is_refused(hello):
    ran = hello.eos("update", "spine", "--greeting", "${node.unique.name}", "--yes")
    assert ran.returncode == 2, ran.stderr
    assert "Nomad would replace" in ran.stderr and "hint:" in ran.stderr


@pytest.mark.parametrize(
    "function", ["cmd.run", "state.apply", "state.single", "eos.makex", "eos._write", "pillar.items"]
)
def test_salt_itself_refuses_the_api_user(estate, function):
    status, body = estate.salt([{"client": "local", "tgt": "control", "fun": function, "arg": ["id"]}])
    assert status == 401, body
    # Salt once let a call of several functions pass if any of them was allowed.
    both = {"client": "local", "tgt": "control", "fun": ["eos.info", function], "arg": [[], ["id"]]}
    status, body = estate.salt([both])
    assert status == 401, body
    for client in ("runner", "wheel", "ssh"):
        status, body = estate.salt([{"client": client, "fun": "manage.up", "tgt": "*"}])
        assert status in (400, 401), (client, body)


def test_a_job_is_scaled_without_a_restart(hello):
    before = {one["ID"] for one in hello.running("spine")}
    hello.must("update", "spine", "--replicas", "2", "--yes")
    after = {one["ID"] for one in hello.running("spine")}
    assert len(after) == 2 and before < after
