"""Arguments of calls: each has its form, or the call is refused. A name is checked before it becomes a path."""

from __future__ import annotations

import os
import re

from salt.exceptions import SaltInvocationError

_NAME = r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?"
# Something that stands for itself has no name in DNS.
_OWNER = r"[a-z]([a-z0-9_-]{0,61}[a-z0-9])?"
_FORMS = {
    # Locks lie beside the records, under names with an ending of their own. A step without Eos is called after its SLS,
    # which may have the id of a minion in its name.
    "id": re.compile(r"(?!.*\.lock\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,219}"),
    "name": re.compile(_NAME),
    "owner": re.compile(_OWNER),
    "digest": re.compile(r"[0-9a-f]{64}"),
    "component": re.compile(rf"{_NAME}/{_OWNER}"),
    "part": re.compile(rf"{_NAME}/{_OWNER}/[a-z][a-z0-9_]{{0,47}}"),
    "path": re.compile(r"(/[^/\x00-\x1f]+)+"),
    "instance": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "task": re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"),
    "item": re.compile(r"[a-z][a-z0-9_]{0,95}"),
    "title": re.compile(r"[^\x00-\x1f\x7f]{1,200}"),
    "plan": re.compile(r"plan-[0-9a-f]{32}"),
}


def fits(value: object, form: str) -> bool:
    return isinstance(value, str) and _FORMS[form].fullmatch(value) is not None


def check(argument: str, value: object, form: str) -> None:
    """Refuses a value that is not of this form."""
    if not fits(value, form):
        raise SaltInvocationError(f"{argument} is not of the form {_FORMS[form].pattern}")


def check_path(argument: str, path: object) -> None:
    """Refuses what is not a plain absolute path."""
    check(argument, path, "path")
    if os.path.normpath(path) != path:
        raise SaltInvocationError(f"{argument}: {path} is not a plain absolute path")


def check_all(argument: str, values: object, form: str) -> list[str]:
    """The values of a list, each of this form; nothing is the empty list."""
    if values is None:
        return []
    if not isinstance(values, list):
        raise SaltInvocationError(f"{argument} is not a list")
    for value in values:
        check(argument, value, form)
    return values


def check_keys(argument: str, given: object, required: set[str], optional: set[str] = frozenset()) -> None:
    """Refuses what is not an object of exactly these keys."""
    if not isinstance(given, dict) or not required <= given.keys() or not given.keys() <= required | optional:
        wanted = ", ".join([*sorted(required), *(f"{name} (optional)" for name in sorted(optional))])
        raise SaltInvocationError(f"{argument} is not an object of: {wanted or 'nothing'}")
