"""Roles and approvals over the real API: the module itself holds each role to its tier."""

from __future__ import annotations

import datetime
import itertools
import json
import os
import pathlib
import re

import pytest

from configurations import workspace
from laboratory import FORMULA, MINION, ROLES, canonical_digest, made, readme_block, removed
from test_eject import by_hand
from test_records import KINDS

TIERS = ("low", "medium", "high")
REACHES = {"eos-user": ("low",), "eos-operator": ("low", "medium"), "eos-architect": ("low", "medium")}
# All that a master lets API users call. It is for every kind, now and later: no kind may add a name to it.
ALLOWED = {
    *("info", "deliver", "preview", "make", "remove", "act", "stop", "status"),
    *("observe", "inspect", "examine", "approve", "take_home", "sync"),
}
NUMBERS = itertools.count()


class Prepared:
    """One thing of a tier for each function that changes something, and the call that is about it."""

    def __init__(self, lab, tier: str):
        self.lab, self.tier = lab, tier
        self.component = f"tiered-{next(NUMBERS)}"
        self.operation = self.component
        self.name = f"production/{self.component}"
        secrets = [{"namespace": "default", "path": f"nomad/jobs/{self.component}", "items": ["password"]}]
        self.workspaces = {self.name: workspace(self.name, "x", risk=tier)}
        self.with_secrets = {
            f"default/{self.component}": workspace(f"default/{self.component}", "x", risk=tier, secrets=secrets)
        }
        path = lab.directory / "volumes" / self.component
        facts = {"path": str(path), "user": "0", "group": "0", "mode": "0750", "durability": "ephemeral", "risk": tier}
        self.volumes = {f"{self.name}/data": facts}
        self.paths = {name: facts["path"] for name, facts in self.volumes.items()}
        file = lab.directory / "files" / f"{self.component}.conf"
        file.parent.mkdir(mode=0o755, exist_ok=True)
        owner = {"user": str(os.getuid()), "group": str(os.getgid()), "mode": "0640"}
        self.files = {f"{self.name}{file}": {"path": str(file), "text": "text", **owner, "risk": tier}}
        # Its port is closed, so that rules are never loaded: the step fails after the roles were looked at.
        monitor = {"directory": str(lab.directory / "rules"), "user": "0", "group": "0", "port": 1}
        rules = {"monitor": "prometheus", "rules": "0" * 64, "risk": tier}
        self.monitoring = {"monitors": {"production/prometheus": monitor}, "monitoring": {self.name: rules}}

    def call(self, asked: str) -> dict:
        """The arguments of a call that the minion would admit, but for the role of who makes it."""
        release = self.lab.releases.deliver(self.workspaces, self.volumes, **self.monitoring, files=self.files)
        if asked == "remove rules":
            record = self.lab.salt.cache / "eos" / "monitoring" / f"{self.name}.json"
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(json.dumps({"risk": self.tier}))
            self.lab.releases.deliver({}, monitors=self.monitoring["monitors"])
            return self.identified(removed(self.name, "rules", monitor="prometheus"))
        if asked.endswith("secret"):
            return self.call_about_secrets(asked)
        if asked == "make file":
            return self.identified(removed(self.name, "file", digest=canonical_digest(self.files)))
        if asked.startswith("make"):
            piece = {"make workspace": "workspace", "make volume": "volumes", "make rules": "monitoring"}[asked]
            sls = f"components.{self.component}.production.{piece}"
            return self.identified(made(sls, self.lab.releases.digest(release, sls)))
        kind = asked.split()[-1]
        self.done(self.call(f"make {kind}"))
        if asked == "restart workspace":
            return self.identified({**removed(self.name), "action": "restart"})
        self.lab.releases.deliver({})
        if kind == "workspace":
            return self.identified(removed(self.name))
        if kind == "file":
            paths = {name: facts["path"] for name, facts in self.files.items()}
            return self.identified(removed(self.name, "file", files=paths))
        more = {"made_by": f"{self.operation}-first"} if asked == "remove unused volume" else {}
        return self.identified(removed(self.name, "volume", volumes=self.paths, **more))

    def call_about_secrets(self, asked: str) -> dict:
        self.lab.releases.deliver(self.with_secrets)
        name = f"default/{self.component}"
        write = self.identified(removed(name, "secret", items=[{"item": "password", "given": False, "generate": 24}]))
        if asked == "make secret":
            return write
        self.done(write)
        if asked == "restore secret":
            return self.identified({**removed(name, "secret", previous="nothing"), "action": "restore"})
        self.lab.releases.deliver({})
        return self.identified(removed(name, "secret"))

    def identified(self, arguments: dict) -> dict:
        return {"operation": self.operation, "step": "step", **arguments}

    def done(self, call: dict):
        """Does what the call needs to be there, under another operation, which is approved."""
        first = {**call, "operation": f"{self.operation}-first"}
        approve(self.lab, "eos-architect", first)
        answer = ask(self.lab, "eos-operator", first)
        assert answer["ret"]["status"] == "done", answer


