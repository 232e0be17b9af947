"""Terraform workspaces on the control minion: render, plan, apply, read back, take back.

Nothing here may be called over the API; `eos` and the state `eos_terraform` call it. It reads the slice of the
workspace from `__pillar__`, which is fresh inside a state run. A configuration is a directory with the rendered files
and `configuration.json`: the slice, the node ids and the version of the secrets they were rendered for. What differs
between the profiles is `eos_profile`'s.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import glob
import hashlib
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator

import salt.fileclient
from salt.exceptions import CommandExecutionError

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_FILE = re.compile(r"terraform/([A-Za-z0-9_-][A-Za-z0-9._-]*/)+[A-Za-z0-9_-][A-Za-z0-9._-]*")
_BACKEND = re.compile(r'^ *backend "[a-z]+" \{\}\n', re.MULTILINE)
# Which providers a configuration is run with; Terraform writes it beside the configuration.
_LOCK_FILE = ".terraform.lock.hcl"
_SNAPSHOTS_KEPT = 10
# A child orphaned by a killed job was told to stop by the kernel; its lock on the Terraform state ends with it.
_STATE_LOCK_PATIENCE = "120s"
_STATE_IS_LOCKED = "Error acquiring the state lock"
_COUNTED_AS = {"create": "added", "update": "changed", "delete": "destroyed"}
_TOLD = ("apply_start", "apply_complete", "apply_errored", "change_summary")
_SECONDS_BETWEEN_LOOKS = 0.02
_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None, use_errno=True).prctl


def ensure_infrastructure(
    environment: str, component: str, operation: str, step: str, wanted: dict | None = None
) -> dict:
    """Makes the workspace what its slice says; a workspace that is so already costs no Terraform run.

    `wanted` is the slice where the caller has looked at it already: it is this one that is applied, and no later one.
    """
    return _answer(environment, component, operation, step, lambda run: _ensure(run, wanted or run.workspace.slice()))


def apply(environment: str, component: str, operation: str, step: str) -> dict:
    """Applies the slice of the workspace, changed or not."""
    return _answer(environment, component, operation, step, _apply_slice)


def plan(environment: str, component: str, operation: str, step: str) -> dict:
    """Counts what `apply` would add, change and destroy; changes nothing and takes no lock on the Terraform state."""
    return _answer(environment, component, operation, step, _plan_slice)


def destroy(environment: str, component: str, operation: str, step: str) -> dict:
    """Destroys all the workspace holds, by the configuration it was last given, then removes the workspace."""
    return _answer(environment, component, operation, step, _destroy)


def get_terraform_output(environment: str, component: str, name: str) -> object:
    """The value of one output in the Terraform state; one marked sensitive is not given."""
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        outputs = _Workspace(environment, component, profile).read_state()["outputs"]
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
                missing.append(_described(failure, "secrets")["words"])
    return missing


def recorded_risk(environment: str, component: str) -> str | None:
    """The risk of what the workspace was last given, or None if that is not known."""
    workspace = _Workspace(environment, component, __salt__["eos_profile.of_this_minion"]())
    configuration = _read_configuration(workspace.tree)
    return configuration["slice"].get("risk") if configuration else None


def observe(workspaces: list[str]) -> dict[str, dict | None]:
    """What each workspace is, read from its Terraform state, or None if there is no such workspace.

    `digest` and `secret_version` are null if the Terraform state has moved since they were recorded for it.
    """
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        return {name: _Workspace(*name.split("/"), profile).observe() for name in workspaces}


def workspace(profile: object, environment: str, component: str) -> _Workspace:
    return _Workspace(environment, component, profile)


def workspaces(profile: object, named: list[str]) -> dict[str, tuple[_Workspace, dict | None]]:
    """Every workspace that is named, on this disk or in the backend, with its Terraform state."""
    root = _setting("terraform_root")
    on_disk = {os.path.relpath(path, root) for path in glob.glob(os.path.join(glob.escape(root), "*", "*"))}
    states = profile.read_states(on_disk)
    names = {name for name in on_disk | states.keys() | set(named) if _is_name(name)}
    return {name: (_Workspace(*name.split("/"), profile), states.get(name)) for name in sorted(names)}


def preview(
    profile: object, environment: str, component: str, scratch: str, saltenv: str, wanted: dict, version: int | None
) -> dict | None:
    """Terraform's plan, as `terraform show -json` has it, of what `ensure_infrastructure` would do with this slice.

    None if that would not run Terraform. `version` stands for that of the secrets where it is not known yet. Nothing is
    written but to `scratch`: Terraform is given a copy of its state, and no backend.
    """
    run = _Preview(_Workspace(environment, component, profile), scratch)
    workspace = run.workspace
    if version is None:
        version = profile.secret_version(wanted["secrets"])
    configuration = {"slice": wanted, "node_ids": profile.node_ids(wanted["hosts"]), "secret_version": version}
    applied = workspace.proved(workspace.read_state())
    if applied and _is_unchanged(configuration, applied) and _has_its_job(workspace):
        return None
    _render(workspace, configuration, run.tree, saltenv, os.path.join(scratch, "fetched"))
    return _previewed(run, configuration)


def preview_applied(workspace: _Workspace, scratch: str, *, destroy: bool = False) -> dict | None:
    """As `preview`, of the configuration that was applied last, or of its destruction; None if nothing is there."""
    run = _Preview(workspace, scratch)
    if not workspace.read_state()["resources"] and not os.path.exists(workspace.unsaved_state_file):
        return None
    source = _applied_tree(workspace)
    configuration = _read_configuration(source)
    if configuration is None:
        words = "The workspace has a Terraform state but no configuration"
        raise _failure("salt", workspace.name, words, f"Look into {workspace.directory}")
    shutil.copytree(source, run.tree)
    return _previewed(run, configuration, *["-destroy"] * destroy)


def sync_states() -> dict:
    """For Salt's schedule: compares every workspace with reality, and changes nothing; see `eos_sync`."""
    return __salt__["eos_sync.sync_states"]()


