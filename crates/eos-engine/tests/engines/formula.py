"""Stands in for the formula: steps that take time, tell their progress, and can be asked after."""

import json
import os
import time


def _record_file(operation, step):
    return os.path.join(__opts__["cachedir"], "eos-steps", operation, step + ".json")


def _write(record):
    path = _record_file(record["operation"], record["step"])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w") as file:
        json.dump(record, file)
    os.rename(path + ".new", path)


def info():
    return {"minion": __opts__["id"]}


def make(operation, step, seconds, fails=False, quiet=False):
    record = {"operation": operation, "step": step, "status": "running"}
    _write(record)
    for number in range(seconds):
        if not quiet:
            __salt__["event.send"](f"eos/{operation}/{step}", {"message": f"second {number}"})
        time.sleep(1)
    record["status"] = "failed" if fails else "done"
    _write(record)
    if fails:
        __context__["retcode"] = 1
    return record


def status(operation, step):
    try:
        with open(_record_file(operation, step)) as file:
            return json.load(file)
    except FileNotFoundError:
        return {"status": "unknown"}
