"""Arguments and step records, without any engine: the modules loaded as plain Python."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import types

import pytest

from laboratory import FORMULA, canonical_digest, digest_of, made, removed

GOLDEN = FORMULA.parent / "tests" / "golden"
SLS = "components.hello.production.workspace"
VOLUMES = "components.hello.production.volumes"
RULES = "components.hello.production.monitoring"
WORKSPACE = {"risk": "low", "files": {}}
DIGEST = canonical_digest(WORKSPACE)
KINDS = sorted(file.stem.removeprefix("eos_kind_") for file in (FORMULA / "_modules").glob("eos_kind_*.py"))
MODULES = ("eos_roles", "eos_states", "eos_volumes", "eos_workspace", "eos_terraform", "eos_prometheus", "eos_secrets")
OWNER = {"user": "472", "group": "nobody", "mode": "0750"}
FACTS = {"production/hello/data": {"path": "/nowhere/data", "risk": "low", **OWNER}}


class Engine:
    """The few functions of Salt and of the formula's other modules that `eos` calls, answering what the test says."""

    def __init__(self):
        self.ran: list[str] = []
        self.observed = {"digest": DIGEST}
        self.refused: dict | None = None
        self.answer: object = terraform()
        self.states: object = {"k": state()}
        self.pillar: dict = {
            "eos": {
                "workspaces": {"production/hello": {"digest": DIGEST, **WORKSPACE}},
                "volumes": FACTS,
                "monitoring": {"production/hello": {"monitor": "prometheus", "rules": "0" * 64, "risk": "low"}},
                "monitors": {"production/prometheus": {"directory": "/srv/rules", "user": "0", "port": 9090}},
            }
        }
        self.made: dict = {}
        # (tier, why) of the workspace as it is.
        self.there: list[tuple] = []

    def functions(self) -> dict:
        return {
            "cp.get_file_str": lambda path: f"{DIGEST}\n",
            "pillar.items": lambda unmask, pillarenv: {"eos_read_as": "json", **self.pillar},
            "state.high": self.apply,
            "eos_terraform.recorded_risks": lambda environment, component: self.there,
            "eos_terraform.contents": lambda environment, component, files: files,
            "eos_tiers.settings": dict,
            "eos_terraform.ensure_infrastructure": self.ensure,
            "eos_tiers.of_workspace": lambda name, wanted, contents: [],
            "eos_volumes.is_place": lambda path: True,
            "eos_prometheus.load": lambda name, pillar: {"changes": {}, "error": None},
            "eos_secrets.risks_of_holder": lambda name: [],
            "eos_terraform.observe": lambda names: dict.fromkeys(names, self.observed),
        }

    def ensure(
        self, environment: str, component: str, operation: str, step: str, wanted: dict, contents: dict, held: bool
    ) -> object:
        assert held
        assert contents == wanted["files"]
        assert wanted == self.pillar["eos"]["workspaces"][f"{environment}/{component}"]
        return self.answering(f"{environment}/{component}", self.answer)

    def apply(self, states: dict, test: bool, queue: int) -> object:
        # queue=True would be answered before the states have run.
        assert (test, type(queue)) == (False, int)
        self.made = states
        return self.answering(",".join(states), self.states)

    def answering(self, what: str, answer: object) -> object:
        self.ran.append(what)
        if isinstance(answer, Exception):
            raise answer
        return answer


def terraform(error: dict | None = None, stopped: bool = False) -> dict:
    return {"result": error is None, "error": error, "stopped": stopped, "terraform": {"ran": True}}


def state(result: bool | None = True, number: int = 0, **more: object) -> dict:
    return {
        "__id__": f"id{number}",
        "__run_num__": number,
        "name": "production/hello",
        "result": result,
        "changes": {},
        "comment": "said",
        **more,
    }


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def eos(load, engine):
    functions: dict = {}
    for name in (*MODULES, *(f"eos_kind_{kind}" for kind in KINDS)):
        module = load(f"_modules/{name}.py", salt=functions)
        functions |= {f"{name}.{function}": getattr(module, function) for function in dir(module)}
    functions |= {"eos_volumes.place": lambda wanted: engine.refused, **engine.functions()}
    return load("_modules/eos.py", salt=functions, grains={"saltversion": "3008.3"})


def run(eos, sls: str = SLS, digest: object = DIGEST, **changed: object) -> dict:
    return eos.make(**{"operation": "op", "step": "1", **made(sls, digest), **changed})