def _is_name(name: str) -> bool:
    """Whether this is a workspace's, and not what the removal of one left."""
    parts = name.split("/")
    return len(parts) == 2 and all(map(_NAME.fullmatch, parts))


class _Workspace:
    """The paths of one workspace, what is recorded in them, and its Terraform state."""

    def __init__(self, environment: str, component: str, profile: object):
        for name in (environment, component):
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise CommandExecutionError(f"{name!r} is no name of an environment or component")
        self.environment, self.component, self.profile = environment, component, profile
        self.name = f"{environment}/{component}"
        self.directory = os.path.join(_setting("terraform_root"), environment, component)
        self.tree = os.path.join(self.directory, "tree")
        self.data = os.path.join(self.directory, "data")
        self.snapshots = os.path.join(self.directory, "snapshots")
        self.plan_file = os.path.join(self.directory, "plan.tfplan")
        self.applied_file = os.path.join(self.directory, "applied.json")
        self.unsaved_state_file = os.path.join(self.directory, "unsaved.tfstate")
        self.lock = os.path.join(__opts__["cachedir"], "eos", "locks", f"{environment}.{component}")

    def applied(self) -> dict | None:
        return __utils__["eos_disk.read_json"](self.applied_file)

    def configuration(self) -> dict | None:
        """That of the tree."""
        return _read_configuration(self.tree)

    def is_held(self) -> bool:
        """Whether somebody works on it now."""
        return __utils__["eos_disk.is_locked"](self.lock) or self.profile.is_held(self)

    def observe(self) -> dict | None:
        state = self.read_state()
        if state["lineage"] is None and self.applied() is None:
            return None
        proved = self.proved(state) or {}
        return {"digest": proved.get("digest"), "secret_version": proved.get("secret_version"), **state}

    def read_state(self) -> dict:
        """What may be shown of the Terraform state; `lineage` is None if there is none."""
        state = self.profile.read_state(self) or {}
        outputs = state.get("outputs", {})
        return {
            "serial": state.get("serial"),
            "lineage": state.get("lineage"),
            "resources": sorted(address for address, _, _ in __utils__["eos_terraform_state.resources"](state)),
            "outputs": {name: output["value"] for name, output in outputs.items() if not output.get("sensitive")},
        }

    def proved(self, state: dict) -> dict | None:
        """What was recorded as applied, if the Terraform state is still the one it was recorded for."""
        applied = None if os.path.exists(self.unsaved_state_file) else self.applied()
        unmoved = applied and all(applied[key] == state[key] for key in ("serial", "lineage"))
        return applied if unmoved else None

    def slice(self) -> dict:
        workspaces = __pillar__.get("eos", {}).get("workspaces", {})
        if self.name not in workspaces:
            raise _failure("salt", self.name, "The pillar of this minion names no such workspace", "Deliver a release")
        # Through JSON, because a masked pillar prints as asterisks.
        return json.loads(json.dumps(workspaces[self.name]))


