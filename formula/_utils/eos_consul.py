"""Consul's HTTP API as far as the control minion needs it: Terraform states, locks of operations, checks."""

from __future__ import annotations

import base64
import hashlib
import json
import urllib.parse

_SESSION = {"TTL": "600s", "Behavior": "release", "LockDelay": "5s"}
# How often a Terraform state is read that Terraform replaces meanwhile.
_LOOKS = 5
# Bytes of a value; Terraform's backend puts what is longer into several keys.
_LONGEST_VALUE = 524288
_MAY = "Does Consul's policy eos-deploy let the run's token do so?"


def read_terraform_state(consul: object, key: str) -> tuple[dict | None, str | None]:
    """The Terraform state as the backend keeps it, and why there is none at a key that is there.

    It is in one key or, if it is large, in several that this one lists. Terraform replaces these: who finds one missing
    looks again.
    """
    for _ in range(_LOOKS):
        entry = _read(consul, key)
        if entry is None:
            return None, None
        content = _object(entry["value"])
        if content is None:
            return None, "is cut, or no JSON"
        if "current-hash" not in content:
            return content, None
        chunks = [_read(consul, chunk) for chunk in content["chunks"]]
        if None not in chunks:
            whole = _object(b"".join(chunk["value"] for chunk in chunks))
            return whole, None if whole is not None else "is cut, or no JSON"
    return None, "lacks a part"


def _object(value: bytes) -> dict | None:
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def read_terraform_states(consul: object) -> dict[str, tuple[dict | None, str | None]]:
    """Of every workspace, by its name, as `read_terraform_state` has it; read at once."""
    status, answer = consul.ask("GET", "/v1/kv/terraform/?recurse")
    if status == 404:
        return {}
    if status != 200:
        raise consul.failure("terraform/", f"{status}: {answer}", _MAY)
    values = {entry["Key"]: base64.b64decode(entry["Value"] or "") for entry in answer}
    states = {}
    for key, value in values.items():
        name = key.removeprefix("terraform/").removesuffix("/state")
        if key != f"terraform/{name}/state" or name.count("/") != 1:
            continue
        content = _object(value)
        # What lies in several keys may have been replaced while they were read.
        is_whole = content is not None and "current-hash" not in content
        states[name] = (content, None) if is_whole else read_terraform_state(consul, key)
    return states


def checks_of(consul: object, service: str, instance: str) -> list[str]:
    """How the checks of a service stand in one instance of Nomad's, those of its node included."""
    status, answer = consul.ask("GET", f"/v1/health/service/{urllib.parse.quote(service, safe='')}")
    if status != 200:
        raise consul.failure(f"service {service}", f"{status}: {answer}", _MAY)
    own = [entry for entry in answer if entry["Service"]["ID"].startswith(f"_nomad-task-{instance}-")]
    return [check["Status"] for entry in own for check in entry["Checks"]]


def read_text(consul: object, key: str) -> str | None:
    entry = _read(consul, key)
    return entry and entry["value"].decode(errors="replace")


def create_terraform_state(consul: object, key: str, state: dict) -> None:
    """Writes a Terraform state as the backend does, in several keys if it is large; fails if there is one."""
    text = json.dumps(state, indent=2).encode()
    if len(text) > _LONGEST_VALUE:
        digest = hashlib.md5(text, usedforsecurity=False).hexdigest()
        parts = [text[at : at + _LONGEST_VALUE] for at in range(0, len(text), _LONGEST_VALUE)]
        chunks = [f"{key}/tfstate.{digest}/{number}" for number in range(len(parts))]
        for chunk, part in zip(chunks, parts, strict=True):
            _must(consul, chunk, "PUT", f"/v1/kv/{chunk}", part)
        text = json.dumps({"current-hash": digest, "chunks": chunks}).encode()
    if not _must(consul, key, "PUT", f"/v1/kv/{key}?cas=0", text):
        raise consul.failure(key, "There is a Terraform state already", "Compare it with that of the workspace")


def terraform_lock(consul: object, key: str) -> dict | None:
    """Terraform's own lock of a state, and who holds it; a session that ended holds none."""
    held, told = _read(consul, f"{key}/.lock"), _read(consul, f"{key}/.lockinfo")
    if held is None and told is None:
        return None
    found = (told and _object(told["value"])) or {}
    is_held = held is not None and bool(held["session"])
    return {"held": is_held, "who": found.get("Who"), "since": found.get("Created"), "id": found.get("ID")}


