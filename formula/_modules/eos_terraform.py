"""Terraform workspaces on the control minion: apply, destroy, read back, take back.

Nothing here may be called over the API; `eos` and the state `eos_terraform` call it, and root by hand, as
formula/README.md says under "Without Eos". It reads the slice of the
workspace from `__pillar__`, which is fresh inside a state run. A workspace's files are `eos_workspace`'s, Terraform's
process is `eos_terraform_run`'s, where its Terraform state lies is `eos_backend`'s, and what differs between the
profiles is `eos_profile`'s.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
from collections.abc import Callable, Iterator

from salt.exceptions import CommandExecutionError, SaltInvocationError

_log = logging.getLogger(__name__)
# Nomad's own words of a volume whose registration is there already.
_EXISTS = "already exists"
_COUNTED_AS = {"create": "added", "update": "changed", "delete": "destroyed"}
# Minutes: as long as a session of Consul's may last.
_LONGEST_LOCK = 24 * 60
_FAILED = 2


def ensure_infrastructure(
    environment: str,
    component: str,
    operation: str,
    step: str,
    wanted: dict | None = None,
    contents: dict[str, bytes] | None = None,
    held: bool = False,
) -> dict:
    """Makes the workspace what its slice says; a workspace that is so already costs no Terraform run.

    `wanted` is the slice where the caller has looked at it already, and `contents` its files: it is these that are
    applied, and no later ones. `held` says that the caller holds the workspace's lock.
    """
    return _answer(
        environment,
        component,
        operation,
        step,
        lambda run, report: _ensure(run, report, wanted or run.workspace.slice(), contents),
        held,
        wanted,
    )


def apply(environment: str, component: str, operation: str, step: str) -> dict:
    """Applies the slice of the workspace, changed or not."""
    return _answer(environment, component, operation, step, _apply_slice)


def plan(environment: str, component: str, operation: str, step: str) -> dict:
    """Counts what `apply` would add, change and destroy; changes nothing and takes no lock on the Terraform state."""
    return _answer(environment, component, operation, step, _plan_slice)


def deploy_nomad_service(environment: str, component: str, operation: str, step: str) -> dict:
    """Has Terraform register the component's job as its slice says; fails unless Nomad then has all of it healthy."""
    answer, name = ensure_infrastructure(environment, component, operation, step), f"{environment}/{component}"
    if answer["result"] and (why := __salt__["eos_health.unhealthy"]([name], has_job=True).get(name)):
        hint = f"`nomad job status -namespace {environment} {component}` shows its instances"
        error = {"layer": "nomad", "object": f"job {component}", "words": why, "hint": hint}
        answer |= {"result": False, "error": error}
    return _with_retcode(answer)


def rollback_to_snapshot(environment: str, component: str, snapshot: str | int, operation: str, step: str) -> dict:
    """Applies a configuration of before again (`snapshots` names them), with the secrets and hosts of now.

    The pillar stays: the next step of the workspace applies that again.
    """
    # Salt takes the name of one for a number.
    name = f"{snapshot:06}" if isinstance(snapshot, int) else snapshot
    work = functools.partial(_apply_snapshot, snapshot=name)
    return _with_retcode(_answer(environment, component, operation, step, work))


def snapshots(environment: str, component: str) -> dict[str, str]:
    """The configurations of before that are kept, newest first: {snapshot: digest}."""
    profile = __salt__["eos_profile.of_this_minion"]()
    return __salt__["eos_workspace.of"](environment, component, profile).snapshots_kept()


def detect_drift(environment: str, component: str) -> dict:
    """What Terraform would change of the workspace as it was last applied; changes nothing.

    Answers {"verdict": "in step" or "differs", "resources": [{"address", "actions"}], "words"}.
    """
    name = f"{environment}/{component}"
    found = __salt__["eos_sync.verdict"](name)
    if found is None:
        raise CommandExecutionError(f"Workspace {name} was never applied, or an operation holds it")
    if found["verdict"] == "failed":
        raise CommandExecutionError(f"Workspace {name}: {found['words']}")
    return found


def inject_credentials(environment: str, component: str) -> list[str]:
    """Gets what Terraform is given for this workspace, reads its state with it, and gives it back.

    So a credential that is missing or refused shows before a run. Answers the names of the variables, and no value.
    """
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        workspace = __salt__["eos_workspace.of"](environment, component, profile)
        wanted = workspace.slice()
        providers = _providers(workspace.contents(wanted["files"]))
        given = __salt__["eos_terraform_run.of"](workspace, "by-hand", "inject").credentials(wanted, providers)
        workspace.read_state()
    return sorted(given)