class _Run:
    """One call's use of Terraform: what it says, its child, and whether it was told to stop."""

    def __init__(self, workspace: _Workspace, operation: str, step: str):
        self.workspace, self.operation, self.step = workspace, operation, step
        self.profile = workspace.profile
        # Where the run may write what is its own.
        self.home = workspace.directory
        self.stopped = False
        self.child: subprocess.Popen | None = None
        self.report = _report(ran=False)

    def tell(self, message: str) -> None:
        # Progress is a courtesy: event.send answers False when nobody can be told, and the run goes on.
        __salt__["event.send"](f"eos/{self.operation}/{self.step}", {"message": self.profile.without_tokens(message)})

    def stop(self, number: int, frame: object) -> None:
        """Told to end: Terraform is interrupted once, so that it saves its state; a second time would kill it."""
        del number, frame
        if not self.stopped and self.child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGINT)
        self.stopped = True

    @contextlib.contextmanager
    def stoppable(self) -> Iterator[None]:
        """Salt's own handler would exit at once and leave the child, its providers and the token behind."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGTERM, self.stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def terraform(self, tree: str, data: str, *arguments: str, configuration: dict, heed: Callable[[str], None]) -> int:
        """Runs one Terraform command in a configuration; `heed` is given every line it says."""
        if self.stopped:
            raise _failure("salt", self.workspace.name, "The job was told to stop", "Run the step again")
        environment = self._environment(data, configuration)
        parent = os.getpid()

        def die_with_parent() -> None:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
            if os.getppid() != parent:
                os._exit(1)

        # Into a file, not a pipe: if this process is killed, a pipe would kill Terraform before it saved its state.
        with tempfile.TemporaryFile(dir=self.home) as output:
            self.child = subprocess.Popen(
                [_setting("terraform"), *arguments],
                cwd=os.path.join(tree, "environments", self.workspace.environment, self.workspace.component),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                umask=0o077,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
            for line in _lines_while_running(self.child, output.fileno(), self._keep_alive):
                heed(line)
        ended, self.child = self.child, None
        return ended.returncode

    def _environment(self, data: str, configuration: dict) -> dict[str, str]:
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.home,
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_INPUT": "0",
            "TF_DATA_DIR": data,
            "TF_VAR_node_ids": json.dumps(configuration["node_ids"], sort_keys=True),
            **self.profile.environment(self.workspace.name, configuration["slice"]["token"] == "management"),
        }
        if (version := configuration.get("secret_version")) is not None:
            environment["TF_VAR_secret_version"] = str(version)
        if cli_config := __salt__["eos_profile.optional_setting"]("terraform_cli_config"):
            environment["TF_CLI_CONFIG_FILE"] = cli_config
        return environment

    def _keep_alive(self) -> None:
        """While the child runs, what fails is told only: the child may well end before its tokens do."""
        try:
            self.profile.keep_alive()
        except CommandExecutionError as failure:
            self.tell(f"{self.workspace.name}: {failure.error}")


class _Preview(_Run):
    """A run that changes nothing: it has a directory of its own, and tells nobody."""

    def __init__(self, workspace: _Workspace, scratch: str):
        super().__init__(workspace, "preview", "preview")
        self.home = scratch
        self.tree, self.data = os.path.join(scratch, "tree"), os.path.join(scratch, "data")
        self.root = os.path.join(self.tree, "environments", workspace.name)

    def tell(self, message: str) -> None:
        """Nobody waits for a preview's progress."""


def _lines_while_running(child: subprocess.Popen, descriptor: int, meanwhile: Callable[[], None]) -> Iterator[str]:
    """Every line of a growing file until the child has ended; reads beside the offset it shares with the child."""
    offset, unfinished, running = 0, b"", True
    while running:
        running = child.poll() is None
        while chunk := os.pread(descriptor, 65536, offset):
            offset += len(chunk)
            *lines, unfinished = (unfinished + chunk).split(b"\n")
            yield from (line.decode(errors="replace") for line in lines)
        if running:
            meanwhile()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_SECONDS_BETWEEN_LOOKS)
    if unfinished:
        yield unfinished.decode(errors="replace")


def _answer(environment: str, component: str, operation: str, step: str, work: Callable[[_Run], None]) -> dict:
    """Does the work under the lock of the workspace, and answers {"result", "error", "stopped", "terraform"}."""
    try:
        workspace = _Workspace(environment, component, __salt__["eos_profile.of_this_minion"]())
        with __utils__["eos_disk.locked"](workspace.lock):
            return _guarded(_Run(workspace, operation, step), work)
    except CommandExecutionError as failure:
        error = _described(failure, f"{environment}/{component}")
        return {"result": False, "error": error, "stopped": False, "terraform": _report(ran=False)}


def _guarded(run: _Run, work: Callable[[_Run], None]) -> dict:
    error = None
    with run.stoppable():
        try:
            with __salt__["eos_profile.closing"](run.profile, lambda words: run.tell(f"{run.workspace.name}: {words}")):
                run.profile.log_in()
                work(run)
        except CommandExecutionError as failure:
            error = _described(failure, run.workspace.name)
            error["words"] = run.profile.without_tokens(error["words"])
    return {"result": error is None, "error": error, "stopped": run.stopped, "terraform": run.report}


def _ensure(run: _Run, wanted: dict) -> None:
    workspace = run.workspace
    configuration = _configuration(run, wanted)
    applied = workspace.proved(workspace.read_state())
    if applied and _is_unchanged(configuration, applied) and _has_its_job(workspace):
        run.tell(f"{workspace.name}: unchanged since {applied['when']}, Terraform is not run")
        run.report |= _read_back(workspace)
        return
    _converge(run, configuration)


