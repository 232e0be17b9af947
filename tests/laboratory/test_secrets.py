"""Secrets by role on real engines: a person's token reads no component's secret, and Eos moves them as the role allows."""

import json
import urllib.error
from contextlib import suppress
from pathlib import Path

import pytest
from estates import Estate
from witness import leaks

pytestmark = [pytest.mark.chain]

APPLICATION = """\
recipe: {name}
summary: A page with a key
version: "1"
risk: {risk}
options:
  key: {{type: secret, generate: 24, help: Opens the page}}
{uses}
services:
  page:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{{{ listen_address }}}}"]
    secrets: {{PAGE_KEY: {{file: page.key, text: "{{{{ key }}}}"}}{more}}}
    ports: {{http: {{}}}}
    check: {{http: /health}}
"""
# No line of a message is wrapped.
AS_USER = {"EOS_SALT_USER": "eos-user", "COLUMNS": "400"}
WAITING = 4


@pytest.fixture(scope="module")
def recipes(estate):
    return with_recipes(estate)


@pytest.fixture(scope="module")
def full_recipes(full_estate):
    return with_recipes(full_estate)


def with_recipes(estate: Estate) -> Estate:
    """A page of low risk, a safe of medium risk, and a page of low risk that has a copy of the safe's key."""
    estate.must("home", "take", "--yes")
    estate.write_recipe("page", APPLICATION.format(name="page", risk="low", uses="", more=""))
    estate.write_recipe("safe", APPLICATION.format(name="safe", risk="medium", uses="", more=""))
    uses = "uses:\n  safe: {recipe: safe}"
    more = ', SAFE_KEY: {file: safe.key, text: "{{ safe.key }}"}'
    estate.write_recipe("reader", APPLICATION.format(name="reader", risk="low", uses=uses, more=more))
    return estate


def variable(estate: Estate, component: str) -> dict | None:
    found = estate.nomad(f"/v1/var/nomad/jobs/{component}?namespace=production")
    return found and found["Items"]


def as_person(estate: Estate, user: str, path: str, method: str = "GET", body=None, engine: str = "nomad"):
    endpoint = estate.endpoints[engine]
    file = endpoint["token_file"] if user == estate.endpoints["salt"]["user"] else endpoint["other_users"][user]
    return estate.ask(engine, path, method, body, {f"X-{engine.title()}-Token": Path(file).read_text().strip()})


def refused(estate: Estate, user: str, path: str, method: str = "GET", body=None, engine: str = "nomad") -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        as_person(estate, user, path, method, body, engine)


def test_a_user_keeps_secrets_of_low_risk_without_reading_any_of_them(recipes):
    estate = recipes
    given = "canary-of-the-page-1"
    created = estate.must("create", "page", "--key", "-", "--yes", env=AS_USER, input=given + "\n")
    assert variable(estate, "page") == {"key": given}
    assert given not in created.stdout + created.stderr and leaks(estate, given) == []
    estate.must("rotate", "secret", "page", "key", "--yes", env=AS_USER)
    rotated = variable(estate, "page")["key"]
    assert rotated != given and len(rotated) == 24
    assert estate.must("read", "page", "--reveal", "key", env=AS_USER).stdout == rotated + "\n"
    job = estate.nomad("/v1/job/page?namespace=production")
    index = estate.nomad("/v1/var/nomad/jobs/page?namespace=production")["ModifyIndex"]
    assert job["Meta"]["eos_secret_version"] == str(index)
    estate.must("logs", "page", env=AS_USER)

    here = "/v1/var/nomad/jobs/page?namespace=production"
    for user in ("eos-user", "eos-operator", "eos-architect"):
        refused(estate, user, here)
        refused(estate, user, here, "PUT", {"Path": "nomad/jobs/page", "Items": {"key": "chosen"}})
        refused(estate, user, here, "DELETE")
        refused(estate, user, "/v1/acl/tokens")
    assert variable(estate, "page") == {"key": rotated}
    assert estate.nomad("/v1/vars?namespace=*&prefix=eos_") == []
    estate.must("delete", "page", "--yes", env=AS_USER)
    assert variable(estate, "page") is None and estate.nomad("/v1/vars?namespace=*&prefix=eos_") == []


def test_a_user_neither_sees_nor_changes_what_is_above_the_role(recipes):
    estate = recipes
    estate.must("create", "safe", "--yes")
    key = variable(estate, "safe")["key"]
    hidden = estate.eos("read", "safe", "--reveal", "key", env=AS_USER)
    assert hidden.returncode == 1 and "may not see the secrets of production/safe" in hidden.stderr, hidden.stderr
    assert key not in hidden.stdout + hidden.stderr
    logs = estate.eos("logs", "safe", env=AS_USER)
    assert logs.returncode == 1 and "may not see" in logs.stderr, logs.stderr
    rotated = estate.eos("rotate", "secret", "safe", "key", "--yes", env=AS_USER)
    assert rotated.returncode == WAITING and variable(estate, "safe") == {"key": key}
    operation = estate.json("history")["operations"][0]["id"]
    estate.must("approve", operation, "--as", "eos-operator", "--yes")
    estate.must("resume", operation, env=AS_USER)
    assert variable(estate, "safe")["key"] != key
    refused(estate, "eos-user", "/v1/var/nomad/jobs/safe?namespace=production")
    assert estate.nomad("/v1/vars?namespace=*&prefix=eos_") == []
    estate.must("delete", "safe", "--yes")


