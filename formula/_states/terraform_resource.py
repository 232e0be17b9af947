"""The Salt state of one Terraform resource, named after its address, for SLS files of an administrator's own.

What a workspace makes, its files say: so a state of one resource applies the whole workspace.
"""

from __future__ import annotations


def present(name: str, workspace: str) -> dict:
    """The workspace "<environment>/<component>" is what the pillar says, and its Terraform state has this resource."""
    applied = __states__["eos_terraform.applied"](workspace)
    if not applied["result"]:
        return {**applied, "name": name}
    there = __salt__["eos_terraform.observe"]([workspace])[workspace]
    if there is None or name not in there["resources"]:
        comment = f"{applied['comment']}; the Terraform state of {workspace} has no {name}"
        return {**applied, "name": name, "result": False, "comment": comment}
    return {**applied, "name": name, "comment": f"{applied['comment']}; {workspace} has {name}"}
