"""All that an API user may call on a minion: run one emitted step, remove a workspace or volumes, and read back.

A mutating call carries an operation and a step id, which together name one step record on this minion. The record is
written before and after the work, so that a call made twice does its work once. All arguments are keywords.

The directories of volumes have records too, which say what Eos made here: nothing else is ever removed.
"""

from __future__ import annotations

import contextlib
import datetime
import glob
import hashlib
import os
import re
import stat
from collections.abc import Callable

from salt.exceptions import CommandExecutionError, SaltInvocationError

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SLS = re.compile(rf"components\.({_NAME.pattern})\.({_NAME.pattern})\.(volumes(?:-{_NAME.pattern})?|workspace)")
_VOLUME = re.compile(rf"{_NAME.pattern}/{_NAME.pattern}/[a-z][a-z0-9_]{{0,47}}")
_PATH = re.compile(r"(/[^/\x00-\x1f]+)+")
# Salt 3008 answers queue=True at once and runs the states later; with a number it waits, as long as fewer than that
# many state runs are before it.
_QUEUE = 1000
_STATES_FAILED = 2


def info() -> dict:
    """Who this minion is and what it is served now: {"minion", "release", "formula", "version"}.

    `formula` is the digest of the modules as synced to this minion, `version` that of Salt.
    """
    return {
        "minion": __opts__["id"],
        "release": _served_release(),
        "formula": _formula_digest(),
        "version": __grains__["saltversion"],
    }


def run_step(*, operation: str, step: str, release: str, sls: str) -> dict:
    """Runs one emitted SLS, `components.<component>.<environment>.volumes` or `.workspace`; answers the step record.

    A component with volumes on several hosts has `.volumes-<host>` for each.
    """
    match = _SLS.fullmatch(sls) if isinstance(sls, str) else None
    if match is None:
        raise SaltInvocationError("sls is not components.<component>.<environment>.volumes or .workspace")
    component, environment, kind = match.group(1), match.group(3), match.group(5)
    _check("release", release, _DIGEST)

    def admit() -> None:
        _refuse_other_release(release)
        names = _pillar_slice("workspaces" if kind == "workspace" else "volumes")
        wanted = f"{environment}/{component}"
        if not any(name == wanted or name.startswith(f"{wanted}/") for name in names):
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} names no {kind} of {wanted}")

    def work() -> dict:
        # eos calls run one after the other, since Salt's queue sees only jobs named state.*.
        with _states_lock():
            if kind == "workspace":
                return _apply_states(operation, step, sls)
            return _make_volumes(operation, step, sls, f"{environment}/{component}/")

    return _once("eos.run_step", operation, step, {"release": release, "sls": sls}, admit, work)


def remove_workspace(*, operation: str, step: str, release: str, environment: str, component: str) -> dict:
    """Destroys a workspace that the pillar no longer names; answers the step record."""
    _check("release", release, _DIGEST)
    _check("environment", environment, _NAME)
    _check("component", component, _NAME)

    def admit() -> None:
        _refuse_other_release(release)
        if f"{environment}/{component}" in _pillar_slice("workspaces"):
            raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names {environment}/{component}")

    names = {"environment": environment, "component": component}
    arguments = {"release": release, **names}
    return _once("eos.remove_workspace", operation, step, arguments, admit, lambda: _destroy(operation, step, names))


def remove_volumes(*, operation: str, step: str, release: str, volumes: dict) -> dict:
    """Removes directories of volumes, {"<environment>/<component>/<need>": path}, with their data; answers the record.

    Each was made here by Eos as an ephemeral volume of this name and path, and the pillar no longer names it. If one of
    them is anything else, none is removed. One that is gone already is done.
    """
    _check("release", release, _DIGEST)
    if not isinstance(volumes, dict) or not volumes:
        raise SaltInvocationError("volumes is not an object of names and paths")
    for name, path in volumes.items():
        _check("volumes", name, _VOLUME)
        _check_path("volumes", path)

    def admit() -> None:
        _refuse_other_release(release)
        named = _pillar_slice("volumes")
        for name in volumes:
            if name in named:
                raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names volume {name}")

    arguments = {"release": release, "volumes": volumes}
    return _once("eos.remove_volumes", operation, step, arguments, admit, lambda: _remove_volumes(volumes))


def step_status(*, operation: str, step: str) -> dict:
    """The step record as it truly stands, or {"status": "unknown"}."""
    return _read_record(_record_path(operation, step)) or {"status": "unknown"}


