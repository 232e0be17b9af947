"""What can be wrong with the set-up of a minion, and is seen only there: for the doctor. Changes nothing.

Nothing here may be called over the API; `eos` calls it.
"""

from __future__ import annotations

import glob
import json
import logging
import os
import subprocess
from collections.abc import Iterable, Iterator

import salt.fileclient
import salt.loader
from salt.exceptions import CommandExecutionError

_log = logging.getLogger(__name__)
_SYNC_STATES = "eos_terraform.sync_states"
_SECONDS_FOR_A_VERSION = 10


def of_this_minion(slices: dict | None) -> dict:
    """`slices` are those of the pillar, if there is one; the control minion's is null on every other."""
    named = None if slices is None else list(slices.get("workspaces", {}))
    return {
        "environments": _environments(),
        "returners": _modules_of(salt.loader.returners(__opts__, {})),
        "executors": _modules_of(salt.loader.executors(__opts__, {})),
        "disks": _disks(),
        "damaged": [*_damaged_records(), *_damaged_workspaces()],
        "control": _control(named) if _setting("terraform_root") else None,
    }


def _environments() -> list[str]:
    """Of the master's file server; `__env__` stands for any name, such as that of a plan."""
    with salt.fileclient.get_file_client(__opts__) as client:
        return sorted(client.envs())


def _modules_of(loader: Iterable[str]) -> list[str]:
    """What this minion would find if a request named it."""
    return sorted({function.split(".")[0] for function in loader})


def _disks() -> list[dict]:
    """How much room the disks have that the formula writes to, in bytes; each disk once."""
    found = {}
    for path in (__opts__["cachedir"], _setting("terraform_root")):
        if path and os.path.isdir(path):
            about = os.statvfs(path)
            free = about.f_bavail * about.f_frsize if about.f_favail or not about.f_files else 0
            found.setdefault(os.stat(path).st_dev, {"path": path, "free": free})
    return list(found.values())


def _damaged_records() -> Iterator[dict]:
    """Files of Eos's own that cannot be read. Steps are left out: one whose record cannot be read runs again."""
    root = os.path.join(__opts__["cachedir"], "eos")
    for pattern in ("*.json", "approvals/*.json", "volumes/**/*.json"):
        yield from _damaged(glob.iglob(os.path.join(glob.escape(root), pattern), recursive=True))


def _damaged(paths: Iterable[str]) -> Iterator[dict]:
    for path in sorted(paths):
        if fault := __utils__["eos_disk.contents"](path)[1]:
            yield {"file": path, "words": fault, "workspace": None}


def _damaged_workspaces() -> Iterator[dict]:
    """What cannot be read of the workspaces on this disk; `eos.inspect` tells of Terraform states elsewhere."""
    profile = __salt__["eos_profile.of_this_minion"]()
    local = __salt__["eos_backend.of"]({"kind": "local"}, profile) if _setting("terraform_root") else None
    for name in sorted(_on_disk()) if _setting("terraform_root") else []:
        root = os.path.join(_setting("terraform_root"), name)
        files = [os.path.join(root, file) for file in ("applied.json", "backend.json", "tree/configuration.json")]
        found = list(_damaged(files))
        state = local.where(name)
        if fault := local.read(name)[1]:
            found.append({"file": state, "words": fault.removeprefix(f"{state} ")})
        yield from ({**damaged, "workspace": name} for damaged in found)


def _control(named: list[str] | None) -> dict:
    there = sorted(_on_disk())
    return {
        "terraform": _terraform_version(),
        "credential": __salt__["eos_profile.credential_fault"](),
        "schedule": _is_scheduled(),
        "named": sorted(named or []),
        "orphans": [name for name in there if named is not None and name not in named],
        "state_locks": _state_locks(there),
    }


def _on_disk() -> Iterator[str]:
    root = _setting("terraform_root")
    for environment in os.listdir(root) if os.path.isdir(root) else []:
        folder = os.path.join(root, environment)
        for component in os.listdir(folder) if os.path.isdir(folder) else []:
            # One that is on its way out has another name.
            if os.path.isdir(os.path.join(folder, component)) and not component.endswith(".removed"):
                yield f"{environment}/{component}"


def _terraform_version() -> dict:
    program = __salt__["eos_profile.setting"]("terraform")
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "CHECKPOINT_DISABLE": "1"}
    try:
        ran = subprocess.run(
            [program, "version", "-json"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_FOR_A_VERSION,
            check=True,
        )
        return {"program": program, "version": json.loads(ran.stdout)["terraform_version"], "error": None}
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        return {"program": program, "version": None, "error": str(error)}


def _is_scheduled() -> bool:
    schedules = (__opts__.get("schedule"), __pillar__.get("schedule"))
    jobs = [job for schedule in schedules if isinstance(schedule, dict) for job in schedule.values()]
    return any(isinstance(job, dict) and job.get("function") == _SYNC_STATES for job in jobs)


def _state_locks(names: list[str]) -> list[dict]:
    """Terraform's own locks: `held` is false if its run is gone, `by_eos` true while a step is at work there."""
    profile, found = __salt__["eos_profile.of_this_minion"](), []
    with __salt__["eos_profile.closing"](profile, _log.warning):
        for name in names:
            try:
                workspace = __salt__["eos_workspace.of"](*name.split("/"), profile)
                lock = workspace.backend.lock(name)
                if lock is not None:
                    held = lock["held"] and not workspace.is_left(lock)
                    found.append({"workspace": name, **lock, "held": held, "by_eos": workspace.is_held()})
            except CommandExecutionError as failure:
                # An engine that does not answer is another finding's.
                _log.warning("%s", failure)
    return found


def _setting(name: str) -> str | None:
    return __salt__["eos_profile.optional_setting"](name)