def run_volumes(eos) -> dict:
    return run(eos, sls=VOLUMES, digest=canonical_digest(FACTS))


@pytest.mark.parametrize(
    "changed",
    [
        {"operation": ""},
        {"operation": "../x"},
        {"operation": "a/b"},
        {"operation": ".hidden"},
        {"operation": "x" * 221},
        {"operation": 7},
        {"step": "1\n"},
        {"step": None},
        {"digest": "A" * 64},
        {"digest": "a" * 63},
        {"digest": None},
        {"facts": {}},
        {"facts": "d"},
        {"facts": {"digest": DIGEST, "pillar": {}}},
        {"kind": "deploy"},
        {"kind": "workspace\n"},
        {"kind": "../eos_kind_workspace"},
        {"kind": ["workspace"]},
        {"kind": None},
        {"component": "Hello"},
        {"component": "hello\n"},
        {"component": None},
        {"environment": ""},
        {"environment": "../production"},
        {"environment": None, "component": None},
    ],
)
def test_malformed_arguments_are_refused_and_leave_no_record(eos, engine, tmp_path, changed):
    with pytest.raises(eos.SaltInvocationError):
        run(eos, **changed)
    assert engine.ran == []
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("names", [{"environment": "Production"}, {"component": "a/b"}, {"component": "-a"}])
def test_a_malformed_name_is_refused(eos, names):
    with pytest.raises(eos.SaltInvocationError):
        eos.remove(operation="o", step="1", **{**removed("e/c"), **names})


@pytest.mark.parametrize(
    "parts",
    [
        {"volume": ["relative"]},
        {"volume": ["/a/../b"]},
        {"workspace": "production/x"},
        {"workspace": ["production/../x"]},
        {"secret": ["production/x"]},
        {"secret": {"production/x": 0}},
        {"secret": {"../x": None}},
        {"rules": ["production/x"]},
        {"nothing": []},
        ["workspace"],
    ],
)
def test_only_plain_paths_and_names_are_observed(eos, parts):
    with pytest.raises(eos.SaltInvocationError):
        eos.observe(parts=parts)


def test_a_step_done_is_not_done_again(eos, engine):
    first = run(eos)
    assert first["status"] == "done"
    assert run(eos) == first
    assert engine.ran == ["production/hello"]
    # What is observed is read anew each time, and kept in no record.
    assert first["observed"] == {"workspace": {"production/hello": engine.observed}, "errors": {}}
    del first["observed"]
    assert eos.status(operation="op", step="1") == first


def test_a_step_failed_is_done_again(eos, engine):
    engine.answer = terraform(error={"layer": "terraform"})
    assert run(eos)["status"] == "failed"
    assert eos.__context__["retcode"] == 2
    engine.answer = terraform()
    assert run(eos)["status"] == "done"
    assert eos.__context__["retcode"] == 0
    assert len(engine.ran) == 2


def test_a_done_step_is_told_even_when_the_pillar_moved_on(eos, engine):
    first = run(eos)
    engine.pillar = {}
    assert run(eos) == first


@pytest.mark.parametrize(("sls", "digest"), [(SLS, DIGEST), (VOLUMES, canonical_digest(FACTS))])
def test_another_digest_is_refused(eos, engine, sls, digest):
    with pytest.raises(eos.CommandExecutionError, match="is refused.* is served"):
        run(eos, sls=sls, digest="b" * 64)
    assert engine.ran == []
    assert run(eos, sls=sls, digest=digest)["status"] == "done"


def test_a_digest_of_directorys_is_of_one_component_and_of_plain_json(eos, engine):
    facts = {"path": "/data/ü", "mode": "0750", "risk": "low", "zone": "data", "size": 5368709120}
    facts |= {"user": "1", "group": "1"}
    engine.pillar["eos"]["volumes"] = {
        "production/hello/b": facts,
        "production/hello/a": facts,
        "production/hello2/a": facts,
        "staging/hello/a": facts,
    }
    text = ",".join(
        f'"production/hello/{need}":{{"group":"1","mode":"0750","path":"/data/ü","risk":"low","size":5368709120,'
        '"user":"1","zone":"data"}'
        for need in "ab"
    )
    digest = hashlib.sha256(f"{{{text}}}".encode()).hexdigest()
    assert run(eos, sls=VOLUMES, digest=digest)["status"] == "done"


