"""The full profile on real engines: tokens leased by Vault, the Terraform state and the locks in Consul."""

from __future__ import annotations

import concurrent.futures
import json
import os
import re
import signal
import time
import urllib.error

import pytest

from configurations import held, of_full, platform, provisioned, workspace
from laboratory import MINION, required, wait_until
from test_by_hand import refused
from test_eject import by_hand, state_by_hand
from test_inspect import sync
from test_workspaces import record_file, remove


def deliver(full, name: str, greeting: str, more: str = "", **slice_fields: object) -> str:
    return full.releases.deliver({name: of_full(workspace(name, greeting, more, **slice_fields))})


def secret_of(name: str) -> dict:
    return {"namespace": name.split("/")[0], "path": f"{name}/app", "items": ["password"]}


def observed(full, name: str) -> dict | None:
    return full.salt.record("eos.observe", parts={"workspace": [name]})["workspace"][name]


def remove_locked(full, operation: str, name: str) -> dict:
    full.releases.deliver({})
    with full.consul.locked(name, operation):
        return remove(full, operation, name)


@pytest.fixture
def alone(full):
    """Tokens as they are before the test, and must be after it: those of the engines themselves."""
    full.tokens_file.unlink(missing_ok=True)
    before = full.vault.tokens(), set(full.nomad.token_names()), consul_tokens(full)
    yield
    # A login ends at once, what was leased with it a moment later.
    assert full.vault.tokens() == before[0]
    wait_until("the end of all leases", lambda: (set(full.nomad.token_names()), consul_tokens(full)) == before[1:])
    for token in given_tokens(full):
        for engine, path in ((full.nomad, "/v1/acl/token/self"), (full.consul, "/v1/acl/token/self")):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                engine.call("GET", path, token=token)


def consul_tokens(full) -> set[str]:
    return {token["AccessorID"] for token in full.consul.call("GET", "/v1/acl/tokens")}


def given_tokens(full) -> set[str]:
    """The tokens Terraform was given since they were last forgotten."""
    return set(full.tokens_file.read_text().split()) if full.tokens_file.exists() else set()


def test_a_workspace_is_applied_once_and_its_state_is_in_consul(full, alone):
    name = "production/hello"
    release = deliver(full, name, "good day", hosts=[MINION])
    record = full.run_locked("hello-1", name, release)
    terraform = record["result"]["terraform"]
    assert (record["status"], terraform["added"]) == ("done", 1), record
    assert terraform["outputs"]["greeting"] == "good day"
    assert list(terraform["outputs"]["node_ids"]) == [MINION]
    assert len(given_tokens(full)) == 2
    expected = {"CHECKPOINT_DISABLE", "HOME", "NOMAD_ADDR", "NOMAD_TOKEN", "PATH", "PWD", "TF_CLI_CONFIG_FILE"}
    expected |= {"TF_DATA_DIR", "TF_INPUT", "TF_IN_AUTOMATION", "TF_VAR_node_ids", "TF_VAR_registered"}
    expected |= {"CONSUL_HTTP_ADDR", "CONSUL_HTTP_TOKEN"}
    assert set(full.environment_file.read_text().split()) - {"_", "OLDPWD", "SHLVL"} == expected

    state = full.consul.value(f"terraform/{name}/state")
    assert state["serial"] == terraform["serial"]
    assert [path for path in full.root.rglob("*") if path.is_file() and state["lineage"] in path.read_text()] == [
        full.workspace(name) / "applied.json"
    ]
    runs = full.runs()
    # A workspace that is so already needs no lock, because nothing is applied.
    again = full.run_workspace("hello-2", name, release)
    assert (again["status"], again["result"]["terraform"]["ran"]) == ("done", False), again
    assert again["result"]["terraform"]["outputs"] == terraform["outputs"]
    assert full.runs() == runs


def test_many_workspaces_are_observed_with_one_login(full, alone):
    name = "production/seen"
    assert full.run_locked("seen", name, deliver(full, name, "x"))["status"] == "done"
    logins = full.vault.logins()
    names = [name, *(f"production/unseen-{number}" for number in range(20))]
    seen = full.salt.record("eos.observe", parts={"workspace": names})["workspace"]
    assert full.vault.logins() == logins + 1
    assert seen[name]["resources"] == ["module.component.terraform_data.greeting"]
    assert len(seen[name]["digest"]) == 64
    assert {seen[other] for other in names[1:]} == {None}


