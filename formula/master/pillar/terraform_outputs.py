"""The master's external pillar of Terraform outputs: gives a minion those of the components that its own slice names.

The control minion keeps a record of each workspace that it applied, `<directory>/<environment>/<component>.json`. This
reads those records; it runs no Terraform and asks no backend. It comes after `eos_pillar`, whose slice says which
components a minion has a part of. A plan's slice says nothing here: anybody may have a plan delivered.

No record is worth a pillar: one that is missing, cut or of another version is a line of the log.
"""

import json
import logging
import os
import re
import stat

_log = logging.getLogger(__name__)
_VERSION = 1
_LARGEST = 1 << 20
_PART = re.compile(r"([a-z][a-z0-9-]{0,62}/[a-z][a-z0-9-]{0,62})(?:/.*)?", re.DOTALL)


def ext_pillar(minion_id, pillar, directory):
    """`directory` is `<cachedir of the control minion>/eos/deployed`."""
    if (__opts__.get("pillarenv") or "base") != "base":
        return {}
    named = sorted(_components(pillar.get("eos")))
    given = {name: outputs for name in named if (outputs := _outputs(minion_id, directory, name))}
    return {"terraform_outputs": given}


def _components(slices):
    """The components of which a minion has a part, of whatever kind: a part's name begins with its component's."""
    parts = [part for kind in slices.values() if isinstance(kind, dict) for part in kind] if slices else []
    return {found[1] for part in parts if (found := _PART.fullmatch(part))}


def _outputs(minion_id, directory, name):
    path = os.path.join(directory, f"{name}.json")
    try:
        record = json.loads(_read(path))
        if not isinstance(record, dict) or record.get("version") != _VERSION or record.get("workspace") != name:
            raise ValueError(f"it is no record of {name} of version {_VERSION}")
        if not isinstance(record.get("outputs"), dict):
            raise ValueError("it has no outputs")
    except FileNotFoundError:
        _log.info("Minion %s gets no Terraform outputs of %s: there is no %s", minion_id, name, path)
        return None
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("Minion %s gets no Terraform outputs of %s: %s: %s", minion_id, name, path, error)
        return None
    return record["outputs"]


def _read(path):
    """The text of a plain file; anything else is refused, since to open it may take forever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with open(descriptor, encoding="utf-8") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is no file")
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise ValueError(f"it is longer than {_LARGEST} characters")
    return text
