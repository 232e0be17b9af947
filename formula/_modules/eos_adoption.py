"""What an interrupted run made in Nomad and Consul and no Terraform state names: taken into the state, or removed.

Nothing here may be called over the API; `eos_terraform` calls it. Terraform writes its state at the end of a run: one
that is killed leaves what it made to nobody. Its configuration is still in the tree. An object is taken for the run's
own if it is what that configuration would make, down to the mark that Eos put on it. Anything else stays as it is.
"""

from __future__ import annotations

import json

_VOLUME = "nomad_dynamic_host_volume_registration"


def adopt(run: object, configuration: dict) -> int:
    """Takes volumes, namespaces and Consul's entries into the Terraform state; answers how many.

    A job needs no adoption: to register it again changes nothing.
    """
    made = [(change["address"], name) for change, name in _unrecorded(run, configuration, _ADOPTED)]
    for address, name in made:
        run.tell(f"{run.workspace.name}: taking {name} into the Terraform state as {address}")
        run.adopt(configuration, address, name)
    return len(made)


def remove_jobs(run: object, configuration: dict) -> None:
    """Ends the jobs of the workspace that no Terraform state names, before Terraform destroys their volumes."""
    nomad = _engines(run)["nomad"]
    for change, name in _unrecorded(run, configuration, {"nomad_job": _job}):
        run.tell(f"{run.workspace.name}: removing job {name}, which the Terraform state does not name")
        __salt__["eos_runs.remove"](run.profile, nomad, change["after"]["namespace"], [name])


def _unrecorded(run: object, configuration: dict, kinds: dict) -> list[tuple[dict, str]]:
    """What Terraform would make although an engine has it: the planned change, and what the engine calls it."""
    engines = _engines(run)
    found = []
    for change in run.creations(configuration):
        ask = kinds.get(change["type"])
        if ask is not None and (name := ask(engines, change["after"], run.workspace)) is not None:
            found.append((change, name))
    return found


def _engines(run: object) -> dict[str, object]:
    given = run.engines()
    tokens = {"nomad": given["NOMAD_TOKEN"], "consul": given.get("CONSUL_HTTP_TOKEN")}
    return {layer: __salt__["eos_profile.engine"](layer, token) for layer, token in tokens.items() if token}


def _job(engines: dict, after: dict, workspace: object) -> str | None:
    """The mark of a job is its component in its meta."""
    job = __utils__["eos_nomad.job"](engines["nomad"], after["namespace"], after["name"])
    mark = ((job or {}).get("Meta") or {}).get("eos_component")
    return after["name"] if mark == workspace.name.split("/")[1] else None


def _volume(engines: dict, after: dict, workspace: object) -> str | None:
    """The mark of a registration is the directory it registers, which Eos made for this very volume."""
    del workspace
    for volume in __utils__["eos_nomad.host_volumes"](engines["nomad"], after["namespace"], after["name"]):
        same = all(volume[key] == after[of] for key, of in (("NodeID", "node_id"), ("HostPath", "host_path")))
        # To remove one that a plugin made would delete its data.
        if same and not volume.get("PluginID"):
            return f"{volume['ID']}@{after['namespace']}"
    return None


def _namespace(engines: dict, after: dict, workspace: object) -> str | None:
    """The mark of a namespace is its description."""
    del workspace
    namespace = __utils__["eos_nomad.namespace"](engines["nomad"], after["name"])
    mark = after.get("description")
    return after["name"] if mark and namespace and namespace["Description"] == mark else None


def _entry(engines: dict, after: dict, workspace: object) -> str | None:
    """Rules of who may call a service have no mark of their own: they are Eos's if they say what Eos says."""
    del workspace
    entry = __utils__["eos_consul.config_entry"](engines["consul"], after["kind"], after["name"])
    wanted = json.loads(after["config_json"])
    return f"{after['kind']}/{after['name']}" if entry and _callers(entry) == _callers(wanted) else None


def _callers(entry: dict) -> set[tuple[str, str]]:
    return {(source["Name"], source["Action"]) for source in entry.get("Sources") or []}


_ADOPTED = {_VOLUME: _volume, "nomad_namespace": _namespace, "consul_config_entry": _entry}
