"""Nomad's HTTP API as far as the control minion needs it: tokens, node ids, secrets, jobs and their instances."""

from __future__ import annotations

import urllib.parse

_TOKEN_LIFETIME = "30m"
_SESSION_LIFETIME = "10m"
_FIX = "Fix the fault that Nomad names in the recipe"
_MAY_PLAN = "Does Nomad's policy eos-deploy let the run's token do so?"


def mint_token(nomad: object, name: str, management: bool) -> dict:
    """A token for one run, {"AccessorID", "SecretID"}; it dies by itself if nobody is left to revoke it."""
    rights = {"Type": "management"} if management else {"Type": "client", "Policies": ["eos-deploy"]}
    return _minted(nomad, {"Name": name, "ExpirationTTL": _TOKEN_LIFETIME, **rights})


def mint_session_token(nomad: object, name: str) -> dict:
    """The same for one session in a task."""
    rights = {"Type": "client", "Policies": ["eos-session"]}
    return _minted(nomad, {"Name": name, "ExpirationTTL": _SESSION_LIFETIME, **rights})


def _minted(nomad: object, wanted: dict) -> dict:
    status, answer = nomad.ask("POST", "/v1/acl/token", wanted)
    if status != 200:
        policies = " and ".join(wanted.get("Policies", ["eos-deploy"]))
        hint = f"Is the root credential a management token, and the policy {policies} installed?"
        raise nomad.failure(f"token {wanted['Name']}", f"{status}: {answer}", hint)
    return {key: answer[key] for key in ("AccessorID", "SecretID")}


def revoke_token(nomad: object, accessor: str) -> None:
    """Ends a token; one that is gone already is no failure."""
    status, answer = nomad.ask("DELETE", f"/v1/acl/token/{accessor}")
    if status not in (200, 404):
        words = f"Token {accessor} could not be revoked: {status}: {answer}"
        hint = f"It expires {_TOKEN_LIFETIME} after it was made; nomad acl token delete ends it now"
        raise nomad.failure(f"token {accessor}", words, hint)


def node_ids(nomad: object, hosts: list[str]) -> dict[str, str]:
    """The id of the one ready node of each name."""
    status, nodes = nomad.ask("GET", "/v1/nodes")
    if status != 200:
        raise nomad.failure("nodes", f"{status}: {nodes}", "Is the root credential valid, and may it read nodes?")
    found: dict[str, list[str]] = {host: [] for host in hosts}
    for node in nodes:
        if node["Status"] == "ready" and node["Name"] in found:
            found[node["Name"]].append(node["ID"])
    for host, ids in found.items():
        if len(ids) != 1:
            words = f"Nomad knows {len(ids)} ready nodes named {host}"
            hint = "A Nomad node's name is the id of its Salt minion; nomad node status lists the nodes"
            raise nomad.refusal(f"node {host}", words, hint)
    return {host: ids[0] for host, ids in found.items()}


def secret_version(nomad: object, secret: dict) -> int:
    """The index of the last write, which is all the version that a variable has.

    Fails with the names of the items that have no value; the values themselves are not kept.
    """
    namespace, path = secret["namespace"], secret["path"]
    variable = read_variable(nomad, namespace, path)
    missing = [item for item in secret["items"] if variable is None or item not in variable["items"]]
    if variable is None or missing:
        words = f"Secret {path} in namespace {namespace} is missing"
        words += f": it needs {', '.join(missing)}" if variable is None else f" {', '.join(missing)}"
        hint = f"nomad var put -namespace {namespace} {path} <item>=<value>"
        raise nomad.failure(f"variable {path}", words, hint)
    return variable["revision"]


def read_variable(nomad: object, namespace: str, path: str) -> dict | None:
    """{"items", "revision"} of a variable, or None."""
    status, variable = nomad.ask("GET", _variable(namespace, path))
    if status == 404:
        return None
    _require_success(nomad, path, status)
    return {"items": variable["Items"], "revision": variable["ModifyIndex"]}


def write_variable(nomad: object, namespace: str, path: str, items: dict[str, str], revision: int) -> None:
    """Writes a variable whole, if it is still the one of that revision (0: if there is none)."""
    body = {"Namespace": namespace, "Path": path, "Items": items}
    status, _ = nomad.ask("PUT", f"{_variable(namespace, path)}&cas={revision}", body)
    _require_success(nomad, path, status)


