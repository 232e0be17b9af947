"""Secrets in use: rotated, revealed, read from a .env file. The real servers show which password opens them."""

import json
import os
import secrets
import socket
import subprocess
import time
from pathlib import Path

import pytest
from estates import Estate, no_containers, no_mesh
from witness import leaks


# No line of a message is wrapped.
WIDE = {"COLUMNS": "400"}


def canary() -> str:
    return "canary-" + secrets.token_hex(12)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def variable(estate: Estate, component: str) -> dict:
    return estate.nomad(f"/v1/var/nomad/jobs/{component}?namespace=production")


def address(estate: Estate, component: str, output: str) -> tuple[str, int]:
    host, port = estate.json("read", component)["outputs"][output].split(":")
    return host, int(port)


def redis(estate: Estate, *commands: str) -> list[str]:
    with socket.create_connection(address(estate, "redis", "redis_address"), timeout=10) as stream:
        lines = stream.makefile("rw", newline="\r\n")
        lines.write("".join(f"{command}\r\n" for command in commands))
        lines.flush()
        return [lines.readline().strip() for _ in commands]


def psql(estate: Estate, component: str, account: str, password: str, sql: str) -> tuple[str, str]:
    """What the server answers, and what it says when it refuses."""
    host, port = address(estate, component, "postgres_address")
    program = sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1]
    command = [program, "-h", host, "-p", str(port), "-U", account, account, "-Atc", sql]
    ran = subprocess.run(command, env={**os.environ, "PGPASSWORD": password}, capture_output=True, text=True)
    return ran.stdout.strip(), ran.stderr


def committed(estate: Estate) -> str:
    return subprocess.run(
        ["git", "-C", estate.root, "log", "-p", "--all"], capture_output=True, text=True, errors="replace"
    ).stdout


def task_of(estate: Estate, job: str) -> tuple[str, dict]:
    """The only running allocation of a job, and its task."""
    [allocation] = estate.running(job)
    [task] = allocation["TaskStates"].values()
    return allocation["ID"], task


@pytest.fixture(scope="module")
def estate(with_containers):
    """The estate of the container tests, without what those before these left in it."""
    if with_containers.json("list")["components"]:
        with_containers.must("delete", "--all", "--environment", "production", "--yes")
    return with_containers


def test_redis_takes_the_new_password_alone_and_keeps_its_data(estate, tmp_path):
    first = canary()
    file = tmp_path / "redis.env"
    file.write_text(f"# of the old server\nREDIS_HOST=old.example\nPASSWORD='{first}'\n")
    file.chmod(0o644)
    created = estate.must("create", "redis", "--env-file", str(file), "--yes", env=WIDE)
    assert "can be read by others: its mode is 0644" in created.stderr
    assert ": REDIS_HOST\nhint: Secrets of redis are PASSWORD\n" in created.stderr, created.stderr
    assert variable(estate, "redis")["Items"] == {"password": first}
    pillar = (estate.root / "pillar/infrastructure/production.sls").read_text()
    assert f'words: "eos create redis --env-file {file}"' in pillar, pillar
    assert redis(estate, f"AUTH {first}", "SET kept yes") == ["+OK", "+OK"]
    before, _ = task_of(estate, "redis")

    rotated = estate.must("rotate", "secret", "redis", "password", "--yes", env=WIDE)
    # What is said to be healthy is so with the new password, at once.
    second = variable(estate, "redis")["Items"]["password"]
    assert second != first and len(second) == 32
    assert redis(estate, f"AUTH {first}")[0].startswith("-WRONGPASS")
    assert redis(estate, f"AUTH {second}", "GET kept", "GET kept")[:2] == ["+OK", "$3"]
    after, task = task_of(estate, "redis")
    assert after != before
    meta = estate.nomad("/v1/job/redis?namespace=production")["Meta"]
    assert meta["eos_secret_version"] == str(variable(estate, "redis")["ModifyIndex"])
    assert "point of no return: secret/redis (the old value cannot be recovered)" in rotated.stderr, rotated.stderr

    # Nomad keeps no earlier value: the plan said so, and an undo that would change nothing is refused.
    assert "cannot be undone: Nomad keeps no earlier value of the secret of redis" in rotated.stderr, rotated.stderr
    assert "undo:" not in rotated.stderr, rotated.stderr
    refused = estate.eos("undo", "--yes", env=WIDE)
    assert refused.returncode == 2 and "cannot be undone: Nomad keeps no earlier value" in refused.stderr
    assert variable(estate, "redis")["Items"] == {"password": second}
    unset = estate.eos("update", "redis", "--unset", "password", "--yes", env=WIDE)
    assert unset.returncode == 2 and "eos rotate secret redis password" in unset.stderr, unset.stderr

    # A value that is given; and nothing starts a second time on its own.
    third = canary()
    same = estate.eos("rotate", "secret", "redis", "password", "--to", "-", "--yes", input=second + "\n")
    assert same.returncode == 2 and "already has this value" in same.stderr
    given = estate.must("rotate", "secret", "redis", "password", "--to", "-", "--yes", input=third + "\n")
    assert variable(estate, "redis")["Items"] == {"password": third}
    assert redis(estate, f"AUTH {second}")[0].startswith("-WRONGPASS")
    assert redis(estate, f"AUTH {third}", "EXISTS kept") == ["+OK", ":1"]
    settled, _ = task_of(estate, "redis")
    time.sleep(8)
    again, task = task_of(estate, "redis")
    assert (again, task["Restarts"]) == (settled, 0)

    for value in (first, second, third):
        assert value not in created.stdout + created.stderr + rotated.stdout + rotated.stderr
        assert value not in given.stdout + given.stderr + committed(estate)
        assert leaks(estate, value) == []
    versions = json.dumps(estate.nomad("/v1/job/redis/versions?namespace=production"))
    assert not [value for value in (first, second, third) if value in versions]
    assert estate.nomad("/v1/vars?namespace=*&prefix=eos_") == []
    intent = estate.json("read", "redis")["intent"]
    assert intent["words"] == "eos rotate secret redis password --to ***"
    is_revealed_to_the_one_who_asks(estate, third)
    estate.must("delete", "redis", "--yes")