def _apply_slice(run: _Run) -> None:
    _converge(run, _configuration(run, run.workspace.slice()))


def _configuration(run: _Run, wanted: dict) -> dict:
    """What will be rendered; fails before anything else if a secret or a host is missing."""
    version = run.profile.secret_version(wanted["secrets"])
    return {"slice": wanted, "node_ids": run.profile.node_ids(wanted["hosts"]), "secret_version": version}


def _is_of(configuration: dict, applied: dict) -> bool:
    """Whether this configuration is the one recorded as applied."""
    same_secrets = configuration.get("secret_version") == applied.get("secret_version")
    return configuration["slice"]["digest"] == applied["digest"] and same_secrets


def _is_unchanged(configuration: dict, applied: dict) -> bool:
    """Whether Terraform would find nothing new in this configuration."""
    return _is_of(configuration, applied) and applied["node_ids"] == configuration["node_ids"]


def _has_its_job(workspace: _Workspace) -> bool:
    """Whether Nomad has the job that Terraform registered: what somebody removed or replaced needs Terraform."""
    state = workspace.profile.read_state(workspace) or {}
    jobs = [resource for resource in state.get("resources", []) if resource["type"] == "nomad_job"]
    for registered in (instance["attributes"] for resource in jobs for instance in resource["instances"]):
        job = workspace.profile.job(registered["namespace"], registered["id"])
        digest = (registered.get("hcl2") or [{}])[0].get("vars", {}).get("eos_digest")
        if job is None or (job.get("Meta") or {}).get("eos_digest") != digest:
            return False
    return True


def _converge(run: _Run, configuration: dict) -> None:
    """Applies a configuration; if Terraform fails while applying, applies the previous one again."""
    workspace = run.workspace
    os.makedirs(workspace.directory, mode=0o700, exist_ok=True)
    rendered = f"{workspace.tree}.rendered"
    _render(workspace, configuration, rendered)
    _copy_lock_file(workspace, rendered)
    snapshot = _keep_previous(workspace)
    _replace_tree(workspace, rendered)
    run.report = _report(ran=True, snapshot=snapshot)
    try:
        _apply_tree(run, configuration, run.report)
    except _ApplyFailed as failure:
        try:
            run.report |= _read_back(workspace)
        except CommandExecutionError as unread:
            # Without the Terraform state there is no way back; what made the apply fail is the one to report.
            run.tell(f"{workspace.name}: {unread.error}")
            raise failure from None
        previous = snapshot and _read_configuration(os.path.join(workspace.snapshots, snapshot))
        if previous and not _is_of(configuration, workspace.applied()) and not run.stopped:
            _take_back(run, snapshot, previous)
        raise failure
    _record_applied(run, configuration, snapshot)


def _take_back(run: _Run, snapshot: str, previous: dict) -> None:
    """Applies the configuration of a snapshot again; its outcome is reported beside the failure that caused it."""
    workspace = run.workspace
    run.tell(f"{workspace.name}: apply failed, applying the previous configuration {snapshot} again")
    copied = f"{workspace.tree}.rendered"
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(os.path.join(workspace.snapshots, snapshot), copied)
    _replace_tree(workspace, copied)
    run.report["rollback_attempted"] = True
    outcome: dict = {"result": True, "error": None, "added": 0, "changed": 0, "destroyed": 0}
    run.report["rollback_result"] = outcome
    try:
        _apply_tree(run, previous, outcome)
    except CommandExecutionError as failure:
        words = run.profile.without_tokens(_described(failure, workspace.name)["words"])
        outcome |= {"result": False, "error": words}
        return
    _record_applied(run, previous, snapshot)


def _apply_tree(run: _Run, configuration: dict, counts: dict) -> None:
    """Plans, and applies that very plan."""
    workspace = run.workspace
    with _plan_file(workspace):
        _plan_initialised(run, configuration)
        run.profile.require_lock(workspace, run.operation)
        try:
            _apply_plan(run, configuration, counts)
        except CommandExecutionError as failure:
            raise _ApplyFailed(failure.error, info=failure.info) from None


class _ApplyFailed(CommandExecutionError):
    """Terraform failed when it may have changed something already."""


class _NotInitialised(CommandExecutionError):
    """Terraform could not plan, perhaps since it has to be initialised first."""


def _plan_initialised(run: _Run, configuration: dict, *options: str) -> None:
    """Saves a plan of the tree; initialises only if need be, which costs as much as the plan itself."""
    workspace = run.workspace
    wanted = (*options, f"-out={workspace.plan_file}")
    if _is_initialised(run) and not os.path.exists(workspace.unsaved_state_file):
        with contextlib.suppress(_NotInitialised):
            _plan(run, workspace.tree, workspace.data, configuration, *wanted)
            return
    _initialise(run, workspace.tree, workspace.data, configuration)
    _save_unsaved_state(run, configuration)
    _plan(run, workspace.tree, workspace.data, configuration, *wanted)


