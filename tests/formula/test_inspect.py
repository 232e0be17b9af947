"""A minion against its pillar, on real engines: it names each kind of edit, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from configurations import held, job, platform, workspace
from laboratory import made, readme_block, removed, required, wait_until

OWNER = {"user": str(os.getuid()), "group": str(os.getgid()), "mode": "0750"}
AS_RENDERED = {"changed": [], "missing": [], "strange": []}


@pytest.fixture
def name(laboratory, request):
    """A workspace named after the test, applied and served."""
    name = f"inspected/{request.node.name.removeprefix('test_').replace('_', '-')[:40].rstrip('-')}"
    release = laboratory.releases.deliver({name: workspace(name, "hello")})
    assert laboratory.run_workspace(name.replace("/", "."), name, release)["status"] == "done"
    return name


def inspected(lab) -> dict:
    return lab.salt.record("eos.inspect")


def only(lab, name: str) -> dict:
    """What is said of one workspace, when no other of the pillar is to be said anything of."""
    answer = inspected(lab)
    assert answer["states"] == []
    assert [one for one, facts in answer["workspaces"].items() if facts["wanted"]] == [name]
    return answer["workspaces"][name]


def edit_state(lab, name: str, edit):
    path = lab.workspace(name) / "state" / "terraform.tfstate"
    state = json.loads(path.read_text())
    edit(state)
    path.write_text(json.dumps(state))


def sync(lab) -> dict:
    """The schedule's function, as root runs it by hand."""
    command = [lab.salt.bin / "salt-call", "-c", lab.salt.etc / "minion.d", "--out=json", "--log-level=error"]
    ran = subprocess.run(
        [*command, "eos_terraform.sync_states"], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)["local"]


def test_what_is_as_it_was_applied_is_so(laboratory, name):
    release = laboratory.releases.srv.joinpath("current").resolve().name
    answer = inspected(laboratory)
    assert answer["release"] == release
    facts = answer["workspaces"][name]
    state = json.loads((laboratory.workspace(name) / "state" / "terraform.tfstate").read_text())
    assert facts["digest"] == facts["wanted"] == laboratory.releases.slices[release]["workspaces"][name]["digest"]
    assert (facts["serial"], facts["lineage"]) == (state["serial"], state["lineage"])
    assert (facts["operation"], facts["secret_version"]) == (name.replace("/", "."), None)
    assert (facts["state_changed"], facts["tree"]) == (None, AS_RENDERED)
    address = "module.component.terraform_data.greeting"
    real = state["resources"][0]["instances"][0]["attributes"]["id"]
    assert facts["resources"] == {address: {"type": "terraform_data", "id": real}}
    assert "hello" not in (laboratory.workspace(name) / "applied.json").read_text()


def test_a_pillar_that_is_ahead_is_seen(laboratory, name):
    laboratory.releases.deliver({name: workspace(name, "another")})
    facts = only(laboratory, name)
    assert facts["digest"] != facts["wanted"]
    # What is rendered is what was applied, not what will be.
    assert (facts["state_changed"], facts["tree"]) == (None, AS_RENDERED)


@pytest.mark.parametrize("serials", [0, 1])
def test_an_edited_terraform_state_is_named_by_attribute(laboratory, name, serials):
    def edit(state):
        state["serial"] += serials
        state["resources"][0]["instances"][0]["attributes"]["input"]["value"] = "edited"

    edit_state(laboratory, name, edit)
    facts = only(laboratory, name)
    assert facts["state_changed"] == {"module.component.terraform_data.greeting": ["input"]}
    assert (facts["digest"] is None) == (serials == 1)
    assert facts["tree"] == AS_RENDERED


def test_resources_and_outputs_that_came_or_went_are_named(laboratory, name):
    def edit(state):
        resource = json.loads(json.dumps(state["resources"][0]))
        state["resources"][0]["name"] = "other"
        state["resources"].append({**resource, "mode": "data", "name": "looked-up"})
        state["outputs"]["greeting"]["value"] = "edited"
        del state["outputs"]["node_ids"]

    edit_state(laboratory, name, edit)
    address = "module.component.terraform_data"
    assert only(laboratory, name)["state_changed"] == {
        f"{address}.greeting": [],
        f"{address}.other": [],
        "output.greeting": ["value"],
        "output.node_ids": [],
    }


def test_a_serial_that_moved_alone_is_told(laboratory, name):
    edit_state(laboratory, name, lambda state: state.update(serial=state["serial"] + 1))
    facts = only(laboratory, name)
    assert (facts["state_changed"], facts["digest"]) == ({}, None)


def test_a_broken_terraform_state_does_not_hide_the_rest(laboratory, name):
    (laboratory.workspace(name) / "state" / "terraform.tfstate").write_text("{")
    facts = only(laboratory, name)
    assert (facts["serial"], facts["digest"]) == (None, None)
    assert "module.component.terraform_data.greeting" in facts["state_changed"]


def test_edited_missing_and_strange_files_of_the_tree_are_named(laboratory, name):
    tree = laboratory.workspace(name) / "tree"
    here = f"environments/{name}"
    (tree / here / "main.tf").write_text("# edited\n")
    (tree / here / "terraform.tfvars.json").unlink()
    (tree / here / "more.tf").write_text("# strange\n")
    expected = {"changed": [f"terraform/{here}/main.tf"], "missing": [f"terraform/{here}/terraform.tfvars.json"]}
    assert only(laboratory, name)["tree"] == {**expected, "strange": [f"terraform/{here}/more.tf"]}
    configuration = json.loads((tree / "configuration.json").read_text())
    configuration["slice"]["files"][f"terraform/{here}/main.tf"] = "0" * 64
    (tree / "configuration.json").write_text(json.dumps(configuration))
    expected["changed"].append("terraform/configuration.json")
    assert only(laboratory, name)["tree"] == {**expected, "strange": [f"terraform/{here}/more.tf"]}
    shutil.rmtree(tree)
    tree = only(laboratory, name)["tree"]
    assert len(tree["missing"]) == 4 and tree["missing"][-1] == "terraform/configuration.json"


