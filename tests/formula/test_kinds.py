"""Kinds: each in a module of its own with the same functions, and none of them known to `eos`."""

from __future__ import annotations

import inspect
import re
import types

import pytest

from laboratory import FORMULA
from test_records import KINDS, Engine, by, engine, eos, run  # noqa: F401  fixtures

# What `eos` and the orchestration call of a kind, with the parameters that they give.
FUNCTIONS = {
    "check": ["asked"],
    "lock": ["environment", "component"],
    "wanted": ["asked", "slices"],
    "risks": ["asked", "wanted"],
    "make": ["asked", "wanted"],
    "remove": ["asked", "wanted"],
    "actions": [],
    "read_back": ["asked"],
    "observe": ["who", "what", "operation"],
    "preview": ["asked", "plan", "unknown", "pillar"],
    "inspect": ["pillar"],
    "examine": ["name", "slices"],
    "section": [],
    "parts": ["slices"],
    "parting": ["name", "slices"],
}
# Kinds whose word every module has use for.
WORDS = {"file"}
# Keys of the answer of `eos.observe` beside the kinds.
BESIDE = {"errors", "caller", "tiers"}


def functions_of(module: types.ModuleType) -> dict[str, list[str]]:
    own = {name: one for name, one in vars(module).items() if inspect.isfunction(one) and not name.startswith("_")}
    return {name: list(inspect.signature(one).parameters) for name, one in own.items()}


def test_there_are_kinds():
    assert {"file", "rules", "secret", "volume", "workspace"} <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_every_function_and_no_other(load, kind):
    module = load(f"_modules/eos_kind_{kind}.py")
    actions = module.actions()
    assert functions_of(module) == FUNCTIONS | ({"act": ["asked", "wanted"]} if actions else {})
    assert set(actions.values()) <= {"step", "personal"}
    # A name of an action would be taken for the making or the end of a part.
    assert not {"make", "remove"} & set(actions) and kind not in BESIDE


def is_named(kind: str, text: str) -> bool:
    """By its word; of a kind whose word means something else as well, by its module or as a name in quotes."""
    return bool(re.search(rf"""eos_kind_{kind}\b|["']{kind}s?["']""" if kind in WORDS else rf"\b{kind}s?\b", text))


def test_no_kind_is_named_where_all_kinds_are_served():
    for file in ("_modules/eos.py", "_modules/eos_roles.py", "_modules/eos_states.py", "_utils/eos_argument.py"):
        text = (FORMULA / file).read_text()
        assert [kind for kind in KINDS if is_named(kind, text)] == [], file


