"""What a step would do, as the engine says that would act: Salt's test run, Terraform's plan, Nomad's plan of the job.

Nothing here may be called over the API; the kinds call it. A preview changes nothing, takes no lock, and leaves
nothing behind: all that it writes is in a directory of its own below `<cachedir>`, which goes with it.
"""

from __future__ import annotations

import contextlib
import glob
import json
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator

import salt.state
import salt.utils.state
from salt.exceptions import CommandExecutionError

_log = logging.getLogger(__name__)
_SCRATCH = "eos-preview-"
_SECONDS_A_PREVIEW_LASTS = 3600
_IN_USE = ".in-use"
UNKNOWN = "(unknown)"
# Terraform and Nomad have to be given some number for a version that nobody knows yet; this one is nobody's.
_UNKNOWN_VERSION = 8181818181818181
_DECLARED = re.compile(r'^variable "([^"]+)" \{\s*type\s*=\s*([a-z]+)', re.MULTILINE)
_PLAIN = ("string", "number", "bool")
# Quotes, backslashes, control characters, and the beginning of a template.
_MORE_THAN_TEXT = re.compile(r'["\\\x00-\x1f\x7f-\x9f]|[$%](?=\{)')
_VOLUME = "nomad_dynamic_host_volume_registration"


def workspace(plan: str, environment: str, component: str, wanted: dict, unknown: list[str], who: dict) -> dict:
    """What applying this slice of a workspace would do."""
    version = _UNKNOWN_VERSION if "secret_version" in unknown and wanted["secrets"] else None

    def shown(profile: object, directory: str) -> dict | None:
        workspace = __salt__["eos_workspace.of"](environment, component, profile)
        configuration = workspace.configuration_of(wanted, version)
        if workspace.is_unchanged(configuration):
            return None
        contents = workspace.contents(wanted["files"], plan, os.path.join(directory, "fetched"))
        _refuse_strange(workspace.name, contents, who)
        run = __salt__["eos_terraform_run.preview"](workspace, directory)
        workspace.render(configuration, run.tree, contents)
        return run.shown(configuration)

    return _of_terraform(f"{environment}/{component}", shown, unknown)


def _refuse_strange(name: str, contents: dict[str, bytes], who: dict) -> None:
    """Any role may ask for a preview: Terraform must find nothing in it that reads this host for the caller.

    The provider of a cloud is a program of root's, and some of its types read files when they are planned. So it runs
    for a role that reaches the type.
    """
    try:
        table = __utils__["eos_providers.table"]()
        emitted = __utils__["eos_emitted.read"](name, contents, __utils__["eos_hcl.read"], table)
    except ValueError as error:
        if __salt__["eos_tiers.reads_all"]():
            return
        words = f"The Terraform files are none that Eos emits: {error}"
        raise __utils__["eos_failure.of"]("salt", name, words, "Compile again") from error
    for kind in emitted["own"]:
        tier, _ = __salt__["eos_tiers.of_resource"](kind)
        if not __salt__["eos_roles.covers"](who, tier):
            words = f"Terraform plans {kind} for a role that reaches {tier} risk, and this caller has another"
            raise __utils__["eos_failure.of"]("terraform", name, words, "An architect's `eos plan` shows it")


def removed_workspace(environment: str, component: str, named: dict) -> dict:
    """What destroying a workspace would do; `named` is what the plan's pillar names."""
    name = f"{environment}/{component}"
    if name in named:
        return {"terraform": None, "nomad": None, "error": still_named(name, "it")}

    def shown(profile: object, directory: str) -> dict | None:
        return applied(__salt__["eos_workspace.of"](environment, component, profile), directory, "-destroy")

    return _of_terraform(name, shown, [])


def states(plan: str, name: str, high: dict, pillar: dict) -> dict:
    """What Salt says it would do for the states of the thing of this name."""
    try:
        with scratch() as directory:
            return {"states": run_states(directory, plan, high, pillar), "error": None}
    except (CommandExecutionError, OSError, ValueError) as failure:
        return {"states": [], "error": __utils__["eos_failure.described"](failure, name)}


