"""Sessions in a task: a door on this machine, for one command in one instance of a component.

Nothing here may be called over the API; the kind of workspaces calls it. A session is held to the risk that the
component counts as, like the sight of its secrets: nobody's approval helps. `eos_door` says why there is a door.
`<cachedir>/eos/sessions.jsonl` has a line of who began which command when, written before Nomad hears of it, and one of
its end. Nothing removes them.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
import secrets
import signal
import time

from salt.exceptions import CommandExecutionError

_log = logging.getLogger(__name__)
_ANY_PORT_HERE = "127.0.0.1:0"
# So many sessions one user has at a time.
_MOST = 5


def open_door(asked: dict, found: list[tuple]) -> dict:
    """Opens a door to the instance and task of the facts; answers {"address", "port", "certificate"}.

    `found` are the risks of the component, each with why.
    """
    who, name, facts = asked["who"], asked["name"], asked["facts"]
    tier, why = __salt__["eos_roles.highest"](found, "high")
    __salt__["eos_roles.require_alone"](who, tier, f"enter {name}, which is of {tier} risk ({why})")
    if not __opts__.get("multiprocessing", True):
        raise CommandExecutionError(f"Minion {__opts__['id']} runs calls in itself: set multiprocessing to true")
    user = who["user"] or "root"
    _require_instance(asked)
    id_of_session = secrets.token_hex(8)
    with _slot(user, name):
        profile = __salt__["eos_profile.of_this_minion"]()
        try:
            profile.log_in()
            given = _given(profile, asked, f"eos session {id_of_session} of {user} in {name}")
            record = {"session": id_of_session, "user": user, "role": who["role"], "component": name}
            record |= {"instance": facts["instance"], "task": facts["task"]}
            with _listener() as at:
                context, certificate = __utils__["eos_door.certificate"]()
                address, port = at.getsockname()[:2]
                # The token is the other process's from here on.
                if os.fork() == 0:
                    _serve(profile, at, context, given, record)
                return {"address": address, "port": port, "certificate": certificate}
        except BaseException:
            profile.close()
            raise


def _require_instance(asked: dict) -> None:
    """Refuses what is no running instance of the component as it is now, or runs as root on its host."""
    namespace, component, facts = asked["environment"], asked["component"], asked["facts"]
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, _log.warning):
        profile.log_in()
        nomad = profile.deploying(asked["name"])
        job = __utils__["eos_nomad.job"](nomad, namespace, component)
        if job is None or (job.get("Meta") or {}).get("eos_component") != component:
            hint = f"`eos drift` shows what differs, `eos reconcile {component}` corrects it"
            raise nomad.refusal(f"job {component}", "Nomad has no such job of this component", hint)
        instance = __utils__["eos_nomad.allocation"](nomad, namespace, facts["instance"])
    shown, hint = facts["instance"][:8], f"`eos status {component}` shows what runs"
    if instance is None or (instance["Namespace"], instance["JobID"]) != (namespace, component):
        raise nomad.refusal(f"instance {shown}", f"It is no instance of {component}", hint)
    if not __utils__["eos_instance.is_running"](instance):
        raise nomad.refusal(f"instance {shown}", "It does not run", hint)
    if instance["Job"]["Version"] != job["Version"]:
        words = f"It runs version {instance['Job']['Version']} of the job, and the risk of {job['Version']} is known"
        raise nomad.refusal(f"instance {shown}", words, hint)
    group = next(group for group in job["TaskGroups"] if group["Name"] == instance["TaskGroup"])
    tasks = {task["Name"]: task["Driver"] for task in group["Tasks"]}
    if facts["task"] not in __utils__["eos_instance.started"](instance):
        words = (
            f"Task {facts['task']} does not run in it, but: {', '.join(__utils__['eos_instance.started'](instance))}"
        )
        raise nomad.refusal(f"instance {shown}", words, hint)
    if tasks[facts["task"]] == "raw_exec":
        words = f"Task {facts['task']} is a program of its host: a session in it would be root there"
        raise nomad.refusal(f"job {component}", words, "An administrator of that host looks there")


def _given(profile: object, asked: dict, token_name: str) -> dict:
    """What the door needs. Nomad's own log has the name of the token beside the command."""
    there = profile.read_secret(profile.secrets_of(asked["environment"], asked["component"])) or {"items": {}}
    return {
        "proof": asked["facts"]["proof"],
        "nomad": __salt__["eos_profile.setting"]("nomad_address"),
        "authority": __salt__["eos_profile.optional_setting"]("engines_authority"),
        "token": profile.entering(token_name),
        "namespace": asked["environment"],
        "instance": asked["facts"]["instance"],
        "task": asked["facts"]["task"],
        "secrets": [value for value in there["items"].values() if isinstance(value, str)],
    }


def _listener() -> object:
    place = __salt__["eos_profile.optional_setting"]("sessions") or _ANY_PORT_HERE
    try:
        return __utils__["eos_door.listener"](place)
    except (OSError, ValueError) as error:
        words = f"No session can be opened at {place} of minion {__opts__['id']}: {error}"
        hint = "Its setting eos:sessions is an address of it and a range of free ports: 10.0.0.5:7300-7399"
        raise __utils__["eos_failure.of"]("salt", "sessions", words, hint) from None


@contextlib.contextmanager
def _slot(user: str, name: str) -> object:
    """Holds one of the places that a user has. The process that serves the door inherits it, and so keeps it."""
    directory = os.path.join(__opts__["cachedir"], "eos", "sessions")
    for number in range(_MOST):
        path = os.path.join(directory, f"{user}.{number}.lock")
        with contextlib.ExitStack() as held:
            try:
                # Long enough for somebody who only looks whether it is free.
                held.enter_context(__utils__["eos_disk.locked"](path, 0.2))
            except CommandExecutionError:
                if __utils__["eos_disk.is_locked"](path):
                    continue
                raise
            yield
            return
    words = f"{user} has {_MOST} sessions already"
    raise __utils__["eos_failure.of"]("salt", f"session in {name}", words, "End one of them, or wait ten minutes")


def _serve(profile: object, at: object, context: object, given: dict, record: dict) -> None:
    """The rest of the life of a process of its own. Of the call that began it, it keeps the door and the place."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        logging.disable()
        __utils__["eos_door.close_files_but"]({at.fileno(), *_places_held()})
        begun = time.monotonic()

        def tell(what: str, more: dict) -> None:
            seconds = {} if what == "begun" else {"seconds": round(time.monotonic() - begun)}
            when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            _write_down({"when": when, "what": what, **record, **more, **seconds})

        try:
            __utils__["eos_door.serve"](at, context, given, tell)
        except (OSError, ValueError) as error:
            tell(f"failed: {error}", {})
        finally:
            profile.close()
    finally:
        os._exit(0)


def _places_held() -> list[int]:
    directory = os.path.join(__opts__["cachedir"], "eos", "sessions") + "/"
    held = []
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{descriptor}").startswith(directory):
                held.append(int(descriptor))
    return held


def _write_down(line: dict) -> None:
    path = os.path.join(__opts__["cachedir"], "eos", "sessions.jsonl")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, json.dumps(line, sort_keys=True).encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
