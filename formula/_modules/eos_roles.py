"""Who may ask this minion for what: the roles of API users, and approvals where a role does not suffice.

Nothing here may be called over the API; `eos` calls it. Salt's master stamps every publication with the user it
authenticated, and a function that takes further keywords is handed that as `__pub_user`: a caller cannot choose it.
A call that was not published, or that root published by hand, is root's own and passes.

Risk and role are of equal rank: low is for a user, medium for an operator. What is of high risk is never done on the
word of one alone: it needs the approval of an architect who is not the caller.
"""

from __future__ import annotations

import datetime
import glob
import os
import time

import salt.utils.user
from salt.exceptions import CommandExecutionError, SaltInvocationError

_ROLES = ("user", "operator", "architect")
_RISKS = ("low", "medium", "high")
_PUBLISHED = "__pub_"
# With more than so many, those that are over go; one user has no more than so many that hold.
_MOST_APPROVALS = 500


def caller(publication: dict) -> dict:
    """{"user", "role", "is_root"} of who called, from the keywords that Salt adds; any other keyword is refused."""
    if unknown := sorted(key for key in publication if not key.startswith(_PUBLISHED)):
        raise SaltInvocationError(f"There is no argument {', '.join(unknown)}")
    user = publication.get(f"{_PUBLISHED}user")
    role = _role_of(user)
    return {"user": user, "role": role, "is_root": role is None and _is_root(user)}


def highest(found: list[tuple], where_unknown: str) -> tuple[str, str]:
    """The highest of these (risk, why); what is none counts as `where_unknown`."""
    known = [(risk if risk in _RISKS else where_unknown, why) for risk, why in found]
    return max(known, key=lambda one: _RISKS.index(one[0]), default=(where_unknown, "nothing is known of it"))


def reaches(who: dict, user: str | None) -> bool:
    """Whether the caller's role is no lower than that of another user."""
    return who["is_root"] or (user is not None and _rank(who["role"]) >= _rank(_role_of(user)))


def covers(who: dict, risk: str) -> bool:
    """Whether the caller's role covers this risk, as far as one alone can: to look, not to change."""
    return who["is_root"] or _rank(who["role"]) >= _RISKS.index(risk)


def _changes_alone(who: dict, risk: str) -> bool:
    """Whether the caller may change what is of this risk without an approval."""
    return who["is_root"] or (risk != "high" and covers(who, risk))


def require_role(who: dict, role: str, to_do: str) -> None:
    """Refuses a caller below this role, whom no approval helps."""
    if not who["is_root"] and _rank(who["role"]) < _ROLES.index(role):
        raise CommandExecutionError(f"{_named(who)} may not {to_do}: it needs the role {role}")


def require_alone(who: dict, risk: str, to_do: str) -> None:
    """Refuses a caller whose role does not reach this risk, whom no approval helps."""
    require_role(who, _ROLES[_RISKS.index(risk)], to_do)


def require(who: dict, risk: str, because: str, operation: str, step: str, call: list) -> None:
    """Refuses a call of this risk that the caller's role does not reach, unless the operation's approval names it.

    `call` is [function, arguments], as the step record has them.
    """
    if _changes_alone(who, risk):
        return
    if who["role"] is None:
        raise CommandExecutionError(f"{_named(who)} may not change anything: it has no role on {__opts__['id']}")
    if why := _why_not_approved(who, risk, operation, step, call):
        words = f"needs approval: step {step} of operation {operation} is of {risk} risk ({because}), and {_named(who)}"
        raise CommandExecutionError(f"{words} has the role {who['role']}; {why}")


def require_to_deliver(who: dict, risk: str, because: str, what: str, operation: str | None, calls: list[list]) -> None:
    """Refuses to have somebody deliver what is of this risk, unless the operation's approval names one of these calls.

    Each is [function, arguments], as in `require`: whoever approved the step approved what it needs.
    """
    if _changes_alone(who, risk):
        return
    why = "nobody has approved it"
    for call in calls if operation else ():
        why = _why_not_approved(who, risk, operation, None, call)
        if why is None:
            return
    words = f"needs approval: delivery of {what} is of {risk} risk ({because}), and {_named(who)}"
    raise CommandExecutionError(f"{words} has the role {who['role']}; {why}")


