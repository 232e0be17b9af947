"""salt-api's doors: those of Salt's own HTTP server that Eos uses, and of the event bus what is the caller's own.

Salt's server has more doors: `/hook` fires events, and `/events` shows everybody all of the bus, with the arguments and
answers of other people's jobs. This module has its name and its settings, and comes first by the setting `module_dirs`.
"""

import collections
import contextlib
import re
import threading
import time

import cherrypy
import salt.netapi.rest_cherrypy as of_salt
import salt.netapi.rest_cherrypy.app as app
import salt.utils.event
import salt.utils.json

# In seconds: how long a request may ask to wait; how often a stream shows that it lives, and looks whether its caller
# may still listen.
_LONGEST_WAIT = 3600
_BEAT = 5
_JOB = re.compile(r"salt/job/([0-9]{20})/new")
_ANSWER = re.compile(r"salt/job/([0-9]{20})/ret/[^/]+")
_PROGRESS = re.compile(r"eos/([^/]+)/[^/]+")
# A minion's own findings, for which every role may ask it.
_FOR_ALL = {"eos/drift", "eos/storage/full"}


def __virtual__():
    return "rest_cherrypy" if "port" in __opts__.get("rest_cherrypy", {}) else False


def start():
    app.API = Doors
    of_salt.__opts__ = __opts__
    of_salt.start()


class Requests(app.LowDataAdapter):
    def exec_lowstate(self, client=None, token=None):
        # Each keeps one of the server's few threads while it waits.
        for low in cherrypy.request.lowstate if isinstance(cherrypy.request.lowstate, list) else []:
            for name in ("timeout", "gather_job_timeout"):
                wait = low.get(name, 0) if isinstance(low, dict) else None
                if isinstance(wait, bool) or not isinstance(wait, (int, float)) or not 0 <= wait <= _LONGEST_WAIT:
                    raise cherrypy.HTTPError(400, f"{name} is not a number of at most {_LONGEST_WAIT} seconds")
        return super().exec_lowstate(client=client, token=token)


class Own:
    """Which events are a caller's own: the answers to the jobs it started, and the progress of their operations."""

    def __init__(self, user):
        self.user = user
        self.jobs, self.operations = set(), set()

    def has(self, tag, data):
        if job := _JOB.fullmatch(tag):
            if data.get("user") == self.user:
                self.jobs.add(job[1])
                keywords = [given for given in data.get("arg", []) if isinstance(given, dict)]
                self.operations |= {str(given["operation"]) for given in keywords if "operation" in given}
            return False
        if answer := _ANSWER.fullmatch(tag):
            return answer[1] in self.jobs
        progress = _PROGRESS.fullmatch(tag)
        return tag in _FOR_ALL or (progress is not None and progress[1] in self.operations)


class Events(app.Events):
    """A stream keeps one of the server's threads: half of them are for streams, a quarter for those of one caller."""

    def __init__(self):
        super().__init__()
        self.threads = cherrypy.config["apiopts"].get("thread_pool", 100)
        self.open = collections.Counter()
        self.lock = threading.Lock()

    def GET(self, **kwargs):
        session = cherrypy.request.headers.get("X-Auth-Token")
        user = self._caller(session)
        if kwargs or user is None:
            raise cherrypy.HTTPError(401)
        cherrypy.session.release_lock()
        if self.open[user] >= self.threads // 4 or self.open.total() >= self.threads // 2:
            raise cherrypy.HTTPError(503, "Too many streams of events are open")
        cherrypy.response.headers["Content-Type"] = "text/event-stream"
        cherrypy.response.headers["Cache-Control"] = "no-cache"
        cherrypy.response.headers["Connection"] = "keep-alive"
        return self._listen(session, user)

    def _caller(self, session):
        """Whose session this is, or nothing if it is nobody's any more."""
        kept, _ = cherrypy.session.cache.get(session, ({}, None))
        known = self.resolver.get_token(kept["token"]) if isinstance(kept.get("token"), str) else None
        return known["name"] if known and known.get("expire", 0) > time.time() else None

    def _listen(self, session, user):
        own, beat = Own(user), time.monotonic()
        with self._counted(user), self._bus() as bus:
            yield "retry: 400\n"
            while True:
                event = bus.get_event(wait=_BEAT, full=True, auto_reconnect=True)
                if event is not None and own.has(event["tag"], event["data"]):
                    yield f"tag: {event['tag']}\ndata: {salt.utils.json.dumps(event)}\n\n"
                if time.monotonic() - beat >= _BEAT:
                    if self._caller(session) != user:
                        return
                    # A comment: a server learns from writing alone that nobody listens any more.
                    yield ":\n"
                    beat = time.monotonic()

    def _bus(self):
        return salt.utils.event.get_event("master", sock_dir=self.opts["sock_dir"], opts=self.opts, listen=True)

    @contextlib.contextmanager
    def _counted(self, user):
        with self.lock:
            self.open[user] += 1
        try:
            yield
        finally:
            with self.lock:
                self.open[user] -= 1


class Doors(app.API):
    url_map = {"index": Requests, "login": app.Login, "logout": app.Logout, "events": Events}

    def _update_url_map(self):
        """Salt would add `/hook`, `/app` and `/ws`."""

    def get_conf(self):
        conf = super().get_conf()
        # To pages of any origin it gives answers, and to whoever asks which ones a session.
        conf["/"]["tools.cors_tool.on"] = False
        return conf
