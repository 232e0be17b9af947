"""The Salt state of a file of a component, named after its path."""

from __future__ import annotations

from salt.exceptions import CommandExecutionError


def managed(
    name: str, part: str, text: str, user: str, group: str, mode: str, records: str | None = None, **others: object
) -> dict:
    """The file has this text, owner and mode. The text is data: nothing renders it."""
    del others
    facts = {"path": name, "text": text, "user": str(user), "group": str(group), "mode": mode}
    try:
        if __opts__["test"]:
            changes = __salt__["eos_files.changes"](part, facts, records)
        else:
            changes = __salt__["eos_files.bring"](part, facts, "by hand")
    except CommandExecutionError as failure:
        why = (
            failure.info if isinstance(failure.info, dict) else {"words": str(failure), "hint": "See the minion's log"}
        )
        return {"name": name, "result": False, "changes": {}, "comment": f"{why['words']}\nhint: {why['hint']}"}
    comment = (
        f"{name} {'would be written' if __opts__['test'] else 'is written'}" if changes else f"{name} is as wanted"
    )
    result = None if changes and __opts__["test"] else True
    return {"name": name, "result": result, "changes": changes, "comment": comment}