ASKED = (
    *("make workspace", "make volume", "make file", "make rules", "make secret"),
    *("remove workspace", "remove volume", "remove unused volume", "remove file", "remove rules", "remove secret"),
    *("restore secret", "restart workspace"),
)
# Nothing answers, or there is nothing to restart: the step fails after the roles were looked at.
FAIL = ("make rules", "restart workspace")


def function_of(asked: str) -> str:
    functions = {"make": "eos.make", "remove": "eos.remove", "restore": "eos.act", "restart": "eos.act"}
    return functions[asked.split()[0]]


def digest_of_call(asked: str, call: dict) -> str:
    arguments = {key: value for key, value in call.items() if key not in ("operation", "step")}
    return canonical_digest([function_of(asked), arguments])


def refused(answer: dict, *words: str):
    assert answer["retcode"] == 1, answer
    assert answer["ret"].startswith("ERROR: needs approval: "), answer
    for word in words:
        assert word in answer["ret"], answer


def approve(lab, by: str, call: dict, asked: str = "make", **changed: object) -> dict:
    calls = {call["step"]: digest_of_call(asked, call)}
    arguments = {"operation": call["operation"], "plan": "0" * 64, "calls": calls, "minutes": 5, **changed}
    with lab.salt.acting_as(by):
        return lab.salt.call("eos.approve", **arguments)


def ask(lab, by: str, call: dict, asked: str = "make") -> dict:
    with lab.salt.acting_as(by):
        return lab.salt.call(function_of(asked), **call)


def public_functions(module) -> dict:
    return {
        name: function
        for name, function in vars(module).items()
        if callable(function) and not name.startswith("_") and getattr(function, "__module__", "") == module.__name__
    }


def test_every_kind_is_held_to_a_tier():
    """A new kind fails here until calls about it are in the list above, and so in the tests below."""
    assert {asked.split()[-1] for asked in ASKED} == set(KINDS)


def test_no_name_is_added_to_what_api_users_may_call(load):
    """One list says it; what there is, what a master permits and what a laboratory permits is the same."""
    guard = load("master/log_handlers/eos_guard.py")
    assert len(guard.FUNCTIONS) == len(set(guard.FUNCTIONS)) and set(guard.FUNCTIONS) == ALLOWED
    assert set(public_functions(load("_modules/eos.py"))) == ALLOWED
    access = readme_block("external_auth")
    patterns = re.findall(r"eos\\\.\(([a-z_|]+)\)", access)
    assert [set(pattern.split("|")) for pattern in patterns] == [ALLOWED - {"approve", "take_home"}, *[ALLOWED] * 2]
    # Root's own: `test_permissions.py` has the API refuse them.
    by_hand = {"eos_secrets.require", "eos_orchestrator.require_healthy", "eos_orchestrator.remove"}
    assert set(re.findall(r"\beos_[a-z]+\\\.[a-z_]+", access)) == {name.replace(".", "\\.") for name in by_hand}
    laboratory = (FORMULA.parent / "crates" / "eos-lab" / "src" / "salt.rs").read_text()
    allowed = re.search(r"const ALLOWED.*?];.*?const DECIDING.*?];", laboratory, re.DOTALL)[0]
    assert set(re.findall(r'"eos\.([a-z_]+)"', allowed)) == ALLOWED
    published = re.search(r"const BY_HAND.*?];", laboratory, re.DOTALL)[0]
    assert set(re.findall(r'"(eos_[a-z]+\.[a-z_]+)"', published)) == by_hand