def test_a_value_has_one_digest(load):
    value = {"b": [{"z": 1, "a": None}], "a": 'ü\u2028\x7f\x01\n"\\/', "ä": True, "Z": 21474836480}
    # As in crates/eos-core/src/canonical.rs.
    digest = "ae43dea9f992e2c745b620058291b755576a7078bdbe771e08fcd1db5a6701f4"
    assert load("_utils/eos_digest.py").of_json(value) == digest


def test_the_digests_of_every_emitted_tree_are_those_of_its_pillar():
    compared = 0
    for tree in sorted(GOLDEN.glob("*/tree")):
        for step in sum(json.loads((tree / "salt/orchestrate/waves.json").read_text())["waves"], []):
            text = (tree / f"pillar/hosts/{step['minion']}.sls").read_text()
            assert step["digest"] == digest_of(step["sls"], json.loads(text.removeprefix("#!json"))["eos"]), step
            compared += 1
    assert compared


def test_what_another_minion_has_is_refused(eos, engine):
    engine.pillar = {"eos": {"workspaces": {"production/hello2": {}}, "volumes": {"production/hello2/data": {}}}}
    for sls in (SLS, VOLUMES):
        with pytest.raises(eos.CommandExecutionError, match="names no (workspace|volume) of production/hello"):
            run(eos, sls=sls)


def test_a_pillar_that_does_not_render_is_told(eos, engine):
    engine.pillar = {"_errors": ["Rendering SLS 'hosts.control' failed"]}
    with pytest.raises(eos.CommandExecutionError, match="does not render"):
        run(eos)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (["Rendering SLS failed", "line 1"], "Rendering SLS failed\nline 1"),
        ({"a": state(), "b": state(False, 1, comment="Permission denied")}, "Permission denied"),
        ({"a": state(False, 1, __state_ran__=False, comment="requisite"), "b": state(False, 0)}, "said"),
        ({"a": state(None)}, "said"),
        ({}, "Salt ran none of the states"),
        ({"result": True, "comment": "Job queued", "queued": True}, "queued"),
        (RuntimeError("bug"), "RuntimeError: bug"),
    ],
)
def test_every_way_a_state_run_can_fail_ends_in_the_record(eos, engine, answer, words):
    engine.states = answer
    record = run_volumes(eos)
    assert record["status"] == "failed"
    assert record["error"]["layer"] == "salt"
    assert words in record["error"]["words"]
    assert record["error"]["hint"]
    assert record["ended"]


def test_a_volume_that_must_not_lie_there_is_not_made(eos, engine):
    engine.refused = {"layer": "salt", "object": "volume production/hello/data", "words": "no", "hint": "h"}
    record = run_volumes(eos)
    assert (record["status"], record["error"], engine.ran) == ("failed", engine.refused, [])


def test_what_terraform_did_is_in_the_record(eos, engine):
    error = {"layer": "nomad", "object": "nomad_job.hello", "words": "no", "hint": "h"}
    engine.answer = terraform(error)
    record = run(eos)
    assert (record["status"], record["result"]["terraform"], record["error"]) == ("failed", {"ran": True}, error)
    engine.answer = terraform(error, stopped=True)
    assert run(eos)["status"] == "interrupted"


def test_a_running_record_of_a_process_that_is_gone_is_interrupted(eos, engine, tmp_path):
    run(eos)
    path = tmp_path / "eos" / "steps" / "op" / "1.json"
    record = json.loads(path.read_text())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for process in ({"pid": gone.pid, "start": 1}, {"pid": os.getpid(), "start": 1}):
        path.write_text(json.dumps({**record, "status": "running", "process": process}))
        assert eos.status(operation="op", step="1")["status"] == "interrupted"
    alive = eos.__utils__["eos_process.own"]()
    path.write_text(json.dumps({**record, "status": "running", "process": alive}))
    assert eos.status(operation="op", step="1")["status"] == "running"
    # A process of another boot may have had the same id and start.
    path.write_text(json.dumps({**record, "status": "running", "process": {**alive, "boot": "another"}}))
    assert eos.status(operation="op", step="1")["status"] == "interrupted"


