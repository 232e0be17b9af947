"""One digest for one value, the same whoever computes it: Eos when it plans, a minion when it is asked."""

from __future__ import annotations

import hashlib
import json

from salt.exceptions import CommandExecutionError


def of_json(value: object) -> str:
    """The sha256 of the value as JSON with sorted keys, no spaces, and UTF-8 unescaped."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def of_slice(workspace: dict) -> str:
    """What an applied workspace is compared with: its whole slice, but for the digest that the slice says of itself."""
    return of_json({key: value for key, value in workspace.items() if key != "digest"})


def require_same(minion: str, asked: dict, served: str | None) -> None:
    """Refuses a call to make what this minion is not served; `served` is the digest of what it is, if anything."""
    what, digest = f"{asked['kind']} of {asked['name']}", asked["facts"]["digest"]
    if not served:
        raise CommandExecutionError(f"The pillar of minion {minion} names no {what}")
    if served != digest:
        raise CommandExecutionError(f"{what} at {digest} is refused: minion {minion} is served {served}")