def _is_initialised(run: _Run) -> bool:
    """Whether an earlier run left what Terraform needs, for this very backend: a plan would not notice another one."""
    wanted, workspace = run.profile.prepare_backend(run.workspace), run.workspace
    recorded = __utils__["eos_disk.read_json"](os.path.join(workspace.data, "terraform.tfstate")) or {}
    backend = recorded.get("backend", {})
    kept = {key: str(value).lower() for key, value in backend.get("config", {}).items() if key in wanted}
    same = backend.get("type") == run.profile.backend and kept == {key: value.lower() for key, value in wanted.items()}
    return same and os.path.exists(os.path.join(workspace.tree, "environments", workspace.name, _LOCK_FILE))


def _initialise(run: _Run, tree: str, data: str, configuration: dict) -> None:
    said: list[str] = []
    wanted, backend_file = run.profile.prepare_backend(run.workspace), os.path.join(data, "terraform.tfstate")
    run.tell(f"{run.workspace.name}: terraform init")
    # A renewed provider has other checksums than those an earlier run wrote down beside the configuration.
    configuration_directory = os.path.join(tree, "environments", run.workspace.environment, run.workspace.component)
    for stale in (backend_file, os.path.join(configuration_directory, _LOCK_FILE)):
        with contextlib.suppress(FileNotFoundError):
            os.remove(stale)
    options = [f"-backend-config={key}={value}" for key, value in wanted.items()]
    arguments = ["init", "-input=false", "-no-color", *options, "-reconfigure"]
    code = run.terraform(tree, data, *arguments, configuration=configuration, heed=said.append)
    if code != 0:
        raise _init_failed(run, said)
    # Without a backend Terraform would keep its state in the tree, which the next run replaces.
    backend = (__utils__["eos_disk.read_json"](backend_file) or {}).get("backend", {})
    path = backend.get("config", {}).get("path")
    if (backend.get("type"), path) != (run.profile.backend, wanted["path"]):
        words = f'The configuration has no backend "{run.profile.backend}" {{}}'
        raise _failure("terraform", run.workspace.name, words, "Compile again")


def _init_failed(run: _Run, said: list[str]) -> CommandExecutionError:
    words = "\n".join(line for line in said if line.strip())[-2000:]
    hint = "Are the providers in the mirror that terraform_cli_config names?"
    return _failure("terraform", run.workspace.name, words, hint)


def _plan(run: _Run, tree: str, data: str, configuration: dict, *options: str) -> dict:
    heard = _Heard(run)
    lock = [] if "-lock=false" in options else [f"-lock-timeout={_STATE_LOCK_PATIENCE}"]
    arguments = ["plan", "-input=false", "-json", *lock, *options]
    code = run.terraform(tree, data, *arguments, configuration=configuration, heed=heard.line)
    if code != 0 and heard.may_need_init():
        failure = heard.failure("planning")
        raise _NotInitialised(failure.error, info=failure.info)
    if code != 0:
        raise heard.failure("planning")
    return heard.summary


def _apply_plan(run: _Run, configuration: dict, counts: dict) -> None:
    heard, workspace = _Heard(run), run.workspace
    lock = f"-lock-timeout={_STATE_LOCK_PATIENCE}"
    arguments = ["apply", "-input=false", "-json", "-auto-approve", lock, workspace.plan_file]
    code = run.terraform(workspace.tree, workspace.data, *arguments, configuration=configuration, heed=heard.line)
    counts |= heard.done
    _keep_unsaved_state(workspace)
    if code != 0:
        raise heard.failure("applying")


def _keep_unsaved_state(workspace: _Workspace) -> None:
    """If the backend takes no more, Terraform leaves its state beside the configuration, whose directory will go."""
    left = os.path.join(workspace.tree, "environments", workspace.name, "errored.tfstate")
    if os.path.exists(left):
        os.replace(left, workspace.unsaved_state_file)
        __utils__["eos_disk.sync_directory"](workspace.directory)


def _save_unsaved_state(run: _Run, configuration: dict) -> None:
    """Gives the backend what it did not take; Terraform refuses if the backend's has moved on since."""
    workspace, said = run.workspace, []
    if not os.path.exists(workspace.unsaved_state_file):
        return
    run.tell(f"{workspace.name}: saving the Terraform state that an earlier run could not save")
    run.profile.require_lock(workspace, run.operation)
    lock = f"-lock-timeout={_STATE_LOCK_PATIENCE}"
    arguments = ["state", "push", lock, workspace.unsaved_state_file]
    code = run.terraform(workspace.tree, workspace.data, *arguments, configuration=configuration, heed=said.append)
    if code != 0:
        words = "\n".join(line for line in said if line.strip())[-2000:]
        hint = f"Compare {workspace.unsaved_state_file} with the saved one, push or remove it, then run the step again"
        raise _failure("terraform", workspace.name, words, hint)
    os.remove(workspace.unsaved_state_file)


