"""The emitted tree without Eos, from the master: whole environments up, components down in the reverse of that order.

`salt-run infrastructure.orchestrate_infrastructure env=staging`
`salt-run infrastructure.staged_rollback '["staging/grafana"]'`
"""

from __future__ import annotations

import re

from salt.exceptions import CommandExecutionError, SaltInvocationError

_NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_DEFAULT_ENVIRONMENT = "production"


def orchestrate_infrastructure(env: str = _DEFAULT_ENVIRONMENT) -> dict:
    """Converges one environment, its waves in their order."""
    _check("env", env)
    return _orchestrate("orchestrate.deploy", {"eos_environment": env})


def staged_rollback(components: list[str], preserve_data: bool = True) -> dict:
    """Takes these components down ("<environment>/<component>", or a component of production).

    The last of the waves goes first. Volumes and their data stay; to remove them as well is nothing this may do.
    """
    if preserve_data is not True:
        raise SaltInvocationError("Data is always preserved: remove volumes by hand, on the minion that has them")
    if not isinstance(components, list) or not components:
        raise SaltInvocationError("components is not a list of names")
    names = []
    for component in components:
        environment, _, name = str(component).rpartition("/")
        _check("components", name)
        _check("components", environment or _DEFAULT_ENVIRONMENT)
        names.append(f"{environment or _DEFAULT_ENVIRONMENT}/{name}")
    return _orchestrate("orchestrate.destroy", {"eos_components": names})


def _orchestrate(sls: str, limits: dict) -> dict:
    """{id: what came of it} of every state of the orchestration; fails if one of them did."""
    answer = __salt__["state.orchestrate"](sls, pillar=limits)
    (states,) = answer["data"].values()
    if not isinstance(states, dict):
        raise CommandExecutionError("\n".join(map(str, states)))
    ran = sorted(states.values(), key=lambda state: state["__run_num__"])
    outcome = {state["__id__"]: state["comment"] for state in ran}
    if failed := [state["__id__"] for state in ran if state["result"] is not True]:
        words = "\n".join(f"{name}: {outcome[name]}" for name in failed)
        raise CommandExecutionError(words)
    return outcome


def _check(argument: str, name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SaltInvocationError(f"{argument} is not of the form {_NAME.pattern}")
