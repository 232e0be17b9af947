"""A request to Salt carries nothing beside its function but the keys that Eos uses, whichever way it comes."""

from __future__ import annotations

import ast
import getpass
import html
import inspect
import json
import pathlib
import re
import textwrap
import time
import types
import urllib.error
import urllib.request

import pytest

from laboratory import FORMULA, MINION, password, readme_block, wait_until

# Every run tries what keeps API users from being root.
pytestmark = pytest.mark.always

JID = "29990101000000000000"


@pytest.fixture
def guarded(tmp_path):
    """A directory with a file that nobody may touch."""
    (tmp_path / "precious").write_text("precious\n")
    return tmp_path


@pytest.fixture
def salt(laboratory):
    with laboratory.salt.acting_as("eos-user"):
        yield laboratory.salt


def refused(answer: tuple[int, object], words: str = ""):
    status, body = answer
    assert status == 401, body
    assert words in html.unescape(body), body


def is_untouched(guarded: pathlib.Path) -> bool:
    names = [path.name for path in guarded.iterdir()]
    return names == ["precious"] and (guarded / "precious").read_text() == "precious\n"


def test_a_request_names_no_returner(salt, guarded):
    job = {"fun": "saltutil.find_job", "arg": [JID]}
    file = str(guarded / "proof")
    appended = {"ret": "rawfile_json", "ret_kwargs": {"filename": file}, "metadata": {"x": "$(id)"}}
    called = {"report_everything": True, "file_output": file, "success_function": "config.items"}
    refused(salt.lowstate(**job, **appended), "may not carry")
    refused(salt.lowstate(**job, ret="highstate", ret_kwargs=called), "may not carry 'ret_kwargs'")
    refused(salt.lowstate(**job, ret="rawfile_json"), "may not carry 'ret'")
    time.sleep(2)
    assert is_untouched(guarded)


def test_a_request_names_no_job_id(salt, guarded):
    for name in (str(guarded / "precious"), f"../../../../../..{guarded}/precious", "20261115181307310548"):
        refused(salt.lowstate(fun="test.ping", jid=name), "may not carry 'jid'")
    time.sleep(2)
    assert is_untouched(guarded)


def test_a_request_parks_no_process(salt, laboratory):
    for client in ("local", "local_async"):
        low = {"client": client, "tgt": MINION, "fun": "test.ping", "module_executors": ["splay", "direct_call"]}
        with pytest.raises(urllib.error.HTTPError, match="401"):
            salt.post("/", [{**low, "executor_opts": {"splaytime": 3600}}])
    wait_until("no job at work", lambda: not list((laboratory.salt.cache / "proc").iterdir()), 30)


def test_nobody_takes_the_formula_from_a_minion(salt):
    before = salt.record("eos.info")["formula"]
    for keywords in ({"extmod_whitelist": {"modules": ["x"]}}, {"saltenv": "../../x"}, {}):
        refused(salt.lowstate(fun="saltutil.sync_all", kwarg=keywords))
        refused(salt.lowstate(fun=["eos.info", "saltutil.sync_all"], arg=[[], [{"__kwarg__": True, **keywords}]]))
        answer = salt.call("eos.sync", **keywords)
        assert (answer["retcode"] == 0) is (keywords == {}), answer
    assert salt.record("eos.info")["formula"] == before


def test_a_target_asks_nothing_of_a_pillar(salt, laboratory):
    """Whether it would match or not, the answer is the same."""
    value = "told-to-nobody"
    laboratory.releases.deliver({}, secret=value)
    assert laboratory.salt.run("salt", MINION, "saltutil.sync_all", "saltenv=base").returncode == 0
    for kind, target in (
        ("compound", "I@eos:secret:{}"),
        ("pillar", "eos:secret:{}"),
        ("pillar_exact", "eos:secret:{}"),
    ):
        answers = [salt.lowstate(fun="test.ping", tgt=target.format(of), tgt_type=kind) for of in (value, "else")]
        assert answers[0] == answers[1], answers
    for kind, target in (("pcre", ".*"), ("list", "control"), ("glob", ["control"])):
        refused(salt.lowstate(fun="test.ping", tgt=target, tgt_type=kind), "the target is neither")