@pytest.mark.parametrize(
    ("first", "second", "taken"),
    [
        ("eos-user", "eos-operator", False),
        ("eos-user", None, False),
        ("eos-user", "eos-user", True),
        ("eos-operator", "eos-user", True),
        (None, "eos-architect", True),
    ],
)
def test_nobody_keeps_a_step_from_a_higher_role_by_taking_its_name(eos, engine, first, second, taken):
    engine.pillar["eos"]["workspaces"]["production/other"] = {"digest": DIGEST, **WORKSPACE}
    squatted = {"component": "other"}
    assert run(eos, **squatted, **by(first))["status"] == "done"
    if taken:
        with pytest.raises(eos.SaltInvocationError, match="called before with other arguments"):
            run(eos, **by(second))
        assert engine.ran == ["production/other"]
    else:
        assert run(eos, **by(second))["arguments"] == made(SLS, DIGEST)
        assert engine.ran == ["production/other", "production/hello"]


def by(user: str | None) -> dict:
    return {} if user is None else {"__pub_user": user}


def test_whoever_replaces_a_workspace_reaches_what_is_there(eos, engine):
    engine.there = [("medium", "it was so")]
    by_user = {"__pub_user": "eos-user", "__pub_jid": "20260101000000000000"}
    with pytest.raises(eos.CommandExecutionError, match="needs approval"):
        run(eos, **by_user)
    assert engine.ran == []
    engine.there = [(None, "nobody wrote it down")]
    assert run(eos, **by_user)["status"] == "done"


@pytest.mark.parametrize(
    "name", ["production/hello/../../../secrets/production/db", "production/hello/Data", "production/hello/a/b"]
)
def test_a_name_that_is_a_path_names_no_record(eos, engine, name):
    engine.pillar["eos"]["volumes"] = {name: FACTS["production/hello/data"]}
    with pytest.raises(eos.CommandExecutionError, match="is no name"):
        run(eos, sls=VOLUMES, digest=canonical_digest(engine.pillar["eos"]["volumes"]))
    assert engine.ran == []


def test_whoever_is_refused_pushes_out_no_record(eos, engine, monkeypatch):
    monkeypatch.setattr(eos, "_MOST_OPERATIONS", 2)
    assert run(eos)["status"] == "done"
    for number in range(4):
        with pytest.raises(eos.CommandExecutionError):
            run(eos, operation=f"invented-{number}", digest="0" * 64)
    assert eos.status(operation="op", step="1")["status"] == "done"
    with pytest.raises(eos.SaltInvocationError):
        run(eos, operation="op.lock")


def test_a_slice_is_compared_whole(eos, engine):
    """What a slice says of itself counts for nothing."""
    for changed in ({"token": "management"}, {"risk": "medium"}, {"files": {"terraform/a/main.tf": "0" * 64}}):
        engine.pillar["eos"]["workspaces"]["production/hello"] = {"digest": DIGEST, **WORKSPACE, **changed}
        with pytest.raises(eos.CommandExecutionError, match="is refused.* is served"):
            run(eos)
    assert engine.ran == []


@pytest.mark.parametrize(
    ("sls", "lock", "makes"),
    [
        (SLS, "production.hello", "eos_terraform.ensure_infrastructure"),
        (VOLUMES, "states", "state.high"),
        (RULES, "monitoring", "eos_prometheus.load"),
    ],
)
def test_what_is_made_was_compared_under_the_same_lock(eos, engine, sls, lock, makes):
    path = os.path.join(eos.__opts__["cachedir"], "eos", "locks", lock)
    seen = []
    for name in ("pillar.items", makes):
        told = eos.__salt__[name]
        eos.__salt__[name] = lambda *given, told=told, name=name, **more: (
            seen.append((name, eos.__utils__["eos_disk.is_locked"](path))) or told(*given, **more)
        )
    digest = digest_of(sls, engine.pillar["eos"])
    assert run(eos, sls=sls, digest=digest)["status"] == "done"
    assert seen == [("pillar.items", True), (makes, True)]


def test_whoever_waits_too_long_for_the_lock_of_a_thing_has_that_on_record(eos, engine):
    locked = eos.__utils__["eos_disk.locked"]
    path = os.path.join(eos.__opts__["cachedir"], "eos", "locks", "states")
    states = eos.__salt__["eos_states.lock"].__globals__
    states["__utils__"]["eos_disk.locked"] = lambda path, seconds=0.2: locked(path, seconds)
    with locked(path):
        record = run_volumes(eos)
    assert record["status"] == "failed" and "still holds" in record["error"]["words"], record
    assert "kill" in record["error"]["hint"] and engine.ran == []
    assert run_volumes(eos)["status"] == "done"


