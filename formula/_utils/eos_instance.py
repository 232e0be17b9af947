"""An instance of a job, as Nomad describes it."""

from __future__ import annotations

import datetime

from salt.exceptions import CommandExecutionError

_SECONDS_TO_STOP = 5
_NANOSECONDS = 10**9


def is_running(instance: dict | None) -> bool:
    return bool(instance) and (instance["DesiredStatus"], instance["ClientStatus"]) == ("run", "running")


def is_over(instance: dict) -> bool:
    """Whether no task of it runs any more, or will."""
    return instance["ClientStatus"] in ("complete", "failed", "lost")


def ended_well(instance: dict) -> bool:
    """Whether it came to its end by itself: Nomad calls one complete as well that somebody stopped."""
    return (instance["DesiredStatus"], instance["ClientStatus"]) == ("run", "complete")


def seconds_to_stop(group: dict) -> int:
    """How long its tasks have to end by themselves; Nomad's own time, where a group names none."""
    spans = [task.get("KillTimeout") or 0 for task in group["Tasks"]]
    return max([*spans, _SECONDS_TO_STOP * _NANOSECONDS]) // _NANOSECONDS


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
