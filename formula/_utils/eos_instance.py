"""An instance of a job, as Nomad describes it."""

from __future__ import annotations

import datetime

from salt.exceptions import CommandExecutionError


def is_running(instance: dict | None) -> bool:
    return bool(instance) and (instance["DesiredStatus"], instance["ClientStatus"]) == ("run", "running")


def started(instance: dict) -> dict[str, str]:
    """When each task that runs was started, by the clock of its host."""
    states = instance.get("TaskStates") or {}
    return {task: state["StartedAt"] for task, state in states.items() if state["State"] == "running"}


def second(moment: str) -> float:
    """Nomad writes nanoseconds, which Python does not read; a check has whole seconds."""
    try:
        return datetime.datetime.fromisoformat(f"{moment[:19]}+00:00").timestamp()
    except ValueError as error:
        raise CommandExecutionError(f"Nomad says a task started at {moment!r}: {error}") from None


def services(group: dict) -> list[dict]:
    """The services of its group that have a check."""
    found = [*(group.get("Services") or [])]
    found += [service for task in group["Tasks"] for service in task.get("Services") or []]
    return [service for service in found if service.get("Checks")]