def test_volumes_are_observed_without_a_login(full):
    logins = full.vault.logins()
    assert full.salt.record("eos.observe", parts={"volume": ["/nowhere"]})["volume"]["/nowhere"]["exists"] is False
    assert full.vault.logins() == logins


def test_a_terraform_state_that_moved_is_applied_again(full, alone):
    name = "production/moved"
    release = deliver(full, name, "still")
    full.run_locked("moved-1", name, release)
    state = full.consul.value(f"terraform/{name}/state")
    full.consul.call("PUT", f"/v1/kv/terraform/{name}/state", {**state, "serial": state["serial"] + 1})
    assert observed(full, name)["digest"] is None
    assert full.run_locked("moved-2", name, release)["result"]["terraform"]["ran"] is True


def test_a_terraform_state_too_large_for_one_key_is_read(full, alone):
    name = "production/large"
    release = deliver(full, name, "x" * 600_000)
    record = full.run_locked("large-1", name, release)
    assert record["status"] == "done", record["error"]
    assert len([key for key in full.consul.keys(f"terraform/{name}/state") if "/tfstate." in key]) > 1
    assert observed(full, name)["outputs"]["greeting"] == "x" * 600_000
    assert full.run_workspace("large-2", name, release)["result"]["terraform"]["ran"] is False
    removed = remove_locked(full, "large-3", name)
    assert removed["status"] == "done", removed
    assert full.consul.keys(f"terraform/{name}/") == [f"terraform/{name}/lock"]


def test_a_new_version_of_a_secret_is_applied(full, alone):
    name = "production/rotated"
    release = deliver(full, name, "x", secrets=[secret_of(name)])
    runs = full.runs()
    missing = full.run_locked("rotated-0", name, release)["error"]
    assert (missing["layer"], missing["object"]) == ("vault", f"secret/{name}/app")
    assert missing["words"] == f"Secret secret/{name}/app is missing: it needs password"
    assert full.runs() == runs

    for version in (1, 2):
        assert full.vault.write_secret(f"{name}/app", password=f"value {version}") == version
        record = full.run_locked(f"rotated-{version}", name, release)
        assert record["status"] == "done", record
        assert record["result"]["terraform"]["outputs"]["secret_version"] == version
        assert observed(full, name)["secret_version"] == version
        runs = full.runs()
        same = full.run_workspace(f"rotated-same-{version}", name, release)
        assert (same["status"], same["result"]["terraform"]["ran"]) == ("done", False), same
        assert full.runs() == runs

    full.vault.call("DELETE", f"/v1/secret/data/{name}/app")
    deleted = full.run_locked("rotated-3", name, release)["error"]
    assert "is deleted in its current version 2" in deleted["words"]
    assert full.runs() == runs


def test_the_control_minion_moves_secrets_and_gives_nobody_rights(full):
    full.vault.write_secret("production/opaque/app", password="x")
    login = full.vault.call("POST", "/v1/auth/approle/login", full.vault.credential(), token="")
    token = login["auth"]["client_token"]
    found = full.vault.call("GET", "/v1/secret/data/production/opaque/app", token=token)
    assert found["data"]["data"] == {"password": "x"}
    for method, path, body in (
        ("PUT", "/v1/sys/policies/acl/eos-control", {"policy": 'path "*" { capabilities = ["sudo"] }'}),
        ("POST", "/v1/auth/token/create", {}),
        ("POST", "/v1/secret/destroy/production/opaque/app", {"versions": [1]}),
        ("POST", "/v1/auth/approle/role/eos-control/secret-id", {}),
    ):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            full.vault.call(method, path, body, token=token)
    full.vault.call("POST", "/v1/auth/token/revoke-self", {}, token=token)


