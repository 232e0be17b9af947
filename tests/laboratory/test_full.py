"""The full profile: services in Consul, secrets in Vault, Terraform's state and locks in Consul, the mesh, several nodes."""

import json
import os
import re
import socket
import struct
import time
import urllib.error
from pathlib import Path

import pytest
from estates import get, no_containers, no_mesh, open_engine, sample
from golden_trees import validate_jobs

pytestmark = pytest.mark.chain

STORE = """\
recipe: store
summary: Keeps things
version: "1"
options:
  password: {type: secret, generate: 24, help: What a reader must know}
services:
  store:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{ listen_address }}"]
    secrets: {STORE_PASSWORD: {file: password}}
    ports: {http: {}}
    check: {http: /health}
"""

# It asks its store again and again, and says what it got.
NOTES = """\
recipe: notes
summary: Reads a store of its own
version: "1"
uses:
  store: {recipe: store}
services:
  notes:
    replicas: 1
    cpu: 50
    memory: 64
    program: [/bin/sh, -c, "while :; do curl -sS -m 3 http://$STORE/health; echo; sleep 1; done"]
    env: {STORE: "{{ store.address }}"}
    secrets: {CONF: {file: conf, text: "password={{ store.password }}"}}
"""

PAIR = """\
recipe: pair
summary: Two of a kind on the same port of their hosts
version: "1"
options:
  port: {type: port, default: 18765, help: Port the service answers on}
services:
  pair:
    replicas: 2
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{ listen_address }}"]
    ports: {http: {static: "{{ port }}"}}
    check: {http: /health}
"""


@pytest.fixture(scope="module")
def full(full_estate):
    for name, text in (("store", STORE), ("notes", NOTES), ("pair", PAIR)):
        directory = full_estate.root / "recipes" / name
        directory.mkdir(parents=True)
        (directory / "recipe.yaml").write_text(text)
    return full_estate


def resolve(estate, service: str) -> list[str]:
    """The IPv4 addresses that Consul's DNS gives for a service, in less than a second."""
    port = json.loads((estate.lab / "lab.json").read_text())["ports"]["full"]["consul_dns"]
    name = f"{service}.service.consul"
    question = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0\0\1\0\1"
    begun = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(5)
        asking.sendto(struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + question, ("127.0.0.1", port))
        answer = asking.recv(4096)
    assert time.monotonic() - begun < 1
    count, at = struct.unpack("!H", answer[6:8])[0], 12 + len(question)
    addresses = []
    for _ in range(count):
        kind, length = (
            struct.unpack("!H", answer[at + 2 : at + 4])[0],
            struct.unpack("!H", answer[at + 10 : at + 12])[0],
        )
        if kind == 1:
            addresses.append(socket.inet_ntoa(answer[at + 12 : at + 12 + length]))
        at += 12 + length
    return addresses


def passing(estate, service: str) -> list[dict]:
    return estate.consul(f"/v1/health/service/{service}?passing") or []


def log(estate, job: str, kind: str = "stdout") -> str:
    """What the task `notes` of a job's only instance has said."""
    (one,) = estate.running(job)
    path = f"/v1/client/fs/logs/{one['ID']}?namespace=production&task=notes&type={kind}&plain=true"
    token = {"X-Nomad-Token": estate.management_token}
    try:
        with open_engine(estate.endpoints["nomad"], path, headers=token) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        # It has only just been started.
        assert error.code == 404, error
        return ""


def test_nomad_parses_and_validates_the_golden_jobs(full):
    validate_jobs(Path(__file__).resolve().parent.parent / "golden/full/tree", full)


def test_a_service_is_in_consul_and_found_by_name(full):
    created = full.must("create", "hello", "--yes")
    assert "consul_service  hello.service.consul" in created.stdout
    (one,) = passing(full, "hello")
    address, port = one["Service"]["Address"], one["Service"]["Port"]
    assert "Hello from Eos" in get(f"http://{address}:{port}/")[1]
    assert resolve(full, "hello") == [address]
    assert (full.nomad("/v1/services?namespace=*") or []) == []


