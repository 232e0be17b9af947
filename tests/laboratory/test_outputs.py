"""Outputs: what Eos prints, what Terraform has, and what Salt's pillar gives are the same, wherever the instance goes."""

import json
import os
import subprocess

import pytest
import witness
from estates import Estate, get

pytestmark = [pytest.mark.side_by_side, pytest.mark.chain]
NAME = "offering"


@pytest.fixture(scope="module")
def offering(estate):
    estate.created = estate.must("create", "hello", "--name", NAME, "--yes")
    yield estate
    if witness.pillar(estate, NAME):
        estate.must("delete", NAME, "--yes")


def terraform_outputs(estate: Estate) -> dict:
    """What Terraform itself answers in the directory of the workspace."""
    workspace = estate.lab / "terraform/workspaces/production" / NAME
    answer = subprocess.run(
        [os.environ["EOS_TEST_TERRAFORM"], "output", "-json"],
        cwd=workspace / "tree/environments/production" / NAME,
        env={**os.environ, "TF_DATA_DIR": str(workspace / "data")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.returncode == 0, answer.stderr
    return {name: output["value"] for name, output in json.loads(answer.stdout).items()}


def pillar_outputs(estate: Estate) -> dict:
    """What the master gives the control minion."""
    salt = json.loads((estate.lab / "lab.json").read_text())["engines"]["salt"]["path"]
    command = [f"{salt}/salt-run", "-c", str(estate.lab / "salt/master/etc"), "--out=json", "--log-level=quiet"]
    answer = subprocess.run(
        [*command, "pillar.show_pillar", estate.endpoints["control"]], capture_output=True, text=True, timeout=120
    )
    return json.loads(answer.stdout)["terraform_outputs"][f"production/{NAME}"]


def read_outputs(estate: Estate) -> dict:
    return estate.json("read", NAME)["outputs"]


def port(estate: Estate) -> int:
    (instance,) = estate.nomad(f"/v1/service/{NAME}?namespace=production")
    return instance["Port"]


def test_eos_terraform_and_pillar_say_the_same(offering):
    place = f"localhost:{port(offering)}"
    assert terraform_outputs(offering) == {"hello_url": f"http://{place}", "nomad_service": place}
    assert read_outputs(offering) == pillar_outputs(offering) == terraform_outputs(offering)
    printed = dict(line.split(maxsplit=1) for line in offering.created.stdout.splitlines() if place in line)
    assert printed == terraform_outputs(offering)
    assert get(terraform_outputs(offering)["hello_url"])[0] == 200


def test_an_instance_that_moved_is_no_drift_and_outputs_follow_with_the_next_step(offering):
    before = terraform_outputs(offering)
    (instance,) = offering.nomad(f"/v1/service/{NAME}?namespace=production")
    offering.nomad(f"/v1/allocation/{instance['AllocID']}/stop?namespace=production", "POST")

    def has_moved() -> bool:
        there = offering.nomad(f"/v1/service/{NAME}?namespace=production")
        return len(there) == 1 and there[0]["AllocID"] != instance["AllocID"]

    offering.wait_until(has_moved, 60, "another instance")
    assert read_outputs(offering) != before, "Eos asks the catalogue"
    assert terraform_outputs(offering) == before
    objects = json.loads(offering.eos("drift", NAME, "--json").stdout)["objects"]
    assert [one for one in objects if one["verdict"] != "in_step"] == []

    offering.must("update", NAME, "--greeting", "moved", "--yes")
    assert terraform_outputs(offering)["nomad_service"] == f"localhost:{port(offering)}"
    assert read_outputs(offering) == pillar_outputs(offering) == terraform_outputs(offering)


def test_outputs_go_with_the_component(offering):
    recorded = offering.lab / "salt/minion/cache/eos/deployed/production" / f"{NAME}.json"
    assert json.loads(recorded.read_text())["workspace"] == f"production/{NAME}"
    offering.must("delete", NAME, "--yes")
    assert not recorded.exists()
