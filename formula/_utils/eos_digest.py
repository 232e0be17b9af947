"""One digest for one value, the same whoever computes it: Eos when it plans, a minion when it is asked."""

from __future__ import annotations

import hashlib
import json


def of_json(value: object) -> str:
    """The sha256 of the value as JSON with sorted keys, no spaces, and UTF-8 unescaped."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def of_slice(workspace: dict) -> str:
    """What an applied workspace is compared with: its whole slice, but for the digest that the slice says of itself."""
    return of_json({key: value for key, value in workspace.items() if key != "digest"})
