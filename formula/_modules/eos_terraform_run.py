"""One call's use of Terraform: its child process, what it says, and its commands.

Nothing here may be called over the API; `eos_terraform` and `eos_preview` call it.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

from salt.exceptions import CommandExecutionError

_BACKEND = re.compile(r'^  backend "[a-z0-9]+" \{(?:\}|\n(?:    .*\n)*  \})\n', re.MULTILINE)
# Terraform takes the backend of such a file in the place of any other: a tree may be of before its state moved.
_OVERRIDE = "backend_override.tf"
# A child orphaned by a killed job was told to stop by the kernel; its lock on the Terraform state ends with it.
_LOCK_TIMEOUT = "-lock-timeout=120s"
_STATE_IS_LOCKED = "Error acquiring the state lock"
_COUNTED_AS = {"create": "added", "update": "changed", "delete": "destroyed"}
# Terraform says these while it holds the lock of its state.
_UNDER_LOCK = ("apply_start", "refresh_start", "apply_progress")
_TOLD = ("apply_start", "apply_complete", "apply_errored", "change_summary")
_LONGEST_WORDS = 2000
_LOG = "See the minion's log"
_MIRROR = "Are the providers in the mirror that terraform_cli_config names?"
_SECONDS_BETWEEN_LOOKS = 0.02
# For a command that does not wait for the start of a job, beside the lock of its state.
_SECONDS = 600
# Bytes: a disk with less is full.
_ROOM = 64 << 10
_SECONDS_TO_SAVE = 60
# As the compiler writes the waits of a job, and how many instances it has.
_START = re.compile(r"_count \+ 1\) \* (\d+)")
_COUNT = re.compile(r'_count": (\d+)')
_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None, use_errno=True).prctl


def of(workspace: object, operation: str, step: str) -> _Run:
    return _Run(workspace, operation, step)


def preview(workspace: object, scratch: str) -> _Preview:
    return _Preview(workspace, scratch)


class _NotInitialised(CommandExecutionError):
    """Terraform did nothing, perhaps since it has to be initialised first."""


class _Run:
    """What an operation does with a workspace by Terraform, in its tree."""

    correction = "Fix the fault that Terraform names, then run the step again"

    def __init__(self, workspace: object, operation: str, step: str):
        self.workspace, self.operation, self.step = workspace, operation, step
        self.profile = workspace.profile
        self.tree, self.data = workspace.tree, workspace.data
        # Where the run may write what is its own.
        self.home = workspace.directory
        self.stopped = False
        self.has_ended_itself = False
        self.child: subprocess.Popen | None = None

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

    def initialise(self, configuration: dict) -> None:
        backend = self.workspace.backend
        wanted = backend.prepare(self.workspace.name)
        self.tell(f"{self.workspace.name}: terraform init")
        # A renewed provider has other checksums than those an earlier run wrote down beside the configuration.
        for stale in (self._backend_file(), self.workspace.lock_file(self.tree)):
            with contextlib.suppress(FileNotFoundError):
                os.remove(stale)
        options = [f"-backend-config={key}={_setting(value)}" for key, value in wanted.items()]
        self._must(configuration, _MIRROR, "init", "-input=false", "-no-color", *options, "-reconfigure")
        # Without a backend Terraform would keep its state in the tree, which the next run replaces.
        if not self._has_backend():
            words = f'The configuration has no backend "{backend.kind}"'
            raise __utils__["eos_failure.of"]("terraform", self.workspace.name, words, "Compile again")

    def require_lock(self) -> None:
        """Fails unless the operation holds the lock of the workspace."""
        self.profile.operation_lock.require(self.workspace.name, self.operation)

    def plan(self, configuration: dict, *options: str) -> dict:
        """Saves a plan of the tree, and answers how many resources it would "add", "change" and "remove"."""
        out, heard = f"-out={self.workspace.plan_file}", []
        # A lock that a killed plan leaves would stay. The apply takes it, and refuses a plan of another state.
        lock = "-lock=false" if self.workspace.backend.keeps_locks else _LOCK_TIMEOUT

        def attempt() -> None:
            heard.append(_Heard(self))
            self._plan(heard[-1], configuration, lock, out, *options)

        self._initialised(configuration, attempt)
        return heard[-1].summary

    def apply(self, configuration: dict, counts: dict) -> None:
        """Applies the saved plan, and counts what it does."""
        self._apply(configuration, counts, "applying", self.workspace.plan_file)

    def creations(self, configuration: dict) -> list[dict]:
        """What a plan of the tree would make: address, type and attributes of each."""
        with self.workspace.planned():
            self.plan(configuration)
            said = self._must(configuration, _LOG, "show", "-json", "-no-color", self.workspace.plan_file)
        changes = json.loads("".join(said)).get("resource_changes", [])
        made = [change for change in changes if change["change"]["actions"] == ["create"]]
        return [{"address": one["address"], "type": one["type"], "after": one["change"]["after"]} for one in made]

    def adopt(self, configuration: dict, address: str, name: str) -> None:
        """Takes an object that an engine has into the Terraform state."""
        options = ("-input=false", "-no-color", _LOCK_TIMEOUT)
        self._initialised(configuration, lambda: self._must(configuration, _LOG, "import", *options, address, name))

    def note_lock(self) -> None:
        """A courtesy to the run after this one, should this one be killed."""
        with contextlib.suppress(CommandExecutionError):
            self.workspace.note_lock()

    def engines(self) -> dict[str, str]:
        """What Terraform is given to speak to the engines."""
        management = self.workspace.applied_configuration(self.tree)["slice"]["token"] == "management"
        return self.profile.environment(self.workspace.name, management)

    def destroy(self, configuration: dict, counts: dict) -> None:
        """Destroys all that the Terraform state holds, and counts it; a plan of that would only cost as much again."""
        self._initialised(configuration, lambda: self._apply(configuration, counts, "destroying", "-destroy"))

    def _initialised(self, configuration: dict, command: Callable[[], None]) -> None:
        """Runs a command; initialises only if need be, which costs as much as a plan."""
        self._override_backend()
        if self._is_initialised() and not self.workspace.has_unsaved_state():
            with contextlib.suppress(_NotInitialised):
                command()
                return
        self.initialise(configuration)
        self._save_unsaved_state(configuration)
        command()

    def _plan(self, heard: _Heard, configuration: dict, *options: str) -> None:
        self._hear(heard, configuration, "planning", "plan", "-input=false", "-json", *options)

    def _apply(self, configuration: dict, counts: dict, doing: str, what: str) -> None:
        heard = _Heard(self)
        self.workspace.begin_change(self.operation)
        try:
            self._hear(
                heard, configuration, doing, "apply", "-input=false", "-json", "-auto-approve", _LOCK_TIMEOUT, what
            )
        finally:
            counts |= heard.done
            if self.has_ended_itself:
                self.workspace.forget_lock()
            if self.has_ended_itself and not self.workspace.keep_unsaved_state():
                self.workspace.end_change()

    def _hear(self, heard: _Heard, configuration: dict, doing: str, *arguments: str) -> None:
        if self._terraform(configuration, *arguments, heed=heard.line) == 0:
            return
        failure = heard.failure(doing)
        if heard.may_need_init():
            raise _NotInitialised(failure.error, info=failure.info)
        raise failure

    def _save_unsaved_state(self, configuration: dict) -> None:
        """Gives the backend what it did not take; Terraform refuses if the backend's has moved on since."""
        workspace = self.workspace
        if not workspace.has_unsaved_state():
            return
        unsaved = workspace.unsaved_state_file
        self.tell(f"{workspace.name}: saving the Terraform state that an earlier run could not save")
        self.require_lock()
        hint = f"Compare {unsaved} with the saved one, push or remove it, then run the step again"
        self._must(configuration, hint, "state", "push", _LOCK_TIMEOUT, unsaved)
        os.remove(unsaved)

    def _override_backend(self) -> None:
        """Makes the tree one of the backend that has the Terraform state."""
        kind, root = self.workspace.backend.kind, self.workspace.root(self.tree)
        override, texts = os.path.join(root, _OVERRIDE), []
        with contextlib.suppress(FileNotFoundError):
            os.remove(override)
        for path in glob.glob(os.path.join(glob.escape(root), "*.tf")):
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        if f'  backend "{kind}" {{}}\n' not in "".join(texts):
            with open(override, "w", encoding="utf-8") as file:
                file.write(f'terraform {{\n  backend "{kind}" {{}}\n}}\n')

    def _is_initialised(self) -> bool:
        """Whether an earlier run left what Terraform needs, for this backend: a plan would not notice another one."""
        return os.path.exists(self.workspace.lock_file(self.tree)) and self._has_backend()

    def _has_backend(self) -> bool:
        """Whether Terraform was initialised with the workspace's backend."""
        backend = self.workspace.backend
        kept, wanted = self._backend(), backend.prepare(self.workspace.name)
        return kept.get("type") == backend.kind and _holds(kept.get("config") or {}, wanted)

    def _backend(self) -> dict:
        return (__utils__["eos_disk.read_json"](self._backend_file()) or {}).get("backend", {})

    def _backend_file(self) -> str:
        return os.path.join(self.data, "terraform.tfstate")

    def _must(self, configuration: dict, hint: str, *arguments: str) -> list[str]:
        """Runs a command that says what it says in plain words; answers them."""
        said: list[str] = []
        if self._terraform(configuration, *arguments, heed=said.append) != 0:
            words = "\n".join(line for line in said if line.strip())[-_LONGEST_WORDS:]
            raise __utils__["eos_failure.of"]("terraform", self.workspace.name, words, hint)
        return said

    def _terraform(self, configuration: dict, *arguments: str, heed: Callable[[str], None]) -> int:
        """Runs one Terraform command in a configuration; `heed` is given every line it says."""
        if self.stopped:
            words = "The job was asked to stop"
            raise __utils__["eos_failure.of"]("salt", self.workspace.name, words, "Run the step again")
        environment = self._environment(configuration)
        if arguments[0] != "init":
            # Terraform runs these providers; what was delivered may call them otherwise.
            self._require_sources()
        parent, late = os.getpid(), _Late(self._seconds_for(arguments[0]))

        def die_with_parent() -> None:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
            if os.getppid() != parent:
                os._exit(1)

        # Into a file, not a pipe: if this process is killed, a pipe would kill Terraform before it saved its state.
        with tempfile.TemporaryFile(dir=self.home) as output:
            self.child = subprocess.Popen(
                [__salt__["eos_profile.setting"]("terraform"), *arguments],
                cwd=self.workspace.root(self.tree),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                umask=0o077,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
            for line in _lines_while_running(self.child, output.fileno(), lambda: self._look_after(late)):
                heed(line)
            ended, self.child = self.child, None
            # Terraform that a signal ended wrote no state of what it had made.
            self.has_ended_itself = ended.returncode >= 0
            # Terraform does not tell what it had no room to say.
            with __utils__["eos_disk.naming_a_full_disk"](self.home):
                os.posix_fallocate(output.fileno(), os.fstat(output.fileno()).st_size, _ROOM)
        if late.signals:
            words = f"terraform {arguments[0]} was ended because it took longer than {late.seconds} s"
            hint = "eos doctor asks the engines and the mirror of providers; then run the step again"
            raise __utils__["eos_failure.of"]("terraform", self.workspace.name, words, hint)
        return ended.returncode

    def _seconds_for(self, command: str) -> int:
        """More than Terraform's own waits: for the lock of its state and, by the recipe, for the start of a job."""
        if command != "apply":
            return _SECONDS
        texts = []
        for path in glob.iglob(os.path.join(glob.escape(self.tree), "**", "*.tf*"), recursive=True):
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        longest = max(map(int, _START.findall("".join(texts))), default=0)
        instances = max(map(int, _COUNT.findall("".join(texts))), default=1)
        return 2 * _SECONDS + longest * (instances + 1)

    def _environment(self, configuration: dict) -> dict[str, str]:
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.home,
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_INPUT": "0",
            "TF_DATA_DIR": self.data,
            "TF_VAR_node_ids": json.dumps(configuration["node_ids"], sort_keys=True),
            "TF_VAR_registered": json.dumps(configuration.get("registered")),
            **self.credentials(configuration["slice"], self._providers()),
        }
        if (version := configuration.get("secret_version")) is not None:
            environment["TF_VAR_secret_version"] = str(version)
        if cli_config := __salt__["eos_profile.optional_setting"]("terraform_cli_config"):
            environment["TF_CLI_CONFIG_FILE"] = cli_config
        return environment

    def credentials(self, wanted: dict, providers: set[str]) -> dict[str, str]:
        """Addresses and tokens, as variables: for these providers, and for the backend."""
        name = self.workspace.name
        __salt__["eos_provider.require"](name, providers)
        told = __salt__["eos_provider.environment"](providers, self.profile)
        if __salt__["eos_provider.needs_engines"](providers):
            told |= self.profile.environment(name, wanted["token"] == "management")
        return __salt__["eos_provider.merged"](name, told, self._credential())

    def _providers(self) -> set[str]:
        """Those that the tree sets up."""
        texts = []
        for path in glob.iglob(os.path.join(glob.escape(self.tree), "**", "*.tf"), recursive=True):
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        return __utils__["eos_providers.in_files"](texts)

    def _require_sources(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            with open(self.workspace.lock_file(self.tree), encoding="utf-8") as file:
                addresses = __utils__["eos_providers.locked"](file.read())
            __salt__["eos_provider.require_sources"](self.workspace.name, addresses)

    def _credential(self) -> dict[str, str]:
        """For the backend."""
        return self.workspace.backend.environment()

    def _look_after(self, late: _Late) -> None:
        self._keep_alive()
        if (number := late.signal()) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, number)

    def _keep_alive(self) -> None:
        """While the child runs, what fails is told only: the child may well end before its tokens do."""
        try:
            self.profile.keep_alive()
        except CommandExecutionError as failure:
            self.tell(f"{self.workspace.name}: {failure.error}")


