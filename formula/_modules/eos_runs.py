"""Runs of a component's job that has a schedule: starting one now, and ending those that go on.

Nothing here may be called over the API; the kind of workspaces calls it, under the lock of the workspace. Nomad makes a
job of its own of each run. Before a run is started, a file beside the workspace notes which there were, so that a step
that was killed and runs again finds the run that it started.
"""

from __future__ import annotations

import logging
import time

_log = logging.getLogger(__name__)
_SECONDS_BETWEEN_LOOKS = 0.5
# For Nomad itself to notice that the last task has ended, or that its host is lost.
_SECONDS_TO_NOTICE = 60


def start(environment: str, component: str, operation: str, step: str) -> dict:
    """Starts a run beside the schedule, unless this step has started it before. Answers {"run": its job in Nomad}."""
    name = f"{environment}/{component}"
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        nomad = profile.deploying(name)
        job = _own_job(nomad, environment, component)
        path = __salt__["eos_workspace.of"](environment, component, profile).running_file
        noted = __utils__["eos_disk.read_json"](path, "operation", "step", "before", "run")
        if not noted or (noted["operation"], noted["step"]) != (operation, step):
            going_on = profile.runs(environment, component)
            if going_on and job["Periodic"]["ProhibitOverlap"]:
                hint = f"`eos status` shows when it has ended; `eos logs {component}` shows what it does"
                raise nomad.failure(f"job {component}", f"Run {going_on[0]} goes on, and runs may not overlap", hint)
            before = profile.known_runs(environment, component)
            noted = {"operation": operation, "step": step, "before": before, "run": None}
            __utils__["eos_disk.write_json"](path, noted)
        elif noted["run"] is None:
            # Killed after Nomad had begun it, and before its name was noted. It may have ended since.
            begun = sorted(set(profile.known_runs(environment, component)) - set(noted["before"]))
            noted["run"] = begun[-1] if begun else None
        if noted["run"] is None:
            profile.operation_lock.require(name, operation)
            noted["run"] = __utils__["eos_nomad.start_run"](nomad, environment, component)
        __utils__["eos_disk.write_json"](path, noted)
        return {"run": noted["run"]}


def end(profile: object, environment: str, component: str) -> None:
    """Ends the runs that go on: one outlives the job that it is a run of."""
    if runs := profile.runs(environment, component):
        remove(profile, profile.deploying(f"{environment}/{component}"), environment, runs)


def remove(profile: object, nomad: object, namespace: str, jobs: list[str]) -> None:
    """Stops jobs, waits until nothing of them runs, and has Nomad forget them."""
    stop(profile, nomad, namespace, jobs)
    for job in jobs:
        __utils__["eos_nomad.purge_job"](nomad, namespace, job)


def stop(profile: object, nomad: object, namespace: str, jobs: list[str]) -> None:
    """Stops jobs, and waits until nothing of them runs. Of what Nomad has forgotten, nobody sees that it runs on."""
    ends = {}
    for job in jobs:
        found = __utils__["eos_nomad.job"](nomad, namespace, job)
        if found is not None:
            __utils__["eos_nomad.stop_job"](nomad, namespace, job)
            spans = [__utils__["eos_instance.seconds_to_stop"](group) for group in found["TaskGroups"]]
            ends[job] = time.monotonic() + max(spans) + _SECONDS_TO_NOTICE
    while ends:
        profile.keep_alive()
        for job, end in list(ends.items()):
            instances = __utils__["eos_nomad.allocations"](nomad, namespace, job)
            left = [one["ID"][:8] for one in instances if not __utils__["eos_instance.is_over"](one)]
            if not left:
                del ends[job]
            elif time.monotonic() > end:
                words = f"Nomad was asked to stop it, and it still runs: {', '.join(left)}"
                hint = "Look at the host that it runs on, then run the step again"
                raise nomad.failure(f"job {job}", words, hint)
        if ends:
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def end_resting(environment: str, component: str) -> None:
    """Ends the runs of a job whose schedule was stopped."""
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        end(profile, environment, component)


def _own_job(nomad: object, environment: str, component: str) -> dict:
    job = __utils__["eos_nomad.job"](nomad, environment, component)
    if job is None or (job.get("Meta") or {}).get("eos_component") != component:
        hint = f"`eos drift` shows what differs, `eos reconcile {component}` corrects it"
        raise nomad.failure(f"job {component}", "Nomad has no such job of this component", hint)
    if not (job.get("Periodic") or {}).get("Enabled"):
        raise nomad.failure(f"job {component}", "Nomad starts it at no set times", f"`eos read {component}` shows it")
    return job
