"""What Terraform says of every workspace as it was applied, on a schedule of the control minion's own, without Eos.

Nothing here may be called over the API. It changes nothing but its own record, `<cachedir>/eos/synced.json`, and has
`eos_secrets` remove values that nobody came back for.
"""

from __future__ import annotations

import datetime
import logging
import os

from salt.exceptions import CommandExecutionError

_log = logging.getLogger(__name__)
_TAG = "eos/drift"


def sync_states() -> dict:
    """Plans every workspace of the current pillar that no operation holds; records, and tells the master of, the rest.

    Answers what it recorded, {"when", "workspaces": {name: {"verdict", "resources", "words"}}}.
    """
    _prune()
    named = __salt__["pillar.items"](unmask=True).get("eos", {}).get("workspaces", {})
    found = {name: seen for name in sorted(named) if (seen := verdict(name)) is not None}
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    record = {"when": when, "workspaces": found}
    __utils__["eos_disk.write_json"](_path(), record)
    if differing := {name: one for name, one in found.items() if one["verdict"] == "differs"}:
        # The record is what counts: event.send answers False when nobody can be told.
        __salt__["event.send"](_TAG, {"when": when, "workspaces": differing})
    return record


def _prune() -> None:
    """Of secrets that wait for nobody; while their engine is silent, the rest is worth having."""
    try:
        __salt__["eos_secrets.prune"]()
    except (CommandExecutionError, OSError) as failure:
        _log.warning("Values that nobody came back for stay: %s", failure)


def synced() -> dict | None:
    """What was recorded last."""
    return __utils__["eos_disk.read_json"](_path(), "when", "workspaces")


def verdict(name: str) -> dict | None:
    """What Terraform would change if it were run; None if nobody can say, since it was never applied or is in use."""
    profile = __salt__["eos_profile.of_this_minion"]()
    try:
        with __salt__["eos_profile.closing"](profile, _log.warning), __salt__["eos_preview.scratch"]() as directory:
            profile.log_in()
            workspace = __salt__["eos_workspace.of"](*name.split("/"), profile)
            before = workspace.read_state()
            if workspace.applied() is None or workspace.is_held():
                return None
            plan = __salt__["eos_preview.applied"](workspace, directory)
            if workspace.is_held() or workspace.read_state() != before:
                return None
    except (CommandExecutionError, OSError, ValueError) as failure:
        words = __utils__["eos_failure.described"](failure, name)["words"]
        return {"verdict": "failed", "resources": [], "words": profile.without_tokens(words)}
    changes = (plan or {}).get("resource_changes", [])
    moved = [change for change in changes if change["change"]["actions"] not in (["no-op"], ["read"])]
    resources = [{"address": change["address"], "actions": change["change"]["actions"]} for change in moved]
    words = ", ".join(f"{'/'.join(one['actions'])} {one['address']}" for one in resources)
    return {"verdict": "differs" if moved else "in step", "resources": resources, "words": words or None}


def _path() -> str:
    return os.path.join(__opts__["cachedir"], "eos", "synced.json")
