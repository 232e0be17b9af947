"""The doctor before real engines: all healthy, really broken set-ups, and the commands that fix them."""

import datetime
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from between import between
from estates import PROGRAM, Estate, family

NOBODY = 65534
SALT_WELL = dict.fromkeys(
    ("API", "requests", "doors", "role", "secrets", "minion control", "plans", "pillar", "schedule"), "ok"
)
NOMAD_WELL = dict.fromkeys(("leader", "token", "version", "node control", "hosts", "secrets"), "ok")


def examine(estate: Estate) -> tuple[int, float, dict[tuple[str, str], dict]]:
    """Exit code, seconds, and the findings by area and what."""
    begun = time.monotonic()
    ran = estate.eos("doctor", "--json")
    took = time.monotonic() - begun
    document = json.loads(ran.stdout)
    assert document["version"] == 1 and document["kind"] == "doctor", ran.stderr
    return ran.returncode, took, {(one["area"], one["what"]): one for one in document["findings"]}


def conditions(findings: dict, area: str) -> dict[str, str]:
    return {what: one["condition"] for (of, what), one in findings.items() if of == area}


def all_well(estate: Estate):
    code, _, findings = examine(estate)
    assert code == 0, findings
    assert conditions(findings, "salt") == SALT_WELL, findings
    assert conditions(findings, "terraform") == {"version": "ok", "credential": "ok", "workspaces": "ok"}, findings
    assert set(conditions(findings, "estate").values()) == {"ok"}, findings
    drivers = findings.pop(("nomad", "drivers control"))
    # Docker is not part of every machine.
    assert drivers["condition"] == "ok" or "no docker" in drivers["words"], drivers
    assert conditions(findings, "nomad") == NOMAD_WELL, findings
    assert conditions(findings, "clocks") == {"engines": "ok"}, findings
    assert conditions(findings, "consul") == conditions(findings, "vault") == {}
    return findings


def test_what_works_is_said_and_what_was_killed_is_named(estate):
    findings = all_well(estate)
    assert "mend" not in findings["salt", "API"]

    subprocess.run(["kill", "-9", "--", f"-{estate.pid('nomad')}"], check=True)
    code, took, findings = examine(estate)
    assert code == 3 and took < 10, (code, took)
    broken = [one for one in findings.values() if one["condition"] == "broken"]
    assert [(one["area"], one["what"], one["mend"]) for one in broken] == [("nomad", "leader", "eos lab up")], broken
    # To move secrets the minion needs Nomad.
    assert conditions(findings, "salt") == {what: "ok" for what in SALT_WELL if what != "secrets"}
    shown = estate.eos("doctor")
    assert shown.returncode == 3 and "next: eos lab up" in shown.stderr, shown

    estate.must("lab", "up", timeout=300)
    all_well(estate)


def test_engines_that_hang_cost_a_few_seconds(estate):
    groups = [f"-{estate.pid(engine)}" for engine in ("nomad", "salt-api")]
    subprocess.run(["kill", "-STOP", "--", *groups], check=True)
    try:
        code, took, findings = examine(estate)
    finally:
        subprocess.run(["kill", "-CONT", "--", *groups], check=True)
    assert code == 3 and took < 5, (code, took)
    assert conditions(findings, "nomad") == {"leader": "broken"}, findings
    assert conditions(findings, "salt") == {"API": "broken"}, findings
    estate.wait_until(lambda: examine(estate)[0] == 0, 30, "all well again")


def not_well(estate: Estate, area: str, what: str) -> list[dict]:
    document = json.loads(estate.eos("doctor", "--json").stdout)
    found = [one for one in document["findings"] if (one["area"], one["what"]) == (area, what)]
    return [one for one in found if one["condition"] != "ok"]