def acquire_lock(environment: str, component: str, operation: str, minutes: int = 60) -> dict:
    """Keeps every other operation out of the workspace, until `release_lock` or for so many minutes.

    Waits for a call that is at work in it. Answers {"operation", "who", "since"}.
    """
    if type(minutes) is not int or not 0 < minutes <= _LONGEST_LOCK:
        raise SaltInvocationError(f"minutes is not a number from 1 to {_LONGEST_LOCK}")
    with _operation_lock(environment, component, operation) as held, lock(environment, component):
        return held.acquire(f"{environment}/{component}", operation, minutes)


def release_lock(environment: str, component: str, operation: str) -> bool:
    """Ends what `acquire_lock` of the same operation took; fails if that holds no lock."""
    with _operation_lock(environment, component, operation) as held:
        held.release(f"{environment}/{component}", operation)
        return True


@contextlib.contextmanager
def _operation_lock(environment: str, component: str, operation: str) -> Iterator[object]:
    __utils__["eos_argument.check"]("component", f"{environment}/{component}", "component")
    __utils__["eos_argument.check"]("operation", operation, "id")
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        yield profile.operation_lock


def destroy(environment: str, component: str, operation: str, step: str, held: bool = False) -> dict:
    """Destroys all the workspace holds, by the configuration it was last given, then removes the workspace."""
    return _answer(environment, component, operation, step, _destroy, held)


def lock(environment: str, component: str) -> contextlib.AbstractContextManager:
    """Whoever changes a workspace holds it, from the first look at what there is."""
    return __utils__["eos_disk.locked"](__salt__["eos_workspace.lock_path"](environment, component))


def get_terraform_output(environment: str, component: str, name: str) -> object:
    """The value of one output in the Terraform state; one marked sensitive is not given."""
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        outputs = __salt__["eos_workspace.of"](environment, component, profile).read_state()["outputs"]
    if name not in outputs:
        raise CommandExecutionError(f"Workspace {environment}/{component} has no output {name} that may be shown")
    return outputs[name]


def missing_secrets(slices: list[dict]) -> list[str]:
    """What is missing of the secrets that these slices need, a sentence each."""
    profile, missing = __salt__["eos_profile.of_this_minion"](), []
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        for wanted in slices:
            try:
                profile.secret_version(wanted["secrets"])
            except CommandExecutionError as failure:
                missing.append(__utils__["eos_failure.described"](failure, "secrets")["words"])
    return missing


def secrets_in_nomad(environment: str) -> list[str]:
    """The paths of secrets in the namespace of an environment, if Nomad has secrets in this profile."""
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        return profile.secrets_in_nomad(environment)


def contents(environment: str, component: str, files: dict[str, str]) -> dict[str, bytes]:
    """The files of a slice, as they are served now; one that is not what its digest says is refused."""
    profile = __salt__["eos_profile.of_this_minion"]()
    return __salt__["eos_workspace.of"](environment, component, profile).contents(files)


def recorded_risks(environment: str, component: str) -> list[tuple]:
    """(tier, why) of what the workspace was last given; none if that is not known."""
    profile = __salt__["eos_profile.of_this_minion"]()
    return __salt__["eos_workspace.of"](environment, component, profile).risks()


def observe(workspaces: list[str]) -> dict[str, dict | None]:
    """What each workspace is, read from its Terraform state, or None if there is no such workspace.

    `digest` and `secret_version` are null if the Terraform state has moved since they were recorded for it.
    """
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        return {name: _observed(__salt__["eos_workspace.of"](*name.split("/"), profile)) for name in workspaces}


def _observed(workspace: object) -> dict | None:
    """A damaged Terraform state is a fault of this workspace, as `error`, and hides no other."""
    try:
        return workspace.observe()
    except CommandExecutionError as failure:
        if not __utils__["eos_failure.is_of"](failure, "terraform"):
            raise
        unknown = {"serial": None, "lineage": None, "resources": [], "outputs": {}}
        error = __utils__["eos_failure.described"](failure, workspace.name)
        return {"digest": None, "secret_version": None, **unknown, "error": error}


