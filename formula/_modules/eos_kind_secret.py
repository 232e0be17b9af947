"""The kind `secret`: the secrets of a component, on the control minion. `eos.py` says what a kind has.

No value is in a call or an answer. The facts are {"items": [{"item", "given", "rotate", "generate", "copy_of"}]} to
write them, none to remove them. `restore` takes {"previous": "nothing", {"version": number} or {"kept": path}}.
`reveal` may take "items" and "operations". `forget` takes none, and is about an operation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from salt.exceptions import CommandExecutionError, SaltInvocationError

_FACTS = {
    "make": ({"items"}, set()),
    "remove": (set(), set()),
    "restore": ({"previous"}, set()),
    "forget": (set(), set()),
    "reveal": (set(), {"items", "operations"}),
}


def check(asked: dict) -> None:
    verb, facts = asked["verb"], asked["facts"]
    required, optional = _FACTS[verb]
    __utils__["eos_argument.check_keys"]("facts", facts, required, optional)
    if (asked["name"] is None) != (verb == "forget"):
        about = "an operation, not a component" if verb == "forget" else "a component"
        raise SaltInvocationError(f"To {verb} secrets is about {about}")
    if verb == "make":
        __salt__["eos_secrets.check_items"](facts["items"])
    elif verb == "restore":
        __salt__["eos_secrets.check_previous"](asked["name"], facts["previous"])
    elif verb == "forget":
        __utils__["eos_argument.check"]("operation", asked["operation"], "id")
    elif verb == "reveal":
        __utils__["eos_argument.check_all"]("items", facts.get("items"), "item")
        __utils__["eos_argument.check_all"]("operations", facts.get("operations"), "id")


def lock(environment: str, component: str) -> contextlib.AbstractContextManager:
    return __salt__["eos_secrets.lock"](f"{environment}/{component}")


def wanted(asked: dict, slices: Callable[[], dict]) -> dict:
    """The workspaces that the pillar names: what a secret counts as follows from whose it is."""
    if asked["verb"] == "forget":
        return {}
    name, workspaces = asked["name"], slices().get("workspaces", {})
    if asked["verb"] == "make":
        _require_named(name, asked["facts"]["items"], workspaces)
    elif asked["verb"] == "remove" and not asked["who"]["is_root"] and workspaces.get(name, {}).get("secrets"):
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} still names secrets of {name}")
    return workspaces


def risks(asked: dict, wanted: dict) -> tuple[list[tuple], str]:
    if asked["verb"] == "make":
        return __salt__["eos_secrets.risks_to_write"](asked["name"], asked["facts"]["items"], wanted), "high"
    found = __salt__["eos_secrets.risks"](asked["name"], wanted)
    if asked["verb"] == "restore":
        found = [*found, *__salt__["eos_secrets.risks_of_previous"](asked["facts"]["previous"])]
    return found, "high"


def make(asked: dict, wanted: dict) -> dict:
    """A given value waits in the place of who gave it; another is generated here, or copied from its component."""
    del wanted
    return _outcome(asked, "write", asked["facts"]["items"])


def remove(asked: dict, wanted: dict) -> dict:
    del wanted
    return _outcome(asked, "remove")


def section() -> None:
    """None: a slice names the secrets of a workspace as a part of that."""


def parts(slices: dict) -> dict[str, dict]:
    """None, for the same reason."""
    del slices
    return {}


def parting(name: str, slices: dict) -> None:
    """Secrets stay: nobody but the secrets engine has them."""
    del name, slices


def actions() -> dict[str, str]:
    """`restore` is a step. The others concern values that wait or are shown: `eos_secrets` judges whose they are."""
    return {"restore": "step", "forget": "personal", "reveal": "personal"}


def act(asked: dict, wanted: dict) -> dict:
    facts = asked["facts"]
    match asked["verb"]:
        case "restore":
            return _outcome(asked, "restore", facts["previous"])
        case "forget":
            return __salt__["eos_secrets.forget"](asked["who"], asked["operation"])
        case "reveal":
            named = (facts.get("items"), facts.get("operations"))
            return __salt__["eos_secrets.reveal"](asked["who"], asked["name"], *named, wanted)
    raise SaltInvocationError(f"There is no action {asked['verb']} of secrets")


def read_back(asked: dict) -> dict[str, None]:
    return {asked["name"]: None}


def observe(who: dict, what: object, operation: str | None) -> tuple[dict, dict | None]:
    """`what` is {"<environment>/<component>": null or a version to compare with}."""
    if not isinstance(what, dict):
        raise SaltInvocationError("secret is not an object of components and versions")
    __utils__["eos_argument.check_all"]("secret", list(what), "component")
    for version in what.values():
        if version is not None and (type(version) is not int or version < 1):
            raise SaltInvocationError("secret is not an object of components and versions")
    try:
        return __salt__["eos_secrets.observe"](who, what, operation) if what else {}, None
    except CommandExecutionError as failure:
        # The rest of an observation is worth having while the secrets engine is silent.
        return {}, __utils__["eos_failure.described"](failure, "secrets")


def preview(asked: dict, plan: str, unknown: list[str], pillar: dict) -> None:
    """Refused: what a plan needs to know of secrets, `observe` answers."""
    del asked, plan, unknown, pillar
    raise SaltInvocationError("Secrets are not previewed: a plan compares what is observed of them")


def inspect(pillar: dict) -> dict:
    """Nothing: the pillar has no values to compare with."""
    del pillar
    return {"states": {}, "answer": {}}


def examine(name: object, slices: Callable[[], dict]) -> None:
    """Refused: more than `observe` answers nobody is told."""
    del name, slices
    raise SaltInvocationError("There is nothing to examine of secrets")


def _require_named(name: str, items: list[dict], workspaces: dict) -> None:
    if name not in workspaces:
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} names no workspace {name}")
    known = {item for secret in workspaces[name].get("secrets", []) for item in secret["items"]}
    if unknown := sorted({work["item"] for work in items} - known):
        raise CommandExecutionError(f"The pillar gives {name} no secret {', '.join(unknown)}")


def _outcome(asked: dict, function: str, *given: object) -> dict:
    result = {"states": [], "terraform": None}
    ids = (asked["tier"], asked["operation"], asked["who"]["user"])
    try:
        answer = __salt__[f"eos_secrets.{function}"](asked["name"], *given, *ids)
        return {"status": "done", "result": {**result, "secrets": answer}}
    except CommandExecutionError as failure:
        error = __utils__["eos_failure.described"](failure, f"secrets of {asked['name']}")
        return {"status": "failed", "result": result, "error": error}
