"""The lab's own containers: Docker, registry, images packed here, and the recipes that run them."""

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from estates import Estate, get, open_engine, running_estate

SOFTWARE = {
    "caddy": "Caddy",
    "postgres": "PostgreSQL",
    "prom/alertmanager": "Alertmanager",
    "prom/prometheus": "Prometheus",
    "redis": "Redis",
}
STAND_INS = ["grafana/grafana", "jenkins/jenkins", "mattermost/mattermost-team-edition"]


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def images(estate: Estate) -> dict[str, dict]:
    return {image["name"]: image for image in estate.json("lab", "status")["containers"]["images"]}


def image_of(estate: Estate, start: str) -> str:
    return next(name for name in images(estate) if name.startswith(start + ":"))


def bridge_of(estate: Estate) -> str:
    """The bridge of the lab's containers. Other labs have theirs, which come and go meanwhile."""
    address = json.loads((estate.lab / "lab.json").read_text())["containers"]["address"]
    shown = subprocess.run(["ip", "-json", "-4", "address"], capture_output=True, text=True, check=True).stdout
    [name] = [
        link["ifname"]
        for link in json.loads(shown)
        if address.split("/")[0] in [one["local"] for one in link["addr_info"]]
    ]
    return name


def rules_of(bridge: str) -> list[str]:
    saved = subprocess.run(["iptables-save"], capture_output=True, text=True, check=True).stdout
    return [line for line in saved.splitlines() if bridge in line]


def run_job(estate: Estate, name: str, config: dict, services: list | None = None, **task) -> str:
    """Runs a container by Nomad alone and gives the allocation, once it runs."""
    job = {
        "ID": name,
        "Type": "service",
        "TaskGroups": [
            {
                "Name": name,
                "Networks": [{"DynamicPorts": [{"Label": "http", "To": 3000}]}],
                "Tasks": [
                    {
                        "Name": name,
                        "Driver": "docker",
                        "Config": config,
                        "Resources": {"CPU": 50, "MemoryMB": 64},
                        **task,
                    }
                ],
                "Services": services or [],
            }
        ],
    }
    estate.nomad("/v1/jobs", "POST", {"Job": job})
    estate.wait_until(lambda: estate.running(name, "default"), 60, f"job {name} runs")
    return estate.running(name, "default")[0]["ID"]


def output(estate: Estate, allocation: str, task: str) -> str:
    path = f"/v1/client/fs/logs/{allocation}?task={task}&type=stdout&plain=true"
    token = {"X-Nomad-Token": estate.management_token}
    with open_engine(estate.endpoints["nomad"], path, headers=token) as answer:
        return answer.read().decode()


def remove_job(estate: Estate, name: str):
    estate.nomad(f"/v1/job/{name}?purge=true", "DELETE")
    estate.wait_until(lambda: not estate.running(name, "default"), 30, f"job {name} is gone")


def test_every_image_of_the_catalog_is_made_and_says_what_it_is(with_containers):
    made = images(with_containers)
    assert sorted(name.split(":")[0] for name in made) == sorted([*SOFTWARE, *STAND_INS])
    for name, image in made.items():
        repository = name.split(":")[0]
        assert image["bytes"] > 1_000_000, image
        assert image["stand_in"] == (repository in STAND_INS), image
        assert image["holds"].startswith(SOFTWARE.get(repository, "stand-in")), image
    shown = with_containers.must("lab", "status").stdout
    assert shown.count("stand-in") == len(STAND_INS)
    engines = {engine["name"]: engine for engine in with_containers.json("lab", "status")["engines"]}
    assert engines["dockerd"]["ready"] and engines["docker-registry"]["ready"]

    # Once more costs a look, and makes nothing.
    registry = with_containers.lab / "containers/registry/data"
    before = {path: path.stat().st_mtime_ns for path in registry.rglob("*") if path.is_file()}
    with_containers.must("lab", "images")
    assert before == {path: path.stat().st_mtime_ns for path in registry.rglob("*") if path.is_file()}


def test_a_packed_image_is_run_through_the_mirror_and_again_when_it_changed(with_containers, tmp_path):
    estate = with_containers
    told = tmp_path / "told"
    for round, words in enumerate(["first words", "other words"]):
        told.write_text(words + "\n")
        packed = estate.json(
            *["lab", "image", "tools/shell:1", "sh", "sleep", "--file", str(told), "--env", "GREETING=hello"],
            *["--user", "1234:1234"],
        )
        assert packed["stored"] == "registry" and packed["files"] > 4 and packed["runs"][0].endswith("/sh"), packed
        assert "tools/shell" not in estate.docker("images", "--format", "{{.Repository}}")
        script = f"read line <{told}; echo $GREETING $line; exec sleep 600"
        name = f"shell{round}"
        allocation = run_job(estate, name, {"image": "tools/shell:1", "args": ["-c", script]})
        estate.wait_until(lambda: output(estate, allocation, name), 20, "it spoke")
        assert output(estate, allocation, name) == f"hello {words}\n"
        assert "tools/shell:1" in estate.docker("images", "--format", "{{.Repository}}:{{.Tag}}")
        container = estate.docker("ps", "-q", "--filter", f"name={name}").strip()
        pid = estate.docker("inspect", "--format", "{{.State.Pid}}", container).strip()
        assert "\nUid:\t1234\t" in Path(f"/proc/{pid}/status").read_text()
        remove_job(estate, name)


