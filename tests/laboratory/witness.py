"""One component as each engine of an estate holds it, read from the engine directly. Shares no code with Eos.

Others may be at work in the same estate: each question is about the component that the asking test owns.
"""

import hashlib
import json
import os
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
    assert f"{ENVIRONMENT}/{component}" in estate.jobs()
    estate.wait_until(lambda: len(estate.running(component)) == 1, 30, f"one running allocation of {component}")
    assert greeting in page(estate, component)


def secret(estate: Estate, component: str) -> dict | None:
    """The items themselves, from Nomad's variables."""
    found = estate.nomad(f"/v1/var/nomad/jobs/{component}?namespace={ENVIRONMENT}")
    return found and found["Items"]


def staged(estate: Estate, operation: str) -> list[str]:
    """Paths of secrets that wait for, or were kept by, this operation."""
    found = estate.nomad("/v1/vars?prefix=eos_&namespace=*") or []
    return [one["Path"] for one in found if f"/{operation}/" in one["Path"]]


def terraform_state(estate: Estate, component: str, environment: str = ENVIRONMENT) -> Path | None:
    """Terraform's state of the component's workspace."""
    found = estate.files(f"terraform/**/{environment}/{component}/state/terraform.tfstate")
    return found[0] if found else None


def terraform_resources(estate: Estate, component: str) -> list[str]:
    """Types of what Terraform has in the state of the component's workspace."""
    found = terraform_state(estate, component)
    if not found:
        return []
    state = json.loads(found.read_text())
    return sorted(one["type"] for one in state["resources"] if one["mode"] == "managed" and one["instances"])


def leaks(estate: Estate, value: str) -> list[str]:
    """Files of the estate and its lab that hold a secret value. A task's own secrets directory is where it belongs."""
    found = subprocess.run(["grep", "-rlaF", value, estate.root], capture_output=True, text=True).stdout.split()
    return [path for path in found if "/secrets/" not in path.removeprefix(str(estate.lab / "secrets"))]


def git(estate: Estate, *words: str) -> str:
    """Looks into the repository without git's lock of the index, which an operation may need at that moment."""
    ran = subprocess.run(["git", "--no-optional-locks", "-C", estate.root, *words], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def git_objects(estate: Estate) -> bytes:
    """All that git keeps, unpacked."""
    command = ["git", "-C", estate.root, "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(command, capture_output=True).stdout


def nothing(estate: Estate, component: str):
    """No job, no instance, no service, no secret, no Terraform resource of it."""
    assert f"{ENVIRONMENT}/{component}" not in estate.jobs()
    assert estate.running(component) == []
    assert not estate.nomad(f"/v1/service/{component}?namespace={ENVIRONMENT}")
    assert secret(estate, component) is None
    assert terraform_resources(estate, component) == []
    assert tasks(estate, component) == []


def tasks(estate: Estate, component: str, environment: str = ENVIRONMENT) -> list[str]:
    """Processes of the component's tasks, by what Nomad gave them."""
    given = {f"NOMAD_JOB_NAME={component}".encode(), f"NOMAD_NAMESPACE={environment}".encode()}
    found = []
    for process in Path("/proc").iterdir():
        try:
            block = (process / "environ").read_bytes()
        except OSError:
            continue
        if given <= set(block.split(b"\0")) and os.fsencode(estate.root) in block:
            found.append(process.name)
    return found


def environments(estate: Estate) -> list[str]:
    """Namespaces of Nomad beside its own one."""
    return [one["Name"] for one in estate.nomad("/v1/namespaces") if one["Name"] != "default"]


def pillar(estate: Estate, component: str, environment: str = ENVIRONMENT) -> str:
    """The component's lines of the pillar; empty where it has none."""
    path = estate.root / f"pillar/infrastructure/{environment}.sls"
    return lines_of(path.read_text() if path.exists() else "", component)


def lines_of(text: str, component: str) -> str:
    """From the line of its name up to the next one that stands as far left."""
    found: list[str] = []
    for line in text.splitlines(keepends=True):
        is_name = line.startswith("  ") and line[2:3].strip() != "" and line[2:3] != "#"
        if is_name and line.startswith(f"  {component}:"):
            found = [line]
        elif found and (is_name or not line.startswith(" ")):
            break
        elif found:
            found.append(line)
    return "".join(found)


def is_committed(estate: Estate, component: str):
    """Pillar, recipe and artifacts of the component are those of the last commit."""
    own = ["terraform/environments", "terraform/modules", "salt/components", "recipes"]
    changed = git(estate, "status", "--porcelain", "--untracked-files=all", "--", *own).splitlines()
    assert not [line for line in changed if f"/{component}/" in line], changed
    committed = git(estate, "show", f"HEAD:pillar/infrastructure/{ENVIRONMENT}.sls")
    assert lines_of(committed, component) == pillar(estate, component)


def operations(estate: Estate, component: str) -> list[dict]:
    """The operations of this component, the newest first."""
    known = estate.json("history", "--limit", "1000")["operations"]
    return [one for one in known if component in one["components"]]


def pending(estate: Estate, component: str, environment: str = ENVIRONMENT) -> list[dict]:
    """Changes of this component that the pillar asks for and that are not applied."""
    ran = estate.eos("plan", "--check", "-e", environment, "--json")
    # 3: somebody's changes are not applied.
    assert ran.returncode in (0, 3), ran.stderr
    plan = json.loads(ran.stdout.strip().split("\n")[-1])["plan"]
    return [change for change in plan["changes"] if change["component"] == component]


def served_release(estate: Estate, component: str) -> dict[str, str]:
    """What Salt is served of the component: digest of each of its entries in the slices of its minions, and of its files."""
    current = (estate.lab / "srv/current").resolve()
    own, found = f"{ENVIRONMENT}/{component}", {}
    for path in sorted((current / "pillar/hosts").glob("*.sls")):
        slices = json.loads(path.read_text().partition("\n")[2])["eos"]
        for kind, entries in slices.items():
            for name, entry in entries.items() if isinstance(entries, dict) else ():
                if name == own or name.startswith(f"{own}/"):
                    found[f"{path.stem}/{kind}/{name}"] = digest(json.dumps(entry, sort_keys=True).encode())
    for path in sorted((current / "salt").rglob("*")):
        if f"/{component}/" in str(path) and path.is_file():
            found[str(path.relative_to(current))] = digest(path.read_bytes())
    return found


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
