"""All that an API user may call on a minion: run a step, remove a thing, move secrets, approve, read back.

A call that changes infrastructure carries an operation and a step id, which together name one step record on this
minion. The record is written before and after the work, so that a call made twice does its work once. All arguments are
keywords; what Salt adds to them (`**publication`) says who called, and `eos_roles` whether that user may.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import os
import re
import stat
from collections.abc import Callable

import salt.fileclient
from salt.exceptions import CommandExecutionError, SaltInvocationError

# Locks lie beside the records, under names with an ending of their own.
_ID = re.compile(r"(?!.*\.lock\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SLS = re.compile(
    rf"components\.({_NAME.pattern})\.({_NAME.pattern})\.(volumes(?:-{_NAME.pattern})?|workspace|monitoring)"
)
_WORKSPACE = re.compile(rf"{_NAME.pattern}/{_NAME.pattern}")
_VOLUME = re.compile(rf"{_NAME.pattern}/{_NAME.pattern}/[a-z][a-z0-9_]{{0,47}}")
_PATH = re.compile(r"(/[^/\x00-\x1f]+)+")
_ITEM = re.compile(r"[a-z][a-z0-9_]{0,95}")
_TITLE = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_PLAN = re.compile(r"plan-[0-9a-f]{32}")
_UNKNOWN = re.compile("secret_version|namespace")
_PREVIEWS = ("eos.run_step", "eos.remove_workspace", "eos.remove_volumes", "eos.remove_monitoring")
# Records of so many operations are kept. A step whose record is gone runs again if somebody resumes its operation.
_MOST_OPERATIONS = 500
_LONGEST_APPROVAL = 7 * 24 * 60
_GRAINS = ("os", "osrelease", "num_cpus", "mem_total", "ipv4", "fqdn", "virtual")
# Salt 3008 answers queue=True at once and runs the states later; with a number it waits, as long as fewer than that
# many state runs are before it.
_QUEUE = 1000
_STATES_FAILED = 2
_RECIPE = "its recipe"
_STATES = {"volumes": "eos_volumes.states", "monitoring": "eos_prometheus.states"}


def info(**publication: object) -> dict:
    """Who this minion is, what it is served now, and who asks.

    `formula` is the digest of the modules as synced to this minion, `version` that of Salt. `user` and `role` are the
    caller's, null for root's own calls; `home` is what `take_home` recorded here, or null. `time` is by this
    minion's clock.
    """
    caller = _caller(publication)
    return {
        "minion": __opts__["id"],
        "release": _served_release(),
        "formula": _formula_digest(),
        "version": __grains__["saltversion"],
        "time": _now(),
        **caller,
        "grains": {name: __grains__.get(name) for name in _GRAINS},
    }


def run_step(*, operation: str, step: str, sls: str, digest: str, **publication: object) -> dict:
    """Does what one emitted SLS says, `components.<component>.<environment>.volumes`, `.workspace` or `.monitoring`.

    A component with volumes on several hosts has `.volumes-<host>` for each. `digest` says what the caller means: it
    is that of the whole slices of the component on this minion. What the pillar has otherwise is refused.
    """
    component, environment, kind = _parts(sls)
    _check("digest", digest, _DIGEST)
    call = _Call(publication, "eos.run_step", operation, step, {"sls": sls, "digest": digest})
    names = {"environment": environment, "component": component}

    def admit_workspace() -> _Admitted:
        admitted = _Admitted(names, _wanted(_slices(), sls, digest))
        call.require(admitted.risks(), where_unknown="high")
        return admitted

    def admit_volumes() -> dict:
        wanted = _wanted(_slices(), sls, digest)
        call.require(_risks_of_volumes(wanted), where_unknown="high")
        return wanted

    def admit_monitoring() -> dict:
        slices = _slices()
        wanted = _wanted(slices, sls, digest)
        asked = [(facts.get("risk"), _RECIPE) for facts in wanted.values()]
        there = _recorded([__salt__["eos_prometheus.recorded_risk"](name) for name in wanted])
        call.require([*asked, *there], where_unknown="high")
        return slices

    if kind == "workspace":
        apply = functools.partial(_apply_workspace, call, names)
        return call.once_observed(admit_workspace, apply, *_of_workspace(names))
    if kind == "monitoring":
        load = functools.partial(_load_rules, f"{environment}/{component}")
        return call.once(admit_monitoring, load, under=__salt__["eos_prometheus.lock"])
    return call.once(admit_volumes, lambda wanted: _make_volumes(call, sls, wanted), under=_states_lock)


def remove_workspace(*, operation: str, step: str, environment: str, component: str, **publication: object) -> dict:
    """Destroys a workspace that the pillar no longer names; answers the step record.

    Root's own call destroys one that it still names, too: that is how an emitted tree is taken down without Eos.
    """
    _check("environment", environment, _NAME)
    _check("component", component, _NAME)
    names = {"environment": environment, "component": component}
    call = _Call(publication, "eos.remove_workspace", operation, step, names)

    def admit() -> None:
        # What the pillar names has an SLS in the same release: to ask for that is ten times faster than a pillar.
        if not call.who["is_root"] and _is_served(f"components/{component}/{environment}/workspace.sls"):
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names {environment}/{component}")
        held = __salt__["eos_secrets.risks_of_holder"](f"{environment}/{component}")
        call.require([*__salt__["eos_terraform.recorded_risks"](**names), *held], where_unknown="medium")

    return call.once_observed(admit, lambda _: _destroy(call, names), *_of_workspace(names))


def remove_volumes(
    *, operation: str, step: str, volumes: dict, with_data: list | None = None, **publication: object
) -> dict:
    """Removes volumes, {"<environment>/<component>/<need>": path}, with their data; answers the record.

    Each was made here by Eos as an ephemeral volume of this name and path, and the pillar no longer names it. If one of
    them is anything else, none is removed. One that is gone already is done. A volume on LVM that is not ephemeral goes
    if `with_data` names it.
    """
    _check_volumes(volumes)
    with_data = _checked_list("with_data", with_data, _VOLUME)
    arguments = {"volumes": volumes} | ({"with_data": with_data} if with_data else {})
    call = _Call(publication, "eos.remove_volumes", operation, step, arguments)

    def admit() -> dict:
        wanted = _pillar_slice("volumes")
        for name in volumes:
            if name in wanted:
                raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names volume {name}")
        call.require(_recorded(__salt__["eos_volumes.risks"](list(volumes))), where_unknown="medium")
        return wanted

    def work(wanted: dict) -> dict:
        error = __salt__["eos_volumes.remove"](volumes, wanted, with_data)
        return {"status": "failed" if error else "done", "error": error}

    return call.once(admit, work, under=_states_lock)


def remove_monitoring(
    *, operation: str, step: str, environment: str, component: str, monitor: str, **publication: object
) -> dict:
    """Takes a component's alert rules from a monitor that watches it no longer; answers the step record."""
    names = {"environment": environment, "component": component, "monitor": monitor}
    for argument, name in names.items():
        _check(argument, name, _NAME)
    name = f"{environment}/{component}"
    call = _Call(publication, "eos.remove_monitoring", operation, step, names)

    def admit() -> dict:
        slices = _slices()
        if slices.get("monitoring", {}).get(name, {}).get("monitor") == monitor:
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still has {monitor} watch {name}")
        watching = slices.get("monitors", {}).get(f"{environment}/{monitor}")
        if watching is None:
            raise CommandExecutionError(
                f"The pillar of minion {__opts__['id']} names no monitor {environment}/{monitor}"
            )
        call.require(_recorded([__salt__["eos_prometheus.recorded_risk"](name)]), where_unknown="medium")
        return watching

    def work(watching: dict) -> dict:
        error = __salt__["eos_prometheus.unload"](name, watching)
        return {"status": "failed" if error else "done", "error": error}

    return call.once(admit, work, under=__salt__["eos_prometheus.lock"])


