"""Arguments and step records, without any engine: the modules loaded as plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

RELEASE = "a" * 64
SLS = "components.hello.production.workspace"


class Engine:
    """The few functions of Salt that `eos` calls, answering what the test says."""

    def __init__(self):
        self.applied: list[str] = []
        self.answer: object = {"k": state()}
        self.release = f"{RELEASE}\n"
        self.pillar: dict = {"eos": {"workspaces": {"production/hello": {}}, "volumes": {"production/hello/data": {}}}}

    def functions(self) -> dict:
        return {
            "cp.get_file_str": lambda path: self.release,
            "pillar.items": lambda unmask: self.pillar,
            "state.apply": self.apply,
        }

    def apply(self, sls: str, test: bool, queue: int) -> object:
        # queue=True would be answered before the states have run.
        assert (test, type(queue)) == (False, int)
        self.applied.append(sls)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


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
    return load("_modules/eos.py", salt=engine.functions(), grains={"saltversion": "3008.3"})


def run(eos, **changed: object) -> dict:
    return eos.run_step(**{"operation": "op", "step": "1", "release": RELEASE, "sls": SLS, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"operation": ""},
        {"operation": "../x"},
        {"operation": "a/b"},
        {"operation": ".hidden"},
        {"operation": "x" * 129},
        {"operation": 7},
        {"step": "1\n"},
        {"step": None},
        {"release": "A" * 64},
        {"release": "a" * 63},
        {"sls": "components.hello.production.deploy"},
        {"sls": "components.Hello.production.workspace"},
        {"sls": "components.hello.production.workspace\n"},
        {"sls": "components.hello.production.workspace,cmd"},
        {"sls": "components.hello..workspace"},
        {"sls": [SLS]},
    ],
)
def test_malformed_arguments_are_refused_and_leave_no_record(eos, engine, tmp_path, changed):
    with pytest.raises(eos.SaltInvocationError):
        run(eos, **changed)
    assert engine.applied == []
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("names", [{"environment": "Production"}, {"component": "a/b"}, {"component": "-a"}])
def test_a_malformed_name_is_refused(eos, names):
    with pytest.raises(eos.SaltInvocationError):
        eos.remove_workspace(
            operation="o", step="1", release=RELEASE, **{"environment": "e", "component": "c", **names}
        )


@pytest.mark.parametrize("seen", [{"volumes": ["relative"]}, {"volumes": ["/a/../b"]}, {"workspaces": "production/x"}])
def test_only_plain_paths_and_names_are_observed(eos, seen):
    with pytest.raises(eos.SaltInvocationError):
        eos.observe(**seen)


def test_a_step_done_is_not_done_again(eos, engine):
    first = run(eos)
    assert first["status"] == "done"
    assert run(eos) == first
    assert engine.applied == [SLS]
    assert eos.step_status(operation="op", step="1") == first


def test_a_step_failed_is_done_again(eos, engine):
    engine.answer = {"k": state(result=False)}
    assert run(eos)["status"] == "failed"
    assert eos.__context__["retcode"] == 2
    engine.answer = {"k": state()}
    assert run(eos)["status"] == "done"
    assert eos.__context__["retcode"] == 0
    assert len(engine.applied) == 2


def test_a_done_step_is_told_even_when_the_release_moved_on(eos, engine):
    first = run(eos)
    engine.release = "b" * 64
    assert run(eos) == first


def test_another_release_is_refused(eos, engine):
    engine.release = "b" * 64
    with pytest.raises(eos.CommandExecutionError, match="is refused"):
        run(eos)
    engine.release = "<html>"
    with pytest.raises(eos.CommandExecutionError, match="served None"):
        run(eos)
    assert engine.applied == []


def test_what_another_minion_has_is_refused(eos, engine):
    engine.pillar = {"eos": {"workspaces": {"production/hello2": {}}, "volumes": {"production/hello2/data": {}}}}
    with pytest.raises(eos.CommandExecutionError, match="names no workspace"):
        run(eos)
    with pytest.raises(eos.CommandExecutionError, match="names no volumes"):
        run(eos, sls="components.hello.production.volumes")


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
        ({}, "The SLS has no states"),
        ({"result": True, "comment": "Job queued", "queued": True}, "queued"),
        (RuntimeError("bug"), "RuntimeError: bug"),
    ],
)
def test_every_way_a_state_run_can_fail_ends_in_the_record(eos, engine, answer, words):
    engine.answer = answer
    record = run(eos)
    assert record["status"] == "failed"
    assert record["error"]["layer"] == "salt"
    assert words in record["error"]["words"]
    assert record["error"]["hint"]
    assert record["ended"]


def test_what_terraform_did_rides_on_the_state(eos, engine):
    error = {"layer": "nomad", "object": "nomad_job.hello", "words": "no", "hint": "h"}
    engine.answer = {"k": state(False, terraform={"ran": True}, error=error, stopped=False)}
    record = run(eos)
    assert (record["result"]["terraform"], record["error"]) == ({"ran": True}, error)
    engine.answer = {"k": state(False, terraform={"ran": True}, error=error, stopped=True)}
    assert run(eos)["status"] == "interrupted"


def test_a_running_record_of_a_process_that_is_gone_is_interrupted(eos, engine, tmp_path):
    run(eos)
    path = tmp_path / "eos" / "steps" / "op" / "1.json"
    record = json.loads(path.read_text())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for process in ({"pid": gone.pid, "start": 1}, {"pid": os.getpid(), "start": 1}):
        path.write_text(json.dumps({**record, "status": "running", "process": process}))
        assert eos.step_status(operation="op", step="1")["status"] == "interrupted"
    alive = {"pid": os.getpid(), "start": eos._start_of(os.getpid())}
    path.write_text(json.dumps({**record, "status": "running", "process": alive}))
    assert eos.step_status(operation="op", step="1")["status"] == "running"


def test_addresses_are_those_terraform_shows(load):
    terraform = load("_modules/eos_terraform.py")
    resources = [
        {"mode": "managed", "type": "nomad_job", "name": "a", "instances": [{}]},
        {"mode": "managed", "module": "module.m", "type": "t", "name": "b", "instances": [{"index_key": "x"}]},
        {"mode": "managed", "type": "t", "name": "c", "instances": [{"index_key": 0}, {"index_key": 1}]},
        {"mode": "data", "type": "t", "name": "d", "instances": [{}]},
    ]
    assert list(terraform._addresses(resources)) == ["nomad_job.a", 'module.m.t.b["x"]', "t.c[0]", "t.c[1]"]


@pytest.mark.parametrize(
    "path", ["../main.tf", "terraform/../x/main.tf", "/etc/passwd", "terraform/main.tf", "terraform/a/.hidden", "a/b"]
)
def test_a_file_outside_the_workspace_is_refused(load, tmp_path, path):
    terraform = load("_modules/eos_terraform.py")
    with pytest.raises(terraform.CommandExecutionError, match="may not have a file"):
        terraform._render({"slice": {"files": {path: "0" * 64}}, "node_ids": {}}, str(tmp_path / "tree"))


def test_records_are_whole_and_private(load, tmp_path):
    disk = load("_utils/eos_disk.py")
    path = tmp_path / "deep" / "record.json"
    for number in range(2):
        disk.write_json(str(path), {"number": number})
    assert disk.read_json(str(path)) == {"number": 1}
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["record.json"]
