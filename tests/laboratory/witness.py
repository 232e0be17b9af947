"""One component as each engine of an estate holds it, read from the engine directly. Shares no code with Eos."""

import hashlib
import json
import subprocess
from pathlib import Path

from estates import Estate, get

ENVIRONMENT = "production"


def page(estate: Estate, component: str) -> str:
    """What the component answers with: asked of where Nomad has its service registered."""
    services = estate.nomad(f"/v1/service/{component}?namespace={ENVIRONMENT}") or []
    assert len(services) == 1, f"{component} is registered {len(services)} times"
    return get(f"http://{services[0]['Address']}:{services[0]['Port']}/")[1]


def serves(estate: Estate, component: str, greeting: str):
    """One job, one running instance of it, and the page has this greeting."""
    assert estate.jobs() == [f"{ENVIRONMENT}/{component}"]
    estate.wait_until(lambda: len(estate.running(component)) == 1, 30, f"one running allocation of {component}")
    assert greeting in page(estate, component)


def secret(estate: Estate, component: str) -> dict | None:
    """The items themselves, from Nomad's variables."""
    found = estate.nomad(f"/v1/var/nomad/jobs/{component}?namespace={ENVIRONMENT}")
    return found and found["Items"]


def staged(estate: Estate) -> list[str]:
    """Paths of secrets that wait for, or were kept by, an operation."""
    return [one["Path"] for one in estate.nomad("/v1/vars?prefix=eos/&namespace=*") or []]


def terraform_resources(estate: Estate, component: str) -> list[str]:
    """Types of what Terraform has in the state of the component's workspace."""
    found = list(estate.lab.glob(f"terraform/**/{ENVIRONMENT}/{component}/state/terraform.tfstate"))
    if not found:
        return []
    state = json.loads(found[0].read_text())
    return sorted(one["type"] for one in state["resources"] if one["mode"] == "managed" and one["instances"])


def leaks(estate: Estate, value: str) -> list[str]:
    """Files of the estate and its lab that hold a secret value. A task's own secrets directory is where it belongs."""
    found = subprocess.run(["grep", "-rlaF", value, estate.root], capture_output=True, text=True).stdout.split()
    return [path for path in found if "/secrets/" not in path.removeprefix(str(estate.lab / "secrets"))]


def commit(estate: Estate, words: str):
    """Commits all that is there, as a person would who has told git who they are."""
    git = ["git", "-C", estate.root, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "-qm", words], check=True)


def git_objects(estate: Estate) -> bytes:
    """All that git keeps, unpacked."""
    command = ["git", "-C", estate.root, "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(command, capture_output=True).stdout


def nothing(estate: Estate, component: str):
    """No job, no instance, no service, no secret, no Terraform resource, no namespace."""
    assert estate.jobs() == []
    assert estate.running(component) == []
    assert not estate.nomad(f"/v1/service/{component}?namespace={ENVIRONMENT}")
    assert secret(estate, component) is None
    assert terraform_resources(estate, component) == []
    assert [one["Name"] for one in estate.nomad("/v1/namespaces")] == ["default"]


def pillar(estate: Estate) -> str:
    return (estate.root / f"pillar/infrastructure/{ENVIRONMENT}.sls").read_text()


def is_committed(estate: Estate):
    status = subprocess.run(["git", "-C", estate.root, "status", "--porcelain"], capture_output=True, text=True)
    assert status.stdout == "", status.stdout


def served_release(estate: Estate) -> dict[str, str]:
    """Path -> digest of what Salt is served as the slices of its minions."""
    current = (estate.lab / "srv/current/pillar").resolve()
    return {
        str(path.relative_to(current)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(current).rglob("*.sls"))
    }
