"""Secrets of components over the real API: the control minion moves them, and shows them to whose role reaches them."""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import json
import os
import subprocess
import threading
import urllib.error

import pytest

from configurations import workspace
from laboratory import FORMULA, ROLES, removed, wait_until
from test_eject import by_hand
from test_tiers import golden

NUMBERS = itertools.count()
CANARY = "canary-of-the-secrets"


class Place:
    """The secrets engine of a laboratory, asked with the token that may do everything and with those of people."""

    def __init__(self, lab):
        self.lab = lab
        self.is_full = hasattr(lab, "vault")
        self.people = {user: self._person(user) for user in ROLES}

    def _person(self, user: str) -> str:
        """A token as formula/README.md has an administrator make it."""
        name = f"eos-person-{user}"
        end = "vault.hcl" if self.is_full else "policy.hcl"
        rules = (FORMULA / "files" / f"eos-person.{end}").read_text().replace("USER", user)
        if self.is_full:
            self.lab.vault.call("PUT", f"/v1/sys/policies/acl/{name}", {"policy": rules})
            wanted = {"policies": [name], "no_default_policy": True, "no_parent": True}
            return self.lab.vault.call("POST", "/v1/auth/token/create", wanted)["auth"]["client_token"]
        self.lab.nomad.call("POST", f"/v1/acl/policy/{name}", {"Name": name, "Rules": rules})
        wanted = {"Name": user, "Type": "client", "Policies": [name]}
        return self.lab.nomad.call("POST", "/v1/acl/token", wanted)["SecretID"]

    def path(self, name: str) -> str:
        environment, component = name.split("/")
        if self.is_full:
            return f"/v1/secret/data/{environment}/{component}/app"
        return f"/v1/var/nomad/jobs/{component}?namespace={environment}"

    def apart(self, path: str) -> str:
        return f"/v1/secret/data/{path}" if self.is_full else f"/v1/var/{path}?namespace=default"

    def items(self, path: str, user: str | None = None) -> dict | None:
        token = None if user is None else self.people[user]
        try:
            if self.is_full:
                return self.lab.vault.call("GET", path, token=token)["data"]["data"]
            return self.lab.nomad.call("GET", path, token=token)["Items"]
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def write(self, path: str, items: dict, user: str | None = None):
        token = None if user is None else self.people[user]
        if self.is_full:
            self.lab.vault.call("POST", path, {"data": items}, token=token)
        else:
            body = {"Path": path.split("?")[0].removeprefix("/v1/var/"), "Items": items}
            self.lab.nomad.call("PUT", path, body, token=token)

    def give(self, user: str, name: str, operation: str, items: dict):
        key = hashlib.sha256(name.encode()).hexdigest()[:32]
        self.write(self.apart(f"eos_users/{user}/given/{operation}/{key}"), items, user)

    def below(self, prefix: str) -> list[str]:
        if self.is_full:
            return self._listed(prefix)
        found = self.lab.nomad.call("GET", f"/v1/vars?namespace=default&prefix={prefix}")
        return [variable["Path"] for variable in found]

    def _listed(self, prefix: str) -> list[str]:
        try:
            names = self.lab.vault.call("LIST", f"/v1/secret/metadata/{prefix}")["data"]["keys"]
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return []
            raise
        below = [path for name in names if name.endswith("/") for path in self._listed(f"{prefix}/{name[:-1]}")]
        return [f"{prefix}/{name}" for name in names if not name.endswith("/")] + below


@pytest.fixture(scope="module", params=["laboratory", "full"])
def place(request):
    found = Place(request.getfixturevalue(request.param))
    if not found.is_full:
        found.lab.nomad.call("PUT", "/v1/namespace/production", {"Name": "production"})
    return found


