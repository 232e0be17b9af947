"""Terraform states in S3 (moto) and Azure (Azurite): applied, locked, moved there and back, killed at any instant."""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import tempfile
import types

import pytest

from configurations import held, workspace
from laboratory import Processes, free_port, removed, required, wait_until
from stores import CREDENTIAL, Azurite, Moto, grant

STATE = {"version": 4, "serial": 7, "lineage": "l-1", "resources": [], "outputs": {}}
NAME = "production/moved"


@pytest.fixture(scope="module")
def moto():
    (program,) = required("EOS_TEST_MOTO")
    with tempfile.TemporaryDirectory(prefix="eos-moto-") as directory:
        processes = Processes(pathlib.Path(directory))
        try:
            yield Moto(program, processes)
        finally:
            processes.stop_all()


@pytest.fixture(scope="module")
def azurite():
    (program,) = required("EOS_TEST_AZURITE")
    with tempfile.TemporaryDirectory(prefix="eos-azurite-") as directory:
        processes = Processes(pathlib.Path(directory))
        try:
            yield Azurite(program, pathlib.Path(directory), processes)
        finally:
            processes.stop_all()


class Killed(BaseException):
    """As a power cut: nothing catches it."""


class Bench:
    """The formula's own modules around one workspace, with every effect counted, and one of them cut off."""

    def __init__(self, load, root: pathlib.Path, store: Moto | Azurite):
        self.effects, self.kill_at = 0, None
        profile = types.SimpleNamespace(backend="local", hide=lambda *_: None, without_tokens=lambda text: text)
        utils = {}
        for name in ("eos_digest", "eos_disk", "eos_failure", "eos_http", "eos_s3", "eos_azure"):
            module = load(f"_utils/{name}.py")
            utils |= {f"{name}.{function}": getattr(module, function) for function in dir(module)}
        utils["eos_disk.write_json"] = self.counted(utils["eos_disk.write_json"])
        salt = {
            "eos_profile.setting": lambda _: str(root),
            "eos_profile.backend_credential": lambda *_, **__: store.credential(),
        }
        for kind in ("local", "s3", "azurerm"):
            module = load(f"_modules/eos_backend_{kind}.py", salt=salt, utils=utils)
            salt[f"eos_backend_{kind}.of"] = self.wrapped(module.of)
        salt["eos_backend.of"] = load("_modules/eos_backend.py", salt=salt, utils=utils).of
        module = load("_modules/eos_workspace.py", salt=salt, utils=utils)
        self.settle = load("_modules/eos_state_move.py", salt=salt, utils=utils).settle
        self.of, self.place_of, self.with_states = module.of, salt["eos_backend.of"], module.with_states
        self.profile, self.told = profile, []
        self.local, self.remote = {"kind": "local"}, store.place(root.name)

    def counted(self, effect):
        def act(*arguments):
            self.instant()
            effect(*arguments)
            self.instant()

        return act

    def instant(self):
        self.effects += 1
        if self.effects == self.kill_at:
            raise Killed

    def wrapped(self, of):
        def make(place, profile):
            backend = of(place, profile)
            backend.create, backend.remove = self.counted(backend.create), self.counted(backend.remove)
            return backend

        return make

    def run(self):
        tell, require = self.told.append, lambda: None
        made = self.of(*NAME.split("/"), self.profile)
        return types.SimpleNamespace(workspace=made, profile=self.profile, tell=tell, require_lock=require)

    def read(self, place):
        return self.place_of(place, self.profile).read(NAME)[0]

    def write(self, place, state):
        backend = self.place_of(place, self.profile)
        backend.remove(NAME)
        backend.create(NAME, state)

    def observed(self):
        """As everybody reads it."""
        return self.run().workspace.backend.read(NAME)[0]


@pytest.fixture(params=["moto", "azurite"])
def bench(request, load, tmp_path):
    made = Bench(load, tmp_path, request.getfixturevalue(request.param))
    if request.param == "azurite":
        status, _, said = made.place_of(made.remote, made.profile)._ask("PUT", "", restype="container")
        assert status == 201 or b"ContainerAlreadyExists" in said, said
    made.write(made.local, STATE)
    yield made
    for place in (made.local, made.remote):
        made.kill_at = None
        made.place_of(place, made.profile).remove(NAME)