def test_a_kind_costs_its_own_module_only(eos, engine, tmp_path):  # noqa: F811
    """A module of this name is all that a kind takes: its calls are recorded, locked, judged and read back."""
    (tmp_path / "eos_kind_note.py").touch()
    notes: dict[str, str] = {}
    kind = {
        "check": lambda asked: eos.__utils__["eos_argument.check_keys"]("facts", asked["facts"], {"text"}),
        "lock": lambda environment, component: eos.__salt__["eos_states.lock"](),
        "wanted": lambda asked, slices: asked["facts"]["text"],
        "risks": lambda asked, wanted: ([("medium", "it is a note")], "high"),
        "make": lambda asked, wanted: notes.update({asked["name"]: wanted}) or {"status": "done"},
        "remove": lambda asked, wanted: notes.clear() or {"status": "done"},
        "actions": lambda: {"shout": "step"},
        "act": lambda asked, wanted: notes.update({asked["name"]: wanted.upper()}) or {"status": "done"},
        "read_back": lambda asked: [asked["name"]],
        "observe": lambda who, what, operation: ({name: notes.get(name) for name in what}, None),
        "preview": lambda asked, plan, unknown, pillar: {"states": [asked["verb"]], "error": None},
        "inspect": lambda pillar: {"states": {}, "answer": {"notes": notes}},
        "examine": lambda name, slices: len(notes),
        "section": lambda: "notes",
        "parts": lambda slices: {},
        "parting": lambda name, slices: None,
    }
    assert {name: list(inspect.signature(one).parameters) for name, one in kind.items() if name != "act"} == FUNCTIONS
    eos.__file__ = str(tmp_path / "eos.py")
    eos.__salt__ |= {f"eos_kind_note.{name}": function for name, function in kind.items()}
    part = {"kind": "note", "environment": "production", "component": "hello", "facts": {"text": "hi"}}
    with pytest.raises(eos.CommandExecutionError, match="needs approval: .*it is a note"):
        eos.make(operation="op", step="1", **part, **by("eos-user"))
    record = eos.make(operation="op", step="1", **part, **by("eos-operator"))
    assert (record["status"], record["risk"]) == ("done", ["medium", "it is a note"])
    assert record["observed"] == {"note": {"production/hello": "hi"}, "errors": {}}
    shouted = eos.act(operation="op", step="2", action="shout", **part, **by("eos-operator"))
    assert shouted["observed"]["note"] == {"production/hello": "HI"}
    assert shouted["arguments"] == {**part, "action": "shout"}
    with pytest.raises(eos.SaltInvocationError, match="has no action sing, but: shout"):
        eos.act(operation="op", step="3", action="sing", **part)
    assert eos.observe(parts={"note": ["production/hello"]})["note"] == {"production/hello": "HI"}
    plan = f"plan-{'0' * 32}"
    assert eos.preview(plan=plan, function="eos.remove", arguments=part)["states"] == ["remove"]
    assert eos.examine(kind="note") == 1
    eos.__salt__["eos_inspect.compare"] = lambda pillar, release, found: found
    assert eos.inspect() == {"note": {"states": {}, "answer": {"notes": notes}}}
    assert eos.remove(operation="op", step="4", **part, **by("eos-operator"))["observed"]["note"] == {
        "production/hello": None
    }
    with pytest.raises(eos.SaltInvocationError, match="kind is none of: note"):
        run(eos)


@pytest.mark.parametrize(
    ("kind", "actions"), [("workspace", "restart"), ("volume", "none"), ("file", "none"), ("rules", "none")]
)
def test_a_kind_has_its_own_actions_alone(eos, kind, actions):  # noqa: F811
    part = {"environment": "production", "component": "hello", "facts": {}}
    with pytest.raises(eos.SaltInvocationError, match=f"The kind {kind} has no action restore, but: {actions}"):
        eos.act(operation="op", step="1", kind=kind, action="restore", **part)


@pytest.mark.parametrize(
    "call",
    [
        {"action": "restore", "environment": "e", "component": "c", "facts": {"previous": "nothing"}},
        {"action": "restore", "operation": "o", "step": "1", "facts": {"previous": "nothing"}},
        {"action": "restore", "operation": "o", "step": "1", "environment": "e", "facts": {"previous": "nothing"}},
        {"action": "restore", "operation": "o", "step": "1", "environment": "e", "component": "c", "facts": {}},
        {"action": "forget", "facts": {}},
        {"action": "forget", "operation": "../o", "facts": {}},
        {"action": "forget", "operation": "o", "environment": "e", "component": "c", "facts": {}},
        {"action": "forget", "operation": "o", "facts": {"all": True}},
        {"action": "forget", "operation": "o", "step": "1", "facts": {}},
        {"action": "reveal", "facts": {}},
        {"action": "reveal", "environment": "e", "component": "../c", "facts": {}},
        {"action": "reveal", "environment": "e", "component": "c", "facts": {"items": "password"}},
        {"action": "reveal", "environment": "e", "component": "c", "facts": {"operations": ["../o"]}},
        {"action": "make", "environment": "e", "component": "c", "facts": {"items": []}},
        {"action": ["reveal"], "environment": "e", "component": "c", "facts": {}},
    ],
)
def test_malformed_acts_are_refused_and_leave_no_record(eos, tmp_path, call):  # noqa: F811
    with pytest.raises(eos.SaltInvocationError):
        eos.act(kind="secret", **call)
    assert not list(tmp_path.rglob("*.json"))
