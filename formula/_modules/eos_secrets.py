"""Secrets of components, on the control minion: written, copied, restored, removed, and shown to who may see them.

Nothing here may be called over the API; `eos_kind_secret` calls it. Values go between places of the secrets engine,
with the minion's own credential. No argument, answer or record holds one. There are three sorts of places:

- a component's own, which its tasks read;
- `eos_users/<user>/`, which that API user's token reads and writes: `given/<operation>/<key>` and `revealed/<id>`;
- `eos_kept/<operation>/<key>`, for this minion alone: the value before an operation.

A key names a component: names of an environment and a component are too long together for a path in Nomad. A component
counts as the highest tier of any secret that it holds; a record on this disk remembers that of copies.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator

from salt.exceptions import CommandExecutionError, SaltInvocationError

_NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_ITEM = re.compile(r"[a-z][a-z0-9_]{0,95}")
_USER = re.compile(r"[A-Za-z0-9_-]{1,40}")
_KEPT = re.compile(r"eos_kept/[A-Za-z0-9._-]{1,128}/([0-9a-f]{32})")
_GIVEN = re.compile(r"eos_users/([^/]+)/given/([^/]+)/[0-9a-f]{32}")
_FIELDS = {"item", "given", "rotate", "generate", "copy_of"}
_LONGEST = 1024
# How many versions of an entry Vault keeps, unless it is told otherwise.
_VERSIONS = 10
# Salt's schedule looks every five minutes: Eos reads a revealed value at once, and an operation may wait a month.
_LOOKS_AT_REVEALED = 3
_LOOKS_AT_WAITING = 30 * 24 * 12
# How many copies one user's operations keep, and how many revealed values one user leaves.
_MOST_WAITING = 500
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def require(*, workspaces: list, **publication: object) -> None:
    """Fails, by name, if a secret is missing that the pillar says one of these workspaces needs.

    For root alone: the orchestration of an emitted tree without Eos calls it.
    """
    if not __salt__["eos_roles.caller"](publication)["is_root"]:
        raise CommandExecutionError("Only root may ask which secrets are missing; an API user makes a plan")
    names = __utils__["eos_argument.check_all"]("workspaces", workspaces, "component")
    named = __salt__["pillar.items"](unmask=True).get("eos", {}).get("workspaces", {})
    if unknown := sorted(set(names) - set(named)):
        raise CommandExecutionError(f"The pillar of minion {__opts__['id']} does not name {', '.join(unknown)}")
    if missing := __salt__["eos_terraform.missing_secrets"]([named[name] for name in names]):
        raise CommandExecutionError("; ".join(missing))


def check_items(items: object) -> None:
    """Refuses what is not a list of {"item", "given", "rotate", "generate", "copy_of": {"component", "item"}}."""
    if not isinstance(items, list) or not items or not all(_is_work(work) for work in items):
        raise SaltInvocationError("items is not a list of secrets to write")


def check_previous(name: str, previous: object) -> None:
    """Refuses what is neither "nothing" nor a version or a kept copy of this very component's secrets."""
    match previous:
        case "nothing":
            return
        case {"version": int(version), **rest} if not rest and version > 0 and version is not True:
            return
        case {"kept": str(path), **rest} if not rest:
            match = _KEPT.fullmatch(path)
            if match and match.group(1) == _key(name):
                return
    raise SaltInvocationError(f"previous names no earlier value of the secrets of {name}")


def risks(name: str, workspaces: dict) -> list[tuple]:
    """(tier, why) of all that a component's secrets count as: its own risk, and that of any secret copied to it."""
    return [*_by_recipe(name, workspaces), *_workspace(name).risks(), *_recorded(_record(name))]


def risks_to_write(name: str, items: list, workspaces: dict) -> list[tuple]:
    """The same of the component once it holds these items."""
    environment, component = name.split("/")
    wanted = workspaces[name]
    # What it is about to be counts, too: there may be nothing of it yet.
    contents = __salt__["eos_terraform.contents"](environment, component, wanted["files"])
    delivered = __salt__["eos_tiers.of_files"](name, wanted, contents)
    found = [*_by_recipe(name, workspaces), *delivered, *_workspace(name).risks(), *_still_held(name)]
    for source in sorted({work["copy_of"]["component"] for work in items if work.get("copy_of")}):
        of_source = risks(f"{environment}/{source}", workspaces)
        tier, why = __salt__["eos_roles.highest"](of_source, "high")
        found.append((tier, f"a copy of a secret of {source}: {why}"))
    return found