@pytest.mark.parametrize(
    ("function", "arguments", "keywords"),
    [
        ("test.ping", ["x"], {}),
        ("test.ping", [], {"x": "y"}),
        ("saltutil.find_job", [], {}),
        ("saltutil.find_job", ["../precious"], {}),
        ("saltutil.find_job", [JID, JID], {}),
        ("saltutil.find_job", [], {"jid": JID, "saltenv": "other"}),
        ("eos.info", ["saltenv=other"], {}),
        ("eos.info", [], {"__pub_user": "root"}),
        ("eos.info", [], {"__kwarg__": False}),
        ("eos.info", [{"a": "b"}], {}),
    ],
)
def test_arguments_are_keywords_of_the_function(salt, function, arguments, keywords):
    refused(salt.lowstate(fun=function, arg=arguments, kwarg=keywords))


def test_what_eos_sends_is_published(salt):
    assert salt.record("saltutil.find_job", jid=JID) == {}
    several = {"tgt": [MINION], "tgt_type": "list", "timeout": 30, "gather_job_timeout": 30}
    assert salt.lowstate(fun="test.ping", **several)[1][MINION]["ret"] is True
    started = salt.post("/", [{"client": "local_async", "tgt": [MINION], "tgt_type": "list", "fun": "test.ping"}])
    assert started["return"][0]["minions"] == [MINION]


def test_salts_own_question_after_a_silent_minion_passes(salt, laboratory):
    """Salt's client asks `saltutil.find_job` in the caller's name once a call takes longer than `timeout`."""
    log = pathlib.Path(laboratory.processes.logs / "master.out")
    before = log.read_text().count("Refused a request")
    answer = salt.lowstate(fun="eos.examine", timeout=1, gather_job_timeout=10)
    assert answer[1][MINION]["retcode"] == 0, answer
    assert log.read_text().count("Refused a request") == before


@pytest.fixture
def token(salt):
    """As the master itself gives it for a password: that of salt-api is good at salt-api only."""
    asked = {"cmd": "mk_token", "eauth": "file", "username": "eos-user", "password": password("eos-user")}
    return salt.publish([asked])[0]["token"]


def raw(token: str, **changes: object) -> dict:
    """A request as Salt's client sends it, with changes; a change to nothing takes a key away."""
    passed_on = {"client": "local", "token": token, **changes.pop("kwargs", {})}
    request = {"cmd": "publish", "tgt": MINION, "tgt_type": "glob", "fun": "test.ping", "arg": [], "ret": "", "jid": ""}
    return {**request, "key": "none", "user": "root", "kwargs": passed_on, **changes}


def test_the_masters_own_port_refuses_the_same(salt, token, guarded):
    hostile = [
        raw(token, ret="rawfile_json", kwargs={"ret_kwargs": {"filename": str(guarded / "proof")}}),
        raw(token, ret="rawfile_json"),
        raw(token, jid=str(guarded / "precious")),
        raw(token, kwargs={"module_executors": ["splay", "direct_call"]}),
        raw(token, kwargs={"metadata": {}}),
        raw(token, kwargs={"client": "runner"}),
        raw(token, to=5),
        raw(token, tgt_type="pcre", tgt=".*"),
        raw(token, fun=["test.ping", "eos.info"], arg=[[], []]),
        raw(token, fun="cmd.run", arg=["id"]),
        raw(token, fun="saltutil.sync_all"),
        {"cmd": "runner", "fun": "state.orchestrate", "token": token, "kwarg": {}},
        {"cmd": "wheel", "fun": "key.list_all", "token": token},
    ]
    answers = salt.publish([raw(token), *hostile])
    assert answers[0]["load"]["minions"] == [MINION], answers[0]
    for request, answer in zip(hostile, answers[1:], strict=True):
        assert "error" in answer, (request, answer)
        assert token not in json.dumps(answer), answer
    # With the password in place of a token, too.
    of_eauth = {"client": "local", "eauth": "file", "username": "eos-user", "password": password("eos-user")}
    request = {**raw(token), "kwargs": of_eauth}
    allowed, denied = salt.publish([request, {**request, "jid": str(guarded / "precious")}])
    assert allowed["load"]["minions"] == [MINION] and "may not carry 'jid'" in denied["error"]["message"]
    time.sleep(2)
    assert is_untouched(guarded)