def test_the_registry_takes_nothing_from_others(with_containers):
    port = json.loads((with_containers.lab / "lab.json").read_text())["containers"]["registry_port"]
    upload = f"http://127.0.0.1:{port}/v2/library/postgres/blobs/uploads/"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(upload, method="POST", data=b""), timeout=10)
    assert refused.value.code == 405


def test_what_cannot_be_packed_is_named(with_containers):
    for words, expected in [
        (["lab", "image", "tools/x:1", "no-such-program"], "there is no program no-such-program"),
        (["lab", "image", "Tools/x:1", "sh"], "not the name of an image"),
        (["lab", "image", "tools/x:1", "sh", "--user", "ada"], "a user is a number"),
        (["lab", "image", "tools/x:1", "sh", "--file", "/no/such/file"], "/no/such/file"),
    ]:
        ran = with_containers.eos(*words)
        assert ran.returncode != 0 and expected in ran.stderr, ran.stderr
    assert not [name for name in images(with_containers) if "/x:" in name]


def test_a_stand_in_without_its_secret_is_not_healthy(with_containers):
    estate = with_containers
    image = image_of(estate, "grafana/grafana")
    check = {"Type": "http", "Path": "/api/health", "Interval": 2_000_000_000, "Timeout": 1_000_000_000}
    service = {"Name": "without", "PortLabel": "http", "Provider": "nomad", "Checks": [check]}
    allocation = run_job(
        estate,
        "without",
        {"image": image, "ports": ["http"]},
        Env={"GF_SECURITY_ADMIN_PASSWORD__FILE": "/secrets/none"},
        services=[service],
    )
    [found] = estate.nomad("/v1/service/without?namespace=default")
    answer = get(f"http://{found['Address']}:{found['Port']}/api/health")
    assert answer == (503, "the file that GF_SECURITY_ADMIN_PASSWORD__FILE names holds nothing\n")

    def checks() -> list[str]:
        answered = estate.nomad(f"/v1/client/allocation/{allocation}/checks") or {}
        return [one["Status"] for one in answered.values()]

    estate.wait_until(lambda: checks() == ["failure"], 20, "its check fails")
    remove_job(estate, "without")


