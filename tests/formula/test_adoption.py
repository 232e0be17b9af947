"""Terraform dies when Nomad has what the Terraform state has not: the next step adopts it, or removes it.

Nomad is asked by these tests themselves. A resource that lasts as long as a file is there holds each window open.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pathlib
import signal
import threading

import pytest

from configurations import platform, provided
from laboratory import MINION, removed, required, wait_until

ENVIRONMENT = "adopted"
WINDOWS = ("empty", "volume", "job")
ENDS = ("resume", "rollback")
NUMBERS = itertools.count()


def held(name: str, by: pathlib.Path, after: str = "") -> str:
    """A resource whose creation lasts as long as a file is there."""
    command = json.dumps(f"while [ -e {by} ]; do sleep 0.05; done")
    return f"""
resource "terraform_data" "{name}" {{
  depends_on = [{after}]
  provisioner "local-exec" {{
    command = {command}
  }}
}}
"""


def volume(component: str, need: str, path: pathlib.Path, after: str) -> str:
    return f"""
resource "nomad_dynamic_host_volume_registration" "{need}" {{
  depends_on = [{after}]
  name      = "{component}-{need}"
  namespace = "{ENVIRONMENT}"
  node_id   = var.node_ids["{MINION}"]
  host_path = "{path}"
  capability {{
    access_mode     = "single-node-writer"
    attachment_mode = "file-system"
  }}
}}
"""


def component(name: str, path: pathlib.Path, holds: dict[str, pathlib.Path], more: str = "") -> dict:
    """A job with a volume as Eos emits them, and what holds Terraform before and between the two."""
    of = "nomad_dynamic_host_volume_registration.data"
    main = 'variable "node_ids" {\n  type = map(string)\n}\n'
    main += held("before", holds["empty"]) + volume(name, "data", path, "terraform_data.before")
    main += held("between", holds["volume"], of) + more
    main += f"""
resource "nomad_job" "component" {{
  depends_on       = [terraform_data.between]
  jobspec          = file("${{path.module}}/{name}.nomad.hcl")
  purge_on_destroy = true
  detach           = false
}}
"""
    jobspec = f"""job "{name}" {{
  namespace = "{ENVIRONMENT}"
  meta = {{
    eos_component = "{name}"
  }}
  group "{name}" {{
    volume "data" {{
      type            = "host"
      source          = "{name}-data"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }}
    task "{name}" {{
      driver = "raw_exec"
      config {{
        command = "/bin/sleep"
        args    = ["600"]
      }}
      resources {{
        cpu    = 10
        memory = 32
      }}
    }}
  }}
}}
"""
    return provided(f"{ENVIRONMENT}/{name}", main, {f"{name}.nomad.hcl": jobspec}, hosts=[MINION])


class Half:
    """One component, its directory with data, and the files that hold Terraform."""

    def __init__(self, lab):
        self.lab, self.name = lab, f"half{next(NUMBERS)}"
        self.workspace = f"{ENVIRONMENT}/{self.name}"
        self.path = lab.directory / "adopted" / self.name
        self.path.mkdir(parents=True)
        (self.path / "data").write_text("precious")
        self.holds = {window: lab.directory / f"hold-{self.name}-{window}" for window in WINDOWS}
        self.release = lab.releases.deliver(self.files())

    def files(self, more: str = "") -> dict:
        shared = {f"{ENVIRONMENT}/platform": platform(ENVIRONMENT)}
        return {**shared, self.workspace: component(self.name, self.path, self.holds, more)}

    def apply(self, operation: str) -> dict:
        return self.lab.run_workspace(f"{self.name}-{operation}", self.workspace, self.release)

    def remove(self, operation: str) -> dict:
        self.release = self.lab.releases.deliver({f"{ENVIRONMENT}/platform": platform(ENVIRONMENT)})
        operation = f"{self.name}-{operation}"
        return self.lab.salt.record("eos.remove", operation=operation, step="workspace", **removed(self.workspace))

    def volumes(self) -> dict[str, str]:
        """Name -> id of this component's registrations."""
        all_of = self.lab.nomad.call("GET", f"/v1/volumes?type=host&namespace={ENVIRONMENT}") or []
        return {one["Name"]: one["ID"] for one in all_of if one["Name"].startswith(f"{self.name}-")}

    def jobs(self) -> list[str]:
        jobs = self.lab.nomad.call("GET", f"/v1/jobs?namespace={ENVIRONMENT}&prefix={self.name}")
        return [job["ID"] for job in jobs if job["ID"] == self.name]

    def state(self) -> pathlib.Path:
        return self.lab.workspace(self.workspace) / "state" / "terraform.tfstate"

    def is_in(self, window: str) -> bool:
        if window == "empty":
            return self.state().exists() and self.lab.runs()[-1] == "apply" and not self.volumes()
        return bool(self.volumes()) and bool(self.jobs()) == (window == "job")

    @contextlib.contextmanager
    def interrupted(self, window: str, whom: str):
        """Applies, and kills Terraform or the step's own process with it in this window."""
        for hold in self.holds:
            if WINDOWS.index(hold) >= WINDOWS.index(window):
                self.holds[hold].touch()
        applying = threading.Thread(target=self.ask, daemon=True)
        applying.start()
        wait_until(f"window {window}", lambda: self.is_in(window), 120)
        record = json.loads((self.lab.salt.cache / f"eos/steps/{self.name}-1/workspace.json").read_text())
        process = record["process"]["pid"]
        terraform = children_of(process)
        assert terraform, record
        if whom == "minion":
            os.kill(process, signal.SIGKILL)
        for child in terraform:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        for hold in self.holds.values():
            hold.unlink(missing_ok=True)
        wait_until("the end of the step", self.has_ended, 120)
        # Terraform fills it 20 seconds after it began, which a busy machine may need to get here.
        self.state().write_text("")
        yield self.volumes()

    def ask(self):
        """Asks for the step, and does not mind if nobody is left to answer."""
        with contextlib.suppress(OSError, AssertionError):
            self.apply("1")

    def has_ended(self) -> bool:
        status = self.lab.salt.record("eos.status", operation=f"{self.name}-1", step="workspace")["status"]
        return status in ("failed", "interrupted")

    def recorded(self) -> set[str]:
        return {one["type"] for one in json.loads(self.state().read_text())["resources"]}


