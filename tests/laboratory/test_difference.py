"""Tests the comparison that judges plans: it sees every difference, and it can fail. Needs no engine."""

import copy

import pytest
from truth.difference import COMPUTED, MAY_BE_UNKNOWN, Change, difference, foretold, judge, judge_failure, trace
from truth.generator import generate

STATE = "terraform/state/production/hello"
JOB = "nomad/job/production/hello"
TEXT = "TaskGroups.hello.Tasks.hello.Env.TEXT"


def job(count: int = 1, **env) -> dict:
    task = {"Name": "hello", "Env": {"TEXT": "old"} | env, "Config": {"args": ["a", "b"]}, "Templates": None}
    network = {"DynamicPorts": [{"Label": "http", "Value": 0}]}
    group = {"Name": "hello", "Count": count, "Tasks": [task], "Services": [{"Name": "hello"}], "Networks": [network]}
    return {"ID": "hello", "Meta": {"eos_digest": "d"}, "TaskGroups": [group], "Version": 1, "Stop": False}


def allocation(id: str, index: int = 0, version: int = 1, **other) -> dict:
    return {
        "ID": id,
        "Name": f"hello.hello[{index}]",
        "Namespace": "production",
        "JobID": "hello",
        "JobVersion": version,
        "DesiredStatus": "run",
        "ClientStatus": "running",
        **other,
    }


@pytest.fixture
def before() -> dict:
    nothing = {kind: {} for kind in ("policies", "roles", "tokens", "auth-methods", "binding-rules", "nodes")}
    return {
        "nomad": {
            **nothing,
            "namespaces": {"production": {"Name": "production", "Description": "x", "ModifyIndex": 4}},
            "jobs": {"production/hello": job()},
            "allocations": {"a": allocation("a")},
            "services": {"production/hello": [{"AllocID": "a"}]},
            "volumes": {},
            "variables": {"production/nomad/jobs/hello": {"Items": {"password": "digest"}, "ModifyIndex": 7}},
        },
        "hosts": {"control": {"/opt/data": {"kind": "directory", "user": "0", "group": "0", "mode": "0750"}}},
        "terraform": {
            "production/hello": {"serial": 3, "lineage": "l", "resources": {"nomad_job.component": {"id": 1}}}
        },
        "estate": {
            "files": {"pillar/infrastructure/production.sls": {"kind": "file", "digest": "x"}},
            "current": "r/1",
        },
    }


@pytest.fixture
def after(before) -> dict:
    return copy.deepcopy(before)


def happened(before: dict, after: dict) -> dict:
    return {change.object: (change.action, change.attributes) for change in difference(before, after)}


def test_nothing_happened(before, after):
    assert difference(before, after) == [] and trace(before, after) == []


def test_a_job_that_changed_is_told_by_path(before, after):
    after["nomad"]["jobs"]["production/hello"] = {**job(2, TEXT="new", MORE="1"), "Version": 2}
    action, attributes = happened(before, after)[JOB]
    assert action == "change" and attributes == {
        "TaskGroups.hello.Count": (1, 2),
        TEXT: ("old", "new"),
        "TaskGroups.hello.Tasks.hello.Env.MORE": (None, "1"),
    }


def test_what_is_not_set_is_the_same_however_it_is_written(before, after):
    after["nomad"]["jobs"]["production/hello"].update(Stop=None, Priority=0, Constraints=[])
    after["nomad"]["jobs"]["production/hello"]["TaskGroups"][0]["Tasks"][0]["Templates"] = []
    assert difference(before, after) == []


def test_what_an_engine_computes_is_listed_with_a_reason(before, after):
    after["nomad"]["namespaces"]["production"]["ModifyIndex"] = 9
    after["nomad"]["jobs"]["production/hello"]["SubmitTime"] = 9
    assert difference(before, after) == []
    assert all(why for _, _, _, why in COMPUTED)
    assert trace(before, after), "a trace is compared whole"


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ([allocation("a"), allocation("b", 1)], {"place": (0, 1)}),
        ([], {"stop": (0, 1)}),
        ([allocation("b", version=2)], {"destructive": (0, 1)}),
        ([allocation("a", version=2)], {"in_place": (0, 1)}),
        ([allocation("b", version=2), allocation("c", 1, version=2)], {"destructive": (0, 1), "place": (0, 1)}),
        ([allocation("a"), allocation("b", 1, ClientStatus="complete", DesiredStatus="stop")], None),
    ],
)
def test_allocations_are_told_by_what_became_of_them(before, after, there, expected):
    after["nomad"]["allocations"] = {one["ID"]: one for one in there}
    found = happened(before, after)
    assert found == ({"nomad/allocations/production/hello": ("change", expected)} if expected else {})


