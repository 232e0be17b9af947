"""Alert rules of components, on the host of the Prometheus that watches them: written, loaded, taken away.

Nothing here may be called over the API; `eos` calls it. A Prometheus reads every `<component>.json` in a directory of
its own, which the pillar names and which is Eos's alone: a file there that the pillar names no longer is removed.
Where on this host Prometheus listens is not known, only at which port: whatever says there that it is one is asked to
load its rules anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import urllib.error
import urllib.request

_SECONDS_TO_ANSWER = 10
_RULES = re.compile(r"[a-z][a-z0-9-]*\.json")


def load(name: str, pillar: dict) -> dict:
    """Has the rules of "<environment>/<component>" loaded; answers {"changes", "error"}.

    `pillar` is this minion's slice. Rules that Prometheus refuses are taken back: they would keep it from starting.
    """
    environment, component = name.split("/")
    wanted = pillar["monitoring"][name]
    monitor = pillar["monitors"][f"{environment}/{wanted['monitor']}"]
    text = __salt__["cp.get_file_str"](f"salt://components/{component}/{environment}/rules.json")
    if not isinstance(text, str) or _digest(text) != wanted["rules"]:
        words = "The master serves other rules than the pillar names"
        return _failed(name, words, "Deliver the release again")
    directory = monitor["directory"]
    with _lock():
        _make_directory(monitor)
        path = os.path.join(directory, f"{component}.json")
        before = _read(path)
        strays = _strays(name, pillar)
        for file in strays:
            os.remove(os.path.join(directory, file))
        _write(path, text, monitor)
        asked, refused = _reload(monitor["port"])
        if refused or not asked:
            _restore(path, before, monitor)
            words = "; ".join(refused) or f"No Prometheus answers on this host at port {monitor['port']}"
            return _failed(name, words, f"`eos status {wanted['monitor']}` shows its health")
        __utils__["eos_disk.write_json"](_record_path(name), {"risk": wanted.get("risk")})
    return {"changes": _changes(before, wanted["rules"], strays), "error": None}


def would_load(name: str, pillar: dict) -> dict:
    """The changes that `load` would make to files; a Prometheus that has these rules loads them anew all the same."""
    environment, component = name.split("/")
    wanted = pillar["monitoring"][name]
    monitor = pillar["monitors"][f"{environment}/{wanted['monitor']}"]
    before = _read(os.path.join(monitor["directory"], f"{component}.json"))
    return _changes(before, wanted["rules"], _strays(name, pillar))


def files_of(name: str, monitor: dict) -> list[str]:
    """The files that `unload` would remove from a Prometheus' directory."""
    path = os.path.join(monitor["directory"], f"{name.split('/')[1]}.json")
    return [path] if os.path.lexists(path) else []


def unload(name: str, monitor: dict) -> dict | None:
    """Takes the rules of "<environment>/<component>" from a Prometheus; answers None, or the failure.

    One that does not run has nothing loaded, and will not find them when it starts.
    """
    with _lock():
        for path in (os.path.join(monitor["directory"], f"{name.split('/')[1]}.json"), _record_path(name)):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
        _, refused = _reload(monitor["port"])
    return _failed(name, "; ".join(refused), "Fix the fault that Prometheus names")["error"] if refused else None


def _strays(name: str, pillar: dict) -> list[str]:
    """Rules in the directory of this component's Prometheus that the pillar names no longer."""
    environment, monitor = name.split("/")[0], pillar["monitoring"][name]["monitor"]
    named = {
        f"{other.split('/')[1]}.json"
        for other, facts in pillar["monitoring"].items()
        if other.split("/")[0] == environment and facts["monitor"] == monitor
    }
    directory = pillar["monitors"][f"{environment}/{monitor}"]["directory"]
    there = os.listdir(directory) if os.path.isdir(directory) else []
    return sorted(file for file in there if _RULES.fullmatch(file) and file not in named)


def _changes(before: str | None, wanted: str, strays: list[str]) -> dict:
    old = None if before is None else _digest(before)
    changes = {"rules": {"old": old, "new": wanted}} if old != wanted else {}
    return changes | ({"removed": strays} if strays else {})


def recorded_risk(name: str) -> str | None:
    """The risk of what was loaded here under this name; nothing was loaded is nothing at risk."""
    record = __utils__["eos_disk.read_json"](_record_path(name))
    return record["risk"] if record else "low"


def _reload(port: int) -> tuple[int, list[str]]:
    """How many were asked to load their rules anew, and the words of those that did not."""
    asked, refused = 0, []
    for address in __salt__["network.ip_addrs"](include_loopback=True):
        url = f"http://{address}:{port}"
        if _is_prometheus(url):
            asked += 1
            status, words = _ask("POST", f"{url}/-/reload")
            if status != 200:  # noqa: PLR2004  OK
                refused.append(f"{url}: {words}")
    return asked, refused


def _is_prometheus(url: str) -> bool:
    status, text = _ask("GET", f"{url}/api/v1/status/buildinfo")
    try:
        return status == 200 and "version" in json.loads(text)["data"]  # noqa: PLR2004  OK
    except (ValueError, KeyError, TypeError):
        return False


def _ask(method: str, url: str) -> tuple[int | None, str]:
    """The status and what was said; no status where nobody answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, method=method, data=b"" if method == "POST" else None)
    try:
        with opener.open(request, timeout=_SECONDS_TO_ANSWER) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace").strip()
    except OSError as error:
        return None, str(error)


def _make_directory(monitor: dict) -> None:
    directory = monitor["directory"]
    # Its volume is made by a step of its own: not there is not ours to make.
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o755)
    _own(directory, monitor)


def _write(path: str, text: str, monitor: dict) -> None:
    unfinished = f"{path}.{os.getpid()}.unfinished"
    with open(unfinished, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(unfinished, 0o644)
    _own(unfinished, monitor)
    os.replace(unfinished, path)
    __utils__["eos_disk.sync_directory"](os.path.dirname(path))


def _restore(path: str, before: str | None, monitor: dict) -> None:
    if before is None:
        os.remove(path)
    else:
        _write(path, before, monitor)
    _reload(monitor["port"])


def _own(path: str, monitor: dict) -> None:
    user = _number(monitor["user"], "file.user_to_uid")
    group = _number(monitor["group"], "file.group_to_gid")
    status = os.stat(path)
    if (status.st_uid, status.st_gid) != (user, group):
        os.chown(path, user, group)


def _number(name: str, lookup: str) -> int:
    return int(name) if name.isdigit() else __salt__[lookup](name)


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _lock() -> contextlib.AbstractContextManager:
    return __utils__["eos_disk.locked"](os.path.join(__opts__["cachedir"], "eos", "locks", "monitoring"))


def _record_path(name: str) -> str:
    return os.path.join(__opts__["cachedir"], "eos", "monitoring", f"{name}.json")


def _failed(name: str, words: str, hint: str) -> dict:
    error = {"layer": "prometheus", "object": f"rules of {name}", "words": words, "hint": hint}
    return {"changes": {}, "error": error}