def approve(who: dict, operation: str, plan: str, calls: dict[str, str], minutes: int) -> dict:
    """Records that the caller approves these calls of an operation; answers the record as it is on disk."""
    require_role(who, "operator", "approve")
    if who["role"] is None:
        raise CommandExecutionError("Only an API user with a role can approve, because an approval names a user")
    until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=minutes)
    boot, now = _uptime()
    approval = {
        "operation": operation,
        "plan": plan,
        "calls": calls,
        "by": who["user"],
        "role": who["role"],
        "until": until.isoformat(timespec="seconds"),
        "uptime": {"boot": boot, "until": now + minutes * 60},
    }
    path = _approval_path(operation)
    with __utils__["eos_disk.locked"](f"{path}.lock"):
        _refuse_to_replace(who, __utils__["eos_disk.read_json"](path, "by", "until", "calls"))
        _make_room(who, path)
        __utils__["eos_disk.write_json"](path, approval)
    return __utils__["eos_disk.read_json"](path)


def _make_room(who: dict, new: str) -> None:
    """Removes approvals that are over; those that hold stay, so that nobody pushes out another's."""
    there = [path for path in glob.glob(os.path.join(glob.escape(os.path.dirname(new)), "*.json")) if path != new]
    if len(there) < _MOST_APPROVALS:
        return
    own = 0
    for path in there:
        approval = __utils__["eos_disk.read_json"](path, "by", "until", "calls")
        if approval and not _is_over(approval):
            own += approval["by"] == who["user"]
        elif not __utils__["eos_disk.is_locked"](f"{path}.lock"):
            __utils__["eos_disk.remove"](path)
    if own >= _MOST_APPROVALS:
        words = f"{own} approvals of {_named(who)} still hold on {__opts__['id']}"
        raise CommandExecutionError(f"{words}: wait until some of them end")


def _refuse_to_replace(who: dict, there: dict | None) -> None:
    """An approval of a higher role holds as long as it was given for."""
    if there is None or reaches(who, there["by"]) or _is_over(there):
        return
    words = f"{there['by']}, whose role is higher, has approved it until {there['until']}"
    raise CommandExecutionError(f"{_named(who)} cannot replace this approval: {words}")


def _why_not_approved(who: dict, risk: str, operation: str, step: str | None, call: list) -> str | None:
    """What the approval of this operation lacks for this very call, in words that end a sentence; None if nothing.

    Without a step it may be the call of any.
    """
    path = _approval_path(operation)
    approval, fault = __utils__["eos_disk.contents"](path, "by", "until", "calls")
    if fault:
        return f"its approval {path} {fault}: approve it again"
    if approval is None:
        return "nobody has approved it"
    by = approval["by"]
    if by == who["user"]:
        return f"{by} cannot approve what {by} asks for"
    # As it is now, not as it was then: a role that was taken away no longer approves.
    role = _role_of(by)
    if _rank(role) < _RISKS.index(risk):
        return f"{by}, who approved it, has the role {role}"
    if _is_over(approval):
        return f"the approval of {by} ended {approval['until']}"
    approved = approval["calls"]
    named = list(approved.values()) if step is None else [approved.get(step)]
    if __utils__["eos_digest.of_json"](call) not in named:
        return f"{by} approved another plan, which does not have this call"
    return None


def _is_over(approval: dict) -> bool:
    """By the wall clock, and by the time since the machine started: no clock that is set back makes it last longer."""
    boot, now = _uptime()
    ends = approval.get("uptime") or {}
    if ends.get("boot") == boot and now >= ends["until"]:
        return True
    return datetime.datetime.now(datetime.UTC) >= datetime.datetime.fromisoformat(approval["until"])


def _uptime() -> tuple[str, float]:
    """The id of this start of the machine, and the seconds since, sleep included."""
    return __utils__["eos_process.boot"](), time.clock_gettime(time.CLOCK_BOOTTIME)


def _role_of(user: str | None) -> str | None:
    """From the minion's own configuration only: what is delivered must not make an architect of anybody."""
    roles = (__opts__.get("eos") or {}).get("roles") or {}
    role = roles.get(user)
    return role if role in _ROLES else None


def _rank(role: str | None) -> int:
    return _ROLES.index(role) if role in _ROLES else -1


def _is_root(user: str | None) -> bool:
    """Whoever calls without the API is known by the name of an account, and the master let it in by its own key."""
    return user is None or user == "root" or user.startswith("sudo_") or user == salt.utils.user.get_user()


def _named(who: dict) -> str:
    return who["user"] or "root"


def _approval_path(operation: str) -> str:
    return os.path.join(__opts__["cachedir"], "eos", "approvals", f"{operation}.json")
