"""Drift: Eos names each change made outside Eos with its layer and attributes, nothing else, and reverts or adopts it."""

import json
import os
import stat
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from estates import PROGRAM, Estate

NAMESPACE = "namespace=production"
IN_STEP = []
SLEEPER = {
    "ID": "sleeper",
    "Name": "sleeper",
    "Type": "service",
    "Namespace": "production",
    "Datacenters": ["dc1"],
    "TaskGroups": [
        {
            "Name": "sleeper",
            "Tasks": [
                {
                    "Name": "sleeper",
                    "Driver": "raw_exec",
                    "Config": {"command": "/bin/sleep", "args": ["100000"]},
                    "Resources": {"CPU": 20, "MemoryMB": 20},
                }
            ],
        }
    ],
}
# A component with a directory on its host. Nothing mounts it, so that no container is needed.
HOLDER = """recipe: holder
summary: Has a directory and serves a page
version: "1"
risk: low
needs:
  data: {volume: {purpose: application, size: 1G, path: /opt/holder/data, owner: "0:0"}}
services:
  holder:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{ listen_address }}"]
    ports:
      http: {}
    check: {http: /health}
"""


def drift(estate: Estate, *words: str) -> tuple[int, dict]:
    ran = estate.eos("drift", *words, "--json")
    assert ran.returncode in (0, 3), f"exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return ran.returncode, json.loads(ran.stdout.strip().split("\n")[-1])


def told(estate: Estate, *words: str) -> list[tuple]:
    """(object, verdict, layer, {attribute: (wanted, real)}) of all that is not in step."""
    code, answer = drift(estate, *words)
    found = [
        (
            one["object"],
            one["verdict"],
            one["layer"],
            {attribute["name"]: (attribute.get("before"), attribute.get("after")) for attribute in one["attributes"]},
        )
        for one in answer["objects"]
    ]
    assert (code == 0) == (found == []) == answer["in_step"]
    return found


def is_brought_back(estate: Estate) -> None:
    estate.must("reconcile", "--yes")
    assert told(estate) == IN_STEP


def job(estate: Estate, name: str = "hello") -> dict:
    return estate.nomad(f"/v1/job/{name}?{NAMESPACE}")


def instances(estate: Estate, name: str = "hello") -> set[str]:
    return {one["ID"] for one in estate.running(name)}


def scale(estate: Estate, count: int, name: str = "hello") -> None:
    changed = job(estate, name)
    changed["TaskGroups"][0]["Count"] = count
    estate.nomad(f"/v1/jobs?{NAMESPACE}", "POST", {"Job": changed})
    estate.wait_until(lambda: len(estate.running(name)) == count, 60, f"{count} instances of {name}")


def workspace(estate: Estate, component: str) -> Path:
    return estate.lab / "terraform/workspaces/production" / component


@pytest.fixture(scope="module")
def components(estate):
    """One component that runs a page, and one with a directory on its host."""
    recipe = estate.root / "recipes/holder/recipe.yaml"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(HOLDER)
    estate.must("create", "hello", "--yes")
    estate.must("create", "holder", "--yes")
    yield estate
    estate.must("delete", "holder", "--yes")
    estate.must("delete", "hello", "--yes")


@pytest.fixture
def applied(components):
    assert told(components) == IN_STEP
    yield components
    # A test that failed leaves the next ones what they expect.
    if components.eos("drift").returncode != 0:
        components.eos("reconcile", "--yes")


def test_what_is_in_step_is_shown_with_all_and_nothing_is_touched(applied):
    before = {name: job(applied, name)["JobModifyIndex"] for name in ("hello", "holder")}
    code, answer = drift(applied, "--all")
    objects = {one["object"]: one["layer"] for one in answer["objects"]}
    assert code == 0 and answer["looked_at"] == len(answer["objects"])
    assert {one["verdict"] for one in answer["objects"]} == {"in_step"}
    assert objects["job/hello"] == "nomad" and objects["service/hello"] == "nomad"
    assert objects["volume/holder-data"] == "host" and objects["workspace/production/hello"] == "terraform"
    ran = applied.must("drift")
    assert f"production: {len(objects)} objects, all in step" in ran.stdout
    assert {name: job(applied, name)["JobModifyIndex"] for name in before} == before
    status = subprocess.run(["git", "-C", applied.root, "status", "--porcelain"], capture_output=True, text=True)
    assert status.stdout == ""


