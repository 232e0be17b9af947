"""Keeps the logs of a laboratory short while its engines write to them.

Salt's schedule calls it on the control minion of a laboratory. Nothing here may be called over the API.
"""

from __future__ import annotations

import glob
import os
import shutil

_LONGEST = 10 << 20


def shorten() -> list[str]:
    """Puts the text of each log aside that has grown long, in place of what was put aside before; answers their paths.

    An engine keeps its log open and appends to it: so the file stays, and becomes empty.
    """
    directory = (__opts__.get("eos") or {}).get("logs")
    long = [path for path in _logs(directory) if os.path.getsize(path) > _LONGEST]
    for path in long:
        aside, unfinished = f"{path}.1", f"{path}.unfinished"
        shutil.copyfile(path, unfinished, follow_symlinks=False)
        os.chmod(unfinished, 0o600)
        os.replace(unfinished, aside)
        os.truncate(path, 0)
    return long


def _logs(directory: str | None) -> list[str]:
    found = sorted(glob.glob(os.path.join(glob.escape(directory), "*.log"))) if directory else []
    return [path for path in found if os.path.isfile(path) and not os.path.islink(path)]
