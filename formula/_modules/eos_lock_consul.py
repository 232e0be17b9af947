"""The lock of an operation as the full profile has it: a key in Consul that a session holds.

Nothing here may be called over the API; `eos_profile` calls it.
"""

from __future__ import annotations

import datetime
import getpass

# Operations begun without Eos, which nobody holds a lock for.
_EJECTED = "eject-"


def of(profile: object) -> _ConsulLock:
    return _ConsulLock(profile)


class _ConsulLock:
    def __init__(self, profile: object):
        self._profile = profile
        # The key and the session that holds it, if this call took the lock.
        self._taken: tuple[str, str] | None = None

    def is_held(self, name: str) -> bool:
        return __utils__["eos_consul.is_locked"](self._profile.consul(), _key(name))

    def require(self, name: str, operation: str) -> None:
        """Eos holds the lock of its operation; an operation begun without Eos takes it here."""
        key, consul = _key(name), self._profile.consul()
        is_own = operation.startswith(_EJECTED) and self._taken is None
        if is_own and __utils__["eos_consul.holder"](consul, key) != operation:
            self._taken = (key, __utils__["eos_consul.take_lock"](consul, key, _holder(operation)))
        __utils__["eos_consul.require_lock"](consul, key, operation)

    def acquire(self, name: str, operation: str, minutes: int) -> dict:
        """For several calls of one operation. Consul ends it by itself after so many minutes, or a little later."""
        key, consul, holder = _key(name), self._profile.consul(), _holder(operation)
        __utils__["eos_consul.take_lock"](consul, key, holder, TTL=f"{60 * minutes}s")
        __utils__["eos_consul.require_lock"](consul, key, operation)
        return holder

    def release(self, name: str, operation: str) -> None:
        """Ends what `acquire` of the same operation took."""
        __utils__["eos_consul.release_lock"](self._profile.consul(), _key(name), operation)

    def keep_alive(self) -> None:
        if self._taken is not None:
            __utils__["eos_consul.renew_session"](self._profile.consul(), self._taken[1])

    def give_back(self) -> None:
        if self._taken is not None:
            taken, self._taken = self._taken, None
            __utils__["eos_consul.give_back_lock"](self._profile.consul(), *taken)


def _holder(operation: str) -> dict:
    since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"operation": operation, "who": f"{getpass.getuser()} on {__opts__['id']}", "since": since}


def _key(name: str) -> str:
    return f"terraform/{name}/lock"
