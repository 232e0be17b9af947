"""The least risk of a thing that this minion is about to make, computed from the thing itself.

Nothing here may be called over the API; `eos` calls it. `TABLE` is the one table of tiers; docs/security.md shows it. A
recipe's own risk can only raise what is computed here. The minion's own configuration, `eos_tiers:`, names further
images and programs, and where volumes may lie; what is delivered names none of them.
"""

from __future__ import annotations

import os

TABLE = {
    "form": ("high", "Terraform files that Eos does not emit: another resource, provider, data source or function"),
    "token": ("high", "a management token for more than a namespace"),
    "setting": ("high", "a setting of a job that is not for everybody: privileges, capabilities, devices, mounts"),
    "driver": ("high", "a task driver other than docker or raw_exec"),
    "program": ("high", "a program of the host that the settings of the minion do not name"),
    "path": ("high", "a volume outside of the directories that the settings of the minion name"),
    "place": ("high", "a directory for a volume that is another's, or that Eos did not make for it"),
    "resource": ("high", "a Terraform resource of a type that the settings of the minion do not name"),
    "image": ("medium", "an image that is not on the list"),
    "entrypoint": ("medium", "an image that is started by other words than its own"),
}


def of_workspace(name: str, wanted: dict, contents: dict[str, bytes]) -> list[tuple[str, str]]:
    """(tier, why) of everything that raises the risk of a workspace that is to be applied."""
    return [*of_files(name, wanted, contents), *_of_places(name, contents)]


def of_files(name: str, wanted: dict, contents: dict[str, bytes]) -> list[tuple[str, str]]:
    """The same of what is in its files, wherever its volumes would come to lie."""
    try:
        emitted = _emitted(name, contents)
    except ValueError as error:
        tier, why = _raised("form", str(error))
        return [(_settings().get("form", tier), why)]
    found = []
    if wanted.get("token") != "client" and emitted["resources"] != ["nomad_namespace"]:
        found.append(_raised("token", ", ".join(emitted["resources"])))
    if "nomad_namespace" in emitted["resources"] and emitted["values"].get("namespace") != name.split("/")[0]:
        found.append(_raised("form", "it makes the namespace of another environment"))
    found += [of_resource(kind) for kind in emitted["own"]]
    found += [_raised("path", str(path)) for _, _, path in emitted["places"] if not is_allowed(path)]
    return found + (_of_job(name, emitted) if emitted["job"] is not None else [])


def settings() -> dict:
    """The lists that complete the table on this minion, for whoever wants to know beforehand.

    What a kind has a list of its own for goes as it is.
    """
    own = _settings()
    return {
        **{key: lists for key, lists in own.items() if isinstance(lists, list)},
        "images": {**__utils__["eos_images.tiers"](), **own.get("images", {})},
        "programs": own.get("programs", []),
        "resources": own.get("resources", {}),
        "volumes_below": [*__salt__["eos_volumes.allowed"](), *own.get("volumes_below", [])],
    }


def reads_all() -> bool:
    """Whether this minion takes Terraform files of any form, because its administrator keeps trees by hand."""
    return _settings().get("form", "high") != "high"


def is_allowed(path: object) -> bool:
    """Whether a volume may lie here without an architect's word."""
    if not isinstance(path, str) or os.path.normpath(path) != path or not path.startswith("/"):
        return False
    below = settings()["volumes_below"]
    return any(path.startswith(f"{directory.rstrip('/')}/") for directory in below)


def _of_places(name: str, contents: dict[str, bytes]) -> list[tuple[str, str]]:
    """Of directories that are not this component's: on this host by looking, on others by what is registered there."""
    places, found = _places(name, contents), []
    for need, host, path in places:
        if host == __opts__["id"] and (why := __salt__["eos_volumes.why_not_its_own"](f"{name}/{need}", path)):
            found.append(_raised("place", f"{path} {why}"))
    others = __salt__["eos_workspace.of_others"](name) if places else {}
    for other, files in others.items():
        for _, host, path in _places(other, files):
            own = [at for _, on, at in places if on == host and (_within(at, path) or _within(path, at))]
            found += [_raised("place", f"{at} on {host}, where {other} has a volume") for at in own]
    return found