def test_rules_are_compared_with_where_they_go(eos, engine):
    digest = digest_of(RULES, engine.pillar["eos"])
    engine.pillar["eos"]["monitors"]["production/prometheus"]["directory"] = "/srv/other"
    with pytest.raises(eos.CommandExecutionError, match="is refused.* is served"):
        run(eos, sls=RULES, digest=digest)


def test_volumes_are_made_from_the_slice_that_was_compared(eos, engine):
    assert run_volumes(eos)["status"] == "done"
    arguments = [{"name": "/nowhere/data"}, {"user": 472}, {"group": "nobody"}, {"mode": "0750"}, {"makedirs": True}]
    assert engine.made == {"production/hello/data": {"file": ["directory", *arguments]}}


def test_the_states_of_volumes_are_those_that_eos_emits(load):
    """Whoever applies an emitted SLS by hand gets what `eos.make` makes of the slice."""
    volumes, compared = load("_modules/eos_volumes.py"), 0
    for tree in sorted(GOLDEN.glob("*/tree")):
        slices = {}
        for file in (tree / "pillar/hosts").iterdir():
            slices |= json.loads(file.read_text().removeprefix("#!json"))["eos"]["volumes"]
        for file in tree.glob("salt/components/*/*/volumes*.sls"):
            emitted = json.loads(file.read_text().removeprefix("#!json"))
            made = volumes.states({name: slices[name] for name in emitted})
            assert made == {name: as_salt_has_it(state) for name, state in emitted.items()}, file
            compared += 1
    assert compared


def as_salt_has_it(state: dict) -> dict:
    ((function, arguments),) = state.items()
    module, function = function.split(".")
    return {module: [function, *arguments]}


@pytest.mark.parametrize("pillar", [{}, {"eos_read_as": "yaml"}])
def test_a_pillar_that_the_master_rendered_is_refused(eos, engine, pillar):
    eos.__salt__["pillar.items"] = lambda unmask, pillarenv: {"eos": engine.pillar["eos"], **pillar}
    for sls in (SLS, VOLUMES, RULES):
        with pytest.raises(eos.CommandExecutionError, match="does not read what Eos delivers by eos_pillar: set"):
            run(eos, sls=sls)
    eos.__salt__["eos_examination.of_this_minion"] = lambda slices: {"slices": slices}
    examined = eos.examine()
    assert examined["slices"] is None and "eos_pillar" in examined["pillar"]


def test_addresses_are_those_terraform_shows(load):
    state = load("_utils/eos_terraform_state.py")
    resources = [
        {"mode": "managed", "type": "nomad_job", "name": "a", "instances": [{}]},
        {"mode": "managed", "module": "module.m", "type": "t", "name": "b", "instances": [{"index_key": "x"}]},
        {"mode": "managed", "type": "t", "name": "c", "instances": [{"index_key": 0}, {"index_key": 1}]},
        {"mode": "data", "type": "t", "name": "d", "instances": [{}]},
    ]
    found = [address for address, _, _ in state.resources({"resources": resources})]
    assert found == ["nomad_job.a", 'module.m.t.b["x"]', "t.c[0]", "t.c[1]"]


@pytest.mark.parametrize(
    "path", ["../main.tf", "terraform/../x/main.tf", "/etc/passwd", "terraform/main.tf", "terraform/a/.hidden", "a/b"]
)
def test_a_file_outside_the_workspace_is_refused(load, path):
    workspace = load("_modules/eos_workspace.py")
    with pytest.raises(workspace.CommandExecutionError, match="may not have a file"):
        workspace.refuse_strange_files({path: "0" * 64})


def test_records_are_whole_and_private(load, tmp_path):
    disk = load("_utils/eos_disk.py")
    path = tmp_path / "deep" / "record.json"
    for number in range(2):
        disk.write_json(str(path), {"number": number})
    assert disk.read_json(str(path)) == {"number": 1}
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["record.json"]


@pytest.fixture
def kept(load, tmp_path):
    """A workspace whose tree was applied, and how to apply another one."""
    module = load("_modules/eos_workspace.py", salt={"eos_profile.setting": lambda _: str(tmp_path / "terraform")})
    workspace = module.of("production", "web", None)
    configuration = {"slice": {"digest": "d"}, "node_ids": {}}
    applied = {"digest": "d", "node_ids": {}, "serial": 1, "lineage": "l", "when": "w"}

    def snapshot(content: str) -> str:
        tree = pathlib.Path(workspace.tree)
        tree.mkdir(parents=True)
        (tree / "configuration.json").write_text(json.dumps({**configuration, "content": content}))
        pathlib.Path(workspace.applied_file).write_text(json.dumps(applied))
        return workspace.keep_previous()

    return workspace, snapshot


