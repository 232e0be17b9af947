"""A Terraform workspace on the control minion: its files, what is recorded of it, and its Terraform state.

Nothing here may be called over the API; `eos_terraform` and the previews call it. A configuration is a directory with
the rendered files and `configuration.json`: the slice, the node ids, the version of the secrets and the place of the
service they were rendered for. The newest is the tree, those before are snapshots.
"""

from __future__ import annotations

import contextlib
import datetime
import glob
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator

import salt.fileclient
from salt.exceptions import CommandExecutionError

_NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
# Eos asks about volumes that stand for themselves as well: they have no workspace.
_OWNER = re.compile(r"[a-z]([a-z0-9_-]{0,61}[a-z0-9])?")
_FILE = re.compile(r"terraform/([A-Za-z0-9_-][A-Za-z0-9._-]*/)+[A-Za-z0-9_-][A-Za-z0-9._-]*")
# Which providers a configuration is run with; Terraform writes it beside the configuration.
_LOCK_FILE = ".terraform.lock.hcl"
_SNAPSHOTS_KEPT = 10
_REGISTERS = b"nomad_dynamic_host_volume_registration"
# What is read of applied.json, and of a configuration.json.
_OF_APPLIED = ("digest", "node_ids", "serial", "lineage", "when")
_OF_CONFIGURATION = ("slice", "node_ids")
_CONFIGURATION = "configuration.json"
_DEPLOYED_VERSION = 1


# As long as Terraform itself waits for the lock of its state.
_SECONDS_FOR_A_WRITER = 120
_SECONDS_BETWEEN_LOOKS = 0.2


def of(environment: str, component: str, profile: object, wanted: dict | None = None) -> _Workspace:
    """`wanted` is the slice of the workspace where the caller has it; else it is that of the pillar, if it has one."""
    return _Workspace(environment, component, profile, wanted)


def lock_path(environment: str, component: str) -> str:
    return os.path.join(__opts__["cachedir"], "eos", "locks", f"{environment}.{component}")


def with_states(profile: object, named: dict) -> dict[str, tuple[_Workspace, dict | None, str | None, dict | None]]:
    """Every workspace that is named, on this disk or in a backend, with its Terraform state and the fault of that.

    The last is the failure of a backend that did not answer: it hides the workspaces of no other.
    """
    root = __salt__["eos_profile.setting"]("terraform_root")
    on_disk = {os.path.relpath(path, root) for path in glob.glob(os.path.join(glob.escape(root), "*", "*"))}
    there = _Places(profile, on_disk)
    found = {}
    for name in sorted(filter(_is_name, on_disk | set(named))):
        workspace = _Workspace(*name.split("/"), profile, named.get(name))
        record = workspace.recorded_place()
        places = [record["place"]] if record else [workspace.preset, workspace.wanted_place()]
        found[name] = (workspace, *there.first(name, places))
    for name in sorted(filter(_is_name, there.names() - found.keys())):
        found[name] = (_Workspace(*name.split("/"), profile), *there.first(name, there.asked()))
    return dict(sorted(found.items()))


class _Places:
    """The Terraform states of all workspaces, by place; each place is asked once, and only if it must be."""

    def __init__(self, profile: object, on_disk: set[str]):
        self._profile, self._on_disk = profile, on_disk
        self._states: dict[str, tuple[dict, dict]] = {}
        self._silent: dict[str, dict] = {}
        # The backend that a workspace has without a record may hold some that nobody names.
        self._read({"kind": profile.backend})

    def first(self, name: str, places: list[dict]) -> tuple[dict | None, str | None, dict | None]:
        """From the first of these places that has one; the last is why one of them was not read."""
        silence = None
        for place in places:
            if name in (states := self._read(place)) and states[name] != (None, None):
                return *states[name], None
            silence = silence or self._silent.get(_key(place))
        return None, None, silence

    def names(self) -> set[str]:
        return {name for _, states in self._states.values() for name in states}

    def asked(self) -> list[dict]:
        return [place for place, _ in self._states.values()]

    def _read(self, place: dict) -> dict[str, tuple[dict | None, str | None]]:
        key = _key(place)
        if key not in self._states:
            try:
                backend = __salt__["eos_backend.of"](place, self._profile)
                self._states[key] = (place, backend.read_all(self._on_disk))
            except CommandExecutionError as failure:
                self._states[key] = (place, {})
                self._silent[key] = __utils__["eos_failure.described"](failure, "terraform backend")
        return self._states[key][1]


