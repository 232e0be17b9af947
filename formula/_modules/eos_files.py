"""Files of this minion that components have: a record says of each that Eos made it, and nothing else is ever removed.

Nothing here may be called over the API; the kind `file` and the state `eos_file.managed` call it. A record is
`<cachedir>/eos/files/<digest of the name>.json`, where a name is "<environment>/<component><path>". A file that was
there before Eos is left as it is if it is the wanted one, and refused otherwise; its removal leaves it.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os

# The kernel's, and those that Salt or Eos reads: whoever writes there is root by another way.
_NEVER = ("/dev", "/etc/salt", "/proc", "/srv/eos", "/srv/formulas", "/srv/pillar", "/srv/salt", "/srv/spm", "/sys")
# Settings of the minion that name a file or directory of Salt's own, and those of Eos.
_OF_SALT = (
    *("cachedir", "conf_file", "config_dir", "extension_modules", "log_file", "pidfile", "pki_dir", "root_dir"),
    *("sock_dir", "sqlite_queue_dir", "syndic_dir", "token_dir"),
)
_RISKS = ("low", "medium", "high")
_OF_EOS = ("terraform", "terraform_root", "terraform_cli_config", "credentials", "engines_authority", "logs")


def below() -> list[dict]:
    """Directories in which files are of a lower tier, as this minion's own settings say."""
    named = (__opts__.get("eos_tiers") or {}).get("files", [])
    return [{"below": one["below"].rstrip("/") or "/", "tier": one["tier"]} for one in named]


def tier(path: str) -> tuple[str, str]:
    """The risk of writing or removing this path, and why."""
    if (named := _innermost(path)) is not None:
        return named["tier"], f"a file in {named['below']}"
    return "high", f"a file of the host outside of the directories that the settings of the minion name: {path}"


def why_no_place(path: object) -> str | None:
    """Why Eos has no file at this path, in words that follow it."""
    if not __utils__["eos_argument.fits"](path, "path") or os.path.normpath(path) != path:
        return "is not a plain absolute path"
    within = __utils__["eos_directory.within"]
    named = _innermost(path)
    for taken in _taken():
        # An administrator may keep a directory for files in one of Salt's.
        if within(path, taken) and not (named and within(named["below"], taken)):
            return f"is in {taken}, which is no place for a file of a component"
    return None


def bring(name: str, facts: dict, operation: str) -> dict:
    """Brings one file to its facts, and reads it back; answers what changed, as `changes` do."""
    path, base = facts["path"], os.path.basename(facts["path"])
    with _at(path) as directory:
        record = _settled(name, directory, base)
        changed, seen = _changes(name, facts, directory, record)
        about = {"name": name, "path": path, "risk": facts.get("risk"), "operation": operation, "unfinished": None}
        if not changed:
            made = record is not None and record["made"]
            _write_record({**about, "made": made, "operation": record["operation"] if made else operation})
            return {}
        owner = (__utils__["eos_file.user_id"](facts["user"]), __utils__["eos_file.group_id"](facts["group"]))
        spare, text = __utils__["eos_file.spare_name"](), facts["text"].encode()
        # Before anything is there: a step that is interrupted leaves nothing that nobody knows of.
        unfinished = {"spare": spare, "content": hashlib.sha256(text).hexdigest()}
        _write_record({**about, "made": seen is not None, "unfinished": unfinished})
        try:
            __utils__["eos_file.write"](directory, base, spare, text, owner, int(facts["mode"], 8), seen)
        except BaseException:
            if record is None:
                forget(name)
            else:
                _write_record(record)
            raise
        _write_record({**about, "made": True, "operation": record["operation"] if seen else operation})
        if left := _differences(facts, __utils__["eos_file.look"](directory, base)):
            raise _failure(name, f"{path} was written, and is another now: {', '.join(left)} differs")
    return changed


def changes(name: str, facts: dict, records: str | None = None) -> dict:
    """What `bring` would change: {attribute: {"old", "new"}}, where nothing is old of a file that is not there.

    `records` is where they are, for a test run, which has a cache of its own.
    """
    with _at(facts["path"]) as directory:
        return _changes(name, facts, directory, _record(name, records))[0]


