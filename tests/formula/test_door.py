"""The master's door: requests before Salt knows whose they are, what minions send, and the doors of salt-api."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import time
import urllib.error
import urllib.request

import pytest

from laboratory import FORMULA, MINION, password, wait_until
from test_requests import JID, raw

# Every run tries what keeps API users, and whoever reaches the master's port, from being root.
pytestmark = pytest.mark.always

OTHER_MINION = "node1"


@pytest.fixture
def salt(laboratory):
    with laboratory.salt.acting_as("eos-user"):
        yield laboratory.salt


@pytest.fixture
def token(salt):
    """As the master itself gives it for a password: that of salt-api is good at salt-api only."""
    asked = {"cmd": "mk_token", "eauth": "file", "username": "eos-user", "password": password("eos-user")}
    return salt.publish([asked])[0]["token"]


def of_minion(events: list[dict]) -> list[dict]:
    """Without what every request to a minion leaves: its new job, its publication, and the answers."""
    usual = re.compile(r"salt/(auth|presence/.*|stats/.*|job/\d{20}/(new|publish|ret/.*))|minion_ping|\d{20}")
    return [event for event in events if not usual.fullmatch(event["tag"])]


def test_a_request_that_fails_leaves_nothing_on_the_bus(salt, token):
    """Under a tag of its sender's choice, with the master's own key, where every role could read it."""
    forged = f"{JID}/publish\n\n\x00"
    with_password = {"client": "local", "eauth": "file", "username": "eos-user", "password": "wrong"}
    with salt.bus() as events:
        answers = salt.publish(
            [
                raw("0" * 64, jid=forged),
                raw("0" * 64),
                {**raw(token, jid=forged), "kwargs": with_password},
                {**raw(token), "kwargs": with_password},
                {**raw(token, jid=forged), "kwargs": {}},
                {**raw(token, jid=forged, key="0" * 64), "kwargs": {"client": "local"}},
                # Of a role that may not call it.
                raw(token, fun="eos.approve"),
            ]
        )
        assert salt.lowstate(fun="eos.approve", kwarg={"operation": "o"})[0] == 401
    assert all("error" in answer for answer in answers), answers
    assert not of_minion(events), events


def test_no_event_shows_a_credential(salt, token):
    """Salt's own client sends the master's key with every request of an API user."""
    key = (salt.directory / "master/cache/.root_key").read_text()
    with salt.bus() as events:
        assert salt.lowstate(fun="test.ping")[0] == 200
        assert salt.lowstate(fun="eos.approve")[0] == 401
        assert salt.lowstate(fun="cmd.run", jid=JID)[0] == 401
        salt.publish([raw(token), raw(token, fun="eos.approve"), raw(token, jid=JID)])
    said = json.dumps(events)
    assert "test.ping" in said
    assert key not in said and token not in said and password("eos-user") not in said


def test_a_token_is_no_path(salt, salt_python, tmp_path):
    """Salt would remove a file that holds no token, and believe one that does."""
    told = {"start": 0, "expire": time.time() + 3600, "name": "eos-architect", "eauth": "file", "token": "x"}
    (tmp_path / "forged.p").write_bytes(salt_payload(told))
    (tmp_path / "precious.p").write_text("precious\n")
    names = [f"{'../' * 12}{tmp_path}/{name}" for name in ("forged", "precious")]
    names += ["", ".", "..", "0" * 31, "G" * 64, f"{'0' * 64}\n", "0" * 129, ["0" * 64], {"a": 1}, None, 7, True]
    calls = [{"cmd": "get_token"}, {"cmd": "runner", "fun": "manage.up"}, {"cmd": "wheel", "fun": "key.list_all"}]
    asked = [{**call, "token": name} for name in names for call in calls] + [raw(name) for name in names]
    for request, answer in zip(asked, salt.publish(asked), strict=True):
        assert "error" in answer, (request, answer)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["forged.p", "precious.p"]


def salt_payload(data: object) -> bytes:
    import salt.payload

    return salt.payload.dumps(data)


def test_a_login_carries_nothing_but_the_password(salt):
    asked = {"cmd": "mk_token", "eauth": "file", "username": "eos-user", "password": password("eos-user")}
    hostile = [{**asked, "token_expire": 10**9}, {**asked, "groups": ["x"]}, {**asked, "password": ["x"]}]
    answers = salt.publish([asked, *hostile, {"cmd": "get_token"}, {"cmd": "x"}, {}])
    assert re.fullmatch("[0-9a-f]{64}", answers[0]["token"])
    assert all("error" in answer for answer in answers[1:]), answers


def test_a_minion_answers_for_no_other_and_has_nothing_published(salt, laboratory, tmp_path):
    answer = {"jid": JID, "return": {"status": "done"}, "retcode": 0, "success": True, "fun": "eos.make"}
    order = {"__peer_id": "x", "fun": "test.ping", "arg": [], "tgt": "*", "tgt_type": "glob", "jid": JID, "ret": ""}
    tags = [
        f"salt/job/{JID}/ret/{OTHER_MINION}",
        f"salt/job/{JID}/publish",
        f"salt/job/{JID}/new",
        f"syndic/x/{JID}",
        f"x/salt/job/{JID}",
        "cluster/runner/x",
        "salt/key",
        "rotate_cluster_aes_key",
        "salt/auth",
        "eos/x\n\nx",
    ]
    events = [{"cmd": "_minion_event", "tag": tag, "data": {**order, "id": OTHER_MINION, **answer}} for tag in tags]
    listed = [{"cmd": "_minion_event", "events": [{"tag": event["tag"], "data": event["data"]}]} for event in events]
    returns = [
        {"cmd": "_return", **answer, "resource_id": OTHER_MINION},
        {"cmd": "_return", **answer, "jid": f"{JID}/ret/{OTHER_MINION}\n\nx"},
        {"cmd": "_syndic_return", "jid": JID, "return": {OTHER_MINION: answer}},
        {"cmd": "_syndic_return", "load": [{"id": "x", "jid": JID, "return": {OTHER_MINION: answer}}]},
    ]
    pretagged = {"cmd": "_minion_event", "pretag": "salt/job", "events": [{"tag": f"{JID}/publish", "data": order}]}
    with salt.bus() as seen:
        salt.publish([*events, *listed, *returns, pretagged], "minion")
        # Its own pass.
        salt.publish([{"cmd": "_minion_event", "tag": "eos/o/s", "data": {"message": "m"}}], "minion")
        salt.publish([{"cmd": "_return", **answer}], "minion")
    passed = [event for event in seen if not event["tag"].startswith(("salt/auth", "salt/presence"))]
    assert {event["tag"] for event in passed} == {"eos/o/s", f"salt/job/{JID}/ret/{MINION}"}, passed
    assert OTHER_MINION not in json.dumps(passed)


def test_the_other_doors_of_salts_server_are_not_there(salt):
    paths = ("run", "minions", "jobs", "keys", "token", "hook", "hook/x", "ws", "stats", "app")
    with salt.bus() as events:
        for path, method in itertools.product(paths, ("GET", "POST", "OPTIONS")):
            headers = {"Content-Type": "application/json", "X-Auth-Token": salt.token}
            data = b"[{}]" if method == "POST" else None
            request = urllib.request.Request(f"{salt.url}/{path}", data=data, headers=headers, method=method)
            with pytest.raises(urllib.error.HTTPError) as answer:
                urllib.request.urlopen(request, timeout=60, context=salt.trust)
            assert answer.value.code == 404, (path, method)
    assert not events


@pytest.mark.parametrize("path", ["", "events", "logout"])
def test_no_door_is_open_without_a_token(salt, path):
    """Nor with the session that Salt gives to whoever asks what a page of another origin may do."""
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(f"{salt.url}/{path}", headers=headers, method="OPTIONS")
    with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(asked, context=salt.trust) as answer:
        headers["X-Auth-Token"] = answer.headers.get("Set-Cookie", "session_id=none;").split("=")[1].split(";")[0]
    data = None if path == "events" else b"[{}]"
    request = urllib.request.Request(f"{salt.url}/{path}", data=data, headers=headers)
    with pytest.raises(urllib.error.HTTPError) as answer:
        urllib.request.urlopen(request, timeout=60, context=salt.trust)
    assert answer.value.code == 401


@pytest.mark.parametrize("wait", [10**9, -1, "x", None, True, [1]])
def test_nobody_keeps_a_thread_of_the_api_for_long(salt, wait):
    for name in ("timeout", "gather_job_timeout"):
        assert salt.lowstate(fun="test.ping", **{name: wait})[0] == 400


def test_a_stream_of_events_shows_the_callers_own(salt):
    with salt.events() as seen:
        assert salt.lowstate(fun="test.ping")[0] == 200
        with salt.acting_as("eos-architect"):
            assert salt.call("eos.info")["retcode"] == 0
        told = [{"cmd": "_minion_event", "tag": f"eos/{name}/s", "data": {"message": name}} for name in ("mine", "its")]
        assert salt.call("eos.status", operation="mine", step="s")["retcode"] == 0
        salt.publish(told, "minion")
    tags = [line.removeprefix("tag: ") for line in seen if line.startswith("tag: ")]
    answers = [tag for tag in tags if re.fullmatch(rf"salt/job/\d{{20}}/ret/{MINION}", tag)]
    assert len(answers) == 2 and set(tags) - set(answers) == {"eos/mine/s"}, seen
    assert "eos.info" not in "".join(seen) and "eos-architect" not in "".join(seen)


def test_streams_leave_threads_of_the_api_to_others(salt):
    """A quarter of its twenty for one caller; and who has gone takes none."""

    def open_one():
        request = urllib.request.Request(f"{salt.url}/events", headers={"X-Auth-Token": salt.token})
        stream = urllib.request.urlopen(request, timeout=60, context=salt.trust)
        stream.readline()
        return stream

    wait_until("earlier streams to have ended", lambda: open_one().close() is None, 60)
    with contextlib.ExitStack() as streams:
        for _ in range(5):
            wait_until("a stream", lambda: streams.enter_context(open_one()), 60)
        with pytest.raises(urllib.error.HTTPError) as answer:
            open_one()
        assert answer.value.code == 503
        with salt.acting_as("eos-architect"):
            open_one().close()
    wait_until("a stream once others have ended", open_one, 60).close()


# The door itself, without a master.


@pytest.fixture(scope="module")
def guard(salt_python):
    import importlib.util

    path = FORMULA / "master/log_handlers/eos_guard.py"
    specification = importlib.util.spec_from_file_location("eos_guard", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.__opts__ = {"__role": "master"}
    return module


KEYS = {"root": "k" * 64}
PLAIN = raw("0" * 64)


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"ret": "rawfile_json"},
            {"jid": JID},
            {"new": 1},
            {"kwargs": {"metadata": {}}},
            {"kwargs": {"user": "root"}},
        ),
        *({"tgt_type": "pcre"}, {"tgt_type": "compound"}, {"tgt": ["a"]}, {"tgt": 1}, {"user": 1}, {"user": None}),
        *({"fun": "cmd.run"}, {"fun": ["eos.info"]}, {"fun": "eos.info\n"}, {"arg": "x"}, {"arg": [1]}, {"cmd": "x"}),
        *({"cmd": None}, {"cmd": ["publish"]}, {"kwargs": []}, {"kwargs": "x"}, {"cmd": "_auth"}, {"id": "x"}),
    ],
)
def test_what_the_door_refuses(guard, changes):
    merged = {**PLAIN, **changes}
    if isinstance(changes.get("kwargs"), dict):
        merged["kwargs"] = {**PLAIN["kwargs"], **changes["kwargs"]}
    with pytest.raises(guard.Refused):
        guard.admitted(merged, KEYS)


def test_salt_sees_neither_key_nor_job_id_of_an_api_users_request(guard):
    seen = guard.admitted({**PLAIN, "key": KEYS["root"], "jid": "", "traceparent": "x"}, KEYS)
    assert set(seen) == {"cmd", "tgt", "tgt_type", "fun", "arg", "kwargs", "ret", "user"}


def test_the_masters_own_key_asks_for_anything(guard):
    by_hand = {**PLAIN, "kwargs": {"metadata": {}}, "fun": "state.apply", "ret": "x", "key": KEYS["root"]}
    assert guard.admitted(by_hand, KEYS) == by_hand
    assert guard.admitted({"cmd": "runner", "fun": "manage.up", "key": KEYS["root"]}, KEYS)["fun"] == "manage.up"
    for changes in ({"key": "x"}, {"key": None}, {"key": ["k"]}, {"key": ""}, {"jid": "../x"}, {"jid": "x\n\ny"}):
        with pytest.raises(guard.Refused):
            guard.admitted({**by_hand, **changes}, KEYS)


@pytest.mark.parametrize("tag", ["eos/o/s", "mine", "salt/minion/a/start", "salt/beacon/a/load/"])
def test_a_minions_own_events_pass(guard, tag):
    for event in ({"tag": tag, "data": {}}, {"events": [{"tag": tag, "data": {}}]}):
        assert guard.refusal_of_minion({"cmd": "_minion_event", "id": "a", **event}, {}) is None
    other = {"cmd": "_minion_event", "id": "b", "tag": tag, "data": {}}
    assert (guard.refusal_of_minion(other, {}) is None) is not tag.startswith("salt/")


def test_a_tag_with_a_line_break_makes_no_event(guard, monkeypatch):
    import salt.master
    import salt.utils.event

    bus = salt.utils.event.SaltEvent
    for kind, name in ((salt.master.MWorker, "_handle_clear"), (salt.master.MWorker, "_handle_aes"), (bus, "pack")):
        monkeypatch.setattr(kind, name, kind.__dict__[name])
    monkeypatch.setattr(salt.master.EventMonitor, "handle_event", salt.master.EventMonitor.handle_event)
    monkeypatch.delattr(salt.master, "EosRequest", raising=False)
    guard.setup_handlers()
    assert bus.unpack(bus.pack("salt/x", {"a": 1})) == ("salt/x", {"a": 1})
    for tag in ("salt/x\n\ny", "a\rb", b"a\nb"):
        with pytest.raises(ValueError, match="line break"):
            bus.pack(tag, {})
    del salt.master.EosRequest


@pytest.mark.parametrize("name", ["MWorker._handle_clear", "MWorker._handle_aes", "EventMonitor.handle_event"])
def test_a_salt_with_another_inside_does_not_start(guard, monkeypatch, name):
    import salt.exceptions
    import salt.master

    kind, function = name.split(".")
    monkeypatch.setattr(getattr(salt.master, kind), function, lambda self, new, old: None)
    with pytest.raises(salt.exceptions.LoggingRuntimeError, match=name):
        guard.setup_handlers()
    assert not hasattr(salt.master, "EosRequest")


# These make whoever brings a later Salt look at what it opens.


def test_what_this_salt_opens_to_minions(salt_python):
    import salt.master

    assert set(salt.master.AESFuncs.expose_methods) == {
        *("verify_minion", "_master_tops", "_master_opts", "_mine_get", "_mine", "_mine_delete", "_mine_flush"),
        *("_register_resources", "_file_recv", "_pillar", "_minion_event", "_return", "_syndic_return"),
        *(
            "minion_runner",
            "pub_ret",
            "minion_pub",
            "minion_publish",
            "revoke_auth",
            "_serve_file",
            "_file_find",
            "_file_hash",
        ),
        *("_file_hash_and_stat", "_file_list", "_file_list_emptydirs", "_dir_list", "_symlink_list", "_file_envs"),
    }


def test_what_this_salts_server_opens(salt_python):
    source = (FORMULA / "master/netapi/rest_cherrypy/__init__.py").read_text()
    import salt.netapi.rest_cherrypy.app as app

    assert set(app.API.url_map) - {"hook", "app", "ws"} == {
        *("index", "login", "logout", "token", "minions", "run", "jobs", "keys", "events", "stats"),
    }
    ours = re.search(r"url_map = \{(.*)\}", source)[1]
    assert set(re.findall(r'"(\w+)":', ours)) == {"index", "login", "logout", "events"}
