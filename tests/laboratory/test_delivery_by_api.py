"""Delivery over Salt's API: Eos operates an estate without a file of the master's."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import witness
from estates import PROGRAM, Estate

pytestmark = pytest.mark.chain
AS_USER = {"EOS_SALT_USER": "eos-user"}
WAITING = 4
SLICE = "pillar/hosts/control.sls"
RECIPE = """\
recipe: tracker
summary: A page of medium risk
version: "1"
risk: medium
services:
  page:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{ listen_address }}"]
    ports: {http: {}}
    check: {http: /health}
"""


class Laptop(Estate):
    """An estate whose Eos finds an empty directory where the master's files are, and may not write to it."""

    def eos(self, *words: str, timeout: float = 400, env: dict | None = None, input: str = ""):
        if words[0] == "lab":
            return super().eos(*words, timeout=timeout, env=env, input=input)
        hidden = 'mount --bind -o ro "$1" "$2" && shift 2 && exec "$@"'
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", hidden, "sh", str(self.empty), str(self.srv)]
            + [PROGRAM, "--estate", str(self.root), *words],
            input=input,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **(env or {})},
        )

    @property
    def srv(self) -> Path:
        return self.lab / "srv"

    @property
    def empty(self) -> Path:
        empty = self.root.with_name("nothing")
        empty.mkdir(exist_ok=True)
        return empty

    def served(self) -> dict[str, str]:
        """Every file of the release that is served, by its sha256."""
        current = self.srv / "current"
        files = (path for path in current.rglob("*") if path.is_file())
        return {str(path.relative_to(current)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    def release(self) -> str:
        return os.readlink(self.srv / "current").removeprefix("releases/")


@pytest.fixture(scope="module")
def estate(tmp_path_factory):
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("another mount namespace needs root")
    made = Laptop(tmp_path_factory.mktemp("delivery") / "estate")
    try:
        made.begin("--deliver-by-api")
        yield made
    finally:
        left = made.end()
    assert not left, "\n".join(left)
    assert list(made.empty.iterdir()) == []


def test_the_spine_without_a_file_of_the_masters(estate):
    assert estate.endpoints["delivery"] == {"kind": "api"}
    hidden = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"mount --bind {estate.empty} {estate.srv}; ls -A {estate.srv}"],
        capture_output=True,
        text=True,
    )
    assert (hidden.returncode, hidden.stdout) == (0, ""), hidden.stderr
    estate.must("create", "hello", "--name", "afar", "--yes")
    assert len(estate.running("afar")) == 1
    first = estate.release()
    # Root's, and of nobody who operates the estate.
    modes = {(path.stat().st_uid, path.stat().st_mode & 0o777) for path in (estate.srv / "current").rglob("*")}
    assert modes == {(os.geteuid(), 0o755), (os.geteuid(), 0o644)}

    preview = estate.json("update", "afar", "--greeting", "Later", "--plan")
    assert preview["plan"]["effects"] and not preview["plan"]["unasked"], preview["plan"]
    assert estate.release() == first
    estate.must("update", "afar", "--greeting", "Later", "--yes")
    assert estate.release() != first
    estate.must("drift")
    assert estate.must("apply", "--yes").returncode == 0


def test_drift_of_delivered_files_is_seen_and_mended(estate):
    whole = estate.served()
    name = next(path for path in whole if path.endswith("production/afar/main.tf"))
    (estate.srv / "current" / name).write_text("# by hand\n")
    (estate.srv / "current/salt/strange").write_text("by hand\n")
    ran = estate.eos("drift")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert name.removeprefix("files/") in ran.stdout and "salt/strange" in ran.stdout, ran.stdout
    estate.must("reconcile", "--yes")
    assert estate.served().keys() == whole.keys()
    estate.must("drift")


def test_an_undone_operation_takes_its_release_back(estate):
    before = estate.release()
    estate.must("update", "afar", "--replicas", "2", "--yes")
    assert len(estate.running("afar")) == 2 and estate.release() != before
    estate.must("undo", "--yes")
    estate.wait_until(lambda: len(estate.running("afar")) == 1, 30, "one instance again")
    estate.must("drift")


def test_a_delivery_takes_this_long(estate, capsys):
    """Measured, and bounded by far: a delivery is two calls of Salt's API."""
    took = []
    for number in range(3):
        begun = time.monotonic()
        delivered(estate, {**contents(estate), "salt/components/afar/production/note": str(number).encode()})
        took.append(time.monotonic() - begun)
    with capsys.disabled():
        print(f"\na delivery over the API by {len(contents(estate))} files: {min(took):.2f} s")
    assert min(took) < 10
    estate.must("apply", "--yes")


def contents(estate: Laptop) -> dict[str, bytes]:
    current = estate.srv / "current"
    files = (path for path in current.rglob("*") if path.is_file())
    return {str(path.relative_to(current)): path.read_bytes() for path in files if path.name != "release"}


