"""Outputs of a workspace that say where its service answers: they follow it, and become pillar."""

from __future__ import annotations

import json
import logging
import os

import pytest

import test_tiers
from configurations import of_full, workspace
from laboratory import MINION, wait_until
from test_eject import by_hand
from test_inspect import inspected
from test_tiers import highest, judged
from test_workspaces import remove

# A fixture.
tiers = test_tiers.tiers
FORM = "Terraform files that Eos does not emit"

PLACE = """variable "registered" {
  type = object({ address = string, port = number })
}

output "url" {
  value = var.registered == null ? null : "http://${var.registered.address}:${var.registered.port}/"
}
"""
# As no recipe has it: another place would change a resource.
MOVING = """
resource "terraform_data" "place" {
  input = var.registered
}
"""


def located(name: str, more: str = "") -> dict:
    """A workspace with an output of the place at which the service of its component answers."""
    made = workspace(name, "good day", service=name.split("/")[1])
    made["files"][f"terraform/environments/{name}/outputs.tf"] = PLACE + more
    return made


class Service:
    """A service of one instance at a dynamic port, registered in Nomad's own catalogue."""

    def __init__(self, lab, name: str):
        self.nomad, self.name = lab.nomad, name

    def start(self) -> int:
        service = {"Name": self.name, "PortLabel": "http", "Provider": "nomad"}
        task = {"Name": "main", "Driver": "raw_exec", "Config": {"command": "/bin/sleep", "args": ["600"]}}
        group = {"Name": "main", "Networks": [{"DynamicPorts": [{"Label": "http"}]}], "Services": [service]}
        group["Tasks"] = [task | {"Resources": {"CPU": 10, "MemoryMB": 32}}]
        job = {"ID": self.name, "Name": self.name, "Datacenters": ["dc1"], "TaskGroups": [group]}
        self.nomad.call("POST", "/v1/jobs", {"Job": job})
        return self.wait_for_another(None)

    def move(self) -> int:
        """Has Nomad replace its instance, which then answers at another port."""
        (instance,) = self.instances()
        self.nomad.call("POST", f"/v1/allocation/{instance['AllocID']}/stop")
        return self.wait_for_another(instance["AllocID"])

    def stop(self) -> None:
        self.nomad.call("DELETE", f"/v1/job/{self.name}?purge=true")
        wait_until("the end of the service", lambda: not self.instances())

    def wait_for_another(self, allocation: str | None) -> int:
        def other() -> list[dict]:
            found = self.instances()
            return found if len(found) == 1 and found[0]["AllocID"] != allocation else []

        return wait_until("the service", other)[0]["Port"]

    def instances(self) -> list[dict]:
        return self.nomad.call("GET", f"/v1/service/{self.name}") or []


@pytest.fixture
def service(laboratory, request):
    service = Service(laboratory, request.node.name.removeprefix("test_").replace("_", "-"))
    yield service
    service.stop()


def url(record: dict) -> str | None:
    assert record["status"] == "done", record
    return record["result"]["terraform"]["outputs"].get("url")


def runs_since(lab, before: list[str]) -> list[str]:
    """Without `init`: Terraform leaves nothing of one behind in a workspace without providers."""
    return [command for command in lab.runs()[len(before) :] if command != "init"]


def deployed(lab, name: str) -> dict:
    return json.loads((lab.salt.cache / "eos" / "deployed" / f"{name}.json").read_text())


def pillar_of(lab, minion: str) -> dict:
    return json.loads(lab.salt.run("salt-run", "pillar.show_pillar", minion).stdout).get("terraform_outputs", {})


def test_outputs_follow(laboratory, service):
    name = f"default/{service.name}"
    release = laboratory.releases.deliver({name: located(name)})
    assert url(laboratory.run_workspace(f"{service.name}-1", name, release)) is None

    port, before = service.start(), laboratory.runs()
    followed = laboratory.run_workspace(f"{service.name}-2", name, release)
    assert url(followed) == f"http://localhost:{port}/"
    assert runs_since(laboratory, before) == ["plan", "apply"]
    counts = {key: followed["result"]["terraform"][key] for key in ("added", "changed", "destroyed")}
    assert counts == {"added": 0, "changed": 0, "destroyed": 0}

    before = laboratory.runs()
    assert url(laboratory.run_workspace(f"{service.name}-3", name, release)) == f"http://localhost:{port}/"
    assert runs_since(laboratory, before) == []

    elsewhere = service.move()
    assert elsewhere != port
    # What moved is no drift of Terraform's, before the outputs follow and after.
    assert inspected(laboratory)["workspaces"][name]["state_changed"] is None
    assert url(laboratory.run_workspace(f"{service.name}-4", name, release)) == f"http://localhost:{elsewhere}/"
    assert inspected(laboratory)["workspaces"][name]["state_changed"] is None
    asked = by_hand(laboratory, "eos_terraform.get_terraform_output", "default", service.name, "url")
    assert asked == f"http://localhost:{elsewhere}/"


