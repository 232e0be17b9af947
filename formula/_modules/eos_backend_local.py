"""The Terraform backend `local`: the Terraform state is a file of the workspace on the control minion's disk.

Nothing here may be called over the API; `eos_backend` finds it by its name, and says what a backend has.
"""

from __future__ import annotations

import os
import shlex
import time

# Seconds in which a state that Terraform is writing becomes whole.
_WRITING = 2.0
# What every Terraform state has.
_OF_A_STATE = ("serial", "lineage")
_EMPTY = "is empty"


def of(place: dict, profile: object) -> _Local:
    del profile
    return _Local(place)


class _Local:
    kind = "local"
    keeps_locks = False

    def __init__(self, place: dict):
        self.place = place

    def where(self, name: str) -> str:
        return _file(name)

    def prepare(self, name: str) -> dict[str, object]:
        path = _file(name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return {"path": path}

    def environment(self) -> dict[str, str]:
        return {}

    def read(self, name: str) -> tuple[dict | None, str | None]:
        """Terraform makes the file when it begins and fills it in place.

        Whoever looks meanwhile finds it empty or cut, and waits while Terraform holds its lock.
        """
        path, ends, held = _file(name), time.monotonic() + _WRITING, True
        while held:
            held = self.is_written(name) and time.monotonic() < ends
            state, fault = __utils__["eos_disk.contents"](path, *_OF_A_STATE)
            if fault is None:
                return state, None
            # So it is from the lock of the first run to its first write.
            if fault == _EMPTY and not os.path.exists(os.path.join(_directory(name), "applied.json")):
                return None, None
            time.sleep(0.05 if held else 0)
        return None, f"{path} {fault}"

    def read_all(self, names: set[str]) -> dict[str, tuple[dict | None, str | None]]:
        return {name: self.read(name) for name in names}

    def create(self, name: str, state: dict) -> None:
        path = _file(name)
        written = f"{path}.created"
        __utils__["eos_disk.write_json"](written, state)
        try:
            # An empty file is what Terraform's lock leaves of a run that wrote nothing.
            if os.path.exists(path) and not os.path.getsize(path):
                os.remove(path)
            os.link(written, path)
        except FileExistsError:
            words = f"{path} is there already"
            raise __utils__["eos_failure.of"]("terraform", name, words, f"Compare it with {written}") from None
        os.remove(written)
        __utils__["eos_disk.sync_directory"](os.path.dirname(path))

    def remove(self, name: str) -> None:
        """With the one before, which Terraform keeps beside it."""
        path = _file(name)
        for left in (f"{path}.backup", path):
            if os.path.exists(left):
                os.remove(left)
                __utils__["eos_disk.sync_directory"](os.path.dirname(path))

    def last_good(self, name: str) -> dict | None:
        """The one before, which Terraform keeps when it writes."""
        return __utils__["eos_disk.read_json"](f"{_file(name)}.backup", *_OF_A_STATE)

    def mend(self, workspace: object) -> None:
        """Puts the last good Terraform state in the place of a damaged one, which is kept in the workspace."""
        path = _file(workspace.name)
        os.replace(path, workspace.damaged_state_file)
        if (state := self.last_good(workspace.name)) is not None:
            __utils__["eos_disk.write_json"](path, state)
        __utils__["eos_disk.sync_directory"](os.path.dirname(path))

    def is_written(self, name: str) -> bool:
        """Whether a Terraform run that outlived its job still has the Terraform state."""
        return __utils__["eos_disk.is_record_locked"](_file(name))

    def lock(self, name: str) -> dict | None:
        """A run that is gone leaves the file, but not the lock on the Terraform state."""
        file = os.path.join(os.path.dirname(_file(name)), ".terraform.tfstate.lock.info")
        if not os.path.exists(file):
            return None
        found = __utils__["eos_disk.read_json"](file) or {}
        told = {"who": found.get("Who"), "since": found.get("Created"), "id": found.get("ID")}
        return {"where": file, "held": self.is_written(name), **told, "unlock": f"rm {shlex.quote(file)}"}

    def free(self, name: str, identity: str) -> None:
        """The operating system has freed it."""


def _directory(name: str) -> str:
    return os.path.join(__salt__["eos_profile.setting"]("terraform_root"), name)


def _file(name: str) -> str:
    return os.path.join(_directory(name), "state", "terraform.tfstate")
