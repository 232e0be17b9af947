"""What a Terraform state holds: its resources by address, and a digest of each of their attributes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

# Enough to tell two values from each other; it is no proof against somebody who looks for another one with the same.
_DIGITS = 16


def resources(state: dict) -> Iterator[tuple[str, str, dict]]:
    """Address, type and attributes of every managed resource."""
    for resource in state.get("resources", []):
        if resource["mode"] != "managed":
            continue
        module = f"{resource['module']}." if "module" in resource else ""
        for instance in resource["instances"]:
            key = f"[{json.dumps(instance['index_key'])}]" if "index_key" in instance else ""
            address = f"{module}{resource['type']}.{resource['name']}{key}"
            yield address, resource["type"], instance.get("attributes") or {}


def attributes(state: dict) -> dict[str, dict[str, str]]:
    """A digest of each attribute by resource, and of each output: what tells that one moved, without its value."""
    found = {
        address: {name: _digest(value) for name, value in values.items()} for address, _, values in resources(state)
    }
    outputs = state.get("outputs", {}).items()
    return found | {f"output.{name}": {"value": _digest(output.get("value"))} for name, output in outputs}


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