def risks_of_holder(name: str) -> list[tuple]:
    """The same of secrets that a component has by now, whatever it is to be: who runs under its name reads them."""
    record, workspace = _record(name), _workspace(name)
    if record is None:
        # The secrets are from before there were records.
        configuration = workspace.configuration()
        return workspace.risks() if configuration and configuration["slice"].get("secrets") else []
    return [] if record["removed"] else [*workspace.risks(), *_recorded(record)]


def risks_of_previous(previous: object) -> list[tuple]:
    """What an earlier value counts as: a kept copy as it did when it was kept, whatever the component holds by now."""
    return _risks_of_kept(previous["kept"]) if isinstance(previous, dict) and "kept" in previous else []


def _by_recipe(name: str, workspaces: dict) -> list[tuple]:
    return [(workspaces[name].get("risk"), "its recipe")] if name in workspaces else []


def _workspace(name: str) -> object:
    return __salt__["eos_workspace.of"](*name.split("/"), __salt__["eos_profile.of_this_minion"]())


def _still_held(name: str) -> list[tuple]:
    """A secret that was removed with all its versions holds nothing any more."""
    record = _record(name)
    return _recorded(record) if record and not record["removed"] else []


def _recorded(record: dict | None) -> list[tuple]:
    return [(record["tier"], "a secret that it holds")] if record else []


def lock(name: str) -> contextlib.AbstractContextManager:
    """Nobody else on this minion works on the secrets of this component meanwhile; whoever changes them holds it."""
    return __utils__["eos_disk.locked"](os.path.join(__opts__["cachedir"], "eos", "locks", f"secrets.{_key(name)}"))


def write(name: str, items: list, tier: str, operation: str, user: str | None) -> dict:
    """Writes the items that are not so already; answers {"written": [names], "version"}.

    A given value waits in the place of who gave it; another is generated, or copied from its component.
    """
    with _profile() as profile:
        place = profile.secrets_of(*name.split("/"))
        there = profile.read_secret(place) or {"items": {}, "revision": 0}
        _keep(profile, name, there, tier, operation, user)
        values, sources = {}, {}
        for source in {work["copy_of"]["component"] for work in items if work.get("copy_of")}:
            sources[source] = _judged(profile, name, source, tier)
        for work in items:
            if (value := _value(profile, name, work, there["items"], sources, operation)) is not None:
                values[work["item"]] = value
        changed = {item: value for item, value in values.items() if there["items"].get(item) != value}
        _set_record(name, {"tier": tier, "removed": False})
        if changed:
            profile.write_secret(place, {**there["items"], **changed}, there["revision"])
        found = _require(profile, name, {**there["items"], **values})
        return {"written": sorted(changed), "version": found["revision"]}


def restore(name: str, previous: object, tier: str, operation: str, user: str | None) -> None:
    """Makes the secrets of a component what they were."""
    with _profile() as profile:
        place = profile.secrets_of(*name.split("/"))
        there = profile.read_secret(place) or {"items": {}, "revision": 0}
        _keep(profile, name, there, tier, operation, user)
        if previous == "nothing":
            _remove(profile, name, place)
            return
        wanted = _previous(profile, name, place, previous)
        _set_record(name, {"tier": tier, "removed": False})
        if there["items"] != wanted:
            profile.write_secret(place, wanted, there["revision"])
        _require(profile, name, wanted)


def remove(name: str, tier: str, operation: str, user: str | None) -> None:
    """Removes the secrets of a component with all their versions; a copy stays until the operation is forgotten."""
    with _profile() as profile:
        place = profile.secrets_of(*name.split("/"))
        there = profile.read_secret(place)
        if there is not None:
            _keep(profile, name, there, tier, operation, user, all_versions_go=True)
        _remove(profile, name, place)


