"""Alert rules of components, on the host of the Prometheus that watches them: written, loaded, taken away.

Nothing here may be called over the API; `eos` calls it. A Prometheus reads every `<component>.json` in a directory of
its own, which the pillar names and which is Eos's alone: a file there that the pillar names no longer is removed.
Where on this host Prometheus listens is not known, only at which port: whatever says there that it is one is asked to
load its rules anew.

That directory lies in the volume of Prometheus' own user, who can put anything in its place. So it is opened once,
without following a link, belongs to root, and all work in it is done by its descriptor.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
import urllib.error
import urllib.request
from collections.abc import Iterator

_SECONDS_TO_ANSWER = 10
_LONGEST = 1 << 20
_RULES = re.compile(r"[a-z][a-z0-9-]*\.json")
_UNFINISHED = ".unfinished"
_OWN = "eos-rules"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def load(name: str, pillar: dict) -> dict:
    """Has the rules of "<environment>/<component>" loaded; answers {"changes", "error"}.

    `pillar` is this minion's slice. Rules that Prometheus refuses are taken back: they would keep it from starting.
    The caller holds `lock`, as that of `unload` does.
    """
    environment, component = name.split("/")
    wanted = pillar["monitoring"][name]
    monitor = pillar["monitors"][f"{environment}/{wanted['monitor']}"]
    text = __salt__["cp.get_file_str"](f"salt://components/{component}/{environment}/rules.json")
    if not isinstance(text, str) or _digest(text) != wanted["rules"]:
        words = "The master serves other rules than the pillar names"
        return _failed(name, words, "Deliver the release again")
    file = f"{component}.json"
    try:
        with _made(monitor) as rules:
            before = _read(rules, file)
            strays = _strays(rules, name, pillar)
            for stray in [*strays, *_remnants(rules)]:
                os.unlink(stray, dir_fd=rules)
            _write(rules, file, text)
            asked, refused = _reload(monitor["port"])
            if refused or not asked:
                _restore(rules, file, before, monitor)
                words = "; ".join(refused) or f"No Prometheus answers on this host at port {monitor['port']}"
                return _failed(name, words, f"`eos status {wanted['monitor']}` shows its health")
            record = {"risk": wanted.get("risk"), "directory": monitor["directory"]}
            __utils__["eos_disk.write_json"](_record_path(name), record)
    except OSError as error:
        words = f"{error.strerror}: {monitor['directory']}"
        return _failed(name, words, "Remove it on this minion, and run the step again: Eos makes it")
    return {"changes": _changes(before, wanted["rules"], strays), "error": None}


def lock() -> contextlib.AbstractContextManager:
    """Whoever changes rules holds it, from the first look at what there is."""
    return __utils__["eos_disk.locked"](os.path.join(__opts__["cachedir"], "eos", "locks", "monitoring"))


def would_load(name: str, pillar: dict) -> dict:
    """The changes that `load` would make to files; a Prometheus that has these rules loads them anew all the same."""
    environment, component = name.split("/")
    wanted = pillar["monitoring"][name]
    with _there(pillar["monitors"][f"{environment}/{wanted['monitor']}"]["directory"]) as rules:
        before = None if rules is None else _read(rules, f"{component}.json")
        return _changes(before, wanted["rules"], [] if rules is None else _strays(rules, name, pillar))


def states(monitoring: dict[str, dict]) -> dict:
    """The Salt states of these rules, for a test run."""
    return {name: {"eos_prometheus": ["rules", {"name": name}]} for name in monitoring}


def files_of(name: str, monitor: dict) -> list[str]:
    """The files that `unload` would remove from a Prometheus' directory."""
    file, directory = f"{name.split('/')[1]}.json", _loaded_to(name, monitor)
    with _there(directory) as rules:
        is_there = rules is not None and file in os.listdir(rules)
    return [os.path.join(directory, file)] if is_there else []


def unload(name: str, monitor: dict) -> dict | None:
    """Takes the rules of "<environment>/<component>" from a Prometheus; answers None, or the failure.

    One that does not run has nothing loaded, and will not find them when it starts.
    """
    with _there(_loaded_to(name, monitor)) as rules, contextlib.suppress(FileNotFoundError):
        if rules is not None:
            os.unlink(f"{name.split('/')[1]}.json", dir_fd=rules)
    with contextlib.suppress(FileNotFoundError):
        os.remove(_record_path(name))
    _, refused = _reload(monitor["port"])
    return _failed(name, "; ".join(refused), "Fix the fault that Prometheus names")["error"] if refused else None