def _places(name: str, contents: dict[str, bytes]) -> list[tuple]:
    """(need, host, path) of the volumes that a workspace registers; of files of another form nothing is known."""
    try:
        return _emitted(name, contents)["places"]
    except ValueError:
        return []


def _emitted(name: str, contents: dict[str, bytes]) -> dict:
    table = __utils__["eos_providers.table"]()
    return __utils__["eos_emitted.read"](name, contents, __utils__["eos_hcl.read"], table)


def of_resource(kind: str) -> tuple[str, str]:
    """The risk of a type of Terraform resources, and why."""
    tier = _settings().get("resources", {}).get(kind)
    return _raised("resource", kind) if tier is None else (tier, f"resource {kind}")


def _within(path: object, directory: object) -> bool:
    return f"{path}/".startswith(f"{directory}/")


def _of_job(name: str, emitted: dict) -> list[tuple[str, str]]:
    job = __utils__["eos_job.read"](emitted["job"], emitted["values"], name)
    found = [_raised("setting", strange) for strange in job["strange"]]
    own = [volume for need, volume in emitted["volumes"] if volume == f"{_instance(name)}-{need}"]
    volumes = [*job["volumes"], *(volume for _, volume in emitted["volumes"])]
    for other in {volume for volume in volumes if volume not in own}:
        found += _of_lent(name, other)
    found += [
        _raised("setting", f"callers of {other}") for other in emitted["services"] if other not in job["services"]
    ]
    for task in job["tasks"]:
        found += _of_task(task, job["commands"])
    return found


def _of_lent(name: str, volume: object) -> list[tuple[str, str]]:
    """Of a volume that another component has: a further job of that component counts as much as it does itself.

    Who writes the volume reaches what runs on it, and the secrets that this holds.
    """
    environment, component = name.split("/")
    for other, files in __salt__["eos_workspace.of_others"](name).items():
        of, owner = other.split("/")
        is_owner = of == environment and component.startswith(f"{owner}-")
        if is_owner and volume in _lendable(other, files):
            there = __salt__["eos_terraform.recorded_risks"](environment, owner)
            held = __salt__["eos_secrets.risks_of_holder"](other)
            found = dict.fromkeys(map(tuple, [*there, *held]))
            return [(tier or "high", f"volume {volume} of {owner}: {why}") for tier, why in found]
    return [_raised("setting", f"volume {volume}")]


def _lendable(name: str, contents: dict[str, bytes]) -> list[str]:
    """The volumes that a workspace registers under names of its own."""
    try:
        registered = _emitted(name, contents)["volumes"]
    except ValueError:
        return []
    return [volume for need, volume in registered if volume == f"{_instance(name)}-{need}"]


def _instance(name: str) -> str:
    """What the services and volumes of a workspace are named after."""
    environment, component = name.split("/")
    return component if environment == "production" else f"{component}-{environment}"


def _of_task(task: dict, commands: list[list]) -> list[tuple[str, str]]:
    config = task["config"]
    if task["driver"] == "docker":
        image = config.get("image")
        tier = settings()["images"].get(image) if isinstance(image, str) else None
        found = [_raised("image", str(image))] if tier is None else [(tier, f"image {image}")]
        started = config.get("entrypoint")
        return found if started is None else [*found, _raised("entrypoint", str(image))]
    if task["driver"] != "raw_exec":
        return [_raised("driver", task["driver"])]
    # What a check runs, it runs on the host as well.
    words = [[config.get("command"), *(config.get("args") or [])], *commands]
    return [_of_program(program, task) for program in words]


def _of_program(words: list, task: dict) -> tuple[str, str]:
    """Of a program with words the settings give its environment too: a variable or file of a task can replace it."""
    shown = " ".join(map(str, words))
    for known in settings()["programs"]:
        begins = words[: len(known["words"])] == known["words"]
        plain = not task["templates"] and set(task["env"]) <= set(known.get("environment", []))
        if begins and (plain or not known["words"]):
            return known["tier"], f"program {shown}"
    return _raised("program", shown)


def _raised(rule: str, what: str) -> tuple[str, str]:
    tier, words = TABLE[rule]
    return tier, f"{words}: {what}"


def _settings() -> dict:
    return __opts__.get("eos_tiers") or {}
