"""Restarting what runs of a component's job in Nomad, one instance after the other.

Nothing here may be called over the API; the kind of workspaces calls it, under the lock of the workspace. Before the
first restart a file beside the workspace notes when each task had started. So a step that was killed and runs again
knows by Nomad's own times which instances it has restarted already, whatever the clocks of the hosts say.
"""

from __future__ import annotations

import logging
import time

_log = logging.getLogger(__name__)
_SECONDS_BETWEEN_LOOKS = 1.0
# Nomad's own, where a job names none.
_SECONDS_TO_BE_HEALTHY = 300
# Nomad answers once the tasks have ended; so long it takes besides.
_SECONDS_TO_ANSWER = 30
_NANOSECONDS = 10**9


def restart(environment: str, component: str, operation: str, step: str) -> dict:
    """Restarts each instance that runs and was not restarted by this step before; waits until it is healthy again.

    Answers {"restarted": {instance: {task: when it had started before}}}. One that does not become healthy ends it.
    """
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        return _Restart(profile, environment, component, operation, step).run()


class _Restart:
    def __init__(self, profile: object, environment: str, component: str, operation: str, step: str):
        self.profile, self.namespace, self.component = profile, environment, component
        self.operation, self.step = operation, step
        self.name = f"{environment}/{component}"
        self.nomad = profile.deploying(self.name)
        self.file = __salt__["eos_workspace.of"](environment, component, profile).restarting_file

    def run(self) -> dict:
        self.job = self._own_job()
        before = self._noted()
        for number, instance in enumerate(before, 1):
            self._tell(f"instance {number} of {len(before)}: {_short(instance)}")
            # Not once for all: who lost the lock on the way restarts nothing more.
            self.profile.operation_lock.require(self.name, self.operation)
            now = self._ask("allocation", instance)
            is_running = __utils__["eos_instance.is_running"](now)
            if is_running and _runs_since(now, before[instance]) and not _is_restarting(now):
                self._ask("restart", instance, seconds=self._seconds_to_stop(now) + _SECONDS_TO_ANSWER)
            self._await_health(instance, before, number)
        # The file stays: a step that is killed before its record is written runs again, and finds all restarted.
        return {"restarted": before}

    def _own_job(self) -> dict:
        job = __utils__["eos_nomad.job"](self.nomad, self.namespace, self.component)
        if job is None or (job.get("Meta") or {}).get("eos_component") != self.component:
            hint = f"`eos drift` shows what differs, `eos reconcile {self.component}` corrects it"
            raise self.nomad.failure(f"job {self.component}", "Nomad has no such job of this component", hint)
        return job

    def _noted(self) -> dict[str, dict[str, str]]:
        """When the tasks of each running instance had started before this step restarted any."""
        noted = __utils__["eos_disk.read_json"](self.file, "operation", "step", "before")
        if noted and (noted["operation"], noted["step"]) == (self.operation, self.step):
            return noted["before"]
        running = filter(__utils__["eos_instance.is_running"], self._ask("allocations", self.component))
        started = __utils__["eos_instance.started"]
        before = {one["ID"]: started(one) for one in sorted(running, key=lambda one: one["Name"])}
        if not before:
            hint = f"`eos status {self.component}` says why"
            raise self.nomad.failure(f"job {self.component}", "Nothing of it runs", hint)
        __utils__["eos_disk.write_json"](self.file, {"operation": self.operation, "step": self.step, "before": before})
        return before

    def _await_health(self, instance: str, before: dict, number: int) -> None:
        """Until the instance, or the one that Nomad put in its place, runs again and passes its checks."""
        deadline, ends = self._seconds_to_be_healthy(instance), None
        while True:
            self.profile.keep_alive()
            now = self._ask("allocation", instance)
            if now is None:
                # Nomad forgets what ended long ago: the proof that follows counts what runs.
                return
            if now.get("NextAllocation") and not __utils__["eos_instance.is_running"](now):
                instance = now["NextAllocation"]
                continue
            why = self._why_not_healthy(now, before.get(instance))
            if why is None:
                return
            ends = ends or time.monotonic() + deadline
            if time.monotonic() > ends:
                words = f"Instance {_short(instance)} is not healthy {deadline} s after its restart: {why}"
                left = f"{number} of {len(before)} instances restarted"
                hint = f"`eos logs {self.component}` shows its output; `eos resume {self.operation}` continues"
                raise self.nomad.failure(f"job {self.component}", f"{words}; {left}", hint)
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def _why_not_healthy(self, now: dict, started_before: dict | None) -> str | None:
        if not __utils__["eos_instance.is_running"](now):
            return f"it is {now['ClientStatus']}"
        started = __utils__["eos_instance.started"](now)
        if not started:
            return "no task of it runs yet"
        for task, when in (started_before or {}).items():
            if started.get(task) in (None, when):
                return f"task {task} has not started again"
        given = (self.profile, self.nomad, self.namespace, now["ID"], self._group(now["TaskGroup"]))
        return __salt__["eos_health.why_not_passing"](*given, since=max(started.values()))

    def _seconds_to_be_healthy(self, instance: str) -> int:
        now = self._ask("allocation", instance)
        update = (self._group(now["TaskGroup"]).get("Update") if now else None) or {}
        return (update.get("HealthyDeadline") or _SECONDS_TO_BE_HEALTHY * _NANOSECONDS) // _NANOSECONDS

    def _seconds_to_stop(self, now: dict) -> int:
        return __utils__["eos_instance.seconds_to_stop"](self._group(now["TaskGroup"]))

    def _group(self, name: str) -> dict:
        return next(group for group in self.job["TaskGroups"] if group["Name"] == name)

    def _ask(self, function: str, what: str, **given: object) -> object:
        return __utils__[f"eos_nomad.{function}"](self.nomad, self.namespace, what, **given)

    def _tell(self, message: str) -> None:
        # Progress is a courtesy: event.send answers False when nobody can be told, and the step goes on.
        __salt__["event.send"](f"eos/{self.operation}/{self.step}", {"message": message})


def _runs_since(instance: dict, before: dict[str, str]) -> bool:
    """Whether a task of it runs since before. Another may have restarted by itself."""
    started = __utils__["eos_instance.started"](instance)
    return any(started.get(task) == when for task, when in before.items())


def _is_restarting(instance: dict) -> bool:
    """Whether Nomad was asked to restart it since it started: its tasks may still be about to end."""
    for task, started in __utils__["eos_instance.started"](instance).items():
        events = instance["TaskStates"][task].get("Events") or []
        asked = [event["Time"] for event in events if event["Type"] == "Restart Signaled"]
        if max(asked, default=0) // _NANOSECONDS > __utils__["eos_instance.second"](started):
            return True
    return False


def _short(instance: str) -> str:
    return instance[:8]