def forget(who: dict, operation: str) -> dict:
    """Removes what an operation has waiting or kept; answers {"left": [paths]} that others put there.

    An operator removes everything, a user only the values of steps that the user asked for.
    """
    left = []
    with _profile() as profile:
        given = filter(None, map(_GIVEN.fullmatch, profile.paths_apart("eos_users")))
        owners = {path[0]: path[1] for path in given if path[2] == operation}
        owners |= {path: _kept_by(path) for path in profile.paths_apart(f"eos_kept/{operation}")}
        for path, owner in sorted(owners.items()):
            if owner == who["user"] or __salt__["eos_roles.covers"](who, "medium"):
                _remove_apart(profile, path)
            else:
                left.append(path)
    return {"left": left}


def reveal(who: dict, name: str, items: list | None, operations: list | None, workspaces: dict) -> dict:
    """Puts values of a component's secrets into the caller's own place; answers {"path", "items": [names]}.

    With operations, also those that these have waiting or kept, and in Vault the versions before: a log may quote them.
    A component that is not known any more, and holds nothing, has logs at most.
    """
    if not _USER.fullmatch(who["user"] or ""):
        raise CommandExecutionError("Only an API user has a place of its own in the secrets engine")
    with _profile() as profile:
        place = profile.secrets_of(*name.split("/"))
        found = profile.read_secret(place) or {"items": {}, "revision": 0}
        values = {item: value for item, value in found["items"].items() if items is None or item in items}
        if operations is not None:
            for number, more in enumerate(_quoted(profile, name, found["revision"], operations)):
                values |= {f"{item}_{number}": value for item, value in (more or {"items": {}})["items"].items()}
        unknown = "high" if found["items"] or values else "medium"
        counted = [*risks(name, workspaces), *_risks_of_all_kept(profile, name, operations or [])]
        tier, _ = __salt__["eos_roles.highest"](counted, unknown)
        __salt__["eos_roles.require_alone"](who, tier, f"see the secrets of {name}")
        if not values:
            return {"path": None, "items": []}
        place = f"eos_users/{who['user']}/revealed"
        _refuse_too_many(name, profile.paths_apart(place))
        path = f"{place}/{secrets.token_hex(16)}"
        profile.write_secret(profile.apart(path), values, 0)
        return {"path": path, "items": sorted(values)}


def observe(who: dict, wanted: dict[str, int | None], operation: str | None) -> dict[str, dict]:
    """The items of each component's secrets, without values, and their version.

    Marks of the items are equal where the values are, within one answer; they are null above the caller's role. `then`
    are the items of the version that `wanted` names.
    """
    seen, key = {}, secrets.token_bytes(32)
    with _profile() as profile:
        for name, version in wanted.items():
            place = profile.secrets_of(*name.split("/"))
            found = profile.read_secret(place) or {"items": {}, "revision": 0}
            earlier = profile.read_secret(place, version) if version else None
            kept = operation and profile.read_secret(profile.apart(f"eos_kept/{operation}/{_key(name)}"))
            # As recorded when they were written: a pillar takes longer than all the rest.
            tier, _ = __salt__["eos_roles.highest"](risks(name, {}), "high")
            shown_by = key if __salt__["eos_roles.covers"](who, tier) else None
            seen[name] = {
                "items": _marks(found, shown_by),
                "version": found["revision"],
                "kept": bool(kept),
                "then": _marks(earlier, shown_by),
            }
    return seen


def prune() -> list[str]:
    """Removes values that nobody came back for; answers their paths. Salt's schedule calls it, by way of `eos_sync`.

    An age is a number of these calls: no clock that is set makes anything old.
    """
    path_of_looks = os.path.join(__opts__["cachedir"], "eos", "looks.json")
    before = (__utils__["eos_disk.read_json"](path_of_looks, "looks") or {"looks": {}})["looks"]
    with _profile() as profile:
        there = [*profile.paths_apart("eos_users"), *profile.paths_apart("eos_kept")]
        looks = {path: before.get(path, 0) + 1 for path in there}
        old = sorted(path for path, times in looks.items() if times > _most_looks(path))
        for path in old:
            _remove_apart(profile, path)
            del looks[path]
    if looks != before:
        __utils__["eos_disk.write_json"](path_of_looks, {"looks": looks})
    return old


def _most_looks(path: str) -> int:
    return _LOOKS_AT_REVEALED if path.split("/")[2] == "revealed" else _LOOKS_AT_WAITING