def _changes(name: str, facts: dict, directory: int, record: dict | None) -> tuple[dict, dict | None]:
    path = facts["path"]
    seen = __utils__["eos_file.look"](directory, os.path.basename(path))
    changed = _differences(facts, seen)
    if seen is not None and changed and (why := _why_not_its_own(name, path, record)):
        hint = f"Move it away; or root of the host hands it to Eos: salt-call --local eos_files.adopt {name} {path}"
        raise _failure(name, f"{path} {why}", hint)
    return changed, seen


def _differences(facts: dict, seen: dict | None) -> dict:
    wanted = {
        "content": hashlib.sha256(facts["text"].encode()).hexdigest(),
        "user": __utils__["eos_file.user_id"](facts["user"]),
        "group": __utils__["eos_file.group_id"](facts["group"]),
        "mode": facts["mode"],
    }
    now = seen or dict.fromkeys(wanted)
    return {key: {"old": now[key], "new": value} for key, value in wanted.items() if now[key] != value}


def why_kept(name: str, path: str, named: dict[str, dict]) -> str | None:
    """Why this file is not removed though it is to go, in words by themselves."""
    record = _record(name)
    if record is None or record["path"] != path or not (record["made"] or record["unfinished"]):
        return "Eos did not make it"
    other = _owner(path, named)
    return f"{other} has it now" if other else None


def leave(name: str, path: str, named: dict[str, dict]) -> None:
    """What Eos knows of a file that stays. The component that has it now gets it with its risk, so that it can go."""
    record, other = _record(name), _owner(path, named)
    if record and record["path"] == path and record["made"] and other:
        risks = [one.get("risk") for one in (record, _record(other) or {}) if one.get("risk") in _RISKS]
        _write_record({**record, "name": other, "risk": max(risks, key=_RISKS.index, default=None)})
    forget(name)


def is_foreign(name: str, path: str) -> bool:
    """Whether something is there that Eos did not make for this component."""
    record = _record(name)
    return os.path.lexists(path) and not (record and record["path"] == path and record["made"])


def _owner(path: str, named: dict[str, dict]) -> str | None:
    return next((name for name, facts in named.items() if facts.get("path") == path), None)


def remove(name: str, path: str) -> None:
    """Removes a file that Eos made; one in whose place is something else is refused."""
    base = os.path.basename(path)
    if not os.path.lexists(os.path.dirname(path)):
        forget(name)
        return
    with _at(path) as directory:
        record = _settled(name, directory, base)
        if record["made"] and __utils__["eos_file.look"](directory, base) is not None:
            __utils__["eos_file.remove"](directory, base)
    forget(name)


def observe(path: str, is_known: bool) -> dict:
    """Whether something is there and, of a file that is a component's, what it is."""
    nothing = {"exists": False, "content": None, "user": None, "group": None, "mode": None, "names": None}
    if why_no_place(path):
        return nothing
    try:
        with __utils__["eos_file.directory_of"](path, _top(path)) as directory:
            if not os.path.lexists(f"/proc/self/fd/{directory}/{os.path.basename(path)}"):
                return nothing
            seen = __utils__["eos_file.look"](directory, os.path.basename(path)) if is_known else None
    except (OSError, ValueError):
        return {**nothing, "exists": os.path.lexists(path)}
    if seen is None:
        return {**nothing, "exists": True}
    names = __utils__["eos_file.names"](seen["user"], seen["group"])
    owner = {"user": str(seen["user"]), "group": str(seen["group"]), "names": names}
    return {"exists": True, "content": seen["content"], "mode": seen["mode"], **owner}


def adopt(name: str, path: str) -> dict:
    """Hands Eos a file that was there before: the next step makes it what the pillar says, a removal takes it.

    For root alone, by `salt-call --local` on the minion.
    """
    with _at(path) as directory:
        if __utils__["eos_file.look"](directory, os.path.basename(path)) is None:
            raise _failure(name, f"{path} is not there")
    record = {"name": name, "path": path, "risk": None, "operation": "adopted", "made": True, "unfinished": None}
    _write_record(record)
    return record