def remove_terraform_state(consul: object, key: str) -> None:
    """Removes the key and all that the backend keeps below it."""
    for path in (key, f"{key}/?recurse"):
        _must(consul, key, "DELETE", f"/v1/kv/{path}")


def config_entry(consul: object, kind: str, name: str) -> dict | None:
    status, answer = consul.ask("GET", f"/v1/config/{urllib.parse.quote(kind)}/{urllib.parse.quote(name, safe='')}")
    if status == 404:
        return None
    if status != 200:
        raise consul.failure(f"{kind} {name}", f"{status}: {answer}", _MAY)
    return answer


def registered(consul: object, service: str) -> list[tuple[str, int]]:
    """(address, port) of every instance that passes its checks; one without an address of its own has its node's."""
    status, answer = consul.ask("GET", f"/v1/health/service/{urllib.parse.quote(service, safe='')}?passing=true")
    if status != 200:
        raise consul.failure(f"service {service}", f"{status}: {answer}", _MAY)
    return [(one["Service"]["Address"] or one["Node"]["Address"], one["Service"]["Port"]) for one in answer]


def is_locked(consul: object, key: str) -> bool:
    entry = _read(consul, key)
    return entry is not None and bool(entry["session"])


def holder(consul: object, key: str) -> str | None:
    """The operation that holds the lock now."""
    return _held(_read(consul, key))


def require_lock(consul: object, key: str, operation: str) -> None:
    """Fails unless this operation holds the lock now."""
    held_by = holder(consul, key)
    if held_by != operation:
        words = f"Operation {operation} does not hold the lock: " + (f"{held_by} does" if held_by else "nobody does")
        hint = "eos takes the lock of a component before it asks for a step: run the operation again with eos"
        raise consul.failure(key, words, hint)


def take_lock(consul: object, key: str, value: dict, **session: str) -> str:
    """Takes the lock, and answers the session that holds it."""
    session = _must(consul, key, "PUT", "/v1/session/create", {"Name": key, **_SESSION, **session})["ID"]
    if not _must(consul, key, "PUT", f"/v1/kv/{key}?acquire={session}", value):
        _end_session(consul, session)
        held_by = holder(consul, key) or "somebody, a moment ago"
        raise consul.failure(key, f"The lock is held by {held_by}", "Wait for the other operation to end")
    return session


def renew_session(consul: object, session: str) -> None:
    _must(consul, f"session {session}", "PUT", f"/v1/session/renew/{session}")


def give_back_lock(consul: object, key: str, session: str) -> None:
    """Releases the lock before its session ends: Consul keeps a lock closed for a while if its session ends with it."""
    _must(consul, key, "PUT", f"/v1/kv/{key}?release={session}")
    _end_session(consul, session)


def release_lock(consul: object, key: str, operation: str) -> None:
    """Ends the lock that an earlier call took for this operation; fails if it holds none."""
    require_lock(consul, key, operation)
    give_back_lock(consul, key, _read(consul, key)["session"])


def _held(entry: dict | None) -> str | None:
    return _operation(entry["value"]) if entry and entry["session"] else None


def _end_session(consul: object, session: str) -> None:
    _must(consul, f"session {session}", "PUT", f"/v1/session/destroy/{session}")


def _operation(value: bytes) -> str:
    """Who holds a lock, as its value says."""
    try:
        return str(json.loads(value)["operation"])
    except (ValueError, KeyError, TypeError):
        return "an unknown operation"


def _read(consul: object, key: str) -> dict | None:
    status, answer = consul.ask("GET", f"/v1/kv/{urllib.parse.quote(key)}")
    if status == 404:
        return None
    if status != 200:
        raise consul.failure(key, f"{status}: {answer}", _MAY)
    (entry,) = answer
    return {"value": base64.b64decode(entry["Value"] or ""), "session": entry.get("Session")}


def _must(consul: object, name: str, method: str, path: str, body: object = None) -> object:
    status, answer = consul.ask(method, path, body)
    if status != 200:
        raise consul.failure(name, f"{status}: {answer}", _MAY)
    return answer
