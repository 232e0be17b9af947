"""The master's door: whatever comes to its port passes here before Salt looks at it.

Salt trusts a request before it knows whose it is. One that fails its authentication becomes an event as it is, with the
master's own key and under a tag of the sender's choice. A token is the name of a file. Salt trusts every minion, too:
with events that answer for another minion, or have the master publish. So this module hands on what Eos knows, and
refuses the rest.

Salt has no place for such a door. It loads its log handlers first, in each process of salt-master and salt-api. So this
is one, and handles no log. It changes functions of Salt's, and stops a Salt whose functions are not as it knows them.
"""

import functools
import hmac
import inspect
import logging
import re

import salt.exceptions
import salt.utils.stringutils

log = logging.getLogger(__name__)

# What Salt's clients put round every request. `traceparent` and `tracestate` are there while Salt traces itself.
_TRACES = {"traceparent", "tracestate"}
_ENVELOPE = {"cmd", "tgt", "tgt_type", "fun", "arg", "ret", "jid", "kwargs", "key", "user"} | _TRACES
# Of what they pass on: which client asks, as whom, and for how long it waits.
_CREDENTIALS = {"token", "eauth", "username", "password"}
_PASSED_ON = {"client", "gather_job_timeout"} | _CREDENTIALS
_LOGIN = {"cmd", "eauth", "username", "password"} | _TRACES
_CLIENTS = {"local", "local_async"}
_JID = re.compile(r"[0-9]{20}")
# Salt adds a process id where its setting `unique_jid` asks for it.
_JID_OF_SALT = re.compile(r"[0-9]{20}(_[0-9]+)?")
_TOKEN = re.compile(r"[0-9a-f]{32,128}")
# Every function of Eos's that an API user may call, for all kinds that there are and will be. This is the one list: the
# permissions of a master, those of a laboratory and the module `eos` are tested against it.
FUNCTIONS = (
    *("info", "deliver", "preview", "make", "remove", "act", "stop", "status"),
    *("observe", "inspect", "examine", "approve", "take_home", "sync"),
)
# Salt's own clients search a tag for the id of a job anywhere in it.
_OF_A_JOB = re.compile(r"[0-9]{20}")

# What this module changes in Salt, with the parameters that it knows, and what Salt opens to the network.
_KNOWN = {
    "MWorker._handle_clear": ["self", "load"],
    "MWorker._handle_aes": ["self", "data"],
    "EventMonitor.handle_event": ["self", "package"],
    "ClearFuncs._prep_jid": ["self", "clear_load", "extra"],
}
_CLEAR = {"ping", "publish", "get_token", "mk_token", "wheel", "runner"}


class Refused(Exception):
    """Why a request is refused."""


def setup_handlers():
    """Salt calls it in each of its processes, before it does anything else. There is no log handler."""
    if __opts__.get("__role") == "master":
        _install()
    return False


def _install():
    import salt.master
    import salt.utils.event

    master, bus = salt.master, salt.utils.event.SaltEvent
    if hasattr(master, "EosRequest"):
        return
    for name, parameters in _KNOWN.items():
        kind, function = name.split(".")
        found = getattr(getattr(master, kind, None), function, None)
        if found is None or list(inspect.signature(found).parameters) != parameters:
            raise _another_salt(f"salt.master.{name}")
    if set(master.ClearFuncs.expose_methods) != _CLEAR:
        raise _another_salt("salt.master.ClearFuncs.expose_methods")
    if list(inspect.signature(bus.pack).parameters) != ["tag", "data", "max_size"]:
        raise _another_salt("salt.utils.event.SaltEvent.pack")
    # No sender can make one: what comes over the network are plain dictionaries. Made here, and once, since Salt loads
    # this module again and again, each time with classes of its own.
    passed = type("EosRequest", (dict,), {})
    master.MWorker._handle_clear = _checks_requests(master.MWorker._handle_clear, passed)
    master.MWorker._handle_aes = _checks_minions(master.MWorker._handle_aes)
    master.EventMonitor.handle_event = _hears_peers_in_a_cluster_only(master.EventMonitor.handle_event)
    bus.pack = classmethod(_packs_one_event(bus.pack.__func__))
    # Last, since it says that all of it is done. The job cache publishes nothing else.
    master.EosRequest = passed


def _another_salt(name):
    # Salt's programs end with these words.
    return salt.exceptions.LoggingRuntimeError(
        f"{name} is not as Eos's formula knows it, so nothing would guard this master. Install the Salt that this"
        " formula knows, or the formula of an Eos that knows this Salt"
    )


def _checks_requests(original, passed):
    @functools.wraps(original)
    async def handle(self, load):
        try:
            request = passed(admitted(load, self.key))
        except Refused as words:
            log.warning("Refused a request: %s", words)
            message = f"Authorization error occurred: {words}"
            return {"error": {"name": "AuthorizationError", "message": message}}, {"fun": "send_clear"}
        return await original(self, request)

    return handle


def _checks_minions(original):
    @functools.wraps(original)
    async def handle(self, data):
        words = refusal_of_minion(data, self.opts)
        if words is not None:
            log.warning("Refused what minion %s sent: %s", data.get("id"), words)
            return {}, {"fun": "send"}
        return await original(self, data)

    return handle


def _hears_peers_in_a_cluster_only(original):
    @functools.wraps(original)
    async def handle(self, package):
        # Other masters of a cluster have this one publish by an event. Without a cluster no sender is a master.
        if self.opts.get("cluster_id"):
            await original(self, package)

    return handle


def _packs_one_event(original):
    @functools.wraps(original)
    def pack(cls, tag, data, max_size=None):
        # Two line breaks end a tag: what follows them would be read as the event.
        if re.search(r"[\r\n]", salt.utils.stringutils.to_unicode(tag)):
            raise ValueError("a tag of an event holds a line break")
        return original(cls, tag, data, max_size=max_size)

    return pack