def sync_states() -> dict:
    """For Salt's schedule: compares every workspace with reality, and changes nothing; see `eos_sync`."""
    return __salt__["eos_sync.sync_states"]()


def _answer(
    environment: str,
    component: str,
    operation: str,
    step: str,
    work: Callable[[object, dict], None],
    held: bool = False,
    wanted: dict | None = None,
) -> dict:
    """Does the work under the lock of the workspace, and answers {"result", "error", "stopped", "terraform"}."""
    report = _report()
    try:
        profile = __salt__["eos_profile.of_this_minion"]()
        workspace = __salt__["eos_workspace.of"](environment, component, profile, wanted)
        with contextlib.nullcontext() if held else lock(environment, component):
            return _guarded(__salt__["eos_terraform_run.of"](workspace, operation, step), report, work)
    except CommandExecutionError as failure:
        error = __utils__["eos_failure.described"](failure, f"{environment}/{component}")
        return {"result": False, "error": error, "stopped": False, "terraform": report}


def _guarded(run: object, report: dict, work: Callable[[object, dict], None]) -> dict:
    error, name = None, run.workspace.name
    with run.stoppable():
        try:
            with __salt__["eos_profile.closing"](run.profile, lambda words: run.tell(f"{name}: {words}")):
                run.profile.log_in()
                work(run, report)
        except CommandExecutionError as failure:
            error = __utils__["eos_failure.described"](failure, name)
            error["words"] = run.profile.without_tokens(error["words"])
    return {"result": error is None, "error": error, "stopped": run.stopped, "terraform": report}


def _ensure(run: object, report: dict, wanted: dict, contents: dict[str, bytes] | None) -> None:
    workspace = run.workspace
    configuration = workspace.configuration_of(wanted)
    _mend(run)
    __salt__["eos_state_move.settle"](run, workspace.wanted_place())
    if workspace.is_unchanged(configuration):
        when = workspace.applied()["when"]
        run.tell(f"{workspace.name}: unchanged since {when}, Terraform is not run")
        report |= _read_back(workspace)
        _follow_service(run, report, configuration)
        return
    _converge(run, report, configuration, contents)


def _apply_slice(run: object, report: dict) -> None:
    configuration = run.workspace.configuration_of(run.workspace.slice())
    _mend(run)
    __salt__["eos_state_move.settle"](run, run.workspace.wanted_place())
    _converge(run, report, configuration, None)


def _mend(run: object) -> None:
    """Makes a Terraform state that a crash or a full disk left damaged one that Terraform can begin with."""
    run.workspace.free_left_lock()
    if fault := run.workspace.settled_damage():
        run.tell(f"{run.workspace.name}: the Terraform state {fault}; Terraform begins with the one before")
        run.require_lock()
        run.workspace.begin_change(run.operation)
        run.workspace.backend.mend(run.workspace)


def _adopt(run: object) -> None:
    """Takes what an interrupted run made and did not record into the Terraform state, by the tree it was made from."""
    if run.workspace.is_interrupted() and (configuration := run.workspace.configuration()):
        run.require_lock()
        __salt__["eos_adoption.adopt"](run, configuration)


def _apply_snapshot(run: object, report: dict, snapshot: str) -> None:
    wanted, contents = run.workspace.kept(snapshot)
    configuration = run.workspace.configuration_of(wanted)
    _mend(run)
    __salt__["eos_state_move.settle"](run, run.workspace.wanted_place())
    _converge(run, report, configuration, contents)


def _converge(run: object, report: dict, configuration: dict, contents: dict[str, bytes] | None) -> None:
    """Applies a configuration; if Terraform fails while applying, applies the previous one again."""
    workspace = run.workspace
    if contents is None:
        contents = workspace.contents(configuration["slice"]["files"])
    __salt__["eos_provider.require"](workspace.name, _providers(contents))
    os.makedirs(workspace.directory, mode=0o700, exist_ok=True)
    _adopt(run)
    workspace.render(configuration, workspace.rendered, contents)
    snapshot = workspace.keep_previous()
    workspace.replace_tree(workspace.rendered)
    report |= {"ran": True, "snapshot_id": snapshot}
    try:
        _apply_or_adopt(run, configuration, report)
    except _ApplyFailed as failure:
        try:
            _mend(run)
            report |= _read_back(workspace)
            if not run.stopped:
                _adopt(run)
        except CommandExecutionError as unread:
            # Without the Terraform state there is no way back; what made the apply fail is the one to report.
            run.tell(f"{workspace.name}: {unread.error}")
            raise failure from None
        previous = snapshot and workspace.configuration(workspace.snapshot(snapshot))
        if previous and not workspace.was_applied(configuration) and not run.stopped:
            _take_back(run, report, snapshot, previous)
        raise failure
    _record_applied(run, report, configuration, snapshot)
    _follow_service(run, report, configuration)


