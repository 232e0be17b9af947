"""The Terraform backend `consul`: the Terraform state is a key in Consul's key-value store.

Nothing here may be called over the API; `eos_backend` finds it by its name, and says what a backend has.
"""

from __future__ import annotations

import urllib.parse


def of(place: dict, profile: object) -> _Consul:
    return _Consul(place, profile)


class _Consul:
    kind = "consul"
    # Consul ends the session of a run that is gone.
    keeps_locks = False

    def __init__(self, place: dict, profile: object):
        self.place, self._profile = place, profile

    def where(self, name: str) -> str:
        return f"at key {_key(name)}"

    def prepare(self, name: str) -> dict[str, object]:
        address = urllib.parse.urlsplit(__salt__["eos_profile.setting"]("consul_address"))
        settings = {"address": address.netloc, "scheme": address.scheme, "path": _key(name), "gzip": "false"}
        authority = __salt__["eos_profile.optional_setting"]("engines_authority")
        return {**settings, "ca_file": authority} if authority else settings

    def environment(self) -> dict[str, str]:
        """The provider of Consul has the same token."""
        return {}

    def read(self, name: str) -> tuple[dict | None, str | None]:
        """Consul's keys are written whole."""
        state, fault = __utils__["eos_consul.read_terraform_state"](self._profile.consul(), _key(name))
        return state, fault and f"at key {_key(name)} {fault}"

    def read_all(self, names: set[str]) -> dict[str, tuple[dict | None, str | None]]:
        """By one request."""
        del names
        return __utils__["eos_consul.read_terraform_states"](self._profile.consul())

    def create(self, name: str, state: dict) -> None:
        __utils__["eos_consul.create_terraform_state"](self._profile.consul(), _key(name), state)

    def remove(self, name: str) -> None:
        __utils__["eos_consul.remove_terraform_state"](self._profile.consul(), _key(name))

    def last_good(self, name: str) -> None:
        """Terraform keeps none in Consul."""

    def mend(self, workspace: object) -> None:
        """Keeps the damaged Terraform state in the workspace; a run begins with what the engines have."""
        damaged = __utils__["eos_consul.read_text"](self._profile.consul(), _key(workspace.name))
        __utils__["eos_disk.write_json"](workspace.damaged_state_file, {"damaged": damaged})
        self.remove(workspace.name)

    def is_written(self, name: str) -> bool:
        """Terraform waits itself for the lock of another run."""
        del name
        return False

    def lock(self, name: str) -> dict | None:
        key = _key(name)
        found = __utils__["eos_consul.terraform_lock"](self._profile.consul(), key)
        if found is None:
            return None
        return {"where": f"{key}/.lock", **found, "unlock": f"consul kv delete -recurse {key}/.lock"}

    def free(self, name: str, identity: str) -> None:
        """Consul has freed it."""


def _key(name: str) -> str:
    return f"terraform/{name}/state"
