"""Workspaces on real engines: called over Salt's API, applied by real Terraform, with tokens of a real Nomad."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import stat
import time
import urllib.error

import pytest

from configurations import held, job_with_volume, platform, provisioned, workspace
from laboratory import MINION, made, removed, required, wait_until


def record_file(lab, operation: str):
    return lab.salt.cache / "eos" / "steps" / operation / "workspace.json"


def test_info_is_what_the_minion_sees_now(laboratory):
    for greeting in ("one", "two"):
        release = laboratory.releases.deliver({"production/info": workspace("production/info", greeting)})
        info = laboratory.salt.record("eos.info")
        assert (info["minion"], info["release"]) == (MINION, release)
    assert len(info["formula"]) == 64
    assert info["version"].startswith("300")


def test_a_workspace_is_applied_once_and_read_back(laboratory):
    name = "production/hello"
    release = laboratory.releases.deliver({name: workspace(name, "good day", hosts=[MINION])})
    with laboratory.salt.events() as events:
        record = laboratory.run_workspace("hello-1", name, release)
    terraform = record["result"]["terraform"]
    assert (record["status"], record["error"]) == ("done", None)
    assert (terraform["ran"], terraform["added"], terraform["changed"], terraform["destroyed"]) == (True, 1, 0, 0)
    assert terraform["outputs"]["greeting"] == "good day"
    assert list(terraform["outputs"]["node_ids"]) == [MINION]
    told = [json.loads(line[len("data: ") :])["data"] for line in events if line.startswith("data: ")]
    told = [event for event in told if event.get("tag") == "eos/hello-1/workspace"]
    assert {event["id"] for event in told} == {MINION}
    assert any("Creation complete" in event["data"]["message"] for event in told), told
    assert stat.S_IMODE(record_file(laboratory, "hello-1").stat().st_mode) == 0o600

    runs = laboratory.runs()
    assert laboratory.run_workspace("hello-1", name, release) == record
    again = laboratory.run_workspace("hello-2", name, release)
    assert (again["status"], again["result"]["terraform"]["ran"]) == ("done", False)
    assert again["result"]["terraform"]["outputs"] == terraform["outputs"]
    assert laboratory.runs() == runs

    seen = laboratory.salt.record("eos.observe", parts={"workspace": [name, "staging/hello"]})["workspace"]
    assert seen["staging/hello"] is None
    assert seen[name]["resources"] == ["module.component.terraform_data.greeting"]
    assert seen[name]["serial"] == terraform["serial"]
    assert len(seen[name]["digest"]) == 64


def test_a_changed_pillar_is_seen_by_the_next_call(laboratory):
    name = "production/changing"
    for number, greeting in enumerate(("first", "second", "third")):
        release = laboratory.releases.deliver({name: workspace(name, greeting)})
        terraform = laboratory.run_workspace(f"changing-{number}", name, release)["result"]["terraform"]
        assert terraform["outputs"]["greeting"] == greeting
        assert (terraform["snapshot_id"] is None) == (number == 0)


def test_a_terraform_state_that_moved_is_applied_again(laboratory):
    name = "production/moved"
    release = laboratory.releases.deliver({name: workspace(name, "still")})
    laboratory.run_workspace("moved-1", name, release)
    state_file = laboratory.workspace(name) / "state" / "terraform.tfstate"
    state = json.loads(state_file.read_text())
    state["serial"] += 1
    state_file.write_text(json.dumps(state))
    assert laboratory.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name]["digest"] is None
    assert laboratory.run_workspace("moved-2", name, release)["result"]["terraform"]["ran"] is True


def test_only_the_last_ten_snapshots_are_kept(laboratory):
    name = "production/many"
    for number in range(13):
        release = laboratory.releases.deliver({name: workspace(name, f"greeting {number}")})
        record = laboratory.run_workspace(f"many-{number}", name, release)
        assert record["status"] == "done"
    kept = sorted(path.name for path in (laboratory.workspace(name) / "snapshots").iterdir())
    assert len(kept) == 10
    assert kept[-1] == record["result"]["terraform"]["snapshot_id"]


def test_another_digest_than_the_served_one_is_refused(laboratory):
    name = "production/stale"
    old = laboratory.releases.deliver({name: workspace(name, "old")})
    laboratory.releases.deliver({name: workspace(name, "new")})
    sls = "components.stale.production.workspace"
    answer = laboratory.run_step("stale", "workspace", sls, old)
    assert answer["retcode"] == 1
    assert laboratory.releases.digest(old, sls) in answer["ret"]
    assert "is refused" in answer["ret"]
    assert laboratory.salt.record("eos.status", operation="stale", step="workspace") == {"status": "unknown"}


def test_what_the_pillar_does_not_name_is_refused(laboratory):
    laboratory.releases.deliver({"production/named": workspace("production/named", "x")})
    common = {"operation": "unnamed", "step": "workspace"}
    sls = "components.other.production.workspace"
    other = laboratory.salt.call("eos.make", **made(sls, "0" * 64), **common)
    assert "names no workspace of production/other" in other["ret"]
    named = laboratory.salt.call("eos.remove", **removed("production/named"), **common)
    assert "still names production/named" in named["ret"]


def test_nothing_is_removed_while_nobody_can_say_what_is_named(laboratory):
    laboratory.releases.deliver({"production/named": workspace("production/named", "x")})
    current = laboratory.releases.srv / "current"
    aside = current.with_name("aside")
    current.rename(aside)
    try:
        ids = {"operation": "blind", "step": "workspace"}
        blind = laboratory.salt.call("eos.remove", **ids, **removed("production/named"))
    finally:
        aside.rename(current)
    assert blind["retcode"] == 1 and "cannot read which release it is served" in blind["ret"], blind
    assert laboratory.salt.record("eos.status", operation="blind", step="workspace") == {"status": "unknown"}


def test_one_step_cannot_be_used_for_two_things(laboratory):
    name = "production/reused"
    release = laboratory.releases.deliver({name: workspace(name, "x")})
    laboratory.run_workspace("reused", name, release)
    sls = "components.x.production.workspace"
    answer = laboratory.salt.call("eos.make", operation="reused", step="workspace", **made(sls, "0" * 64))
    assert "called before with other arguments" in answer["ret"]


def test_a_file_that_is_not_what_the_pillar_says_is_refused(laboratory):
    name = "production/forged"
    forged = workspace(name, "x")
    forged["digests"] = dict.fromkeys(forged["files"], "0" * 64)
    release = laboratory.releases.deliver({name: forged})
    runs = laboratory.runs()
    record = laboratory.run_workspace("forged", name, release)
    assert record["status"] == "failed"
    assert record["error"]["layer"] == "salt"
    assert "terraform/environments/production/forged/main.tf" in record["error"]["object"]
    assert laboratory.runs() == runs


def test_a_missing_secret_fails_first_and_by_name(laboratory):
    name = "production/secretive"
    secret = {"namespace": "default", "path": "nomad/jobs/secretive", "items": ["user", "password"]}
    release = laboratory.releases.deliver({name: workspace(name, "x", secrets=[secret])})
    runs = laboratory.runs()
    record = laboratory.run_workspace("secretive-1", name, release)
    assert (record["status"], record["error"]["layer"]) == ("failed", "nomad")
    assert "nomad/jobs/secretive in namespace default is missing" in record["error"]["words"]
    laboratory.nomad.write_variable("default", "nomad/jobs/secretive", user="u")
    record = laboratory.run_workspace("secretive-2", name, release)
    assert record["error"]["words"].endswith("is missing password")
    assert laboratory.runs() == runs
    laboratory.nomad.write_variable("default", "nomad/jobs/secretive", **{"user": "u", "password": "p"})
    assert laboratory.run_workspace("secretive-2", name, release)["status"] == "done"


def test_an_unknown_host_is_named(laboratory):
    name = "production/nowhere"
    release = laboratory.releases.deliver({name: workspace(name, "x", hosts=["elsewhere"])})
    error = laboratory.run_workspace("nowhere", name, release)["error"]
    assert (error["layer"], error["object"]) == ("nomad", "node elsewhere")


def test_a_credential_others_may_read_is_refused(laboratory):
    name = "production/careless"
    release = laboratory.releases.deliver({name: workspace(name, "x")})
    laboratory.credentials.chmod(0o640)
    try:
        record = laboratory.run_workspace("careless", name, release)
    finally:
        laboratory.credentials.chmod(0o600)
    assert "mode 0640" in record["error"]["words"]
    assert laboratory.run_workspace("careless", name, release)["status"] == "done"


def test_a_failed_apply_applies_the_previous_configuration_again(laboratory):
    name = "production/failing"
    first = laboratory.releases.deliver({name: workspace(name, "good")})
    laboratory.run_workspace("failing-1", name, first)
    # It fails a second after it began, so that the greeting is changed by then: there is something to take back.
    broken = workspace(name, "bad", provisioned("sleep 1; echo no such luck; exit 3"))
    second = laboratory.releases.deliver({name: broken})
    record = laboratory.run_workspace("failing-2", name, second)
    terraform = record["result"]["terraform"]
    assert record["status"] == "failed"
    assert (record["error"]["layer"], record["error"]["object"]) == (
        "terraform",
        "module.component.terraform_data.provisioned",
    )
    assert "no such luck" in record["error"]["words"]
    assert terraform["changed"] == 1
    assert terraform["rollback_attempted"] is True
    assert terraform["rollback_result"]["result"] is True
    assert terraform["snapshot_id"]
    assert terraform["outputs"]["greeting"] == "good"

    seen = laboratory.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name]
    assert seen["resources"] == ["module.component.terraform_data.greeting"]
    assert seen["outputs"]["greeting"] == "good"
    assert laboratory.releases.deliver({name: workspace(name, "good")}) == first
    assert laboratory.run_workspace("failing-3", name, first)["result"]["terraform"]["ran"] is False


def test_a_failed_first_apply_has_nothing_to_go_back_to(laboratory):
    name = "production/stillborn"
    release = laboratory.releases.deliver({name: workspace(name, "x", provisioned("exit 3"))})
    record = laboratory.run_workspace("stillborn-1", name, release)
    terraform = record["result"]["terraform"]
    assert record["status"] == "failed"
    assert (terraform["snapshot_id"], terraform["rollback_attempted"]) == (None, False)
    seen = laboratory.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name]
    assert seen["digest"] is None
    assert len(seen["resources"]) == 2
    laboratory.releases.deliver({})
    record = remove(laboratory, "stillborn-2", name)
    assert record["status"] == "done", record
    assert not laboratory.workspace(name).exists()


def remove(lab, operation: str, name: str) -> dict:
    return lab.salt.record("eos.remove", operation=operation, step="workspace", **removed(name))


def test_a_workspace_no_longer_named_is_removed(laboratory):
    name = "production/leaving"
    release = laboratory.releases.deliver({name: workspace(name, "x")})
    laboratory.run_workspace("leaving-1", name, release)
    laboratory.releases.deliver({})
    record = remove(laboratory, "leaving-2", name)
    assert record["status"] == "done"
    assert record["result"]["terraform"]["destroyed"] == 1
    assert laboratory.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name] is None
    again = remove(laboratory, "leaving-3", name)
    assert (again["status"], again["result"]["terraform"]["ran"]) == ("done", False)


def start_held(lab, executor, operation: str, name: str, **slice_fields: str):
    """Starts a step that lasts until `lab.hold` is removed; answers its future and the record while it runs."""
    lab.hold.touch()
    release = lab.releases.deliver({name: workspace(name, "x", held(lab.hold), **slice_fields)})
    future = executor.submit(lab.run_workspace, operation, name, release)
    wait_until("the apply", lambda: "provisioned" in state_of(lab, name) or applying(lab, name))
    return release, future, json.loads(record_file(lab, operation).read_text())


def applying(lab, name: str) -> bool:
    return (lab.workspace(name) / "state" / ".terraform.tfstate.lock.info").exists() and lab.runs()[-1] == "apply"


def state_of(lab, name: str) -> str:
    path = lab.workspace(name) / "state" / "terraform.tfstate"
    return path.read_text() if path.exists() else ""


def test_a_second_identical_call_waits_for_the_first(laboratory):
    name = "production/twice"
    with concurrent.futures.ThreadPoolExecutor() as executor:
        release, first, running = start_held(laboratory, executor, "twice", name)
        runs = laboratory.runs()
        status = laboratory.salt.record("eos.status", operation="twice", step="workspace")
        assert status["status"] == running["status"] == "running"
        second = executor.submit(laboratory.run_workspace, "twice", name, release)
        time.sleep(2)
        assert not second.done()
        laboratory.hold.unlink()
        assert first.result() == second.result()
    assert first.result()["status"] == "done"
    assert laboratory.runs() == runs


def test_workspaces_are_applied_at_the_same_time(laboratory):
    held_up, quick = "production/held-up", "production/quick"
    with concurrent.futures.ThreadPoolExecutor() as executor:
        _, first, _ = start_held(laboratory, executor, "held-up", held_up)
        # Another operation delivers what it wants, and is done while the first is still at work.
        release = laboratory.releases.deliver({quick: workspace(quick, "x")})
        second = laboratory.run_workspace("quick", quick, release)
        assert second["status"] == "done", second
        assert not first.done()
        laboratory.hold.unlink()
        first = first.result()
    assert first["status"] == "done", first
    assert first["started"] < second["started"] < second["ended"] < first["ended"]


def test_only_what_changed_is_fetched(laboratory):
    name, operations = "production/fetched", iter(range(3))

    def fetched_by(greeting: str) -> set[str]:
        shutil.rmtree(laboratory.salt.cache / "files", ignore_errors=True)
        release = laboratory.releases.deliver({name: workspace(name, greeting)})
        record = laboratory.run_workspace(f"fetched-{next(operations)}", name, release)
        assert (record["status"], record["result"]["terraform"]["ran"]) == ("done", True), record
        return {path.name for path in (laboratory.salt.cache / "files").rglob("*.tf*")}

    assert fetched_by("one") == {"main.tf", "terraform.tfvars.json"}
    assert fetched_by("two") == {"terraform.tfvars.json"}
    # A tree that somebody changed is no source.
    next((laboratory.workspace(name) / "tree" / "modules").rglob("main.tf")).write_text("changed")
    assert fetched_by("three") == {"main.tf", "terraform.tfvars.json"}


def test_a_killed_step_is_interrupted_and_runs_again(laboratory):
    name = "production/killed"
    with concurrent.futures.ThreadPoolExecutor() as executor:
        release, future, running = start_held(laboratory, executor, "killed", name)
        os.kill(running["process"]["pid"], signal.SIGKILL)
        status = wait_until(
            "the interruption",
            lambda: (
                (s := laboratory.salt.record("eos.status", operation="killed", step="workspace"))["status"]
                == "interrupted"
                and s
            ),
        )
        assert status["error"]["words"]
        wait_until("the end of the orphaned child", lambda: not applying(laboratory, name))
        laboratory.hold.unlink()
        record = laboratory.run_workspace("killed", name, release)
        assert (record["status"], record["result"]["terraform"]["ran"]) == ("done", True), record
        future.cancel()
        concurrent.futures.wait([future], 120)
    assert not list(laboratory.workspace(name).glob("*.tfplan"))


def test_a_running_step_is_stopped_by_whoever_may_run_it(laboratory):
    name, ids = "production/stopped", {"operation": "stopped", "step": "workspace"}
    with concurrent.futures.ThreadPoolExecutor() as executor:
        release, future, running = start_held(laboratory, executor, "stopped", name, risk="medium")
        with laboratory.salt.acting_as("eos-user"):
            refused = laboratory.salt.call("eos.stop", **ids)
        assert refused["retcode"] == 1 and "needs approval: step workspace" in refused["ret"], refused
        assert laboratory.salt.record("eos.status", **ids)["status"] == "running"
        record = laboratory.salt.record("eos.stop", **ids)
        assert (record["status"], record["stopped_by"]) == ("interrupted", "eos-operator"), record
        assert "eos-operator stopped the step: Asked to stop" in record["error"]["words"], record
        assert not os.path.exists(f"/proc/{running['process']['pid']}") and not applying(laboratory, name)
        assert future.result()["status"] == "interrupted"
        # Terraform saved what it had made.
        assert "greeting" in state_of(laboratory, name)
        laboratory.hold.unlink()
        assert laboratory.run_workspace("stopped", name, release)["status"] == "done"


def test_a_terraform_that_hangs_is_ended(laboratory):
    name, ids = "production/hung", {"operation": "hung", "step": "workspace"}
    with concurrent.futures.ThreadPoolExecutor() as executor:
        release, future, running = start_held(laboratory, executor, "hung", name)
        pid = running["process"]["pid"]
        (child,) = map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        # It hears no interrupt.
        os.kill(child, signal.SIGSTOP)
        began = time.monotonic()
        record = laboratory.salt.record("eos.stop", **ids)
        assert (record["status"], record["stopped_by"]) == ("interrupted", "eos-operator"), record
        assert time.monotonic() - began >= 60
        assert not os.path.exists(f"/proc/{child}")
        # A minion may take a moment to notice the end of its own child.
        wait_until("the end of the process", lambda: not os.path.exists(f"/proc/{pid}"), 10)
        laboratory.hold.unlink()
        assert laboratory.run_workspace("hung", name, release)["status"] == "done"
        concurrent.futures.wait([future], 120)


def test_a_terminated_step_stops_terraform_and_revokes_its_token(laboratory):
    name = "production/terminated"
    with concurrent.futures.ThreadPoolExecutor() as executor:
        release, future, running = start_held(laboratory, executor, "terminated", name)
        assert "eos production/terminated" in laboratory.nomad.token_names()
        os.kill(running["process"]["pid"], signal.SIGTERM)
        record = future.result()
        assert record["status"] == "interrupted", record
        assert "Asked to stop" in record["error"]["words"]
        assert "eos production/terminated" not in laboratory.nomad.token_names()
        assert not list(laboratory.workspace(name).glob("*.tfplan"))
        laboratory.hold.unlink()
        assert laboratory.run_workspace("terminated", name, release)["status"] == "done"


def test_the_child_gets_a_short_lived_token_and_nothing_of_our_environment(laboratory):
    name = "production/tokens"
    release = laboratory.releases.deliver({name: workspace(name, "x")})
    laboratory.tokens_file.unlink(missing_ok=True)
    laboratory.run_workspace("tokens-1", name, release)
    (token,) = set(laboratory.tokens_file.read_text().split())
    assert token != laboratory.nomad.token
    with pytest.raises(urllib.error.HTTPError, match="403"):
        laboratory.nomad.call("GET", "/v1/acl/token/self", token=token)
    assert f"eos {name}" not in laboratory.nomad.token_names()
    expected = {"CHECKPOINT_DISABLE", "HOME", "NOMAD_ADDR", "NOMAD_TOKEN", "PATH", "PWD", "TF_CLI_CONFIG_FILE"}
    expected |= {"TF_DATA_DIR", "TF_INPUT", "TF_IN_AUTOMATION", "TF_VAR_node_ids", "TF_VAR_registered"}
    assert set(laboratory.environment_file.read_text().split()) - {"_", "OLDPWD", "SHLVL"} == expected


def test_volumes_are_made_and_read_back(laboratory):
    path = str(laboratory.directory / "volumes" / "grafana")
    user, group = ("472", "472") if os.getuid() == 0 else (str(os.getuid()), str(os.getgid()))
    owner = {"user": user, "group": group, "mode": "0750"}
    release = laboratory.releases.deliver({}, volumes={"production/grafana/data": {"path": path, **owner}})
    seen = laboratory.salt.record("eos.observe", parts={"volume": [path]})["volume"][path]
    absent = dict.fromkeys(("user", "group", "mode", "names", "mounted"))
    assert seen == {"exists": False, **absent}
    sls = "components.grafana.production.volumes"
    record = laboratory.run_step("volumes", "v", sls, release)["ret"]
    assert (record["status"], record["result"]["terraform"]) == ("done", None), record
    assert record["result"]["states"][0]["id"] == "production/grafana/data"
    seen = laboratory.salt.record("eos.observe", parts={"volume": [path]})["volume"][path]
    assert seen.pop("names").count(":") == 1
    assert seen == {"exists": True, **owner, "mounted": None}


def test_a_state_that_fails_is_told_in_salts_words(laboratory):
    blocker = laboratory.directory / "not-a-directory"
    blocker.write_text("")
    volume = {"path": f"{blocker}/data", "user": "0", "group": "0", "mode": "0750"}
    release = laboratory.releases.deliver({}, volumes={"production/blocked/data": volume})
    sls = "components.blocked.production.volumes"
    answer = laboratory.run_step("blocked", "v", sls, release)
    assert answer["retcode"] == 2
    assert answer["ret"]["status"] == "failed"
    error = answer["ret"]["error"]
    assert (error["layer"], error["object"]) == ("salt", "volume production/blocked/data")


def test_the_policy_suffices_for_a_job_with_a_volume_and_a_secret(laboratory):
    required("EOS_TEST_PROVIDER")
    shared, name = "provided/platform", "provided/sleeper"
    both = {shared: platform("provided"), name: job_with_volume(name, MINION, laboratory.directory)}
    release = laboratory.releases.deliver(both)
    made = laboratory.run_workspace("provided-1", shared, release)
    assert made["status"] == "done", made
    laboratory.nomad.write_variable("provided", "nomad/jobs/sleeper", password="provided-password")
    record = laboratory.run_workspace("provided-2", name, release)
    assert record["status"] == "done", record
    assert record["result"]["terraform"]["added"] == 2
    assert laboratory.nomad.call("GET", "/v1/job/sleeper?namespace=provided")["Status"] == "running"

    # At its digest a workspace costs no Terraform run, unless its job is gone.
    again = laboratory.run_workspace("provided-again", name, release)
    assert again["result"]["terraform"]["ran"] is False, again
    laboratory.nomad.call("DELETE", "/v1/job/sleeper?namespace=provided&purge=true")
    mended = laboratory.run_workspace("provided-mended", name, release)
    assert (mended["status"], mended["result"]["terraform"]["added"]) == ("done", 1), mended
    assert laboratory.nomad.call("GET", "/v1/job/sleeper?namespace=provided")["Status"] == "running"

    laboratory.releases.deliver({shared: both[shared]})
    removed = remove(laboratory, "provided-3", name)
    assert removed["result"]["terraform"]["destroyed"] == 2, removed
    with pytest.raises(urllib.error.HTTPError, match="404"):
        laboratory.nomad.call("GET", "/v1/job/sleeper?namespace=provided")
    assert laboratory.nomad.call("GET", "/v1/volumes?type=host&namespace=provided") == []


def test_a_client_token_cannot_do_what_needs_management(laboratory):
    required("EOS_TEST_PROVIDER")
    name = "forbidden/platform"
    release = laboratory.releases.deliver({name: {**platform("forbidden"), "token": "client"}})
    error = laboratory.run_workspace("forbidden", name, release)["error"]
    assert (error["layer"], error["object"]) == ("nomad", "nomad_namespace.this")
    assert "Permission denied" in error["words"]


def test_terraform_is_initialised_only_when_it_has_to_be(laboratory):
    required("EOS_TEST_PROVIDER")
    name = "initialised/platform"

    def commands(operation: str, description: str) -> list[str]:
        wanted = platform("initialised")
        files = {
            path: text.replace("  name", f'  description = "{description}"\n  name')
            for path, text in wanted["files"].items()
        }
        before = len(laboratory.runs())
        release = laboratory.releases.deliver({name: {**wanted, "files": files}})
        record = laboratory.run_workspace(operation, name, release)
        assert record["status"] == "done", record["error"]
        assert laboratory.nomad.call("GET", "/v1/namespace/initialised")["Description"] == description
        return laboratory.runs()[before:]

    assert commands("initialised-1", "first") == ["init", "plan", "apply"]
    assert commands("initialised-2", "second") == ["plan", "apply"]
    # Another program under the same version has another checksum than the one that was written down.
    provider = next((laboratory.directory / "mirror").rglob("terraform-provider-nomad_*"))

    def renew() -> None:
        renewed = provider.read_bytes() + b"\0"
        provider.unlink()
        provider.write_bytes(renewed)
        provider.chmod(0o755)

    def commands_of_removal(operation: str) -> list[str]:
        laboratory.releases.deliver({})
        before = len(laboratory.runs())
        terraform = remove(laboratory, operation, name)["result"]["terraform"]
        assert terraform["destroyed"] == 1 and not laboratory.workspace(name).exists(), terraform
        assert "initialised" not in [one["Name"] for one in laboratory.nomad.call("GET", "/v1/namespaces")]
        return laboratory.runs()[before:]

    renew()
    assert commands("initialised-3", "third") == ["plan", "init", "plan", "apply"]
    assert commands("initialised-4", "fourth") == ["plan", "apply"]
    shutil.rmtree(laboratory.workspace(name) / "data")
    assert commands("initialised-5", "fifth") == ["init", "plan", "apply"]
    assert commands_of_removal("initialised-6") == ["apply"]
    assert commands("initialised-7", "seventh") == ["init", "plan", "apply"]
    renew()
    assert commands_of_removal("initialised-8") == ["apply", "init", "apply"]


def test_a_configuration_without_backend_keeps_its_state_where_the_workspace_has_it(laboratory):
    name = "production/forgetful"
    forgetful = workspace(name, "x")
    files = {path: text.replace('backend "local" {}', "") for path, text in forgetful["files"].items()}
    release = laboratory.releases.deliver({name: {"files": files}})
    assert laboratory.run_workspace("forgetful", name, release)["status"] == "done"
    assert (laboratory.workspace(name) / "state/terraform.tfstate").stat().st_size
    # In the tree the next run would replace it.
    assert not [*(laboratory.workspace(name) / "tree").rglob("*.tfstate")]


def test_no_secret_value_and_no_token_is_left_anywhere(laboratory):
    canary = "canary-5e1f0e3c-never-to-be-seen"
    name = "production/canary"
    secret = {"namespace": "default", "path": "nomad/jobs/canary", "items": ["password"]}
    laboratory.nomad.write_variable("default", "nomad/jobs/canary", password=canary)
    laboratory.tokens_file.unlink(missing_ok=True)
    with laboratory.salt.events() as events:
        good = laboratory.releases.deliver({name: workspace(name, "x", secrets=[secret])})
        assert laboratory.run_workspace("canary-1", name, good)["status"] == "done"
        secret = {**secret, "items": ["password", "absent"]}
        short = laboratory.releases.deliver({name: workspace(name, "y", secrets=[secret])})
        assert laboratory.run_workspace("canary-2", name, short)["status"] == "failed"
    assert any("eos/canary-1/workspace" in line for line in events)
    forbidden = [canary, laboratory.nomad.token, *set(laboratory.tokens_file.read_text().split())]
    for value in forbidden:
        assert value not in "\n".join(events)
    meant = {laboratory.credentials, laboratory.tokens_file}
    for path in laboratory.directory.rglob("*"):
        if path.is_file() and path not in meant and laboratory.directory / "nomad" not in path.parents:
            content = path.read_bytes()
            assert not [value for value in forbidden if value.encode() in content], path
