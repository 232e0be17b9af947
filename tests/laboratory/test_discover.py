"""Discovery of hosts, a job and a service that Eos did not make; and a pin of Consul's."""

import json
import subprocess

import pytest
from estates import Estate

IMAGE = "registry.example.org/grafana/grafana:10.4.2"
FOREIGN = {
    "ID": "metrics",
    "Name": "metrics",
    "Type": "service",
    "Datacenters": ["dc1"],
    "TaskGroups": [
        {
            "Name": "web",
            "Count": 1,
            "Networks": [{"ReservedPorts": [{"Label": "ui", "Value": 3001}]}],
            "Tasks": [
                {
                    "Name": "web",
                    "Driver": "docker",
                    "Config": {"image": IMAGE, "ports": ["ui"]},
                    "Resources": {"CPU": 300, "MemoryMB": 700},
                }
            ],
        }
    ],
}
SLEEPER = {
    "ID": "sleeper",
    "Name": "sleeper",
    "Type": "service",
    "Datacenters": ["dc1"],
    "TaskGroups": [
        {
            "Name": "sleeper",
            "Count": 1,
            "Tasks": [
                {
                    "Name": "sleeper",
                    "Driver": "raw_exec",
                    "Config": {"command": "/bin/sleep", "args": ["100000"]},
                    "Resources": {"CPU": 20, "MemoryMB": 20},
                }
            ],
        }
    ],
}


@pytest.fixture(scope="module")
def found(full_estate):
    """The estate with one component of its own, and beside it what others have started."""
    full_estate.must("create", "hello", "--yes")
    for job in (FOREIGN, SLEEPER):
        full_estate.nomad("/v1/jobs", "POST", {"Job": job})
    ledger = {"Name": "ledger", "ID": "ledger-1", "Address": "10.9.8.7", "Port": 8443}
    full_estate.consul("/v1/agent/service/register", "PUT", ledger)
    full_estate.wait_until(lambda: full_estate.running("sleeper", "default"), 60, "a job that Eos did not make")
    yield full_estate
    full_estate.consul("/v1/agent/service/deregister/ledger-1", "PUT")
    for job in (FOREIGN, SLEEPER):
        full_estate.nomad(f"/v1/job/{job['ID']}?namespace=default&purge=true", "DELETE")
    full_estate.must("delete", "hello", "--yes")


def status(estate: Estate) -> str:
    command = ["git", "-C", estate.root, "status", "--porcelain"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_what_others_started_is_proposed_or_named(found):
    before = status(found)
    discovered = found.json("discover")
    proposals = {one["name"]: one for one in discovered["proposals"]}
    assert set(proposals) == {"node1", "node2", "metrics"}
    lab = {node["name"]: node for node in found.json("lab", "status")["nodes"]}
    for name in ("node1", "node2"):
        node = lab[name]
        command = ["--address", node["address"], "--volumes-below", node["volumes_below"]]
        assert proposals[name]["command"] == ["eos", "create", "host", name, *command]
    metrics = proposals["metrics"]
    options = ["--cpu", "300", "--image", IMAGE, "--memory", "700", "--port", "3001"]
    environment = ["--environment", "production"]
    assert metrics["command"] == ["eos", "create", "grafana", "--name", "metrics", *options, *environment]
    assert "default/metrics" in metrics["seen"] and "keeps running beside it" in metrics["notes"][0]
    unknown = {one["object"]: one for one in discovered["unknown"]}
    assert set(unknown) == {"job default/sleeper", "service ledger"}
    node = found.running("sleeper", "default")[0]["NodeName"]
    assert unknown["job default/sleeper"]["place"] == node
    assert unknown["service ledger"]["place"] == "10.9.8.7:8443 on control"
    assert discovered["known"] == {"hosts": 1, "components": 1} and discovered["absent"] == []
    assert discovered["written"] == [] and status(found) == before


def test_what_is_gone_is_missed(found):
    job = found.nomad("/v1/job/hello?namespace=production")
    found.nomad("/v1/job/hello?namespace=production", "DELETE")
    found.wait_until(lambda: not found.running("hello"), 60, "a job to be stopped")
    absent = found.json("discover")["absent"]
    assert absent == [{"object": "component hello in production", "why": "Nomad has no such job"}]
    # As it was, byte for byte: to bring back what somebody stopped is not the business of this verb.
    found.nomad("/v1/jobs?namespace=production", "POST", {"Job": job})
    found.wait_until(lambda: found.json("discover")["absent"] == [], 60, "the job and its service to be back")


def test_proposals_are_written_and_nothing_else_is_done(found):
    head = subprocess.run(["git", "-C", found.root, "rev-parse", "HEAD"], capture_output=True).stdout
    jobs, operations = found.jobs(), len(found.json("history")["operations"])
    written = found.json("discover", "--write")["written"]
    files = {f"pillar/infrastructure/{name}.sls" for name in ("common", "production")}
    assert files < set(written)
    assert {line[3:] for line in status(found).splitlines() if not line.startswith("??")} == files
    assert subprocess.run(["git", "-C", found.root, "rev-parse", "HEAD"], capture_output=True).stdout == head
    assert (found.jobs(), len(found.json("history")["operations"])) == (jobs, operations)
    # It is a sound pillar, in which only what nobody can propose is left over.
    assert {host["host"] for host in found.json("list", "--hosts")["hosts"]} == {"control", "node1", "node2"}
    again = found.json("discover")
    assert again["proposals"] == [] and again["known"]["hosts"] == 3
    assert [one["object"] for one in again["absent"]] == ["component metrics in production"]
    subprocess.run(["git", "-C", found.root, "checkout", "-q", "--", "pillar"], check=True)
    subprocess.run(["git", "-C", found.root, "clean", "-qfd", "recipes"], check=True)


def test_a_plan_is_refused_when_consul_moved(found, tmp_path):
    out = tmp_path / "plan.json"
    found.must("update", "hello", "--greeting", "Pinned", "--plan", "--out", str(out))
    pins = json.loads(out.read_text())["pins"]
    assert pins["consul"] == {"service/hello": None, "service-intentions/hello": None}
    assert pins["workspaces"]["production/hello"]["serial"] > 0
    intentions = {"Kind": "service-intentions", "Name": "hello", "Sources": [{"Name": "ledger", "Action": "deny"}]}
    found.consul("/v1/config", "PUT", intentions)
    try:
        index = found.consul("/v1/config/service-intentions/hello")["ModifyIndex"]
        ran = found.eos("apply", str(out), "--yes")
        assert ran.returncode == 2, ran.stderr
        told = " ".join(ran.stderr.split())
        assert f"Consul service-intentions hello was not there, is at modify index {index}" in told
        assert "new plan" in told
    finally:
        found.consul("/v1/config/service-intentions/hello", "DELETE")
    by_hand = {"Name": "hello", "ID": "hello-by-hand", "Address": "10.9.8.7", "Port": 80}
    found.consul("/v1/agent/service/register", "PUT", by_hand)
    try:
        found.wait_until(lambda: len(found.consul("/v1/catalog/service/hello")) > 1, 30, "a service by hand")
        ran = found.eos("apply", str(out), "--yes")
        assert ran.returncode == 2 and "Consul service hello was not there" in " ".join(ran.stderr.split()), ran.stderr
    finally:
        found.consul("/v1/agent/service/deregister/hello-by-hand", "PUT")
    found.wait_until(lambda: len(found.consul("/v1/catalog/service/hello")) == 1, 30, "the service to be as before")
    found.must("apply", str(out), "--yes")
