"""An emitted tree without Eos: what its orchestration asks of minions beside `eos.make`, and its administrator's look.

Nothing here may be called over the API, and all of it answers nobody but root.
"""

from __future__ import annotations

from salt.exceptions import CommandExecutionError


def status(**publication: object) -> dict[str, dict]:
    """Of each workspace in this minion's pillar: whether it is `applied` as that says, and why `unhealthy`, or None.

    It changes nothing, and does not wait.
    """
    _require_root(publication)
    named = _slices().get("workspaces", {})
    observed = __salt__["eos_terraform.observe"](sorted(named))
    unhealthy = __salt__["eos_health.unhealthy"]([name for name, seen in observed.items() if seen], seconds=0)
    return {
        name: {"applied": bool(seen) and seen["digest"] == _digest(named[name]), "unhealthy": unhealthy.get(name)}
        for name, seen in observed.items()
    }


def require_healthy(*, workspaces: list, **publication: object) -> None:
    """Fails, by name, if Nomad has another job than Terraform registered, or if one is not healthy within a minute."""
    _require_root(publication)
    names = __utils__["eos_argument.check_all"]("workspaces", workspaces, "component")
    if unhealthy := __salt__["eos_health.unhealthy"](names):
        raise CommandExecutionError("; ".join(f"{name}: {why}" for name, why in unhealthy.items()))


def remove(
    *, operation: str, step: str, kind: str, environment: str, component: str, **publication: object
) -> dict | str:
    """Removes all of one kind that the pillar of this minion names of a component; answers the step record.

    Data stay and so do secrets, with the namespace that they are in: the answer says so.
    """
    _require_root(publication)
    name = f"{environment}/{component}"
    __utils__["eos_argument.check"]("component", name, "component")
    facts = __salt__[f"eos_kind_{kind}.parting"](name, _slices())
    if facts is None:
        return f"{name} keeps what it has of kind {kind}"
    part = {"kind": kind, "environment": environment, "component": component, "facts": facts}
    return __salt__["eos.remove"](operation=operation, step=step, **part, **publication)


def _require_root(publication: dict) -> None:
    if not __salt__["eos_roles.caller"](publication)["is_root"]:
        raise CommandExecutionError("Only root may ask this; an API user has the functions of eos")


def _slices() -> dict:
    return __salt__["pillar.items"](unmask=True).get("eos", {})


def _digest(wanted: dict) -> str:
    return __utils__["eos_digest.of_slice"](wanted)
