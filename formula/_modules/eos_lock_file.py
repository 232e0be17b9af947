"""The lock of an operation as the solo profile has it: a file of the estate, which Eos holds on its own machine.

Nothing here may be called over the API; `eos_profile` calls it.
"""

from __future__ import annotations


def of(profile: object) -> _FileLock:
    del profile
    return _FileLock()


class _FileLock:
    """There is no lock on the engines' side."""

    def is_held(self, name: str) -> bool:
        del name
        return False

    def require(self, name: str, operation: str) -> None:
        """As of `is_held`."""

    def keep_alive(self) -> None:
        """As of `is_held`."""

    def give_back(self) -> None:
        """As of `is_held`."""