def test_a_known_place_costs_no_second_run(laboratory, service):
    """A change of a workspace whose service stays where it is."""
    name = f"default/{service.name}"
    port, before = service.start(), laboratory.runs()
    release = laboratory.releases.deliver({name: located(name)})
    assert url(laboratory.run_workspace(f"{service.name}-1", name, release)) == f"http://localhost:{port}/"
    assert runs_since(laboratory, before) == ["plan", "apply"]


def test_nothing_but_outputs_follows(laboratory, service):
    name = f"default/{service.name}"
    release = laboratory.releases.deliver({name: located(name, MOVING)})
    laboratory.run_workspace(f"{service.name}-1", name, release)
    service.start()
    before = laboratory.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name]
    ran = laboratory.runs()
    # The component is as wanted: outputs that cannot follow do not make its step fail.
    assert url(laboratory.run_workspace(f"{service.name}-2", name, release)) is None
    assert runs_since(laboratory, ran) == ["plan"]
    assert laboratory.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name] == before


def test_outputs_follow_in_the_tree_that_was_applied(laboratory, service):
    """A step that failed before its apply left the tree of another configuration."""
    name = f"default/{service.name}"
    good = laboratory.releases.deliver({name: located(name)})
    laboratory.run_workspace(f"{service.name}-1", name, good)
    broken = laboratory.releases.deliver({name: located(name, 'output "broken" {\n  value = nothing.at.all\n}\n')})
    assert laboratory.run_workspace(f"{service.name}-2", name, broken)["status"] == "failed"
    port = service.start()
    good = laboratory.releases.deliver({name: located(name)})
    assert url(laboratory.run_workspace(f"{service.name}-3", name, good)) == f"http://localhost:{port}/"


def test_outputs_are_pillar(laboratory, service):
    name = f"default/{service.name}"
    port = service.start()
    release = laboratory.releases.deliver({name: located(name)})
    record = laboratory.run_workspace(f"{service.name}-1", name, release)
    assert pillar_of(laboratory, MINION)[name] == record["result"]["terraform"]["outputs"]
    assert pillar_of(laboratory, MINION)[name]["url"] == f"http://localhost:{port}/"
    assert pillar_of(laboratory, "another") == {}
    told = deployed(laboratory, name)
    assert (told["version"], told["workspace"], told["operation"]) == (1, name, f"{service.name}-1")

    laboratory.releases.deliver({})
    assert pillar_of(laboratory, MINION) == {}, "the pillar names it no more"
    assert remove(laboratory, f"{service.name}-2", name)["status"] == "done"
    laboratory.releases.deliver({name: located(name)})
    assert pillar_of(laboratory, MINION) == {}, "the workspace is gone"


class Catalogue:
    """Instances of a service in Consul, on a node that is none of Consul's own."""

    def __init__(self, full, service: str):
        self.consul, self.service = full.consul, service

    def add(self, instance: str, port: int, status: str = "passing", **address: str) -> None:
        service = {"ID": instance, "Service": self.service, "Port": port, **address}
        check = {"CheckID": f"check of {instance}", "Name": "check", "ServiceID": instance, "Status": status}
        node = {"Node": "elsewhere", "Address": "127.0.0.1", "SkipNodeUpdate": False}
        self.consul.call("PUT", "/v1/catalog/register", {**node, "Service": service, "Check": check})

    def remove(self, instance: str) -> None:
        self.consul.call("PUT", "/v1/catalog/deregister", {"Node": "elsewhere", "ServiceID": instance})


def test_outputs_follow_what_consul_has(full):
    name, catalogue = "default/located-by-consul", Catalogue(full, "located-by-consul")
    catalogue.add("first", 8200, Address="10.20.30.40")
    release = full.releases.deliver({name: of_full(located(name))})
    assert url(full.run_locked("consul-1", name, release)) == "http://10.20.30.40:8200/"
    # Of several, the lowest address; of one without an address, that of its node.
    catalogue.add("second", 8200, Address="10.20.30.4")
    # One that fails its check may be on a host that is gone.
    catalogue.add("ill", 8200, status="critical", Address="10.20.30.3")
    assert url(full.run_locked("consul-2", name, release)) == "http://10.20.30.4:8200/"
    for instance in ("first", "second", "ill"):
        catalogue.remove(instance)
    catalogue.add("third", 81)
    assert url(full.run_locked("consul-3", name, release)) == "http://localhost:81/"
    catalogue.remove("third")
    assert url(full.run_locked("consul-4", name, release)) is None