def _providers(contents: dict[str, bytes]) -> set[str]:
    texts = [content.decode(errors="replace") for path, content in contents.items() if path.endswith(".tf")]
    return __utils__["eos_providers.in_files"](texts)


def _follow_service(run: object, report: dict, configuration: dict) -> None:
    """Makes the outputs say where the service answers now; Terraform runs only if they say another place.

    The component is as wanted already. So a failure here is told, and the next step of the workspace tries again.
    """
    workspace = run.workspace
    try:
        registered = workspace.registered(configuration["slice"])
        if registered != workspace.applied().get("registered"):
            _update_outputs(run, report, {**configuration, "registered": registered})
    except CommandExecutionError as failure:
        if run.stopped:
            raise
        words = __utils__["eos_failure.described"](failure, workspace.name)["words"]
        run.tell(f"{workspace.name}: the outputs stay as they were: {run.profile.without_tokens(words)}")


def _update_outputs(run: object, report: dict, configuration: dict) -> None:
    workspace, applied = run.workspace, run.workspace.applied()
    # A run that failed or was killed may have left the tree of another configuration.
    tree = workspace.applied_tree()
    kept = workspace.configuration(tree)
    if kept is None or not workspace.was_applied(kept):
        words = "The configuration that was applied is not kept"
        raise __utils__["eos_failure.of"]("terraform", workspace.name, words, "The next change makes it again")
    if tree != workspace.tree:
        workspace.replace_tree(tree)
    run.tell(f"{workspace.name}: the service answers at another place, Terraform updates the outputs")
    report["ran"] = True
    with workspace.planned():
        # What was applied a moment ago, or is proved to be as it was applied, needs no look at the engines.
        _require_outputs_alone(workspace.name, run.plan(configuration, "-refresh=false"))
        run.require_lock()
        run.apply(configuration, {})
    workspace.record_configuration(configuration, workspace.tree)
    _record_applied(run, report, configuration, applied.get("snapshot"))


def _require_outputs_alone(name: str, planned: dict) -> None:
    counts = {key: planned.get(key) for key in ("add", "change", "remove")}
    if any(count != 0 for count in counts.values()):
        words = f"A plan of the outputs alone would change resources: {counts}"
        raise __utils__["eos_failure.of"]("terraform", name, words, "Compare with `eos drift`, then run the step again")


def _take_back(run: object, report: dict, snapshot: str, previous: dict) -> None:
    """Applies the configuration of a snapshot again; its outcome is reported beside the failure that caused it."""
    workspace = run.workspace
    run.tell(f"{workspace.name}: apply failed, applying the previous configuration {snapshot} again")
    workspace.replace_tree(workspace.snapshot(snapshot))
    report["rollback_attempted"] = True
    outcome: dict = {"result": True, "error": None, "added": 0, "changed": 0, "destroyed": 0}
    report["rollback_result"] = outcome
    try:
        _apply_tree(run, previous, outcome)
    except CommandExecutionError as failure:
        words = __utils__["eos_failure.described"](failure, workspace.name)["words"]
        outcome |= {"result": False, "error": run.profile.without_tokens(words)}
        return
    _record_applied(run, report, previous, snapshot)


def _apply_tree(run: object, configuration: dict, counts: dict) -> None:
    """Plans, and applies that very plan."""
    with run.workspace.planned():
        run.plan(configuration)
        run.require_lock()
        try:
            run.apply(configuration, counts)
        except CommandExecutionError as failure:
            raise _ApplyFailed(failure.error, info=failure.info) from None


def _apply_or_adopt(run: object, configuration: dict, counts: dict) -> None:
    """Applies the tree; if an engine has some of it already, as a lost workspace left it, adopts that and goes on."""
    try:
        _apply_tree(run, configuration, counts)
    except _ApplyFailed as failure:
        is_there = _EXISTS in str(failure.error) and not run.stopped
        if not is_there or not __salt__["eos_adoption.adopt"](run, configuration):
            raise
        _apply_tree(run, configuration, counts)


