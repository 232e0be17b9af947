"""Routes: a proxy follows them while it runs, and a component with one says under which URL it is served."""

import json
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from estates import Estate, get
from flood import Flood

pytestmark = [pytest.mark.chain, pytest.mark.measures]
STEADY = "steady.example.test"
GUESTS = 5
RATE = 1000
GUEST = """\
recipe: guest
summary: A page that a proxy serves
version: "1"
risk: low

options:
  domain:
    type: domain
    default: null
    help: Host name that the proxy serves it under

needs:
  web:
    route: {host: "{{ domain }}", service: guest, when: "{{ domain }}"}

services:
  guest:
    cpu: 50
    memory: 64
    program:
      - sh
      - -c
      - exec python3 -m http.server --directory "$NOMAD_TASK_DIR" --bind "$NOMAD_IP_http" "$NOMAD_PORT_http"
    files:
      index.html: "{{ component }}, served under {{ public_url }}"
    ports:
      http: {}
    check: {http: /index.html}

outputs:
  guest_url: "http://{{ address }}:{{ port }}"
"""


@pytest.fixture(scope="module")
def routed(with_containers):
    estate = with_containers
    estate.write_recipe("guest", GUEST)
    created = estate.must(
        *[
            "create",
            "grafana",
            "--name",
            "steady",
            "--domain",
            STEADY,
            "--port",
            "3900",
            "--yes",
        ],
        timeout=600,
    )
    estate.created = created.stdout
    yield estate
    estate.must("delete", "steady", "--yes")
    estate.must("delete", "hecate-proxy", "--yes")


def door(estate: Estate) -> str:
    [instance] = estate.nomad("/v1/service/hecate-proxy?namespace=production")
    return f"{instance['Address']}:{instance['Port']}"