def test_redis_takes_whatever_a_password_may_be(estate):
    first = canary() + '\'; "$x" \\ `y` #\\x41 päss🔑'
    estate.must("create", "redis", "--password", "-", "--yes", input=first + "\n")
    assert variable(estate, "redis")["Items"] == {"password": first}
    quoted = first.replace("\\", "\\\\").replace('"', '\\"')
    assert redis(estate, f'AUTH "{quoted}"', "SET kept yes") == ["+OK", "+OK"]
    assert leaks(estate, first[:30]) == []
    estate.must("delete", "redis", "--yes")


def is_revealed_to_the_one_who_asks(estate: Estate, held: str) -> None:
    revealed = estate.must("read", "redis", "--reveal", "password")
    assert (revealed.stdout, revealed.stderr) == (held + "\n", "")
    assert estate.json("read", "redis", "--reveal", "password")["revealed"] == held
    unknown = estate.eos("read", "redis", "--reveal", "pasword")
    assert unknown.returncode == 2 and "Did you mean password?" in unknown.stderr
    assert leaks(estate, held) == []
    revealed = [entry for entry in estate.json("audit", "show")["entries"] if entry["action"] == "reveal"]
    assert [entry["object"] for entry in revealed] == ["nomad/jobs/redis password"] * 2


def test_postgres_takes_whatever_a_password_may_be(estate):
    first = canary() + '\'; "$x" \\ `y`'
    estate.must("create", "postgres", "--password", "-", "--yes", input=first + "\n")
    assert psql(estate, "postgres", "app", first, "create table t as select 7 as n") == ("SELECT 1", "")
    second = canary() + "''\\' %s $$"
    estate.must("rotate", "secret", "postgres", "password", "--to", "-", "--yes", input=second + "\n")
    assert psql(estate, "postgres", "app", second, "select n from t") == ("7", "")
    assert "password authentication failed" in psql(estate, "postgres", "app", first, "select 1")[1]
    for value in (first, second):
        assert leaks(estate, value[:30]) == []
    # Killed hard, it comes back with its data and this password.
    allocation, _ = task_of(estate, "postgres")
    container = estate.docker("ps", "-q", "--filter", f"name={allocation}").strip()
    estate.docker("kill", "--signal", "KILL", container)

    def answers() -> bool:
        # It has no address until its service is registered again.
        known = "postgres_address" in (estate.json("read", "postgres")["outputs"] or {})
        return known and psql(estate, "postgres", "app", second, "select n from t")[0] == "7"

    estate.wait_until(answers, 60, "it answers again")
    estate.must("delete", "postgres", "--yes")