class _Late:
    """When a command has to be ended: first it is interrupted, so that it saves its state, then killed."""

    def __init__(self, seconds: int):
        self.seconds, self.signals = seconds, 0
        self._ends = time.monotonic() + seconds

    def signal(self) -> int | None:
        """The signal that is due now."""
        due = (signal.SIGINT, signal.SIGKILL)
        if self.signals == len(due) or time.monotonic() < self._ends + self.signals * _SECONDS_TO_SAVE:
            return None
        self.signals += 1
        return due[self.signals - 1]


class _Preview(_Run):
    """A run that changes nothing: it has a directory of its own, a copy of the Terraform state, and tells nobody."""

    correction = "Fix the fault that Terraform names in the recipe, or choose other options"

    def __init__(self, workspace: object, scratch: str):
        super().__init__(workspace, "preview", "preview")
        self.home = scratch
        self.tree, self.data = os.path.join(scratch, "tree"), os.path.join(scratch, "data")

    def tell(self, message: str) -> None:
        """Nobody waits for a preview's progress."""

    def _credential(self) -> dict[str, str]:
        """A preview has a copy of the Terraform state, and no backend."""
        return {}

    def shown(self, configuration: dict, *options: str) -> dict:
        """The plan of what is in the preview's tree, as `terraform show -json` has it."""
        plan_file = os.path.join(self.home, "plan.tfplan")
        with self.stoppable():
            self._take_backend_away()
            if (state := self.workspace.newest_state()) is not None:
                __utils__["eos_disk.write_json"](
                    os.path.join(self.workspace.root(self.tree), "terraform.tfstate"), state
                )
            wanted = ("-lock=false", f"-out={plan_file}", *options)
            try:
                if not self._planned_as_initialised(configuration, wanted):
                    self._must(configuration, _MIRROR, "init", "-input=false", "-no-color")
                    self._plan(_Heard(self), configuration, *wanted)
            except CommandExecutionError as failure:
                if self._refuses(configuration, wanted):
                    failure.info = {**__utils__["eos_failure.described"](failure, self.workspace.name), "refused": True}
                raise
            said = self._must(configuration, _LOG, "show", "-json", "-no-color", plan_file)
        return json.loads(self.profile.without_tokens("".join(said)))

    def _refuses(self, configuration: dict, wanted: tuple[str, ...]) -> bool:
        """Whether Terraform makes no plan either if it looks at nothing that is there, while its engines answer.

        Then it is the configuration that it cannot plan. What failed before Terraform ran is no refusal of Terraform's.
        """
        options = ("plan", "-input=false", "-json", "-refresh=false", *wanted)
        try:
            code = self._terraform(configuration, *options, heed=_Heard(self).line)
        except CommandExecutionError:
            return False
        return code > 0 and not self.stopped and __salt__["eos_profile.engines_answer"]()

    def note_lock(self) -> None:
        """A preview takes no lock."""

    def _take_backend_away(self) -> None:
        """Without one, Terraform keeps its state beside the configuration: here, the copy of it."""
        for path in glob.glob(os.path.join(glob.escape(self.workspace.root(self.tree)), "*.tf")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(_BACKEND.sub("", text))

    def _planned_as_initialised(self, configuration: dict, wanted: tuple[str, ...]) -> bool:
        """Plans with what the workspace was initialised with; whether that did."""
        providers, modules = (os.path.join(self.workspace.data, part) for part in ("providers", "modules"))
        if os.path.isdir(providers):
            os.makedirs(self.data)
            os.symlink(providers, os.path.join(self.data, "providers"))
            with contextlib.suppress(FileNotFoundError):
                shutil.copytree(modules, os.path.join(self.data, "modules"))
            with contextlib.suppress(_NotInitialised):
                self._plan(_Heard(self), configuration, *wanted)
                return True
            # What is behind the link is the workspace's, and stays.
            shutil.rmtree(self.data)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.workspace.lock_file(self.tree))
        return False