def remove_unused_volumes(*, operation: str, step: str, volumes: dict, made_by: str, **publication: object) -> dict:
    """Takes back the making of volumes: removes those that operation `made_by` made and that are empty.

    The result of the step record is {"removed": [names], "kept": {name: why}}: that one is kept is no failure.
    """
    _check_volumes(volumes)
    _check("made_by", made_by, _ID)
    arguments = {"volumes": volumes, "made_by": made_by}
    call = _Call(publication, "eos.remove_unused_volumes", operation, step, arguments)

    def admit() -> dict:
        call.require(_recorded(__salt__["eos_volumes.risks"](list(volumes))), where_unknown="medium")
        return _pillar_slice("volumes")

    def work(wanted: dict) -> dict:
        outcome = __salt__["eos_volumes.remove_unused"](volumes, made_by, wanted)
        return {"status": "done", "result": {"states": [], "terraform": None, **outcome}}

    return call.once(admit, work, under=_states_lock)


def write_secrets(
    *, operation: str, step: str, environment: str, component: str, items: list, **publication: object
) -> dict:
    """Brings the secrets of a component to what a plan says; answers the step record.

    `items` is [{"item", "given", "rotate", "generate", "copy_of"}]. No value is in a call or an answer: a given one
    waits in the caller's place of the secrets engine, a generated one is made here, a copy comes from `copy_of`.
    """
    name = _component_name(environment, component)
    arguments = {"environment": environment, "component": component, "items": items}
    call = _Call(publication, "eos.write_secrets", operation, step, arguments)
    __salt__["eos_secrets.check_items"](items)

    def admit() -> str:
        workspaces = _pillar_slice("workspaces")
        if name not in workspaces:
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} names no workspace {name}")
        known = {item for secret in workspaces[name].get("secrets", []) for item in secret["items"]}
        if unknown := sorted({work["item"] for work in items} - known):
            raise CommandExecutionError(f"The pillar gives {name} no secret {', '.join(unknown)}")
        return call.require(__salt__["eos_secrets.risks_to_write"](name, items, workspaces), where_unknown="high")

    def work(tier: str) -> dict:
        return _outcome_of_secrets(
            name, lambda: __salt__["eos_secrets.write"](name, items, tier, operation, call.who["user"])
        )

    return call.once_observed(admit, work, *call.of_secrets(name))