def test_a_minion_has_nothing_that_a_request_could_name(laboratory, guarded):
    """Also one that got past the master: here the master's own key asks, which it does not hold to anything."""
    seen = laboratory.salt.record("eos.examine")
    assert (seen["returners"], seen["executors"]) == ([], ["direct_call"])
    file = f"filename={guarded / 'proof'}"
    laboratory.salt.run("salt", MINION, "test.ping", "--return=rawfile_json", f"--return_kwargs={{{file}}}")
    parked = laboratory.salt.run("salt", MINION, "test.ping", "--module-executors=[splay, direct_call]")
    assert "Executor 'splay' is not available" in parked.stdout, parked
    time.sleep(2)
    assert is_untouched(guarded)


# What a later Salt adds is refused by itself, since only what is named is let through. These tests make whoever brings
# such a Salt look at what it is.


@pytest.fixture(scope="module")
def installed(salt_python):
    import salt.client
    import salt.executors
    import salt.loader
    import salt.master
    import salt.minion
    import salt.netapi
    import salt.returners

    return salt


def modules_in(package: types.ModuleType) -> set[str]:
    files = pathlib.Path(package.__file__).parent.glob("*.py")
    return {file.stem for file in files} - {"__init__"}


def setting(name: str) -> set[str]:
    return set(re.search(rf"^{name}: \[(.*)\]$", readme_block(name), re.MULTILINE)[1].split(", "))


def test_all_returners_and_executors_of_this_salt_are_named(installed):
    assert setting("disable_returners") == modules_in(installed.returners)
    assert setting("disable_executors") == modules_in(installed.executors) - {"direct_call"}


def test_the_laboratory_names_the_same_as_the_readme():
    rust = (FORMULA.parent / "crates/eos-lab/src/salt.rs").read_text()
    for name, constant in (("disable_returners", "RETURNERS"), ("disable_executors", "EXECUTORS")):
        listed = re.search(rf"const {constant}: \[&str; \d+\] = \[(.*?)\];", rust, re.DOTALL)[1]
        assert set(re.findall(r'"(\w+)"', listed)) == setting(name)


def keys_read(functions: list, names: set[str]) -> set[str]:
    """The text keys by which these functions read, or write, dictionaries of these names."""
    found = set()
    for function in functions:
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            match node:
                case ast.Subscript(value=of, slice=ast.Constant(value=str(key))) if ast.unparse(of) in names:
                    found.add(key)
                case ast.Call(
                    func=ast.Attribute(value=of, attr="get" | "pop"), args=[ast.Constant(value=str(key)), *_]
                ) if ast.unparse(of) in names:
                    found.add(key)
                case ast.Compare(left=ast.Constant(value=str(key)), ops=[ast.In() | ast.NotIn()], comparators=[of]) if (
                    ast.unparse(of) in names
                ):
                    found.add(key)
    return found


def parameters(function: object) -> set[str]:
    return set(inspect.signature(function).parameters) - {"self"}


def test_what_salts_client_hands_to_the_master(installed):
    client = installed.client.LocalClient
    all_have = {"tgt", "fun", "arg", "tgt_type", "ret", "jid", "timeout", "kwargs"}
    assert parameters(client.cmd) == {*all_have, "full_return", "kwarg"}
    assert parameters(client.run_job) == {*all_have, "kwarg", "listen"}
    assert parameters(client.pub) == {*all_have, "listen"}
    sent = keys_read([client._prep_pub], {"payload_kwargs"})
    assert sent == {"kwargs", "user", "to"}
    literal = next(
        node
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(client._prep_pub))))
        if isinstance(node, ast.Dict)
    )
    assert {key.value for key in literal.keys} == {"cmd", "tgt", "fun", "arg", "key", "tgt_type", "ret", "jid"}


def test_what_the_master_reads_of_a_request_and_publishes(installed):
    master = installed.master.ClearFuncs
    steps = [master.publish, master._prep_auth_info, master._prep_jid, master._prep_pub]
    request = keys_read(steps, {"clear_load", "extra", "clear_load['kwargs']"})
    assert request == {
        *("arg", "auth_list", "delimiter", "eauth", "executor_opts", "fun", "id", "jid", "key", "kwargs", "master_id"),
        *("metadata", "module_executors", "nocache", "ret", "ret_config", "ret_kwargs", "start_event", "tgt"),
        *("tgt_type", "to", "token", "user", "username"),
    }
    published = keys_read([master._prep_pub], {"load"})
    assert published == {
        *("delimiter", "executor_opts", "id", "master_id", "metadata", "module_executors", "ret_config", "ret_kwargs"),
        *("start_event", "tgt_type", "to", "user"),
    }
    assert set(master.expose_methods) == {"ping", "publish", "get_token", "mk_token", "wheel", "runner"}