def served(estate: Estate, host: str, path: str = "/") -> tuple[int, str]:
    request = urllib.request.Request(f"http://{door(estate)}{path}", headers={"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def proxy(estate: Estate) -> tuple[str, int, int]:
    """The proxy's instance, how often it was started, and the version of its job."""
    [instance] = estate.running("hecate-proxy")
    task = instance["TaskStates"]["hecate-proxy"]
    return instance["ID"], task["Restarts"], instance["JobVersion"]


def test_a_domain_is_shown_wherever_a_url_is(routed):
    url = f"http://{STEADY}"
    assert f"{url}\n" in routed.created
    outputs = routed.json("read", "steady")["outputs"]
    assert outputs["public_url"] == url and outputs["grafana_url"].endswith(":3900")
    assert url in routed.must("list").stdout
    assert url in routed.must("status", "steady").stdout
    assert served(routed, STEADY)[0] == 200
    [instance] = routed.running("steady")
    shown = routed.docker("inspect", "--format", "{{json .Config.Env}}", f"grafana-{instance['ID']}")
    assert f"GF_SERVER_ROOT_URL={url}" in json.loads(shown)


def test_a_thousand_requests_a_second_meet_five_routes_that_come_and_go(routed):
    before = proxy(routed)
    flood = Flood(door(routed), STEADY, RATE, 900)
    try:
        for number in range(GUESTS):
            name = f"guest{number}"
            host = f"{name}.example.test"
            created = routed.must("create", "guest", "--name", name, "--domain", host, "--yes")
            assert f"serves {host}, read back" in created.stderr, created.stderr
            assert served(routed, host) == (200, f"{name}, served under http://{host}")
        for number in range(GUESTS):
            name = f"guest{number}"
            deleted = routed.must("delete", name, "--yes")
            assert "1 route gone, read back" in deleted.stderr, deleted.stderr
            assert served(routed, f"{name}.example.test")[0] == 404
    finally:
        seen = flood.end()
    print(json.dumps(seen))
    assert proxy(routed) == before, "the proxy is the same instance, and never restarted"
    assert seen["failures"] == 0, seen
    assert min(seen["fresh"], seen["kept"]) > 1000, seen


def test_a_plan_says_that_a_route_restarts_no_proxy(routed):
    plan = routed.must(
        "create",
        "guest",
        "--name",
        "planned",
        "--domain",
        "planned.example.test",
        "--plan",
    ).stdout
    assert "hecate-proxy  route planned.example.test to planned" in plan
    changes = [line for line in plan.splitlines() if "job/hecate-proxy" in line or "~ hecate-proxy" in line]
    assert changes == [], plan


def test_a_tag_that_is_no_host_name_stops_no_other_route(routed):
    """Anybody who may run a job in the namespace can write a tag."""
    before = proxy(routed)
    tags = ["eos-route=x {\n respond broken\n}", "eos-route=", "eos-route=*"]
    stranger = {
        "ID": "stranger",
        "Namespace": "production",
        "TaskGroups": [
            {
                "Name": "stranger",
                "Networks": [{"DynamicPorts": [{"Label": "http"}]}],
                "Services": [
                    {
                        "Name": "aaa",
                        "Provider": "nomad",
                        "PortLabel": "http",
                        "Tags": tags,
                    }
                ],
                "Tasks": [
                    {
                        "Name": "stranger",
                        "Driver": "raw_exec",
                        "Config": {"command": "sleep", "args": ["600"]},
                    }
                ],
            }
        ],
    }
    routed.nomad("/v1/jobs", "POST", {"Job": stranger})
    try:
        routed.wait_until(
            lambda: routed.nomad("/v1/service/aaa?namespace=production"),
            60,
            "another job is registered",
        )
        routed.must(
            "create",
            "guest",
            "--name",
            "beside",
            "--domain",
            "beside.example.test",
            "--yes",
        )
        assert served(routed, "beside.example.test")[0] == 200
    finally:
        routed.nomad("/v1/job/stranger?namespace=production&purge=true", "DELETE")
    routed.must("delete", "beside", "--yes")
    assert served(routed, STEADY)[0] == 200
    assert proxy(routed) == before


def test_an_operation_whose_route_the_proxy_does_not_take_is_rolled_back(routed):
    """The proxy refuses every new configuration, and goes on with the one that it has."""
    close = """
import json, urllib.request
admin = "http://localhost:2019"
config = json.load(urllib.request.urlopen(admin + "/config/"))
config["admin"] = {"disabled": True}
headers = {"Content-Type": "application/json"}
print(urllib.request.urlopen(urllib.request.Request(admin + "/load", json.dumps(config).encode(), headers)).status)
"""
    [instance] = routed.running("hecate-proxy")
    assert nsenter(pid(routed, "hecate-proxy", instance["ID"]), close) == "200"
    host = "refused.example.test"
    created = routed.eos("create", "guest", "--name", "refused", "--domain", host, "--yes", timeout=600)
    said = " ".join(created.stderr.split())
    assert created.returncode != 0 and f"hecate-proxy does not serve {host}" in said, created.stdout + created.stderr
    assert "rolled back" in said, said
    assert "refused" not in routed.must("list").stdout
    assert routed.running("refused") == []
    assert served(routed, STEADY)[0] == 200
    routed.must("restart", "hecate-proxy", "--yes")


def test_grafana_has_the_prometheus_that_is_there_and_loses_the_one_that_goes(routed):
    plan = routed.must("create", "prometheus", "--plan").stdout
    assert "steady" in plan and "datasources.yaml" in plan, plan
    routed.must("create", "prometheus", "--yes", timeout=600)
    [prometheus] = routed.nomad("/v1/service/prometheus?namespace=production")
    url = f"http://{prometheus['Address']}:{prometheus['Port']}"
    [instance] = routed.running("steady")
    assert f"url: {url}" in sources(routed)
    name = f"grafana-{instance['ID']}"
    mounts = json.loads(routed.docker("inspect", "--format", "{{json .Mounts}}", name))
    [mount] = [one for one in mounts if one["Destination"] == "/etc/grafana/provisioning/datasources/eos.yaml"]
    assert not mount["RW"], mount
    # From within the task's own network Prometheus answers at that URL.
    ask = f"import urllib.request; print(urllib.request.urlopen('{url}/-/healthy', timeout=10).status)"
    assert nsenter(pid(routed, "grafana", instance["ID"]), ask) == "200"

    deleted = routed.must("delete", "prometheus", "--plan").stdout
    assert "datasources.yaml" in deleted, deleted
    routed.must("delete", "prometheus", "--yes", timeout=600)
    assert "datasources: []" in sources(routed)
    assert get(f"http://{door(routed)}/eos-health")[0] == 200


def sources(estate: Estate) -> str:
    """The file of data sources as the container has it."""
    [instance] = estate.running("steady")
    root = Path(f"/proc/{pid(estate, 'grafana', instance['ID'])}/root")
    return (root / "etc/grafana/provisioning/datasources/eos.yaml").read_text()


def pid(estate: Estate, task: str, allocation: str) -> str:
    return estate.docker("inspect", "--format", "{{.State.Pid}}", f"{task}-{allocation}").strip()


def nsenter(of: str, python: str) -> str:
    """What a program prints in the network of a task."""
    command = ["nsenter", "-t", of, "-n", "python3", "-c", python]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()