def _remove_apart(profile: object, path: str) -> None:
    profile.remove_secret(profile.apart(path))
    with contextlib.suppress(FileNotFoundError):
        os.remove(_kept_file(path))


def _refuse_too_many(name: str, paths: list[str]) -> None:
    """What one user has waiting is bounded, and pushes out nothing of anybody's."""
    if len(paths) >= _MOST_WAITING:
        words = f"{len(paths)} values of yours wait in the secrets engine already"
        hint = "End your operations (`eos resume`, `eos rollback`), or delete what you had revealed"
        raise __utils__["eos_failure.of"]("salt", f"secrets of {name}", words, hint)


@contextlib.contextmanager
def _profile() -> Iterator[object]:
    profile = __salt__["eos_profile.of_this_minion"]()
    with __salt__["eos_profile.closing"](profile, lambda _: None):
        profile.log_in()
        yield profile


def _judged(profile: object, name: str, source: str, tier: str) -> dict[str, str]:
    """The secrets of a component that others copy, if they are of no higher tier than the call was admitted for.

    Whoever changes them records their tier before. So between two looks that find the same, the record is theirs.
    """
    environment = name.split("/")[0]
    place = profile.secrets_of(environment, source)
    found = profile.read_secret(place)
    # Of what has no record, nothing has risen.
    risen = [*risks(f"{environment}/{source}", {}), (tier, "")]
    if __salt__["eos_roles.highest"](risen, "low")[0] != tier or profile.read_secret(place) != found:
        hint = "Run the step again: the minion judges its risk again"
        words = f"The secrets of {source} changed while they were copied"
        raise __utils__["eos_failure.of"]("salt", f"secrets of {name}", words, hint)
    return (found or {"items": {}})["items"]


def _value(
    profile: object, name: str, work: dict, there: dict[str, str], sources: dict[str, dict], operation: str
) -> str | None:
    """The value that an item is to have; None if it keeps its own."""
    item = work["item"]
    if source := work.get("copy_of"):
        value = sources[source["component"]].get(source["item"])
        if value is None:
            raise _failure(name, f"Component {source['component']} has no secret {source['item']} to copy")
        return value
    if work.get("given"):
        return _given_value(profile, name, item, operation)
    if item in there and not work.get("rotate"):
        return None
    if work.get("generate") is None:
        raise _failure(name, f"Secret {item} has no value, and Eos cannot generate one")
    return "".join(secrets.choice(_ALPHABET) for _ in range(work["generate"]))


def _given_value(profile: object, name: str, item: str, operation: str) -> str:
    paths = _given(profile, name, operation)
    if len(paths) > 1:
        people = ", ".join(path.split("/")[1] for path in paths)
        raise _failure(name, f"Several people gave values for operation {operation}: {people}")
    found = [profile.read_secret(profile.apart(path)) or {"items": {}} for path in paths]
    if not found or item not in found[0]["items"]:
        raise _failure(name, f"Secret {item} was given, but no value waits for operation {operation}")
    if not isinstance(value := found[0]["items"][item], str):
        raise _failure(name, f"Secret {item} was given, but its value is no text")
    return value


def _given(profile: object, name: str, operation: str) -> list[str]:
    """Where values wait that people gave for this component and operation."""
    end = f"/given/{operation}/{_key(name)}"
    return [path for path in profile.paths_apart("eos_users") if path.endswith(end) and _GIVEN.fullmatch(path)]


def _quoted(profile: object, name: str, newest: int, operations: list[str]) -> Iterator[dict | None]:
    """What a log may quote beside the newest values."""
    if profile.keeps_versions:
        place = profile.secrets_of(*name.split("/"))
        for version in range(max(1, newest - _VERSIONS), newest):
            yield profile.read_secret(place, version)
    for operation in operations:
        for path in (f"eos_kept/{operation}/{_key(name)}", *_given(profile, name, operation)):
            yield profile.read_secret(profile.apart(path))


def _previous(profile: object, name: str, place: tuple[str, str], previous: dict) -> dict[str, str]:
    if "version" in previous:
        found = profile.read_secret(place, previous["version"])
    else:
        found = profile.read_secret(profile.apart(previous["kept"]))
    if not found or not found["items"]:
        raise _failure(name, "The earlier value is gone")
    return found["items"]