def recorded_risk(name: str) -> str | None:
    """The risk of the recipe that a file was last written for."""
    return (_record(name) or {}).get("risk")


def recorded_paths() -> set[str]:
    return {record["path"] for record in _records()}


def states(files: dict[str, dict]) -> dict:
    """The Salt states of these files, for a test run."""
    return {name: {"eos_file": ["managed", *_arguments(name, facts)]} for name, facts in files.items()}


def _arguments(name: str, facts: dict) -> list[dict]:
    keys = ("text", "user", "group", "mode")
    return [{"name": facts["path"]}, {"part": name}, {"records": _directory()}, *({key: facts[key]} for key in keys)]


def _why_not_its_own(name: str, path: str, record: dict | None) -> str | None:
    if record is not None and record["path"] == path and record["made"]:
        return None
    other = next((one["name"] for one in _records() if one["path"] == path and one["name"] != name), None)
    return f"is a file of {other}" if other else "was there before Eos, and is another than the wanted one"


@contextlib.contextmanager
def _at(path: str):
    """The directory of a file, by descriptor; what stands in the way is the failure of the file."""
    if why := why_no_place(path):
        raise _failure(path, f"{path} {why}", "Choose another path")
    try:
        with __utils__["eos_file.directory_of"](path, _top(path)) as directory:
            yield directory
    except ValueError as error:
        hint = "Make its directory root's own on that host, or choose another path"
        raise _failure(path, f"{path} {error}", hint) from error


def _top(path: str) -> str:
    named = _innermost(path)
    return named["below"] if named else "/"


def _innermost(path: str) -> dict | None:
    within = __utils__["eos_directory.within"]
    fitting = [one for one in below() if path != one["below"] and within(path, one["below"])]
    return max(fitting, key=lambda one: len(one["below"]), default=None)


def _taken() -> list[str]:
    settings = __opts__.get("eos") or {}
    named = [__opts__.get(key) for key in _OF_SALT] + [settings.get(key) for key in _OF_EOS]
    # The root of Salt's paths is `/` on most hosts, and then says nothing.
    return [*_NEVER, *(one for one in named if isinstance(one, str) and one.startswith("/") and one != "/")]


def _settled(name: str, directory: int, base: str) -> dict | None:
    """The record, after what an interrupted step left is removed, or is found to be whole."""
    record = _record(name)
    if record and (unfinished := record["unfinished"]):
        __utils__["eos_file.remove"](directory, unfinished["spare"])
        seen = __utils__["eos_file.look"](directory, base)
        made = record["made"] or (seen is not None and seen["content"] == unfinished["content"])
        record |= {"made": made, "unfinished": None}
        _write_record(record)
    return record


def _write_record(record: dict) -> None:
    __utils__["eos_disk.write_json"](_record_path(record["name"]), record)


def _record(name: str, records: str | None = None) -> dict | None:
    return __utils__["eos_disk.read_json"](_record_path(name, records), "name", "path", "made", "unfinished")


def _records() -> list[dict]:
    found = glob.glob(os.path.join(glob.escape(_directory()), "*.json"))
    records = (__utils__["eos_disk.read_json"](path, "name", "path", "made", "unfinished") for path in found)
    return [record for record in records if record]


def forget(name: str) -> None:
    """What Eos knows of a file goes; the file does not."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(_record_path(name))
        __utils__["eos_disk.sync_directory"](_directory())


def _record_path(name: str, records: str | None = None) -> str:
    return os.path.join(records or _directory(), f"{hashlib.sha256(name.encode()).hexdigest()}.json")


def _directory() -> str:
    return os.path.join(__opts__["cachedir"], "eos", "files")


def _failure(name: str, words: str, hint: str = "Look at the file on its host, then run the step again"):
    return __utils__["eos_failure.of"]("salt", f"file {name}", words, hint)