class _Heard:
    """What Terraform says about itself in its lines of JSON."""

    def __init__(self, run: _Run):
        self.run = run
        self.done = dict.fromkeys(_COUNTED_AS.values(), 0)
        self.summary: dict = {}
        self.errors: list[dict] = []
        self.plain: list[str] = []

    def line(self, line: str) -> None:
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            self.plain.append(line)
            return
        kind = entry.get("type")
        if kind in _TOLD:
            self.run.tell(f"{self.run.workspace.name}: {entry['@message']}")
        if kind == "apply_complete" and entry["hook"]["action"] in _COUNTED_AS:
            self.done[_COUNTED_AS[entry["hook"]["action"]]] += 1
        elif kind == "change_summary":
            changes = entry["changes"]
            self.summary = {"added": changes["add"], "changed": changes["change"], "destroyed": changes["remove"]}
        elif kind == "diagnostic" and entry["diagnostic"]["severity"] == "error":
            self.errors.append(entry["diagnostic"])

    def may_need_init(self) -> bool:
        """Whether a failure may be for want of an initialisation, for which Terraform has many words.

        What it says of one resource is not, nor that another holds its state, for whom it has waited long enough.
        """
        return not any(error.get("address") or error["summary"] == _STATE_IS_LOCKED for error in self.errors)

    def failure(self, doing: str) -> CommandExecutionError:
        if self.run.stopped:
            return _failure("salt", self.run.workspace.name, f"Told to stop while {doing}", "Run the step again")
        hint = "Mend what Terraform names, then run the step again"
        if not self.errors:
            words = "\n".join(self.plain)[-2000:] or f"Terraform ended while {doing} without a word"
            return _failure("terraform", self.run.workspace.name, words, hint)
        address = self.errors[0].get("address") or self.run.workspace.name
        words = "\n".join(": ".join(filter(None, (e["summary"], e.get("detail")))) for e in self.errors)
        engine = re.search(r"(?:^|\.)(consul|nomad)_", address)
        return _failure(engine[1] if engine else "terraform", address, words, hint)


def _previewed(run: _Preview, configuration: dict, *options: str) -> dict:
    """Plans the rendered tree with a copy of the Terraform state, and shows that plan."""
    workspace, plan_file = run.workspace, os.path.join(run.home, "plan.tfplan")
    with run.stoppable():
        _take_backend_away(run)
        if (state := _newest_state(workspace)) is not None:
            __utils__["eos_disk.write_json"](os.path.join(run.root, "terraform.tfstate"), state)
        _plan_preview(run, configuration, "-lock=false", f"-out={plan_file}", *options)
        said: list[str] = []
        shown = ("show", "-json", "-no-color", plan_file)
        if run.terraform(run.tree, run.data, *shown, configuration=configuration, heed=said.append) != 0:
            words = "\n".join(said)[-2000:]
            raise _failure("terraform", workspace.name, words, "See the minion's log")
    return json.loads(run.profile.without_tokens("".join(said)))


def _take_backend_away(run: _Preview) -> None:
    """Without one, Terraform keeps its state beside the configuration: here, the copy of it."""
    for path in glob.glob(os.path.join(glob.escape(run.root), "*.tf")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(_BACKEND.sub("", text))


def _newest_state(workspace: _Workspace) -> dict | None:
    """The Terraform state that the next run would begin with."""
    unsaved = __utils__["eos_disk.read_json"](workspace.unsaved_state_file)
    return unsaved or workspace.profile.read_state(workspace)


def _plan_preview(run: _Preview, configuration: dict, *options: str) -> None:
    """With what the workspace was initialised with, if that will do."""
    workspace, said = run.workspace, []
    providers = os.path.join(workspace.data, "providers")
    _copy_lock_file(workspace, run.tree)
    if os.path.isdir(providers):
        os.makedirs(os.path.join(run.data, "modules"))
        os.symlink(providers, os.path.join(run.data, "providers"))
        with contextlib.suppress(FileNotFoundError):
            modules = os.path.join("modules", "modules.json")
            shutil.copy(os.path.join(workspace.data, modules), os.path.join(run.data, modules))
        with contextlib.suppress(_NotInitialised):
            _plan(run, run.tree, run.data, configuration, *options)
            return
        # Not through the link: what is behind it is the workspace's.
        shutil.rmtree(run.data)
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(run.root, _LOCK_FILE))
    arguments = ("init", "-input=false", "-no-color")
    if run.terraform(run.tree, run.data, *arguments, configuration=configuration, heed=said.append) != 0:
        raise _init_failed(run, said)
    _plan(run, run.tree, run.data, configuration, *options)


