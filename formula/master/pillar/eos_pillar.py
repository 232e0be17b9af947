"""The master's external pillar: gives each minion its own slice of what Eos delivered, read as JSON and nothing else.

Salt renders the files of `pillar_roots` by whatever renderer their first line names, Python included. What is delivered
is data: so it is no part of those roots. A minion gets the key `eos` of its own file, of the release or of the plan
that it asks for as its pillar environment, and the key `eos_read_as`, by which it knows that the master is set up so.
"""

import json
import os
import re
import stat

_HEAD = "#!json\n"
_PLAN = re.compile(r"plan-[0-9a-f]{32}")
# Without a label that is empty, no two ids are one path.
_MINION = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
# Salt would run the ones on minions, and the other for whoever applies the highstate.
_NEVER_SERVED = ("_modules/eos.py", "top.sls")


def ext_pillar(minion_id, pillar, directory):
    """`directory` is where Eos delivers: it has `current` and `plans`."""
    _refuse_settings(directory)
    _refuse_place(directory)
    return {"eos": _slice_of(minion_id, directory), "eos_read_as": "json"}


def _refuse_settings(directory):
    """What is delivered is data only where Salt finds none of it as code, and serves nothing else by its name."""
    if __opts__["fileserver_followsymlinks"]:
        raise ValueError("the master's fileserver_followsymlinks is not false: a delivered link would serve any file")
    for root in (root for roots in __opts__["pillar_roots"].values() for root in roots):
        if f"{os.path.normpath(root)}/".startswith(f"{os.path.normpath(directory)}/"):
            raise ValueError(f"the master's pillar_roots name {root}: Salt runs what is delivered there")
    for place in ("current", f"plans/plan-{'0' * 32}"):
        for file in (f"{directory}/{place}/{root}/{name}" for root in ("salt", "files") for name in _NEVER_SERVED):
            if not any(re.search(pattern, file) for pattern in __opts__["file_ignore_regex"] or []):
                raise ValueError(f"the master's file_ignore_regex let {file} pass: Salt runs what is delivered there")


def _refuse_place(directory):
    """Who may rename the formula in the directory of delivery brings code of their own."""
    formula = os.path.realpath(__file__)
    if not formula.startswith(f"{os.path.realpath(directory)}/"):
        return
    status = os.stat(directory)
    is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
    if is_shared or status.st_uid not in (0, os.geteuid()):
        raise ValueError(f"{directory} lets others replace the formula in it: it must be root's, with the sticky bit")


def _slice_of(minion_id, directory):
    wanted = __opts__.get("pillarenv") or "base"
    if not _MINION.fullmatch(minion_id) or not (wanted == "base" or _PLAN.fullmatch(wanted)):
        return {}
    place = "current" if wanted == "base" else os.path.join("plans", wanted)
    # Where Salt itself looks for an SLS of that name: it takes a dot for the end of a directory.
    path = os.path.join(directory, place, "pillar", "hosts", f"{minion_id.replace('.', '/')}.sls")
    text = _read(path)
    if text is None:
        return {}
    try:
        document = json.loads(text.removeprefix(_HEAD))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON: deliver it again with `eos apply`") from error
    if not isinstance(document, dict) or not isinstance(document.get("eos"), dict):
        raise ValueError(f"{path} has no object eos: deliver it again with `eos apply`")
    return document["eos"]


def _read(path):
    """The text of a file, None without one; anything but a plain file is refused, since to open it may take forever."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with open(descriptor, encoding="utf-8") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{path} is no file")
        return file.read()
