"""The permissions of the role user over the real API, and every refused way around them."""

from __future__ import annotations

import pytest

from laboratory import made

CALL = {"operation": "op", "step": "st", **made("components.a.b.volumes", "0" * 64)}


def test_the_functions_of_eos_and_what_salt_itself_needs_are_permitted(laboratory):
    for function in ("eos.info", "eos.observe", "eos.examine", "eos.sync", "test.ping"):
        assert laboratory.salt.call(function)["retcode"] == 0, function
    assert laboratory.salt.record("eos.status", operation="none", step="none") == {"status": "unknown"}


@pytest.mark.parametrize(
    "function",
    [
        "eos.makeX",
        "eos.make\n",
        "eos._once",
        # As earlier formulas had them.
        "eos.run_step",
        "eos.step_status",
        "eos.require_secrets",
        "eos_secrets.require",
        "eos_orchestrator.require_healthy",
        "eos_orchestrator.remove",
        "eos_kind_workspace.remove",
        "eos_kind_secret.act",
        "eos_terraform.destroy",
        "eos_terraform.apply",
        "eos_graph.of_workspace",
        "eos_examination.of_this_minion",
        "cmd.run",
        "state.apply",
        "state.single",
        "state.sls",
        "pillar.items",
        "saltutil.sync_all",
        "saltutil.refresh_pillar",
        "test.pingX",
        "eos.info,cmd.run",
    ],
)
def test_every_other_function_is_refused(laboratory, function):
    assert laboratory.salt.lowstate(fun=function, arg=["id"])[0] == 401


@pytest.mark.parametrize("innocent", ["eos.info", "test.ping", "saltutil.find_job"])
@pytest.mark.parametrize("wanted", ["cmd.run", "state.single", "eos_terraform.destroy"])
def test_a_permitted_function_does_not_carry_another_one_along(laboratory, innocent, wanted):
    for functions, arguments in (([innocent, wanted], [[], ["id"]]), ([wanted, innocent], [["id"], []])):
        status, answer = laboratory.salt.lowstate(fun=functions, arg=arguments)
        assert status == 401, answer


def test_only_the_local_clients_are_open(laboratory):
    for client, function in (("runner", "state.orchestrate"), ("wheel", "key.list_all"), ("ssh", "test.ping")):
        assert laboratory.salt.lowstate(client=client, fun=function)[0] in (400, 401), client


@pytest.mark.parametrize(
    "keywords",
    [
        {**CALL, "pillar": {}},
        {**CALL, "test": True},
        {key: value for key, value in CALL.items() if key != "facts"},
        {**CALL, "operation": "../op"},
        {**CALL, "component": "../a"},
        {**CALL, "kind": "terraform"},
        {**CALL, "kind": ["volume"]},
        {**CALL, "facts": {"digest": "0" * 64, "path": "/"}},
    ],
)
def test_arguments_that_are_not_exactly_right_run_nothing(laboratory, keywords):
    status, answer = laboratory.salt.lowstate(fun="eos.make", kwarg=keywords)
    assert status == 200
    assert answer["control"]["retcode"] == 1, answer
    assert isinstance(answer["control"]["ret"], str), answer
    assert laboratory.salt.record("eos.status", operation="op", step="st") == {"status": "unknown"}


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        (["op", "st", "0" * 64, "components.hello.production.workspace"], {}),
        (["saltenv=other"], CALL),
    ],
)
def test_arguments_by_position_are_refused(laboratory, arguments, keywords):
    assert laboratory.salt.lowstate(fun="eos.make", arg=arguments, kwarg=keywords)[0] == 401
    assert laboratory.salt.record("eos.status", operation="op", step="st") == {"status": "unknown"}
