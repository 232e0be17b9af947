"""What went wrong, in the shape that a step record has it."""

from __future__ import annotations

import errno

from salt.exceptions import CommandExecutionError


def of(layer: str, name: str, words: str, hint: str) -> CommandExecutionError:
    return CommandExecutionError(words, info={"layer": layer, "object": name, "words": words, "hint": hint})


def refusal(layer: str, name: str, words: str, hint: str) -> CommandExecutionError:
    """What will not be done however often it is asked for."""
    failure = of(layer, name, words, hint)
    failure.info["refused"] = True
    return failure


def is_of(failure: CommandExecutionError, layer: str) -> bool:
    """Whether it is this layer's, by its own account."""
    return isinstance(failure.info, dict) and failure.info.get("layer") == layer


def described(failure: Exception, name: str) -> dict:
    """The failure as a step record has it, also where Salt itself or Python raised it."""
    known = isinstance(failure, CommandExecutionError)
    if known and isinstance(failure.info, dict) and "layer" in failure.info:
        return dict(failure.info)
    if isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EDQUOT):
        words = f"a disk of this minion is full: {failure.filename or name}"
        hint = "Free some space there (`df -h` names the full disk), then run the step again"
        return {"layer": "salt", "object": name, "words": words, "hint": hint}
    words = str(failure) if known else f"{type(failure).__name__}: {failure}"
    return {"layer": "salt", "object": name, "words": words, "hint": "See the minion's log"}