def test_every_recipe_with_an_image_is_healthy_and_does_its_work(with_containers):
    estate = with_containers
    ports = {name: free_port() for name in ["http", "https", "grafana", "jenkins", "mattermost"]}
    estate.must("create", "hecate-proxy", "--port", ports["http"], "--https-port", ports["https"], "--yes")
    served = ["--domain", "metrics.example.org", "--port", ports["grafana"]]
    estate.must("create", "grafana", "--name", "metrics", *served, "--yes")
    estate.must("create", "prometheus", "--alerting", "--yes")
    estate.must("create", "mattermost", "--port", ports["mattermost"], "--yes")
    estate.must("create", "redis", "--yes")
    estate.must("create", "jenkins", "--replicas", "1", "--port", ports["jenkins"], "--yes")
    rows = {row["component"]: row for row in estate.json("status")["components"]}
    expected = {"alertmanager", "hecate-proxy", "jenkins", "mattermost", "mattermost-database", "metrics"}
    assert rows.keys() == expected | {"prometheus", "redis"}
    assert all(row["healthy"] == row["desired"] == 1 for row in rows.values()), rows

    def outputs(component: str) -> dict:
        return estate.json("read", component)["outputs"]

    def secret(component: str, item: str) -> str:
        return estate.nomad(f"/v1/var/nomad/jobs/{component}?namespace=production")["Items"][item]

    # The proxy, in its own container, reaches the one behind it.
    request = urllib.request.Request(outputs("hecate-proxy")["proxy_url"], headers={"Host": "metrics.example.org"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert "stand-in" in answer.read().decode()

    # Prometheus has found the Alertmanager that it was given, and gathers its own metrics.
    address = outputs("prometheus")["prometheus_url"]
    known = json.loads(get(f"{address}/api/v1/alertmanagers")[1])["data"]["activeAlertmanagers"]
    assert [one["url"].startswith(outputs("alertmanager")["alertmanager_url"]) for one in known] == [True]

    # PostgreSQL has the account and the database, and takes no other password; its data are in the volume.
    host, port = outputs("mattermost-database")["postgres_address"].split(":")
    psql = sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1]
    command = [psql, "-h", host, "-p", port, "-U", "mattermost", "mattermost", "-Atc", "select current_database()"]

    def ask(password: str):
        environment = {**os.environ, "PGPASSWORD": password}
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    assert ask(secret("mattermost-database", "password")).stdout == "mattermost\n"
    assert "password authentication failed" in ask("wrong").stderr
    assert list(estate.lab.glob("volumes/opt/mattermost-database/data/pgdata/PG_VERSION"))

    # Redis wants its password, keeps what it is told, and still has it after the lab was down.
    def redis(*commands: str) -> list[str]:
        host, port = outputs("redis")["redis_address"].split(":")
        with socket.create_connection((host, int(port)), timeout=10) as stream:
            lines = stream.makefile("rw", newline="\r\n")
            lines.write("".join(f"{command}\r\n" for command in commands))
            lines.flush()
            return [lines.readline().strip() for _ in commands]

    assert redis("SET kept yes")[0].startswith("-NOAUTH")
    login = f"AUTH {secret('redis', 'password')}"
    assert redis(login, "SET kept yes") == ["+OK", "+OK"]
    estate.must("lab", "down", timeout=180)
    assert estate.processes() == []
    estate.must("lab", "up", timeout=300)
    estate.wait_until(lambda: len(estate.running("redis")) == 1, 60, "redis runs again")

    def has_its_data() -> bool:
        # It has no address until its service is registered again, and then may not listen yet.
        with suppress(KeyError, OSError):
            return redis(login, "EXISTS kept") == ["+OK", ":1"]
        return False

    estate.wait_until(has_its_data, 30, "redis has its data")


def test_a_docker_that_was_killed_is_repaired_and_leaves_nothing(with_containers):
    estate = with_containers
    run_job(estate, "shell", {"image": image_of(estate, "redis"), "args": ["redis-server"]})
    os.kill(estate.pid("dockerd"), 9)
    estate.must("lab", "up", timeout=300)
    engines = {engine["name"]: engine for engine in estate.json("lab", "status")["engines"]}
    assert engines["dockerd"]["ready"]
    estate.wait_until(lambda: estate.running("shell", "default"), 60, "the job runs again")
    estate.wait_until(lambda: "redis" in estate.docker("ps", "--format", "{{.Image}}"), 60, "in a container")

    os.kill(estate.pid("dockerd"), 9)
    estate.must("lab", "down", timeout=180)
    assert estate.processes() == []
    estate.must("lab", "up", timeout=300)
    remove_job(estate, "shell")


def test_what_runs_ends_in_good_order_where_a_lab_gets_its_docker(with_containers, tmp_path):
    with running_estate(tmp_path / "estate") as estate:
        estate.must("create", "hello", "--yes")
        [before] = estate.running("hello")
        estate.must("lab", "up", "--containers", timeout=300)
        estate.wait_until(lambda: estate.running("hello"), 90, "hello runs again")
        ended = estate.nomad(f"/v1/allocation/{before['ID']}?namespace=production")
        told = [event["DisplayMessage"] for task in ended["TaskStates"].values() for event in task["Events"]]
        # A task that lost its agent died of that, some time later.
        assert not any("connection is closing" in words for words in told), told
        assert not any(task["Failed"] for task in ended["TaskStates"].values()), told


def test_two_labs_with_containers_side_by_side(with_containers, tmp_path):
    with running_estate(tmp_path / "estate", "--containers") as other:
        bridge = bridge_of(other)
        assert bridge != bridge_of(with_containers)
        for estate in [with_containers, other]:
            run_job(estate, "side", {"image": image_of(estate, "redis"), "args": ["redis-server"]})
            containers = estate.docker("ps", "--format", "{{.Names}}").split()
            assert len([name for name in containers if name.startswith("side-")]) == 1
        # Its Docker leaves the machine's firewall alone.
        assert rules_of(bridge) == []
    # The other is down, with all that it had; the first does not care.
    assert not Path("/sys/class/net", bridge).exists()
    assert Path("/sys/class/net", bridge_of(with_containers)).exists()
    assert with_containers.running("side", "default")
    remove_job(with_containers, "side")
    assert all(engine["ready"] for engine in with_containers.json("lab", "status")["engines"])


def test_a_docker_that_is_there_is_used_and_what_it_has_stays(with_containers, tmp_path, monkeypatch):
    sockets = json.loads((with_containers.lab / "lab.json").read_text())["sockets"]
    postgres = image_of(with_containers, "postgres")
    archive = tmp_path / "empty.tar"
    subprocess.run(["tar", "-C", tmp_path, "-cf", archive, "--files-from", "/dev/null"], check=True)
    with_containers.docker("import", str(archive), postgres)
    theirs = with_containers.docker("images", "-q", postgres)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{sockets}/docker.sock")
    with running_estate(tmp_path / "estate", "--containers") as other:
        # It has no Docker of its own, and so no bridge.
        assert "containers" not in json.loads((other.lab / "lab.json").read_text())
        status = other.json("lab", "status")["containers"]
        assert sockets in status["docker"]
        made = {image["name"]: image for image in status["images"]}
        assert made[postgres]["bytes"] is None and "stays" in made[postgres]["holds"]
        assert with_containers.docker("images", "-q", postgres) == theirs
        assert [image["bytes"] for name, image in made.items() if name != postgres and not image["bytes"]] == []
        assert other.json("lab", "image", "tools/loaded:1", "true")["stored"] == "docker"
        run_job(other, "loaded", {"image": image_of(other, "redis"), "args": ["redis-server"]})
        remove_job(other, "loaded")
    with_containers.docker("rmi", postgres, "tools/loaded:1")