def restore_secrets(
    *, operation: str, step: str, environment: str, component: str, previous: object, **publication: object
) -> dict:
    """Makes the secrets of a component what they were before an operation; answers the step record.

    `previous` is "nothing", {"version": number} or {"kept": path of a copy that an operation made}.
    """
    name = _component_name(environment, component)
    arguments = {"environment": environment, "component": component, "previous": previous}
    call = _Call(publication, "eos.restore_secrets", operation, step, arguments)
    __salt__["eos_secrets.check_previous"](name, previous)

    def admit() -> str:
        now = __salt__["eos_secrets.risks"](name, _pillar_slice("workspaces"))
        return call.require([*now, *__salt__["eos_secrets.risks_of_previous"](previous)], where_unknown="high")

    def work(tier: str) -> dict:
        return _outcome_of_secrets(
            name, lambda: __salt__["eos_secrets.restore"](name, previous, tier, operation, call.who["user"])
        )

    return call.once_observed(admit, work, *call.of_secrets(name))


def remove_secrets(*, operation: str, step: str, environment: str, component: str, **publication: object) -> dict:
    """Removes the secrets of a component that the pillar no longer names; answers the step record."""
    name = _component_name(environment, component)
    arguments = {"environment": environment, "component": component}
    call = _Call(publication, "eos.remove_secrets", operation, step, arguments)

    def admit() -> str:
        workspaces = _pillar_slice("workspaces")
        if not call.who["is_root"] and workspaces.get(name, {}).get("secrets"):
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names secrets of {name}")
        return call.require(__salt__["eos_secrets.risks"](name, workspaces), where_unknown="high")

    def work(tier: str) -> dict:
        return _outcome_of_secrets(
            name, lambda: __salt__["eos_secrets.remove"](name, tier, operation, call.who["user"])
        )

    return call.once_observed(admit, work, *call.of_secrets(name))


def forget_secrets(*, operation: str, **publication: object) -> dict:
    """Removes the values that an operation has waiting or kept; answers {"left": [paths of others' values]}."""
    who = __salt__["eos_roles.caller"](publication)
    _check("operation", operation, _ID)
    return __salt__["eos_secrets.forget"](who, operation)


def reveal_secrets(
    *,
    environment: str,
    component: str,
    items: list | None = None,
    operations: list | None = None,
    **publication: object,
) -> dict:
    """Puts secrets of a component into the caller's own place of the secrets engine; answers {"path", "items"}.

    All items, unless some are named. With `operations`, none or some, also the values that a log may quote.
    """
    name = _component_name(environment, component)
    items = None if items is None else _checked_list("items", items, _ITEM)
    operations = None if operations is None else _checked_list("operations", operations, _ID)
    who = __salt__["eos_roles.caller"](publication)
    return __salt__["eos_secrets.reveal"](who, name, items, operations, _pillar_slice("workspaces"))


def approve(*, operation: str, plan: str, calls: dict, minutes: int, **publication: object) -> dict:
    """Approves calls of one operation on this minion for so many minutes; answers the approval.

    `plan` is the digest of the plan they belong to; `calls` is {step: digest of [function, arguments]}, with arguments
    as the step record has them. It serves another user's calls only, and replaces an earlier one of the operation.
    """
    _check("operation", operation, _ID)
    _check("plan", plan, _DIGEST)
    if not isinstance(calls, dict) or not calls:
        raise SaltInvocationError("calls is not an object of steps and digests")
    for step, digest in calls.items():
        _check("calls", step, _ID)
        _check("calls", digest, _DIGEST)
    if type(minutes) is not int or not 0 < minutes <= _LONGEST_APPROVAL:
        raise SaltInvocationError(f"minutes is not a number from 1 to {_LONGEST_APPROVAL}")
    who = __salt__["eos_roles.caller"](publication)
    return __salt__["eos_roles.approve"](who, operation, plan, calls, minutes)


def take_home(*, home: str, name: str, instead_of: str | None = None, **publication: object) -> dict:
    """Records which machine operates this estate; answers {"home", "name", "user", "since"}.

    Refused if another home than `instead_of` is recorded here. `home` is the machine's id, `name` is for people.
    """
    _check("home", home, _ID)
    _check("name", name, _TITLE)
    if instead_of is not None:
        _check("instead_of", instead_of, _ID)
    who = __salt__["eos_roles.caller"](publication)
    __salt__["eos_roles.require_role"](who, "operator", "take the home")
    with __utils__["eos_disk.locked"](os.path.join(_directory(), "locks", "home"), 10):
        recorded = _recorded_home()
        if recorded and recorded["home"] == home:
            return recorded
        if (recorded and recorded["home"]) != instead_of:
            there = f"{recorded['home']} ({recorded['name']})" if recorded else "none"
            raise CommandExecutionError(f"The home on minion {__opts__['id']} is {there}, not {instead_of or 'none'}")
        recorded = {"home": home, "name": name, "user": who["user"], "since": _now()}
        __utils__["eos_disk.write_json"](_home_path(), recorded)
        return recorded