class Components:
    """Components of the pillar, each with a tier and secrets, and the calls that are about them."""

    def __init__(self, place: Place, **tiers: str):
        self.place, self.lab = place, place.lab
        self.end = next(NUMBERS)
        self.tiers = tiers
        self.deliver(*tiers)

    def name(self, kind: str) -> str:
        return f"production/{kind}-{self.end}"

    def deliver(self, *kinds: str):
        self.release = self.lab.releases.deliver(
            {
                self.name(kind): workspace(
                    self.name(kind),
                    "x",
                    risk=self.tiers[kind],
                    secrets=[{"namespace": "production", "path": "of no matter", "items": ["password", "copied"]}],
                )
                for kind in kinds
            }
        )

    def call(self, user: str, function: str, kind: str, step: str, **facts: object):
        """What the minion answers to a call about secrets: a record, or why it refuses."""
        ids = {"operation": f"operation-{self.end}", "step": f"{kind}-{step}"}
        action = {"action": "restore"} if function == "act" else {}
        part = removed(self.name(kind), "secret", **facts)
        with self.lab.salt.acting_as(user):
            return self.lab.salt.call(f"eos.{function}", **ids, **action, **part)["ret"]

    def write(self, user: str, kind: str, step: str, *items: dict):
        return self.call(user, "make", kind, step, items=list(items))

    def apply(self, user: str, kind: str, step: str):
        """Of the workspace: a record, or why the minion refuses it."""
        environment, component = self.name(kind).split("/")
        sls = f"components.{component}.{environment}.workspace"
        with self.lab.salt.acting_as(user):
            return self.lab.run_step(f"operation-{self.end}", f"{kind}-{step}", sls, self.release)["ret"]

    def held(self, kind: str) -> dict | None:
        return self.place.items(self.place.path(self.name(kind)))

    def reveal(self, user: str, kind: str, **more: object):
        with self.lab.salt.acting_as(user):
            return self.lab.salt.call("eos.act", action="reveal", **removed(self.name(kind), "secret", **more))["ret"]

    def forget(self, user: str) -> dict:
        with self.lab.salt.acting_as(user):
            operation = f"operation-{self.end}"
            return self.lab.salt.record("eos.act", kind="secret", action="forget", facts={}, operation=operation)


GENERATED = {"item": "password", "given": False, "generate": 24}
GIVEN = {"item": "password", "given": True, "generate": None}


def copy(components: Components, of: str) -> dict:
    source = {"component": components.name(of).split("/")[1], "item": "password"}
    return {"item": "copied", "given": False, "generate": None, "copy_of": source}


def done(record: object) -> dict:
    assert isinstance(record, dict) and record["status"] == "done", record
    return record


def refused(answer: object, words: str):
    assert isinstance(answer, str) and words in answer, answer


