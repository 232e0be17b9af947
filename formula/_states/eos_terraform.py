"""The Salt states of a Terraform workspace, named "<environment>/<component>".

They serve whoever applies the emitted tree by hand; `eos.make` does the same without a state run.
"""

from __future__ import annotations

import salt.utils.jid


def applied(name: str) -> dict:
    """The workspace is what the pillar of this minion says."""
    environment, component = name.split("/")
    if __opts__["test"]:
        return _would_apply(name)
    return _returned(name, __salt__["eos_terraform.ensure_infrastructure"](environment, component, **_ids(name)))


def absent(name: str) -> dict:
    """The workspace holds nothing and is gone, whether or not the pillar still names it."""
    environment, component = name.split("/")
    if __opts__["test"]:
        there = __salt__["eos_terraform.observe"]([name])[name]
        comment = "would be destroyed" if there else "is absent"
        return {"name": name, "changes": {}, "result": None if there else True, "comment": f"Workspace {comment}"}
    return _returned(name, __salt__["eos_terraform.destroy"](environment, component, **_ids(name)))


def _would_apply(name: str) -> dict:
    observed = __salt__["eos_terraform.observe"]([name])[name]
    old = observed and observed["digest"]
    new = __pillar__.get("eos", {}).get("workspaces", {}).get(name, {}).get("digest")
    if new is None:
        return {"name": name, "changes": {}, "result": False, "comment": "The pillar names no such workspace"}
    if old == new:
        return {"name": name, "changes": {}, "result": True, "comment": f"Workspace is at {new[:12]}"}
    changes = {"digest": {"old": old, "new": new}}
    return {"name": name, "changes": changes, "result": None, "comment": f"Terraform would apply {new[:12]}"}


def _returned(name: str, answer: dict) -> dict:
    """`terraform` and `error` say of the run what a step record would."""
    terraform, error = answer["terraform"], answer["error"]
    counts = {kind: terraform[kind] for kind in ("added", "changed", "destroyed") if terraform[kind]}
    if error:
        comment = f"{error['layer']}: {error['object']}: {error['words']}"
    elif terraform["ran"]:
        comment = ", ".join(f"{terraform[kind]} {kind}" for kind in ("added", "changed", "destroyed"))
    else:
        comment = "Nothing to do, Terraform was not run"
    return {
        "name": name,
        "changes": {"terraform": counts} if counts else {},
        "result": answer["result"],
        "comment": comment,
        "terraform": terraform,
        "error": error,
    }


def _ids(name: str) -> dict:
    return {"operation": f"eject-{salt.utils.jid.gen_jid(__opts__)}", "step": name.replace("/", ".")}