def step_status(*, operation: str, step: str, **publication: object) -> dict:
    """The step record as it truly stands, or {"status": "unknown"}."""
    __salt__["eos_roles.caller"](publication)
    return _read_record(_record_path(operation, step)) or {"status": "unknown"}


def observe(
    *,
    workspaces: list | None = None,
    volumes: list | None = None,
    secrets: dict | None = None,
    operation: str | None = None,
    **publication: object,
) -> dict:
    """Reads back workspaces ("<environment>/<component>") and volumes (paths of directories, or of what is mounted).

    `secrets` is {"<environment>/<component>": null or a version to compare with}; of them the names of items are
    answered, and whether `operation` keeps a copy, or `secrets_error`. `caller` is what `info` says of who calls and of
    the home, so that a plan and its operation need not ask twice. `tiers` are the lists by which this minion judges a
    step, so that a plan can say early what needs an approval.
    """
    seen: dict = {"workspaces": {}, "volumes": {}, "secrets": {}, "caller": _caller(publication)}
    seen["tiers"] = __salt__["eos_tiers.settings"]()
    if operation is not None:
        _check("operation", operation, _ID)
    if secrets:
        seen |= _observe_secrets(__salt__["eos_roles.caller"](publication), secrets, operation)
    if names := _checked_list("workspaces", workspaces, _WORKSPACE):
        seen["workspaces"] = __salt__["eos_terraform.observe"](names)
    paths = _checked_list("volumes", volumes, _PATH)
    for path in paths:
        _check_path("volumes", path)
        seen["volumes"][path] = _observe_volume(path)
    for path, mounted in __salt__["eos_storage.mounted_at"](paths).items() if paths else ():
        seen["volumes"][path]["mounted"] = mounted
    return seen


def storage(**publication: object) -> dict:
    """Disks, volume groups, volumes with their use and growth, and other filesystems of this minion."""
    __salt__["eos_roles.caller"](publication)
    return __salt__["eos_storage_report.of_this_minion"](_pillar_slice("volumes"))


def preview(*, plan: str, function: str, arguments: dict, unknown: list | None = None, **publication: object) -> dict:
    """What a call would do once the plan is delivered, as the engines say that would act; changes nothing.

    `plan` is the plan's environment on the master, `function` and `arguments` are the call's, without operation and
    step, and `unknown` is what nobody can know yet: `secret_version`, `namespace`. A failure is `error` of the answer.
    """
    __salt__["eos_roles.caller"](publication)
    _check("plan", plan, _PLAN)
    unknown = _checked_list("unknown", unknown, _UNKNOWN)
    if function not in _PREVIEWS or not isinstance(arguments, dict):
        raise SaltInvocationError(f"Only these can be previewed, with an object of arguments: {', '.join(_PREVIEWS)}")
    try:
        return _preview(plan, function, arguments, unknown, _compiled_pillar(plan))
    except CommandExecutionError as failure:
        return {"error": _salt_error(function, str(failure), "Deliver the plan again")}


def inspect(**publication: object) -> dict:
    """What this minion has against its current pillar; changes nothing."""
    __salt__["eos_roles.caller"](publication)
    return __salt__["eos_inspect.compare"](_compiled_pillar(None), _served_release())


def _preview(plan: str, function: str, arguments: dict, unknown: list[str], pillar: dict) -> dict:
    slices = pillar.get("eos", {})
    if function == "eos.run_step":
        sls = arguments.get("sls")
        component, environment, kind = _parts(sls)
        wanted = _wanted(slices, sls, arguments.get("digest"))
        if kind == "workspace":
            return __salt__["eos_preview.workspace"](plan, environment, component, wanted, unknown)
        if kind == "volumes" and (error := __salt__["eos_volumes.refused_place"](wanted)):
            return {"states": [], "error": error}
        return __salt__["eos_preview.states"](plan, sls, __salt__[_STATES[kind]](wanted), pillar)
    if function == "eos.remove_volumes":
        _check_volumes(arguments.get("volumes"))
        with_data = _checked_list("with_data", arguments.get("with_data"), _VOLUME)
        return __salt__["eos_preview.removed_volumes"](arguments["volumes"], slices.get("volumes", {}), with_data)
    environment, component = _checked(arguments, "environment"), _checked(arguments, "component")
    if function == "eos.remove_workspace":
        return __salt__["eos_preview.removed_workspace"](environment, component, slices.get("workspaces", {}))
    return __salt__["eos_preview.removed_rules"](environment, component, _checked(arguments, "monitor"), slices)


def _checked(arguments: dict, argument: str) -> str:
    _check(argument, arguments.get(argument), _NAME)
    return arguments[argument]