def mend(estate: Estate, finding: dict):
    """Gives the very command that the doctor names."""
    command = finding["mend"]
    if command.startswith("eos "):
        return estate.must(*command.split()[1:], "--yes", timeout=300)
    ran = subprocess.run(["sh", "-c", command], cwd=estate.root, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, (command, ran.stdout, ran.stderr)
    return ran


@pytest.fixture(scope="module")
def hello(estate):
    """An estate in which something was done and runs."""
    estate.must("create", "hello", "--yes")
    return estate


def test_an_operation_that_was_killed_is_found_and_mended(hello):
    estate = hello
    locks = estate.root / ".eos/locks/operations"
    running = estate.start("update", "hello", "--greeting", "killed", "--yes")
    estate.wait_until(lambda: locks.is_dir() and list(locks.glob("*.lock")), 60, "the operation has begun")
    operation = next(locks.glob("*.lock")).stem
    assert not_well(estate, "estate", "operations") == [], "it is at work"
    running.send_signal(signal.SIGKILL)
    running.wait(10)
    (finding,) = not_well(estate, "estate", "operations")
    assert finding["condition"] == "broken" and finding["mend"] == f"eos resume {operation[:10]}", finding
    assert estate.eos("doctor").returncode == 3
    mend(estate, finding)
    assert not_well(estate, "estate", "operations") == not_well(estate, "estate", "locks") == []
    assert not list(locks.glob("*.lock")), "an operation that has ended leaves no lock"


def test_a_lock_that_a_killed_process_left_is_found_and_mended(hello):
    estate = hello
    locks = estate.root / ".eos/locks/operations"
    locks.mkdir(parents=True, exist_ok=True)
    (free, held) = (locks / f"01AAAAAAAAAAAAAAAAAAAAAAA{letter}.lock" for letter in "AB")
    free.write_text("{}\n")
    with held.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (finding,) = not_well(estate, "estate", "locks")
        assert finding["condition"] == "limited" and "the lock of an operation" in finding["words"], finding
        # The one that is held is refused to the command; it goes on with the others.
        subprocess.run(["sh", "-c", finding["mend"]], cwd=estate.root, timeout=30)
        assert not free.exists() and held.exists()
    held.unlink()
    assert not_well(estate, "estate", "locks") == []


@pytest.mark.parametrize(
    ("file", "mode", "what"),
    [
        (".eos/lab/secrets/nomad-management-token", 0o644, "secrets"),
        (".eos/store.db", 0o640, "files"),
        ("pillar", 0o777, "files"),
    ],
)
def test_a_file_that_others_may_read_or_change_is_found_and_mended(hello, file, mode, what):
    estate = hello
    path = estate.root / file
    before = path.stat().st_mode & 0o7777
    path.chmod(mode)
    try:
        (finding,) = not_well(estate, "estate", what)
        assert finding["condition"] == "broken" and f"mode {mode:04o}" in finding["words"], finding
        mend(estate, finding)
        assert not_well(estate, "estate", what) == []
    finally:
        path.chmod(before)


def test_a_wrong_password_is_found_and_mended(estate):
    file = Path(estate.endpoints["salt"]["password_file"])
    right = file.read_text()
    file.write_text("not-the-password")
    try:
        (finding,) = not_well(estate, "salt", "API")
        assert finding["condition"] == "broken" and "login of eos-operator" in finding["words"], finding
        assert "not-the-password" not in json.dumps(finding)
        mend(estate, finding)
        assert not_well(estate, "salt", "API") == []
    finally:
        file.write_text(right)
        estate.must("lab", "up", timeout=300)
    assert not_well(estate, "salt", "API") == []


@pytest.mark.parametrize(
    ("part", "without", "what", "words"),
    [
        ("master", ["module_dirs", "master_job_cache"], "requests", "every API user is root"),
        ("master", ["ext_pillar"], "pillar", "does not read what Eos delivers by eos_pillar"),
        ("master", ["file_ignore_regex"], "pillar", "the master's file_ignore_regex let"),
        ("minion", ["disable_returners"], "minion control", "returner rawfile_json"),
        ("minion", ["disable_executors"], "minion control", "executor splay"),
    ],
)
def test_a_salt_on_which_a_request_could_do_more_is_found_and_mended(estate, part, without, what, words):
    file = estate.lab / f"salt/{part}/etc/{part}"
    settings = json.loads(file.read_text())
    salt = json.loads((estate.lab / "lab.json").read_text())["engines"]["salt"]["path"]
    for process in family(estate.pid(f"salt-{part}")):
        os.kill(process, signal.SIGKILL)
    # What is left of a killed minion keeps the next one from starting.
    for left in (estate.lab / f"salt/{part}").glob("*.pid"):
        left.unlink()
    file.write_text(json.dumps({name: value for name, value in settings.items() if name not in without}))
    lax = subprocess.Popen(
        [f"{salt}/salt-{part}", "-c", file.parent], start_new_session=True, stderr=subprocess.DEVNULL
    )
    try:
        found = lambda: [one for one in not_well(estate, "salt", what) if words in one["words"]]  # noqa: E731
        estate.wait_until(found, 90, "the finding")
        (finding,) = found()
        assert finding["condition"] == "broken" and finding["mend"] == "eos lab up", finding
    finally:
        os.killpg(lax.pid, signal.SIGKILL)
        lax.wait()
    mend(estate, finding)
    assert json.loads(file.read_text()) == settings
    assert not_well(estate, "salt", what) == []


def test_an_api_with_more_doors_is_found_and_mended(estate, tmp_path):
    settings = json.loads((estate.lab / "salt/master/etc/master").read_text())
    salt = json.loads((estate.lab / "lab.json").read_text())["engines"]["salt"]["path"]
    lax_settings = {name: value for name, value in settings.items() if name != "module_dirs"}
    (tmp_path / "master").write_text(json.dumps(lax_settings | {"conf_file": str(tmp_path / "master")}))
    for process in family(estate.pid("salt-api")):
        os.kill(process, signal.SIGKILL)
    (estate.lab / "salt/master/api.pid").unlink(missing_ok=True)
    lax = subprocess.Popen([f"{salt}/salt-api", "-c", tmp_path], start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        found = lambda: not_well(estate, "salt", "doors")  # noqa: E731
        estate.wait_until(found, 90, "the finding")
        (finding,) = found()
        assert finding["condition"] == "broken" and "every API user fires events" in finding["words"], finding
    finally:
        os.killpg(lax.pid, signal.SIGKILL)
        lax.wait()
    mend(estate, finding)
    assert not_well(estate, "salt", "doors") == []


def test_a_workspace_of_nobody_is_found_and_mended(estate):
    ghost = estate.lab / "terraform/workspaces/production/ghost"
    (ghost / "state").mkdir(parents=True, mode=0o700)
    (finding,) = not_well(estate, "terraform", "workspaces")
    assert finding["condition"] == "limited" and "production/ghost exists" in finding["words"], finding
    mend(estate, finding)
    assert not ghost.exists()
    assert not_well(estate, "terraform", "workspaces") == []


def test_a_state_lock_is_left_behind_only_if_nobody_holds_it(hello):
    """Terraform's own file of a lock, as a killed run leaves it; the lock itself is the kernel's."""
    estate = hello
    state = estate.lab / "terraform/workspaces/production/hello/state"
    file = state / ".terraform.tfstate.lock.info"
    file.write_text(json.dumps({"ID": "1", "Who": "ada@desk", "Created": "2026-11-16T10:00:00Z"}))
    try:
        with (state / "terraform.tfstate").open("r+") as held:
            fcntl.lockf(held, fcntl.LOCK_EX)
            (finding,) = not_well(estate, "terraform", "locks")
            assert "ada@desk has locked the Terraform state of production/hello since 2026" in finding["words"], finding
        (finding,) = not_well(estate, "terraform", "locks")
        assert "a run that is gone locked the Terraform state of production/hello" in finding["words"], finding
        mend(estate, finding)
        assert not file.exists() and not_well(estate, "terraform", "locks") == []
    finally:
        file.unlink(missing_ok=True)


def test_a_clock_that_is_wrong_is_named(estate):
    """The clock of a real engine here is that of this machine, so what tells the wrong time stands before it."""
    with between(estate, "nomad") as stands:
        assert not_well(estate, "clocks", "Nomad") == []
        stands.ahead = datetime.timedelta(hours=1)
        (finding,) = not_well(estate, "clocks", "Nomad")
        assert "s ahead of this machine" in finding["words"] and finding["mend"], finding


def test_a_token_that_was_revoked_is_found(estate):
    file = Path(estate.endpoints["nomad"]["token_file"])
    right = file.read_text()
    file.write_text("00000000-0000-0000-0000-000000000000")
    try:
        (finding,) = not_well(estate, "nomad", "token")
        assert finding["condition"] == "broken" and finding["mend"].endswith("eos lab up"), finding
    finally:
        file.write_text(right)


def test_a_token_that_reads_the_secrets_of_components_is_found(estate):
    file = Path(estate.endpoints["nomad"]["token_file"])
    right = file.read_text()
    try:
        file.write_text(estate.management_token)
        (finding,) = not_well(estate, "nomad", "secrets")
        assert finding["condition"] == "limited" and "too wide" in finding["words"], finding
        file.write_text(Path(estate.endpoints["nomad"]["other_users"]["eos-user"]).read_text())
        (finding,) = not_well(estate, "nomad", "secrets")
        assert finding["condition"] == "broken" and finding["mend"].endswith("eos lab up"), finding
    finally:
        file.write_text(right)


def test_no_secret_is_shown(estate):
    ran = estate.eos("doctor", "--json")
    files = [file for file in (estate.lab / "secrets").iterdir() if file.is_file()]
    assert files
    for file in files:
        text = file.read_text().strip()
        for secret in json.loads(text).values() if file.suffix == ".json" else [text]:
            assert str(secret) not in ran.stdout + ran.stderr, file


@pytest.fixture(scope="module")
def full(full_estate):
    """With Consul and Vault."""
    full_estate.must("create", "hello", "--yes")
    return full_estate


def test_what_was_left_in_consul_is_found_and_mended(full):
    assert [
        one
        for one in json.loads(full.eos("doctor", "--json").stdout)["findings"]
        if "mend" in one and (one["area"] in ("estate", "consul", "vault", "terraform"))
    ] == []
    # An operation is killed: its session lives on for a while, and with it the lock.
    locks = full.root / ".eos/locks/operations"
    running = full.start("update", "hello", "--greeting", "killed", "--yes")
    key = "/v1/kv/terraform/production/hello/lock"
    full.wait_until(lambda: full.consul(key) and full.consul(key)[0].get("Session"), 60, "the lock is held")
    assert not_well(full, "consul", "locks") == [], "it is at work"
    running.send_signal(signal.SIGKILL)
    running.wait(10)
    operation = next(locks.glob("*.lock")).stem[:10]
    (lock,), (stopped,) = not_well(full, "consul", "locks"), not_well(full, "estate", "operations")
    assert f"operation {operation} holds the lock of production/hello" in lock["words"], lock
    assert lock["mend"] == stopped["mend"] == f"eos resume {operation}"
    mend(full, stopped)
    assert not_well(full, "consul", "locks") == not_well(full, "estate", "operations") == []

    # As a run of Terraform leaves it that was killed: its session is over, the keys are there.
    for name in (".lock", ".lockinfo"):
        full.consul(f"/v1/kv/terraform/production/hello/state/{name}", "PUT", {"ID": "1"})
    (left,) = not_well(full, "terraform", "locks")
    assert left["mend"] == "consul kv delete -recurse terraform/production/hello/state/.lock", left
    full.consul("/v1/kv/terraform/production/hello/state/.lock?recurse=true", "DELETE")
    assert not_well(full, "terraform", "locks") == []

    # The state of a component that nobody has.
    state = {"version": 4, "serial": 1, "lineage": "of-nobody", "outputs": {}, "resources": []}
    full.consul("/v1/kv/terraform/production/ghost/state", "PUT", state)
    (orphan,) = not_well(full, "terraform", "workspaces")
    assert "production/ghost exists" in orphan["words"], orphan
    mend(full, orphan)
    assert full.consul("/v1/kv/terraform/production/ghost/state") is None
    assert not_well(full, "terraform", "workspaces") == []


@pytest.mark.skipif(not PROGRAM, reason="EOS_TEST_PROGRAM is not set")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as somebody else")
def test_an_ordinary_user_is_told_what_that_costs():
    with tempfile.TemporaryDirectory() as home:
        # Where the program was built, others may have no business.
        program = shutil.copy(PROGRAM, home)
        Path(home).chmod(0o755)
        ran = subprocess.run(
            [program, "doctor", "--json"],
            cwd=home,
            env={"PATH": "/usr/bin:/bin", "HOME": home},
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=30,
        )
    findings = {one["what"]: one for one in json.loads(ran.stdout)["findings"]}
    user = findings["user"]
    assert user["condition"] == "limited", ran.stdout
    for cost in ("exec driver", "no mesh", "one address", "Docker"):
        assert cost in user["words"], user
    # Only a Docker that somebody else has started serves an ordinary user.
    assert findings["Docker"]["condition"] == "limited" or "://" in findings["Docker"]["words"]
    assert findings["CNI plugins"]["condition"] in ("ok", "limited")
    assert findings["eos.toml"]["condition"] == "limited"