def gone(name: str, what: str, path: str) -> dict:
    """In the shape of a state's outcome, what a removal would do to a path."""
    there = os.path.lexists(path)
    changes = {path: {what: "removed"}} if there else {}
    comment = f"{path} would be removed" if there else f"{path} is gone already"
    return {"id": name, "name": path, "result": None if there else True, "changes": changes, "comment": comment}


def still_named(name: str, has: str) -> dict:
    """The failure of a removal of what the plan's pillar has."""
    words = f"The plan's pillar of minion {__opts__['id']} still has {has}"
    return {"layer": "salt", "object": name, "words": words, "hint": "Compile again"}


def run_states(directory: str, saltenv: str, high: dict, pillar: dict) -> list[dict]:
    """Salt's test run of these states with this pillar.

    Without `state.high`, which keeps the outcome in the minion's own cache.
    """
    options = salt.utils.state.get_sls_opts(__opts__, saltenv=saltenv, pillarenv=saltenv)
    options["test"], options["cachedir"] = True, directory
    answer = salt.state.State(options, context=dict(__context__), initial_pillar=pillar).call_high(high)
    if not isinstance(answer, dict) or not answer:
        raise CommandExecutionError("\n".join(map(str, answer)) or "Salt ran none of the states")
    ran = sorted(answer.values(), key=lambda state: state["__run_num__"])
    keys = ("name", "result", "changes", "comment")
    return [{"id": state["__id__"], **{key: state[key] for key in keys}} for state in ran]


def applied(workspace: object, directory: str, *options: str) -> dict | None:
    """Terraform's plan of the configuration that was applied last; None if there are no resources."""
    if not workspace.has_resources():
        return None
    source = workspace.applied_tree()
    configuration = workspace.applied_configuration(source)
    run = __salt__["eos_terraform_run.preview"](workspace, directory)
    shutil.copytree(source, run.tree)
    return run.shown(configuration, *options)


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A directory that nobody else has and that is gone afterwards; what a killed preview left goes, too.

    Its lock says that it is in use, whatever the clock does; its age leaves a new one alone that is not locked yet.
    """
    root = __opts__["cachedir"]
    for left in glob.glob(os.path.join(glob.escape(root), f"{_SCRATCH}*")):
        with contextlib.suppress(FileNotFoundError):
            old = time.time() - os.stat(left).st_mtime > _SECONDS_A_PREVIEW_LASTS
            if old and not __utils__["eos_disk.is_locked"](os.path.join(left, _IN_USE)):
                shutil.rmtree(left, ignore_errors=True)
    directory = tempfile.mkdtemp(prefix=_SCRATCH, dir=root)
    try:
        with __utils__["eos_disk.locked"](os.path.join(directory, _IN_USE)):
            yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _of_terraform(name: str, shown: Callable[[object, str], dict | None], unknown: list[str]) -> dict:
    answer: dict = {"terraform": None, "nomad": None, "error": None}
    profile = __salt__["eos_profile.of_this_minion"]()
    try:
        with __salt__["eos_profile.closing"](profile, _log.warning), scratch() as directory:
            profile.log_in()
            began = time.monotonic()
            plan = shown(profile, directory)
            answer["terraform"] = _terraform_part(plan, began)
            if plan is not None:
                answer["nomad"] = _nomad_part(profile, name, plan, unknown)
    except (CommandExecutionError, OSError, ValueError) as failure:
        answer["error"] = __utils__["eos_failure.described"](failure, name)
        answer["error"]["words"] = profile.without_tokens(answer["error"]["words"])
    return _with_unknown(answer)


def _terraform_part(plan: dict | None, began: float) -> dict:
    changes = (plan or {}).get("resource_changes", [])
    drift = (plan or {}).get("resource_drift", [])
    return {
        "resources": [_resource(change) for change in changes if change["change"]["actions"] != ["no-op"]],
        "drift": [_resource(change) for change in drift],
        "seconds": round(time.monotonic() - began, 3),
        "ran": plan is not None,
    }


def _resource(change: dict) -> dict:
    of = change["change"]
    return {
        "address": change["address"],
        "type": change["type"],
        "actions": of["actions"],
        "before": _without_sensitive(of.get("before"), of.get("before_sensitive")),
        "after": _without_sensitive(of.get("after"), of.get("after_sensitive")),
        "after_unknown": of.get("after_unknown") or {},
    }


def _without_sensitive(value: object, marks: object) -> object:
    """The value with "(sensitive)" where Terraform marks it so."""
    if marks is True:
        return "(sensitive)"
    if isinstance(value, dict) and isinstance(marks, dict):
        return {key: _without_sensitive(part, marks.get(key)) for key, part in value.items()}
    if isinstance(value, list) and isinstance(marks, list):
        padded = [*marks, *[None] * (len(value) - len(marks))]
        return [_without_sensitive(part, mark) for part, mark in zip(value, padded, strict=False)]
    return value


def _nomad_part(profile: object, name: str, plan: dict, unknown: list[str]) -> dict | None:
    """What Nomad says of the workspace's job, if Terraform would touch it."""
    # Terraform leaves it out where nothing changes, such as when all that was to be destroyed is gone.
    changes = plan.get("resource_changes", [])
    jobs = [change for change in changes if change["type"] == "nomad_job"]
    touched = [change["change"] for change in jobs if change["change"]["actions"] not in (["no-op"], ["read"])]
    if not touched:
        return None
    began = time.monotonic()
    given = profile.environment(name, management=False)
    nomad = __salt__["eos_profile.engine"]("nomad", given["NOMAD_TOKEN"])
    if touched[0]["after"] is None:
        answer = _stopped_job(nomad, touched[0]["before"])
    else:
        answer = _planned_job(nomad, touched[0]["after"], changes, unknown)
    return answer and {**answer, "seconds": round(time.monotonic() - began, 3)}


