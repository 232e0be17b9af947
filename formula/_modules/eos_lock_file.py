"""The lock of an operation as the solo profile has it. Eos holds a file of the estate, on its own machine.

Nothing here may be called over the API; `eos_profile` calls it. An administrator without Eos holds a file of this
minion, `<cachedir>/eos/held/<environment>.<component>.json`: while it is there, no other operation runs Terraform in
the workspace.
"""

from __future__ import annotations

import contextlib
import datetime
import getpass
import os


def of(profile: object) -> _FileLock:
    del profile
    return _FileLock()


class _FileLock:
    def is_held(self, name: str) -> bool:
        return _held(name) is not None

    def require(self, name: str, operation: str) -> None:
        """Refuses an operation while another one holds the file. Whether Eos holds its own is not known here."""
        holder = _held(name)
        if holder and holder["operation"] != operation:
            call = f"eos_terraform.release_lock {name.replace('/', ' ')} {holder['operation']}"
            hint = f"Wait for it, or end it on this minion: `salt-call {call}`"
            words = f"The lock is held by {holder['operation']} of {holder['who']} until {holder['until']}"
            raise __utils__["eos_failure.of"]("salt", name, words, hint)

    def acquire(self, name: str, operation: str, minutes: int) -> dict:
        """For several calls of one operation. It ends by itself after so many minutes."""
        self.require(name, operation)
        now = datetime.datetime.now(datetime.UTC)
        until = (now + datetime.timedelta(minutes=minutes)).isoformat(timespec="seconds")
        who = f"{getpass.getuser()} on {__opts__['id']}"
        holder = {"operation": operation, "who": who, "since": now.isoformat(timespec="seconds")}
        __utils__["eos_disk.write_json"](_path(name), {**holder, "until": until})
        return holder

    def release(self, name: str, operation: str) -> None:
        """Ends what `acquire` of the same operation took."""
        self.require(name, operation)
        if _held(name) is None:
            words, hint = f"Operation {operation} does not hold the lock: nobody does", "There is nothing to release"
            raise __utils__["eos_failure.of"]("salt", name, words, hint)
        with contextlib.suppress(FileNotFoundError):
            os.remove(_path(name))

    def keep_alive(self) -> None:
        """The file lasts as long as it says."""

    def give_back(self) -> None:
        """A single call takes no file."""


def _held(name: str) -> dict | None:
    """Who holds the file now."""
    holder = __utils__["eos_disk.read_json"](_path(name), "operation", "who", "until")
    now = datetime.datetime.now(datetime.UTC)
    return holder if holder and datetime.datetime.fromisoformat(holder["until"]) > now else None


def _path(name: str) -> str:
    return os.path.join(__opts__["cachedir"], "eos", "held", f"{name.replace('/', '.')}.json")
