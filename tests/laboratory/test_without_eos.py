"""An estate that Eos compiled and applied, with Eos taken away: Salt's orchestration alone destroys and deploys it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from estates import Estate, get
from test_hooks import Prometheus, is_settled, lasting_port

pytestmark = pytest.mark.chain

RECIPE = """\
recipe: relic
summary: A service with something of every kind
version: "1"
risk: low
options:
  greeting: {type: string, default: plain, help: First line of its page}
  password: {type: secret, generate: 24, help: What a reader must know}
needs:
  data: {volume: {purpose: application, size: 1GiB, path: "/opt/{{ instance }}/data", mode: "0750"}}
services:
  relic:
    replicas: 2
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{ listen_address }}"]
    env: {EOS_HELLO_GREETING: "{{ greeting }}"}
    secrets: {PASSWORD_FILE: {file: password}}
    ports: {http: {}}
    check: {http: /health, every: 1s}
    metrics: /metrics
host:
  files:
    FILES/70-{{ component }}.conf:
      text: "greeting = {{ greeting }}\\n"
      user: "UID"
      group: "GID"
"""
NAMES = ["production/platform", "production/prometheus", "production/relic"]


class Ejected:
    """The estate as an administrator has it who knows Salt, Nomad and Terraform."""

    def __init__(self, estate: Estate):
        self.estate = estate
        self.file = estate.host_files / "70-relic.conf"
        self.volumes = [estate.lab / f"volumes/opt/{name}/data" for name in ("prometheus", "relic")]
        self.rules = estate.lab / "volumes/opt/prometheus/data/eos-rules/relic.json"

    def orchestrate(self, sls: str) -> dict[str, dict]:
        """State -> what came of it; a tree that does not render is a failure."""
        ran = self.salt("salt-run", "master", "state.orchestrate", f"orchestrate.{sls}")
        (states,) = json.loads(ran)["data"].values()
        assert isinstance(states, dict), ran
        return {state["__id__"]: state for state in states.values()}

    def must(self, sls: str) -> dict[str, dict]:
        states = self.orchestrate(sls)
        failed = {name: state for name, state in states.items() if state["result"] is not True}
        assert not failed, json.dumps(failed, indent=1)
        return states

    def by_hand(self, *call: str) -> object:
        return json.loads(self.salt("salt-call", "minion", *call))["local"]

    def salt(self, program: str, etc: str, *words: str) -> str:
        command = [Path(os.environ["EOS_TEST_SALT"]) / "bin" / program, "-c", self.estate.lab / "salt" / etc / "etc"]
        command += ["--out=json", "--log-level=quiet", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=600).stdout

    def addresses(self) -> list[str]:
        found = self.estate.nomad("/v1/service/relic?namespace=production") or []
        return sorted(f"{one['Address']}:{one['Port']}" for one in found)

    def pages(self) -> list[str]:
        return [get(f"http://{address}/")[1] for address in self.addresses()]

    def passwords(self) -> list[str]:
        """The secret as each running task has it."""
        found = [self.estate.files(f"**/{one['ID']}/relic/secrets/password") for one in self.estate.running("relic")]
        return [file.read_text() for [file] in found]

    def state(self) -> dict:
        """What a second deployment leaves as it is, by the engines that own it."""
        jobs = self.estate.nomad("/v1/jobs?namespace=production")
        return {
            "jobs": {job["ID"]: job["JobModifyIndex"] for job in jobs},
            "instances": sorted(one["ID"] for job in jobs for one in self.estate.running(job["ID"])),
            "file": (self.file.stat().st_mtime_ns, self.file.stat().st_ino),
            # Each run has Prometheus load them again: it may have started without them.
            "rules": self.rules.read_text(),
            "volumes": [volume.stat().st_ctime_ns for volume in self.volumes[1:]],
            "terraform": {name: self.applied(name) for name in NAMES},
        }

    def applied(self, name: str) -> dict:
        [file] = self.estate.files(f"terraform/workspaces/{name}/applied.json")
        record = json.loads(file.read_text())
        return {key: record[key] for key in ("digest", "serial", "when")}


@pytest.fixture(scope="module")
def ejected(with_containers):
    """Of a component that Eos created, watched by a Prometheus that Eos created."""
    estate = with_containers
    estate.host_files.mkdir(mode=0o755, exist_ok=True)
    recipe = RECIPE.replace("FILES", str(estate.host_files))
    estate.write_recipe("relic", recipe.replace("UID", str(os.getuid())).replace("GID", str(os.getgid())))
    options = ["--port", lasting_port(), "--scrape-interval", "1s", "--alert-after", "4s"]
    estate.must("create", "prometheus", *options, "--yes")
    estate.must("create", "relic", "--greeting", "still here", "--yes")
    yield Ejected(estate)
    for component in ("relic", "prometheus"):
        estate.eos("delete", component, "--yes")


def test_the_pillar_says_in_words_what_a_minion_has(ejected):
    words = ejected.by_hand("pillar.get", "eos:estate", "unmask=True")
    relic = words["components"]["production/relic"]
    volume = {"size": "1 GiB", "filesystem": "directory"}
    expected = {"recipe": "relic", "version": "1", "options": {"greeting": "still here"}, "volumes": {"data": volume}}
    assert relic == expected, words
    assert words["components"]["production/prometheus"]["recipe"] == "prometheus"
    assert "control" in words["host"]["roles"]


def test_salt_alone_destroys_it(ejected):
    estate = ejected.estate
    [password] = set(ejected.passwords())
    assert ejected.file.exists() and ejected.rules.exists()
    ejected.must("destroy")
    assert estate.jobs() == []
    # Nobody else has the secret: its namespace stays with it.
    assert [one["Path"] for one in estate.nomad("/v1/vars?namespace=production")] == ["nomad/jobs/relic"]
    assert not ejected.file.exists() and not ejected.rules.exists()
    assert [file.name for file in estate.files("terraform/workspaces/production/*")] == ["platform"]
    assert all(volume.is_dir() for volume in ejected.volumes), "data stay"
    assert password not in json.dumps([file.read_text() for file in estate.files("salt/minion/**/eos/**/*.json")])
    # Twice is nothing more.
    ejected.must("destroy")


def test_a_missing_secret_comes_first_and_by_name(ejected):
    # From nothing: secret and data of before are gone, and the namespace with them.
    ejected.estate.nomad("/v1/var/nomad/jobs/relic?namespace=production", "DELETE")
    ejected.must("destroy")
    assert ejected.estate.nomad("/v1/namespace/production") is None
    assert ejected.estate.files("terraform/workspaces/production/*") == []
    for volume in ejected.volumes:
        shutil.rmtree(volume)
    states = ejected.orchestrate("deploy")
    told = states["secrets are there for control"]
    assert told["result"] is False, told
    assert "Secret nomad/jobs/relic in namespace production is missing: it needs password" in json.dumps(told), told
    assert ejected.estate.jobs() == []
    assert not ejected.file.exists()


def test_salt_alone_deploys_it_from_nothing(ejected):
    estate, secret = ejected.estate, "by an administrator"
    body = {"Namespace": "production", "Path": "nomad/jobs/relic", "Items": {"password": secret}}
    estate.nomad("/v1/var/nomad/jobs/relic?namespace=production", "PUT", body)
    states = ejected.must("deploy")
    assert states["jobs are healthy for control"]["result"] is True

    assert len(estate.running("relic")) == 2
    assert ejected.passwords() == [secret, secret]
    pages = ejected.pages()
    assert len(pages) == 2 and all("still here" in page for page in pages)
    assert ejected.file.read_text() == "greeting = still here\n"
    assert (ejected.volumes[1].stat().st_mode & 0o7777) == 0o750
    prometheus = Prometheus(estate)
    wanted = [(address, "up") for address in ejected.addresses()]
    estate.wait_until(lambda: sorted(prometheus.targets("relic")) == wanted, 30, "both are measured")
    assert [rule["name"] for rule in prometheus.rules("relic")] == ["InstanceDown", "InstanceMissing"]
    status = ejected.by_hand("eos_orchestrator.status")
    assert status == {name: {"applied": True, "unhealthy": None} for name in NAMES}
    for name in NAMES:
        found = ejected.by_hand("eos_terraform.detect_drift", *name.split("/"))
        assert found["verdict"] == "in step", found
    assert secret not in json.dumps(states)


def test_a_second_run_changes_nothing(ejected):
    before = ejected.state()
    ejected.must("deploy")
    assert ejected.state() == before


def test_a_job_that_does_not_run_fails_a_run_that_has_nothing_to_do(ejected):
    estate, kept = ejected.estate, ejected.state()
    node = estate.running("relic")[0]["NodeID"]
    drain = {"NodeID": node, "Eligibility": "ineligible"}
    estate.nomad(f"/v1/node/{node}/eligibility", "POST", drain)
    try:
        # Nomad stops them all, and may place none.
        for one in estate.running("relic"):
            estate.nomad(f"/v1/allocation/{one['ID']}/stop?namespace=production", "PUT", {})
        estate.wait_until(lambda: not estate.running("relic"), 60, "none runs")
        states = ejected.orchestrate("deploy")
        told = states["jobs are healthy for control"]
        assert told["result"] is False and "production/relic: 0 of 2 instances" in json.dumps(told), told
        assert ejected.state()["jobs"] == kept["jobs"], "Terraform has no reason to touch them"
    finally:
        estate.nomad(f"/v1/node/{node}/eligibility", "POST", {**drain, "Eligibility": "eligible"})
    ejected.must("deploy")


def test_eos_comes_back_and_finds_it_as_it_left_it(ejected):
    assert is_settled(ejected.estate)


def test_salt_alone_destroys_what_it_deployed(ejected):
    ejected.must("destroy")
    assert ejected.estate.jobs() == []
    assert not ejected.file.exists()
    assert all(volume.is_dir() for volume in ejected.volumes)