def admitted(load, keys):
    """The request as Salt may see it. `keys` are the master's own, by user."""
    if not isinstance(load, dict):
        raise Refused("a request is a dictionary")
    command = load.get("cmd")
    if command == "ping":
        return {"cmd": "ping"}
    if command == "get_token":
        return {"cmd": "get_token", "token": _token(load.get("token"))}
    if command == "mk_token":
        _only(load, _LOGIN)
        return {name: _text(load.get(name), name) for name in ("cmd", "eauth", "username", "password")}
    if command not in ("publish", "runner", "wheel"):
        raise Refused("the command is not one of Salt's")
    if _is_of_an_api_user(load, command):
        return _publication(load, command)
    # `salt` by hand, which has read the master's own key.
    if not any(_is_same(load.get("key"), key) for key in keys.values()):
        raise Refused("neither a token nor the master's own key")
    if load.get("jid") and not _matches(_JID_OF_SALT, load["jid"]):
        raise Refused("the job id is none of Salt's")
    return load


def _is_of_an_api_user(load, command):
    shown = load.get("kwargs", {}) if command == "publish" else load
    if not isinstance(shown, dict):
        raise Refused("what a client passes on is a dictionary")
    return bool(shown.keys() & {"token", "eauth"})


def _publication(load, command):
    if command != "publish":
        raise Refused("API users call neither runners nor wheels")
    passed_on = load["kwargs"]
    _only(load, _ENVELOPE)
    _only(passed_on, _PASSED_ON)
    if passed_on.get("client") not in _CLIENTS:
        raise Refused("the client is neither local nor local_async")
    if "token" in passed_on:
        _token(passed_on["token"])
    for name in passed_on.keys() & {"eauth", "username", "password"}:
        _text(passed_on[name], name)
    for name in ("ret", "jid"):
        if load.get(name):
            raise Refused(f"a request may not carry {name!r}")
    if not _is_target(load.get("tgt"), load.get("tgt_type")):
        raise Refused("the target is neither a glob nor a list of minions")
    _check_arguments(load.get("fun"), load.get("arg"))
    # Without a job id Salt fires no event of a request that fails, and without the key nothing could show it.
    kept = {name: load[name] for name in ("cmd", "tgt", "tgt_type", "fun", "arg", "kwargs")}
    return {**kept, "ret": "", "user": _text(load.get("user"), "user")}


def _only(given, names):
    for name in given.keys() - names:
        raise Refused(f"a request may not carry {str(name)[:40]!r}")


def _text(value, name):
    if not isinstance(value, str):
        raise Refused(f"{name} is not a text")
    return value


def _token(value):
    # Salt takes it for the name of a file.
    if not _matches(_TOKEN, value):
        raise Refused("the token is none of Salt's")
    return value


def _matches(pattern, value):
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_same(shown, key):
    return isinstance(shown, str) and hmac.compare_digest(shown.encode(), key.encode())


def _is_target(target, kind):
    if kind == "list":
        return isinstance(target, list) and all(isinstance(minion, str) for minion in target)
    return kind == "glob" and isinstance(target, str)


def _check_arguments(function, arguments):
    if not isinstance(function, str) or not isinstance(arguments, (list, tuple)):
        raise Refused("a request names one function and its arguments")
    keywords = {}
    positional = list(arguments)
    if positional and isinstance(positional[-1], dict) and positional[-1].get("__kwarg__") is True:
        keywords = {name: value for name, value in positional.pop().items() if name != "__kwarg__"}
    if any(not isinstance(name, str) or name.startswith("__") for name in keywords):
        raise Refused("a keyword is not one of a function's")
    if function == "saltutil.find_job":
        # Salt's clients give it by position, Eos by name.
        jids = positional + list(keywords.values())
        if len(jids) != 1 or not keywords.keys() <= {"jid"} or not _matches(_JID, jids[0]):
            raise Refused("saltutil.find_job takes the id of one job")
    elif function == "test.ping":
        if positional or keywords:
            raise Refused("test.ping takes no arguments")
    elif function not in {f"eos.{name}" for name in FUNCTIONS}:
        raise Refused(f"{function[:60]!r} is not one of Eos's functions")
    elif positional:
        raise Refused(f"{function} takes keywords only")


def refusal_of_minion(data, opts):
    """Why the master does not take this of a minion, or nothing. Salt has made sure of `id`."""
    command = data.get("cmd")
    if command == "_return":
        if "resource_id" in data:
            return "a minion answers in no other name than its own"
        if data.get("jid") != "req" and not _matches(_JID_OF_SALT, data.get("jid")):
            return "the job id is none of Salt's"
    if command == "_syndic_return" and not opts.get("order_masters"):
        return "a minion answers for no other"
    if command == "_minion_event":
        if data.get("pretag") is not None and not opts.get("order_masters"):
            return "a minion does not pass on the events of others"
        events = data.get("events", [])
        if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
            return "events are a list"
        tags = [event.get("tag") for event in events] + ([data["tag"]] if "tag" in data else [])
        for tag in tags:
            if not _is_of_minion(tag, data.get("id")):
                return f"a minion fires no event {str(tag)[:60]!r}"
    return None


def _is_of_minion(tag, minion):
    if not isinstance(tag, str) or not tag.isprintable() or _OF_A_JOB.search(tag):
        return False
    if tag.startswith("salt/"):
        return tag.startswith(tuple(f"salt/{kind}/{minion}/" for kind in ("minion", "beacon", "proxy")))
    return not tag.startswith(("cluster/", "syndic/", "rotate_"))