def test_without_the_lock_of_its_operation_nothing_is_applied(full, alone):
    name = "production/unlocked"
    release = deliver(full, name, "x")
    for operation, prepare, words in (
        ("unlocked-missing", None, "nobody does"),
        ("unlocked-released", {"operation": "unlocked-released"}, "nobody does"),
    ):
        if prepare:
            full.consul.call("PUT", f"/v1/kv/terraform/{name}/lock", prepare)
        refused_without_lock(full, full.run_workspace(operation, name, release), name, operation, words)
    with full.consul.locked(name, "another"):
        record = full.run_workspace("unlocked-foreign", name, release)
    refused_without_lock(full, record, name, "unlocked-foreign", "another does")
    assert full.run_locked("unlocked-held", name, release)["status"] == "done"

    second = deliver(full, name, "y", provisioned("exit 3"))
    record = full.run_workspace("unlocked-second", name, second)
    assert record["error"]["layer"] == "consul", record
    # What was not applied is not taken back.
    assert record["result"]["terraform"]["rollback_attempted"] is False
    full.releases.deliver({})
    removed = remove(full, "unlocked-remove", name)
    assert removed["error"]["layer"] == "consul", removed
    assert observed(full, name)["outputs"]["greeting"] == "x"


def refused_without_lock(full, record: dict, name: str, operation: str, words: str) -> None:
    error = record["error"]
    assert (record["status"], error["layer"], error["object"]) == ("failed", "consul", f"terraform/{name}/lock")
    assert error["words"] == f"Operation {operation} does not hold the lock: {words}"
    assert error["hint"]
    assert full.runs()[-1] == "plan"
    assert f"terraform/{name}/state" not in full.consul.keys(f"terraform/{name}/")


def test_a_failed_apply_goes_back_to_the_previous_version_of_its_secrets(full, alone):
    name = "production/failing"
    secrets = [secret_of(name)]
    full.vault.write_secret(f"{name}/app", password="first")
    # It fails a second after it began, so that the version is changed by then: there is something to take back.
    trap = full.directory / "trap"
    more = f"""
resource "terraform_data" "trap" {{
  triggers_replace = fileexists("{trap}")
  provisioner "local-exec" {{
    command = "sleep 1; test ! -e {trap}"
  }}
}}
"""
    release = deliver(full, name, "x", more, secrets=secrets)
    assert full.run_locked("failing-1", name, release)["status"] == "done"
    full.vault.write_secret(f"{name}/app", password="second")
    trap.touch()
    record = full.run_locked("failing-2", name, release)
    terraform = record["result"]["terraform"]
    assert (record["status"], terraform["rollback_attempted"]) == ("failed", True), record
    # The trap is still there, so the way back fails too, but not before the version.
    assert terraform["rollback_result"]["result"] is False
    assert observed(full, name)["outputs"]["secret_version"] == 1
    trap.unlink()
    record = full.run_locked("failing-3", name, release)
    assert (record["status"], record["result"]["terraform"]["outputs"]["secret_version"]) == ("done", 2), record


def test_a_failed_apply_applies_the_previous_configuration_again(full, alone):
    name = "production/broken"
    first = deliver(full, name, "good")
    full.run_locked("broken-1", name, first)
    second = deliver(full, name, "bad", provisioned("sleep 1; echo no such luck; exit 3"))
    record = full.run_locked("broken-2", name, second)
    terraform = record["result"]["terraform"]
    assert (record["status"], record["error"]["layer"]) == ("failed", "terraform")
    assert (terraform["rollback_attempted"], terraform["rollback_result"]["result"]) == (True, True), record
    assert observed(full, name)["outputs"]["greeting"] == "good"
    assert deliver(full, name, "good") == first
    assert full.run_workspace("broken-3", name, first)["result"]["terraform"]["ran"] is False


def start_held(full, executor, operation: str, name: str):
    full.hold.touch()
    release = deliver(full, name, "x", held(full.hold))
    future = executor.submit(full.run_locked, operation, name, release)
    wait_until("the apply", lambda: applying(full, name))
    return release, future, json.loads(record_file(full, operation).read_text())


def applying(full, name: str) -> bool:
    return full.runs()[-1:] == ["apply"] and f"terraform/{name}/state/.lock" in keys(full, name)


def keys(full, name: str) -> list[str]:
    return full.consul.keys(f"terraform/{name}/")


def test_a_terminated_step_ends_its_tokens(full, alone):
    name = "production/terminated"
    with concurrent.futures.ThreadPoolExecutor() as executor:
        release, future, running = start_held(full, executor, "terminated", name)
        os.kill(running["process"]["pid"], signal.SIGTERM)
        record = future.result()
        assert record["status"] == "interrupted", record
        assert "Asked to stop" in record["error"]["words"]
        full.hold.unlink()
        assert full.run_locked("terminated", name, release)["status"] == "done"


