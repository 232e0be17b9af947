"""Terraform's own graph of a workspace, as it was last rendered on the control minion. Changes nothing.

Nothing here may be called over the API; `eos` calls it. Terraform is run in a copy, with a backend of its own in place
of the workspace's and without any token: it sees neither the Terraform state nor an engine, and takes no lock.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from salt.exceptions import CommandExecutionError

_SECONDS = 60
_LONGEST_WORDS = 2000
# A file of this ending replaces what the others say of the same block.
_WITHOUT_BACKEND = 'terraform {\n  backend "local" {}\n}\n'


def of_workspace(environment: str, component: str) -> str:
    """The graph in the language of Graphviz."""
    name = f"{environment}/{component}"
    tree = os.path.join(_setting("terraform_root"), environment, component, "tree")
    if not os.path.isdir(tree):
        raise CommandExecutionError(f"Workspace {name} is not on minion {__opts__['id']}: it was never applied")
    with tempfile.TemporaryDirectory(prefix="eos-graph-") as scratch:
        copy = os.path.join(scratch, "tree")
        try:
            shutil.copytree(tree, copy)
        except shutil.Error as error:
            raise CommandExecutionError(f"Workspace {name} is being applied just now: {error}") from None
        configuration = os.path.join(copy, "environments", environment, component)
        with open(os.path.join(configuration, "eos_override.tf"), "w", encoding="utf-8") as file:
            file.write(_WITHOUT_BACKEND)
        _terraform(scratch, configuration, "init", "-input=false", "-no-color")
        return _terraform(scratch, configuration, "graph")


def _terraform(scratch: str, configuration: str, *arguments: str) -> str:
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": scratch,
        "CHECKPOINT_DISABLE": "1",
        "TF_IN_AUTOMATION": "1",
        "TF_INPUT": "0",
        "TF_DATA_DIR": os.path.join(scratch, "data"),
    }
    if cli_config := __salt__["eos_profile.optional_setting"]("terraform_cli_config"):
        environment["TF_CLI_CONFIG_FILE"] = cli_config
    command = [_setting("terraform"), *arguments]
    try:
        ran = subprocess.run(
            command,
            cwd=configuration,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            text=True,
            errors="replace",
            umask=0o077,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommandExecutionError(f"terraform {arguments[0]}: {error}") from None
    if ran.returncode != 0:
        words = (ran.stderr or ran.stdout).strip()[-_LONGEST_WORDS:]
        raise CommandExecutionError(f"terraform {arguments[0]}: {words}")
    return ran.stdout


def _setting(name: str) -> str:
    return __salt__["eos_profile.setting"](name)
