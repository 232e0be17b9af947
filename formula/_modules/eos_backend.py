"""Finds the Terraform backend of a workspace: the module `eos_backend_<kind>` owns one kind, and is found by its name.

Nothing here may be called over the API; `eos_workspace` and `eos_examination` call it. A *place* says where Terraform
states lie: {"kind": "s3", "bucket": ...}, as the slice of a workspace has it. A backend of a place has

- `kind` and `place`; `where(name)`, in words;
- `prepare(name)`, Terraform's settings of it, and `environment()`, Terraform's credential for it;
- `read(name)` and `read_all(names)`: the Terraform state, or None, and the fault of a damaged one, in words that follow
  "The Terraform state";
- `create(name, state)`, which never replaces one, and `remove(name)`;
- `last_good(name)` and `mend(workspace)`, for a damaged one; `is_written(name)`, whether a local run has it open;
- `lock(name)`: Terraform's own lock, {"where", "held", "who", "since", "id", "unlock": a command} or None; `free(name,
  id)` ends one whose run is gone. `keeps_locks` says that a lock outlives its process.
"""

from __future__ import annotations

import re

_KIND = re.compile(r"[a-z0-9]{1,20}")


def of(place: dict, profile: object) -> object:
    kind = place.get("kind")
    find = f"eos_backend_{kind}.of"
    if not isinstance(kind, str) or not _KIND.fullmatch(kind) or find not in __salt__:
        words, hint = f"This minion knows no Terraform backend {kind!r}", "salt '*' saltutil.sync_all, or eos lab up"
        raise __utils__["eos_failure.of"]("salt", "terraform backend", words, hint)
    return __salt__[find](place, profile)