def test_tokens_last_as_long_as_the_run(full, alone):
    name = "production/lasting"
    full.vault.lease_for("6s")
    try:
        with concurrent.futures.ThreadPoolExecutor() as executor:
            _, future, _ = start_held(full, executor, "lasting", name)
            time.sleep(12)
            full.hold.unlink()
            record = future.result()
    finally:
        full.vault.lease_for("15m")
    assert record["status"] == "done", record


def test_a_terraform_state_that_consul_did_not_take_is_saved_by_the_next_run(full, alone):
    name = "production/unsaved"
    with concurrent.futures.ThreadPoolExecutor() as executor, full.consul.locked(name, "unsaved"):
        full.hold.touch()
        release = deliver(full, name, "x", held(full.hold))
        future = executor.submit(full.run_workspace, "unsaved", name, release)
        wait_until("the apply", lambda: applying(full, name))
        full.consul.down()
        full.hold.unlink()
        record = future.result()
        full.consul.up()
        assert (record["status"], record["error"]["layer"]) == ("failed", "terraform"), record
        assert (full.workspace(name) / "unsaved.tfstate").exists()
        record = full.run_workspace("unsaved", name, release)
        assert record["status"] == "done", record
        # All was made by the first run, and is known to be.
        assert (record["result"]["terraform"]["ran"], record["result"]["terraform"]["added"]) == (True, 0)
    assert len(observed(full, name)["resources"]) == 2
    assert not list(full.root.rglob("un*.tfstate")) + list(full.root.rglob("errored.tfstate"))


def test_a_workspace_no_longer_named_leaves_no_state_behind(full, alone):
    name = "production/leaving"
    full.run_locked("leaving-1", name, deliver(full, name, "x"))
    removed = remove_locked(full, "leaving-2", name)
    assert (removed["status"], removed["result"]["terraform"]["destroyed"]) == ("done", 1), removed
    assert keys(full, name) == [f"terraform/{name}/lock"]
    assert not full.workspace(name).exists()
    assert observed(full, name) is None
    again = remove(full, "leaving-3", name)
    assert (again["status"], again["result"]["terraform"]["ran"]) == ("done", False)


def test_a_state_whose_configuration_was_lost_is_not_forgotten(full, alone):
    name = "production/lost"
    full.run_locked("lost-1", name, deliver(full, name, "x"))
    full.workspace(name).rename(full.directory / "lost")
    assert len(observed(full, name)["resources"]) == 1
    removed = remove_locked(full, "lost-2", name)
    assert "a Terraform state but no configuration" in removed["error"]["words"]
    release = deliver(full, name, "x")
    assert full.run_locked("lost-3", name, release)["result"]["terraform"]["added"] == 0


def test_without_eos_a_run_takes_the_lock_itself(full, alone):
    name, sls = "production/ejected", "components.ejected.production.workspace"
    deliver(full, name, "x")
    with full.consul.locked(name, "somebody"):
        state = state_by_hand(full, "state.apply", sls)
        assert (state["result"], state["error"]["words"]) == (False, "The lock is held by somebody")
    assert state_by_hand(full, "state.apply", sls)["result"] is True
    assert f"terraform/{name}/lock" in keys(full, name)
    sessions = full.consul.call("GET", "/v1/session/list")
    assert f"terraform/{name}/lock" not in [session["Name"] for session in sessions]
    assert state_by_hand(full, "state.single", "eos_terraform.absent", f"name={name}")["result"] is True
    assert keys(full, name) == [f"terraform/{name}/lock"]


@pytest.mark.parametrize("backend", ['backend "local" {}', ""])
def test_a_tree_of_another_backend_runs_where_the_state_is(full, alone, backend):
    """A tree may be of before its Terraform state moved; its state must never lie in the tree itself."""
    name = f"production/forgetful-{len(backend)}"
    files = of_full(workspace(name, "x"))["files"]
    files = {path: text.replace('backend "consul" {}', backend) for path, text in files.items()}
    record = full.run_locked(f"forgetful-{len(backend)}", name, full.releases.deliver({name: {"files": files}}))
    assert (record["status"], record["error"]) == ("done", None)
    assert f"terraform/{name}/state" in keys(full, name)
    assert not [path for path in full.workspace(name).rglob("*.tfstate") if "data" not in path.parts]