def _keep(
    profile: object,
    name: str,
    there: dict,
    tier: str,
    operation: str,
    user: str | None,
    all_versions_go: bool = False,
) -> None:
    """Keeps what an operation is about to overwrite, unless it did so before or the engine keeps versions itself."""
    if not there["items"] or (profile.keeps_versions and not all_versions_go):
        return
    path = f"eos_kept/{operation}/{_key(name)}"
    if profile.read_secret(profile.apart(path)) is None:
        _refuse_too_many(name, [kept for kept in profile.paths_apart("eos_kept") if _kept_by(kept) == user])
        __utils__["eos_disk.write_json"](_kept_file(path), {"by": user, "tier": tier})
        profile.write_secret(profile.apart(path), there["items"], 0)


def _remove(profile: object, name: str, place: tuple[str, str]) -> None:
    profile.remove_secret(place)
    if profile.read_secret(place) is not None:
        raise _failure(name, "The secrets were removed, but are still there")
    if record := _record(name):
        # What was kept of it may come back.
        _set_record(name, {**record, "removed": True})


def _require(profile: object, name: str, wanted: dict[str, str]) -> dict:
    """Reads back that these values are there."""
    found = profile.read_secret(profile.secrets_of(*name.split("/"))) or {"items": {}, "revision": 0}
    for item, value in wanted.items():
        if found["items"].get(item) != value:
            raise _failure(name, f"Secret {item} was written, but reads back otherwise")
    return found


def _record(name: str) -> dict | None:
    """One that cannot be read forgets nothing: it counts as the highest."""
    found, fault = __utils__["eos_disk.contents"](_record_file(name), "tier", "removed")
    return {"tier": "high", "removed": False} if fault else found


def _set_record(name: str, record: dict) -> None:
    __utils__["eos_disk.write_json"](_record_file(name), record)


def _record_file(name: str) -> str:
    return os.path.join(__opts__["cachedir"], "eos", "secrets", f"{name}.json")


def _risks_of_all_kept(profile: object, name: str, operations: list[str]) -> Iterator[tuple]:
    for path in (f"eos_kept/{operation}/{_key(name)}" for operation in operations):
        if profile.read_secret(profile.apart(path)) is not None:
            yield from _risks_of_kept(path)


def _risks_of_kept(path: str) -> list[tuple]:
    """Without its record, which the disk may have lost, a copy counts as the highest."""
    record, _ = __utils__["eos_disk.contents"](_kept_file(path), "tier")
    return [(record["tier"] if record else "high", "a secret that an operation keeps")]


def _kept_by(path: str) -> str | None:
    return (__utils__["eos_disk.read_json"](_kept_file(path)) or {}).get("by")


def _kept_file(path: str) -> str:
    return os.path.join(__opts__["cachedir"], "eos", "kept", *path.split("/")[1:]) + ".json"


def _key(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def _marks(entry: dict | None, key: bytes | None) -> dict[str, str | None] | None:
    """Item -> what equal values have in common; without a key only the names of the items."""
    if not entry or not entry["items"]:
        return None
    if key is None:
        return dict.fromkeys(entry["items"])
    return {item: hmac.new(key, str(value).encode(), "sha256").hexdigest() for item, value in entry["items"].items()}


def _is_work(work: object) -> bool:
    if not isinstance(work, dict) or not _FIELDS.issuperset(work) or not _matches(_ITEM, work.get("item")):
        return False
    length, source = work.get("generate"), work.get("copy_of")
    is_length = length is None or (type(length) is int and 0 < length <= _LONGEST)
    is_source = source is None or (
        isinstance(source, dict)
        and source.keys() == {"component", "item"}
        and _matches(_NAME, source["component"])
        and _matches(_ITEM, source["item"])
    )
    return is_length and is_source and all(type(work.get(flag, False)) is bool for flag in ("given", "rotate"))


def _matches(pattern: re.Pattern, text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _failure(name: str, words: str) -> CommandExecutionError:
    hint = "Give it a value again: eos rotate secret COMPONENT NAME --to -"
    return __utils__["eos_failure.of"]("salt", f"secrets of {name}", words, hint)