def _stopped_job(nomad: object, before: dict) -> dict | None:
    job = __utils__["eos_nomad.job"](nomad, before["namespace"], before["id"])
    if job is None or job["Stop"]:
        return None
    said = __utils__["eos_nomad.plan_job"](nomad, {**job, "Stop": True})
    return said and _said(job, said, job["Namespace"], [])


def _planned_job(nomad: object, after: dict, changes: list[dict], unknown: list[str]) -> dict:
    job = __utils__["eos_nomad.parse_job"](nomad, after["jobspec"], _variables(after))
    asked = job
    said = __utils__["eos_nomad.plan_job"](nomad, asked)
    if said is None and "namespace" in unknown:
        # The platform makes it before the job: no job is there yet, and elsewhere none may be called like this one.
        asked = {**job, "Namespace": "default", "ID": f"{job['ID']}-{os.urandom(8).hex()}"}
        said = __utils__["eos_nomad.plan_job"](nomad, asked, job["ID"])
    if said is None:
        raise nomad.failure(f"job {job['ID']}", f"Namespace {job['Namespace']} does not exist", "Compile again")
    if asked is not job:
        said["Diff"] = _renamed(said["Diff"], asked, job)
    said["Annotations"] = __utils__["eos_nomad.plan_job"](nomad, _all_at_once(asked)).get("Annotations")
    placed, without = _without_new_volumes(asked, changes)
    if without and said.get("FailedTGAllocs"):
        said["FailedTGAllocs"] = __utils__["eos_nomad.plan_job"](nomad, placed).get("FailedTGAllocs")
    return _said(job, said, asked["Namespace"], without)


def _said(job: dict, said: dict, asked_in: str, without: list[str]) -> dict:
    failed = said.get("FailedTGAllocs") or {}
    return {
        "job": job["ID"],
        "namespace": job["Namespace"],
        "diff": said["Diff"],
        "annotations": said.get("Annotations") or {},
        "failed": {group: {"words": _why_not_placed(metric, group, job)} for group, metric in failed.items()},
        "warnings": said.get("Warnings") or "",
        "without": without,
        "asked_in": asked_in,
        "modify_index": said.get("JobModifyIndex", 0),
        "spec": job,
    }