def test_every_function_asks_who_calls(load):
    """Called without a module to ask, each fails by that: none does anything first."""
    module = load("_modules/eos.py", grains={})
    wanted = {"operation": "o", "step": "s", "kind": "workspace", "environment": "e", "component": "c", "minutes": 5}
    wanted |= {"facts": {"digest": "0" * 64}, "action": "restore", "plan": "0" * 64, "calls": {"s": "0" * 64}}
    wanted |= {"home": "h", "name": "n", "function": "eos.make", "arguments": {}}
    for function in public_functions(module).values():
        taken = set(function.__code__.co_varnames[: function.__code__.co_kwonlyargcount])
        optional = set(function.__kwdefaults__ or {})
        arguments = {key: wanted[key] for key in taken - optional}
        with pytest.raises(KeyError, match=r"eos_roles\.caller"):
            function(**arguments)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("asked", ASKED)
def test_each_role_is_refused_what_is_above_it(laboratory, asked, tier):
    prepared = Prepared(laboratory, tier)
    call = prepared.call(asked)
    for user in ROLES:
        if tier not in REACHES[user]:
            refused(ask(laboratory, user, call, asked), f"of {tier} risk", f"role {ROLES[user]}", "nobody has approved")
            carried_along(laboratory, user, call, asked)
    status = laboratory.salt.record("eos.status", operation=call["operation"], step="step")
    assert status == {"status": "unknown"}
    allowed = [user for user in ROLES if tier in REACHES[user]]
    if allowed:
        answer = ask(laboratory, allowed[0], call, asked)
        assert answer["ret"]["status"] == ("failed" if asked in FAIL else "done"), answer


def carried_along(lab, user: str, call: dict, asked: str):
    """A function that is allowed to all does not carry the call past its tier."""
    functions = ["eos.info", function_of(asked)]
    with lab.salt.acting_as(user):
        status, answer = lab.salt.lowstate(fun=functions, arg=[keywords(call, of) for of in functions])
    assert status == 401, answer


def test_nobody_can_say_to_be_somebody_else(laboratory):
    call = Prepared(laboratory, "high").call("make workspace")
    salt = laboratory.salt
    with salt.acting_as("eos-user"):
        for name in ("eos-architect", "root", None):
            forged = {"kwarg": {**call, "__pub_user": name}}
            for how in (forged, {"kwarg": call, "arg": [f"__pub_user={name}"]}, {"kwarg": call, "user": name}):
                assert salt.lowstate(fun="eos.make", **how)[0] == 401, how
        answer = salt.call("eos.make", **call, user="root")
        assert "There is no argument user" in answer["ret"], answer
        for functions in (["eos.make", "eos.info"], ["eos.make", "eos.make"]):
            assert salt.lowstate(fun=functions, arg=[keywords(call, of) for of in functions])[0] == 401


def test_root_by_hand_is_held_to_no_tier(laboratory):
    call = Prepared(laboratory, "high").call("make workspace")
    words = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in call.items()]
    assert by_hand(laboratory, "eos.make", *words)["status"] == "done"
    published = laboratory.salt.run("salt", MINION, "eos.make", *words, "step=again")
    assert json.loads(published.stdout)[MINION]["status"] == "done", published


def keywords(call: dict, function: str) -> list:
    """The arguments of one of several functions, as the API takes them."""
    return [] if function == "eos.info" else [{"__kwarg__": True, **call, "__pub_user": "root"}]


def test_info_says_who_asks(laboratory):
    for user, role in ROLES.items():
        with laboratory.salt.acting_as(user):
            info = laboratory.salt.record("eos.info")
        assert (info["user"], info["role"]) == (user, role)
        assert set(info["grains"]) == {"os", "osrelease", "num_cpus", "mem_total", "ipv4", "fqdn", "virtual"}
    own = by_hand(laboratory, "eos.info")
    assert (own["user"], own["role"]) == (None, None)
    published = json.loads(laboratory.salt.run("salt", MINION, "eos.info").stdout)[MINION]
    assert (published["user"], published["role"]) == ("root", None)