def test_what_somebody_gave_is_nobody_elses_to_read(recipes):
    estate = recipes
    given = "canary-of-the-safe-1"
    waits = estate.eos("create", "safe", "--key", "-", "--yes", env=AS_USER, input=given + "\n")
    assert waits.returncode == WAITING, waits.stderr
    operation = estate.json("history")["operations"][0]["id"]
    [staged] = estate.nomad("/v1/vars?namespace=default&prefix=eos_users/")
    for user in ("eos-operator", "eos-architect"):
        refused(estate, user, f"/v1/var/{staged['Path']}?namespace=default")
    estate.must("approve", operation, "--as", "eos-operator", "--yes")
    # An operator goes on with it: the value is the one that the user gave.
    estate.must("resume", operation)
    assert variable(estate, "safe") == {"key": given}
    assert estate.nomad("/v1/vars?namespace=*&prefix=eos_") == []
    estate.must("delete", "safe", "--yes")


def test_a_copy_is_made_by_the_control_minion_and_counts_as_its_source(recipes):
    estate = recipes
    estate.must("create", "reader", "--yes")
    copy = variable(estate, "reader")["safe_key"]
    assert copy == variable(estate, "reader-safe")["key"]
    hidden = estate.eos("read", "reader", "--reveal", "key", env=AS_USER)
    assert hidden.returncode == 1 and "may not see" in hidden.stderr, hidden.stderr
    rotated = estate.eos("rotate", "secret", "reader", "key", "--yes", env=AS_USER)
    assert rotated.returncode == WAITING, rotated.stderr
    operation = estate.json("history")["operations"][0]["id"]
    estate.must("rollback", operation, "--yes")
    estate.must("rotate", "secret", "reader-safe", "--yes")
    assert variable(estate, "reader")["safe_key"] == variable(estate, "reader-safe")["key"] != copy
    assert leaks(estate, copy) == []
    audit = json.dumps(estate.json("audit", "show"))
    assert copy not in audit
    estate.must("delete", "reader", "--yes")
    assert variable(estate, "reader") is None and variable(estate, "reader-safe") is None
    assert estate.nomad("/v1/vars?namespace=*&prefix=eos_") == []


def test_a_failed_operation_puts_the_earlier_value_back(recipes):
    estate = recipes
    estate.must("create", "page", "--yes", env=AS_USER)
    before = variable(estate, "page")
    # Nomad takes the job, and finds no place for it.
    broken = APPLICATION.format(name="page", risk="low", uses="", more="").replace("cpu: 50", "cpu: 900000")
    estate.write_recipe("page", broken)
    try:
        failed = estate.eos("update", "page", "--upgrade", "--key", "-", "--yes", env=AS_USER, input="another-key\n")
        assert failed.returncode == 1 and "rolled back:" in failed.stderr, failed.stderr
    finally:
        estate.write_recipe("page", APPLICATION.format(name="page", risk="low", uses="", more=""))
    assert variable(estate, "page") == before
    assert estate.nomad("/v1/vars?namespace=*&prefix=eos_") == []
    estate.must("delete", "page", "--yes", env=AS_USER)


def entry(estate: Estate, component: str) -> dict | None:
    found = estate.vault(f"/v1/secret/data/production/{component}/app")
    return found and found["data"]["data"]


def apart(estate: Estate) -> list[str]:
    """Places of Vault that belong to no component."""
    listed = estate.vault("/v1/secret/metadata/?list=true") or {"data": {"keys": []}}
    return [name for name in listed["data"]["keys"] if name.startswith("eos_")]


def test_vault_refuses_every_person_the_secrets_of_components(full_recipes):
    estate = full_recipes
    given = "canary-of-the-full-page"
    estate.must("create", "page", "--key", "-", "--yes", env=AS_USER, input=given + "\n")
    estate.must("create", "safe", "--yes")
    key = entry(estate, "safe")["key"]
    assert entry(estate, "page") == {"key": given}
    for path in ("production/page/app", "production/safe/app"):
        for user in ("eos-user", "eos-operator", "eos-architect"):
            refused(estate, user, f"/v1/secret/data/{path}", engine="vault")
            refused(estate, user, f"/v1/secret/data/{path}", "POST", {"data": {"key": "chosen"}}, engine="vault")
            refused(estate, user, f"/v1/secret/data/{path}", "DELETE", engine="vault")
            refused(estate, user, f"/v1/secret/metadata/{path}", "DELETE", engine="vault")
            refused(estate, user, f"/v1/secret/destroy/{path}", "POST", {"versions": [1]}, engine="vault")
            refused(estate, user, "/v1/nomad/creds/eos-platform", engine="vault")
            seen = as_person(estate, user, f"/v1/secret/metadata/{path}", engine="vault")
            assert seen["data"]["current_version"] == 1
    assert entry(estate, "page") == {"key": given} and entry(estate, "safe") == {"key": key}


