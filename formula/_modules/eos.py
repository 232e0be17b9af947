"""All that an API user may call on a minion: deliver, make, remove or change a part, stop, approve, read back.

A part is one thing of one kind that a component has. This module knows no kind by name: each is a module of its own,
`eos_kind_<kind>.py`. Of a call about a part, this module checks the names, and holds the record and the kind's lock. It
has the kind compare and count the risk, asks `eos_roles` whether the caller may, and only then has the kind do it.

A call that changes infrastructure carries an operation and a step id, which together name one step record on this
minion. The record is written before and after the work, so that a call made twice does its work once. All arguments are
keywords; what Salt adds to them (`**publication`) says who called, and `eos_roles` whether that user may.

A kind has these functions, and says so where one of them makes no sense for it. `asked` is what the call asks for:
{"kind", "environment", "component", "name": "<environment>/<component>", "facts", "verb": make, remove or an action,
"operation", "step", "who"}, and "tier" once it is admitted. `slices` compiles this minion's slices when it is called.

| function | what it does |
|---|---|
| check(asked) | refuses facts of another form, before they are used for anything |
| lock(environment, component) | the lock under which all of the following four are called |
| wanted(asked, slices) | refuses what the pillar does not say; answers what is to be made, and nothing later is made |
| risks(asked, wanted) | [(tier, why)] of all it is about, and the tier of what is unknown |
| make(asked, wanted), remove(asked, wanted) | does it; answers status, result and error of the record |
| actions() | what else can be done: {action: "step", or "personal" where the kind itself judges who may} |
| act(asked, wanted) | does an action; only of a kind that has some |
| read_back(asked) | what to `observe` at the end of a step, or None |
| observe(who, what, operation) | what is there, and the failure of whoever did not say it |
| preview(asked, plan, unknown, pillar) | what a call would do once the plan is delivered |
| inspect(pillar) | {"states": the Salt states of all that there is to be, "answer": the rest of `inspect`} |
| examine(name, slices) | more about this minion than a plan needs |
| section() | the key of slices that has its parts, None without one |
| parts(slices) | {name: {"digest", "risks"}}: what slices have of each component, and what they say of its risk |
| parting(name, slices) | without Eos: the facts to remove all that the pillar names of a component, None if it stays |
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os

from salt.exceptions import CommandExecutionError, SaltInvocationError

_KIND = "eos_kind_"
# Records of so many operations of one user are kept. A step whose record is gone runs again if somebody resumes its
# operation.
_MOST_OPERATIONS = 500
_LONGEST_APPROVAL = 7 * 24 * 60
_GRAINS = ("os", "osrelease", "num_cpus", "mem_total", "ipv4", "fqdn", "virtual")
_STATES_FAILED = 2
# A record of any other function is an earlier formula's.
_STEPS = ("eos.make", "eos.remove", "eos.act")
# Terraform has so long to save its state, as `eos_terraform_run` gives it when it is late.
_SECONDS_TO_SAVE = 60
_SECONDS_TO_DIE = 10


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


def deliver(
    *,
    release: str | None = None,
    manifest: list | None = None,
    contents: dict | None = None,
    plan: str | None = None,
    operation: str | None = None,
    **publication: object,
) -> dict:
    """Makes what was compiled what the master serves; without a release, says what that is now.

    `manifest` names the pieces of {path: [digests of its pieces]}, and `contents` has pieces by digest, in base64. The
    answer names the pieces that are `missing`; once none is, the release is current, or the `plan` there to be
    previewed. Of what is served the caller changes what the role reaches, and what the approval of the `operation` has
    a step for; else all is refused. Only a control minion whose settings name the directory of delivery takes anything.
    """
    who = __salt__["eos_roles.caller"](publication)
    if release is None:
        if (manifest, contents, plan, operation) != (None, None, None, None):
            raise SaltInvocationError("Without a release there is nothing to deliver")
        return __salt__["eos_delivery.served"]()
    _check("release", release, "digest")
    if plan is not None:
        _check("plan", plan, "plan")
    if operation is not None:
        _check("operation", operation, "id")
    manifest = __utils__["eos_argument.check_all"]("manifest", manifest, "digest")
    contents = {} if contents is None else contents
    if not isinstance(contents, dict) or not all(isinstance(content, str) for content in contents.values()):
        raise SaltInvocationError("contents is not an object of digests and texts")
    __utils__["eos_argument.check_all"]("contents", list(contents), "digest")
    return __salt__["eos_delivery.take"](who, release, manifest, contents, plan, operation, _kinds())


def make(
    *, operation: str, step: str, kind: str, environment: str, component: str, facts: dict, **publication: object
) -> dict:
    """Brings a part of a component to what the pillar of this minion says; answers the step record.

    `facts` say what the caller means, most often by the digest of the slices: what the pillar has otherwise is refused.
    """
    part = {"kind": kind, "environment": environment, "component": component, "facts": facts}
    return _Call(publication, "make", operation, step, part).once()


def remove(
    *, operation: str, step: str, kind: str, environment: str, component: str, facts: dict, **publication: object
) -> dict:
    """Removes a part of a component that the pillar no longer names; answers the step record."""
    part = {"kind": kind, "environment": environment, "component": component, "facts": facts}
    return _Call(publication, "remove", operation, step, part).once()


def act(
    *,
    kind: str,
    action: str,
    facts: dict,
    environment: str | None = None,
    component: str | None = None,
    operation: str | None = None,
    step: str | None = None,
    **publication: object,
) -> dict:
    """Does with a part what is neither its making nor its end, as the kind's `actions` say.

    An action that changes infrastructure is a step, and answers its record. One that is about an operation has no
    component.
    """
    who = __salt__["eos_roles.caller"](publication)
    known = _of(kind, "actions")()
    if not isinstance(action, str) or action not in known:
        raise SaltInvocationError(f"The kind {kind} has no action {action}, but: {', '.join(known) or 'none'}")
    part = {"kind": kind, "environment": environment, "component": component, "facts": facts}
    if known[action] == "step":
        return _Call(publication, "act", operation, step, part, action).once()
    if step is not None:
        raise SaltInvocationError(f"To {action} is no step")
    if operation is not None:
        _check("operation", operation, "id")
    asked = _asked(who, action, part, operation, None, is_of_component=(environment, component) != (None, None))
    return _of(kind, "act")(asked, _of(kind, "wanted")(asked, _slices))


def stop(*, operation: str, step: str, **publication: object) -> dict:
    """Ends a running step; answers its record as it then stands, or {"status": "unknown"}.

    Whoever may run the step may stop it, by the same tier and the same approval. Its process is asked to end, and ended
    with all its children if it does not. The step can be run again, or its operation rolled back, as after a crash.
    """
    who = __salt__["eos_roles.caller"](publication)
    path = _record_path(operation, step)
    record = _read_record(path)
    if record is None or record["status"] != "running":
        return record or {"status": "unknown"}
    risk, because = record.get("risk") or ("high", "nothing is known of it")
    call = [record["function"], record["arguments"]]
    __salt__["eos_roles.require"](who, risk, because, operation, step, call)
    process = record["process"]
    if process["pid"] == os.getpid():
        raise CommandExecutionError(f"Minion {__opts__['id']} runs steps in itself: set multiprocessing to true")
    if not __utils__["eos_process.end"](process, _SECONDS_TO_SAVE, _SECONDS_TO_DIE):
        words = f"Process {process['pid']}, or a child of it, does not end"
        raise CommandExecutionError(f"Step {operation}/{step} is not stopped: {words}")
    return _stopped(path, process, who["user"] or "root")


def approve(*, operation: str, plan: str, calls: dict, minutes: int, **publication: object) -> dict:
    """Approves calls of one operation on this minion for so many minutes; answers the approval.

    `plan` is the digest of the plan they belong to; `calls` is {step: digest of [function, arguments]}, with arguments
    as the step record has them. It serves another user's calls only, and replaces an earlier one of the operation.
    """
    _check("operation", operation, "id")
    _check("plan", plan, "digest")
    if not isinstance(calls, dict) or not calls:
        raise SaltInvocationError("calls is not an object of steps and digests")
    for step, digest in calls.items():
        _check("calls", step, "id")
        _check("calls", digest, "digest")
    if type(minutes) is not int or not 0 < minutes <= _LONGEST_APPROVAL:
        raise SaltInvocationError(f"minutes is not a number from 1 to {_LONGEST_APPROVAL}")
    who = __salt__["eos_roles.caller"](publication)
    return __salt__["eos_roles.approve"](who, operation, plan, calls, minutes)


def take_home(*, home: str, name: str, instead_of: str | None = None, **publication: object) -> dict:
    """Records which machine operates this estate; answers {"home", "name", "user", "since"}.

    Refused if another home than `instead_of` is recorded here. `home` is the machine's id, `name` is for people.
    """
    _check("home", home, "id")
    _check("name", name, "title")
    if instead_of is not None:
        _check("instead_of", instead_of, "id")
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


def status(*, operation: str, step: str, **publication: object) -> dict:
    """The step record as it truly stands, or {"status": "unknown"}."""
    __salt__["eos_roles.caller"](publication)
    return _read_record(_record_path(operation, step)) or {"status": "unknown"}


def observe(*, parts: dict | None = None, operation: str | None = None, **publication: object) -> dict:
    """Reads back: {kind: what the kind is to look at} -> {kind: what is there}.

    `errors` has the failure of a kind that can be left out, by kind. `caller` is what `info` says of who calls and of
    the home, so that a plan and its operation need not ask twice. `tiers` are the lists by which this minion judges a
    step, so that a plan can say early what needs an approval.
    """
    who = __salt__["eos_roles.caller"](publication)
    if operation is not None:
        _check("operation", operation, "id")
    if not isinstance(parts, dict | None):
        raise SaltInvocationError("parts is not an object of kinds")
    about = {"caller": _caller(publication), "tiers": __salt__["eos_tiers.settings"]()}
    return {**_observed(who, parts or {}, operation), **about}


def preview(*, plan: str, function: str, arguments: dict, unknown: list | None = None, **publication: object) -> dict:
    """What a call would do once the plan is delivered, as the engines say that would act; changes nothing.

    `plan` is the plan's environment on the master, `function` and `arguments` are the call's, without operation and
    step, and `unknown` is what nobody can know yet. A failure is `error` of the answer.
    """
    who = __salt__["eos_roles.caller"](publication)
    _check("plan", plan, "plan")
    unknown = __utils__["eos_argument.check_all"]("unknown", unknown, "item")
    if function not in ("eos.make", "eos.remove"):
        raise SaltInvocationError("Only eos.make and eos.remove can be previewed")
    __utils__["eos_argument.check_keys"]("arguments", arguments, {"kind", "environment", "component", "facts"})
    asked = _asked(who, function.removeprefix("eos."), arguments, None, None)
    try:
        return _of(asked["kind"], "preview")(asked, plan, unknown, _compiled_pillar(plan))
    except CommandExecutionError as failure:
        return {"error": _salt_error(function, str(failure), "Deliver the plan again")}


def inspect(**publication: object) -> dict:
    """What this minion has against its current pillar; changes nothing."""
    __salt__["eos_roles.caller"](publication)
    pillar = _compiled_pillar(None)
    found = {kind: _of(kind, "inspect")(pillar) for kind in _kinds()}
    return __salt__["eos_inspect.compare"](pillar, _served_release(), found)


def examine(*, kind: str | None = None, name: str | None = None, **publication: object) -> object:
    """What the doctor asks or, of a kind, what that has to say of this minion beside; changes nothing.

    The doctor asks for the master's environments, and why it gives no pillar; what a request could name here beside a
    function; of the control minion its Terraform, schedule and leftovers.
    """
    __salt__["eos_roles.caller"](publication)
    if kind is not None:
        return _of(kind, "examine")(name, _slices)
    if name is not None:
        raise SaltInvocationError("name says of a kind what to examine, and there is no kind")
    try:
        slices, fault = _slices(), None
    except CommandExecutionError as failure:
        slices, fault = None, str(failure)
    return {**__salt__["eos_examination.of_this_minion"](slices), "pillar": fault}


def sync(**publication: object) -> dict:
    """Brings this minion the formula that the master serves; answers the modules that it took.

    Salt's own `saltutil.sync_all` takes arguments by which a caller removes the formula, or takes it from elsewhere.
    """
    __salt__["eos_roles.caller"](publication)
    taken = __salt__["saltutil.sync_all"](saltenv="base")
    return {kind: modules for kind, modules in taken.items() if modules}


def _kinds() -> list[str]:
    """What this formula can make: a kind is there if its module is."""
    files = os.listdir(os.path.dirname(os.path.abspath(__file__)))
    return sorted(file[len(_KIND) : -3] for file in files if file.startswith(_KIND) and file.endswith(".py"))


def _of(kind: object, function: str) -> object:
    """A function of a kind. What is no kind becomes no name of a module."""
    if kind not in _kinds():
        raise SaltInvocationError(f"kind is none of: {', '.join(_kinds())}")
    return __salt__[f"{_KIND}{kind}.{function}"]


def _asked(
    who: dict, verb: str, part: dict, operation: str | None, step: str | None, is_of_component: bool = True
) -> dict:
    """What a call asks of a kind, checked; see the top of this module."""
    name = None
    if is_of_component:
        _check("environment", part["environment"], "name")
        _check("component", part["component"], "owner")
        name = f"{part['environment']}/{part['component']}"
    asked = {**part, "verb": verb, "name": name, "operation": operation, "step": step, "who": who}
    _of(part["kind"], "check")(asked)
    return asked


def _observed(who: dict, parts: dict, operation: str | None) -> dict:
    seen: dict = {"errors": {}}
    for kind, what in parts.items():
        seen[kind], error = _of(kind, "observe")(who, what, operation)
        if error is not None:
            seen["errors"][kind] = error
    return seen


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


class _Call:
    """One call that changes infrastructure: who makes it, what it is, and the record it has on this minion."""

    def __init__(
        self, publication: dict, function: str, operation: object, step: object, part: dict, action: str | None = None
    ):
        self.who = __salt__["eos_roles.caller"](publication)
        self.function, self.operation, self.step = f"eos.{function}", operation, step
        self.arguments = part if action is None else {**part, "action": action}
        self.path = _record_path(operation, step)
        self.kind = part["kind"]
        self.asked = _asked(self.who, action or function, part, operation, step)
        self.do = _of(self.kind, function)

    def once(self) -> dict:
        """Does the work unless its record says it is done; a second caller waits for the first and is told the same.

        Whoever is refused is so before anything is recorded. The kind compares, counts the risk and does the work
        under one lock: nothing can change between the look and the work. The answer to a step that is done has its
        object as `observed`, as `observe` answers it. It is read now, also if the step was done long ago, and so is
        no part of the record.
        """
        record = self._once()
        what = _of(self.kind, "read_back")(self.asked) if record["status"] == "done" else None
        if what is not None:
            # Whoever is not told can still ask.
            with contextlib.suppress(CommandExecutionError):
                record["observed"] = _observed(self.who, {self.kind: what}, self.operation)
        return record

    def _once(self) -> dict:
        with __utils__["eos_disk.locked"](_lock_path(self.path)) as waited:
            record = _read_record(self.path)
            if record and (record["function"], record["arguments"]) != (self.function, self.arguments):
                self._refuse_another(record)
                record = None
            if record and (waited or record["status"] == "done"):
                return _with_retcode(record)
            record = self._started()
            with contextlib.ExitStack() as held:
                try:
                    held.enter_context(_of(self.kind, "lock")(self.asked["environment"], self.asked["component"]))
                except CommandExecutionError as failure:
                    # Its holder did not come to an end in time.
                    record |= {"status": "failed", "error": __utils__["eos_failure.described"](failure, self.function)}
                else:
                    wanted = _of(self.kind, "wanted")(self.asked, _slices)
                    record["risk"] = self._require(wanted)
                    # Not before: whoever is refused must not push out the records of others.
                    steps, operation = os.path.split(os.path.dirname(self.path))
                    __utils__["eos_disk.keep_newest"](steps, operation, _MOST_OPERATIONS, self.who["user"])
                    __utils__["eos_disk.write_json"](self.path, record)
                    record |= self._outcome({**self.asked, "tier": record["risk"][0]}, wanted)
            record["ended"] = _now()
            __utils__["eos_disk.write_json"](self.path, record)
            return _with_retcode(record)

    def _require(self, wanted: object) -> list[str]:
        """Refuses the call if what it is about is too risky for who makes it; answers the risk, and why."""
        found, where_unknown = _of(self.kind, "risks")(self.asked, wanted)
        risk, because = __salt__["eos_roles.highest"](found, where_unknown)
        call = [self.function, self.arguments]
        __salt__["eos_roles.require"](self.who, risk, because, self.operation, self.step, call)
        return [risk, because]

    def _outcome(self, asked: dict, wanted: object) -> dict:
        try:
            return self.do(asked, wanted)
        except Exception as error:  # noqa: BLE001  whatever it was, a live process must not leave `running` behind
            return {"status": "failed", "error": __utils__["eos_failure.described"](error, self.function)}

    def _refuse_another(self, record: dict) -> None:
        """A step has one call. Whoever took its name for another one gives it up to somebody of an equal role.

        What an earlier formula was called for cannot be compared: whoever asked for it asks again.
        """
        taken_by = record.get("user")
        is_own, is_retired = taken_by == self.who["user"], record["function"] not in _STEPS
        is_given_up = is_retired if is_own else __salt__["eos_roles.reaches"](self.who, taken_by)
        if not is_given_up:
            raise SaltInvocationError(f"Step {self.operation}/{self.step} was called before with other arguments")

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
            "process": __utils__["eos_process.own"](),
            "risk": None,
            "result": {"states": [], "terraform": None},
            "error": None,
        }


def _read_record(path: str) -> dict | None:
    """The record, with `interrupted` in place of a `running` whose process is gone.

    A step whose record cannot be read counts as never called: it runs again, as after an interruption.
    """
    record = __utils__["eos_disk.read_json"](path, "function", "arguments", "status", "process")
    if record and record["status"] == "running" and not __utils__["eos_process.is_there"](record["process"]):
        words = "The process that ran the step is gone"
        error = _salt_error(record["function"], words, "Run the step again with the same operation and step")
        record |= {"status": "interrupted", "error": error}
    return record


def _stopped(path: str, process: dict, by: str) -> dict:
    """Says in the record who stopped the step, unless it came to its own end, or runs again already."""
    # Whoever runs it again holds its lock, and has nothing to do with the process that was stopped.
    with contextlib.suppress(CommandExecutionError), __utils__["eos_disk.locked"](_lock_path(path), _SECONDS_TO_DIE):
        record = _read_record(path)
        if record and record["process"] == process and record["status"] == "interrupted":
            said = f": {record['error']['words']}" if record["ended"] and record["error"] else ""
            hint = "Run the step again with the same operation and step, or roll the operation back"
            error = _salt_error(record["function"], f"{by} stopped the step{said}", hint)
            record |= {"stopped_by": by, "ended": record["ended"] or _now(), "error": error}
            __utils__["eos_disk.write_json"](path, record)
    return _read_record(path) or {"status": "unknown"}


def _with_retcode(record: dict) -> dict:
    __context__["retcode"] = 0 if record["status"] == "done" else _STATES_FAILED
    return record


def _record_path(operation: str, step: str) -> str:
    _check("operation", operation, "id")
    _check("step", step, "id")
    return os.path.join(_directory(), "steps", operation, f"{step}.json")


def _lock_path(record: str) -> str:
    return f"{record.removesuffix('.json')}.lock"


def _home_path() -> str:
    return os.path.join(_directory(), "home.json")


def _directory() -> str:
    return os.path.join(__opts__["cachedir"], "eos")


def _check(argument: str, value: object, form: str) -> None:
    __utils__["eos_argument.check"](argument, value, form)


def _served_release() -> str | None:
    text = __salt__["cp.get_file_str"]("salt://release")
    release = text.strip() if isinstance(text, str) else ""
    return release if __utils__["eos_argument.fits"](release, "digest") else None


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