def test_a_workspace_that_the_pillar_does_not_name_is_an_orphan(laboratory, name):
    laboratory.releases.deliver({})
    answer = inspected(laboratory)
    assert name in answer["orphans"]
    assert (answer["workspaces"][name]["wanted"], answer["workspaces"][name]["tree"]) == (None, AS_RENDERED)
    record = laboratory.salt.record("eos.remove", operation="orphan", step="workspace", **removed(name))
    assert record["status"] == "done"
    assert name not in inspected(laboratory)["orphans"]


def test_a_workspace_that_was_never_applied_has_nothing(laboratory):
    name = "inspected/unborn"
    laboratory.releases.deliver({name: workspace(name, "x")})
    facts = only(laboratory, name)
    assert {key for key, value in facts.items() if value} == {"wanted"}
    assert name not in inspected(laboratory)["orphans"]


def test_directories_of_volumes_that_differ_are_named(laboratory):
    paths = {kind: laboratory.directory / "inspected" / kind / "data" for kind in ("right", "wrong", "gone")}
    volumes = {f"inspected/{kind}/data": {"path": str(path), **OWNER} for kind, path in paths.items()}
    release = laboratory.releases.deliver({}, volumes=volumes)
    for kind in paths:
        sls = f"components.{kind}.inspected.volumes"
        assert laboratory.run_step(f"inspected-{kind}", "volumes", sls, release)["ret"]["status"] == "done"
    assert inspected(laboratory)["states"] == []
    paths["wrong"].chmod(0o777)
    paths["gone"].rmdir()
    differing = inspected(laboratory)["states"]
    assert {state["kind"] for state in differing} == {"volume"}
    told = {state["part"]: state["changes"] for state in differing}
    wrong, gone = str(paths["wrong"]), str(paths["gone"])
    assert told == {
        "inspected/wrong/data": {wrong: {"mode": "0750"}},
        "inspected/gone/data": {gone: {"directory": "new"}},
    }
    assert not paths["gone"].exists() and paths["wrong"].stat().st_mode & 0o777 == 0o777


def test_every_role_may_inspect(laboratory):
    for user in ("eos-user", "eos-architect"):
        with laboratory.salt.acting_as(user):
            inspected(laboratory)


def test_the_schedule_notices_what_was_changed_in_nomad(laboratory):
    required("EOS_TEST_PROVIDER")
    names = ("synced/platform", "synced/sayer")
    workspaces = {names[0]: platform("synced"), names[1]: job(names[1])}
    release = laboratory.releases.deliver({**workspaces, "synced/unborn": workspace("synced/unborn", "x")})
    for name in names:
        assert laboratory.run_workspace(name.replace("/", "."), name, release)["status"] == "done"
    assert "eos_terraform.sync_states" in readme_block("schedule")
    before = inspected(laboratory)["workspaces"]
    with laboratory.salt.events() as events:
        record = sync(laboratory)
    in_step = {"verdict": "in step", "resources": [], "words": None}
    assert record["workspaces"] == dict.fromkeys(names, in_step)
    assert not any("eos/drift" in line for line in events)
    assert inspected(laboratory)["synced"] == record
    assert inspected(laboratory)["workspaces"] == before

    edited = laboratory.nomad.call("GET", "/v1/job/sayer?namespace=synced")
    edited["TaskGroups"][0]["Count"] = 2
    laboratory.nomad.call("POST", "/v1/jobs?namespace=synced", {"Job": edited})
    with laboratory.salt.events() as events:
        record = sync(laboratory)
    resources = [{"address": "nomad_job.component", "actions": ["update"]}]
    differs = {"verdict": "differs", "resources": resources, "words": "update nomad_job.component"}
    assert record["workspaces"] == {names[0]: in_step, names[1]: differs}
    assert any("eos/drift" in line for line in events)
    assert inspected(laboratory)["workspaces"] == before
    assert not list(laboratory.salt.cache.glob("eos-preview-*"))
    assert not [token for token in laboratory.nomad.token_names() if token.startswith("eos synced/")]


def test_the_schedule_leaves_alone_what_an_operation_holds(laboratory):
    name, hold = "synced/held", laboratory.directory / "hold-synced"
    release = laboratory.releases.deliver({name: workspace(name, "x")})
    assert laboratory.run_workspace("held-sync-1", name, release)["status"] == "done"
    hold.touch()
    more = held(hold)
    release = laboratory.releases.deliver({name: workspace(name, "y", more)})
    sls = "components.held.synced.workspace"
    call = {"operation": "held-sync-2", "step": "workspace", **made(sls, laboratory.releases.digest(release, sls))}
    laboratory.salt.post("/", [{"client": "local_async", "tgt": "control", "fun": "eos.make", "kwarg": call}])
    try:
        runs = laboratory.runs().count("apply")
        wait_until("the apply", lambda: laboratory.runs().count("apply") > runs or _holding(laboratory, name))
        assert sync(laboratory)["workspaces"] == {}
    finally:
        hold.unlink()
    ended = {"operation": "held-sync-2", "step": "workspace"}
    wait_until("the step's end", lambda: laboratory.salt.record("eos.status", **ended)["status"] == "done")
    assert sync(laboratory)["workspaces"][name]["verdict"] == "in step"


def _holding(lab, name: str) -> bool:
    return (lab.salt.cache / "eos" / "locks" / name.replace("/", ".")).exists() and lab.runs()[-1:] == ["apply"]