def _variables(after: dict) -> str:
    """The file of variables that Terraform's provider gives Nomad with the job."""
    blocks = after.get("hcl2") or [{}]
    declared = dict(_DECLARED.findall(after["jobspec"]))
    lines = []
    for name, value in (blocks[0].get("vars") or {}).items():
        text = value if declared.get(name, "string") not in _PLAIN else _hcl_string(value)
        lines.append(f"{name} = {text}\n")
    return "".join(lines)


def _hcl_string(value: str) -> str:
    """Whatever HCL would read as more than text is written as a code point; JSON's surrogates are none of HCL's."""
    text = _MORE_THAN_TEXT.sub(lambda match: f"\\u{ord(match[0]):04x}", value)
    return f'"{text}"'


def _all_at_once(job: dict) -> dict:
    """The job as it is without a pace: of a rolling update Nomad would foretell the first instances only.

    What runs to its end is never updated, and Nomad refuses a pace for it.
    """
    job = json.loads(json.dumps(job))
    for part in (job, *job["TaskGroups"]):
        if part.get("Update"):
            part["Update"] = {**part["Update"], "MaxParallel": 0}
    return job


def _without_new_volumes(job: dict, changes: list[dict]) -> tuple[dict, list[str]]:
    """The job as it can be placed before its new volumes are registered: without them, on the hosts they will be on."""
    registered: dict[str, set[str]] = {}
    new = set()
    for change in changes:
        after = change["change"]["after"]
        if change["type"] == _VOLUME and after is not None:
            registered.setdefault(after["name"], set()).add(after["node_id"])
            if "create" in change["change"]["actions"]:
                new.add(after["name"])
    job, without = json.loads(json.dumps(job)), set()
    for group in job["TaskGroups"]:
        volumes = group.get("Volumes") or {}
        for name in [name for name, asked in volumes.items() if asked["Type"] == "host" and asked["Source"] in new]:
            source = volumes.pop(name)["Source"]
            without.add(source)
            hosts = ",".join(sorted(registered[source]))
            pinned = {"LTarget": "${node.unique.id}", "Operand": "set_contains_any", "RTarget": hosts}
            group["Constraints"] = [*(group.get("Constraints") or []), pinned]
            for task in group["Tasks"]:
                mounts = task.get("VolumeMounts") or []
                task["VolumeMounts"] = [mount for mount in mounts if mount["Volume"] != name]
    return job, sorted(without)


def _renamed(value: object, asked: dict, job: dict) -> object:
    """Nomad's diff with the job's own id and namespace in place of those that it was asked about."""
    if isinstance(value, dict):
        if value.get("Name") == "Namespace" and value.get("New") == asked["Namespace"]:
            return {**value, "New": job["Namespace"]}
        return {key: _renamed(part, asked, job) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, asked, job) for part in value]
    return value.replace(asked["ID"], job["ID"]) if isinstance(value, str) else value


def _why_not_placed(metric: dict, group: str, job: dict) -> list[str]:
    """Why Nomad found no place for a group, a sentence each."""
    words = []
    for constraint, nodes in (metric.get("ConstraintFiltered") or {}).items():
        asked = ""
        if constraint == "missing drivers":
            tasks = next(found["Tasks"] for found in job["TaskGroups"] if found["Name"] == group)
            asked = f" (asked for: {', '.join(sorted({task['Driver'] for task in tasks}))})"
        words.append(f"{constraint}{asked} on {_nodes(nodes)}")
    for dimension, nodes in (metric.get("DimensionExhausted") or {}).items():
        words.append(f"not enough {dimension} on {_nodes(nodes)}")
    words += [f"quota used up: {quota}" for quota in metric.get("QuotaExhausted") or []]
    if not words:
        evaluated = metric.get("NodesEvaluated", 0)
        nobody = "no ready node in the job's datacenters and node pool"
        words.append(f"none of {_nodes(evaluated)} fits" if evaluated else nobody)
    return words


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"


def _with_unknown(value: object) -> object:
    """The answer with "(unknown)" where it has the number that stood for a version nobody knows."""
    if isinstance(value, dict):
        return {key: _with_unknown(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_unknown(part) for part in value]
    if isinstance(value, str):
        return value.replace(str(_UNKNOWN_VERSION), UNKNOWN)
    return UNKNOWN if value == _UNKNOWN_VERSION else value