def test_a_job_count_is_named_brought_back_and_taken_back(applied):
    [kept] = instances(applied)
    scale(applied, 2)
    assert told(applied) == [("job/hello", "changed", "nomad", {"TaskGroups.hello.Count": (1, 2)})]
    shown = applied.eos("drift", env={"COLUMNS": "200"})
    assert shown.returncode == 3 and "changed in Nomad" in shown.stdout and "Count 1 -> 2" in shown.stdout
    assert "pillar is right: eos reconcile" in shown.stderr and "reconcile --adopt" in shown.stderr
    # To look is not to touch, and to be asked is not to agree.
    assert applied.must("reconcile", "--plan").returncode == 0
    refused = applied.eos("reconcile")
    assert refused.returncode == 2 and "no terminal to confirm it on" in refused.stderr
    assert len(applied.running("hello")) == 2
    is_brought_back(applied)
    # What ran as it should was not restarted.
    applied.wait_until(lambda: instances(applied) == {kept}, 30, "the one instance that was there before")
    pillar = (applied.root / "pillar/infrastructure/production.sls").read_text()
    assert "generation: 1" in pillar and "eos reconcile" in pillar
    [last] = [one for one in applied.json("history")["operations"]][:1]
    assert last["words"] == "eos reconcile" and last["outcome"] == "done"
    applied.must("undo", "--yes")
    assert "generation" not in (applied.root / "pillar/infrastructure/production.sls").read_text()
    assert told(applied) == IN_STEP and instances(applied) == {kept}


def test_a_purged_and_a_stopped_job_come_back(applied):
    applied.nomad(f"/v1/job/hello?{NAMESPACE}&purge=true", "DELETE")
    applied.wait_until(lambda: job(applied) is None, 30, "the job to be gone")
    applied.wait_until(lambda: not applied.nomad(f"/v1/service/hello?{NAMESPACE}"), 30, "its service to be gone")
    assert told(applied) == [("job/hello", "missing", "nomad", {})]
    is_brought_back(applied)
    assert len(applied.running("hello")) == 1
    applied.nomad(f"/v1/job/hello?{NAMESPACE}", "DELETE")
    applied.wait_until(lambda: not applied.running("hello"), 30, "the job to be stopped")
    assert told(applied) == [("job/hello", "changed", "nomad", {"Stop": (False, True)})]
    is_brought_back(applied)
    assert len(applied.running("hello")) == 1


def test_a_terraform_state_that_was_edited_is_named_by_attribute(applied):
    file = workspace(applied, "hello") / "state/terraform.tfstate"
    state = json.loads(file.read_text())
    [resource] = [one for one in state["resources"] if one["type"] == "nomad_job"]
    resource["instances"][0]["attributes"]["status"] = "dead"
    state["serial"] += 1
    file.write_text(json.dumps(state))
    [(name, verdict, layer, attributes)] = told(applied)
    assert (name, verdict, layer) == ("workspace/production/hello", "changed", "terraform")
    assert [attribute.rsplit(".", 1)[1] for attribute in attributes] == ["status"]
    is_brought_back(applied)


def test_generated_files_are_named_where_they_were_edited(applied):
    path = "terraform/environments/production/hello/main.tf"
    for place, root in [
        ("the estate", applied.root),
        ("the release", applied.lab / "srv/current/files"),
        ("workspace production/hello on control", None),
    ]:
        file = root / path if root else workspace(applied, "hello") / "tree" / path.removeprefix("terraform/")
        file.chmod(file.stat().st_mode | stat.S_IWUSR)
        file.write_text(file.read_text() + "# by hand\n")
        code, answer = drift(applied)
        [one] = answer["objects"]
        assert (one["verdict"], one["layer"], one["place"]) == ("changed", "files", place)
        assert one["object"] == f"file/{path}", one
        is_brought_back(applied)
        assert "by hand" not in file.resolve().read_text()


def test_a_directory_on_a_host_is_made_again(applied):
    [volume] = [path for path in (applied.lab / "volumes").rglob("data") if path.is_dir()]
    volume.chmod(0o777)
    [(name, verdict, layer, attributes)] = told(applied)
    assert (name, verdict, layer) == ("volume/holder-data", "changed", "host")
    assert list(attributes) == ["mode"] and attributes["mode"][1] == "0777"
    [kept] = instances(applied, "holder")
    is_brought_back(applied)
    assert stat.S_IMODE(volume.stat().st_mode) != 0o777 and instances(applied, "holder") == {kept}


def test_what_nobody_owns_is_named_and_left(applied):
    applied.nomad(f"/v1/jobs?{NAMESPACE}", "POST", {"Job": SLEEPER})
    try:
        assert told(applied) == [("job/sleeper", "unowned", "nomad", {})]
        ran = applied.eos("reconcile", "--yes")
        assert ran.returncode == 3 and "Eos removes only its own objects" in " ".join(ran.stderr.split())
        assert job(applied, "sleeper") is not None
    finally:
        applied.nomad(f"/v1/job/sleeper?{NAMESPACE}&purge=true", "DELETE")
        applied.wait_until(lambda: job(applied, "sleeper") is None, 30, "the job to be gone")


