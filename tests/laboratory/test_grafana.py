"""grafana: a container with a volume and a secret. The image is the lab's stand-in, and listed so."""

import json
import secrets
import socket
import ssl
import threading
import urllib.request
from pathlib import Path

import pytest
import witness
from estates import Estate, get
from witness import git_objects, leaks

pytestmark = pytest.mark.side_by_side


def test_without_docker_the_plan_refuses_before_confirmation(estate):
    ran = estate.eos("create", "grafana", "--name", "undockable", "--yes")
    assert ran.returncode == 2, ran.stderr
    assert "docker" in ran.stderr and "hint:" in ran.stderr, ran.stderr
    assert "undockable" not in witness.git(estate, "log", "--format=%B") + witness.pillar(estate, "undockable")
    assert witness.operations(estate, "undockable") == []
    witness.nothing(estate, "undockable")
    assert estate.json("lab", "status")["containers"]["docker"].startswith("none: ")


class Watcher(threading.Thread):
    """Looks at the arguments of every process, and at Salt's events, as long as an operation runs."""

    def __init__(self, estate: Estate):
        super().__init__(daemon=True)
        self.estate = estate
        self.done = threading.Event()
        self.arguments: set[str] = set()
        self.events = b""

    def run(self):
        threading.Thread(target=self.listen, daemon=True).start()
        while not self.done.wait(0.02):
            for process in Path("/proc").iterdir():
                try:
                    self.arguments.add((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
                except OSError:
                    continue

    def listen(self):
        salt = self.estate.endpoints["salt"]
        context = ssl.create_default_context(cafile=salt["certificate"])
        login = json.dumps(
            {"eauth": "file", "username": salt["user"], "password": Path(salt["password_file"]).read_text().strip()}
        )
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        with urllib.request.urlopen(
            urllib.request.Request(salt["url"] + "/login", login.encode(), headers), context=context
        ) as answer:
            token = json.load(answer)["return"][0]["token"]
        request = urllib.request.Request(salt["url"] + "/events", headers={"X-Auth-Token": token})
        with urllib.request.urlopen(request, context=context, timeout=120) as stream:
            while not self.done.is_set():
                self.events += stream.readline()


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_grafana_with_a_secret_and_a_volume(with_containers):
    estate = with_containers
    port = free_port()
    canary = "canary-" + secrets.token_hex(12)
    watcher = Watcher(estate)
    watcher.start()
    words = ["create", "grafana", "--admin-password", "-", "--port", port, "--yes"]
    created = estate.must(*words, input=canary + "\n")
    watcher.done.set()
    url = estate.json("read", "grafana")["outputs"]["grafana_url"]
    assert url in created.stdout and url.endswith(f":{port}")

    # Healthy, and the value is where it belongs.
    assert get(f"{url}/api/health")[0] == 200
    variable = estate.nomad("/v1/var/nomad/jobs/grafana?namespace=production")
    assert variable["Items"] == {"admin_password": canary}
    allocation = estate.running("grafana")
    assert len(allocation) == 1
    volumes = estate.nomad("/v1/volumes?type=host&namespace=production")
    assert ("grafana-data", "ready") in [(one["Name"], one["State"]) for one in volumes]

    # And nowhere else.
    assert canary not in created.stdout + created.stderr
    assert not [line for line in watcher.arguments if canary in line]
    assert b"grafana" in watcher.events and canary.encode() not in watcher.events
    job = estate.nomad("/v1/job/grafana?namespace=production")
    versions = estate.nomad("/v1/job/grafana/versions?namespace=production")
    submission = estate.nomad("/v1/job/grafana/submission?namespace=production&version=0")
    assert canary not in json.dumps([job, versions, submission])
    assert leaks(estate, canary) == []
    objects = git_objects(estate)
    assert b"grafana" in objects and canary.encode() not in objects
    staged = estate.nomad("/v1/vars?namespace=*&prefix=eos_")
    assert staged == []

    # A changed secret reaches the task; the data survive.
    path = next(estate.lab.glob("volumes/opt/grafana/data"))
    (path / "kept").write_text("data")
    second = "canary-" + secrets.token_hex(12)
    estate.must("update", "grafana", "--admin-password", "-", "--yes", input=second + "\n")
    assert estate.nomad("/v1/var/nomad/jobs/grafana?namespace=production")["Items"] == {"admin_password": second}
    assert leaks(estate, second) == []

    [allocation] = estate.running("grafana")
    estate.must("delete", "grafana", "--yes")
    assert "production/grafana" not in estate.jobs()
    assert estate.nomad("/v1/var/nomad/jobs/grafana?namespace=production") is None
    volumes = estate.nomad("/v1/volumes?type=host&namespace=*") or []
    assert "grafana-data" not in [one["Name"] for one in volumes]
    assert (path / "kept").read_text() == "data"
    assert allocation["ID"] not in estate.docker("ps", "--format", "{{.Names}}")
