"""A container without a recipe: its image by digest, its variables, secret, volume and port, changed, rolled back and deleted."""

import json
import urllib.request

import pytest
import witness
from estates import Estate, get
from test_containers import free_port

pytestmark = pytest.mark.side_by_side

NAME = "wayin"
IMAGE = "tools/wayin:1"
SERVE = ["--", "serve-stand-in", "--port", "8080", "--health", "/up"]
NEEDS = ["--require-env", "GREETING", "--require-file-of", "TOKEN_FILE", "--require-dir", "/data"]


def pack(estate: Estate, version: str) -> str:
    """Makes the image and says its digest, as the registry itself has it."""
    estate.must("lab", "image", IMAGE, str(estate.lab / "bin/eos"), "--env", f"VERSION={version}")
    port = json.loads((estate.lab / "lab.json").read_text())["containers"]["registry_port"]
    accept = {"Accept": "application/vnd.oci.image.manifest.v1+json"}
    url = f"http://127.0.0.1:{port}/v2/tools/wayin/manifests/1"
    with urllib.request.urlopen(urllib.request.Request(url, headers=accept), timeout=10) as answer:
        return answer.headers["Docker-Content-Digest"]


def task(estate: Estate, name: str = NAME) -> dict:
    return estate.nomad(f"/v1/job/{name}?namespace=production")["TaskGroups"][0]["Tasks"][0]


def create(estate: Estate, *more: str):
    said = ["--image", IMAGE, "--env", "GREETING=hello", "--secret", "TOKEN_FILE", "--volume", "data:1G:/data"]
    return estate.must(
        "create", "container", NAME, *said, "--check", "/up", "--memory", "64", *more, "--yes", *SERVE, *NEEDS
    )


def test_a_container_is_made_of_flags_changed_taken_back_and_made_a_recipe(with_containers):
    estate = with_containers
    first, port = pack(estate, "1"), free_port()

    # Undone, nothing of it runs or is registered; a volume keeps its data, as of every component.
    create(estate, "--port", f"{port}:8080")
    assert task(estate)["Config"]["image"] == f"{IMAGE}@{first}"
    estate.must("undo", "--yes")
    witness.nothing(estate, NAME)
    assert witness.pillar(estate, NAME) == ""

    create(estate, "--port", f"{port}:8080")
    made = task(estate)
    assert made["Config"]["image"] == f"{IMAGE}@{first}" and made["Env"]["GREETING"] == "hello"
    # Its health says that the variable, the file of the secret and the volume are there.
    [found] = estate.nomad(f"/v1/service/{NAME}?namespace=production")
    assert found["Port"] == int(port)
    assert get(f"http://{found['Address']}:{port}/up") == (200, "ok\n")
    value = witness.secret(estate, NAME)["token"]
    assert len(value) == 32 and witness.leaks(estate, value) == []
    container = estate.docker(
        "ps", "-q", "--filter", f"label=com.hashicorp.nomad.alloc_id={estate.running(NAME)[0]['ID']}"
    )
    inspected = json.loads(estate.docker("inspect", container.strip()))[0]
    assert value not in json.dumps(inspected["Config"])
    assert "/data" in [mount["Destination"] for mount in inspected["Mounts"]]
    assert "nothing to do" in create(estate, "--port", f"{port}:8080").stderr
    witness.is_committed(estate, NAME)

    # Another image under the same name changes nothing until somebody says so, and is taken back.
    second = pack(estate, "2")
    assert second != first
    assert task(estate)["Config"]["image"].endswith(first)
    assert witness.pending(estate, NAME) == []
    estate.must("update", NAME, "--image", IMAGE, "--yes")
    assert task(estate)["Config"]["image"] == f"{IMAGE}@{second}"
    estate.must("update", NAME, "--greeting", "hallo", "--yes")
    assert task(estate)["Env"]["GREETING"] == "hallo"
    newest = witness.operations(estate, NAME)
    for operation in [one["id"] for one in newest][:2]:
        estate.must("undo", operation, "--yes")
    assert task(estate)["Config"]["image"] == f"{IMAGE}@{first}" and task(estate)["Env"]["GREETING"] == "hello"
    assert get(f"http://{found['Address']}:{port}/up") == (200, "ok\n")

    # A recipe of it makes an equal job.
    estate.must("catalog", "new", "wayout", "--from", NAME)
    assert "recipes/wayout/recipe.yaml  sound" in estate.must("catalog", "lint").stdout
    estate.must("create", "wayout", "--port", free_port(), "--yes")
    ours, theirs = task(estate), task(estate, "wayout")
    for part in ["Config", "Driver", "Env", "Resources", "User", "Name"]:
        of_theirs = json.loads(json.dumps(theirs[part]).replace("wayout", NAME))
        assert ours[part] == of_theirs, part
    estate.must("delete", "wayout", "--yes")
    witness.nothing(estate, "wayout")

    estate.must("delete", NAME, "--yes")
    witness.nothing(estate, NAME)
    assert witness.pillar(estate, NAME) == ""


def test_an_image_that_the_registry_does_not_have_changes_nothing(with_containers):
    estate = with_containers
    ran = estate.eos("create", "container", "wayless", "--image", "tools/wayless:9", "--port", "80", "--yes")
    assert ran.returncode != 0 and "@sha256:" in ran.stderr, ran.stderr
    witness.nothing(estate, "wayless")
    assert witness.operations(estate, "wayless") == []