def children_of(process: int) -> list[int]:
    return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.fixture(scope="module")
def shared(laboratory):
    """The environment's namespace."""
    required("EOS_TEST_PROVIDER")
    release = laboratory.releases.deliver({f"{ENVIRONMENT}/platform": platform(ENVIRONMENT)})
    made = laboratory.run_workspace("adopted-platform", f"{ENVIRONMENT}/platform", release)
    assert made["status"] == "done", made
    return laboratory


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("whom", ["terraform", "minion"])
def test_what_a_dead_run_made_is_adopted_or_removed(shared, whom, window, end):
    half = Half(shared)
    with half.interrupted(window, whom) as left:
        assert bool(left) == (window != "empty") and bool(half.jobs()) == (window == "job"), left
    told = shared.salt.record("eos.inspect")["workspaces"][half.workspace]["error"]
    assert "did not end" in told["words"], told
    if end == "resume":
        record = half.apply("1")
        assert record["status"] == "done", record
        assert (half.volumes() == left) if left else half.volumes()
        assert half.jobs() == [half.name]
        assert {"nomad_job", "nomad_dynamic_host_volume_registration"} <= half.recorded()
        assert shared.salt.record("eos.inspect")["workspaces"][half.workspace]["error"] is None
    removed = half.remove("2")
    assert removed["status"] == "done", removed
    assert (half.volumes(), half.jobs()) == ({}, [])
    assert (half.path / "data").read_text() == "precious"
    assert not half.state().parent.parent.exists()


def test_what_a_dead_update_made_is_taken_back(shared):
    """The configuration before does not name it: Terraform has to learn of it by the one that made it."""
    half = Half(shared)
    first = half.apply("0")
    assert first["status"] == "done", first
    before = half.volumes()
    hold = half.holds["job"]
    more = volume(half.name, "more", half.path, "terraform_data.between")
    more += held("after", hold, "nomad_dynamic_host_volume_registration.more")
    half.release = shared.releases.deliver(half.files(more))
    hold.touch()
    applying = threading.Thread(target=half.ask, daemon=True)
    applying.start()
    wait_until("the second volume", lambda: len(half.volumes()) == 2, 120)
    record = json.loads((shared.salt.cache / f"eos/steps/{half.name}-1/workspace.json").read_text())
    children = children_of(record["process"]["pid"])
    os.kill(record["process"]["pid"], signal.SIGKILL)
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    hold.unlink()
    wait_until("the end of the step", half.has_ended, 120)
    half.release = shared.releases.deliver(half.files())
    back = half.apply("2")
    assert back["status"] == "done", back
    assert half.volumes() == before and half.jobs() == [half.name]
    assert half.remove("3")["status"] == "done"
    assert half.volumes() == {}


def test_a_registration_that_a_lost_workspace_left_is_adopted(shared):
    half = Half(shared)
    with half.interrupted("volume", "minion") as left:
        pass
    os.rename(shared.workspace(half.workspace), shared.directory / f"lost-{half.name}")
    record = half.apply("2")
    assert record["status"] == "done", record
    assert half.volumes() == left
    assert half.remove("3")["status"] == "done"
    assert half.volumes() == {}


def test_what_eos_did_not_make_is_not_touched(shared):
    """A job without the mark, and a registration of another directory, though both have the component's names."""
    half = Half(shared)
    other = half.path.parent / f"{half.name}-other"
    other.mkdir()
    with half.interrupted("empty", "minion"):
        pass
    node = shared.nomad.call("GET", "/v1/nodes")[0]["ID"]
    capability = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
    registered = {"Name": f"{half.name}-data", "Namespace": ENVIRONMENT, "NodeID": node, "HostPath": str(other)}
    body = {"Volume": {**registered, "RequestedCapabilities": [capability]}}
    shared.nomad.call("PUT", f"/v1/volume/host/register?namespace={ENVIRONMENT}", body)
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sleep", "args": ["600"]}}
    job = {"ID": half.name, "Name": half.name, "Namespace": ENVIRONMENT, "Datacenters": ["*"], "Type": "service"}
    shared.nomad.call("PUT", "/v1/jobs", {"Job": {**job, "TaskGroups": [{"Name": "g", "Tasks": [task]}]}})
    left = half.volumes()
    assert half.remove("2")["status"] == "done"
    assert half.volumes() == left and half.jobs() == [half.name]
    shared.nomad.call("DELETE", f"/v1/job/{half.name}?namespace={ENVIRONMENT}&purge=true")
    for name in left.values():
        shared.nomad.call("DELETE", f"/v1/volume/host/{name}/delete?namespace={ENVIRONMENT}")