def observe(*, workspaces: list | None = None, volumes: list | None = None) -> dict:
    """Reads back workspaces ("<environment>/<component>") and volumes (paths of directories)."""
    seen: dict = {"workspaces": {}, "volumes": {}}
    if names := _checked_list("workspaces", workspaces, re.compile(rf"{_NAME.pattern}/{_NAME.pattern}")):
        seen["workspaces"] = __salt__["eos_terraform.observe"](names)
    for path in _checked_list("volumes", volumes, _PATH):
        _check_path("volumes", path)
        seen["volumes"][path] = _observe_volume(path)
    return seen


def _observe_volume(path: str) -> dict:
    """Owners are given as numbers, because a container's user need have no name on its host."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        status = None
    if status is None or not stat.S_ISDIR(status.st_mode):
        return {"exists": False, "user": None, "group": None, "mode": None}
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    return {"exists": True, "user": str(status.st_uid), "group": str(status.st_gid), "mode": mode}


def _once(
    function: str,
    operation: str,
    step: str,
    arguments: dict,
    admit: Callable[[], None],
    work: Callable[[], dict],
) -> dict:
    """Does the work unless its record says that it is done; a second caller waits for the first and is told the same.

    `admit` refuses by raising, before anything is recorded.
    """
    path = _record_path(operation, step)
    with __utils__["eos_disk.locked"](f"{path[: -len('.json')]}.lock") as waited:
        record = _read_record(path)
        if record and (record["function"], record["arguments"]) != (function, arguments):
            raise SaltInvocationError(f"Step {operation}/{step} was called before with other arguments")
        if record and (waited or record["status"] == "done"):
            return _with_retcode(record)
        admit()
        record = _started(operation, step, function, arguments)
        __utils__["eos_disk.write_json"](path, record)
        try:
            record |= work()
        except Exception as error:  # noqa: BLE001  whatever it was, a live process must not leave `running` behind
            words = f"{type(error).__name__}: {error}"
            record |= {"status": "failed", "error": _salt_error(function, words, "See the minion's log")}
        record["ended"] = _now()
        __utils__["eos_disk.write_json"](path, record)
        return _with_retcode(record)


def _states_lock() -> contextlib.AbstractContextManager:
    return __utils__["eos_disk.locked"](os.path.join(_directory(), "locks", "states"))


def _apply_states(operation: str, step: str, sls: str) -> dict:
    # Read by the state module eos_terraform, to which Salt hands this context on.
    __context__["eos_step"] = {"operation": operation, "step": step}
    try:
        answer = __salt__["state.apply"](sls, test=False, queue=_QUEUE)
    finally:
        del __context__["eos_step"]
    return _outcome_of_states(sls, answer)


def _make_volumes(operation: str, step: str, sls: str, of_component: str) -> dict:
    """Runs the SLS; each directory that it makes is recorded first, so that a killed run leaves none unrecorded."""
    volumes = {name: facts for name, facts in _pillar_slice("volumes").items() if name.startswith(of_component)}
    directories = {name: facts for name, facts in volumes.items() if "volume_group" not in facts}
    for name, facts in directories.items():
        _record_directory(name, facts["path"], facts.get("durability"))
    try:
        return _apply_states(operation, step, sls)
    finally:
        for name, facts in directories.items():
            if not os.path.isdir(facts["path"]):
                _forget_directory(name)


def _record_directory(name: str, path: str, durability: str | None) -> None:
    """What was there before Eos is not Eos's to remove, whatever the environment's durability."""
    known = _directory_records().get(name)
    place = {"path": path, "real": os.path.realpath(path)}
    made_before = known is not None and known["made"] and all(known[key] == place[key] for key in place)
    made = made_before or not os.path.lexists(path)
    __utils__["eos_disk.write_json"](
        _directory_record_path(name), {"name": name, **place, "durability": durability, "made": made}
    )


def _forget_directory(name: str) -> None:
    path = _directory_record_path(name)
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
        __utils__["eos_disk.sync_directory"](os.path.dirname(path))


def _directory_record_path(name: str) -> str:
    return os.path.join(_directory(), "volumes", f"{name}.json")


def _directory_records() -> dict[str, dict]:
    """Name -> record of each volume that Eos has had as a directory here; one that was kept has its record still."""
    root = os.path.join(_directory(), "volumes")
    found = glob.glob("*/*/*.json", root_dir=root)
    records = (__utils__["eos_disk.read_json"](os.path.join(root, path)) for path in found)
    return {record["name"]: record for record in records if record}


def _remove_volumes(volumes: dict[str, str]) -> dict:
    """All are looked at before any is removed."""
    with _states_lock():
        records = _directory_records()
        wanted = _pillar_slice("volumes")
        others = {name: record["path"] for name, record in records.items() if name not in volumes}
        others |= {name: facts["path"] for name, facts in wanted.items()}
        for name, path in volumes.items():
            if os.path.lexists(path) and (why := _why_kept(name, path, records.get(name), others)):
                hint = "Remove it by hand (to keep it, say `eos apply` instead)"
                return _volume_failed(name, f"{path} is kept: {why}", hint)
        # What lies in another goes first.
        for name, path in sorted(volumes.items(), key=lambda item: len(item[1]), reverse=True):
            if os.path.lexists(path) and (words := __utils__["eos_directory.remove"](path)):
                return _volume_failed(name, words, "Mend what rm names on this minion")
            if records.get(name, {}).get("path") == path:
                _forget_directory(name)
    return {"status": "done"}


def _why_kept(name: str, path: str, record: dict | None, others: dict[str, str]) -> str | None:
    if record is None:
        return f"minion {__opts__['id']} has no record of making it for {name}"
    if record["path"] != path:
        return f"{name} was made at {record['path']}"
    if record["durability"] != "ephemeral":
        return f"{name} is {record['durability']}, not ephemeral"
    if not record["made"]:
        return f"it was there before Eos made {name}"
    if why := __utils__["eos_directory.why_kept"](path):
        return f"it {why}"
    real = os.path.realpath(path)
    if record["real"] != real:
        return f"it was {record['real']} when Eos made it, and is {real}"
    within = __utils__["eos_directory.within"]
    there = {other: at for other, at in others.items() if os.path.lexists(at)}
    inside = sorted(other for other, at in there.items() if within(os.path.realpath(at), real))
    return f"volume {inside[0]} is in it" if inside else None


def _volume_failed(name: str, words: str, hint: str) -> dict:
    return {"status": "failed", "error": _salt_error(f"volume {name}", words, hint)}


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
    result = {"states": states, "terraform": next((s["terraform"] for s in ran if "terraform" in s), None)}
    failed = [state for state in ran if state["result"] is not True]
    if not ran or failed:
        status = "interrupted" if any(state.get("stopped") for state in failed) else "failed"
        return {"status": status, "result": result, "error": _error_of(sls, failed)}
    return {"status": "done", "result": result, "error": None}


def _error_of(sls: str, failed: list[dict]) -> dict:
    if not failed:
        return _salt_error(sls, "The SLS has no states", "Compile and deliver again")
    first = next((state for state in failed if state.get("__state_ran__", True)), failed[0])
    hint = "Mend what Salt names on this minion, then run the step again"
    return first.get("error") or _salt_error(first["__id__"], first["comment"], hint)


def _destroy(operation: str, step: str, names: dict) -> dict:
    answer = __salt__["eos_terraform.destroy"](operation=operation, step=step, **names)
    result = {"states": [], "terraform": answer["terraform"]}
    failed = "interrupted" if answer["stopped"] else "failed"
    return {"status": "done" if answer["result"] else failed, "result": result, "error": answer["error"]}


def _started(operation: str, step: str, function: str, arguments: dict) -> dict:
    return {
        "operation": operation,
        "step": step,
        "function": function,
        "arguments": arguments,
        "status": "running",
        "started": _now(),
        "ended": None,
        "process": {"pid": os.getpid(), "start": _start_of(os.getpid())},
        "result": {"states": [], "terraform": None},
        "error": None,
    }


def _read_record(path: str) -> dict | None:
    """The record, with `interrupted` in place of a `running` whose process is gone."""
    record = __utils__["eos_disk.read_json"](path)
    if record and record["status"] == "running":
        process = record["process"]
        if _start_of(process["pid"]) != process["start"]:
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


def _directory() -> str:
    return os.path.join(__opts__["cachedir"], "eos")


def _check(argument: str, value: object, pattern: re.Pattern) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise SaltInvocationError(f"{argument} is not of the form {pattern.pattern}")


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


def _refuse_other_release(release: str) -> None:
    served = _served_release()
    if served != release:
        raise CommandExecutionError(f"Release {release} is refused: minion {__opts__['id']} is served {served}")


def _pillar_slice(part: str) -> dict:
    """This part of the slice, by name, compiled afresh: an execution module's `__pillar__` may be stale."""
    pillar = __salt__["pillar.items"](unmask=True)
    if errors := pillar.get("_errors"):
        raise CommandExecutionError(f"The pillar does not render: {'; '.join(map(str, errors))}")
    return pillar.get("eos", {}).get(part, {})


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