class _Heard:
    """What Terraform says about itself in its lines of JSON."""

    def __init__(self, run: _Run):
        self.run = run
        self.done = dict.fromkeys(_COUNTED_AS.values(), 0)
        self.has_begun = self.has_noted_lock = False
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
        self.has_begun |= kind == "apply_start"
        if kind == "change_summary":
            self.summary = entry["changes"]
        if kind in _UNDER_LOCK and not self.has_noted_lock:
            self.has_noted_lock = True
            self.run.note_lock()
        if kind == "apply_complete" and entry["hook"]["action"] in _COUNTED_AS:
            self.done[_COUNTED_AS[entry["hook"]["action"]]] += 1
        elif kind == "diagnostic" and entry["diagnostic"]["severity"] == "error":
            self.errors.append(entry["diagnostic"])

    def may_need_init(self) -> bool:
        """Whether a failure may be for want of an initialisation, for which Terraform has many words.

        What it says of one resource is not, nor that another holds its state, for whom it has waited long enough.
        """
        other = any(error.get("address") or error["summary"] == _STATE_IS_LOCKED for error in self.errors)
        return not self.has_begun and not other

    def failure(self, doing: str) -> CommandExecutionError:
        if self.run.stopped:
            words = f"Asked to stop while {doing}"
            return __utils__["eos_failure.of"]("salt", self.run.workspace.name, words, "Run the step again")
        hint = self.run.correction
        if not self.errors:
            words = "\n".join(self.plain)[-_LONGEST_WORDS:] or f"Terraform ended while {doing} without output"
            return __utils__["eos_failure.of"]("terraform", self.run.workspace.name, words, hint)
        address = self.errors[0].get("address") or self.run.workspace.name
        words = "\n".join(": ".join(filter(None, (e["summary"], e.get("detail")))) for e in self.errors)
        engine = re.search(r"(?:^|\.)(consul|nomad)_", address)
        return __utils__["eos_failure.of"](engine[1] if engine else "terraform", address, words, hint)


def _setting(value: object) -> str:
    """As Terraform takes a setting of a backend on its command line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {json.dumps(inner)}" for key, inner in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _holds(kept: object, wanted: object) -> bool:
    """Whether what Terraform wrote down of a backend has these settings."""
    if isinstance(wanted, dict):
        return isinstance(kept, dict) and all(_holds(kept.get(key), value) for key, value in wanted.items())
    return str(kept).lower() == str(wanted).lower()


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
