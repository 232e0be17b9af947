"""What can be wrong with the set-up of a minion, and is seen only there: for the doctor. Changes nothing.

Nothing here may be called over the API; `eos` calls it.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
from collections.abc import Iterable, Iterator

import salt.fileclient
import salt.loader

_SYNC_STATES = "eos_terraform.sync_states"
_SECONDS_FOR_A_VERSION = 10
# A lock of the kind that Terraform takes on a local state: type, whence, start, length, process.
_RECORD_LOCK = "hhqqi0q"


def of_this_minion(named: list[str]) -> dict:
    """`named` are the workspaces that the pillar has; what is of the control minion is null on every other."""
    return {
        "environments": _environments(),
        "returners": _modules_of(salt.loader.returners(__opts__, {})),
        "executors": _modules_of(salt.loader.executors(__opts__, {})),
        "control": _control(named) if _setting("terraform_root") else None,
    }


def _environments() -> list[str]:
    """Of the master's file server; `__env__` stands for any name, such as that of a plan."""
    with salt.fileclient.get_file_client(__opts__) as client:
        return sorted(client.envs())


def _modules_of(loader: Iterable[str]) -> list[str]:
    """What this minion would find if a request named it."""
    return sorted({function.split(".")[0] for function in loader})


def _control(named: list[str]) -> dict:
    there = sorted(_on_disk())
    return {
        "terraform": _terraform_version(),
        "credential": __salt__["eos_profile.credential_fault"](),
        "schedule": _is_scheduled(),
        "named": sorted(named),
        "orphans": [name for name in there if name not in named],
        "state_locks": [lock for name in there if (lock := _state_lock(name)) is not None],
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


def _state_lock(name: str) -> dict | None:
    """What says that a run has locked the state of this workspace, and whether one still does.

    Only the local backend leaves such a file; in Consul a lock is a key, which Eos reads itself.
    """
    folder = os.path.join(_setting("terraform_root"), name, "state")
    file = os.path.join(folder, ".terraform.tfstate.lock.info")
    try:
        information = __utils__["eos_disk.read_json"](file)
    except ValueError:
        information = {}
    if information is None:
        return None
    held = _is_locked(os.path.join(folder, "terraform.tfstate"))
    return {"workspace": name, "file": file, "held": held, "since": information.get("Created")}


def _is_locked(path: str) -> bool:
    """Asks the kernel, without taking the lock."""
    try:
        with open(path, "rb") as file:
            asked = struct.pack(_RECORD_LOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            return struct.unpack(_RECORD_LOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK
    except FileNotFoundError:
        return False


def _setting(name: str) -> str | None:
    return __salt__["eos_profile.optional_setting"](name)
