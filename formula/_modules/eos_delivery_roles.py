"""Who may deliver what: each part that differs from what is served is within the caller's role, or approved.

Nothing here may be called over the API; `eos_delivery` calls it, before it writes anything. It takes a delivery whole
or refuses it whole. What a part of this minion's counts as, its kind computes as for a step. Of another minion's parts
this one knows only what their slices say: that minion computes the rest when it is asked to make them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator

from salt.exceptions import CommandExecutionError, SaltInvocationError

_HEAD = "#!json\n"
_HOSTS = "pillar/hosts/"
# Words for people: nothing is made of them.
_WORDS = "estate"
# Where rules go, whosever they are.
_PLACES = "monitors"


def require(who: dict, before: dict[str, bytes], after: dict[str, bytes], operation: str | None, kinds: list) -> None:
    """Refuses a release that the caller may not have served in the place of another; both are {path: content}."""
    was, will = _slices(before), _slices(after)
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in after.items()}
    try:
        for slices in will.values():
            _require_named_files(slices, digests)
        for minion in sorted(was.keys() | will.keys()):
            _require_of_minion(who, minion, (was.get(minion), before), (will.get(minion), after), operation, kinds)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SaltInvocationError(f"A slice has another form: {type(error).__name__}: {error}") from error


def _require_of_minion(
    who: dict, minion: str, served: tuple, delivered: tuple, operation: str | None, kinds: list
) -> None:
    (was, before), (will, after) = served, delivered
    is_own = minion == __opts__["id"]
    if will and will.get("workspaces") and not is_own:
        raise SaltInvocationError(f"The slice of {minion} is refused: only {__opts__['id']} has workspaces")
    require = __salt__["eos_roles.require_to_deliver"]
    if not is_own and (was is None or will is None):
        words = "a minion comes" if was is None else "a minion goes"
        require(who, "medium", words, f"a slice of {minion}", operation, [])
    was, will = was or {}, will or {}
    sections = {__salt__[f"eos_kind_{kind}.section"]() for kind in kinds}
    for key in sorted((was.keys() | will.keys()) - sections - {_WORDS}):
        if was.get(key) != will.get(key):
            risk, why = ("medium", "where rules go") if key == _PLACES else ("high", "this formula does not know it")
            require(who, risk, why, f"{key} of {minion}", operation, [])
    for kind in kinds:
        parts = __salt__[f"eos_kind_{kind}.parts"]
        there, wanted = parts(was), parts(will)
        for name in sorted(there.keys() | wanted.keys()):
            if not __utils__["eos_argument.fits"](name, "component"):
                raise SaltInvocationError(f"The slice of {minion} has {name!r}, which is no name of a component")
            if there.get(name, {}).get("digest") == wanted.get(name, {}).get("digest"):
                continue
            part = _Part(who, kind, name, (was, before), (will, after))
            said = [(risk, "its recipe") for one in (there, wanted) for risk in one.get(name, {}).get("risks", ())]
            found = part.risks(name in there, name in wanted) if is_own else []
            risk, why = __salt__["eos_roles.highest"]([*said, *found], "high")
            calls = part.calls(wanted.get(name, {}).get("digest"))
            require(who, risk, why, f"{kind} of {name} on {minion}", operation, list(calls))


def _require_named_files(slices: dict, digests: dict[str, str]) -> None:
    """Other bytes under a slice that stays the same would have its steps refused, whoever asks for them."""
    for name, workspace in slices.get("workspaces", {}).items():
        # A minion takes a workspace for one that nobody names if its SLS is not served.
        if _place_of(name, "workspace.sls") not in digests:
            raise SaltInvocationError(f"The release is refused: it names workspace {name}, and has no SLS of it")
        for path, digest in workspace["files"].items():
            _require_digest(digests, f"files/{path}", digest)
    for name, rules in slices.get("monitoring", {}).items():
        _require_digest(digests, _place_of(name, "rules.json"), rules["rules"])


def _place_of(name: str, file: str) -> str:
    environment, component = name.split("/")
    return f"salt/components/{component}/{environment}/{file}"


def _require_digest(digests: dict[str, str], path: str, digest: object) -> None:
    if digests.get(path) != digest:
        raise SaltInvocationError(f"{path} is refused: a slice names it by another digest")


class _Part:
    """One part that differs: what a kind has of a component in the slices of a minion."""

    def __init__(self, who: dict, kind: str, name: str, was: tuple[dict, dict], will: tuple[dict, dict]):
        """Both are the minion's slices, and the files of the release that they are in."""
        environment, component = name.split("/")
        self.part = {"kind": kind, "environment": environment, "component": component}
        self.who, self.kind, self.name, self.was, self.will = who, kind, name, was, will

    def risks(self, is_there: bool, is_wanted: bool) -> list[tuple]:
        """Of what is served, whether it was ever made or not, and as of the step that makes or removes the part."""
        found = []
        if is_there:
            try:
                found.append(self._as_made(*self.was))
            except (CommandExecutionError, SaltInvocationError) as failure:
                # Settings of the minion may have changed since. An approval helps.
                found.append(("high", f"what is served is refused by now: {failure}"))
        if is_wanted:
            found.append(self._as_made(*self.will))
        elif (facts := self._parting()) is not None:
            more = {"verb": "remove", "facts": facts}
            recorded, where_unknown = self._of_kind("risks")({**self._asked(), **more}, None)
            # Of what was never made there is no record, and what is served says it all.
            found += [__salt__["eos_roles.highest"](recorded, where_unknown)] if recorded else []
        return found

    def _as_made(self, slices: dict, files: dict[str, bytes]) -> tuple:
        digest = self._of_kind("parts")(slices)[self.name]["digest"]
        more = {"verb": "make", "facts": {"digest": digest}, "delivered": files}
        asked = {**self._asked(), **more}
        wanted = self._of_kind("wanted")(asked, lambda: slices)
        return __salt__["eos_roles.highest"](*self._of_kind("risks")(asked, wanted))

    def _asked(self) -> dict:
        return {**self.part, "name": self.name, "operation": None, "step": None, "who": self.who}

    def _of_kind(self, function: str) -> Callable:
        return __salt__[f"eos_kind_{self.kind}.{function}"]

    def calls(self, digest: str | None) -> Iterator[list]:
        """The calls of which any one, approved, has this part approved."""
        if digest is not None:
            yield ["eos.make", {**self.part, "facts": {"digest": digest}}]
            return
        facts = self._parting()
        if facts is not None:
            yield ["eos.remove", {**self.part, "facts": facts}]
        # Data stay, when their component goes: no call is about them.
        if self.name not in self.will[0].get("workspaces", {}):
            yield ["eos.remove", {**self.part, "kind": "workspace", "facts": {}}]

    def _parting(self) -> dict | None:
        return self._of_kind("parting")(self.name, self.was[0])


def _slices(files: dict[str, bytes]) -> dict[str, dict]:
    """By minion. What is served and is no JSON, nobody is served."""
    found = {}
    for path, content in files.items():
        if path.startswith(_HOSTS):
            minion = path.removeprefix(_HOSTS).removesuffix(".sls").replace("/", ".")
            try:
                found[minion] = json.loads(content.decode().removeprefix(_HEAD))["eos"]
            except (KeyError, RecursionError, TypeError, ValueError):
                found[minion] = {}
    return found