def test_a_persons_token_reads_no_secret_of_a_component(place):
    components = Components(place, application="low", database="medium")
    for kind in components.tiers:
        done(components.write("eos-operator", kind, "write", GENERATED))
        for user in ROLES:
            for ask in (place.items, lambda path, user: place.write(path, {"password": "chosen"}, user)):
                with pytest.raises(urllib.error.HTTPError, match="403"):
                    ask(place.path(components.name(kind)), user)
    place.write(place.apart("eos_users/eos-operator/given/x/y"), {"password": CANARY}, "eos-operator")
    for user in ("eos-user", "eos-architect"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            place.items(place.apart("eos_users/eos-operator/given/x/y"), user)


def test_each_role_writes_and_sees_what_it_reaches(place):
    components = Components(place, application="low", database="medium")
    record = done(components.write("eos-user", "application", "write", GENERATED))
    own = components.held("application")["password"]
    assert len(own) == 24 and own not in json.dumps(record)
    assert record["result"]["secrets"]["written"] == ["password"]
    assert list(record["observed"]["secret"][components.name("application")]["items"]) == ["password"]
    again = done(components.write("eos-user", "application", "again", GENERATED))
    assert again["result"]["secrets"]["written"] == [] and components.held("application") == {"password": own}
    rotated = {**GENERATED, "rotate": True}
    done(components.write("eos-user", "application", "rotate", rotated))
    assert components.held("application")["password"] != own

    refused(components.write("eos-user", "database", "write", GENERATED), "needs approval: ")
    assert components.held("database") is None
    done(components.write("eos-operator", "database", "write", GENERATED))

    shown = components.reveal("eos-user", "application")
    assert place.items(place.apart(shown["path"]), "eos-user") == components.held("application")
    assert shown["items"] == ["password"] and shown["path"].startswith("eos_users/eos-user/revealed/")
    refused(components.reveal("eos-user", "database"), "eos-user may not see the secrets of")
    shown = components.reveal("eos-operator", "database")
    assert place.items(place.apart(shown["path"]), "eos-operator") == components.held("database")


def test_a_copy_counts_as_the_secret_that_it_is_of(place):
    components = Components(place, application="low", database="medium")
    done(components.write("eos-operator", "database", "write", GENERATED))
    refused(components.write("eos-user", "application", "copy", copy(components, "database")), "needs approval: ")
    assert components.held("application") is None
    with place.lab.salt.events() as events:
        record = done(components.write("eos-operator", "application", "copy", copy(components, "database")))
    secret = components.held("database")["password"]
    assert components.held("application") == {"copied": secret}
    assert secret not in json.dumps(record) and not [line for line in events if secret in line]
    # Neither another deployment nor another word of its slice makes it less.
    refused(components.reveal("eos-user", "application"), "eos-user may not see the secrets of")
    refused(components.write("eos-user", "application", "own", GENERATED), "needs approval: ")
    components.deliver("database")
    refused(components.call("eos-user", "remove", "application", "remove"), "needs approval: ")
    done(components.call("eos-operator", "remove", "application", "remove"))
    assert components.held("application") is None
    # What was removed counts no more; what is kept of it does, until it is forgotten.
    components.deliver("application", "database")
    kept = [path for path in place.below("eos_kept") if f"operation-{components.end}/" in path]
    assert len(kept) == 1, kept
    back = {"previous": {"kept": kept[0]}}
    refused(components.call("eos-user", "act", "application", "back", **back), "needs approval: ")
    done(components.write("eos-user", "application", "anew", GENERATED))
    refused(components.call("eos-user", "act", "application", "back", **back), "needs approval: ")
    operations = {"operations": [f"operation-{components.end}"]}
    refused(components.reveal("eos-user", "application", **operations), "eos-user may not see the secrets of")
    assert components.reveal("eos-user", "application")["items"] == ["password"]


def test_a_workspace_is_removed_by_who_reaches_the_secrets_that_it_reads(place):
    components = Components(place, application="low", database="medium")
    done(components.write("eos-operator", "database", "write", GENERATED))
    done(components.write("eos-operator", "application", "copy", copy(components, "database")))
    components.deliver("database")
    with place.lab.salt.acting_as("eos-user"):
        ids = {"operation": f"operation-{components.end}", "step": "destroy"}
        answer = place.lab.salt.call("eos.remove", **ids, **removed(components.name("application")))
    refused(answer["ret"], "needs approval: ")


def test_marks_show_which_values_are_equal_to_those_who_may_know(place):
    components = Components(place, application="low", database="medium")
    done(components.write("eos-operator", "database", "write", GENERATED))
    done(components.write("eos-operator", "application", "copy", copy(components, "database")))
    names = {components.name(kind): None for kind in components.tiers}
    with place.lab.salt.acting_as("eos-operator"):
        seen = place.lab.salt.record("eos.observe", parts={"secret": names})["secret"]
    marks = [seen[components.name(kind)]["items"] for kind in ("database", "application")]
    assert marks[0]["password"] == marks[1]["copied"] and len(marks[0]["password"]) == 64
    with place.lab.salt.acting_as("eos-user"):
        seen = place.lab.salt.record("eos.observe", parts={"secret": names})["secret"]
    assert [seen[components.name(kind)]["items"] for kind in ("database", "application")] == [
        {"password": None},
        {"copied": None},
    ]


def test_a_given_value_goes_where_it_was_meant_for(place):
    components = Components(place, application="low", other="low")
    operation = f"operation-{components.end}"
    nothing = components.write("eos-user", "application", "nothing", GIVEN)
    assert nothing["status"] == "failed" and "no value waits" in nothing["error"]["words"]
    place.give("eos-user", components.name("application"), operation, {"password": CANARY})
    # Of another component, and in the name of another person's operation: it is not theirs to take.
    other = components.write("eos-operator", "other", "other", GIVEN)
    assert other["status"] == "failed" and "no value waits" in other["error"]["words"]
    record = done(components.write("eos-operator", "application", "given", GIVEN))
    assert components.held("application") == {"password": CANARY} and CANARY not in json.dumps(record)
    place.give("eos-architect", components.name("application"), operation, {"password": "another"})
    both = components.write("eos-operator", "application", "both", GIVEN)
    assert both["status"] == "failed" and "Several people gave values" in both["error"]["words"]
    assert components.forget("eos-operator") == {"left": []}
    assert not [path for path in place.below("eos_users") if operation in path]


def test_what_an_operation_overwrote_comes_back_until_it_is_forgotten(place):
    components = Components(place, application="low")
    name, operation = components.name("application"), f"operation-{components.end}"
    place.write(place.path(name), {"password": CANARY})
    done(components.write("eos-operator", "application", "rotate", {**GENERATED, "rotate": True}))
    assert components.held("application")["password"] != CANARY
    with place.lab.salt.acting_as("eos-operator"):
        seen = place.lab.salt.record("eos.observe", parts={"secret": {name: None}}, operation=operation)["secret"][name]
    key = hashlib.sha256(name.encode()).hexdigest()[:32]
    previous = {"version": 1} if place.is_full else {"kept": f"eos_kept/{operation}/{key}"}
    assert seen["kept"] is not place.is_full
    for user in ROLES if not place.is_full else ():
        with pytest.raises(urllib.error.HTTPError, match="403"):
            place.items(place.apart(previous["kept"]), user)
    strange = {"kept": f"eos_kept/{operation}/{'0' * 32}"}
    refused(components.call("eos-user", "act", "application", "strange", previous=strange), "previous")
    # Another user's values stay; an operator ends the operation.
    left = components.forget("eos-user")["left"]
    assert left == ([] if place.is_full else [previous["kept"]])
    done(components.call("eos-user", "act", "application", "back", previous=previous))
    assert components.held("application") == {"password": CANARY}
    done(components.call("eos-user", "act", "application", "nothing", previous="nothing"))
    assert components.held("application") is None
    assert components.forget("eos-operator") == {"left": []}
    assert not [path for path in place.below("eos_kept") if operation in path]


def test_the_pillar_says_which_secrets_there_are(place):
    components = Components(place, application="low")
    refused(components.write("eos-user", "application", "other", {**GENERATED, "item": "other"}), "no secret other")
    refused(components.call("eos-user", "remove", "application", "early"), "still names secrets")
    for items in ([], [{"item": "../x"}], [{**GENERATED, "generate": 10**9}], [{**GENERATED, "value": "x"}], "x"):
        refused(components.call("eos-user", "make", "application", "odd", items=items), "items is not")
    components.deliver()
    refused(components.write("eos-user", "application", "gone", GENERATED), "names no workspace")


def test_who_runs_under_the_name_of_a_component_counts_as_its_secrets(place):
    components = Components(place, application="low", database="medium")
    assert isinstance(components.apply("eos-user", "application", "first"), dict)
    done(components.write("eos-operator", "database", "write", GENERATED))
    done(components.write("eos-operator", "application", "copy", copy(components, "database")))
    refused(components.apply("eos-user", "application", "second"), "medium risk (a secret that it holds)")
    assert isinstance(components.apply("eos-operator", "application", "third"), dict)
    # The slice says less of itself than when the secret was written.
    components.tiers["database"] = "low"
    components.deliver(*components.tiers)
    refused(components.apply("eos-user", "database", "replaced"), "medium risk (a secret that it holds)")
    refused(components.write("eos-user", "database", "rotate", {**GENERATED, "rotate": True}), "needs approval: ")
    # A record that is damaged makes nothing less.
    record = place.lab.salt.cache / "eos/secrets" / f"{components.name('application')}.json"
    record.write_text("")
    refused(components.apply("eos-operator", "application", "damaged"), "high risk (a secret that it holds)")


def test_no_value_passes_through_salt(place):
    components = Components(place, application="low", database="medium")
    operation, given = f"operation-{components.end}", f"{CANARY}-{components.end}-{place.is_full}"
    with place.lab.salt.bus() as events:
        place.give("eos-operator", components.name("database"), operation, {"password": given})
        done(components.write("eos-operator", "database", "given", GIVEN))
        done(components.write("eos-operator", "application", "copy", copy(components, "database"), GENERATED))
        generated = components.held("application")["password"]
        components.reveal("eos-operator", "application", operations=[operation])
        done(components.write("eos-operator", "application", "rotate", {**GENERATED, "rotate": True}))
        refused(components.reveal("eos-user", "database"), "eos-user may not see")
        done(components.call("eos-operator", "act", "database", "gone", previous="nothing"))
        rotated = components.held("application")["password"]
    lines = [json.dumps(event) for event in events]
    assert [line for line in lines if "eos.make" in line] and len({given, generated, rotated}) == 3
    for value in (given, generated, rotated):
        assert not [line for line in lines if value in line]
        # Caches of the master and the minion, records, logs, and what Nomad and Vault have on disk.
        search = ["grep", "-rlaF", value, str(place.lab.directory)]
        assert subprocess.run(search, capture_output=True, text=True).stdout == ""


def test_a_component_that_is_not_there_yet_counts_as_what_it_will_be(place):
    """Whoever chose its password below its tier would know it later."""
    there = golden("hello")["production/hello"]
    secrets = [{"namespace": "production", "path": "of no matter", "items": ["password"]}]
    texts = {path: content.decode() for path, content in there["files"].items()}
    place.lab.releases.deliver({"production/hello": {**there["slice"], "files": texts, "secrets": secrets}})
    assert there["slice"]["risk"] == "low"
    call = {"kind": "secret", "environment": "production", "component": "hello", "facts": {"items": [GENERATED]}}
    operation = f"operation-{next(NUMBERS)}"
    with place.lab.salt.acting_as("eos-user"):
        answer = place.lab.salt.call("eos.make", operation=operation, step="1", **call)["ret"]
    refused(answer, "a program of the host that the settings of the minion do not name")
    assert place.items(place.path("production/hello")) is None


def is_open(path) -> bool:
    """Whether another process has this file open."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        if int(process) == os.getpid():
            continue
        try:
            descriptors = [os.readlink(f"/proc/{process}/fd/{one}") for one in os.listdir(f"/proc/{process}/fd")]
        except OSError:
            continue
        if str(path) in descriptors:
            return True
    return False


@pytest.mark.parametrize("rises", [False, True])
def test_a_secret_that_rises_before_it_is_copied_is_not_copied(place, rises):
    components = Components(place, application="low", database="low")
    done(components.write("eos-user", "database", "write", GENERATED))
    answers = []
    work = lambda: answers.append(components.write("eos-user", "application", "copy", copy(components, "database")))  # noqa: E731
    # The call is judged, and waits for this before it begins its work.
    order = place.lab.salt.cache / "eos/steps/.order.lock"
    with order.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        call = threading.Thread(target=work)
        call.start()
        wait_until("the call is judged", lambda: is_open(order))
        if rises:
            record = place.lab.salt.cache / "eos/secrets" / f"{components.name('database')}.json"
            record.write_text(json.dumps({"tier": "medium", "removed": False}))
            place.write(place.path(components.name("database")), {"password": CANARY})
    call.join()
    (answer,) = answers
    if not rises:
        assert done(answer) and components.held("application")["copied"]
        return
    assert answer["status"] == "failed" and "changed while they were copied" in answer["error"]["words"], answer
    assert components.held("application") is None
    refused(components.write("eos-user", "application", "again", copy(components, "database")), "needs approval: ")


def test_what_nobody_comes_back_for_goes_by_itself(place):
    components = Components(place, application="low")
    name, operation = components.name("application"), f"operation-{components.end}"
    place.write(place.path(name), {"password": CANARY})
    revealed = components.reveal("eos-user", "application")["path"]
    place.give("eos-user", name, operation, {"password": "given"})
    done(components.write("eos-user", "application", "rotate", {**GENERATED, "rotate": True}))
    for _ in range(3):
        assert revealed not in by_hand(place.lab, "eos_secrets.prune")
    assert place.items(place.apart(revealed), "eos-user") == {"password": CANARY}
    assert revealed in by_hand(place.lab, "eos_secrets.prune")
    assert place.items(place.apart(revealed), "eos-user") is None
    # An operation may wait for long.
    waiting = [path for path in [*place.below("eos_users"), *place.below("eos_kept")] if operation in path]
    assert len(waiting) == (1 if place.is_full else 2)
    looks = place.lab.salt.cache / "eos/looks.json"
    looks.write_text(json.dumps({"looks": dict.fromkeys(waiting, 30 * 24 * 12)}))
    assert set(waiting) <= set(by_hand(place.lab, "eos_secrets.prune"))
    assert not [path for path in [*place.below("eos_users"), *place.below("eos_kept")] if operation in path]
    assert not list((place.lab.salt.cache / "eos/kept").glob(f"{operation}/*.json"))


def test_what_a_user_has_waiting_is_bounded_and_pushes_out_nothing(place):
    components = Components(place, application="low")
    place.write(place.path(components.name("application")), {"password": CANARY})
    for number in range(500):
        place.write(place.apart(f"eos_users/eos-user/revealed/{number:032x}"), {"x": "1"})
    refused(components.reveal("eos-user", "application"), "500 values of yours wait")
    assert components.reveal("eos-operator", "application")["items"] == ["password"]
    assert len(place.below("eos_users/eos-user/revealed")) == 500
    for path in place.below("eos_users/eos-user/revealed"):
        method, where = ("DELETE", f"/v1/secret/metadata/{path}") if place.is_full else ("DELETE", place.apart(path))
        (place.lab.vault if place.is_full else place.lab.nomad).call(method, where)
