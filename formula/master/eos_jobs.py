"""The master's job cache: Salt's own `local_cache`, and the door that every request of an API user passes first.

Salt's permissions look at the function alone. The rest of a request goes on to minions as it is: `ret` and `ret_kwargs`
have root write files there, `jid` is a path that root opens and removes, `module_executors` parks processes. The job
cache is the one place of the master that is asked before anything is published, whichever way a request came. So this
one refuses what Eos does not use. `salt` by hand has the master's own key, and is let through.
"""

import logging
import re
import sys

import salt.master
import salt.returners.local_cache as local_cache

log = logging.getLogger(__name__)

# What Salt's clients put round every request. `traceparent` and `tracestate` are there while Salt traces itself.
_ENVELOPE = {"cmd", "tgt", "tgt_type", "fun", "arg", "ret", "jid", "kwargs", "key", "user", "traceparent", "tracestate"}
# Of what they pass on: which client asks, as whom, and for how long it waits.
_PASSED_ON = {"client", "token", "eauth", "username", "password", "gather_job_timeout"}
_CLIENTS = {"local", "local_async"}
_JID = re.compile(r"[0-9]{20}")
_OF_EOS = re.compile(r"eos\.[a-z_]+")


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
    log.warning("Refused a request of %s: %s", request.get("user"), words)
    # The master hands an error in place of a job id to the caller, and publishes nothing.
    return {"error": {"name": "AuthorizationError", "message": f"Authorization error occurred: {words}"}}


def save_load(jid, clear_load, minions=None):
    # `prep_jid` has refused these already. Should a Salt come that goes round it: of an empty request nothing is made.
    if _refusal({**clear_load, "jid": ""}) is not None:
        clear_load.clear()
        return
    local_cache.save_load(jid, clear_load, minions)


def _request_in_preparation():
    """The request that this call is about, or nothing where the job is the master's own, as a runner's is.

    Salt hands over the job id alone; the request itself is its caller's.
    """
    frame = sys._getframe()
    while frame is not None and frame.f_code is not salt.master.ClearFuncs._prep_jid.__code__:
        frame = frame.f_back
    return None if frame is None else frame.f_locals["clear_load"]


def _refusal(request):
    """Why this request is refused, or nothing."""
    passed_on = request.get("kwargs", {})
    # Whoever has neither has shown the master's own key.
    if not isinstance(passed_on, dict) or not passed_on.keys() & {"token", "eauth"}:
        return None
    for name in [*(request.keys() - _ENVELOPE), *(passed_on.keys() - _PASSED_ON)]:
        return f"a request may not carry {str(name)[:40]!r}"
    if passed_on.get("client") not in _CLIENTS:
        return "the client is neither local nor local_async"
    for name in ("ret", "jid"):
        if request.get(name):
            return f"a request may not carry {name!r}"
    if not _is_target(request.get("tgt"), request.get("tgt_type")):
        return "the target is neither a glob nor a list of minions"
    return _refusal_of_arguments(request.get("fun"), request.get("arg"))


def _is_target(target, kind):
    if kind == "list":
        return isinstance(target, list) and all(isinstance(minion, str) for minion in target)
    return kind == "glob" and isinstance(target, str)


def _refusal_of_arguments(function, arguments):
    if not isinstance(function, str) or not isinstance(arguments, (list, tuple)):
        return "a request names one function and its arguments"
    keywords = {}
    positional = list(arguments)
    if positional and isinstance(positional[-1], dict) and positional[-1].get("__kwarg__") is True:
        keywords = {name: value for name, value in positional.pop().items() if name != "__kwarg__"}
    if any(not isinstance(name, str) or name.startswith("__") for name in keywords):
        return "a keyword is not one of a function's"
    if function == "saltutil.find_job":
        # Salt's clients give it by position, Eos by name.
        jids = positional + list(keywords.values())
        if len(jids) == 1 and keywords.keys() <= {"jid"} and isinstance(jids[0], str) and _JID.fullmatch(jids[0]):
            return None
        return "saltutil.find_job takes the id of one job"
    if function == "test.ping":
        return "test.ping takes no arguments" if positional or keywords else None
    if _OF_EOS.fullmatch(function):
        return f"{function} takes keywords only" if positional else None
    return f"{function[:60]!r} is not one of Eos's functions"


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