def killed_at(bench, number: int, wanted: dict) -> bool:
    """Moves, and is killed at this instant; whether there is such an instant."""
    bench.effects, bench.kill_at = 0, number
    try:
        bench.settle(bench.run(), wanted)
    except Killed:
        return True
    finally:
        bench.kill_at = None
    return False


@pytest.mark.parametrize("back", [False, True], ids=["goes-on", "returns"])
@pytest.mark.parametrize("leaves", [True, False], ids=["leaves", "comes-back"])
def test_killed_at_any_instant_it_goes_on_or_returns_and_nobody_sees_another_state(bench, leaves, back):
    source, target = (bench.local, bench.remote) if leaves else (bench.remote, bench.local)
    instants = 0
    while True:
        bench.settle(bench.run(), source)
        instants += 1
        was_killed = killed_at(bench, instants, target)
        assert bench.observed() == STATE, f"after instant {instants}"
        wanted = source if back and was_killed else target
        bench.settle(bench.run(), wanted)
        other = target if wanted == source else source
        assert bench.read(wanted) == STATE and bench.read(other) is None, f"after instant {instants}"
        assert json.loads(pathlib.Path(bench.run().workspace.place_file).read_text()) == {"place": wanted}
        if not was_killed:
            break
    # Begin, keep, copying, create, left, remove, done: each is killed before and after.
    assert instants > 12
    kept = [json.loads(file.read_text()) for file in pathlib.Path(bench.run().workspace.directory).glob("moved/*")]
    assert kept and all(state == STATE for state in kept)


def test_a_state_of_somebody_else_is_neither_hidden_nor_replaced(bench):
    other = {**STATE, "lineage": "of another"}
    bench.settle(bench.run(), bench.local)
    bench.write(bench.remote, other)
    with pytest.raises(Exception, match="another Terraform state"):
        bench.settle(bench.run(), bench.remote)
    assert (bench.read(bench.local), bench.read(bench.remote)) == (STATE, other)
    assert bench.observed() == STATE


def test_two_states_and_no_record_are_refused(bench):
    bench.write(bench.remote, {**STATE, "serial": 9})
    with pytest.raises(Exception, match="two Terraform states"):
        bench.settle(bench.run(), bench.remote)


def test_a_state_that_moved_on_while_it_was_copied_stays_where_it_is(bench):
    """Killed after the copy, then a person applies by hand: the copy is old, and known as Eos's own."""
    for number in range(1, 20):
        bench.settle(bench.run(), bench.local)
        killed_at(bench, number, bench.remote)
        if bench.read(bench.remote) is not None:
            break
    newer = {**STATE, "serial": 8}
    bench.write(bench.local, newer)
    bench.settle(bench.run(), bench.remote)
    assert bench.read(bench.remote) == newer and bench.read(bench.local) is None


def test_a_state_that_changed_after_it_left_stops_everybody(bench):
    for number in range(1, 30):
        bench.settle(bench.run(), bench.local)
        killed_at(bench, number, bench.remote)
        if "left" in json.loads(pathlib.Path(bench.run().workspace.place_file).read_text()):
            break
    bench.write(bench.local, {**STATE, "serial": 8})
    with pytest.raises(Exception, match="changed the Terraform state"):
        bench.settle(bench.run(), bench.remote)
    assert bench.read(bench.local)["serial"] == 8 and bench.observed() == STATE


@pytest.mark.parametrize("store", ["moto", "azurite"])
def test_a_lock_says_who_holds_it(request, load, tmp_path, store):
    """As Terraform writes it: an object beside the state in S3, a lease with metadata in Azure."""
    made = Bench(load, tmp_path, request.getfixturevalue(store))
    backend = made.place_of(made.remote, made.profile)
    identity = "6f9a3c52-0000-4000-8000-000000000001"
    told = json.dumps({"ID": identity, "Who": "ada@desk", "Created": "2026-11-16T10:00:00Z"}).encode()
    if store == "azurite":
        backend._ask("PUT", "", restype="container")
        backend.create(NAME, STATE)
        key = backend._key(NAME)
        take = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1", "x-ms-proposed-lease-id": identity}
        assert backend._ask("PUT", key, headers=take, comp="lease")[0] == 201
        metadata = {"x-ms-meta-terraformlockid": base64.b64encode(told).decode(), "x-ms-lease-id": identity}
        assert backend._ask("PUT", key, headers=metadata, comp="metadata")[0] == 200
        with pytest.raises(Exception, match="LeaseIdMissing"):
            backend.remove(NAME)
    else:
        backend.create(NAME, STATE)
        assert backend._ask("PUT", f"{backend._key(NAME)}.tflock", told)[0] == 200
    lock = backend.lock(NAME)
    assert (lock["held"], lock["who"], lock["id"], lock["since"]) == (
        True,
        "ada@desk",
        identity,
        "2026-11-16T10:00:00Z",
    )
    backend.free(NAME, identity)
    assert backend.lock(NAME) is None
    assert backend.read_all(set()) == {NAME: (STATE, None)}
    backend.remove(NAME)
    assert backend.read_all(set()) == {}