class _ApplyFailed(CommandExecutionError):
    """Terraform failed when it may have changed something already."""


def _plan_slice(run: object, report: dict) -> None:
    workspace = run.workspace
    configuration = workspace.configuration_of(workspace.slice())
    with __salt__["eos_preview.scratch"]() as scratch:
        preview = __salt__["eos_terraform_run.preview"](workspace, scratch)
        workspace.render(configuration, preview.tree, workspace.contents(configuration["slice"]["files"]))
        changes = preview.shown(configuration).get("resource_changes", [])
    report["ran"] = True
    for action in (action for change in changes for action in change["change"]["actions"]):
        if action in _COUNTED_AS:
            report[_COUNTED_AS[action]] += 1
    report |= _read_back(workspace)


def _destroy(run: object, report: dict) -> None:
    workspace = run.workspace
    _mend(run)
    __salt__["eos_state_move.settle"](run, None)
    _adopt(run)
    if workspace.is_interrupted() and (configuration := workspace.configuration()):
        __salt__["eos_adoption.remove_jobs"](run, configuration)
    state = workspace.read_state()
    if state["lineage"] is None and not os.path.isdir(workspace.directory):
        run.tell(f"{workspace.name}: no such workspace, nothing to destroy")
        return
    workspace.keep_unsaved_state()
    jobs = _stop_jobs(run)
    if state["resources"] or workspace.has_unsaved_state():
        _destroy_resources(run, report)
    # A provider may leave a job alone that somebody else stopped.
    for nomad, job in jobs:
        __utils__["eos_nomad.purge_job"](nomad, job["namespace"], job["id"])
    if remaining := workspace.read_state()["resources"]:
        words = f"Still there after terraform destroy: {', '.join(remaining)}"
        raise __utils__["eos_failure.of"]("terraform", workspace.name, words, "Run the step again")
    run.require_lock()
    workspace.forget_deployed()
    workspace.backend.remove(workspace.name)
    if os.path.isdir(workspace.directory):
        workspace.remove()


def _stop_jobs(run: object) -> list[tuple]:
    """Stops what Terraform is about to purge, and waits for its end: a volume may go only once nothing writes to it.

    Its runs go on when the job is gone, so they end with it.
    """
    workspace = run.workspace
    if not (jobs := workspace.jobs()):
        __salt__["eos_runs.end"](workspace.profile, *workspace.name.split("/"))
        return []
    run.require_lock()
    nomad = workspace.profile.deploying(workspace.name)
    for job in jobs:
        run.tell(f"{workspace.name}: waiting for the end of job {job['id']}")
        __salt__["eos_runs.stop"](workspace.profile, nomad, job["namespace"], [job["id"]])
        __salt__["eos_runs.end"](workspace.profile, job["namespace"], job["id"])
    return [(nomad, job) for job in jobs]


def _destroy_resources(run: object, report: dict) -> None:
    """The pillar may name the workspace no more, so the configuration is the one on this disk."""
    workspace = run.workspace
    snapshot = workspace.keep_previous()
    source = workspace.snapshot(snapshot) if snapshot else workspace.tree
    configuration = workspace.applied_configuration(source)
    if snapshot:
        workspace.replace_tree(source)
    report |= {"ran": True, "snapshot_id": snapshot}
    run.require_lock()
    run.destroy(configuration, report)


def _record_applied(run: object, report: dict, configuration: dict, snapshot: str | None) -> None:
    run.workspace.record_applied(configuration, run.operation, snapshot)
    report |= _read_back(run.workspace)


def _read_back(workspace: object) -> dict:
    state = workspace.read_state()
    return {"serial": state["serial"], "outputs": state["outputs"]}


def _with_retcode(answer: dict) -> dict:
    """For a shell: `salt-call --retcode-passthrough` ends with it."""
    __context__["retcode"] = 0 if answer["result"] else _FAILED
    return answer


def _report() -> dict:
    return {
        "ran": False,
        "added": 0,
        "changed": 0,
        "destroyed": 0,
        "snapshot_id": None,
        "rollback_attempted": False,
        "rollback_result": None,
        "serial": None,
        "outputs": {},
    }