def test_the_newest_snapshot_stays_whatever_the_clock_says(kept):
    workspace, snapshot = kept
    # As an earlier formula named them, by a clock that is ahead now.
    for number in range(10):
        (pathlib.Path(workspace.snapshots) / f"20991231T00000{number}.000000Z").mkdir(parents=True)
    for number in range(12):
        name = snapshot(f"content {number}")
        assert workspace.configuration(workspace.snapshot(name))["content"] == f"content {number}"
    there = sorted(path.name for path in pathlib.Path(workspace.snapshots).iterdir())
    assert there == [f"{number:06}" for number in range(3, 13)]


def test_a_preview_in_use_stays_whatever_the_clock_says(load, tmp_path):
    preview = load("_modules/eos_preview.py")
    with preview.scratch() as used:
        os.utime(used, (0, 0))
        killed = tmp_path / "eos-preview-killed"
        killed.mkdir()
        os.utime(killed, (0, 0))
        with preview.scratch():
            assert os.path.isdir(used)
            assert not killed.exists()
    assert not os.path.exists(used)


def test_whoever_waits_too_long_for_a_lock_is_told_who_holds_it(load, tmp_path):
    disk = load("_utils/eos_disk.py")
    path = str(tmp_path / "locks" / "states")
    with disk.locked(path) as waited:
        assert not waited
        began = time.monotonic()
        told = f"Process {os.getpid()} still holds {path} after 0.3 s"
        with pytest.raises(disk.CommandExecutionError, match=told), disk.locked(path, 0.3):
            pass
        assert time.monotonic() - began < 5
    with disk.locked(path, 0.3) as waited:
        assert not waited


def test_a_program_that_hangs_is_ended(load, monkeypatch):
    command = load("_utils/eos_command.py")
    monkeypatch.setattr(command, "_SECONDS", 0.5)
    with pytest.raises(command.CommandExecutionError, match="sleep gave no answer in 0.5 s"):
        command.run(["sleep", "60"], "disk")
    assert command.run(["echo", "done"], "disk") == "done\n"
    with pytest.raises(command.CommandExecutionError, match="no-such-program is not installed"):
        command.run(["no-such-program"], "disk")