def test_a_credential_that_opens_nothing_is_told(full, alone):
    name = "production/stranger"
    release = deliver(full, name, "x")
    good = json.loads(full.credentials.read_text())
    wrong = {**good, "secret_id": "00000000-0000-4000-8000-000000000000"}
    try:
        for number, (credential, layer, words) in enumerate(
            [(wrong, "vault", "invalid role or secret ID"), ({"nomad_token": "x"}, "salt", "holds no role_id")]
        ):
            full.write_credentials(credential)
            error = full.run_locked(f"stranger-{number}", name, release)["error"]
            assert error["layer"] == layer
            assert words in error["words"]
    finally:
        full.write_credentials(good)


def test_what_needs_management_gets_it_and_no_other(full, alone):
    required("EOS_TEST_PROVIDER")
    name = "provided/platform"
    release = full.releases.deliver({name: {**of_full(platform("provided")), "token": "client"}})
    refused = full.run_locked("provided-1", name, release)["error"]
    assert (refused["layer"], refused["object"]) == ("nomad", "nomad_namespace.this")
    release = full.releases.deliver({name: of_full(platform("provided"))})
    record = full.run_locked("provided-2", name, release)
    assert record["status"] == "done", record
    assert "provided" in [namespace["Name"] for namespace in full.nomad.call("GET", "/v1/namespaces")]


def test_no_secret_value_and_no_token_is_left_anywhere(full, alone):
    canary = "canary-8c2b7d15-never-to-be-seen"
    name = "production/canary"
    full.vault.write_secret(f"{name}/app", password=canary)
    with full.salt.events() as events:
        good = deliver(full, name, "x", secrets=[secret_of(name)])
        assert full.run_locked("canary-1", name, good)["status"] == "done"
        bad = deliver(full, name, "y", provisioned("env; exit 3"), secrets=[secret_of(name)])
        failed = full.run_locked("canary-2", name, bad)
        assert failed["status"] == "failed"
        assert "NOMAD_TOKEN=***" in failed["error"]["words"]
    assert any("eos/canary-1/workspace" in line for line in events)
    forbidden = [canary, full.nomad.token, full.consul.token, *given_tokens(full)]
    forbidden += json.loads(full.credentials.read_text()).values()
    meant = {full.credentials, full.tokens_file}
    engines = {full.directory / engine for engine in ("nomad", "consul", "vault")}
    texts = {"events": "\n".join(events), "Consul": json.dumps(full.consul.value(f"terraform/{name}/state"))}
    for path in full.directory.rglob("*"):
        if path.is_file() and path not in meant and not engines & set(path.parents):
            texts[str(path)] = path.read_bytes().decode(errors="replace")
    for where, text in texts.items():
        assert not [value for value in forbidden if value in text], where
        # What every token of Vault begins with.
        assert not re.search(r"\bhv[sb]\.[A-Za-z0-9]{20}", text), where


def kept_in_consul(full, name: str) -> object:
    return full.consul.call("GET", f"/v1/kv/terraform/{name}?recurse")


def test_a_preview_reads_the_state_in_consul_and_takes_no_lock(full, alone):
    name = "production/foreseen"
    secret = secret_of(name)
    version = full.vault.write_secret(secret["path"], password="x")
    # Large, so that the state is in several keys.
    release = deliver(full, name, "x" * 600_000, secrets=[secret])
    assert full.run_locked("foreseen-1", name, release)["status"] == "done"
    plan = full.releases.plan({name: of_full(workspace(name, "short", secrets=[secret]))})
    with full.consul.locked(name, "another"):
        before = kept_in_consul(full, name)
        preview = full.preview_workspace(plan, name, "secret_version")
        assert kept_in_consul(full, name) == before
    assert preview["error"] is None
    changes = {
        one["address"]: (one["before"]["input"], one["after"]["input"]) for one in preview["terraform"]["resources"]
    }
    assert changes["terraform_data.secrets"] == (version, "(unknown)")
    assert changes["module.component.terraform_data.greeting"] == ("x" * 600_000, "short")