def test_an_engine_that_is_down_is_named_and_the_rest_is_judged(applied):
    file = applied.root / "salt/components/hello/deploy.sls"
    before = file.read_text()
    file.write_text(before + "\n")
    nomad = applied.pid("nomad")
    os.kill(nomad, 19)
    try:
        found = told(applied)
        assert [one[:3] for one in found] == [
            ("file/salt/components/hello/deploy.sls", "changed", "files"),
            ("engine/nomad", "unreachable", "nomad"),
        ]
    finally:
        os.kill(nomad, 18)
        file.write_text(before)
    applied.wait_until(lambda: told(applied) == IN_STEP, 60, "Nomad to answer again")


def test_a_component_that_an_operation_holds_is_not_judged(applied):
    running = applied.start("update", "hello", "--greeting", "Held", "--yes", "--json")
    applied.wait_until(
        lambda: any(one["outcome"] == "running" for one in applied.json("history")["operations"]), 60, "an operation"
    )
    code, answer = drift(applied)
    out, error = running.communicate(timeout=300)
    assert running.returncode == 0, out + error
    assert answer["objects"] == [] and code == 0
    held = [(one["component"], one["is_at_work"]) for one in answer["held"]]
    assert ("hello", True) in held
    assert told(applied) == IN_STEP


def test_a_pillar_that_is_ahead_is_no_drift_of_anybody(applied):
    applied.must("update", "hello", "--replicas", "1", "--yes")
    pillar = applied.root / "pillar/infrastructure/production.sls"
    before = pillar.read_text()
    pillar.write_text(before.replace("replicas: 1", "replicas: 3"))
    try:
        found = told(applied)
        assert {one[:2] for one in found} == {
            ("job/hello", "pillar_ahead"),
            ("workspace/production/hello", "pillar_ahead"),
        }
        scale(applied, 2)
        assert ("job/hello", "changed", "nomad", {"TaskGroups.hello.Count": (1, 2)}) in told(applied)
    finally:
        pillar.write_text(before)
    is_brought_back(applied)


def test_reality_is_adopted(applied):
    scale(applied, 2)
    applied.must("reconcile", "--adopt", "--yes")
    assert told(applied) == IN_STEP and len(applied.running("hello")) == 2
    options = {one["name"]: one["value"] for one in applied.json("read", "hello")["options"]}
    assert options["replicas"] == 2
    changed = job(applied)
    changed["Priority"] = 70
    applied.nomad(f"/v1/jobs?{NAMESPACE}", "POST", {"Job": changed})
    refused = applied.eos("reconcile", "--adopt", "--yes", env={"COLUMNS": "300"})
    assert refused.returncode == 2 and "no option sets Priority" in refused.stderr
    is_brought_back(applied)
    # A job that is gone takes its component along.
    applied.must("create", "hello", "--name", "second", "--yes")
    applied.nomad(f"/v1/job/second?{NAMESPACE}&purge=true", "DELETE")
    applied.wait_until(lambda: job(applied, "second") is None, 30, "the job to be gone")
    applied.must("reconcile", "second", "--adopt", "--yes")
    assert [one["component"] for one in applied.json("list")["components"]] == ["hello", "holder"]
    applied.must("update", "hello", "--unset", "replicas", "--yes")
    assert told(applied) == IN_STEP


@contextmanager
def blind_provider(estate: Estate):
    """The provider of the lab overlooks changes outside Terraform, which a debug build does on request."""
    [program] = (estate.lab / "terraform").rglob("terraform-provider-nomad_v*")
    request = program.with_name("blind")
    request.touch()
    try:
        yield
    finally:
        request.unlink()


def test_reconcile_does_not_rely_on_a_provider_that_notices(applied):
    with blind_provider(applied):
        scale(applied, 2)
        assert told(applied) == [("job/hello", "changed", "nomad", {"TaskGroups.hello.Count": (1, 2)})]
        # To it all is as it should be: without another generation nothing would be registered.
        is_brought_back(applied)
        assert len(applied.running("hello")) == 1
        applied.nomad(f"/v1/job/hello?{NAMESPACE}&purge=true", "DELETE")
        applied.wait_until(lambda: job(applied) is None, 30, "the job to be gone")
        is_brought_back(applied)
        assert len(applied.running("hello")) == 1


@contextmanager
def watching(estate: Estate, *words: str):
    """`eos drift --watch` as long as it is needed: the process, and the file it writes to."""
    said = estate.root.parent / "watch.txt"
    with open(said, "w") as file:
        command = [PROGRAM, "--estate", str(estate.root), "drift", "--watch=2", *words]
        watch = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, text=True)
    try:
        yield watch, said
    finally:
        watch.send_signal(2)
        watch.communicate(timeout=120)


