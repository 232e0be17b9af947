"""Runs of jobs, and the end of jobs, against a Nomad that is made up: what is asked of it, and in which order."""

from __future__ import annotations

import contextlib
import json
import types
import urllib.parse

import pytest

SECOND = 10**9


class Nomad:
    """Jobs with their instances. A stopped job ends once it was looked at so often; a purged one runs on unseen."""

    def __init__(self):
        self.jobs: dict[str, dict] = {}
        self.instances: dict[str, list[dict]] = {}
        self.looks_until_end = 0
        self.asked: list[str] = []

    def add(self, name: str, parent: str = "", status: str = "running", client: str = "running") -> None:
        tasks = [{"KillTimeout": 25 * SECOND}]
        groups = [{"Name": "main", "Count": 1, "Tasks": tasks}]
        self.jobs[name] = {"ID": name, "ParentID": parent, "Status": status, "Stop": False, "TaskGroups": groups}
        one = {"ID": f"{name}-1", "ClientStatus": client, "DesiredStatus": "run", "JobVersion": 0, "TaskGroup": "main"}
        self.instances[name] = [one]

    def running(self) -> list[str]:
        return [name for name, found in self.instances.items() if found[0]["ClientStatus"] == "running"]

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        where = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(where.query))
        parts = [urllib.parse.unquote(part) for part in where.path.split("/")[2:]]
        if parts == ["jobs"]:
            found = [job for job in self.jobs.values() if job["ID"].startswith(query["prefix"])]
            return 200, [{**job, "JobSummary": {"Summary": {"main": self._counted(job["ID"])}}} for job in found]
        name = parts[1]
        if parts[2:] == ["allocations"]:
            self._end(name)
            return 200, self.instances[name] if name in self.jobs else []
        if parts[2:] == ["periodic", "force"]:
            self.add(f"{name}/periodic-{len(self.jobs)}", parent=name)
            return 200, {"EvalID": list(self.jobs)[-1]}
        if parts[0] == "evaluation":
            return 200, {"JobID": name if len(parts) == 2 else "/".join(parts[1:])}
        if method == "DELETE":
            self.asked.append(f"{'purge' if query['purge'] == 'true' else 'stop'} {name}")
            if name not in self.jobs:
                return 404, ""
            self.jobs[name] |= {"Stop": True, "Status": "dead"}
            if query["purge"] == "true":
                assert not self.running() or name not in self.running(), f"{name} runs on, and nobody sees it"
                del self.jobs[name]
            return 200, {}
        return (200, self.jobs[name]) if name in self.jobs else (404, "")

    def _counted(self, name: str) -> dict:
        return {"Running": int(name in self.running()), "Starting": 0}

    def _end(self, name: str) -> None:
        if self.jobs.get(name, {}).get("Stop"):
            self.looks_until_end -= 1
            if self.looks_until_end < 0:
                self.instances[name][0] |= {"ClientStatus": "complete", "DesiredStatus": "stop"}

    def failure(self, name: str, words: str, hint: str) -> Exception:
        return RuntimeError(f"{name}: {words} ({hint})")


@pytest.fixture
def nomad() -> Nomad:
    return Nomad()


@pytest.fixture
def profile(nomad, load):
    utils = load("_utils/eos_nomad.py")
    lock = types.SimpleNamespace(require=lambda name, operation: None)
    return types.SimpleNamespace(
        log_in=lambda: None,
        keep_alive=lambda: None,
        operation_lock=lock,
        deploying=lambda name: nomad,
        job=lambda namespace, name: utils.job(nomad, namespace, name),
        runs=lambda namespace, name: utils.runs(nomad, namespace, name),
        known_runs=lambda namespace, name: [run["ID"] for run in utils.all_runs(nomad, namespace, name)],
    )


@pytest.fixture
def runs(load, profile, tmp_path):
    used = {}
    for name in ("eos_nomad", "eos_instance"):
        module = load(f"_utils/{name}.py")
        used |= {f"{name}.{function}": getattr(module, function) for function in dir(module)}
    used["eos_disk.read_json"] = lambda path, *keys: json.loads(path.read_text()) if path.exists() else None
    used["eos_disk.write_json"] = lambda path, value: path.write_text(json.dumps(value))
    workspace = types.SimpleNamespace(running_file=tmp_path / "running.json")
    salt = {
        "eos_profile.of_this_minion": lambda: profile,
        "eos_profile.closing": lambda profile, tell: contextlib.nullcontext(),
        "eos_workspace.of": lambda environment, component, profile: workspace,
    }
    module = load("_modules/eos_runs.py", utils=used, salt=salt)
    module._SECONDS_BETWEEN_LOOKS = 0
    return module


def test_a_run_is_purged_once_nothing_of_it_runs(runs, profile, nomad):
    nomad.add("night")
    nomad.add("night/periodic-1", parent="night")
    nomad.looks_until_end = 3
    runs.end(profile, "production", "night")
    assert nomad.asked == ["stop night/periodic-1", "purge night/periodic-1"]
    assert nomad.running() == ["night"]


