"""The Salt state of a volume on LVM, named after the path that it is mounted at."""

from __future__ import annotations


def mounted(name: str, volume_id: str, **facts: object) -> dict:
    """The volume exists with its size and filesystem and is mounted; what it takes is done by the execution module.

    What else Salt hands to a state is no fact of a volume.
    """
    known = {key: value for key, value in facts.items() if key in _FACTS}
    answer = __salt__["eos_storage.ensure"](test=__opts__["test"], volume_id=volume_id, path=name, **known)
    return {"name": name, **answer}


_FACTS = (
    "user",
    "group",
    "mode",
    "volume",
    "volume_group",
    "devices",
    "size",
    "filesystem",
    "compression",
    "shrink_from",
    "snapshots",
    "restore",
    "conversion",
)