def settings(estate: Estate, text: str) -> None:
    file = estate.root / "eos.toml"
    kept = file.read_text().split("[drift]")[0]
    file.write_text(kept + text)


def test_each_policy_of_a_tier(applied):
    try:
        settings(applied, '[drift]\nlow = "report"\n')
        scale(applied, 2)
        ran = applied.eos("reconcile", "--yes", env={"COLUMNS": "300"})
        assert ran.returncode == 3 and "the policy for low risk is to report it" in ran.stderr
        assert len(applied.running("hello")) == 2
        settings(applied, '[drift]\nmedium = "correct"\n')
        ran = applied.eos("drift", env={"COLUMNS": "300"})
        assert ran.returncode == 2 and "Eos corrects only low risk without asking" in ran.stderr
        settings(applied, '[drift]\nlow = "ask"\n')
        with watching(applied, "--json") as (watch, said):
            applied.wait_until(lambda: said.read_text(), 60, "a look")
            second = applied.eos("drift", "--watch=2")
            assert second.returncode == 2 and "held by process" in second.stderr, second.stderr
            # It looks again and again, and neither repeats itself nor corrects anything.
            time.sleep(10)
            assert len(applied.running("hello")) == 2
        assert watch.returncode == 130
        out = said.read_text()
        assert [json.loads(line)["in_step"] for line in out.splitlines()] == [False]
        settings(applied, '[drift]\nlow = "correct"\n')
        with watching(applied):
            applied.wait_until(lambda: len(applied.running("hello")) == 1, 120, "the watch to correct it")
            last = lambda: applied.json("history")["operations"][0]  # noqa: E731
            applied.wait_until(lambda: last()["outcome"] == "done", 60, "the operation to end")
            assert last()["words"] == "eos drift --watch=2"
    finally:
        settings(applied, "")
    assert told(applied) == IN_STEP


@pytest.fixture(scope="module")
def full(full_estate):
    """An estate with Consul and Vault."""
    full_estate.must("create", "hello", "--yes")
    assert told(full_estate) == IN_STEP
    yield full_estate
    full_estate.must("delete", "hello", "--yes")


def test_a_service_that_left_consul_is_missed(full):
    [one] = full.consul("/v1/catalog/service/hello")
    full.forget_service(one["Node"], one["ServiceID"])
    assert told(full) == [("service/hello", "missing", "consul", {"instances": (1, 0)})]
    full.must("reconcile", "--yes")
    assert told(full) == IN_STEP and len(full.consul("/v1/catalog/service/hello")) == 1


def test_a_policy_of_vault_is_compared(full):
    policy = full.vault("/v1/sys/policies/acl/eos-control")["data"]["policy"]
    full.vault(
        "/v1/sys/policies/acl/eos-control",
        "PUT",
        {"policy": policy + 'path "secret/data/*" {\n  capabilities = ["read"]\n}\n'},
    )
    [(name, verdict, layer, attributes)] = told(full)
    assert (name, verdict, layer, list(attributes)) == ("policy/eos-control", "changed", "vault", ["rules"])
    ran = full.eos("reconcile", "--yes", env={"COLUMNS": "300"})
    assert ran.returncode == 3 and "eos lab up" in ran.stderr
    full.must("lab", "up", timeout=600)
    assert told(full) == IN_STEP
    full.vault("/v1/sys/policies/acl/nomad-workloads", "DELETE")
    assert told(full) == [("policy/nomad-workloads", "missing", "vault", {})]
    full.must("lab", "up", timeout=600)
    assert told(full) == IN_STEP


def test_rules_of_the_mesh_that_nobody_asked_for_are_named(full):
    entry = {"Kind": "service-intentions", "Name": "hello", "Sources": [{"Name": "ledger", "Action": "allow"}]}
    full.consul("/v1/config", "PUT", entry)
    try:
        assert told(full) == [("service-intentions/hello", "unowned", "consul", {})]
    finally:
        full.consul("/v1/config/service-intentions/hello", "DELETE")
    assert told(full) == IN_STEP


def test_vault_down_is_unreachable_and_the_rest_is_judged(full):
    vault = full.pid("vault")
    os.kill(vault, 19)
    try:
        # Without Vault the control minion gets no token to read Terraform's states with; each workspace says so.
        assert [one[:3] for one in told(full)] == [
            ("engine/vault", "unreachable", "vault"),
            ("workspace/production/platform", "unreachable", "terraform"),
            ("workspace/production/hello", "unreachable", "terraform"),
        ]
    finally:
        os.kill(vault, 18)
    full.wait_until(lambda: told(full) == IN_STEP, 60, "Vault to answer again")