@pytest.mark.parametrize(
    ("edit", "object", "action", "attributes"),
    [
        (lambda d: d["nomad"]["services"].clear(), "nomad/service/production/hello", "delete", {}),
        (
            lambda d: d["nomad"]["services"]["production/hello"].append({"AllocID": "b"}),
            "nomad/service/production/hello",
            "change",
            {"instances": (1, 2)},
        ),
        (
            lambda d: d["nomad"]["variables"]["production/nomad/jobs/hello"]["Items"].update(password="other"),
            "nomad/variable/production/nomad/jobs/hello",
            "change",
            {"password": ("digest", "other")},
        ),
        (
            lambda d: d["hosts"]["control"]["/opt/data"].update(mode="0777"),
            "salt/directory/control:/opt/data",
            "change",
            {"mode": ("0750", "0777")},
        ),
        (
            lambda d: d["terraform"]["production/hello"]["resources"]["nomad_job.component"].update(id=2),
            STATE,
            "change",
            {"nomad_job.component": ("present", "changed")},
        ),
        (
            lambda d: d["terraform"]["production/hello"]["resources"].clear(),
            STATE,
            "change",
            {"nomad_job.component": ("present", "absent")},
        ),
        (
            lambda d: d["nomad"]["policies"].update(x={"Name": "x"}),
            "nomad/policies/x",
            "create",
            {"Name": (None, "x")},
        ),
        (lambda d: d["estate"].update(current="r/2"), "estate/current", "change", {"release": ("1", "2")}),
    ],
)
def test_every_layer_is_seen(before, after, edit, object, action, attributes):
    edit(after)
    assert happened(before, after) == {object: (action, attributes)}
    assert trace(before, after)


def test_a_serial_alone_is_a_trace_and_no_difference(before, after):
    after["terraform"]["production/hello"]["serial"] = 4
    assert difference(before, after) == []
    assert trace(before, after) == ["/terraform/production/hello/serial: 3 -> 4"]


def test_directories_above_a_new_volume_belong_to_it(before, after):
    for path in ("/opt/page", "/opt/page/data"):
        after["hosts"]["control"][path] = {"kind": "directory", "user": "0", "group": "0", "mode": "0755"}
    assert list(happened(before, after)) == ["salt/directory/control:/opt/page/data"]


def test_a_seed_gives_the_same_scenarios_again():
    for seed in range(40):
        names = [scenario.name for scenario in generate(seed)]
        assert names == [scenario.name for scenario in generate(seed)]
        assert len(set(names)) == len(names) >= 30
    assert [one.name for one in generate(1)] != [one.name for one in generate(2)]


def plan(*effects: dict, **other) -> dict:
    return {"effects": list(effects), "pillar": {}, "steps": [], "release": "1", **other}


def effect(object: str, action: str, *attributes: dict, **other) -> dict:
    return {"object": object, "action": action, "attributes": list(attributes), "warning": None, **other}


def verdict(before: dict, after: dict, *effects: dict, unasked=()) -> tuple[int, int, int, int]:
    found = judge(foretold(plan(*effects)), difference(before, after), unasked)
    return tuple(len(items) for items in found.all())


TEXT_CHANGES = effect(JOB, "change", {"name": TEXT, "before": "old", "after": "new"})


@pytest.fixture
def renamed(after) -> dict:
    after["nomad"]["jobs"]["production/hello"] = job(TEXT="new")
    return after


def test_what_was_foretold_and_happened_is_predicted(before, renamed):
    assert verdict(before, renamed, TEXT_CHANGES) == (1, 0, 0, 0)


def test_what_happened_and_was_not_foretold_is_unpredicted(before, renamed):
    assert verdict(before, renamed) == (0, 0, 1, 0)
    renamed["nomad"]["jobs"]["production/hello"]["TaskGroups"][0]["Count"] = 2
    assert verdict(before, renamed, TEXT_CHANGES) == (1, 0, 1, 0)