def test_terraform_state_and_locks_are_in_consul(full):
    keys = full.consul("/v1/kv/terraform/?keys")
    assert "terraform/production/hello/state" in keys
    assert not [key for key in keys if "lock" in key], "a lock is left behind"
    # On disk Terraform keeps only which backend it has.
    kept = [json.loads(file.read_text()) for file in (full.lab / "terraform").rglob("*.tfstate")]
    assert [record["backend"]["type"] for record in kept if record.get("resources")] == []
    assert "nothing to do" in full.must("create", "hello", "--yes").stderr


def test_doctor_and_status_know_consul_and_vault(full):
    findings = full.json("doctor")["findings"]
    conditions = {(one["area"], one["condition"]) for one in findings}
    assert ("consul", "ok") in conditions and ("vault", "ok") in conditions
    assert not [one for one in findings if one["condition"] in ("missing", "broken")], findings
    status = full.must("status").stdout
    assert "services passing" in status and "unsealed" in status


def test_a_held_lock_is_respected_and_its_holder_named(full):
    session = full.consul("/v1/session/create", "PUT", {"TTL": "60s", "LockDelay": "0s"})["ID"]
    key = "/v1/kv/terraform/production/hello/lock"
    holder = {"operation": "01ELSEWHERE", "who": "somebody@elsewhere", "since": "2026-01-01T00:00:00Z"}
    assert full.consul(f"{key}?acquire={session}", "PUT", holder) is True
    try:
        refused = full.eos("update", "hello", "--greeting", "locked", "--yes", "--no-wait")
        assert refused.returncode == 1, refused.stderr
        assert "somebody@elsewhere" in " ".join(refused.stderr.split()), refused.stderr
        assert "Hello from Eos" in get("http://{Address}:{Port}/".format(**passing(full, "hello")[0]["Service"]))[1]
    finally:
        full.consul(f"/v1/session/destroy/{session}", "PUT")
        full.consul(key, "DELETE")


def test_a_component_reaches_what_it_uses_through_the_mesh(full):
    if why := no_mesh():
        pytest.skip(why)
    full.must("create", "notes", "--yes")
    (store,) = passing(full, "notes-store")
    full.wait_until(lambda: "ok" in log(full, "notes"), 30, "an answer through the mesh")
    assert full.consul("/v1/connect/intentions/check?source=notes&destination=notes-store") == {"Allowed": True}
    assert full.consul("/v1/connect/intentions/check?source=hello&destination=notes-store") == {"Allowed": False}
    # Not by its port either: it listens on its own loopback.
    (allocation,) = full.running("notes-store")
    network = full.nomad(f"/v1/allocation/{allocation['ID']}")["NetworkStatus"]
    for address in (network["Address"], store["Service"]["Address"]):
        with pytest.raises(OSError):
            socket.create_connection((address, store["Service"]["Port"]), timeout=2)


def test_who_is_not_listed_cannot_connect(full):
    if why := no_mesh():
        pytest.skip(why)
    # The very job of notes under another name: same sidecar, same upstream, but no intention.
    job = full.nomad("/v1/job/notes?namespace=production")
    job["ID"] = job["Name"] = "stranger"
    (group,) = job["TaskGroups"]
    group["Services"][0]["Name"] = "stranger"
    for task in group["Tasks"]:
        task["Templates"], task["Vault"] = None, None
        task["Kind"] = task["Kind"].replace("notes", "stranger")
        task["Name"] = task["Name"].replace("-notes", "-stranger")
    full.nomad("/v1/jobs?namespace=production", "POST", {"Job": job})
    try:
        full.wait_until(lambda: len(full.running("stranger")) == 1, 60, "the stranger runs")
        refusals = "reset by peer|Empty reply"
        full.wait_until(
            lambda: len(re.findall(refusals, log(full, "stranger", "stderr"))) > 2, 40, "the sidecar's refusal"
        )
        assert "ok" not in log(full, "stranger")
        # Listed, it can.
        sources = [{"Name": name, "Action": "allow"} for name in ("notes", "stranger")]
        full.consul("/v1/config", "PUT", {"Kind": "service-intentions", "Name": "notes-store", "Sources": sources})
        full.wait_until(lambda: "ok" in log(full, "stranger"), 30, "the listed one connects")
    finally:
        full.nomad("/v1/job/stranger?namespace=production&purge=true", "DELETE")


