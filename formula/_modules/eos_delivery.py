"""Delivery over Salt's API: takes what was compiled, piece by piece, and makes it what the master serves.

Nothing here may be called over the API; `eos` calls it. It works where the setting `eos:delivery` names the directory
of delivery: on the master's machine, or wherever the master reads that directory. It is root's alone.

A manifest is {path: [digest of each piece]}, and is cut into pieces like any file. A caller names the pieces of the
manifest, and brings pieces; the answer names those that are missing. What the served release has need not be brought.
Pieces wait in a place of the caller's own: nobody finishes what another one began. Once none is missing, all of it is
checked, written and switched under one lock.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator

from salt.exceptions import CommandExecutionError, SaltInvocationError

# Eos cuts files into pieces of this size. The last one of a file is shorter.
_PIECE = 1 << 18
_LARGEST_MANIFEST = 16 << 20
_LARGEST = 64 << 20
_MOST_FILES = 50_000
# What one user may have waiting here, and for how long.
_MOST_WAITING = 96 << 20
_SECONDS_WAITING = 3600
_KEPT = 10
_KEPT_PLANS = 16
_SECONDS_OF_A_PLAN = 3600
_SECONDS_FOR_THE_LOCK = 120
_RELEASE_FILE = "salt/release"
_HOSTS = "pillar/hosts/"
_HEAD = "#!json\n"
_CURRENT = re.compile(r"releases/([0-9a-f]{64})")


def served() -> dict:
    """{"current", "files"}: the release that the master serves; its files by digest if they do not fit its name."""
    with _place() as place:
        current = _current(place)
        files = current and _files_of(place, current)
    if not current or (files and _is_whole(files, current)):
        return {"current": current, "files": None}
    return {"current": current, "files": {path: _sha256(content) for path, content in (files or {}).items()}}


def take(
    who: dict,
    release: str,
    manifest: list[str],
    contents: dict[str, str],
    plan: str | None,
    operation: str | None,
    kinds: list[str],
) -> dict:
    """Takes pieces of a release, or of a plan; answers which are `missing`, and delivers it once none is.

    What is served changes only if the caller may change every part that differs. A plan changes nothing of it.

    A release that is there whole needs no pieces. `current` is read after all of it.
    """
    __salt__["eos_roles.require_role"](who, "user", "deliver")
    if len(manifest) > _LARGEST_MANIFEST // _PIECE:
        raise SaltInvocationError(f"The manifest is larger than {_LARGEST_MANIFEST >> 20} MiB")
    pieces = {digest: _unpacked(digest, content) for digest, content in contents.items()}
    with _place() as place, _lock():
        waiting = _Waiting(who)
        waiting.add(pieces)
        known = {}
        current = _current(place)
        before = (_files_of(place, current) if current else None) or {}
        if plan is None and (there := _files_of(place, release)) and _is_whole(there, release):
            _require(who, current, before, there, operation, kinds)
            _deliver(place, release, _without_name(there), current)
            return {"missing": [], "current": _current(place)}
        for content in before.values():
            known |= {_sha256(piece): piece for piece in _pieces(content)}
        known |= waiting.all()
        if missing := sorted(set(manifest) - set(known)):
            return {"missing": missing, "current": current}
        wanted = _manifest(b"".join(known[digest] for digest in manifest))
        if missing := sorted({digest for digests in wanted.values() for digest in digests} - set(known)):
            return {"missing": missing, "current": current}
        files = _checked(wanted, known)
        if plan is None:
            _require(who, current, before, files, operation, kinds)
            _deliver(place, release, files, current)
        else:
            _deliver_plan(place, who, plan, {**files, _RELEASE_FILE: f"{release}\n".encode()})
        waiting.clear()
        return {"missing": [], "current": _current(place)}


def _require(
    who: dict,
    current: str | None,
    before: dict[str, bytes],
    after: dict[str, bytes],
    operation: str | None,
    kinds: list,
) -> None:
    """Refuses what the caller may not change of what is served. Of a damaged release nobody knows what was served."""
    is_known = current is None or _is_whole(before, current)
    if not is_known and (not before or any(path.startswith(_HOSTS) for path in before)):
        words = "the release that is served is damaged"
        __salt__["eos_roles.require_to_deliver"](who, "medium", words, "another one", operation, [])
    __salt__["eos_delivery_roles.require"](who, before, after, operation, kinds)


def _deliver(place: int, release: str, files: dict[str, bytes], current: str | None) -> None:
    if __utils__["eos_release.digest"](files) != release:
        raise SaltInvocationError(f"release {release} is refused: its files have another digest")
    with __utils__["eos_release.made"]("releases", place) as releases:
        _refuse_shared("releases", releases)
        __utils__["eos_release.remove_unfinished"](place)
        __utils__["eos_release.remove_unfinished"](releases)
        if _files_of(place, release) != (whole := {**files, _RELEASE_FILE: f"{release}\n".encode()}):
            __utils__["eos_release.write"](releases, release, whole, lasting=True)
        __utils__["eos_release.make_newest"](releases, release)
        if current != release:
            __utils__["eos_release.point"](place, "current", f"releases/{release}")
        __utils__["eos_release.remove_oldest"](releases, _KEPT, release)


def _deliver_plan(place: int, who: dict, plan: str, files: dict[str, bytes]) -> None:
    """A plan need not outlive a crash, and goes after an hour. Of one user there are so many."""
    record, now = os.path.join(__opts__["cachedir"], "eos", "plans.json"), time.time()
    known = (__utils__["eos_disk.read_json"](record, "plans") or {"plans": {}})["plans"]
    with __utils__["eos_release.made"]("plans", place) as plans:
        _refuse_shared("plans", plans)
        __utils__["eos_release.remove_unfinished"](plans)
        if plan in os.listdir(plans):
            raise SaltInvocationError(f"{plan} is there already")
        own = sorted((one["when"], name) for name, one in known.items() if one["user"] == who["user"])
        going = {name for _, name in own[: max(0, len(own) - _KEPT_PLANS + 1)]}
        going |= {name for name, one in known.items() if abs(now - one["when"]) > _SECONDS_OF_A_PLAN}
        for name in going:
            __utils__["eos_release.remove"](plans, name)
        # Recorded first: what is there and not recorded would stay.
        kept = {name: one for name, one in known.items() if name not in going}
        __utils__["eos_disk.write_json"](record, {"plans": {**kept, plan: {"user": who["user"], "when": now}}})
        __utils__["eos_release.write"](plans, plan, files, lasting=False)


def _manifest(text: bytes) -> dict[str, list[str]]:
    """The paths of a release with the digests of their pieces; refused unless each is a place of a release."""
    try:
        wanted = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SaltInvocationError("The manifest is no JSON") from error
    if not isinstance(wanted, dict) or not wanted or len(wanted) > _MOST_FILES:
        raise SaltInvocationError(f"The manifest is not an object of 1 to {_MOST_FILES} paths")
    for path, digests in wanted.items():
        if not __utils__["eos_release.is_place"](path):
            raise SaltInvocationError(f"The manifest has {path[:200]!r}, where no release has a file")
        above = path
        while above := os.path.dirname(above):
            if above in wanted:
                raise SaltInvocationError(f"The manifest has {above!r} both as a file and as a directory")
        if not isinstance(digests, list):
            raise SaltInvocationError(f"The manifest names no pieces of {path}")
        __utils__["eos_argument.check_all"](f"The manifest: {path}", digests, "digest")
    if sum(len(digests) for digests in wanted.values()) > _MOST_FILES + _LARGEST // _PIECE:
        raise SaltInvocationError("The manifest names too many pieces")
    return wanted


def _checked(wanted: dict[str, list[str]], known: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a release; refused if they are too large, or a slice is not what a minion may be given."""
    if sum(len(known[digest]) for digests in wanted.values() for digest in digests) > _LARGEST:
        raise SaltInvocationError(f"The release is larger than {_LARGEST >> 20} MiB")
    files = {path: b"".join(known[digest] for digest in digests) for path, digests in wanted.items()}
    for path, content in files.items():
        if path.startswith(_HOSTS):
            _check_slice(path, content)
    return files