@pytest.mark.parametrize("function", ["eos.approve", "eos.take_home"])
def test_what_is_for_operators_is_refused_by_salt_and_by_the_module(laboratory, function):
    call = {"operation": "o", "plan": "0" * 64, "calls": {"s": "0" * 64}, "minutes": 5}
    if function == "eos.take_home":
        call = {"home": "elsewhere", "name": "elsewhere"}
    with laboratory.salt.acting_as("eos-user"):
        assert laboratory.salt.lowstate(fun=function, kwarg=call)[0] == 401
        functions = ["eos.info", function]
        arguments = [keywords(call, of) for of in functions]
        assert laboratory.salt.lowstate(fun=functions, arg=arguments)[0] == 401
    assert laboratory.salt.record("eos.info")["home"] is None
    assert not (laboratory.salt.cache / "eos" / "approvals" / "o.json").exists()


@pytest.mark.parametrize(
    ("asked", "tier", "by", "approved_by"),
    [
        ("make workspace", "medium", "eos-user", "eos-operator"),
        ("make workspace", "high", "eos-user", "eos-architect"),
        ("make workspace", "high", "eos-operator", "eos-architect"),
        ("make volume", "high", "eos-operator", "eos-architect"),
        ("remove workspace", "medium", "eos-user", "eos-architect"),
        ("remove volume", "high", "eos-operator", "eos-architect"),
        ("remove unused volume", "high", "eos-operator", "eos-architect"),
        ("remove rules", "high", "eos-operator", "eos-architect"),
    ],
)
def test_an_approval_lets_the_approved_call_pass(laboratory, asked, tier, by, approved_by):
    call = Prepared(laboratory, tier).call(asked)
    approval = approve(laboratory, approved_by, call, asked)["ret"]
    assert (approval["by"], approval["role"]) == (approved_by, ROLES[approved_by])
    answer = ask(laboratory, by, call, asked)
    assert answer["ret"]["status"] == "done", answer


def test_an_approval_serves_exactly_what_it_names(laboratory):
    prepared = Prepared(laboratory, "high")
    call = prepared.call("make workspace")
    approve(laboratory, "eos-architect", call)
    volumes = prepared.call("make volume")
    for changed in (
        # Another call under the approved step, the approved call under another step, and under another operation.
        {**volumes, "step": call["step"]},
        {**call, "step": "another"},
        {**call, "operation": f"{call['operation']}-another"},
    ):
        refused(ask(laboratory, "eos-operator", changed), "approved")

    # What was approved is no longer what the pillar says: neither the old nor the new is done.
    changed = {**prepared.workspaces[prepared.name], **workspace(prepared.name, "y")}
    release = laboratory.releases.deliver({prepared.name: changed}, prepared.volumes)
    answer = ask(laboratory, "eos-operator", call)
    assert "is refused" in answer["ret"], answer
    sls = f"components.{prepared.component}.production.workspace"
    moved = {**call, "facts": {"digest": laboratory.releases.digest(release, sls)}}
    refused(ask(laboratory, "eos-operator", moved), "which does not have this call")

    laboratory.releases.deliver(prepared.workspaces, prepared.volumes)
    assert ask(laboratory, "eos-operator", call)["ret"]["status"] == "done"


def test_who_asks_cannot_approve(laboratory):
    call = Prepared(laboratory, "high").call("make workspace")
    approve(laboratory, "eos-architect", call)
    refused(ask(laboratory, "eos-architect", call), "eos-architect cannot approve what eos-architect asks for")


def test_who_approves_must_reach_the_tier(laboratory):
    call = Prepared(laboratory, "high").call("make workspace")
    approve(laboratory, "eos-operator", call)
    refused(ask(laboratory, "eos-user", call), "eos-operator, who approved it, has the role operator")