def test_a_secret_is_in_vault_alone_and_its_versions_are_kept(full):
    canary = "canary-" + os.urandom(12).hex()
    full.must("create", "store", "--password", "-", "--yes", input=canary + "\n")
    entry = full.vault("/v1/secret/data/production/store/app")["data"]
    assert entry["data"] == {"password": canary} and entry["metadata"]["version"] == 1
    (before,) = full.running("store")
    assert leaks(full, canary) == []
    assert [one for one in full.consul("/v1/kv/?recurse") if canary in json.dumps(one)] == []
    second = "canary-" + os.urandom(12).hex()
    changed = full.must("update", "store", "--password", "-", "--yes", input=second + "\n")
    assert "no point of no return" in changed.stderr
    assert full.vault("/v1/secret/data/production/store/app?version=1")["data"]["data"] == {"password": canary}
    assert full.vault("/v1/secret/data/production/store/app")["data"]["data"] == {"password": second}
    (after,) = full.running("store")
    assert after["ID"] != before["ID"] and after["JobVersion"] > before["JobVersion"]
    meta = full.nomad("/v1/job/store?namespace=production")["Meta"]
    assert meta["eos_secret_version"] == "2"
    assert leaks(full, second) == []


def leaks(estate, canary: str) -> list[str]:
    """Files of the estate and the lab with the value in them, but for the secrets of tasks, which lie in memory."""
    mesh = json.loads((estate.lab / "lab.json").read_text()).get("mesh")
    allocations = Path(mesh["allocations"]) if mesh else estate.lab / "nomad/data/alloc"
    found = []
    for file in [*estate.root.rglob("*"), *allocations.rglob("*")]:
        if not file.is_file() or file.is_symlink() or (file.is_relative_to(allocations) and "secrets" in file.parts):
            continue
        try:
            if canary.encode() in file.read_bytes():
                found.append(str(file))
        except OSError:
            continue
    return found


def test_vault_tells_who_read_a_secret(full):
    audit = [json.loads(line) for line in (full.lab / "log/vault-audit.log").read_text().splitlines()]
    reads = [
        entry["auth"]["metadata"]
        for entry in audit
        if entry["type"] == "response"
        and entry["request"]["path"] == "secret/data/production/store/app"
        and entry["request"]["operation"] == "read"
        and (entry["auth"].get("metadata") or {}).get("nomad_job_id")
    ]
    assert reads and all(read["nomad_job_id"] == "store" and read["nomad_namespace"] == "production" for read in reads)


def test_another_job_cannot_read_it(full):
    template = '{{ with secret "secret/data/production/store/app" }}{{ .Data.data.password }}{{ end }}'
    thief = {
        "ID": "thief",
        "Namespace": "production",
        "Datacenters": ["dc1"],
        "TaskGroups": [
            {
                "Name": "thief",
                "Tasks": [
                    {
                        "Name": "thief",
                        "Driver": "raw_exec",
                        "Config": {"command": "/bin/sleep", "args": ["600"]},
                        "Vault": {},
                        "Templates": [{"EmbeddedTmpl": template, "DestPath": "${NOMAD_SECRETS_DIR}/stolen"}],
                        "Resources": {"CPU": 50, "MemoryMB": 32},
                    }
                ],
            }
        ],
    }
    full.nomad("/v1/jobs?namespace=production", "POST", {"Job": thief})
    try:

        def said() -> str:
            allocations = full.nomad("/v1/job/thief/allocations?namespace=production") or []
            return json.dumps([one["TaskStates"] for one in allocations])

        full.wait_until(
            lambda: "Missing: vault.read(secret/data/production/store/app)" in said(), 60, "Vault's refusal"
        )
        assert full.running("thief") == []
    finally:
        full.nomad("/v1/job/thief?namespace=production&purge=true", "DELETE")


