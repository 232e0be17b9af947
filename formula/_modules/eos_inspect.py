"""What this minion has against its current pillar: what Salt makes by a test run, workspaces by their records.

Nothing here may be called over the API; `eos.inspect` and the kinds call it. It changes nothing and runs no Terraform.
However many workspaces there are, their Terraform states are read at once.
"""

from __future__ import annotations

import hashlib
import logging
import os

_log = logging.getLogger(__name__)
# What names the real object behind a resource, where a resource has it.
_NAMING = ("id", "name", "namespace", "kind", "node_id", "modify_index")
# Files that are in a tree beside those of the slice.
_OWN = ("configuration.json", ".terraform.lock.hcl", "backend_override.tf")


def compare(pillar: dict, release: str | None, found: dict[str, dict]) -> dict:
    """All of this minion; `found` is what each kind says of it, {"states", "answer"}.

    What cannot be read is a failure of the whole: half an answer would look as if the rest were gone.
    """
    answer: dict = {"release": release, "states": _states(pillar, found)}
    for of_kind in found.values():
        answer |= of_kind["answer"]
    return answer


def _states(pillar: dict, found: dict[str, dict]) -> list[dict]:
    """What Salt says it would change, in one test run of all kinds; each with its `kind` and, as `part`, its name."""
    # Parts of two kinds may have the same name; those of one run may not.
    high = {f"{kind} {part}": state for kind, of_kind in found.items() for part, state in of_kind["states"].items()}
    if not high:
        return []
    with __salt__["eos_preview.scratch"]() as scratch:
        ran = __salt__["eos_preview.run_states"](scratch, "base", high, pillar)
    return [_told(state) for state in ran if state["result"] is not True or state["changes"]]


def _told(state: dict) -> dict:
    kind, _, part = state["id"].partition(" ")
    return {**state, "id": part, "kind": kind, "part": part}


def workspaces(named: dict) -> dict[str, dict]:
    """What is on this disk and in the backend, against what the pillar names."""
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        there = __salt__["eos_workspace.with_states"](profile, named)
        return {name: _compared(*found, named.get(name)) for name, found in there.items()}


def _compared(
    workspace: object, state: dict | None, fault: str | None, silence: dict | None, wanted: dict | None
) -> dict:
    state = state or {}
    facts = {"serial": state.get("serial"), "lineage": state.get("lineage")}
    recorded = workspace.applied() or {}
    proved = workspace.proved(facts) or {}
    attributes = __utils__["eos_terraform_state.attributes"](state)
    return {
        "digest": proved.get("digest"),
        "wanted": wanted and __utils__["eos_digest.of_slice"](wanted),
        **facts,
        "secret_version": proved.get("secret_version"),
        "operation": recorded.get("operation"),
        "when": recorded.get("when"),
        "state_changed": None if silence else _state_changed(recorded, proved, attributes),
        "resources": {
            address: {"type": kind, **{key: values[key] for key in _NAMING if values.get(key) is not None}}
            for address, kind, values in __utils__["eos_terraform_state.resources"](state)
        },
        "tree": _tree(workspace, wanted),
        "error": silence or _error(workspace, fault),
        "unread": silence is not None,
    }


def _error(workspace: object, fault: str | None) -> dict | None:
    """What is between two states of a workspace that nobody works on."""
    if fault:
        words = workspace.damage(fault)
    elif workspace.is_interrupted() and not workspace.is_held():
        words = "A Terraform run did not end: Nomad may have what the Terraform state does not name"
    else:
        return None
    return {"layer": "terraform", "object": workspace.name, "words": words, "hint": workspace.remedy()}


def _state_changed(recorded: dict, proved: dict, attributes: dict) -> dict[str, list[str]] | None:
    """What is not as it was recorded: attributes by resource; none are named of a resource that came or went."""
    before = recorded.get("attributes")
    if before is None:
        return None if proved or not recorded else {}
    changed = {}
    for address in sorted(before.keys() | attributes.keys()):
        old, new = before.get(address, {}), attributes.get(address, {})
        names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        if names:
            changed[address] = names if old and new else []
    return changed if changed or not proved else None


def _tree(workspace: object, wanted: dict | None) -> dict[str, list[str]] | None:
    """The rendered files on this disk against their digests, which are the pillar's if the tree is of its slice."""
    if (recorded := workspace.applied()) is None:
        return None
    configuration = workspace.configuration() or {}
    kept = configuration.get("slice") or {}
    digest = wanted and __utils__["eos_digest.of_slice"](wanted)
    is_wanted = wanted is not None and kept.get("digest", recorded["digest"]) == digest
    files = (wanted if is_wanted else kept).get("files", {})
    there = _digests(workspace.tree)
    tree = {
        "changed": sorted(path for path, digest in files.items() if there.get(path, digest) != digest),
        "missing": sorted(path for path in files if path not in there),
        "strange": sorted(path for path in there if path not in files and os.path.basename(path) not in _OWN),
    }
    if not configuration:
        tree["missing"].append("terraform/configuration.json")
    elif is_wanted and kept["files"] != files:
        tree["changed"].append("terraform/configuration.json")
    return tree


def _digests(tree: str) -> dict[str, str]:
    """Path, as a slice has it -> digest, of every file of a tree."""
    found = {}
    for directory, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            found[os.path.join("terraform", os.path.relpath(path, tree))] = digest
    return found