def test_in_the_full_profile_a_role_sees_and_changes_what_it_covers(full_recipes):
    estate = full_recipes
    given, key = entry(estate, "page")["key"], entry(estate, "safe")["key"]
    assert estate.must("read", "page", "--reveal", "key", env=AS_USER).stdout == given + "\n"
    estate.must("rotate", "secret", "page", "key", "--yes", env=AS_USER)
    hidden = estate.eos("read", "safe", "--reveal", "key", env=AS_USER)
    assert hidden.returncode == 1 and "may not see the secrets of production/safe" in hidden.stderr, hidden.stderr
    rotated = estate.eos("rotate", "secret", "safe", "key", "--yes", env=AS_USER)
    assert rotated.returncode == WAITING and entry(estate, "safe") == {"key": key}, rotated.stderr
    operation = estate.json("history")["operations"][0]["id"]
    estate.must("approve", operation, "--as", "eos-operator", "--yes")
    estate.must("resume", operation, env=AS_USER)
    values = [given, key, entry(estate, "page")["key"], entry(estate, "safe")["key"]]
    assert len(set(values)) == 4
    for value in values:
        assert leaks(estate, value) == []
    for component in ("safe", "page"):
        estate.must("delete", component, "--yes")
        assert entry(estate, component) is None
    assert apart(estate) == []


def twin(estate: Estate, namespace: str) -> str:
    """Runs a job in a namespace under a name that it has in another, too; answers the token that Vault gave its task."""
    task = {
        "Name": "task",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sleep", "args": ["600"]},
        "Vault": {"Env": True, "ChangeMode": "noop"},
        "Resources": {"CPU": 20, "MemoryMB": 32},
    }
    job = {"ID": "twin", "Name": "twin", "Namespace": namespace, "Type": "service", "Datacenters": ["*"]}
    estate.nomad("/v1/jobs", "PUT", {"Job": {**job, "TaskGroups": [{"Name": "group", "Count": 1, "Tasks": [task]}]}})

    def running() -> list[str]:
        found = estate.nomad(f"/v1/job/twin/allocations?namespace={namespace}")
        return [one["ID"] for one in found if one["ClientStatus"] == "running"]

    estate.wait_until(running, 60, f"the job twin in {namespace}")
    (allocation,) = running()
    tokens: list[str] = []

    def find() -> list[str]:
        tokens[:] = [given["VAULT_TOKEN"] for given in environments() if given.get("NOMAD_ALLOC_ID") == allocation]
        return tokens

    estate.wait_until(find, 30, "the task with its token")
    return tokens[0]


def environments() -> list[dict[str, str]]:
    """What every process of this machine was started with."""
    found = []
    for process in Path("/proc").iterdir():
        # One that ended meanwhile has none.
        with suppress(OSError):
            block = (process / "environ").read_text(errors="replace")
            found.append(dict(pair.split("=", 1) for pair in block.split("\0") if "=" in pair))
    return found


def test_jobs_of_one_name_in_two_environments_are_two_in_vault(full_recipes):
    """What Vault keeps of an identity is what its last login said: with one identity, the first would read as the other."""
    estate = full_recipes
    namespaces = ["twin-one", "twin-two"]
    try:
        for namespace in namespaces:
            estate.nomad(f"/v1/namespace/{namespace}", "PUT", {"Name": namespace})
            estate.vault(f"/v1/secret/data/{namespace}/twin/app", "POST", {"data": {"key": f"canary-of-{namespace}"}})
        tokens = {namespace: twin(estate, namespace) for namespace in namespaces}
        seen = {}
        for reader, token in tokens.items():
            for namespace in namespaces:
                try:
                    found = estate.ask(
                        "vault", f"/v1/secret/data/{namespace}/twin/app", "GET", None, {"X-Vault-Token": token}
                    )
                    seen[reader, namespace] = found["data"]["data"]["key"]
                except urllib.error.HTTPError as error:
                    seen[reader, namespace] = error.code
        one, two = namespaces
        assert seen == {
            (one, one): "canary-of-twin-one",
            (one, two): 403,
            (two, one): 403,
            (two, two): "canary-of-twin-two",
        }
    finally:
        for namespace in namespaces:
            estate.nomad(f"/v1/job/twin?namespace={namespace}&purge=true", "DELETE")
            estate.vault(f"/v1/secret/metadata/{namespace}/twin/app", "DELETE")
        estate.wait_until(lambda: all(gone(estate, namespace) for namespace in namespaces), 60, "the jobs to end")
        for namespace in namespaces:
            estate.nomad(f"/v1/namespace/{namespace}", "DELETE")


def gone(estate: Estate, namespace: str) -> bool:
    found = estate.nomad(f"/v1/allocations?namespace={namespace}") or []
    return all(one["ClientStatus"] in ("complete", "failed", "lost") for one in found)