def _applied_tree(workspace: _Workspace) -> str:
    """The directory of the configuration that was applied last; that of the newest if it is not kept."""
    applied, current = workspace.applied(), _read_configuration(workspace.tree)
    if applied is None or (current and _is_of(current, applied)):
        return workspace.tree
    for snapshot in _snapshots(workspace):
        directory = os.path.join(workspace.snapshots, snapshot)
        kept = _read_configuration(directory)
        if kept and _is_of(kept, applied):
            return directory
    return workspace.tree


def _plan_slice(run: _Run) -> None:
    workspace = run.workspace
    configuration = _configuration(run, workspace.slice())
    os.makedirs(workspace.directory, mode=0o700, exist_ok=True)
    scratch = os.path.join(workspace.directory, "planning")
    try:
        _render(workspace, configuration, scratch)
        data = os.path.join(scratch, "data")
        _initialise(run, scratch, data, configuration)
        run.report |= {"ran": True, **_plan(run, scratch, data, configuration, "-lock=false")}
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    run.report |= _read_back(workspace)


def _destroy(run: _Run) -> None:
    workspace = run.workspace
    state = workspace.read_state()
    if state["lineage"] is None and not os.path.isdir(workspace.directory):
        run.tell(f"{workspace.name}: no such workspace, nothing to destroy")
        return
    _keep_unsaved_state(workspace)
    if state["resources"] or os.path.exists(workspace.unsaved_state_file):
        _destroy_resources(run)
    if remaining := workspace.read_state()["resources"]:
        words = f"Still there after terraform destroy: {', '.join(remaining)}"
        raise _failure("terraform", workspace.name, words, "Run the step again")
    run.profile.require_lock(workspace, run.operation)
    run.profile.remove_state(workspace)
    if os.path.isdir(workspace.directory):
        _remove_directory(workspace)


def _remove_directory(workspace: _Workspace) -> None:
    condemned = f"{workspace.directory}.removed"
    shutil.rmtree(condemned, ignore_errors=True)
    os.rename(workspace.directory, condemned)
    __utils__["eos_disk.sync_directory"](os.path.dirname(workspace.directory))
    shutil.rmtree(condemned)


def _destroy_resources(run: _Run) -> None:
    """The pillar may name the workspace no more, so the configuration is the one on this disk."""
    workspace = run.workspace
    snapshot = _keep_previous(workspace)
    source = os.path.join(workspace.snapshots, snapshot) if snapshot else workspace.tree
    configuration = _read_configuration(source)
    if configuration is None:
        words = "The workspace has a Terraform state but no configuration"
        raise _failure("salt", workspace.name, words, f"Look into {workspace.directory}")
    if snapshot:
        rendered = f"{workspace.tree}.rendered"
        shutil.rmtree(rendered, ignore_errors=True)
        shutil.copytree(source, rendered)
        _replace_tree(workspace, rendered)
    run.report = _report(ran=True, snapshot=snapshot)
    with _plan_file(workspace):
        _plan_initialised(run, configuration, "-destroy")
        run.profile.require_lock(workspace, run.operation)
        _apply_plan(run, configuration, run.report)


def _render(
    workspace: _Workspace, configuration: dict, directory: str, saltenv: str = "base", cache: str | None = None
) -> None:
    """Writes every file of the slice; what the tree does not have already is fetched from Salt's file server."""
    shutil.rmtree(directory, ignore_errors=True)
    for path, content in _contents(workspace, configuration["slice"]["files"], saltenv, cache).items():
        target = os.path.join(directory, os.path.relpath(path, "terraform"))
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
    os.chmod(directory, 0o700)
    __utils__["eos_disk.write_json"](os.path.join(directory, "configuration.json"), configuration)


def _contents(workspace: _Workspace, files: dict[str, str], saltenv: str, cache: str | None) -> dict[str, bytes]:
    """Path -> content of files, given by their digests."""
    for path in files:
        if not _FILE.fullmatch(path):
            raise _failure("salt", path, "A workspace may not have a file of this name", "Compile again")
    contents = {}
    for path, digest in files.items():
        content = _read(os.path.join(workspace.tree, os.path.relpath(path, "terraform")))
        if content is not None and hashlib.sha256(content).hexdigest() == digest:
            contents[path] = content
    if missing := {path: digest for path, digest in files.items() if path not in contents}:
        contents |= _fetched(missing, saltenv, cache)
    return contents


