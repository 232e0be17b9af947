"""A component of nothing but cloud resources, by the real provider hcloud against a stand-in of its API on loopback."""

import json
import subprocess
from pathlib import Path

import hetzner_api
import pytest
from golden_trees import validate_workspaces

pytestmark = pytest.mark.chain
KINDS = ("hcloud_firewall", "hcloud_network", "hcloud_network_subnet", "hcloud_server")
RECIPE = """\
recipe: edge
summary: A server at the edge, with its network and firewall
version: "1.0"
risk: low
options:
  size: {default: cx22, help: The type of the server}
  port: {default: "443", help: The TCP port that the firewall lets in}
  walled: {type: flag, default: true, help: Whether it has a firewall}
resources:
  net:
    type: hcloud_network
    arguments: {name: "{{ instance }}", ip_range: 10.8.0.0/16}
  subnet:
    type: hcloud_network_subnet
    arguments:
      network_id: {resource: net, attribute: id}
      type: cloud
      network_zone: eu-central
      ip_range: 10.8.1.0/24
  wall:
    type: hcloud_firewall
    when: "{{ walled }}"
    arguments:
      name: "{{ instance }}"
      rule: [{direction: in, protocol: tcp, port: "{{ port }}", source_ips: [0.0.0.0/0]}]
  web:
    type: hcloud_server
    arguments:
      name: "{{ instance }}"
      server_type: "{{ size }}"
      image: debian-12
      location: nbg1
      labels: {text: "a.b"}
      user_data: "echo ${HOME} %{x}"
      network: [{network_id: {resource: net, attribute: id}, ip: 10.8.1.5}]
"""


@pytest.fixture(scope="module")
def cloud():
    with hetzner_api.serving() as made:
        yield made


@pytest.fixture(scope="module")
def clouded(estate, cloud):
    """An administrator gave the lab the provider, its credential and the tiers of these types."""
    credential = estate.lab / "secrets/control.json"
    tiers = estate.lab / "salt/minion/etc/minion.d/tests.conf"
    before = {path: path.read_text() for path in (credential, tiers)}
    entry = {"hcloud": {"HCLOUD_TOKEN": hetzner_api.TOKEN}}
    credential.write_text(json.dumps({**json.loads(before[credential]), "providers": entry}))
    settings = json.loads(before[tiers])
    settings["eos_tiers"]["resources"] = dict.fromkeys(KINDS, "low")
    tiers.write_text(json.dumps(settings))
    estate.must("lab", "up", "--provider", f"hcloud={cloud.address}", timeout=900)
    estate.write_recipe("edge", RECIPE)
    yield estate
    for path, text in before.items():
        path.write_text(text)


def synced(estate) -> dict:
    """What the control minion's schedule does every five minutes."""
    salt = json.loads((estate.lab / "lab.json").read_text())["engines"]["salt"]["path"]
    command = [f"{salt}/salt-call", "-c", str(estate.lab / "salt/minion/etc"), "--out=json", "--log-level=quiet"]
    ran = subprocess.run([*command, "eos_terraform.sync_states"], capture_output=True, text=True, timeout=300)
    return json.loads(ran.stdout)["local"]["workspaces"]["production/edge"]


def drifted(estate) -> dict[str, str]:
    found = json.loads(estate.eos("drift", "edge", "--json").stdout)
    return {one["object"]: one["verdict"] for one in found["objects"] if one["verdict"] != "in_step"}


def test_terraform_formats_and_validates_the_golden_tree(clouded, tmp_path):
    validate_workspaces(Path(__file__).parent.parent / "golden/resources/tree", clouded, tmp_path)


def test_a_plan_says_what_would_be_and_changes_nothing(clouded, cloud):
    shown = clouded.must("create", "edge", "--plan").stdout
    assert all(f"edge.{name}" in shown for name in ("net", "subnet", "wall", "web")), shown
    assert cloud.is_empty() and not cloud.writes()


def test_it_is_made_and_nothing_of_it_is_nomads(clouded, cloud):
    clouded.must("create", "edge", "--yes")
    assert [cloud.names(one) for one in ("networks", "firewalls", "servers")] == [["edge"]] * 3
    server, network = cloud.one("servers"), cloud.one("networks")
    assert server["private_net"][0]["network"] == network["id"]
    assert server["private_net"][0]["ip"] == "10.8.1.5"
    assert "edge" not in clouded.jobs()
    assert drifted(clouded) == {}
    assert synced(clouded)["verdict"] == "in step"
    made = cloud.writes()
    clouded.must("apply", "--yes")
    assert cloud.writes() == made, "a second application finds nothing to do"


def test_its_credential_is_nowhere_but_in_the_root_credential(clouded):
    command = ["grep", "-rlF", hetzner_api.TOKEN, str(clouded.root)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.split()
    assert found == [str(clouded.lab / "secrets/control.json")]


def test_an_update_changes_what_it_says_and_no_more(clouded, cloud):
    before, number = len(cloud.writes()), cloud.one("servers")["id"]
    clouded.must("update", "edge", "--port", "8443", "--yes")
    assert cloud.one("firewalls")["rules"][0]["port"] == "8443"
    wall = cloud.one("firewalls")["id"]
    assert cloud.writes()[before:] == [("POST", f"/firewalls/{wall}/actions/set_rules")]
    assert cloud.one("servers")["id"] == number


def test_what_somebody_changes_in_the_cloud_is_drift_and_put_right(clouded, cloud):
    wall = cloud.one("firewalls")["id"]
    cloud.ask("POST", f"/firewalls/{wall}/actions/set_rules", {"rules": []})
    cloud.ask("DELETE", f"/servers/{cloud.one('servers')['id']}")
    assert synced(clouded)["verdict"] == "differs"
    assert drifted(clouded) == {"resource/edge.wall": "changed", "resource/edge.web": "missing"}
    assert clouded.eos("drift", "edge").returncode == 3
    clouded.must("reconcile", "edge", "--yes")
    assert cloud.names("servers") == ["edge"] and cloud.one("firewalls")["rules"][0]["port"] == "8443"
    assert drifted(clouded) == {}
    assert synced(clouded)["verdict"] == "in step"


def test_one_resource_goes_and_the_others_stay(clouded, cloud):
    number = cloud.one("servers")["id"]
    clouded.must("update", "edge", "--walled=false", "--yes")
    assert cloud.names("firewalls") == [] and cloud.one("servers")["id"] == number


def test_a_cloud_that_refuses_is_quoted_and_nothing_is_called_done(clouded, cloud):
    taken = cloud.ask("POST", "/firewalls", {"name": "edge"})["firewall"]["id"]
    refused = clouded.eos("update", "edge", "--walled", "--yes")
    assert refused.returncode == 1 and "name edge is already used" in refused.stderr, refused
    assert [one["id"] for one in cloud.things["firewalls"].values()] == [taken]
    cloud.ask("DELETE", f"/firewalls/{taken}")
    assert drifted(clouded) == {}


def test_a_deletion_says_what_is_lost_and_leaves_nothing(clouded, cloud):
    shown = clouded.must("delete", "edge", "--plan").stdout
    assert "Terraform destroys it with all that it holds" in " ".join(shown.split()), shown
    assert cloud.names("servers") == ["edge"]
    clouded.must("delete", "edge", "--yes")
    assert cloud.is_empty()
    assert not (clouded.lab / "terraform/workspaces/production/edge").exists()
    assert clouded.eos("drift").returncode == 0