class SilentStore(Moto):
    """A store of which only the address is known."""

    def __init__(self):
        self.address, self.bucket = f"http://127.0.0.1:{free_port()}", "gone"


def test_a_silent_store_hides_no_workspace_of_another(load, tmp_path):
    bench = Bench(load, tmp_path, SilentStore())
    bench.write(bench.local, STATE)
    named = {"production/away": {"backend": bench.remote}, NAME: {}}
    found = bench.with_states(bench.profile, named)
    assert found[NAME][1:] == (STATE, None, None)
    state, fault, silence = found["production/away"][1:]
    assert (state, fault) == (None, None) and bench.remote["endpoint"] in silence["words"], silence


@pytest.fixture
def lab(laboratory, moto):
    before = laboratory.credentials.read_text()
    grant(laboratory.credentials, moto.credential())
    yield laboratory
    laboratory.credentials.write_text(before)
    # Nobody reads a workspace whose store is gone, and no inspection of the others ends.
    for place in laboratory.root.glob("*/*/backend.json"):
        if '"s3"' in place.read_text():
            shutil.rmtree(place.parent)


def deliver(lab, name: str, greeting: str, backend: dict | None, more: str = "") -> str:
    fields = {"backend": backend} if backend else {}
    return lab.releases.deliver({name: workspace(name, greeting, more, **fields)})


def seen(lab, name: str) -> dict | None:
    return lab.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name]


def test_a_workspace_in_s3_is_made_updated_and_removed(lab, moto):
    name, place = "production/bucketed", moto.place("lab")
    release = deliver(lab, name, "one", place)
    record = lab.run_workspace("bucketed-1", name, release)
    assert (record["status"], record["error"]) == ("done", None)
    assert not (lab.workspace(name) / "state").exists()
    first = seen(lab, name)
    assert first["outputs"]["greeting"] == "one" and len(first["digest"]) == 64
    assert lab.salt.record("eos.inspect")["workspaces"][name]["digest"] == first["digest"]

    runs = lab.runs()
    assert lab.run_workspace("bucketed-2", name, release)["result"]["terraform"]["ran"] is False
    assert lab.runs() == runs
    release = deliver(lab, name, "two", place)
    assert lab.run_workspace("bucketed-3", name, release)["status"] == "done"
    assert seen(lab, name)["lineage"] == first["lineage"] and seen(lab, name)["outputs"]["greeting"] == "two"

    lab.releases.deliver({})
    names = {"operation": "bucketed-4", "step": "remove"}
    assert lab.salt.record("eos.remove", **names, **removed(name, "workspace"))["status"] == "done"
    assert seen(lab, name) is None
    assert not [file for file in lab.workspace(name).parent.iterdir() if file.name == "bucketed"]
    # The secret of the store is in nothing that Eos keeps.
    canary = CREDENTIAL["secret_access_key"].encode()
    for file in [*lab.salt.cache.rglob("*.json"), *lab.root.rglob("*")]:
        assert not file.is_file() or canary not in file.read_bytes(), file