def test_those_who_have_a_copy_follow_the_one_whose_secret_it_is(estate):
    estate.must("create", "mattermost", "--port", str(free_port()), "--yes")
    first = variable(estate, "mattermost-database")["Items"]["password"]
    assert variable(estate, "mattermost")["Items"] == {"database_password": first}
    psql(estate, "mattermost-database", "mattermost", first, "create table t as select 7 as n")
    before, _ = task_of(estate, "mattermost")

    copy = estate.eos("rotate", "secret", "mattermost", "database_password", "--yes", env=WIDE)
    assert copy.returncode == 2 and "is a copy of password of mattermost-database" in copy.stderr
    rotated = estate.must("rotate", "secret", "mattermost-database", "--yes")
    second = variable(estate, "mattermost-database")["Items"]["password"]
    assert second != first
    assert psql(estate, "mattermost-database", "mattermost", second, "select n from t") == ("7", "")
    assert "password authentication failed" in psql(estate, "mattermost-database", "mattermost", first, "select 1")[1]
    assert variable(estate, "mattermost")["Items"] == {"database_password": second}
    for job in ("mattermost-database", "mattermost"):
        meta = estate.nomad(f"/v1/job/{job}?namespace=production")["Meta"]
        assert meta["eos_secret_version"] == str(variable(estate, job)["ModifyIndex"])
    after, _ = task_of(estate, "mattermost")
    assert after != before
    container = estate.docker("ps", "-q", "--filter", f"name={after}").strip()
    environment = json.loads(estate.docker("inspect", "--format", "{{json .Config.Env}}", container))
    [source] = [entry for entry in environment if entry.startswith("MM_SQLSETTINGS_DATASOURCE=")]
    assert second in source and first not in source
    for value in (first, second):
        assert value not in rotated.stdout + rotated.stderr + committed(estate)
    estate.must("delete", "mattermost", "--yes")


def test_what_a_program_keeps_to_itself_is_not_rotated(estate):
    estate.must("create", "grafana", "--port", str(free_port()), "--yes")
    before = variable(estate, "grafana")
    refused = estate.eos("rotate", "secret", "grafana", "--yes", env=WIDE)
    assert refused.returncode == 2 and "Grafana takes it at its first start" in refused.stderr
    assert variable(estate, "grafana")["ModifyIndex"] == before["ModifyIndex"]
    estate.must("delete", "grafana", "--yes")


def test_vault_keeps_the_old_value_which_opens_nothing_and_can_be_had_back(full_estate):
    if why := no_containers() or no_mesh():
        pytest.skip(why)
    estate = full_estate

    def entry(version: str = "") -> dict:
        return estate.vault(f"/v1/secret/data/production/redis/app{version}")["data"]

    def runs_with() -> str:
        return estate.nomad("/v1/job/redis?namespace=production")["Meta"]["eos_secret_version"]

    estate.must("create", "redis", "--yes")
    first = entry()["data"]["password"]
    assert redis(estate, f"AUTH {first}", "SET kept yes") == ["+OK", "+OK"]
    rotated = estate.must("rotate", "secret", "redis", "--yes", env=WIDE)
    assert "no point of no return" in rotated.stderr
    assert "Vault keeps the old value as an earlier version" in rotated.stderr
    second = entry()["data"]["password"]
    assert second != first and entry()["metadata"]["version"] == 2 and runs_with() == "2"
    assert redis(estate, f"AUTH {first}")[0].startswith("-WRONGPASS")
    assert redis(estate, f"AUTH {second}", "EXISTS kept") == ["+OK", ":1"]
    assert entry("?version=1")["data"] == {"password": first}
    assert estate.must("read", "redis", "--reveal", "password").stdout == second + "\n"

    operation = estate.json("history")["operations"][0]["id"]
    estate.must("rollback", operation, "--yes")
    assert entry()["data"] == {"password": first} and runs_with() == str(entry()["metadata"]["version"]) == "3"
    assert redis(estate, f"AUTH {second}")[0].startswith("-WRONGPASS")
    assert redis(estate, f"AUTH {first}", "EXISTS kept") == ["+OK", ":1"]
    for value in (first, second):
        assert value not in rotated.stdout + rotated.stderr + committed(estate)
        assert leaks(estate, value) == []
    estate.must("delete", "redis", "--yes")