def _check_slice(path: str, content: bytes) -> None:
    """A slice is JSON, has the key `eos`, and nothing beside it."""
    try:
        document = json.loads(content.decode().removeprefix(_HEAD), object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        raise SaltInvocationError(f"{path} is refused: it is no JSON") from error
    if not isinstance(document, dict) or document.keys() != {"eos"} or not isinstance(document["eos"], dict):
        raise SaltInvocationError(f"{path} is refused: a slice has one key, eos, and an object there")


def _without_twins(pairs: list[tuple]) -> dict:
    """Whoever reads the same text must read the same of it."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


class _Waiting:
    """The pieces that one user has brought, in a directory of the minion's own."""

    def __init__(self, who: dict):
        above = os.path.join(__opts__["cachedir"], "eos", "incoming")
        self.directory = os.path.join(above, _sha256((who["user"] or "root").encode()))
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        for other in os.scandir(above):
            for piece in os.scandir(other.path):
                if abs(time.time() - piece.stat().st_mtime) > _SECONDS_WAITING:
                    os.unlink(piece.path)

    def add(self, pieces: dict[str, bytes]) -> None:
        there = sum(piece.stat().st_size for piece in os.scandir(self.directory))
        if there + sum(map(len, pieces.values())) > _MOST_WAITING:
            words = f"More than {_MOST_WAITING >> 20} MiB of yours wait on {__opts__['id']} to be delivered"
            raise CommandExecutionError(f"{words}: finish that delivery, or wait for an hour")
        with __utils__["eos_disk.naming_a_full_disk"](self.directory):
            for digest, piece in pieces.items():
                with open(os.path.join(self.directory, digest), "wb") as file:
                    file.write(piece)

    def all(self) -> dict[str, bytes]:
        """What a crash cut is no piece of this digest, and comes again."""
        found = {}
        for entry in os.scandir(self.directory):
            with open(entry.path, "rb") as file:
                piece = file.read()
            if _sha256(piece) == entry.name:
                found[entry.name] = piece
        return found

    def clear(self) -> None:
        shutil.rmtree(self.directory)


def _unpacked(digest: str, content: str) -> bytes:
    """A piece as it was before base64; refused if it is longer than a piece, or another one."""
    try:
        piece = base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise SaltInvocationError(f"contents: {digest} is no base64") from error
    if len(piece) > _PIECE:
        raise SaltInvocationError(f"contents: {digest} is longer than {_PIECE} bytes")
    if _sha256(piece) != digest:
        raise SaltInvocationError(f"contents: {digest} has another digest")
    return piece


def _pieces(content: bytes) -> Iterator[bytes]:
    return (content[start : start + _PIECE] for start in range(0, len(content), _PIECE))


@contextlib.contextmanager
def _place() -> Iterator[int]:
    """The directory of delivery, which an administrator chose, and nobody but root writes to."""
    path = __salt__["eos_profile.optional_setting"]("delivery")
    if not path:
        words = f"Minion {__opts__['id']} takes no delivery"
        raise CommandExecutionError(f"{words}: set eos:delivery in its configuration as formula/README.md says")
    try:
        with __utils__["eos_release.opened"](path) as place:
            _refuse_shared(path, place)
            yield place
    except ValueError as error:
        raise CommandExecutionError(f"The directory of delivery {path} is not as Eos leaves it: {error}") from error


def _refuse_shared(path: str, directory: int) -> None:
    if why := __utils__["eos_release.why_shared"](directory):
        raise ValueError(f"{path} {why}")


def _lock() -> contextlib.AbstractContextManager:
    path = os.path.join(__opts__["cachedir"], "eos", "locks", "delivery")
    return __utils__["eos_disk.locked"](path, _SECONDS_FOR_THE_LOCK)


def _current(place: int) -> str | None:
    to = __utils__["eos_release.target"](place, "current")
    if to is None:
        return None
    found = _CURRENT.fullmatch(to)
    if found is None:
        raise ValueError("current leads to no release")
    return found[1]


def _files_of(place: int, release: str) -> dict[str, bytes] | None:
    """All files of a release that is there; None if it is not, or is no tree of root's own."""
    try:
        with __utils__["eos_release.opened"]("releases", place) as releases:
            _refuse_shared("releases", releases)
            with __utils__["eos_release.opened"](release, releases) as directory:
                return __utils__["eos_release.read"](directory)
    except (FileNotFoundError, ValueError):
        return None


def _is_whole(files: dict[str, bytes], release: str) -> bool:
    is_named = files.get(_RELEASE_FILE) == f"{release}\n".encode()
    return is_named and __utils__["eos_release.digest"](_without_name(files)) == release


def _without_name(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: content for path, content in files.items() if path != _RELEASE_FILE}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
