"""An estate with its Terraform states in S3: the spine, two operators, and the way there and back with a kill between."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import pytest
import witness
from estates import Estate, get

pytestmark = pytest.mark.chain
BUCKET = "eos-terraform-state"


@pytest.fixture(scope="module")
def store():
    """The address of an S3 store with the bucket that is the default."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [os.environ["EOS_TEST_MOTO"], "-H", "127.0.0.1", "-p", str(port)]
    with tempfile.TemporaryFile() as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        for _ in range(120):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{address}/{BUCKET}", method="PUT"), timeout=5).close()
                break
            except OSError:
                time.sleep(0.5)
        yield address
        process.terminate()


@pytest.fixture(scope="module")
def with_store(estate, store):
    """The control minion has a credential for the store; the estate is as it was afterwards."""
    settings, credential = estate.root / "eos.toml", estate.lab / "secrets/control.json"
    before = {path: path.read_text() for path in (settings, credential)}
    entry = {
        "backend": "s3",
        "bucket": BUCKET,
        "endpoint": store,
        "access_key_id": "a",
        "secret_access_key": "canary-s",
    }
    credential.write_text(json.dumps({**json.loads(before[credential]), "backends": [entry]}))
    yield estate
    for path, text in before.items():
        path.write_text(text)


def choose(estate: Estate, store: str | None):
    """Writes `[terraform]` of eos.toml, or takes it out."""
    text = (estate.root / "eos.toml").read_text().partition("\n[terraform]")[0]
    table = f'\n[terraform]\nbackend = "s3"\nendpoint = "{store}"\n' if store else ""
    (estate.root / "eos.toml").write_text(text.rstrip("\n") + "\n" + table)


def in_bucket(store: str) -> list[str]:
    """Keys in the bucket, as the store itself tells them."""
    with urllib.request.urlopen(f"{store}/{BUCKET}?list-type=2", timeout=10) as answer:
        text = answer.read().decode()
    return sorted(part.partition("</Key>")[0] for part in text.split("<Key>")[1:])


def key(component: str) -> str:
    return f"production/{component}/terraform.tfstate"


def allocations(estate: Estate, component: str) -> set[str]:
    return {one["ID"] for one in estate.running(component)}


def test_one_sentence_down_and_back_in_s3(with_store, store):
    estate = with_store
    choose(estate, store)
    estate.must("create", "hello", "--name", "bucketed", "--yes")
    assert get(estate.json("read", "bucketed")["outputs"]["hello_url"])[0] == 200
    assert in_bucket(store) == [key("bucketed"), key("platform")]
    assert witness.terraform_state(estate, "bucketed") is None
    again = estate.must("create", "hello", "--name", "bucketed", "--yes")
    assert "nothing to do" in again.stderr + again.stdout
    estate.must("update", "bucketed", "--replicas", "2", "--yes")
    assert len(allocations(estate, "bucketed")) == 2
    assert estate.eos("drift").returncode == 0


def test_two_operators_work_side_by_side(with_store, store):
    estate = with_store
    both = [estate.start("create", "hello", "--name", name, "--yes") for name in ("left", "right")]
    assert [process.wait(300) for process in both] == [0, 0]
    assert {key("left"), key("right")} <= set(in_bucket(store))
    estate.must("delete", "right", "--yes")
    assert key("right") not in in_bucket(store)


def test_it_moves_to_local_and_back_and_restarts_nothing(with_store, store):
    estate = with_store
    names = ("bucketed", "left", "platform")
    before = {name: allocations(estate, name) for name in names[:2]}
    for address in (None, store):
        choose(estate, address)
        # The program is killed somewhere in the middle; the minion goes on with its step.
        process = estate.start("apply", "--yes")
        time.sleep(4)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = estate.eos("resume", "--yes")
        assert done.returncode in (0, 2), done.stderr
        estate.must("apply", "--yes")
        there = set(in_bucket(store))
        assert {key(name) in there for name in names} == {address is not None}
        assert {witness.terraform_state(estate, name) is not None for name in names} == {address is None}
        assert {name: allocations(estate, name) for name in names[:2]} == before
        assert estate.eos("drift").returncode == 0


def test_everything_goes_with_its_component(with_store, store):
    estate = with_store
    for name in ("left", "bucketed"):
        estate.must("delete", name, "--yes")
    assert in_bucket(store) == []
    # No secret of the store is in the estate or in what the lab keeps of it.
    for file in [*estate.root.glob("*"), *estate.root.glob("[a-z]*/**/*"), *(estate.lab / "terraform").rglob("*")]:
        assert not file.is_file() or b"canary-s" not in file.read_bytes(), file