def _strays(rules: int, name: str, pillar: dict) -> list[str]:
    """Rules in the directory of this component's Prometheus that the pillar names no longer."""
    environment, monitor = name.split("/")[0], pillar["monitoring"][name]["monitor"]
    named = {
        f"{other.split('/')[1]}.json"
        for other, facts in pillar["monitoring"].items()
        if other.split("/")[0] == environment and facts["monitor"] == monitor
    }
    return sorted(file for file in os.listdir(rules) if _RULES.fullmatch(file) and file not in named)


def _remnants(rules: int) -> list[str]:
    """What a run that was cut off was about to write."""
    return [file for file in os.listdir(rules) if file.endswith(_UNFINISHED)]


def _changes(before: str | None, wanted: str, strays: list[str]) -> dict:
    old = None if before is None else _digest(before)
    changes = {"rules": {"old": old, "new": wanted}} if old != wanted else {}
    return changes | ({"removed": strays} if strays else {})


def _loaded_to(name: str, monitor: dict) -> str:
    """Where `load` put the rules, whatever the pillar says by now; an older record does not say."""
    record = __utils__["eos_disk.read_json"](_record_path(name)) or {}
    return record.get("directory", monitor["directory"])


def recorded_risk(name: str) -> str | None:
    """The risk of what was loaded here under this name; nothing was loaded is nothing at risk."""
    record, fault = __utils__["eos_disk.contents"](_record_path(name), "risk")
    if fault:
        return "high"
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
            return answer.status, answer.read(_LONGEST).decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read(_LONGEST).decode(errors="replace").strip()
    except OSError as error:
        return None, str(error)


@contextlib.contextmanager
def _made(monitor: dict) -> Iterator[int]:
    """A descriptor of the directory, which is made if it is missing, and is root's own from then on.

    Its volume is made by a step of its own: not there is not ours to make.
    """
    _refuse_another(monitor["directory"])
    above, name = os.path.split(monitor["directory"])
    volume = __utils__["eos_directory.opened"](above, __salt__["eos_volumes.allowed"]())
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=volume)
        rules = os.open(name, _DIRECTORY, dir_fd=volume)
    finally:
        os.close(volume)
    try:
        if os.fstat(rules).st_uid not in (os.geteuid(), _number(monitor["user"])):
            raise PermissionError(errno.EPERM, "It belongs to neither root nor Prometheus")
        os.fchown(rules, os.geteuid(), os.getegid())
        os.fchmod(rules, 0o755)
        yield rules
    finally:
        os.close(rules)


@contextlib.contextmanager
def _there(directory: str) -> Iterator[int | None]:
    """A descriptor of the directory, or None: something else in its place holds no rules."""
    try:
        _refuse_another(directory)
        rules = __utils__["eos_directory.opened"](directory, __salt__["eos_volumes.allowed"]())
    except OSError:
        rules = None
    try:
        yield rules
    finally:
        if rules is not None:
            os.close(rules)


def _refuse_another(directory: str) -> None:
    """Nothing but rules lies in a directory of this name, whoever wrote it into the pillar."""
    if os.path.basename(directory) != _OWN:
        raise NotADirectoryError(errno.ENOTDIR, f"It is not called {_OWN}", directory)


def _write(rules: int, file: str, text: str) -> None:
    unfinished = f".{secrets.token_hex(16)}{_UNFINISHED}"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=rules)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fchmod(descriptor, 0o644)
        os.fsync(descriptor)
    os.replace(unfinished, file, src_dir_fd=rules, dst_dir_fd=rules)
    os.fsync(rules)


def _restore(rules: int, file: str, before: str | None, monitor: dict) -> None:
    if before is None:
        os.unlink(file, dir_fd=rules)
    else:
        _write(rules, file, before)
    _reload(monitor["port"])


def _number(name: str) -> int:
    return int(name) if name.isdigit() else __salt__["file.user_to_uid"](name)


def _read(rules: int, file: str) -> str | None:
    """The rules that are there. A link, or a second name of another file, is none: `_restore` would tell everybody."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=rules)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            return None
        with open(descriptor, encoding="utf-8", errors="replace", closefd=False) as opened:
            return opened.read()
    finally:
        os.close(descriptor)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _record_path(name: str) -> str:
    return os.path.join(__opts__["cachedir"], "eos", "monitoring", f"{name}.json")


def _failed(name: str, words: str, hint: str) -> dict:
    error = {"layer": "prometheus", "object": f"rules of {name}", "words": words, "hint": hint}
    return {"changes": {}, "error": error}