def test_a_run_that_was_told_to_stop_before_is_waited_for(runs, profile, nomad):
    """Nomad calls it dead already."""
    nomad.add("night/periodic-1", parent="night", status="dead")
    nomad.add("night/periodic-2", parent="night", status="dead", client="complete")
    runs.end(profile, "production", "night")
    assert nomad.asked == ["stop night/periodic-1", "purge night/periodic-1"]


def test_what_does_not_end_is_no_success_and_not_forgotten(runs, profile, nomad):
    nomad.add("web")
    nomad.looks_until_end = 10**9
    moments = iter([0, 10, 84, 86])
    runs.time = types.SimpleNamespace(monotonic=lambda: next(moments), sleep=lambda seconds: None)
    with pytest.raises(RuntimeError, match="Nomad was asked to stop it, and it still runs: web-1"):
        runs.remove(profile, nomad, "production", ["web"])
    assert nomad.asked == ["stop web"], "it has the 25 s of its task, and 60"
    assert "web" in nomad.jobs


def test_a_run_that_ended_while_the_minion_was_down_is_not_started_again(runs, nomad, tmp_path):
    nomad.add("night")
    nomad.jobs["night"] |= {"Meta": {"eos_component": "night"}, "Periodic": {"Enabled": True, "ProhibitOverlap": True}}
    nomad.add("night/periodic-0", parent="night", status="dead", client="complete")
    noted = {"operation": "op", "step": "1", "before": ["night/periodic-0"], "run": None}
    (tmp_path / "running.json").write_text(json.dumps(noted))
    nomad.add("night/periodic-1", parent="night", status="dead", client="complete")
    assert runs.start("production", "night", "op", "1") == {"run": "night/periodic-1"}
    assert len(nomad.jobs) == 3, "no other run"
    # Another step starts one of its own, and notes those that have ended.
    started = runs.start("production", "night", "op", "2")["run"]
    assert started not in ("night/periodic-0", "night/periodic-1") and started in nomad.jobs
    assert "night/periodic-1" in json.loads((tmp_path / "running.json").read_text())["before"]


@pytest.fixture
def health(load):
    used = {}
    for name in ("eos_nomad", "eos_instance"):
        module = load(f"_utils/{name}.py")
        used |= {f"{name}.{function}": getattr(module, function) for function in dir(module)}
    return load("_modules/eos_health.py", utils=used, salt={})


def instance(node: str, client: str, desired: str = "run", created: int = 1) -> dict:
    states = {"main": {"State": "running", "StartedAt": "2026-11-19T00:00:00Z"}} if client == "running" else {}
    placed = {"NodeID": node, "CreateIndex": created, "TaskStates": states, "TaskGroup": "main"}
    return {"ID": f"{node}-{client}", "ClientStatus": client, "DesiredStatus": desired, **placed}


@pytest.mark.parametrize(
    ("kind", "instances", "words"),
    [
        ("batch", [instance("a", "complete")], None),
        ("batch", [instance("a", "complete", "stop")], "main is stopped before its end"),
        ("batch", [instance("a", "failed")], "main is failed"),
        ("system", [instance("a", "running"), instance("b", "running")], None),
        ("system", [instance("a", "running"), instance("b", "failed")], "1 of 2 instances of main run"),
        ("system", [instance("b", "failed"), instance("b", "running", created=2)], None),
        ("system", [instance("a", "running"), instance("b", "lost", "stop")], None),
        ("system", [], "0 of 1 instances of main run"),
    ],
)
def test_a_job_of_another_type_is_well_in_its_own_way(health, kind, instances, words):
    group = {"Name": "main", "Count": 1, "Tasks": []}
    job = {"Type": kind, "Namespace": "production", "TaskGroups": [group]}
    assert health._why_not_all(None, None, job, group, instances) == words


@pytest.mark.parametrize(
    ("schedule", "job", "there"),
    [
        ("once", None, True),
        (None, None, False),
        ("runs", None, False),
        ("once", {"Stop": False, "Meta": {"eos_digest": "d"}}, True),
        ("once", {"Stop": True, "Meta": {"eos_digest": "d"}}, False),
        (None, {"Stop": True, "Meta": {"eos_digest": "d"}}, False),
        ("once", {"Stop": False, "Meta": {"eos_digest": "other"}}, False),
    ],
)
def test_what_ran_once_and_was_forgotten_does_not_need_terraform(load, tmp_path, schedule, job, there):
    profile = types.SimpleNamespace(job=lambda namespace, name: job)
    module = load("_modules/eos_workspace.py", salt={"eos_profile.setting": lambda name: str(tmp_path)})
    workspace = module.of("production", "once", profile)
    registered = {"namespace": "production", "id": "once", "hcl2": [{"vars": {"eos_digest": "d"}}]}
    workspace.jobs = lambda: [registered]
    workspace.configuration = lambda directory=None: {"slice": {"schedule": schedule}}
    assert workspace.has_its_jobs() is there
    health = load("_modules/eos_health.py", utils={"eos_nomad.job": lambda nomad, namespace, name: None}, salt={})
    assert (health._why_not(profile, None, "production", "once", workspace.runs_once()) is None) == (schedule == "once")