def test_what_was_foretold_and_did_not_happen_is_missed(before, after):
    assert verdict(before, after, TEXT_CHANGES) == (0, 1, 0, 0)
    assert verdict(before, after, effect(JOB, "delete")) == (0, 1, 0, 0)


def test_another_value_is_missed_and_unpredicted(before, renamed):
    other = effect(JOB, "change", {"name": TEXT, "before": "old", "after": "newer"})
    assert verdict(before, renamed, other) == (0, 1, 1, 0)


def test_unknown_is_right_for_computed_attributes_only(before, after, renamed):
    assert verdict(before, renamed, effect(JOB, "change", {"name": TEXT, "unknown": True})) == (0, 0, 1, 0)
    renamed["nomad"]["jobs"]["production/hello"] = job()
    renamed["nomad"]["jobs"]["production/hello"]["Meta"]["eos_secret_version"] = "8"
    version = effect(JOB, "change", {"name": "Meta.eos_secret_version", "unknown": True})
    assert verdict(before, renamed, version) == (1, 0, 0, 0)
    assert verdict(before, before, version) == (0, 1, 0, 0), "what is unknown has to change all the same"
    assert {kind for of, _, kind, _ in COMPUTED if of.startswith("vault/")} == {MAY_BE_UNKNOWN}


def test_the_whole_of_something_stands_for_all_in_it(before, after):
    more = {"Name": "beside", "Count": 1, "Tasks": [{"Name": "beside", "Env": {"A": "1"}}]}
    after["nomad"]["jobs"]["production/hello"]["TaskGroups"].append(more)
    comes = effect(JOB, "change", {"name": "TaskGroups.beside", "after": "present"})
    goes = effect(JOB, "change", {"name": "TaskGroups.beside", "before": "present"})
    assert verdict(before, after, comes) == (1, 0, 0, 0)
    assert verdict(before, after, goes) == (0, 1, 1, 0)
    assert verdict(after, before, goes) == (1, 0, 0, 0)
    assert verdict(after, before, comes) == (0, 1, 1, 0)


def test_another_action_is_missed_and_unpredicted(before, after):
    after["nomad"]["jobs"].clear()
    assert verdict(before, after, effect(JOB, "delete")) == (1, 0, 0, 0)
    assert verdict(before, after, effect(JOB, "create")) == (0, 1, 1, 0)


def test_what_is_said_of_something_new_has_to_be_right(before, after):
    before["nomad"]["services"].clear()
    comes = lambda number: effect(  # noqa: E731
        "nomad/service/production/hello", "create", {"name": "instances", "after": number}
    )
    assert verdict(before, after, comes(1)) == (1, 0, 0, 0)
    assert verdict(before, after, comes(2)) == (1, 1, 0, 0)


def test_only_the_engine_that_is_named_is_excused(before, renamed):
    renamed["terraform"]["production/hello"]["resources"].clear()
    assert verdict(before, renamed, unasked=[{"engine": "nomad"}]) == (0, 0, 1, 1)
    assert verdict(before, renamed, unasked=[{"engine": "engines"}]) == (0, 0, 0, 2)


def test_files_of_the_pillar_and_the_release_are_foretold_by_their_text(before, after):
    path = "pillar/infrastructure/production.sls"
    said = foretold(plan(pillar={path: "text"}, steps=[{"work": "deliver"}], release="2"))
    assert {(change.object, change.action) for change in said} == {
        (f"estate/{path}", "change"),
        ("estate/current", "change"),
    }
    after["estate"].update(current="r/2")
    after["estate"]["files"][path]["digest"] = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    assert judge(said, difference(before, after)).is_true()
    after["estate"]["files"][path]["digest"] = "y"
    assert not judge(said, difference(before, after)).is_true()


def test_a_failure_has_to_be_foretold_and_to_leave_nothing(before, after, renamed):
    warned = plan(effect(JOB, "change", warning="cannot be placed: memory"))
    assert judge_failure(warned, before, before).is_true()
    assert not judge_failure(plan(), before, before).is_true()
    assert not judge_failure(warned, before, renamed).is_true()


def test_a_change_without_particulars_says_that_it_is_one(before, renamed):
    assert judge([Change(JOB, "change")], difference(before, renamed)).is_true()