def test_an_approval_ends(laboratory):
    call = Prepared(laboratory, "high").call("make workspace")
    approve(laboratory, "eos-architect", call, minutes=1)
    path = laboratory.salt.cache / "eos" / "approvals" / f"{call['operation']}.json"
    approval = json.loads(path.read_text())
    left = datetime.datetime.fromisoformat(approval["until"]) - datetime.datetime.now(datetime.UTC)
    assert 30 < left.total_seconds() <= 60
    path.write_text(json.dumps({**approval, "until": "2020-01-01T00:00:00+00:00"}))
    refused(ask(laboratory, "eos-operator", call), "the approval of eos-architect ended 2020")


@pytest.mark.parametrize(
    "changed",
    [
        {"operation": "../o"},
        {"plan": "short"},
        {"calls": {}},
        {"calls": ["s"]},
        {"calls": {"s/../t": "0" * 64}},
        {"calls": {"s": "0"}},
        {"minutes": 0},
        {"minutes": 10081},
        {"minutes": True},
        {"minutes": "5"},
        {"role": "architect"},
    ],
)
def test_a_malformed_approval_is_refused(laboratory, changed):
    call = {"operation": "malformed", "step": "s"}
    answer = approve(laboratory, "eos-architect", call, **changed)
    assert answer["retcode"] == 1 and isinstance(answer["ret"], str), answer
    assert not (laboratory.salt.cache / "eos" / "approvals" / "malformed.json").exists()


def test_the_home_is_taken_by_comparison(laboratory):
    path = laboratory.salt.cache / "eos" / "home.json"
    path.unlink(missing_ok=True)
    try:
        first = laboratory.salt.record("eos.take_home", home="one", name="anna's laptop")
        assert (first["home"], first["name"], first["user"]) == ("one", "anna's laptop", "eos-operator")
        assert laboratory.salt.record("eos.info")["home"] == first
        # The same again is answered, so that an answer that got lost does not matter.
        assert laboratory.salt.record("eos.take_home", home="one", name="anna's laptop") == first
        for wrong in ({}, {"instead_of": "three"}):
            answer = laboratory.salt.call("eos.take_home", home="two", name="desk", **wrong)
            assert "The home on minion control is one (anna's laptop), not" in answer["ret"], answer
        second = laboratory.salt.record("eos.take_home", home="two", name="desk", instead_of="one")
        assert laboratory.salt.record("eos.info")["home"] == second
        for malformed in ({"home": "../x"}, {"home": ""}, {"name": "a\nb"}, {"instead_of": "/"}):
            answer = laboratory.salt.call("eos.take_home", **{"home": "three", "name": "n", **malformed})
            assert answer["retcode"] == 1, answer
        assert laboratory.salt.record("eos.info")["home"] == second
    finally:
        path.unlink(missing_ok=True)


ROLES_OF_TWO = {"anna": "architect", "berta": "architect", "otto": "operator", "uwe": "user", "odd": "emperor"}
CALL = ["eos.make", made("components.a.b.workspace", "0" * 64)]


@pytest.fixture
def roles(load, tmp_path):
    module = load("_modules/eos_roles.py")
    module.__opts__["eos"] = {"roles": dict(ROLES_OF_TWO)}
    return module


def who(roles, user: str | None) -> dict:
    return roles.caller({"__pub_user": user} if user else {"__pub_jid": "1"})


def approved(roles, by: str):
    roles.approve(who(roles, by), "o", "0" * 64, {"s": canonical_digest(CALL)}, 5)


def test_an_architect_needs_another_one(roles):
    approved(roles, "berta")
    roles.require(who(roles, "anna"), "high", "said", "o", "s", CALL)
    with pytest.raises(roles.CommandExecutionError, match="^needs approval: .*berta cannot approve what berta asks"):
        roles.require(who(roles, "berta"), "high", "said", "o", "s", CALL)


@pytest.mark.parametrize("text", ["", '{"by": "ber', "{}"])
def test_a_damaged_approval_approves_nothing(roles, tmp_path, text):
    approved(roles, "berta")
    (tmp_path / "eos" / "approvals" / "o.json").write_text(text)
    with pytest.raises(roles.CommandExecutionError, match="^needs approval: .*o.json .*: approve it again"):
        roles.require(who(roles, "anna"), "high", "said", "o", "s", CALL)


