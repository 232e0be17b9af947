"""Routes: a proxy follows them while it runs, and a component with one says under which URL it is served."""

import json
import urllib.request

import pytest
from estates import Estate, get
from flood import Flood

pytestmark = [pytest.mark.side_by_side, pytest.mark.chain]
STEADY = "steady.example.test"
GUESTS = 5
RATE = 1000
GUEST = """\
recipe: guest
summary: A page that a proxy serves
version: "1"
risk: high

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
    recipe = estate.root / "recipes/guest/recipe.yaml"
    recipe.parent.mkdir(parents=True, exist_ok=True)
    recipe.write_text(GUEST)
    created = estate.must(
        *["create", "grafana", "--name", "steady", "--domain", STEADY, "--port", "3900", "--yes"], timeout=600
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
    shown = routed.docker("inspect", "--format", "{{json .Config.Env}}", f"steady-{instance['ID']}")
    assert f"GF_SERVER_ROOT_URL={url}" in json.loads(shown)


def test_a_thousand_requests_a_second_meet_five_routes_that_come_and_go(routed):
    before = proxy(routed)
    flood = Flood(door(routed), STEADY, RATE, 900)
    try:
        for number in range(GUESTS):
            name = f"guest{number}"
            host = f"{name}.example.test"
            created = routed.must("create", "guest", "--name", name, "--domain", host, "--yes")
            assert f"serves {host}, read back" in created.stdout, created.stdout
            assert served(routed, host) == (200, f"{name}, served under http://{host}")
        for number in range(GUESTS):
            name = f"guest{number}"
            deleted = routed.must("delete", name, "--yes")
            assert "1 route gone, read back" in deleted.stdout, deleted.stdout
            assert served(routed, f"{name}.example.test")[0] == 404
    finally:
        seen = flood.end()
    print(json.dumps(seen))
    assert proxy(routed) == before, "the proxy is the same instance, and never restarted"
    assert seen["failures"] == 0, seen
    assert min(seen["fresh"], seen["kept"]) > 1000, seen


def test_a_plan_says_that_a_route_restarts_no_proxy(routed):
    plan = routed.must("create", "guest", "--name", "planned", "--domain", "planned.example.test", "--plan").stdout
    assert "hecate-proxy  route planned.example.test to planned" in plan
    changes = [line for line in plan.splitlines() if "job/hecate-proxy" in line or "~ hecate-proxy" in line]
    assert changes == [], plan


def test_an_operation_whose_route_the_proxy_refuses_is_taken_back(routed):
    """The proxy cannot write its file: whatever it is told, it goes on with what it read before."""
    before = proxy(routed)
    # A service of that tag is registered by somebody else, and first: it has the host name.
    taken = "taken.example.test"
    squatter = {
        "ID": "aaa-squatter",
        "Namespace": "production",
        "TaskGroups": [
            {
                "Name": "squatter",
                "Networks": [{"DynamicPorts": [{"Label": "http"}]}],
                "Services": [
                    {"Name": "aaa", "Provider": "nomad", "PortLabel": "http", "Tags": [f"eos-route={taken} {{ import x"]}
                ],
                "Tasks": [
                    {"Name": "squatter", "Driver": "raw_exec", "Config": {"command": "sleep", "args": ["600"]}}
                ],
            }
        ],
    }
    routed.nomad("/v1/jobs", "POST", {"Job": squatter})
    try:
        routed.wait_until(lambda: routed.running("aaa-squatter"), 60, "another job runs")
        # What is no host name is left out, and does not stop the others.
        routed.must("create", "guest", "--name", "taken", "--domain", taken, "--yes")
        assert served(routed, taken)[0] == 200
        routed.must("delete", "taken", "--yes")
    finally:
        routed.nomad("/v1/job/aaa-squatter?namespace=production&purge=true", "DELETE")
    assert served(routed, STEADY)[0] == 200
    assert proxy(routed) == before


def test_grafana_has_the_prometheus_that_is_there_and_loses_the_one_that_goes(routed):
    plan = routed.must("create", "prometheus", "--plan").stdout
    assert "steady" in plan and "datasources.yaml" in plan, plan
    routed.must("create", "prometheus", "--yes", timeout=600)
    [prometheus] = routed.nomad("/v1/service/prometheus?namespace=production")
    url = f"http://{prometheus['Address']}:{prometheus['Port']}"
    [instance] = routed.running("steady")
    path = f"/v1/client/fs/cat/{instance['ID']}?path=steady/local/datasources.yaml"
    assert f"url: {url}" in sources(routed)
    name = f"grafana-{instance['ID']}"
    mounts = json.loads(routed.docker("inspect", "--format", "{{json .Mounts}}", name))
    [mount] = [one for one in mounts if one["Destination"] == "/etc/grafana/provisioning/datasources/eos.yaml"]
    assert not mount["RW"], path
    # From within the task's own network Prometheus answers at that URL.
    pid = routed.docker("inspect", "--format", "{{.State.Pid}}", name).strip()
    ask = f"import urllib.request; print(urllib.request.urlopen('{url}/-/healthy', timeout=10).status)"
    assert nsenter(pid, ask) == "200"

    deleted = routed.must("delete", "prometheus", "--plan").stdout
    assert "datasources.yaml" in deleted, deleted
    routed.must("delete", "prometheus", "--yes", timeout=600)
    assert "datasources: []" in sources(routed)
    assert get(f"http://{door(routed)}/eos-health")[0] == 200


def sources(estate: Estate) -> str:
    """The file of data sources as the container has it."""
    [instance] = estate.running("steady")
    pid = estate.docker("inspect", "--format", "{{.State.Pid}}", f"grafana-{instance['ID']}").strip()
    return open(f"/proc/{pid}/root/etc/grafana/provisioning/datasources/eos.yaml").read()


def nsenter(pid: str, python: str) -> str:
    import subprocess

    command = ["nsenter", "-t", pid, "-n", "python3", "-c", python]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