def test_what_a_minion_reads_of_a_publication(installed):
    minion = installed.minion.Minion
    taken = [minion._handle_decoded_payload, minion._handle_decoded_payload_impl, minion._fire_start_event]
    worked_on = [minion._execute_job_function, minion._thread_return, minion._thread_multi_return]
    read = keys_read(taken + worked_on, {"data"})
    assert read == {
        *("arg", "fun", "jid", "master_id", "metadata", "module_executors", "ret", "ret_config", "ret_kwargs"),
        *("start_event", "tgt", "tgt_type", "user"),
        # These a minion writes into it, no master.
        *("__ignore_process_count_max", "pure_resource_target", "resource_job", "resource_target", "resource_targets"),
    }


def test_only_the_local_clients_of_this_salt_are_open(installed):
    assert setting("netapi_enable_clients") == {"local", "local_async"} <= set(installed.netapi.CLIENTS)


@pytest.fixture
def master(installed, tmp_path):
    """The master's own functions, with the job cache that Salt's loader makes of ours, and nothing published."""
    import salt.config

    settings = {
        **salt.config.DEFAULT_MASTER_OPTS,
        "cachedir": str(tmp_path),
        "extension_modules": str(tmp_path / "extmods"),
        "module_dirs": [str(FORMULA / "master")],
        "master_job_cache": "eos_jobs",
    }
    self = types.SimpleNamespace(opts=settings, event=types.SimpleNamespace(fire_event=lambda *_: None))
    self.mminion = types.SimpleNamespace(returners=salt.loader.returners(settings, {}))
    self.kind = installed.master.ClearFuncs
    return self


@pytest.fixture
def passed(installed, monkeypatch):
    """The kind of a request that the master's door let through."""
    kind = type("EosRequest", (dict,), {})
    monkeypatch.setattr(installed.master, "EosRequest", kind, raising=False)
    return kind


def test_the_job_cache_gives_no_job_id_to_a_request_that_passed_no_door(master, installed, monkeypatch):
    request = raw("0" * 40)
    monkeypatch.delattr(installed.master, "EosRequest", raising=False)
    answer = master.kind._prep_jid(master, request, request["kwargs"])
    assert "the master does not check requests" in answer["error"]["message"], answer


def test_the_job_cache_knows_requests_that_passed(master, passed):
    for request, is_known in ((raw("0" * 40), False), (passed(raw("0" * 40, user="eos-user")), True)):
        answer = master.kind._prep_jid(master, request, request["kwargs"])
        assert isinstance(answer, str) is is_known, answer


@pytest.mark.parametrize("name", ["root", "sudo_eve", getpass.getuser(), None])
@pytest.mark.parametrize("shown", [{"token": "0" * 40}, {"eauth": "file"}])
def test_an_api_user_has_no_name_of_an_account(master, passed, name, shown):
    """Minions know the calls of root by such a name."""
    request = passed({**raw("0" * 40), "user": name, "kwargs": {"client": "local", **shown}})
    answer = master.kind._prep_jid(master, request, request["kwargs"])
    assert f"an API user may not be called {name}" in answer["error"]["message"], answer
    request["kwargs"] = {}
    assert isinstance(master.kind._prep_jid(master, request, {}), str), "root has read the master's own key"


def test_the_second_place_is_what_is_kept_of_a_job(master, passed):
    """Should Salt come to hand out job ids in another way."""
    request = raw("0" * 40)
    with pytest.raises(KeyError):
        master.kind._prep_pub(master, [MINION], JID, request, request["kwargs"], [])
    request = passed(raw("0" * 40))
    published = master.kind._prep_pub(master, [MINION], JID, request, request["kwargs"], [])
    assert published["fun"] == "test.ping" and master.mminion.returners["eos_jobs.get_load"](JID)["jid"] == JID


def test_a_salt_that_prepares_requests_otherwise_publishes_nothing(master, monkeypatch):
    monkeypatch.setattr(master.kind, "_prep_jid", lambda self, load: None)
    assert "eos_jobs.prep_jid" not in master.mminion.returners


def test_it_is_a_whole_job_cache(master):
    offered = {name.split(".")[1] for name in master.mminion.returners if name.startswith("eos_jobs.")}
    assert offered == {name.split(".")[1] for name in master.mminion.returners if name.startswith("local_cache.")}