def test_a_clock_that_is_set_back_prolongs_no_approval(roles, monkeypatch):
    approved(roles, "berta")
    roles.require(who(roles, "anna"), "high", "said", "o", "s", CALL)
    boot, now = roles._uptime()
    monkeypatch.setattr(roles, "_uptime", lambda: (boot, now + 301))
    with pytest.raises(roles.CommandExecutionError, match="the approval of berta ended"):
        roles.require(who(roles, "anna"), "high", "said", "o", "s", CALL)
    # After a restart only the wall clock is left to go by.
    monkeypatch.setattr(roles, "_uptime", lambda: ("another", 3.0))
    roles.require(who(roles, "anna"), "high", "said", "o", "s", CALL)


def test_a_role_that_was_taken_away_approves_no_more(roles):
    approved(roles, "anna")
    roles.__opts__["eos"]["roles"]["anna"] = "user"
    with pytest.raises(roles.CommandExecutionError, match="anna, who approved it, has the role user"):
        roles.require(who(roles, "uwe"), "medium", "said", "o", "s", CALL)


@pytest.mark.parametrize("user", ["stranger", "odd"])
def test_who_has_no_role_may_change_nothing(roles, user):
    approved(roles, "anna")
    for risk in TIERS:
        with pytest.raises(roles.CommandExecutionError, match="has no role on control"):
            roles.require(who(roles, user), risk, "said", "o", "s", CALL)
    with pytest.raises(roles.CommandExecutionError, match="needs the role operator"):
        roles.require_role(who(roles, user), "operator", "take the home")


@pytest.mark.parametrize("user", [None, "root", "sudo_anna"])
def test_root_by_hand_is_held_to_no_tier_but_cannot_approve(roles, user):
    for risk in TIERS:
        roles.require(who(roles, user), risk, "said", "o", "s", CALL)
    roles.require_role(who(roles, user), "operator", "take the home")
    with pytest.raises(roles.CommandExecutionError, match="Only an API user"):
        approved(roles, user)


@pytest.mark.parametrize(
    ("risks", "expected"),
    [(["low", "low"], "low"), (["low", "high", "medium"], "high"), (["low", None], "medium"), ([], "medium")],
)
def test_a_call_is_of_the_highest_risk_it_is_about(roles, risks, expected):
    assert roles.highest([(risk, "said") for risk in risks], "medium")[0] == expected


def test_an_approval_does_not_replace_one_of_a_higher_role(roles):
    approved(roles, "berta")
    with pytest.raises(roles.CommandExecutionError, match="otto cannot replace this approval: berta"):
        approved(roles, "otto")
    roles.require(who(roles, "uwe"), "high", "said", "o", "s", CALL)
    # Once it is over, or its author has the role no more, it is in nobody's way.
    roles.__opts__["eos"]["roles"]["berta"] = "user"
    approved(roles, "otto")


def test_nobody_pushes_out_anothers_approval(load, monkeypatch):
    roles = load("_modules/eos_roles.py")
    monkeypatch.setattr(roles, "_MOST_APPROVALS", 3)
    architect, operator = (
        {"user": name, "role": ROLES[name], "is_root": False} for name in ("eos-architect", "eos-operator")
    )
    give = lambda who, operation, minutes=5: roles.approve(who, operation, "0" * 64, {"1": "0" * 64}, minutes)  # noqa: E731
    held = lambda: sorted(os.listdir(os.path.join(roles.__opts__["cachedir"], "eos/approvals")))  # noqa: E731
    give(architect, "kept")
    for number in range(3):
        give(operator, f"mine-{number}")
    with pytest.raises(Exception, match="3 approvals of eos-operator still hold"):
        give(operator, "mine-3")
    assert "kept.json" in held()
    # One that is over makes room, whoever gave it.
    for name in ("kept", "mine-0"):
        path = os.path.join(roles.__opts__["cachedir"], "eos/approvals", f"{name}.json")
        approval = json.loads(pathlib.Path(path).read_text())
        pathlib.Path(path).write_text(json.dumps({**approval, "until": "2000-01-01T00:00:00+00:00"}))
    give(operator, "mine-3")
    assert [name for name in held() if name.endswith(".json")] == ["mine-1.json", "mine-2.json", "mine-3.json"]
    # To approve the same again takes no more room.
    give(operator, "mine-3")
