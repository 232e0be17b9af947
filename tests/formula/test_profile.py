"""Reads Terraform's states while Terraform writes them, and after a run that died in between: local, and in Consul."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
import types

import pytest

NAME = "production/new"
STATE = {"serial": 1, "lineage": "l", "resources": []}


@pytest.fixture
def solo(load, tmp_path):
    """The backend `local`, and the file of the workspace's Terraform state."""
    module = load("_modules/eos_backend_local.py", salt={"eos_profile.setting": lambda _: str(tmp_path)})
    file = tmp_path / NAME / "state/terraform.tfstate"
    file.parent.mkdir(parents=True)
    return module.of({"kind": "local"}, None), file


@pytest.fixture
def applied(tmp_path):
    (tmp_path / NAME / "state").mkdir(parents=True, exist_ok=True)
    (tmp_path / NAME / "applied.json").write_text("{}")


def test_a_state_that_the_first_run_has_not_filled_yet_is_none(solo):
    backend, file = solo
    assert backend.read(NAME) == (None, None)
    # Terraform holds it so from its lock to its first write, while others plan.
    file.touch()
    assert backend.read(NAME) == (None, None)


def lock_in_another_process(file, script: str) -> subprocess.Popen:
    """Terraform's own lock is one of a process: a thread of this one would not see it."""
    code = f"import fcntl, time\nfile = open({str(file)!r}, 'r+')\nfcntl.lockf(file, fcntl.LOCK_EX)\n"
    code += "print('locked', flush=True)\n" + script
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "locked\n"
    return child


@pytest.mark.parametrize("part", ["", '{"serial": 1, "lin'])
def test_a_state_that_is_being_written_is_read_when_it_is_whole(solo, applied, part):
    backend, file = solo
    file.write_text(part)
    write = f"time.sleep(0.5)\nfile.seek(0)\nfile.write({json.dumps(STATE)!r})\nfile.flush()\ntime.sleep(5)\n"
    child = lock_in_another_process(file, write)
    try:
        assert backend.is_written(NAME)
        assert backend.read(NAME) == (STATE, None)
    finally:
        child.kill()
        child.wait()
    assert not backend.is_written(NAME)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\0" * 40, "is empty"),
        ('{"serial": 1, "lin', "is cut"),
        ("[]", "another version"),
        ("{}", "it lacks"),
    ],
)
def test_a_damaged_state_is_told_at_once_and_mended_from_the_one_before(solo, applied, text, words):
    backend, file = solo
    file.write_text(text)
    began = time.monotonic()
    state, fault = backend.read(NAME)
    assert state is None and fault.startswith(f"{file} ") and words in fault
    assert time.monotonic() - began < 1
    workspace = types.SimpleNamespace(name=NAME, damaged_state_file=str(file.parents[1] / "damaged.tfstate"))
    backend.mend(workspace)
    assert backend.read(NAME) == (None, None)
    assert (file.parents[1] / "damaged.tfstate").read_text() == text

    file.write_text(text)
    file.with_name("terraform.tfstate.backup").write_text(json.dumps(STATE))
    backend.mend(workspace)
    assert backend.read(NAME) == (STATE, None)


class Consul:
    """Answers from a table of keys; `replaced` is what one of them holds from the second look on."""

    def __init__(self, keys: dict[str, str], replaced: dict[str, str] | None = None):
        self.keys, self.replaced, self.looks = keys, replaced or {}, 0

    def ask(self, method: str, path: str, body: object = None):
        assert (method, body) == ("GET", None)
        path = path.removeprefix("/v1/kv/")
        if path.endswith("?recurse"):
            return 200, [self.entry(key) for key in self.keys]
        self.looks += 1
        if self.looks > 1:
            self.keys |= self.replaced
        return (200, [self.entry(path)]) if path in self.keys else (404, "")

    def entry(self, key: str) -> dict:
        return {"Key": key, "Value": base64.b64encode(self.keys[key].encode()).decode()}


def test_a_damaged_state_in_consul_hides_no_other(load):
    module = load("_utils/eos_consul.py")
    whole, parts = json.dumps(STATE), json.dumps({"current-hash": "h", "chunks": ["c/0", "c/1"]})
    keys = {"terraform/p/good/state": whole, "terraform/p/cut/state": whole[:9], "terraform/p/list/state": "[]"}
    keys |= {"terraform/p/parts/state": parts, "c/0": whole[:9], "c/1": whole[9:], "terraform/p/good/lock": "x"}
    found = module.read_terraform_states(Consul(keys))
    assert found["p/good"] == found["p/parts"] == (STATE, None)
    assert all(state is None and "is cut" in fault for state, fault in (found["p/cut"], found["p/list"]))
    assert module.read_terraform_state(Consul({}), "terraform/p/none/state") == (None, None)
    # Terraform writes the parts of a large one before it lists them, and removes those of the one before.
    moving = Consul({"s": json.dumps({"current-hash": "old", "chunks": ["gone"]})}, {"s": parts, **keys})
    assert module.read_terraform_state(moving, "s") == (STATE, None)
    assert module.read_terraform_state(Consul({"s": parts}), "s") == (None, "lacks a part")