def terraform_graph(*, environment: str, component: str, **publication: object) -> str:
    """Terraform's own graph of a workspace as it was last applied here, in the language of Graphviz."""
    __salt__["eos_roles.caller"](publication)
    _check("environment", environment, _NAME)
    _check("component", component, _NAME)
    return __salt__["eos_graph.of_workspace"](environment, component)


def examine(**publication: object) -> dict:
    """What the doctor asks.

    The master's environments, and why it gives no pillar; what a request could name here beside a function; of the
    control minion its Terraform, schedule and leftovers.
    """
    __salt__["eos_roles.caller"](publication)
    try:
        named, fault = list(_pillar_slice("workspaces")), None
    except CommandExecutionError as failure:
        named, fault = None, str(failure)
    return {**__salt__["eos_examination.of_this_minion"](named), "pillar": fault}


def sync(**publication: object) -> dict:
    """Brings this minion the formula that the master serves; answers the modules that it took.

    Salt's own `saltutil.sync_all` takes arguments by which a caller removes the formula, or takes it from elsewhere.
    """
    __salt__["eos_roles.caller"](publication)
    taken = __salt__["saltutil.sync_all"](saltenv="base")
    return {kind: modules for kind, modules in taken.items() if modules}


def require_secrets(*, workspaces: list, **publication: object) -> None:
    """Fails, by name, if a secret is missing that the pillar says one of these workspaces needs."""
    __salt__["eos_roles.caller"](publication)
    names = _checked_list("workspaces", workspaces, _WORKSPACE)
    named = _pillar_slice("workspaces")
    if unknown := sorted(set(names) - set(named)):
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} does not name {', '.join(unknown)}")
    if missing := __salt__["eos_terraform.missing_secrets"]([named[name] for name in names]):
        raise CommandExecutionError("; ".join(missing))


def _caller(publication: dict) -> dict:
    who = __salt__["eos_roles.caller"](publication)
    return {"user": who["user"], "role": who["role"], "home": _recorded_home()}


def _recorded_home() -> dict | None:
    """A record that cannot be read is that of another home: whoever operates the estate takes it anew by name."""
    path = _home_path()
    recorded, fault = __utils__["eos_disk.contents"](path, "home", "name", "user", "since")
    if fault is None:
        return recorded
    since = datetime.datetime.fromtimestamp(os.stat(path).st_mtime, datetime.UTC).isoformat(timespec="milliseconds")
    return {"home": "unreadable", "name": f"unknown, because {path} {fault}", "user": None, "since": since}


def _observe_secrets(who: dict, wanted: object, operation: str | None) -> dict:
    _checked_list("secrets", list(wanted) if isinstance(wanted, dict) else wanted, _WORKSPACE)
    for version in wanted.values():
        if version is not None and (type(version) is not int or version < 1):
            raise SaltInvocationError("secrets is not an object of components and versions")
    try:
        return {"secrets": __salt__["eos_secrets.observe"](who, wanted, operation)}
    except CommandExecutionError as failure:
        # The rest of an observation is worth having while the secrets engine is silent.
        return {"secrets_error": __utils__["eos_failure.described"](failure, "secrets")}