def _key(place: dict) -> str:
    return json.dumps(place, sort_keys=True)


def of_others(name: str) -> dict[str, dict[str, bytes]]:
    """Every other workspace on this disk that registers volumes, with its files as they were last given."""
    root, profile = __salt__["eos_profile.setting"]("terraform_root"), __salt__["eos_profile.of_this_minion"]()
    on_disk = {os.path.relpath(path, root) for path in glob.glob(os.path.join(glob.escape(root), "*", "*"))}
    found = {}
    for other in sorted(one for one in on_disk - {name} if _is_name(one)):
        workspace = _Workspace(*other.split("/"), profile)
        contents = workspace.files_in(workspace.tree, workspace.configuration() or {"slice": {"files": {}}})
        if any(_REGISTERS in content for content in contents.values()):
            found[other] = contents
    return found


def _is_name(name: str) -> bool:
    """Whether this is a workspace's, and not what the removal of one left."""
    parts = name.split("/")
    return len(parts) == 2 and all(map(_OWNER.fullmatch, parts))  # noqa: PLR2004  environment and component


class _Workspace:
    def __init__(self, environment: str, component: str, profile: object, wanted: dict | None = None):
        for name in (environment, component):
            if not isinstance(name, str) or not _OWNER.fullmatch(name):
                raise CommandExecutionError(f"{name!r} cannot name an environment or component")
        self.name, self.profile, self._wanted = f"{environment}/{component}", profile, wanted
        self._backend: object = None
        self.directory = os.path.join(__salt__["eos_profile.setting"]("terraform_root"), environment, component)
        self.tree = os.path.join(self.directory, "tree")
        self.data = os.path.join(self.directory, "data")
        self.snapshots = os.path.join(self.directory, "snapshots")
        self.plan_file = os.path.join(self.directory, "plan.tfplan")
        self.applied_file = os.path.join(self.directory, "applied.json")
        self.unsaved_state_file = os.path.join(self.directory, "unsaved.tfstate")
        self.unfinished_file = os.path.join(self.directory, "unfinished.json")
        self.restarting_file = os.path.join(self.directory, "restarting.json")
        self.running_file = os.path.join(self.directory, "running.json")
        self.damaged_state_file = os.path.join(self.directory, "damaged.tfstate")
        self.place_file = os.path.join(self.directory, "backend.json")
        self.state_lock_file = os.path.join(self.directory, "state-lock.json")
        self.lock = lock_path(environment, component)
        # For the master's external pillar `terraform_outputs`.
        self.deployed_file = os.path.join(__opts__["cachedir"], "eos", "deployed", environment, f"{component}.json")

    def root(self, tree: str) -> str:
        """Where in a tree Terraform is run."""
        return os.path.join(tree, "environments", self.name)

    def lock_file(self, tree: str) -> str:
        return os.path.join(self.root(tree), _LOCK_FILE)

    # Where its Terraform state lies.

    @property
    def backend(self) -> object:
        if self._backend is None:
            self._backend = __salt__["eos_backend.of"](self.place(), self.profile)
        return self._backend

    @property
    def preset(self) -> dict:
        """The place of a workspace that names none."""
        return {"kind": self.profile.backend}

    def wanted_place(self) -> dict:
        wanted = self._wanted or __pillar__.get("eos", {}).get("workspaces", {}).get(self.name) or {}
        return json.loads(json.dumps(wanted.get("backend") or self.preset))

    def place(self) -> dict:
        """As it is recorded; without a record, where there is a Terraform state."""
        if record := self.recorded_place():
            return record["place"]
        wanted = self.wanted_place()
        if wanted == self.preset:
            return wanted
        there = __salt__["eos_backend.of"](self.preset, self.profile).read(self.name)
        return wanted if there == (None, None) else self.preset

    def recorded_place(self) -> dict | None:
        """{"place"}, with `copying` or `left` in the middle of a move: see `eos_state_move`."""
        record, fault = __utils__["eos_disk.contents"](self.place_file, "place")
        if fault:
            words = f"Nobody knows where the Terraform state is: {self.place_file} {fault}"
            hint = 'Write {"place": {"kind": ...}} into it, as the workspace was last applied with'
            raise __utils__["eos_failure.of"]("terraform", self.name, words, hint)
        return record

    def record_place(self, record: dict) -> None:
        __utils__["eos_disk.write_json"](self.place_file, record)
        self._backend = None

    def moved_state_file(self, kind: str, serial: int) -> str:
        """Keeps the Terraform state as it was when it left a backend."""
        return os.path.join(self.directory, "moved", f"{kind}-{serial}.tfstate")

    # What is recorded of it, and its Terraform state.

    def applied(self) -> dict | None:
        return __utils__["eos_disk.read_json"](self.applied_file, *_OF_APPLIED)

    def record_applied(self, configuration: dict, operation: str, snapshot: str | None) -> None:
        state = self.state() or {}
        applied = {
            "digest": configuration["slice"]["digest"],
            "node_ids": configuration["node_ids"],
            "secret_version": configuration.get("secret_version"),
            "registered": configuration.get("registered"),
            "serial": state.get("serial"),
            "lineage": state.get("lineage"),
            "operation": operation,
            "snapshot": snapshot,
            "when": _now().isoformat(timespec="seconds"),
            "attributes": __utils__["eos_terraform_state.attributes"](state),
            "risks": self._risks_of(configuration),
        }
        __utils__["eos_disk.write_json"](self.applied_file, applied)
        told = {key: applied[key] for key in ("digest", "serial", "lineage", "operation", "when")}
        outputs = {"outputs": _outputs_of(state)}
        record = {"version": _DEPLOYED_VERSION, "workspace": self.name, **told, **outputs}
        __utils__["eos_disk.write_json"](self.deployed_file, record)

    def forget_deployed(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.deployed_file)

    def is_held(self) -> bool:
        """Whether somebody works on it now."""
        return __utils__["eos_disk.is_locked"](self.lock) or self.profile.operation_lock.is_held(self.name)

    def observe(self) -> dict | None:
        state = self.read_state()
        if state["lineage"] is None and self.applied() is None:
            return None
        proved = self.proved(state) or {}
        return {"digest": proved.get("digest"), "secret_version": proved.get("secret_version"), **state}

    def state(self) -> dict | None:
        """The whole Terraform state, or None if there is none; one that is damaged is a failure."""
        state, fault = self.backend.read(self.name)
        if fault:
            raise __utils__["eos_failure.of"]("terraform", self.name, self.damage(fault), self.remedy())
        return state

    def damage(self, fault: str) -> str:
        being = "; Terraform is at work on it" if self.backend.is_written(self.name) else ""
        return f"The Terraform state {fault}{being}"

    def remedy(self) -> str:
        component = self.name.split("/")[1]
        return f"eos resume or eos rollback, if an operation of it has not ended; otherwise eos reconcile {component}"

    def settled_damage(self) -> str | None:
        """What is wrong with the Terraform state once no Terraform writes it, since one may have outlived its job."""
        ends = time.monotonic() + _SECONDS_FOR_A_WRITER
        while self.backend.is_written(self.name):
            if time.monotonic() > ends:
                words = "Terraform of an earlier run still holds the Terraform state"
                raise __utils__["eos_failure.of"]("terraform", self.name, words, "Run the step again when it has ended")
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        return self.backend.read(self.name)[1]

    def wait_for_lock(self, backend: object) -> None:
        """Until nobody has locked the Terraform state in this backend, as Terraform itself waits."""
        ends = time.monotonic() + _SECONDS_FOR_A_WRITER
        while (lock := backend.lock(self.name)) and lock["held"]:
            if time.monotonic() > ends:
                words = f"{lock['who']} has locked the Terraform state since {lock['since']}: {lock['where']}"
                hint = f"Run the step again when that run has ended; if it is gone: {lock['unlock']}"
                raise __utils__["eos_failure.of"]("terraform", self.name, words, hint)
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def note_lock(self) -> None:
        """Remembers the lock that Terraform has taken now, where a lock outlives its process."""
        if self.backend.keeps_locks and (lock := self.backend.lock(self.name)):
            __utils__["eos_disk.write_json"](self.state_lock_file, {"id": lock["id"]})

    def forget_lock(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.state_lock_file)

    def free_left_lock(self) -> None:
        """Ends Terraform's lock that a killed run of this workspace left behind, and no other one."""
        noted = __utils__["eos_disk.read_json"](self.state_lock_file, "id")
        if noted is None:
            return
        ends = time.monotonic() + _SECONDS_FOR_A_WRITER
        while self.is_at_work() and time.monotonic() < ends:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        if self.is_left(self.backend.lock(self.name)):
            self.backend.free(self.name, noted["id"])
        self.forget_lock()

    def is_left(self, lock: dict | None) -> bool:
        """Whether this lock is one that a run of this workspace took, which is gone."""
        noted = __utils__["eos_disk.read_json"](self.state_lock_file, "id")
        return bool(lock and noted) and lock["id"] == noted["id"] and not self.is_at_work()

    def is_at_work(self) -> bool:
        """Whether a Terraform process, perhaps orphaned, runs in this workspace."""
        for process in glob.iglob("/proc/[0-9]*/cwd"):
            with contextlib.suppress(OSError):
                if os.readlink(process).startswith(f"{self.directory}/"):
                    return True
        return False

    def read_state(self) -> dict:
        """What may be shown of the Terraform state; `lineage` is None if there is none."""
        state = self.state() or {}
        return {
            "serial": state.get("serial"),
            "lineage": state.get("lineage"),
            "resources": sorted(address for address, _, _ in __utils__["eos_terraform_state.resources"](state)),
            "outputs": _outputs_of(state),
        }

    def newest_state(self) -> dict | None:
        """The whole Terraform state that the next run would begin with."""
        if unsaved := __utils__["eos_disk.read_json"](self.unsaved_state_file):
            return unsaved
        state, fault = self.backend.read(self.name)
        return self.backend.last_good(self.name) if fault else state

    def has_resources(self) -> bool:
        return any(__utils__["eos_terraform_state.resources"](self.newest_state() or {}))

    def has_unsaved_state(self) -> bool:
        return os.path.exists(self.unsaved_state_file)

    def keep_unsaved_state(self) -> bool:
        """If the backend takes no more, Terraform leaves its state beside the configuration, which will go.

        Answers whether that is damaged, too.
        """
        left = os.path.join(self.root(self.tree), "errored.tfstate")
        if not os.path.exists(left):
            return False
        damage = __utils__["eos_disk.contents"](left)[1]
        os.replace(left, self.damaged_state_file if damage else self.unsaved_state_file)
        __utils__["eos_disk.sync_directory"](self.directory)
        return damage is not None

    def proved(self, state: dict) -> dict | None:
        """What was recorded as applied, if the Terraform state is still the one it was recorded for."""
        applied = None if self.has_unsaved_state() else self.applied()
        unmoved = applied and all(applied[key] == state[key] for key in ("serial", "lineage"))
        return applied if unmoved else None

    # Its configurations.

    def slice(self) -> dict:
        workspaces = __pillar__.get("eos", {}).get("workspaces", {})
        if self.name not in workspaces:
            words = "The pillar of this minion names no such workspace"
            raise __utils__["eos_failure.of"]("salt", self.name, words, "Deliver a release")
        # Through JSON, because a masked pillar prints as asterisks.
        wanted = json.loads(json.dumps(workspaces[self.name]))
        return {**wanted, "digest": __utils__["eos_digest.of_slice"](wanted)}

    def configuration_of(self, wanted: dict, version: int | None = None) -> dict:
        """What is rendered of a slice; fails before anything else if a secret or a host is missing.

        `version` stands for that of the secrets where it is not known yet.
        """
        if version is None:
            version = self.profile.secret_version(wanted["secrets"])
        looked_up = {"node_ids": self.profile.node_ids(wanted["hosts"]), "registered": self.registered(wanted)}
        return {"slice": wanted, "secret_version": version, **looked_up}

    def registered(self, wanted: dict) -> dict | None:
        """Where the service answers that its outputs speak of, {"address", "port"}; None before its first placement."""
        service = wanted.get("service")
        if service is None:
            return None
        if not isinstance(service, str) or not _NAME.fullmatch(service):
            words = f"{service!r} cannot name a service"
            raise __utils__["eos_failure.of"]("salt", self.name, words, "Compile again")
        return self.profile.registered(self.name.split("/")[0], service)

    def is_unchanged(self, configuration: dict) -> bool:
        """Whether Terraform would find nothing new in this configuration, since it was applied and nothing moved."""
        if self.is_interrupted() or self.backend.read(self.name)[1]:
            return False
        applied = self.proved(self.read_state())
        same = bool(applied) and _is_of(configuration, applied) and applied["node_ids"] == configuration["node_ids"]
        return same and self.has_its_jobs()

    def begin_change(self, operation: str) -> None:
        """From now on Terraform makes what only the end of its run writes down."""
        __utils__["eos_disk.write_json"](self.unfinished_file, {"operation": operation})

    def end_change(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.unfinished_file)

    def is_interrupted(self) -> bool:
        """Whether a run did not end: it may have made what no Terraform state names."""
        return os.path.exists(self.unfinished_file)

    def jobs(self) -> list[dict]:
        """What Terraform knows of each job that it registered."""
        resources = (self.state() or {}).get("resources", [])
        jobs = [resource for resource in resources if resource["type"] == "nomad_job"]
        return [instance["attributes"] for resource in jobs for instance in resource["instances"]]

    def has_its_jobs(self) -> bool:
        """Whether Nomad has each as Terraform registered it: what somebody removed, stopped or replaced needs it.

        What ran to its end, Nomad forgets by itself some hours later. It does not run again for that.
        """
        for registered in self.jobs():
            job = self.profile.job(registered["namespace"], registered["id"])
            if job is None and self.runs_once():
                continue
            variables = (registered.get("hcl2") or [{}])[0].get("vars") or {}
            digest = job and (job.get("Meta") or {}).get("eos_digest")
            if not job or job.get("Stop") or digest != variables.get("eos_digest"):
                return False
        return True

    def runs_once(self) -> bool:
        """Whether its job was registered to run to its end, once."""
        configuration = self.configuration(self.applied_tree()) or {"slice": {}}
        return configuration["slice"].get("schedule") == "once"

    def was_applied(self, configuration: dict) -> bool:
        """Whether this configuration is the one recorded as applied."""
        applied = self.applied()
        return applied is not None and _is_of(configuration, applied)

    def configuration(self, directory: str | None = None) -> dict | None:
        """That of the tree, unless another directory is named."""
        path = os.path.join(directory or self.tree, _CONFIGURATION)
        return __utils__["eos_disk.read_json"](path, *_OF_CONFIGURATION)

    def record_configuration(self, configuration: dict, directory: str) -> None:
        __utils__["eos_disk.write_json"](os.path.join(directory, _CONFIGURATION), configuration)

    def risks(self) -> list[tuple]:
        """(tier, why) of what the tree was applied as, by its own recipe and by its files; none if nothing is there.

        A file that somebody edited in the tree since is no part of what was applied.
        """
        if (configuration := self.configuration()) is None:
            return [("high", "its configuration cannot be read")] if os.path.isdir(self.tree) else []
        recorded = (self.applied() or {}).get("risks") if self.was_applied(configuration) else None
        return self._risks_of(configuration) if recorded is None else [(tier, why) for tier, why in recorded]

    def _risks_of(self, configuration: dict) -> list[tuple]:
        wanted, contents = configuration["slice"], self.files_in(self.tree, configuration)
        return [(wanted.get("risk"), "its recipe"), *__salt__["eos_tiers.of_files"](self.name, wanted, contents)]

    def files_in(self, directory: str, configuration: dict) -> dict[str, bytes]:
        """The files of the tree, or of a snapshot, as they are; one that is not there is empty."""
        files = configuration["slice"]["files"]
        return {path: _read(os.path.join(directory, os.path.relpath(path, "terraform"))) or b"" for path in files}

    def applied_tree(self) -> str:
        """The directory of the configuration that was applied last; the tree, if that is not kept."""
        for directory in (self.tree, *map(self.snapshot, self._snapshots())):
            kept = self.configuration(directory)
            if kept and self.was_applied(kept):
                return directory
        return self.tree

    def applied_configuration(self, directory: str) -> dict:
        """The configuration of a directory, which must be there, because the workspace has resources."""
        if (configuration := self.configuration(directory)) is None:
            words = "The workspace has a Terraform state but no configuration"
            raise __utils__["eos_failure.of"]("salt", self.name, words, f"Look into {self.directory}")
        return configuration

    def render(self, configuration: dict, directory: str, contents: dict[str, bytes]) -> None:
        """Writes every file of the slice.

        The new directory is run with the providers of the tree; Terraform says so if they are not those any more.
        """
        shutil.rmtree(directory, ignore_errors=True)
        for path, content in contents.items():
            target = os.path.join(directory, os.path.relpath(path, "terraform"))
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
        os.chmod(directory, 0o700)
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(self.lock_file(self.tree), self.lock_file(directory))
        self.record_configuration(configuration, directory)

    def replace_tree(self, directory: str) -> None:
        """By what was rendered, or by a copy of a snapshot."""
        if directory != self.rendered:
            shutil.rmtree(self.rendered, ignore_errors=True)
            shutil.copytree(directory, self.rendered)
        shutil.rmtree(self.tree, ignore_errors=True)
        os.rename(self.rendered, self.tree)
        __utils__["eos_disk.sync_directory"](self.directory)

    @property
    def rendered(self) -> str:
        return f"{self.tree}.rendered"

    def snapshot(self, name: str) -> str:
        return os.path.join(self.snapshots, name)

    def kept(self, name: str) -> tuple[dict, dict[str, bytes]]:
        """(slice, files) of a snapshot; one that somebody edited is refused."""
        there, hint = self._snapshots(), "`eos_terraform.snapshots` lists them"
        configuration = self.configuration(self.snapshot(name)) if name in there else None
        if configuration is None:
            words = f"Snapshot {name} is not kept; these are: {', '.join(there) or 'none'}"
            raise __utils__["eos_failure.of"]("salt", self.name, words, hint)
        contents = self.files_in(self.snapshot(name), configuration)
        for path, digest in configuration["slice"]["files"].items():
            if hashlib.sha256(contents[path]).hexdigest() != digest:
                words = f"Somebody changed {path} of snapshot {name} since it was applied"
                raise __utils__["eos_failure.of"]("salt", self.name, words, f"Choose another one: {hint}")
        return configuration["slice"], contents

    def snapshots_kept(self) -> dict[str, str]:
        """The digest of each configuration that is kept of those applied before, newest first."""
        found = {name: self.configuration(self.snapshot(name)) for name in self._snapshots()}
        return {name: configuration["slice"]["digest"] for name, configuration in found.items() if configuration}

    def keep_previous(self) -> str | None:
        """The name of the snapshot that holds the configuration applied last, which is made now if need be."""
        self.keep_unsaved_state()
        current = self.configuration()
        if current and self.was_applied(current):
            # Counted, not dated: a clock that is set back would make the newest the first to go.
            name = f"{max(map(_number, self._snapshots()), default=0) + 1:06}"
            os.makedirs(self.snapshots, mode=0o700, exist_ok=True)
            os.rename(self.tree, self.snapshot(name))
            for old in self._snapshots()[_SNAPSHOTS_KEPT:]:
                shutil.rmtree(self.snapshot(old))
            return name
        # The tree is that of a run that failed or was interrupted: the snapshot it made is still the newest.
        directory = self.applied_tree()
        return os.path.basename(directory) if directory != self.tree else None

    def _snapshots(self) -> list[str]:
        """Newest first."""
        there = os.listdir(self.snapshots) if os.path.isdir(self.snapshots) else []
        return sorted(there, key=lambda name: (_number(name), name), reverse=True)

    @contextlib.contextmanager
    def planned(self) -> Iterator[None]:
        """A saved plan holds every value it was made of: it never outlives its use."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.plan_file)
        try:
            yield
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.plan_file)

    def remove(self) -> None:
        condemned = f"{self.directory}.removed"
        shutil.rmtree(condemned, ignore_errors=True)
        os.rename(self.directory, condemned)
        __utils__["eos_disk.sync_directory"](os.path.dirname(self.directory))
        shutil.rmtree(condemned)

    def contents(self, files: dict[str, str], saltenv: str = "base", cache: str | None = None) -> dict[str, bytes]:
        """Path -> content of files, given by their digests.

        What the tree does not have already is fetched from Salt's file server.
        """
        refuse_strange_files(files)
        contents = {}
        for path, digest in files.items():
            content = _read(os.path.join(self.tree, os.path.relpath(path, "terraform")))
            if content is not None and hashlib.sha256(content).hexdigest() == digest:
                contents[path] = content
        if missing := {path: digest for path, digest in files.items() if path not in contents}:
            contents |= _fetched(missing, saltenv, cache)
        return contents


def _outputs_of(state: dict) -> dict:
    """Those that may be shown."""
    return {name: one["value"] for name, one in state.get("outputs", {}).items() if not one.get("sensitive")}


def refuse_strange_files(files: dict[str, str]) -> None:
    for path in files:
        if not _FILE.fullmatch(path):
            words = "A workspace may not have a file of this name"
            raise __utils__["eos_failure.of"]("salt", path, words, "Compile again")


def _fetched(files: dict[str, str], saltenv: str, cache: str | None) -> dict[str, bytes]:
    """Fetches files into a cache (Salt's own, if None); one that is not what its digest says is refused.

    All by one client: `cp.cache_file` would log in at the master for each.
    """
    contents, hint = {}, "Deliver the release again"
    with salt.fileclient.get_file_client(__opts__) as client:
        for path, digest in files.items():
            content = _read(client.cache_file(f"salt://{path}", saltenv=saltenv, cachedir=cache))
            if content is None:
                raise __utils__["eos_failure.of"]("salt", path, "The file server has no such file", hint)
            served = hashlib.sha256(content).hexdigest()
            if served != digest:
                words = f"The file server's file has digest {served}, the pillar says {digest}"
                raise __utils__["eos_failure.of"]("salt", path, words, hint)
            contents[path] = content
    return contents


def _number(snapshot: str) -> int:
    """Of a snapshot; one with a date for a name is older than every counted one."""
    return int(snapshot) if snapshot.isdecimal() else 0


def _is_of(configuration: dict, applied: dict) -> bool:
    same_secrets = configuration.get("secret_version") == applied.get("secret_version")
    return configuration["slice"]["digest"] == applied["digest"] and same_secrets


def _read(path: str) -> bytes | None:
    """The file's content, or None if there is no such file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
