"""Whether jobs run as Nomad has them: all instances of the newest version, each with its checks passing.

Nothing here may be called over the API; `eos_terraform`, `eos_orchestrator` and `eos_restart` call it. `nomad` is an
engine to be asked with a token that reads jobs.
"""

from __future__ import annotations

import logging
import time

_log = logging.getLogger(__name__)
# Terraform waits for a deployment to succeed. An instance that restarted since has so long for its checks.
_SECONDS = 60
_SECONDS_BETWEEN_LOOKS = 1.0


def unhealthy(workspaces: list[str], has_job: bool = False, seconds: int = _SECONDS) -> dict[str, str]:
    """Why jobs of these workspaces are not healthy, after so many seconds at most; those that are, are not in it.

    A workspace without a job is well, unless the caller says that it has one.
    """
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        ends, found = time.monotonic() + seconds, dict.fromkeys(workspaces, "")
        while True:
            found = {name: why for name in found if (why := _why_not_well(profile, name, has_job)) is not None}
            if not found or time.monotonic() > ends:
                return found
            profile.keep_alive()
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _why_not_well(profile: object, name: str, has_job: bool) -> str | None:
    workspace = __salt__["eos_workspace.of"](*name.split("/"), profile)
    jobs = workspace.jobs()
    if not jobs:
        return "Terraform registered no job for it" if has_job else None
    if not workspace.has_its_jobs():
        return "Nomad has no such job, or another than Terraform registered"
    nomad = profile.deploying(name)
    once = workspace.runs_once()
    reasons = (_why_not(profile, nomad, registered["namespace"], registered["id"], once) for registered in jobs)
    return next((why for why in reasons if why is not None), None)


def _why_not(profile: object, nomad: object, namespace: str, name: str, once: bool) -> str | None:
    job = __utils__["eos_nomad.job"](nomad, namespace, name)
    if job is None and once:
        # It ended, and Nomad has forgotten it since.
        return None
    if job is None or job["Stop"]:
        return "somebody stopped it"
    if job.get("Periodic") or job.get("ParameterizedJob"):
        # It is there to start others.
        return None
    instances = __utils__["eos_nomad.allocations"](nomad, namespace, name)
    # One of the version before may run on for a moment, and says nothing of this one.
    instances = [one for one in instances if one["JobVersion"] == job["Version"]]
    for group in job["TaskGroups"]:
        own = [one for one in instances if one["TaskGroup"] == group["Name"]]
        if why := _why_not_all(profile, nomad, job, group, own):
            return why
    return _why_not_deployed(nomad, namespace, job)


def why_not_passing(
    profile: object, nomad: object, namespace: str, instance: str, group: dict, since: str
) -> str | None:
    """Which service of an instance does not pass its checks; a check's word from before `since` counts for nothing."""
    for service in __utils__["eos_instance.services"](group):
        words = f"service {service['Name']} does not pass its check"
        if service.get("Provider") == "consul":
            found = __utils__["eos_consul.checks_of"](profile.consul(), service["Name"], instance)
            if not found or any(status != "passing" for status in found):
                return words
            continue
        checks = __utils__["eos_nomad.checks"](nomad, namespace, instance).values()
        own = [one for one in checks if one["Service"] == service["Name"]]
        # A check keeps its last word until it runs again.
        after = __utils__["eos_instance.second"](since)
        passing = [one for one in own if one["Status"] == "success" and one["Timestamp"] > after]
        if len(passing) < len(service["Checks"]):
            return words
    return None


def _why_not_deployed(nomad: object, namespace: str, job: dict) -> str | None:
    """A deployment of this version that failed or goes on; where nothing had to be placed anew, there is none."""
    latest = __utils__["eos_nomad.deployment"](nomad, namespace, job["ID"])
    same = latest and (latest["JobVersion"], latest["JobCreateIndex"]) == (job["Version"], job["CreateIndex"])
    if same and latest["Status"] != "successful":
        return f"its deployment is {latest['Status']}: {latest['StatusDescription']}"
    return None


def _why_not_all(profile: object, nomad: object, job: dict, group: dict, instances: list[dict]) -> str | None:
    if job["Type"] in ("batch", "sysbatch"):
        return _why_not_ended(group, instances)
    wanted = group["Count"]
    if job["Type"] == "system":
        # Nomad counts nothing: it places one on every host that can run it, and of each host the newest counts.
        placed = sorted((one for one in instances if one["DesiredStatus"] == "run"), key=_created)
        instances = list({one["NodeID"]: one for one in placed}.values())
        wanted = max(len(instances), min(wanted, 1))
    running = [one for one in instances if __utils__["eos_instance.is_running"](one)]
    if len(running) < wanted:
        return f"{len(running)} of {wanted} instances of {group['Name']} run"
    for one in running:
        since = max(__utils__["eos_instance.started"](one).values(), default=None)
        if since is None:
            return f"no task of instance {one['ID'][:8]} runs"
        if why := why_not_passing(profile, nomad, job["Namespace"], one["ID"], group, since):
            return f"instance {one['ID'][:8]}: {why}"
    return None


def _created(instance: dict) -> int:
    return instance["CreateIndex"]


def _why_not_ended(group: dict, instances: list[dict]) -> str | None:
    """A job that ends is well while it runs for the first time, and once it has come to a good end."""
    last = [one for one in instances if not one.get("NextAllocation")]
    again = {one.get("NextAllocation") for one in instances if one["ClientStatus"] == "failed"}
    tried = [one for one in last if one["ClientStatus"] in ("pending", "running") and one["ID"] not in again]
    done = list(filter(__utils__["eos_instance.ended_well"], last))
    if len(tried) + len(done) < group["Count"]:
        states = ", ".join(sorted(map(_state, last))) or "not placed"
        return f"{group['Name']} is {states}"
    return None


def _state(instance: dict) -> str:
    is_stopped = instance["ClientStatus"] == "complete" and not __utils__["eos_instance.ended_well"](instance)
    return "stopped before its end" if is_stopped else instance["ClientStatus"]