def remove_variable(nomad: object, namespace: str, path: str) -> None:
    """Removes a variable; one that is gone already is no failure."""
    status, _ = nomad.ask("DELETE", _variable(namespace, path))
    if status != 404:
        _require_success(nomad, path, status)


def variables_below(nomad: object, namespace: str, prefix: str) -> list[str]:
    """The paths of all variables that begin so."""
    status, found = nomad.ask("GET", f"/v1/vars?namespace={_quoted(namespace)}&prefix={_quoted(prefix)}")
    _require_success(nomad, prefix, status)
    return [variable["Path"] for variable in found or []]


def _variable(namespace: str, path: str) -> str:
    return f"/v1/var/{urllib.parse.quote(path)}?namespace={_quoted(namespace)}"


def _require_success(nomad: object, path: str, status: int) -> None:
    """The answer itself is left out: it could hold values."""
    if status == 409:
        raise nomad.failure(f"variable {path}", "Others changed it meanwhile", "Run the step again")
    if status not in (200, 204):
        raise nomad.failure(f"variable {path}", f"Nomad answered {status}", "Is the root credential valid?")


def job(nomad: object, namespace: str, name: str) -> dict | None:
    """The job as Nomad has it, or None."""
    return _found(nomad, f"/v1/job/{_quoted(name)}?namespace={_quoted(namespace)}", f"job {name}")


def registered(nomad: object, namespace: str, service: str) -> list[tuple[str, int]]:
    """(address, port) of every instance of a service that Nomad has in its catalogue."""
    where = f"/v1/service/{_quoted(service)}?namespace={_quoted(namespace)}"
    return [(one["Address"], one["Port"]) for one in _found(nomad, where, f"service {service}") or []]


def runs(nomad: object, namespace: str, name: str) -> list[str]:
    """The runs of a job with a schedule that have not ended; each is a job by itself, and outlives its job."""
    return [run["ID"] for run in all_runs(nomad, namespace, name) if run["Status"] != "dead" or _has_running(run)]


def all_runs(nomad: object, namespace: str, name: str) -> list[dict]:
    """The same with those that ended, while Nomad knows them."""
    where = f"/v1/jobs?namespace={_quoted(namespace)}&prefix={_quoted(name)}%2F"
    found = _found(nomad, where, f"runs of job {name}") or []
    return [run for run in found if run["ParentID"] == name]


def _has_running(listed: dict) -> bool:
    """Nomad calls a job dead that was told to stop, while its tasks are still ending."""
    groups = ((listed.get("JobSummary") or {}).get("Summary") or {}).values()
    return any(group["Running"] + group["Starting"] > 0 for group in groups)


def start_run(nomad: object, namespace: str, name: str) -> str:
    """Starts a run of a job with a schedule now; answers the job that the run is."""
    where = f"/v1/job/{_quoted(name)}/periodic/force?namespace={_quoted(namespace)}"
    status, answer = nomad.ask("PUT", where, {})
    if status != 200:
        raise nomad.failure(f"job {name}", f"{status}: {answer}", _MAY_PLAN)
    where = f"/v1/evaluation/{answer['EvalID']}?namespace={_quoted(namespace)}"
    evaluation = _found(nomad, where, f"run of job {name}")
    if evaluation is None:
        raise nomad.failure(f"job {name}", "Nomad does not know the run that it started", "Run the step again")
    return evaluation["JobID"]


def stop_job(nomad: object, namespace: str, name: str) -> None:
    """Ends the job, which Nomad remembers; one that is gone already is no failure."""
    _deregister(nomad, namespace, name, purge=False)


def purge_job(nomad: object, namespace: str, name: str) -> None:
    """Nomad forgets the job at once, also where its tasks are still ending; one that is gone already is no failure."""
    _deregister(nomad, namespace, name, purge=True)


def _deregister(nomad: object, namespace: str, name: str, purge: bool) -> None:
    where = f"/v1/job/{_quoted(name)}?namespace={_quoted(namespace)}&purge={str(purge).lower()}"
    status, answer = nomad.ask("DELETE", where)
    if status not in (200, 404):
        raise nomad.failure(f"job {name}", f"{status}: {answer}", _MAY_PLAN)