def _observe_volume(path: str) -> dict:
    """Owners are given as numbers, because a container's user need have no name on its host; and by their names."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        status = None
    if status is None or not stat.S_ISDIR(status.st_mode):
        return {"exists": False, "user": None, "group": None, "mode": None, "names": None}
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    user, group = status.st_uid, status.st_gid
    names = f"{__salt__['file.uid_to_user'](user)}:{__salt__['file.gid_to_group'](group)}"
    return {"exists": True, "user": str(user), "group": str(group), "mode": mode, "names": names}


class _Call:
    """One call that changes infrastructure: who makes it, what it is, and the record it has on this minion."""

    def __init__(self, publication: dict, function: str, operation: str, step: str, arguments: dict):
        self.who = __salt__["eos_roles.caller"](publication)
        self.function, self.operation, self.step, self.arguments = function, operation, step, arguments
        self.path = _record_path(operation, step)

    def require(self, found: list[tuple], where_unknown: str) -> str:
        """Refuses the call if what it is about is too risky for who makes it; `found` is (risk, why) of all of it.

        Answers the risk.
        """
        risk, because = __salt__["eos_roles.highest"](found, where_unknown)
        call = [self.function, self.arguments]
        __salt__["eos_roles.require"](self.who, risk, because, self.operation, self.step, call)
        return risk

    def once(
        self,
        admit: Callable[[], object],
        work: Callable[[object], dict],
        under: Callable[[], contextlib.AbstractContextManager],
    ) -> dict:
        """Does the work unless its record says it is done; a second caller waits for the first and is told the same.

        `admit` refuses by raising, before anything is recorded; `work` is given what it answers. Both are done under
        one lock, `under`: nothing can change between the look and the work.
        """
        with __utils__["eos_disk.locked"](f"{self.path[: -len('.json')]}.lock") as waited:
            record = _read_record(self.path)
            if record and (record["function"], record["arguments"]) != (self.function, self.arguments):
                self._refuse_another(record)
                record = None
            if record and (waited or record["status"] == "done"):
                return _with_retcode(record)
            record = self._started()
            with contextlib.ExitStack() as held:
                try:
                    held.enter_context(under())
                except CommandExecutionError as failure:
                    # Its holder did not come to an end in time.
                    record |= {"status": "failed", "error": __utils__["eos_failure.described"](failure, self.function)}
                else:
                    admitted = admit()
                    # Not before: whoever is refused must not push out the records of others.
                    steps, operation = os.path.split(os.path.dirname(self.path))
                    __utils__["eos_disk.keep_newest"](steps, operation, _MOST_OPERATIONS)
                    __utils__["eos_disk.write_json"](self.path, record)
                    record |= self._outcome(work, admitted)
            record["ended"] = _now()
            __utils__["eos_disk.write_json"](self.path, record)
            return _with_retcode(record)

    def _outcome(self, work: Callable[[object], dict], admitted: object) -> dict:
        try:
            return work(admitted)
        except Exception as error:  # noqa: BLE001  whatever it was, a live process must not leave `running` behind
            return {"status": "failed", "error": __utils__["eos_failure.described"](error, self.function)}

    def _refuse_another(self, record: dict) -> None:
        """A step has one call. Whoever took its name for another one gives it up to somebody of an equal role."""
        taken_by = record.get("user")
        if taken_by == self.who["user"] or not __salt__["eos_roles.reaches"](self.who, taken_by):
            raise SaltInvocationError(f"Step {self.operation}/{self.step} was called before with other arguments")

    def once_observed(
        self,
        admit: Callable[[], object],
        work: Callable[[object], dict],
        look: Callable[[], dict],
        under: Callable[[], contextlib.AbstractContextManager],
    ) -> dict:
        """As `once`; the answer to a step that is done has its object as `observed`, as `observe` answers it.

        It is read now, also if the step was done long ago, and so is no part of the record.
        """
        record = self.once(admit, work, under)
        if record["status"] != "done":
            return record
        # Whoever is not told can still ask.
        with contextlib.suppress(CommandExecutionError):
            record["observed"] = look()
        return record

    def of_secrets(self, name: str) -> tuple[Callable, Callable]:
        """How secrets are looked at, and their lock."""
        look = functools.partial(_observe_secrets, self.who, {name: None}, self.operation)
        return look, functools.partial(__salt__["eos_secrets.lock"], name)

    def _started(self) -> dict:
        return {
            "operation": self.operation,
            "step": self.step,
            "function": self.function,
            "arguments": self.arguments,
            "user": self.who["user"],
            "status": "running",
            "started": _now(),
            "ended": None,
            "process": {"pid": os.getpid(), "start": _start_of(os.getpid()), "boot": __utils__["eos_boot.id"]()},
            "result": {"states": [], "terraform": None},
            "error": None,
        }


def _states_lock() -> contextlib.AbstractContextManager:
    """Volume steps come one after the other: Salt's own queue sees only jobs named state.*."""
    return __utils__["eos_disk.locked"](os.path.join(_directory(), "locks", "states"))


class _Admitted:
    """A slice of a workspace with its files: the ones that are looked at are the ones that are applied."""

    def __init__(self, names: dict, wanted: dict):
        self.names, self.wanted, self.contents, self.failure = names, wanted, {}, None
        try:
            self.contents = __salt__["eos_terraform.contents"](**names, files=wanted["files"])
        except CommandExecutionError as failure:
            # Nothing of it is applied; the step's record says why.
            self.failure = __utils__["eos_failure.described"](failure, _RECIPE)

    def risks(self) -> list[tuple]:
        name = f"{self.names['environment']}/{self.names['component']}"
        found = [] if self.failure else __salt__["eos_tiers.of_workspace"](name, self.wanted, self.contents)
        # Whoever replaces what is there reaches it as well.
        there = [one for one in __salt__["eos_terraform.recorded_risks"](**self.names) if one[0]]
        held = __salt__["eos_secrets.risks_of_holder"](name)
        return [(self.wanted.get("risk"), _RECIPE), *found, *there, *held]


def _apply_workspace(call: _Call, names: dict, admitted: _Admitted) -> dict:
    """What the state `eos_terraform.applied` of the SLS does, without the seconds that a state run takes.

    Steps of several workspaces run at the same time: each has a lock of its own.
    """
    if admitted.failure:
        return {"status": "failed", "error": admitted.failure}
    ids = {"operation": call.operation, "step": call.step}
    given = {"wanted": admitted.wanted, "contents": admitted.contents}
    return _outcome_of_terraform(__salt__["eos_terraform.ensure_infrastructure"](**names, **ids, **given, held=True))


def _of_workspace(names: dict) -> tuple[Callable, Callable]:
    """How a workspace is looked at, and its lock."""
    name = f"{names['environment']}/{names['component']}"
    look = lambda: {"workspaces": __salt__["eos_terraform.observe"]([name])}  # noqa: E731  it is handed on
    return look, functools.partial(__salt__["eos_terraform.lock"], **names)