def test_all_workspaces_are_inspected_with_one_login(full, alone):
    name = "production/inspected"
    release = deliver(full, name, "x")
    assert full.run_locked("inspected-1", name, release)["status"] == "done"
    state = full.consul.value(f"terraform/{name}/state")
    full.consul.call("PUT", "/v1/kv/terraform/production/ghost/state", state)
    logins = full.vault.logins()
    answer = full.salt.record("eos.inspect")
    assert full.vault.logins() == logins + 1
    assert "production/ghost" in answer["orphans"] and name not in answer["orphans"]
    assert answer["workspaces"][name]["state_changed"] is None
    assert answer["workspaces"][name]["digest"] == answer["workspaces"][name]["wanted"]
    state["resources"][0]["instances"][0]["attributes"]["output"]["value"] = "edited"
    full.consul.call("PUT", f"/v1/kv/terraform/{name}/state", state)
    changed = full.salt.record("eos.inspect")["workspaces"][name]["state_changed"]
    assert changed == {"module.component.terraform_data.greeting": ["output"]}
    full.consul.call("DELETE", "/v1/kv/terraform/production/ghost?recurse")


def test_the_schedule_leaves_alone_what_is_locked(full, alone):
    name = "production/synced"
    assert full.run_locked("synced-1", name, deliver(full, name, "x"))["status"] == "done"
    with full.consul.locked(name, "another"):
        assert sync(full)["workspaces"] == {}
    before = kept_in_consul(full, name)
    assert sync(full)["workspaces"][name]["verdict"] == "in step"
    assert kept_in_consul(full, name) == before


def test_root_holds_the_lock_of_a_workspace_for_several_calls(full, alone):
    name, names = "production/kept", ("production", "kept")
    release = deliver(full, name, "x")
    held = by_hand(full, "eos_terraform.acquire_lock", *names, "eject-me", "minutes=5")
    value, session = full.consul.value(f"terraform/{name}/lock"), lock_session(full, name)
    assert value == held and held["operation"] == "eject-me" and MINION in held["who"]
    assert full.consul.call("GET", f"/v1/session/info/{session}")[0]["TTL"] == "300s"
    # The token that took it is gone, the lock is not.
    record = full.run_workspace("kept-1", name, release)
    assert record["status"] == "failed" and "eject-me does" in record["error"]["words"], record
    assert "The lock is held by eject-me" in refused(full, "eos_terraform.acquire_lock", *names, "eject-you")
    assert "does not hold the lock" in refused(full, "eos_terraform.release_lock", *names, "eject-you")
    other = by_hand(full, "eos_terraform.ensure_infrastructure", *names, "eject-you", "theirs")
    assert other["result"] is False and "The lock is held by eject-me" in other["error"]["words"], other
    for step in ("first", "second"):
        applied = by_hand(full, "eos_terraform.apply", *names, "eject-me", step)
        assert applied["result"], applied
        assert lock_session(full, name) == session
    assert by_hand(full, "eos_terraform.release_lock", *names, "eject-me") is True
    assert lock_session(full, name) is None
    assert "does not hold the lock" in refused(full, "eos_terraform.release_lock", *names, "eject-me")


def lock_session(full, name: str) -> str | None:
    return full.consul.call("GET", f"/v1/kv/terraform/{name}/lock")[0].get("Session")


def test_credentials_of_both_engines_are_tried_and_end(full, alone):
    name, names = "production/trusted", ("production", "trusted")
    deliver(full, name, "x")
    given = by_hand(full, "eos_terraform.inject_credentials", *names)
    assert given == ["CONSUL_HTTP_ADDR", "CONSUL_HTTP_TOKEN", "NOMAD_ADDR", "NOMAD_TOKEN"], given
    assert observed(full, name) is None


def test_drift_and_snapshots_work_where_the_state_is_in_consul(full, alone):
    name, names = "production/moved-back", ("production", "moved-back")
    for greeting in ("first", "second"):
        deliver(full, name, greeting)
        applied = by_hand(full, "eos_terraform.ensure_infrastructure", *names, f"eject-{greeting}", "apply")
        assert applied["result"], applied
    assert by_hand(full, "eos_terraform.detect_drift", *names)["verdict"] == "in step"
    rolled = by_hand(full, "eos_terraform.rollback_to_snapshot", *names, "000001", "eject-back", "back")
    assert rolled["result"], rolled
    assert full.consul.value(f"terraform/{name}/state")["outputs"]["greeting"]["value"] == "first"
    assert lock_session(full, name) is None