def allocations(nomad: object, namespace: str, job: str) -> list[dict]:
    """The instances of a job, each with the states of its tasks."""
    return _found(nomad, f"/v1/job/{_quoted(job)}/allocations?namespace={_quoted(namespace)}", f"job {job}") or []


def deployment(nomad: object, namespace: str, job: str) -> dict | None:
    """The latest of a job, or None."""
    return _found(nomad, f"/v1/job/{_quoted(job)}/deployment?namespace={_quoted(namespace)}", f"job {job}")


def allocation(nomad: object, namespace: str, instance: str) -> dict | None:
    return _found(nomad, f"/v1/allocation/{_quoted(instance)}?namespace={_quoted(namespace)}", f"instance {instance}")


def checks(nomad: object, namespace: str, instance: str) -> dict[str, dict]:
    """What the checks of an instance last said, as the client that runs it knows; nothing if it runs no more."""
    where = f"/v1/client/allocation/{_quoted(instance)}/checks?namespace={_quoted(namespace)}"
    return _found(nomad, where, f"instance {instance}") or {}


def restart(nomad: object, namespace: str, instance: str, seconds: int) -> None:
    """Restarts all tasks that run in an instance; returns once they have ended."""
    where = f"/v1/client/allocation/{_quoted(instance)}/restart?namespace={_quoted(namespace)}"
    status, answer = nomad.ask("POST", where, {}, seconds)
    if status != 200:
        raise nomad.failure(f"instance {instance}", f"{status}: {answer}", _MAY_PLAN)


def host_volumes(nomad: object, namespace: str, name: str) -> list[dict]:
    """The host volumes of this name, whole, one for each node that has one."""
    where, what = f"namespace={_quoted(namespace)}", f"volume {name}"
    stubs = _found(nomad, f"/v1/volumes?type=host&{where}", what) or []
    paths = [f"/v1/volume/host/{_quoted(stub['ID'])}?{where}" for stub in stubs if stub["Name"] == name]
    return [volume for path in paths if (volume := _found(nomad, path, what)) is not None]


def namespace(nomad: object, name: str) -> dict | None:
    return _found(nomad, f"/v1/namespace/{_quoted(name)}", f"namespace {name}")


def parse_job(nomad: object, text: str, variables: str) -> dict:
    """The job that this text is with this file of variables, with all that Nomad fills in."""
    body = {"JobHCL": text, "Variables": variables, "Canonicalize": True}
    status, answer = nomad.ask("POST", "/v1/jobs/parse", body)
    if status == 400:
        raise nomad.refusal("jobspec", answer, _FIX)
    if status != 200:
        raise nomad.failure("jobspec", f"{status}: {answer}", _FIX)
    return answer


def plan_job(nomad: object, job: dict, called: str | None = None) -> dict | None:
    """What registering this job would do; changes nothing. None if its namespace is not there.

    A failure has the name by which a person calls the job.
    """
    where = f"/v1/job/{_quoted(job['ID'])}/plan?namespace={_quoted(job['Namespace'])}"
    status, answer = nomad.ask("POST", where, {"Job": job, "Diff": True})
    if status != 200 and "nonexistent namespace" in str(answer):
        return None
    if status != 200:
        called = called or job["ID"]
        if wrong := _validation_errors(nomad, job):
            raise nomad.refusal(f"job {called}", "\n".join(wrong).replace(job["ID"], called), _FIX)
        raise nomad.failure(f"job {called}", f"{status}: {answer}", _MAY_PLAN)
    return answer


def _validation_errors(nomad: object, job: dict) -> list[str]:
    """What Nomad's validator has against a job: its plan says no more than that it failed."""
    where = f"/v1/validate/job?namespace={_quoted(job['Namespace'])}"
    status, answer = nomad.ask("POST", where, {"Job": job})
    return [error.strip() for error in answer["ValidationErrors"] or []] if status == 200 else []


def _found(nomad: object, path: str, name: str) -> object:
    """What Nomad has there, or None."""
    status, answer = nomad.ask("GET", path)
    if status == 404:
        return None
    if status != 200:
        raise nomad.failure(name, f"{status}: {answer}", _MAY_PLAN)
    return answer


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")