def _outcome_of_secrets(name: str, work: Callable[[], dict | None]) -> dict:
    result = {"states": [], "terraform": None}
    try:
        return {"status": "done", "result": {**result, "secrets": work()}}
    except CommandExecutionError as failure:
        error = __utils__["eos_failure.described"](failure, f"secrets of {name}")
        return {"status": "failed", "result": result, "error": error}


def _make_volumes(call: _Call, sls: str, wanted: dict) -> dict:
    if error := __salt__["eos_volumes.place"](wanted):
        return {"status": "failed", "error": error}
    with __salt__["eos_volumes.recorded"](wanted, call.operation):
        states = __salt__["eos_volumes.states"](wanted)
        return _outcome_of_states(sls, __salt__["state.high"](states, test=False, queue=_QUEUE))


def _risks_of_volumes(wanted: dict) -> list[tuple]:
    """(risk, why) of each; that of a volume on LVM depends on what would have to be done.

    A directory has no tier of its own: `eos_volumes` refuses one that would take anything from anybody.
    """
    found = []
    for name, facts in wanted.items():
        found.append((facts.get("risk"), _RECIPE))
        if "volume_group" in facts:
            found.append((__salt__["eos_storage.risk"](facts, name), "its storage"))
    return found + _recorded(__salt__["eos_volumes.risks_there"](list(wanted)))


def _recorded(risks: list) -> list[tuple]:
    return [(risk, "its record on this minion") for risk in risks]


def _load_rules(name: str, slices: dict) -> dict:
    error = __salt__["eos_prometheus.load"](name, slices)["error"]
    return {"status": "failed" if error else "done", "error": error}


def _destroy(call: _Call, names: dict) -> dict:
    ids = {"operation": call.operation, "step": call.step}
    return _outcome_of_terraform(__salt__["eos_terraform.destroy"](**names, **ids, held=True))


def _outcome_of_terraform(answer: dict) -> dict:
    result = {"states": [], "terraform": answer["terraform"]}
    failed = "interrupted" if answer["stopped"] else "failed"
    return {"status": "done" if answer["result"] else failed, "result": result, "error": answer["error"]}


def _outcome_of_states(sls: str, answer: object) -> dict:
    """Salt answers an object of states or, if it could not run them, a list of reasons."""
    if not isinstance(answer, dict) or not all(isinstance(state, dict) for state in answer.values()):
        words = "\n".join(map(str, answer)) if isinstance(answer, list) else str(answer)
        error = _salt_error(sls, words, "Deliver the release again, or see the minion's log")
        return {"status": "failed", "result": {"states": [], "terraform": None}, "error": error}
    ran = sorted(answer.values(), key=lambda state: state["__run_num__"])
    states = [
        {"id": state["__id__"], **{key: state[key] for key in ("name", "result", "changes", "comment")}}
        for state in ran
    ]
    result = {"states": states, "terraform": None}
    failed = [state for state in ran if state["result"] is not True]
    if not ran or failed:
        return {"status": "failed", "result": result, "error": _error_of(sls, failed)}
    return {"status": "done", "result": result, "error": None}


def _error_of(sls: str, failed: list[dict]) -> dict:
    if not failed:
        return _salt_error(sls, "The SLS has no states", "Compile and deliver again")
    first = next((state for state in failed if state.get("__state_ran__", True)), failed[0])
    words, _, hint = first["comment"].partition("\nhint: ")
    return _salt_error(first["__id__"], words, hint or "Fix the fault that Salt names, then run the step again")


def _read_record(path: str) -> dict | None:
    """The record, with `interrupted` in place of a `running` whose process is gone.

    A step whose record cannot be read counts as never called: it runs again, as after an interruption.
    """
    record = __utils__["eos_disk.read_json"](path, "function", "arguments", "status", "process")
    if record and record["status"] == "running":
        process = record["process"]
        if process.get("boot") != __utils__["eos_boot.id"]() or _start_of(process["pid"]) != process["start"]:
            words = "The process that ran the step is gone"
            error = _salt_error(record["function"], words, "Run the step again with the same operation and step")
            record |= {"status": "interrupted", "error": error}
    return record