def rewritten(file: str, before: str, after: str):
    """Another text of a file of the workspace."""

    def edit(files: dict[str, bytes]) -> None:
        (path,) = [path for path in files if path.endswith(file)]
        assert before.encode() in files[path], before
        files[path] = files[path].replace(before.encode(), after.encode(), 1)

    return edit


SAID = 'format(var.outputs["hello_url"], var.registered.address, var.registered.port)'
HOSTILE = {
    "a file of the host": rewritten("recipe_outputs.tf", SAID, 'file("/etc/shadow")'),
    "more than the place": rewritten("recipe_outputs.tf", SAID, SAID.replace(".port", ".port, var.eos_digest")),
    "another's text": rewritten("recipe_outputs.tf", 'outputs["hello_url"]', 'outputs["nomad_service"]'),
    "an attribute of the job": rewritten("recipe_outputs.tf", SAID, "nomad_job.component.jobspec"),
    "a default": rewritten("recipe_outputs.tf", "map(string)\n", "map(string)\n  default = {}\n"),
    "another variable": rewritten("recipe_outputs.tf", 'variable "outputs"', 'variable "others"'),
    "a resource": rewritten("recipe_outputs.tf", 'output "hello_url" {', 'resource "hello_url" {'),
    "an order": rewritten("recipe_outputs.tf", f"{SAID}\n", f"{SAID}\n  depends_on = []\n"),
    "an output of the workspace's own": rewritten("hello/outputs.tf", "module.hello.hello_url", 'file("/etc/shadow")'),
    "one that the recipe has not": rewritten("hello/outputs.tf", "hello_url", "other_url"),
    "a place of its own": rewritten("production/hello/main.tf", "= var.registered", '= { address = "x", port = 1 }'),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_another_form_of_outputs_is_high(tiers, change):
    found = judged(tiers, "hello", "production/hello", change)
    assert highest(found) == "high" and any(why.startswith(FORM) for _, why in found), found


RECORD = {"version": 1, "workspace": "production/web", "outputs": {"web_url": "http://10.0.0.7:80"}}


@pytest.fixture
def outputs(load, tmp_path):
    """The external pillar with one record, and what it gives a minion with this slice."""
    module = load("master/pillar/terraform_outputs.py")
    module.__opts__["pillarenv"] = None
    module.record = tmp_path / "production" / "web.json"
    module.record.parent.mkdir()
    module.record.write_text(json.dumps(RECORD))
    module.given = lambda slices: module.ext_pillar("node1", {"eos": slices}, str(tmp_path))
    return module


@pytest.mark.parametrize(
    "slices",
    [
        {"workspaces": {"production/web": {}}},
        {"volumes": {"production/web/data": {}}},
        {"files": {"production/web/etc/web.conf": {}}},
    ],
)
def test_a_minion_with_a_part_of_a_component_gets_its_outputs(outputs, slices):
    assert outputs.given(slices) == {"terraform_outputs": {"production/web": RECORD["outputs"]}}


@pytest.mark.parametrize(
    "slices",
    [
        {},
        None,
        {"volumes": {"staging/web/data": {}}},
        {"volumes": {"production/web-2/data": {}}},
        {"volumes": {"../production/web": {}}},
        {"volumes": {"production/../production/web": {}}},
        {"volumes": ["production/web"]},
    ],
)
def test_a_minion_without_one_gets_none(outputs, slices):
    assert outputs.given(slices) == {"terraform_outputs": {}}


def test_a_plan_gives_none(outputs):
    outputs.__opts__["pillarenv"] = f"plan-{'0' * 32}"
    assert outputs.given({"workspaces": {"production/web": {}}}) == {}


BROKEN = {
    "cut": lambda file: file.write_text(json.dumps(RECORD)[:-9]),
    "empty": lambda file: file.write_text(""),
    "of another version": lambda file: file.write_text(json.dumps({**RECORD, "version": 2})),
    "of another workspace": lambda file: file.write_text(json.dumps({**RECORD, "workspace": "production/db"})),
    "without outputs": lambda file: file.write_text(json.dumps({**RECORD, "outputs": None})),
    "deep": lambda file: file.write_text("[" * 100000),
    "endless": lambda file: file.write_text(" " * ((1 << 20) + 1)),
    "no text": lambda file: file.write_bytes(b"\xff"),
    "a directory": lambda file: (file.unlink(), file.mkdir()),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "a link": lambda file: (file.rename(f"{file}.other"), file.symlink_to(f"{file}.other")),
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_record_is_a_line_of_the_log(outputs, caplog, damage):
    damage(outputs.record)
    with caplog.at_level(logging.WARNING):
        assert outputs.given({"workspaces": {"production/web": {}}}) == {"terraform_outputs": {}}
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "node1 gets no Terraform outputs of production/web" in caplog.text