def test_a_workspace_moves_leaves_and_back_and_is_made_once(lab, moto):
    name, place = "production/traveller", moto.place("travel")
    first = lab.run_workspace("travel-1", name, deliver(lab, name, "on the way", None))
    made = seen(lab, name)
    for number, backend in enumerate((place, None, place, moto.place("other"), None), 2):
        record = lab.run_workspace(f"travel-{number}", name, deliver(lab, name, "on the way", backend))
        assert (record["status"], record["error"]) == ("done", None)
        terraform = record["result"]["terraform"]
        assert (terraform["added"], terraform["changed"], terraform["destroyed"]) == (0, 0, 0), record
        now = seen(lab, name)
        assert now["lineage"] == made["lineage"] and now["serial"] >= first["result"]["terraform"]["serial"]
        inspected = lab.salt.record("eos.inspect")["workspaces"][name]
        assert (inspected["digest"], inspected["error"]) == (now["digest"], None), inspected
        assert inspected["tree"] == {"changed": [], "missing": [], "strange": []}
        assert (lab.workspace(name) / "state/terraform.tfstate").exists() == (backend is None)


def test_a_place_that_the_credential_does_not_name_gets_nothing(lab, moto):
    name = "production/stranger"
    lab.run_workspace("stranger-1", name, deliver(lab, name, "here", None))
    foreign = {**moto.place(), "bucket": "of-somebody-else"}
    record = lab.run_workspace("stranger-2", name, deliver(lab, name, "here", foreign))
    assert record["status"] == "failed" and "has none for the Terraform backend s3" in record["error"]["words"]
    assert seen(lab, name)["outputs"]["greeting"] == "here"


def locks(lab) -> list[dict]:
    return lab.salt.record("eos.examine")["control"]["state_locks"]


def terraform_of(lab, name: str) -> list[int]:
    """The processes of Terraform that work in this workspace."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd").startswith(f"{lab.workspace(name)}/"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_killed_run_leaves_a_lock_in_s3_that_the_next_one_ends(lab, moto):
    name, hold = "production/struck", lab.directory / "hold-struck"
    place = moto.place("struck")
    lab.run_workspace("struck-1", name, deliver(lab, name, "one", place))
    hold.touch()
    release = deliver(lab, name, "two", place, held(hold))
    with concurrent.futures.ThreadPoolExecutor() as executor:
        struck = executor.submit(lab.run_workspace, "struck-2", name, release)
        wait_until("the lock in S3", (lab.workspace(name) / "state-lock.json").exists)
        (lock,) = locks(lab)
        assert lock["held"] and lock["by_eos"] and lock["where"].startswith("s3://") and lock["who"], lock
        step = lab.salt.record("eos.status", operation="struck-2", step="workspace")
        # Terraform would end in order when its parent is gone: a power cut gives it no time.
        at_work = terraform_of(lab, name)
        for number, processes in (
            (signal.SIGSTOP, at_work),
            (signal.SIGKILL, [step["process"]["pid"], *at_work]),
        ):
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)
        concurrent.futures.wait([struck], 120)
    hold.unlink()
    (lock,) = locks(lab)
    assert lock["held"] is False and lock["by_eos"] is False, lock
    record = lab.run_workspace("struck-3", name, release)
    assert (record["status"], record["error"]) == ("done", None)
    assert locks(lab) == []


def test_a_lock_that_somebody_else_holds_is_respected_and_told(lab, moto, load):
    name, place = "production/locked", moto.place("locked")
    lab.run_workspace("locked-1", name, deliver(lab, name, "one", place))
    text = {"ID": "0-1", "Operation": "OperationTypeApply", "Who": "ada@desk", "Created": "2026-11-16T10:00:00Z"}
    key = "locked/production/locked/terraform.tfstate.tflock"
    s3 = load("_utils/eos_s3.py")
    exchange = load("_utils/eos_http.py").exchange

    def ask(method: str, body: bytes = b"") -> int:
        url = s3.url(moto.address, moto.bucket, key)
        headers = s3.signed(method, url, body, CREDENTIAL, "us-east-1", "20261117T000000Z")
        return exchange(method, url, {**headers, "Content-Type": "application/json"}, body or None)[0]

    assert ask("PUT", json.dumps(text).encode()) == 200
    (lock,) = locks(lab)
    assert (lock["held"], lock["by_eos"], lock["who"]) == (True, False, "ada@desk"), lock
    # Moving it would be a change as well.
    record = lab.run_workspace("locked-2", name, deliver(lab, name, "two", None))
    assert record["status"] == "failed" and "ada@desk" in record["error"]["words"], record["error"]
    assert seen(lab, name)["outputs"]["greeting"] == "one"
    assert ask("DELETE") == 204
    assert lab.run_workspace("locked-3", name, deliver(lab, name, "two", None))["status"] == "done"
