"""Root's own calls about one workspace on the control minion: the tools of an administrator without Eos."""

from __future__ import annotations

import json
import subprocess
import time

import pytest

from configurations import job, platform, workspace
from laboratory import MINION, ROLES, wait_until
from test_eject import by_hand, resources

FUNCTIONS = [
    *("apply", "plan", "ensure_infrastructure", "get_terraform_output", "inject_credentials", "detect_drift"),
    *("deploy_nomad_service", "rollback_to_snapshot", "snapshots", "acquire_lock", "release_lock", "sync_states"),
]
ENVIRONMENT = "manual"


@pytest.fixture(scope="module", autouse=True)
def nothing_stays(laboratory):
    yield
    laboratory.releases.deliver({})
    for name in [*(f"{ENVIRONMENT}/{one['ID']}" for one in jobs(laboratory)), f"{ENVIRONMENT}/platform"]:
        destroyed = by_hand(laboratory, "eos_terraform.destroy", *name.split("/"), "end", "by-hand")
        assert destroyed["result"], destroyed


def jobs(lab) -> list[dict]:
    return lab.nomad.call("GET", f"/v1/jobs?namespace={ENVIRONMENT}") or []


def refused(lab, *arguments: str) -> str:
    """The words of a call that fails, and that a shell sees fail."""
    command = [lab.salt.bin / "salt-call", "-c", lab.salt.etc / "minion.d", "--out=json", "--log-level=quiet"]
    command += ["--retcode-passthrough", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert answer.returncode != 0, answer.stdout
    return answer.stdout + answer.stderr


def deployed(lab, component: str, job_of: dict) -> dict:
    names = [f"{ENVIRONMENT}/{one}" for one in ("platform", component)]
    lab.releases.deliver({names[0]: platform(ENVIRONMENT), names[1]: job_of})
    made = by_hand(lab, "eos_terraform.ensure_infrastructure", ENVIRONMENT, "platform", "by-hand", "platform")
    assert made["result"], made
    return by_hand(lab, "eos_terraform.deploy_nomad_service", ENVIRONMENT, component, "by-hand", "deploy")


@pytest.mark.parametrize("role", sorted(ROLES))
def test_no_role_calls_them_over_the_api(laboratory, role):
    functions = [f"eos_terraform.{name}" for name in FUNCTIONS]
    functions += ["eos_orchestrator.status", "eos_orchestrator.require_healthy", "eos_orchestrator.remove"]
    functions += ["eos_health.unhealthy", "eos_sync.verdict", "eos_kind_file.parting"]
    with laboratory.salt.acting_as(role):
        # One that is open, so that it is not the caller who is refused.
        assert laboratory.salt.lowstate(fun="eos.info")[0] == 200
        for function in functions:
            assert laboratory.salt.lowstate(fun=function, arg=["production", "hello"])[0] == 401, function
            assert laboratory.salt.lowstate(fun=function, kwarg={"environment": "production"})[0] == 401, function


def test_the_functions_are_there(laboratory):
    there = by_hand(laboratory, "sys.list_functions", "eos_terraform")
    assert {f"eos_terraform.{name}" for name in FUNCTIONS} <= set(there)


def test_a_service_is_deployed_once_and_proved_by_nomad(laboratory):
    wanted = job(f"{ENVIRONMENT}/served", count=2)
    answer = deployed(laboratory, "served", wanted)
    assert answer["result"] and answer["terraform"]["ran"], answer
    status = by_hand(laboratory, "eos_orchestrator.status")
    assert status[f"{ENVIRONMENT}/served"] == {"applied": True, "unhealthy": None}
    runs = laboratory.runs()
    assert by_hand(laboratory, "eos_terraform.deploy_nomad_service", ENVIRONMENT, "served", "x", "y")["result"]
    assert laboratory.runs() == runs

    # Somebody scales it: Terraform has nothing to do, and the job runs less than it was registered with.
    scale = {"Target": {"Group": "main"}, "Count": 0}
    laboratory.nomad.call("POST", f"/v1/job/served/scale?namespace={ENVIRONMENT}", scale)
    assert by_hand(laboratory, "eos_terraform.detect_drift", ENVIRONMENT, "served")["verdict"] == "differs"


def test_a_service_that_does_not_run_is_no_success(laboratory):
    broken = job(f"{ENVIRONMENT}/broken")
    broken["files"] = {path: text.replace("/bin/sleep", "/bin/false") for path, text in broken["files"].items()}
    started = time.monotonic()
    answer = deployed(laboratory, "broken", broken)
    assert answer["result"] is False and answer["terraform"]["ran"], answer
    error = answer["error"]
    assert (error["layer"], error["object"]) == ("nomad", "job broken") and "of 1 instances of main" in error["words"]
    assert time.monotonic() - started > 60, "an instance that is about to run has a minute"
    assert by_hand(laboratory, "eos_orchestrator.status")[f"{ENVIRONMENT}/broken"]["unhealthy"]
    names = json.dumps([f"{ENVIRONMENT}/broken"])
    assert f"{ENVIRONMENT}/broken: " in refused(laboratory, "eos_orchestrator.require_healthy", f"workspaces={names}")


@pytest.mark.parametrize(
    ("kind", "command", "words"),
    [("batch", "/bin/true", None), ("batch", "/bin/false", "main is failed"), ("system", "/bin/sleep", None)],
)
def test_jobs_of_other_types_are_healthy_in_their_own_way(laboratory, kind, command, words):
    component = f"{kind}-{command.rpartition('/')[2]}"
    name, typed = (
        f"{ENVIRONMENT}/{component}",
        f'  type = "{kind}"\n  group "main" {{\n    restart {{\n      attempts = 0\n',
    )
    typed += '      mode = "fail"\n    }\n'
    typed += "    reschedule {\n      attempts = 0\n    }\n" if kind == "batch" else ""
    made = job(name)
    for path, text in made["files"].items():
        made["files"][path] = text.replace('  group "main" {\n', typed).replace("/bin/sleep", command)
    laboratory.releases.deliver({f"{ENVIRONMENT}/platform": platform(ENVIRONMENT), name: made})
    for one in ("platform", component):
        applied = by_hand(laboratory, "eos_terraform.ensure_infrastructure", ENVIRONMENT, one, "typed", one)
        assert applied["result"], applied

    def has_settled() -> bool:
        found = laboratory.nomad.call("GET", f"/v1/job/{component}/allocations?namespace={ENVIRONMENT}")
        return [one for one in found if one["ClientStatus"] in ("complete", "failed") or kind == "system"] != []

    wait_until("it ended, or runs", has_settled)
    names = json.dumps([name])
    if words is None:
        assert by_hand(laboratory, "eos_orchestrator.require_healthy", f"workspaces={names}") is None
        return
    assert by_hand(laboratory, "eos_orchestrator.status")[name]["unhealthy"] == words


def test_a_workspace_without_a_job_is_no_service(laboratory):
    name = f"{ENVIRONMENT}/nothing"
    laboratory.releases.deliver({name: workspace(name, "x")})
    answer = by_hand(laboratory, "eos_terraform.deploy_nomad_service", ENVIRONMENT, "nothing", "by-hand", "deploy")
    assert answer["result"] is False and "registered no job" in answer["error"]["words"], answer
    by_hand(laboratory, "eos_terraform.destroy", ENVIRONMENT, "nothing", "by-hand", "destroy")


def test_a_snapshot_comes_back_until_the_pillar_is_applied_again(laboratory):
    name, names = "production/again", ("production", "again")
    for greeting in ("first", "second", "third"):
        laboratory.releases.deliver({name: workspace(name, greeting)})
        assert by_hand(laboratory, "eos_terraform.ensure_infrastructure", *names, "by-hand", greeting)["result"]

    def greeting() -> str:
        return by_hand(laboratory, "eos_terraform.get_terraform_output", *names, "greeting")

    kept = by_hand(laboratory, "eos_terraform.snapshots", *names)
    assert list(kept) == ["000002", "000001"]
    words = refused(laboratory, "eos_terraform.rollback_to_snapshot", *names, "000009", "by-hand", "back")
    assert "Snapshot 000009 is not kept; these are: 000002, 000001" in words
    rolled = by_hand(laboratory, "eos_terraform.rollback_to_snapshot", *names, "000001", "by-hand", "back")
    assert rolled["result"] and rolled["terraform"]["ran"], rolled
    assert greeting() == "first"
    # What was there before it is kept as well, and the pillar still says what it said.
    assert list(by_hand(laboratory, "eos_terraform.snapshots", *names))[0] == "000003"
    assert by_hand(laboratory, "eos_orchestrator.status")[name]["applied"] is False
    assert by_hand(laboratory, "eos_terraform.ensure_infrastructure", *names, "by-hand", "on")["result"]
    assert greeting() == "third"

    [edited] = (laboratory.workspace(name) / "snapshots/000002").rglob("terraform.tfvars.json")
    edited.write_text(edited.read_text().replace("second", "forged"))
    words = refused(laboratory, "eos_terraform.rollback_to_snapshot", *names, "000002", "by-hand", "forged")
    assert "Somebody changed terraform/environments/production/again/terraform.tfvars.json of snapshot 000002" in words
    assert greeting() == "third"


def test_drift_of_one_workspace_is_found_and_changes_nothing(laboratory):
    name, names = f"{ENVIRONMENT}/drifting", (ENVIRONMENT, "drifting")
    words = refused(laboratory, "eos_terraform.detect_drift", *names)
    assert f"Workspace {name} was never applied" in words
    assert deployed(laboratory, "drifting", job(name))["result"]
    assert by_hand(laboratory, "eos_terraform.detect_drift", *names)["verdict"] == "in step"
    laboratory.nomad.call("DELETE", f"/v1/job/drifting?namespace={ENVIRONMENT}&purge=true")
    found = by_hand(laboratory, "eos_terraform.detect_drift", *names)
    assert (found["verdict"], [one["actions"] for one in found["resources"]]) == ("differs", [["create"]]), found
    assert all(one["ID"] != "drifting" for one in jobs(laboratory))


def test_credentials_are_tried_and_none_is_shown(laboratory):
    name, names = f"{ENVIRONMENT}/trusted", (ENVIRONMENT, "trusted")
    laboratory.releases.deliver({name: job(name)})
    before = laboratory.nomad.token_names()
    assert by_hand(laboratory, "eos_terraform.inject_credentials", *names) == ["NOMAD_ADDR", "NOMAD_TOKEN"]
    assert laboratory.nomad.token_names() == before, "the token has ended"
    assert resources(laboratory, name) is None
    good = json.loads(laboratory.credentials.read_text())
    wrong = "7d1f5c1e-0000-4000-8000-000000000000"
    try:
        laboratory.write_credentials({"nomad_token": wrong})
        words = refused(laboratory, "eos_terraform.inject_credentials", *names)
        assert "403: Permission denied" in words and wrong not in words, words
    finally:
        laboratory.write_credentials(good)


def test_whoever_holds_the_lock_keeps_others_out(laboratory):
    name, names = "production/locked", ("production", "locked")
    release = laboratory.releases.deliver({name: workspace(name, "x")})
    held = by_hand(laboratory, "eos_terraform.acquire_lock", *names, "eject-me", "minutes=5")
    assert held["operation"] == "eject-me" and MINION in held["who"], held
    # Neither Eos nor another administrator; a scheduled look leaves it alone.
    record = laboratory.run_workspace("lock-1", name, release)
    assert record["status"] == "failed" and "The lock is held by eject-me" in record["error"]["words"], record
    words = refused(laboratory, "eos_terraform.acquire_lock", *names, "eject-you")
    assert "The lock is held by eject-me" in words
    assert "The lock is held by eject-me" in refused(laboratory, "eos_terraform.release_lock", *names, "eject-you")
    assert "an operation holds it" in refused(laboratory, "eos_terraform.detect_drift", *names)
    assert resources(laboratory, name) is None
    applied = by_hand(laboratory, "eos_terraform.ensure_infrastructure", *names, "eject-me", "mine")
    assert applied["result"] and applied["terraform"]["added"] == 1, applied

    assert by_hand(laboratory, "eos_terraform.release_lock", *names, "eject-me") is True
    assert "nobody does" in refused(laboratory, "eos_terraform.release_lock", *names, "eject-me")
    assert laboratory.run_workspace("lock-2", name, release)["status"] == "done"
    words = refused(laboratory, "eos_terraform.acquire_lock", *names, "eject-me", "minutes=0")
    assert "minutes is not a number from 1 to 1440" in words


def test_a_lock_ends_by_itself(laboratory):
    name, names = "production/lapsed", ("production", "lapsed")
    release = laboratory.releases.deliver({name: workspace(name, "x")})
    by_hand(laboratory, "eos_terraform.acquire_lock", *names, "eject-me")
    [file] = (laboratory.salt.cache / "eos/held").glob("production.lapsed.json")
    holder = json.loads(file.read_text())
    file.write_text(json.dumps({**holder, "until": "2020-01-01T00:00:00+00:00"}))
    assert laboratory.run_workspace("lapsed", name, release)["status"] == "done"


def test_a_resource_is_a_requirement_of_an_sls_of_ones_own(laboratory):
    name = "production/required"
    laboratory.releases.deliver({name: workspace(name, "x")})

    def present(address: str, *options: str) -> dict:
        call = ("state.single", "terraform_resource.present", f"name={address}", f"workspace={name}", *options)
        (state,) = by_hand(laboratory, *call).values()
        return state

    address = "module.component.terraform_data.greeting"
    assert present(address, "test=True")["result"] is None
    assert resources(laboratory, name) is None
    made = present(address)
    assert (made["result"], made["changes"]) == (True, {"terraform": {"added": 1}}), made
    again = present(address)
    assert (again["result"], again["changes"]) == (True, {}), again
    missing = present("module.component.terraform_data.other")
    assert missing["result"] is False and "has no module.component.terraform_data.other" in missing["comment"], missing