def _start_of(pid: int) -> int | None:
    """When a process started, in ticks since boot: with its id, what tells it from a later one of the same id."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The second field, the program's name in parentheses, may hold spaces and parentheses itself.
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, start = fields[0], fields[19]
    return None if state == "Z" else int(start)


def _with_retcode(record: dict) -> dict:
    __context__["retcode"] = 0 if record["status"] == "done" else _STATES_FAILED
    return record


def _record_path(operation: str, step: str) -> str:
    _check("operation", operation, _ID)
    _check("step", step, _ID)
    return os.path.join(_directory(), "steps", operation, f"{step}.json")


def _home_path() -> str:
    return os.path.join(_directory(), "home.json")


def _directory() -> str:
    return os.path.join(__opts__["cachedir"], "eos")


def _check(argument: str, value: object, pattern: re.Pattern) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise SaltInvocationError(f"{argument} is not of the form {pattern.pattern}")


def _component_name(environment: object, component: object) -> str:
    _check("environment", environment, _NAME)
    _check("component", component, _NAME)
    return f"{environment}/{component}"


def _check_volumes(volumes: object) -> None:
    if not isinstance(volumes, dict) or not volumes:
        raise SaltInvocationError("volumes is not an object of names and paths")
    for name, path in volumes.items():
        _check("volumes", name, _VOLUME)
        _check_path("volumes", path)


def _check_path(argument: str, path: object) -> None:
    _check(argument, path, _PATH)
    if os.path.normpath(path) != path:
        raise SaltInvocationError(f"{argument}: {path} is not a plain absolute path")


def _checked_list(argument: str, values: object, pattern: re.Pattern) -> list[str]:
    if values is None:
        return []
    if not isinstance(values, list):
        raise SaltInvocationError(f"{argument} is not a list")
    for value in values:
        _check(argument, value, pattern)
    return values


def _served_release() -> str | None:
    text = __salt__["cp.get_file_str"]("salt://release")
    release = text.strip() if isinstance(text, str) else ""
    return release if _DIGEST.fullmatch(release) else None


def _is_served(path: str) -> bool:
    """Whether the release has this file. A file server that finds nothing at all is no proof that it has not.

    Both are asked of one client: what takes time is that it introduces itself to the master.
    """
    with salt.fileclient.get_file_client(__opts__) as client:
        if not client.hash_file("salt://release"):
            raise CommandExecutionError(f"Minion {__opts__['id']} cannot read which release it is served")
        return bool(client.hash_file(f"salt://{path}"))


def _parts(sls: object) -> tuple[str, str, str]:
    """Component, environment and kind of an emitted SLS; the kind is `volumes`, `workspace` or `monitoring`."""
    match = _SLS.fullmatch(sls) if isinstance(sls, str) else None
    if match is None:
        kinds = "volumes, .workspace or .monitoring"
        raise SaltInvocationError(f"sls is not components.<component>.<environment>.{kinds}")
    return match.group(1), match.group(3), match.group(5).partition("-")[0]


def _wanted(slices: dict, sls: str, digest: str) -> dict:
    """What these slices have of an SLS: that of a workspace, or those of volumes or monitoring by name."""
    component, environment, kind = _parts(sls)
    name = f"{environment}/{component}"
    if kind == "workspace":
        wanted = slices.get("workspaces", {}).get(name)
        # What a slice says of itself counts for nothing: it is the digest of the whole slice that is compared.
        _refuse_other_digest(sls, digest, wanted and __utils__["eos_digest.of_slice"](wanted))
        return {**wanted, "digest": digest}
    inside = f"{name}/"
    named = {other: facts for other, facts in slices.get(kind, {}).items() if f"{other}/".startswith(inside)}
    # A record on the disk has the name of what it is about.
    form = _WORKSPACE if kind == "monitoring" else _VOLUME
    if strange := [other for other in named if not form.fullmatch(other)]:
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} has {strange[0]!r}, which is no name")
    if kind == "monitoring":
        # Where the rules go is part of what is compared.
        monitors = slices.get("monitors", {})
        named = {
            other: {**facts, "at": monitors.get(f"{environment}/{facts['monitor']}")} for other, facts in named.items()
        }
    _refuse_other_digest(sls, digest, named and __utils__["eos_digest.of_json"](named))
    return named


def _refuse_other_digest(sls: str, digest: str, served: str | dict | None) -> None:
    if not served:
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} names nothing of {sls}")
    if served != digest:
        raise CommandExecutionError(f"{sls} at {digest} is refused: minion {__opts__['id']} is served {served}")


def _pillar_slice(part: str) -> dict:
    """This part of the slice, by name."""
    return _slices().get(part, {})


def _slices() -> dict:
    """This minion's slice of the pillar, compiled afresh: an execution module's `__pillar__` may be stale."""
    return _compiled_pillar(None).get("eos", {})


def _compiled_pillar(pillarenv: str | None) -> dict:
    pillar = __salt__["pillar.items"](unmask=True, pillarenv=pillarenv)
    if errors := pillar.get("_errors"):
        raise CommandExecutionError(f"The pillar does not render: {'; '.join(map(str, errors))}")
    # Who rendered it may have run it. Nothing of it counts.
    if pillar.get("eos_read_as") != "json":
        words = "The master does not read what Eos delivers by eos_pillar"
        raise CommandExecutionError(f"{words}: set ext_pillar as formula/README.md says, and restart salt-master")
    return pillar


def _formula_digest() -> str:
    """What `sha256sum _modules/eos*.py _states/eos*.py _utils/eos*.py | sha256sum` says in the formula's own folder."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    lines = []
    for kind in ("modules", "states", "utils"):
        folder = os.path.join(root, kind)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.startswith("eos") and name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    lines.append(f"{hashlib.sha256(file.read()).hexdigest()}  _{kind}/{name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _salt_error(name: str, words: str, hint: str) -> dict:
    return {"layer": "salt", "object": name, "words": words, "hint": hint}


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