def _fetched(files: dict[str, str], saltenv: str, cache: str | None) -> dict[str, bytes]:
    """Fetches files into a cache (Salt's own, if None); one that is not what its digest says is refused.

    All by one client: `cp.cache_file` would log in at the master for each.
    """
    contents = {}
    with salt.fileclient.get_file_client(__opts__) as client:
        for path, digest in files.items():
            content = _read(client.cache_file(f"salt://{path}", saltenv=saltenv, cachedir=cache))
            if content is None:
                raise _failure("salt", path, "The file server has no such file", "Deliver the release again")
            served = hashlib.sha256(content).hexdigest()
            if served != digest:
                words = f"The file server's file has digest {served}, the pillar says {digest}"
                raise _failure("salt", path, words, "Deliver the release again")
            contents[path] = content
    return contents


def _copy_lock_file(workspace: _Workspace, tree: str) -> None:
    """The new tree is run with the providers of the old one; Terraform says so if they are not those any more."""
    root = os.path.join("environments", workspace.name)
    with contextlib.suppress(FileNotFoundError):
        shutil.copy(os.path.join(workspace.tree, root, _LOCK_FILE), os.path.join(tree, root, _LOCK_FILE))


def _read(path: str) -> bytes | None:
    """The file's content, or None if there is no such file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _read_configuration(directory: str) -> dict | None:
    return __utils__["eos_disk.read_json"](os.path.join(directory, "configuration.json"))


def _keep_previous(workspace: _Workspace) -> str | None:
    """The id of the snapshot that holds the configuration applied last, which is made now if need be."""
    _keep_unsaved_state(workspace)
    applied = workspace.applied()
    if applied is None:
        return None
    current = _read_configuration(workspace.tree)
    if current and _is_of(current, applied):
        snapshot = _now().strftime("%Y%m%dT%H%M%S.%fZ")
        os.makedirs(workspace.snapshots, mode=0o700, exist_ok=True)
        os.rename(workspace.tree, os.path.join(workspace.snapshots, snapshot))
        _forget_old_snapshots(workspace)
        return snapshot
    # The tree is that of a run that failed or was interrupted: the snapshot it made is still the newest.
    for snapshot in _snapshots(workspace):
        kept = _read_configuration(os.path.join(workspace.snapshots, snapshot))
        if kept and _is_of(kept, applied):
            return snapshot
    return None


def _snapshots(workspace: _Workspace) -> list[str]:
    """Newest first."""
    return sorted(os.listdir(workspace.snapshots), reverse=True) if os.path.isdir(workspace.snapshots) else []


def _forget_old_snapshots(workspace: _Workspace) -> None:
    for snapshot in _snapshots(workspace)[_SNAPSHOTS_KEPT:]:
        shutil.rmtree(os.path.join(workspace.snapshots, snapshot))


def _replace_tree(workspace: _Workspace, rendered: str) -> None:
    shutil.rmtree(workspace.tree, ignore_errors=True)
    os.rename(rendered, workspace.tree)
    __utils__["eos_disk.sync_directory"](workspace.directory)


@contextlib.contextmanager
def _plan_file(workspace: _Workspace) -> Iterator[None]:
    """A saved plan holds every value it was made of: it never outlives its use."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(workspace.plan_file)
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(workspace.plan_file)


def _record_applied(run: _Run, configuration: dict, snapshot: str | None) -> None:
    workspace = run.workspace
    state = workspace.profile.read_state(workspace) or {}
    applied = {
        "digest": configuration["slice"]["digest"],
        "node_ids": configuration["node_ids"],
        "secret_version": configuration.get("secret_version"),
        "serial": state.get("serial"),
        "lineage": state.get("lineage"),
        "operation": run.operation,
        "snapshot": snapshot,
        "when": _now().isoformat(timespec="seconds"),
        "attributes": __utils__["eos_terraform_state.attributes"](state),
    }
    __utils__["eos_disk.write_json"](workspace.applied_file, applied)
    run.report |= _read_back(workspace)


def _read_back(workspace: _Workspace) -> dict:
    state = workspace.read_state()
    return {"serial": state["serial"], "outputs": state["outputs"]}


def _report(ran: bool, snapshot: str | None = None) -> dict:
    return {
        "ran": ran,
        "added": 0,
        "changed": 0,
        "destroyed": 0,
        "snapshot_id": snapshot,
        "rollback_attempted": False,
        "rollback_result": None,
        "serial": None,
        "outputs": {},
    }


def _setting(name: str) -> str:
    return __salt__["eos_profile.setting"](name)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _failure(layer: str, name: str, words: str, hint: str) -> CommandExecutionError:
    return CommandExecutionError(words, info={"layer": layer, "object": name, "words": words, "hint": hint})


def _described(failure: CommandExecutionError, name: str) -> dict:
    """The failure as a step record has it, also where Salt itself raised it."""
    if isinstance(failure.info, dict) and "layer" in failure.info:
        return dict(failure.info)
    return {"layer": "salt", "object": name, "words": str(failure), "hint": "See the minion's log"}