def digest_of(files: dict[str, bytes]) -> str:
    """As docs/contracts.md has it."""
    whole = hashlib.sha256()
    for path, content in sorted((path.removeprefix("files/"), content) for path, content in files.items()):
        for part in (path.encode(), content):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def deliver(estate: Laptop, files: dict[str, bytes], user: str = "eos-user") -> object:
    """What the control minion says of a delivery by whoever may speak to Salt's API."""
    manifest = json.dumps({path: [hashlib.sha256(content).hexdigest()] for path, content in files.items()}).encode()
    known = {hashlib.sha256(content).hexdigest(): content for content in (manifest, *files.values())}
    asked = {"release": digest_of(files), "manifest": [hashlib.sha256(manifest).hexdigest()]}
    missing, answer = asked["manifest"], None
    for _ in range(4):
        packed = {digest: base64.b64encode(known[digest]).decode() for digest in missing}
        call = {"client": "local", "tgt": "control", "fun": "eos.deliver", "kwarg": {**asked, "contents": packed}}
        status, body = estate.salt([call], user)
        assert status == 200, body
        answer = json.loads(body)["return"][0]["control"]
        if not isinstance(answer, dict) or not answer["missing"]:
            break
        missing = answer["missing"]
    return answer


def delivered(estate: Laptop, files: dict[str, bytes]) -> None:
    answer = deliver(estate, files)
    assert answer == {"missing": [], "current": digest_of(files)}, answer


def test_what_waits_for_approval_is_delivered_once_somebody_approved_it(estate):
    estate.write_recipe("tracker", RECIPE)
    before = estate.served()
    ran = estate.eos("create", "tracker", "--yes", "--json", env=AS_USER)
    assert ran.returncode == WAITING, ran.stdout + ran.stderr
    operation = json.loads(ran.stdout.strip().split("\n")[-1])["operation"]
    assert estate.served() == before
    estate.must("approve", operation, "--as", "eos-operator", "--yes")
    estate.must("resume", operation, env=AS_USER)
    assert len(estate.running("tracker")) == 1
    # A change within the role goes beside it.
    estate.must("update", "afar", "--greeting", "By a user", "--yes", env=AS_USER)


def with_slices(files: dict[str, bytes], slices: dict, beside: dict | None = None) -> dict[str, bytes]:
    return {**files, SLICE: b"#!json\n" + json.dumps({"eos": slices, **(beside or {})}).encode()}


def raised(files: dict[str, bytes], slices: dict) -> dict[str, bytes]:
    """Terraform files that Eos does not emit, in a workspace that says of itself that its risk is low."""
    main = "terraform/environments/production/afar/main.tf"
    text = files[f"files/{main}"] + b'data "external" "x" {\n  program = ["id"]\n}\n'
    slices["workspaces"]["production/afar"]["files"][main] = hashlib.sha256(text).hexdigest()
    return {**with_slices(files, slices), f"files/{main}": text}


def foreign_environment(files: dict[str, bytes], slices: dict) -> dict[str, bytes]:
    slices["workspaces"]["staging/afar"] = slices["workspaces"]["production/afar"]
    own = "salt/components/afar/production/workspace.sls"
    return with_slices({**files, own.replace("production", "staging"): files[own]}, slices)


def dropped(files: dict[str, bytes], slices: dict) -> dict[str, bytes]:
    del slices["workspaces"]["production/tracker"]
    return with_slices(files, slices)


def lowered(files: dict[str, bytes], slices: dict) -> dict[str, bytes]:
    slices["workspaces"]["production/tracker"]["risk"] = "low"
    return with_slices(files, slices)


HOSTILE = {
    "a key beside eos": lambda files, slices: with_slices(files, slices, {"schedule": {"x": {"function": "cmd.run"}}}),
    "another's slice dropped": dropped,
    "another's slice lowered": lowered,
    "another minion's slice": lambda files, slices: {**files, "pillar/hosts/theirs.sls": b'{"eos": {}}'},
    "workspaces of another minion": lambda files, slices: {
        **files,
        "pillar/hosts/theirs.sls": json.dumps({"eos": {"workspaces": slices["workspaces"]}}).encode(),
    },
    "another environment's slice": foreign_environment,
    "a higher risk": raised,
    "a module": lambda files, slices: {**files, "salt/_modules/eos.py": b""},
    "all dropped": lambda files, slices: with_slices(files, {}),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_delivery_of_a_user_changes_no_byte_that_is_served(estate, what):
    files = contents(estate)
    slices = json.loads(files[SLICE].decode().removeprefix("#!json\n"))["eos"]
    before, release = estate.served(), estate.release()
    answer = deliver(estate, HOSTILE[what](files, slices))
    assert isinstance(answer, str) and "Traceback" not in answer, answer
    assert any(words in answer for words in ("refused", "needs approval", "no release")), answer
    assert (estate.served(), estate.release()) == (before, release)


def test_a_hostile_delivery_leaves_the_estate_as_it_was(estate):
    estate.must("drift")
    assert len(estate.running("tracker")) == 1 and len(estate.running("afar")) == 1


def test_deletion_leaves_nothing(estate):
    estate.must("delete", "tracker", "--yes")
    estate.must("delete", "afar", "--yes")
    witness.nothing(estate, "afar")
    estate.must("drift")