def test_two_replicas_of_one_port_need_two_hosts(full):
    for recipe in ("pair", "jenkins"):
        refused = full.eos("create", recipe, "--yes")
        assert refused.returncode == 2 and "--replicas 1" in refused.stderr, refused.stderr
    nodes = {node["name"]: node["address"] for node in json.loads((full.lab / "lab.json").read_text())["nodes"]}
    for name, address in nodes.items():
        below = str(full.lab / "volumes" / name)
        full.must("create", "host", name, "--address", address, "--role", "client", "--volumes-below", below, "--yes")
    full.must("create", "pair", "--yes")
    assert sorted(one["NodeName"] for one in full.running("pair")) != ["control", "control"]
    assert len({one["NodeName"] for one in full.running("pair")}) == 2
    instances = passing(full, "pair")
    assert len(instances) == 2 and {one["Service"]["Port"] for one in instances} == {18765}
    assert len({one["Service"]["Address"] for one in instances}) == 2
    for one in instances:
        assert get(f"http://{one['Service']['Address']}:18765/health") == (200, "ok")


def test_recipes_of_the_catalog_run_in_containers(full):
    if why := no_containers() or no_mesh():
        pytest.skip(why)
    canary = "canary-" + os.urandom(12).hex()
    full.must("create", "grafana", "--admin-password", "-", "--yes", input=canary + "\n")
    more = sample(["postgres", "prometheus", "redis"], 1)
    for recipe in ["jenkins", "mattermost", *more]:
        full.must("create", recipe, "--yes")
    for recipe in ["grafana", "jenkins", "mattermost", *more]:
        count = 2 if recipe == "jenkins" else 1
        assert len(passing(full, recipe)) == count, recipe
        assert len({one["NodeName"] for one in full.running(recipe)}) == count
        assert len(resolve(full, recipe)) == count, recipe
    assert full.vault("/v1/secret/data/production/grafana/app")["data"]["data"] == {"admin_password": canary}
    assert leaks(full, canary) == []
    # A real PostgreSQL, reached through the mesh alone by what uses it.
    assert full.consul("/v1/connect/intentions/check?source=mattermost&destination=mattermost-database") == {
        "Allowed": True
    }
    checks = [check["Type"] for check in passing(full, "mattermost-database")[0]["Checks"]]
    assert "ttl" in checks, "the command in the task says that it is healthy"
    for recipe in ["jenkins", "mattermost", *more]:
        full.must("delete", recipe, "--yes")


def volume_states(estate) -> dict[str, str]:
    return {one["Name"]: one["State"] for one in estate.nomad("/v1/volumes?type=host&namespace=*")}


def test_killed_engines_come_back_with_everything(full):
    secrets = full.vault("/v1/secret/data/production/store/app")["data"]["data"]
    jobs, volumes = sorted(full.jobs()), volume_states(full)
    marks = [directory / "mark" for directory in full.lab.glob("volumes/**/grafana/data")]
    for mark in marks:
        mark.write_text("still here")
    for engine in ("consul", "vault", "nomad"):
        os.kill(full.pid(engine), 9)
    full.must("lab", "up", timeout=300)
    assert sorted(full.jobs()) == jobs
    assert volume_states(full) == volumes and all(state == "ready" for state in volumes.values())
    assert bool(volumes) == bool(marks) == ("production/grafana" in jobs)
    assert [mark.read_text() for mark in marks] == ["still here"] * len(marks)
    assert full.vault("/v1/secret/data/production/store/app")["data"]["data"] == secrets
    assert "terraform/production/store/state" in full.consul("/v1/kv/terraform/?keys")
    full.wait_until(lambda: len(passing(full, "hello")) == 1, 60, "hello passes its check again")
    assert full.json("plan", "--check")["plan"]["changes"] == []


def test_everything_goes_again(full):
    # What was left, but for what goes along with its owner.
    for job in full.jobs():
        if job != "production/notes-store":
            full.must("delete", job.removeprefix("production/"), "--yes")
    assert full.jobs() == []
    assert (full.consul("/v1/kv/terraform/?keys") or []) == []
    assert full.vault("/v1/secret/metadata/production?list=true") is None
    assert [kind for kind in full.consul("/v1/config/service-intentions") or []] == []
    assert not [
        service for service in full.consul("/v1/catalog/services") if service not in ("consul", "nomad", "nomad-client")
    ]
    assert not Path(full.lab / "terraform/workspaces/production/store").exists()