class Endless(http.server.BaseHTTPRequestHandler):
    """Answers for as long as anybody reads."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b" " * 65536)

    def log_message(self, *words: object):
        pass


def test_an_answer_without_end_is_refused(load, monkeypatch):
    engines = load("_utils/eos_http.py")
    monkeypatch.setattr(engines, "_LONGEST", 1 << 20)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        nomad = engines.engine("nomad", f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(engines.CommandExecutionError, match="longer than 1 MiB"):
            nomad.ask("GET", "/v1/nodes")
        server.shutdown()


def test_terraform_is_interrupted_when_it_is_late_and_then_killed(load, tmp_path, monkeypatch):
    module = load("_modules/eos_terraform_run.py")
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    late = module._Late(600)
    told = []
    for clock[0] in (0.0, 599.0, 600.0, 601.0, 659.0, 660.0, 700.0, 9000.0):
        told.append(late.signal())
    assert told == [None, None, signal.SIGINT, None, None, signal.SIGKILL, None, None]


def test_terraform_has_as_long_as_the_recipe_gives_a_start(load, tmp_path):
    module = load("_modules/eos_terraform_run.py")
    jenkins = next((GOLDEN / "jenkins/tree/terraform/modules/jenkins").glob("*/main.tf")).read_text()
    workspace = types.SimpleNamespace(tree=str(tmp_path), data="", directory="", profile=None)
    run = module.of(workspace, "o", "s")
    assert (run._seconds_for("init"), run._seconds_for("apply")) == (600, 1200)
    (tmp_path / "main.tf").write_text(jenkins)
    (tmp_path / "terraform.tfvars.json").write_text('{\n  "jenkins_count": 3,\n  "jenkins_cpu": 900\n}')
    assert run._seconds_for("apply") == 1200 + 605 * 4


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_and_keeps_no_half_of_a_record(load, tmp_path, monkeypatch, number):
    disk = load("_utils/eos_disk.py")
    disk.write_json(str(tmp_path / "record.json"), {"is": "whole"})

    def has_no_room(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(disk.os, "fsync", has_no_room)
    with pytest.raises(disk.CommandExecutionError, match=f"the disk of {tmp_path} is full") as raised:
        disk.write_json(str(tmp_path / "record.json"), {"is": "cut"})
    assert f"df -h {tmp_path}" in raised.value.info["hint"]
    assert [file.name for file in tmp_path.iterdir()] == ["record.json"]
    assert disk.read_json(str(tmp_path / "record.json")) == {"is": "whole"}


def test_a_full_disk_elsewhere_is_no_name_of_python(load):
    failure = load("_utils/eos_failure.py")
    described = failure.described(OSError(errno.ENOSPC, "No space left on device", "/srv/x"), "eos.make")
    assert described["words"] == "a disk of this minion is full: /srv/x" and "df -h" in described["hint"]


def test_the_newest_are_kept_in_the_order_in_which_they_came_whatever_the_clock_says(load, tmp_path):
    disk = load("_utils/eos_disk.py")
    directory = tmp_path / "steps"

    def use(name: str) -> None:
        disk.keep_newest(str(directory), name, 3, "alice")
        disk.write_json(str(directory / name / "1-deliver.json"), {"of": name})

    def left() -> list[str]:
        return sorted(path.name for path in directory.iterdir() if not path.name.startswith("."))

    (directory / "from-before").mkdir(parents=True)
    for name in ("c", "b", "a"):
        use(name)
        os.utime(directory / name, (10**9, 10**9))
    assert left() == ["a", "b", "c"], "what no order names is the oldest"
    use("c")
    use("d")
    assert left() == ["a", "c", "d"]
    with disk.locked(str(directory / "a" / "1-deliver.lock")):
        use("e")
    assert left() == ["a", "d", "e"], "somebody is at work on it"


def test_nobody_pushes_out_what_is_anothers(load, tmp_path):
    disk = load("_utils/eos_disk.py")

    def use(name: str, owner: str) -> None:
        disk.keep_newest(str(tmp_path), name, 2, owner)
        (tmp_path / name).mkdir(exist_ok=True)

    use("of-alice", "alice")
    for number in range(9):
        use(f"of-eve-{number}", "eve")
        # It stays alice's, whoever makes a step of it.
        use("of-alice", "eve")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] != ".") == [
        "of-alice",
        "of-eve-7",
        "of-eve-8",
    ]


def test_a_file_goes_with_its_lock_unless_somebody_holds_it(load, tmp_path):
    disk = load("_utils/eos_disk.py")
    for name in ("a", "b"):
        disk.keep_newest(str(tmp_path), name, 2, "alice")
        with disk.locked(str(tmp_path / f"{name}.lock")):
            disk.write_json(str(tmp_path / name), {})
    with disk.locked(str(tmp_path / "a.lock")):
        disk.keep_newest(str(tmp_path), "c", 2, "alice")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] != ".") == ["a", "a.lock"]


def test_what_a_killed_process_left_of_a_record_goes_with_the_next(load, tmp_path):
    disk = load("_utils/eos_disk.py")
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / f"record.json.{ended.pid}.unfinished").write_text("{")
    (tmp_path / f"record.json.{os.getppid()}.unfinished").write_text("{")
    disk.write_json(str(tmp_path / "record.json"), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["record.json", f"record.json.{os.getppid()}.unfinished"]


def test_a_log_that_grew_long_becomes_short_under_its_writer(load, tmp_path):
    log, short = tmp_path / "vault-audit.log", tmp_path / "nomad.log"
    module = load("_modules/eos_logs.py")
    assert module.shorten() == [], "only a laboratory names its logs"
    module.__opts__["eos"] |= {"logs": str(tmp_path)}
    short.write_text("short\n")
    with log.open("ab", buffering=0) as writer:
        for text in (b"first", b"second"):
            writer.write(text + b"x" * (10 << 20))
            assert module.shorten() == [str(log)]
            assert log.stat().st_size == 0
            aside = tmp_path / "vault-audit.log.1"
            assert aside.read_bytes().startswith(text) and aside.stat().st_mode & 0o777 == 0o600
        writer.write(b"and on\n")
    assert log.read_text() == "and on\n" and short.read_text() == "short\n"
    assert module.shorten() == [] and len(list(tmp_path.iterdir())) == 3
