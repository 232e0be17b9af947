"""Changes made outside Eos, one for each layer, as an administrator would make them by hand."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from .world import RECIPES, World

Hand = Callable[[World], None]
PRODUCTION = "production"


def all_of(*hands: Hand) -> Hand:
    def change(world: World):
        for hand in hands:
            hand(world)

    return change


def job(name: str, edit: Callable[[dict], None]) -> Hand:
    """Nomad is given another version of a job."""

    def change(world: World):
        found = world.estate.nomad(f"/v1/job/{name}?namespace={PRODUCTION}")
        edit(found)
        world.estate.nomad("/v1/jobs", "POST", {"Job": found})

    return change


def count(name: str, number: int) -> Hand:
    return job(name, lambda found: found["TaskGroups"][0].update(Count=number))


def env(name: str, variable: str, value: str) -> Hand:
    return job(name, lambda found: found["TaskGroups"][0]["Tasks"][0]["Env"].update({variable: value}))


def meta(name: str, key: str, value: str) -> Hand:
    return job(name, lambda found: found["Meta"].update({key: value}))


def stopped(name: str, purge: bool) -> Hand:
    def change(world: World):
        query = f"?namespace={PRODUCTION}&purge={str(purge).lower()}"
        world.estate.nomad(f"/v1/job/{name}{query}", "DELETE")

    return change


def variable(name: str, item: str, value: str) -> Hand:
    """Nomad's variable of a component gets another value."""

    def change(world: World):
        path = f"/v1/var/nomad/jobs/{name}?namespace={PRODUCTION}"
        found = world.estate.nomad(path)
        world.estate.nomad(path, "PUT", {**found, "Items": {**found["Items"], item: value}})

    return change


def terraform_state(component: str, edit: Callable[[dict], None]) -> Hand:
    """Terraform's state on the disk becomes another."""

    def change(world: World):
        file = world.estate.lab / f"terraform/workspaces/{PRODUCTION}/{component}/state/terraform.tfstate"
        state = json.loads(file.read_text())
        edit(state)
        state["serial"] += 1
        file.write_text(json.dumps(state, indent=2))

    return change


def forgotten(component: str) -> Hand:
    """As `terraform state rm`: the job stays, its workspace knows nothing of it."""
    return terraform_state(
        component, lambda state: state.update(resources=[r for r in state["resources"] if r["type"] != "nomad_job"])
    )


def rendered_file(component: str, name: str) -> Hand:
    """A file of the workspace as it is rendered on the control host gets a line more."""

    def change(world: World):
        (file,) = (world.estate.lab / f"terraform/workspaces/{PRODUCTION}/{component}/tree").rglob(name)
        file.write_text(file.read_text() + "\n# by hand\n")

    return change


def volume_directory(world: World, instance: str) -> Path:
    return world.estate.lab / f"volumes/opt/{instance}/data"


def directory_mode(instance: str, mode: int) -> Hand:
    return lambda world: volume_directory(world, instance).chmod(mode)


def directory_gone(instance: str) -> Hand:
    return lambda world: shutil.rmtree(volume_directory(world, instance))


def namespace(name: str, description: str) -> Hand:
    def change(world: World):
        found = world.estate.nomad(f"/v1/namespace/{name}")
        world.estate.nomad(f"/v1/namespace/{name}", "POST", {**found, "Description": description})

    return change


def no_volume_directory(instance: str) -> Hand:
    """Nothing of an earlier volume lies where a new one is to be."""
    return lambda world: shutil.rmtree(volume_directory(world, instance).parent, ignore_errors=True)


def intentions(service: str, source: str) -> Hand:
    """Somebody else may call a service, as far as Consul is concerned."""

    def change(world: World):
        entry = world.estate.consul(f"/v1/config/service-intentions/{service}")
        entry["Sources"].append({"Name": source, "Action": "allow", "Type": "consul", "Precedence": 9})
        world.estate.consul("/v1/config", "PUT", entry)

    return change


def pillar(components: dict, environment: str = PRODUCTION) -> Hand:
    """A person edits the pillar: these components with these options, and no others."""
    return lambda world: world.write_pillar(environment, components)


def recipe(name: str, *replacements: tuple[str, str]) -> Hand:
    """The estate's recipe moves on, from what it was at first."""

    def change(world: World):
        text = (RECIPES / f"{name}.yaml").read_text()
        for old, new in replacements:
            assert old in text, f"recipe {name} has no {old!r}"
            text = text.replace(old, new)
        world.write_recipe(name, text)

    return change
