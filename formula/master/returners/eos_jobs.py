"""The master's job cache: Salt's own `local_cache`, which publishes nothing but what passed the master's door.

`eos_guard` is that door. The job cache is the one place of the master that is asked before anything is published,
whichever way a request came. This one refuses a request that did not pass: a master without the door publishes nothing.
"""

import logging
import sys

import salt.master
import salt.returners.local_cache as local_cache
import salt.utils.user

log = logging.getLogger(__name__)


def __virtual__():
    """Salt without the function that this module looks into publishes nothing, rather than everything."""
    code = getattr(getattr(salt.master.ClearFuncs, "_prep_jid", None), "__code__", None)
    if code is None or "clear_load" not in code.co_varnames[: code.co_argcount]:
        return False, "this Salt prepares requests in another way than the one that Eos knows"
    return True


def __init__(opts):
    local_cache.__opts__ = opts


def prep_jid(nocache=False, passed_jid=None):
    request = _request_in_preparation()
    words = None if request is None else _refusal(request)
    if words is None:
        return local_cache.prep_jid(nocache=nocache, passed_jid=passed_jid)
    log.error("Refused a request: %s", words)
    # The master hands an error in place of a job id to the caller, and publishes nothing.
    return {"error": {"name": "AuthorizationError", "message": f"Authorization error occurred: {words}"}}


def save_load(jid, clear_load, minions=None):
    # `prep_jid` has refused these already. Should a Salt come that goes round it: of an empty request nothing is made.
    if clear_load.get("cmd") == "publish" and not _has_passed(clear_load):
        clear_load.clear()
        return
    local_cache.save_load(jid, clear_load, minions)


def _refusal(request):
    """Why nothing is published for this request, or nothing."""
    if not _has_passed(request):
        return "the master does not check requests: its setting module_dirs must name the formula's folder master"
    shown, user = request.get("kwargs") or {}, request.get("user")
    # Salt has put in the name by now that it knows the API user by.
    if shown.keys() & {"token", "eauth"} and _is_of_an_account(user):
        return f"an API user may not be called {user}: minions know root's own calls by such a name"
    return None


def _is_of_an_account(user):
    """Salt stamps what is published by hand with the name of an account, or `sudo_` and that name."""
    return not isinstance(user, str) or user.startswith("sudo_") or user in ("root", salt.utils.user.get_user())


def _has_passed(request):
    kind = getattr(salt.master, "EosRequest", None)
    return kind is not None and type(request) is kind


def _request_in_preparation():
    """The request that this call is about, or nothing where the job is the master's own, as a runner's is.

    Salt hands over the job id alone; the request itself is its caller's.
    """
    frame = sys._getframe()
    while frame is not None and frame.f_code is not salt.master.ClearFuncs._prep_jid.__code__:
        frame = frame.f_back
    return None if frame is None else frame.f_locals["clear_load"]


# The rest is Salt's.


def returner(load):
    return local_cache.returner(load)


def save_minions(jid, minions, syndic_id=None):
    return local_cache.save_minions(jid, minions, syndic_id)


def get_load(jid):
    return local_cache.get_load(jid)


def get_jid(jid):
    return local_cache.get_jid(jid)


def get_jids():
    return local_cache.get_jids()


def get_jids_filter(count, filter_find_job=True):
    return local_cache.get_jids_filter(count, filter_find_job)


def clean_old_jobs():
    return local_cache.clean_old_jobs()


def update_endtime(jid, time):
    return local_cache.update_endtime(jid, time)


def get_endtime(jid):
    return local_cache.get_endtime(jid)


def save_reg(data):
    return local_cache.save_reg(data)


def load_reg():
    return local_cache.load_reg()
