"""Previews on real engines: they change nothing, and predict the step."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import time
import urllib.request

import pytest

from configurations import job, job_with_volume, platform, workspace
from laboratory import MINION, made, removed, required, wait_until

# What Salt, Nomad and the tests' own Terraform write down whatever is asked of them.
RECORDS = ("log", "master", "nomad", "minion/cache/proc", "minion/tmp")
RECORDS += ("terraform.runs", "terraform.tokens", "terraform.environment")
LISTS = ("jobs", "allocations", "evaluations", "deployments", "volumes?type=host", "vars", "namespaces", "acl/policies")
OWNER = {"user": str(os.getuid()), "group": str(os.getgid()), "mode": "0750"}


def on_disk(lab) -> dict[str, object]:
    """Every file and directory of the laboratory, with its mode and the digest of its content."""
    found = {}
    for path in sorted(lab.directory.rglob("*")):
        name = str(path.relative_to(lab.directory))
        if "__pycache__" in name or any(name == record or name.startswith(f"{record}/") for record in RECORDS):
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[name] = f"{path.lstat().st_mode:o} {content}"
    return found


def in_nomad(lab) -> dict[str, object]:
    """What Nomad has of every kind, and the index of its last change."""
    found = {}
    for kind in LISTS:
        path = f"{kind}{'&' if '?' in kind else '?'}namespace=*"
        request = urllib.request.Request(f"{lab.nomad.address}/v1/{path}", headers={"X-Nomad-Token": lab.nomad.token})
        with urllib.request.urlopen(request, timeout=30) as answer:
            found[kind] = answer.headers["X-Nomad-Index"]
            found |= {f"{kind} {number}": one for number, one in enumerate(json.loads(answer.read()))}
    return {**found, "tokens": sorted(lab.nomad.token_names())}


@pytest.fixture
def untouched(laboratory):
    """Calls something and asserts that neither a file nor an object of Nomad's is another than before."""

    def at_rest() -> bool:
        before = in_nomad(laboratory)
        time.sleep(2)
        return in_nomad(laboratory) == before

    def calling(call):
        # What other tests began may still move.
        wait_until("Nomad's rest", at_rest)
        before = on_disk(laboratory) | in_nomad(laboratory)
        answer = call()
        after = on_disk(laboratory) | in_nomad(laboratory)
        moved = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        assert not moved, {name: (before.get(name), after.get(name)) for name in moved}
        return answer

    return calling


@pytest.fixture(scope="module")
def environment(laboratory):
    """A namespace with nothing in it."""
    required("EOS_TEST_PROVIDER")
    release = laboratory.releases.deliver({"preview/platform": platform("preview")})
    assert laboratory.run_workspace("preview-platform", "preview/platform", release)["status"] == "done"
    return "preview"


def settled(lab, name: str):
    """The job once Nomad has nothing more to do for it: from then on nothing changes by itself."""
    namespace, component = name.split("/")

    def running():
        allocations = lab.nomad.call("GET", f"/v1/job/{component}/allocations?namespace={namespace}")
        deployments = lab.nomad.call("GET", f"/v1/job/{component}/deployments?namespace={namespace}")
        wanted = [allocation["ClientStatus"] for allocation in allocations if allocation["DesiredStatus"] == "run"]
        return wanted and set(wanted) == {"running"} and all(d["Status"] != "running" for d in deployments)

    wait_until(f"{name} being settled", running)
    return lab.nomad.call("GET", f"/v1/job/{component}?namespace={namespace}")


def actions(preview: dict) -> dict[str, list[str]]:
    return {resource["address"]: resource["actions"] for resource in preview["terraform"]["resources"]}


def changed_fields(diff: dict) -> dict[str, tuple[str, str]]:
    """Every changed field of Nomad's diff, by its name."""
    found = {
        field["Name"]: (field["Old"], field["New"]) for field in diff.get("Fields") or [] if field["Type"] != "None"
    }
    for part in ("Objects", "TaskGroups", "Tasks"):
        for inner in diff.get(part) or []:
            found |= changed_fields(inner)
    return found


def updates(preview: dict) -> dict[str, int]:
    counts = preview["nomad"]["annotations"]["DesiredTGUpdates"]["main"]
    return {kind: count for kind, count in counts.items() if count and kind != "Ignore"}


def test_a_new_workspace_is_previewed_without_a_trace(laboratory, untouched):
    name = "production/foreseen"
    plan = laboratory.releases.plan({name: workspace(name, "hello")})
    preview = untouched(lambda: laboratory.preview_workspace(plan, name))
    assert preview["error"] is None
    assert preview["nomad"] is None
    assert preview["terraform"]["ran"] is True
    (resource,) = preview["terraform"]["resources"]
    assert (resource["actions"], resource["before"], resource["after"]["input"]) == (["create"], None, "hello")
    assert resource["after_unknown"] == {"id": True, "output": True}
    assert not laboratory.workspace(name).exists()

    release = laboratory.releases.deliver({name: workspace(name, "hello")})
    record = laboratory.run_workspace("foreseen", name, release)
    assert record["observed"]["workspace"][name]["resources"] == [resource["address"]]
    again = untouched(lambda: laboratory.preview_workspace(plan, name))
    assert (again["terraform"]["ran"], again["terraform"]["resources"]) == (False, [])


def test_a_job_is_previewed_as_nomad_then_has_it(laboratory, untouched, environment):
    name = f"{environment}/sayer"
    odd = 'quotes " and \\ and ${NOMAD_ALLOC_ID} and %{x} and $${y}\nand a line, ü 🦀 \b\f\x7f'
    escaped = odd.replace("${NOMAD_ALLOC_ID}", "plain")
    plan = laboratory.releases.plan({name: job(name, escaped)})
    preview = untouched(lambda: laboratory.preview_workspace(plan, name))
    assert preview["error"] is None, preview["error"]
    assert actions(preview) == {"nomad_job.component": ["create"]}
    nomad = preview["nomad"]
    assert (nomad["job"], nomad["namespace"], nomad["asked_in"], nomad["failed"]) == ("sayer", "preview", "preview", {})
    assert nomad["diff"]["Type"] == "Added"
    assert updates(preview) == {"Place": 1}

    release = laboratory.releases.deliver({name: job(name, escaped)})
    assert laboratory.run_workspace("sayer-1", name, release)["status"] == "done"
    real = settled(laboratory, name)
    (group,), (planned,) = real["TaskGroups"], nomad["spec"]["TaskGroups"]
    assert planned["Tasks"][0]["Env"] == group["Tasks"][0]["Env"] == {"GREETING": escaped}
    assert planned["Count"] == group["Count"] == 1

    plan = laboratory.releases.plan({name: job(name, "changed", count=3)})
    preview = untouched(lambda: laboratory.preview_workspace(plan, name))
    assert actions(preview) == {"nomad_job.component": ["update"]}
    assert preview["nomad"]["modify_index"] == real["JobModifyIndex"]
    assert changed_fields(preview["nomad"]["diff"]) == {"Count": ("1", "3"), "Env[GREETING]": (escaped, "changed")}
    assert updates(preview) == {"Place": 2, "DestructiveUpdate": 1}

    release = laboratory.releases.deliver({name: job(name, "changed", count=3)})
    assert laboratory.run_workspace("sayer-2", name, release)["status"] == "done"
    real = settled(laboratory, name)
    assert (real["TaskGroups"][0]["Count"], real["TaskGroups"][0]["Tasks"][0]["Env"]["GREETING"]) == (3, "changed")

    # Nomad replaces them one after the other, and would foretell the first only.
    plan = laboratory.releases.plan({name: job(name, "changed again", count=3)})
    assert updates(untouched(lambda: laboratory.preview_workspace(plan, name))) == {"DestructiveUpdate": 3}


def test_what_was_changed_behind_terraform_is_told(laboratory, untouched, environment):
    name = f"{environment}/meddled"
    release = laboratory.releases.deliver({name: job(name)})
    assert laboratory.run_workspace("meddled", name, release)["status"] == "done"
    real = settled(laboratory, name)
    real["TaskGroups"][0]["Count"] = 3
    laboratory.nomad.call("POST", f"/v1/jobs?namespace={environment}", {"Job": real})
    settled(laboratory, name)
    plan = laboratory.releases.plan({name: job(name, memory=33)})
    preview = untouched(lambda: laboratory.preview_workspace(plan, name))
    assert [resource["address"] for resource in preview["terraform"]["drift"]] == ["nomad_job.component"]
    fields = changed_fields(preview["nomad"]["diff"])
    assert (fields["Count"], fields["MemoryMB"]) == (("3", "1"), ("32", "33"))


def test_a_job_without_a_place_is_told(laboratory, untouched, environment):
    for component, how, words in (
        ("large", {"memory": 9_000_000}, "not enough memory on 1 node"),
        ("foreign", {"driver": "qemu"}, "missing drivers (asked for: qemu) on 1 node"),
    ):
        name = f"{environment}/{component}"
        plan = laboratory.releases.plan({name: job(name, **how)})
        preview = untouched(lambda plan=plan, name=name: laboratory.preview_workspace(plan, name))
        assert preview["nomad"]["failed"] == {"main": {"words": [words]}}, preview


# Nomad's validator refuses a job that ends before it begins; its parser reads it all the same.
INVALID = {"count": -1}
# Terraform's own grammar has nothing against it, nor has `terraform validate`.
UNPLANNABLE = """
resource "terraform_data" "never" {
  lifecycle {
    precondition {
      condition     = length(var.greeting) > 99
      error_message = "the greeting is too short"
    }
  }
}
"""


def refusal(preview: dict) -> tuple[str, str]:
    """Layer and object of what is refused; nothing was found out beside."""
    assert preview["error"]["refused"] is True, preview["error"]
    assert preview["error"]["words"] and preview["error"]["hint"]
    return preview["error"]["layer"], preview["error"]["object"]


def test_a_job_that_nomad_refuses_is_refused_with_and_without_its_namespace(laboratory, untouched, environment):
    name = f"{environment}/invalid"
    plan = laboratory.releases.plan({name: job(name, **INVALID)})
    preview = untouched(lambda: laboratory.preview_workspace(plan, name))
    # The provider asks Nomad while Terraform plans.
    assert refusal(preview) == ("nomad", "nomad_job.component")
    assert "negative" in preview["error"]["words"], preview["error"]

    name = "nowhere-yet/invalid"
    plan = laboratory.releases.plan({name: job(name, **INVALID)})
    preview = untouched(lambda: laboratory.preview_workspace(plan, name, "namespace"))
    assert refusal(preview) == ("nomad", "job invalid")
    assert "negative" in preview["error"]["words"], preview["error"]
    # What the plan makes first is no reason to refuse the rest.
    plan = laboratory.releases.plan({name: job(name)})
    assert untouched(lambda: laboratory.preview_workspace(plan, name, "namespace"))["error"] is None


def test_a_workspace_that_terraform_cannot_plan_is_refused(laboratory, untouched):
    name = "production/unplannable"
    plan = laboratory.releases.plan({name: workspace(name, "short", UNPLANNABLE)})
    preview = untouched(lambda: laboratory.preview_workspace(plan, name))
    assert refusal(preview)[0] == "terraform"
    assert "the greeting is too short" in preview["error"]["words"], preview["error"]
    assert preview["terraform"] is None
    plan = laboratory.releases.plan({name: workspace(name, "long" * 25, UNPLANNABLE)})
    assert untouched(lambda: laboratory.preview_workspace(plan, name))["error"] is None


def test_a_volume_on_a_node_that_nomad_lacks_is_refused(laboratory, untouched):
    name = "production/homeless"
    plan = laboratory.releases.plan({name: workspace(name, "x", hosts=["nobody"])})
    preview = untouched(lambda: laboratory.preview_workspace(plan, name))
    assert refusal(preview) == ("nomad", "node nobody")


@pytest.mark.parametrize(
    ("fails_alone", "stopped", "answers", "refused"),
    [
        (True, False, True, True),
        # With nothing to look at Terraform plans: what it looked at failed.
        (False, False, True, False),
        (True, True, True, False),
        (True, False, False, False),
        # A signal ended Terraform, or it never ran.
        (None, False, True, False),
    ],
)
def test_terraform_refuses_only_what_it_cannot_plan_without_a_look(load, fails_alone, stopped, answers, refused):
    run = load("_modules/eos_terraform_run.py", salt={"eos_profile.engines_answer": lambda: answers})
    asked = []

    class Preview(run._Preview):
        def __init__(self):
            self.stopped = stopped

        def _terraform(self, configuration, *arguments, heed):
            asked.append(arguments)
            if fails_alone is None:
                raise run.CommandExecutionError("Terraform was not run")
            return 1 if fails_alone else 0

    assert Preview()._refuses({}, ("-out=plan",)) is refused
    assert [{"plan", "-refresh=false", "-out=plan"} <= set(arguments) for arguments in asked] == [True]


def test_what_the_plan_makes_first_is_left_out_and_named(laboratory, untouched):
    required("EOS_TEST_PROVIDER")
    name, path = "foreseen/sleeper", laboratory.directory / "foreseen-volume"
    workspaces = {"foreseen/platform": platform("foreseen"), name: job_with_volume(name, MINION, path)}
    plan = laboratory.releases.plan(workspaces)
    preview = untouched(lambda: laboratory.preview_workspace(plan, name, "namespace", "secret_version"))
    assert preview["error"] is None, preview["error"]
    assert list(actions(preview).values()) == [["create"], ["create"]]
    nomad = preview["nomad"]
    assert (nomad["asked_in"], nomad["without"], nomad["failed"]) == ("default", ["data"], {})
    assert (nomad["diff"]["ID"], nomad["diff"]["Type"]) == ("sleeper", "Added")
    assert changed_fields(nomad["diff"])["Namespace"] == ("", "foreseen")
    assert nomad["spec"]["Namespace"] == "foreseen"
    assert nomad["spec"]["TaskGroups"][0]["Volumes"]["data"]["Source"] == "data"

    # That it is made first has to be said: else it is missing.
    error = untouched(lambda: laboratory.preview_workspace(plan, name, "secret_version"))["error"]
    assert (error["layer"], error["object"]) == ("nomad", "job sleeper")
    assert "foreseen" in error["words"]


def test_an_unknown_version_of_a_secret_stays_unknown(laboratory, untouched, environment):
    name = f"{environment}/secretive"
    secret = {"namespace": environment, "path": "nomad/jobs/secretive", "items": ["password"]}
    plan = laboratory.releases.plan({name: job(name, secrets=[secret])})
    error = untouched(lambda: laboratory.preview_workspace(plan, name))["error"]
    assert (error["layer"], error["object"]) == ("nomad", "variable nomad/jobs/secretive")
    preview = untouched(lambda: laboratory.preview_workspace(plan, name, "secret_version"))
    assert preview["error"] is None, preview["error"]
    assert changed_fields(preview["nomad"]["diff"])["Meta[eos_secret_version]"] == ("", "(unknown)")
    assert preview["nomad"]["spec"]["Meta"] == {"eos_secret_version": "(unknown)"}
    assert "8181" not in json.dumps(preview)

    laboratory.nomad.write_variable(environment, "nomad/jobs/secretive", password="never-to-be-seen")
    release = laboratory.releases.deliver({name: job(name, secrets=[secret])})
    assert laboratory.run_workspace("secretive-preview", name, release)["status"] == "done"
    version = settled(laboratory, name)["Meta"]["eos_secret_version"]
    preview = untouched(lambda: laboratory.preview_workspace(plan, name, "secret_version"))
    assert changed_fields(preview["nomad"]["diff"]) == {"Meta[eos_secret_version]": (version, "(unknown)")}
    assert "never-to-be-seen" not in json.dumps(preview)
    assert untouched(lambda: laboratory.preview_workspace(plan, name))["terraform"]["ran"] is False


def test_a_removal_is_previewed_and_then_done(laboratory, untouched, environment):
    name = f"{environment}/leaving"
    release = laboratory.releases.deliver({name: job(name, count=2)})
    assert laboratory.run_workspace("preview-leaving-1", name, release)["status"] == "done"
    settled(laboratory, name)
    names = removed(name)
    kept = laboratory.releases.plan({name: job(name)})
    error = untouched(lambda: laboratory.preview(kept, "eos.remove", names))["error"]
    assert "still has it" in error["words"]
    plan = laboratory.releases.plan({})
    preview = untouched(lambda: laboratory.preview(plan, "eos.remove", names))
    assert preview["error"] is None, preview["error"]
    assert actions(preview) == {"nomad_job.component": ["delete"]}
    assert (preview["nomad"]["job"], updates(preview)) == ("leaving", {"Stop": 2})

    laboratory.releases.deliver({})
    record = laboratory.salt.record("eos.remove", operation="preview-leaving-2", step="workspace", **names)
    assert record["status"] == "done", record

    preview = untouched(lambda: laboratory.preview(plan, "eos.remove", names))
    assert preview == {
        "terraform": {**preview["terraform"], "resources": [], "ran": False},
        "nomad": None,
        "error": None,
    }


@pytest.mark.parametrize("there", [None, 0o750])
def test_a_directory_is_previewed_as_salt_then_makes_it(laboratory, untouched, there):
    component = f"foreseen-{there or 'absent'}"
    name = f"development/{component}/data"
    path = laboratory.directory / "foreseen" / component / "data"
    if there is not None:
        path.mkdir(parents=True)
        path.chmod(there)
    volumes = {name: {"path": str(path), **OWNER, "durability": "ephemeral"}}
    sls = f"components.{component}.development.volumes"
    plan = laboratory.releases.plan({}, volumes=volumes)
    preview = untouched(lambda: laboratory.preview_step(plan, sls))
    assert preview["error"] is None
    (state,) = preview["states"]
    assert (state["id"], state["name"]) == (name, str(path))
    expected = (None, {str(path): {"directory": "new"}}) if there is None else (True, {})
    assert (state["result"], state["changes"]) == expected

    release = laboratory.releases.deliver({}, volumes=volumes)
    record = laboratory.run_step(component, "volumes", sls, release)["ret"]
    assert record["status"] == "done"
    assert bool(record["result"]["states"][0]["changes"]) == bool(state["changes"])
    assert f"{path.stat().st_mode & 0o777:04o}" == "0750"
    (state,) = untouched(lambda: laboratory.preview_step(plan, sls))["states"]
    assert (state["result"], state["changes"]) == (True, {})

    removal = removed(f"development/{component}", "volume", volumes={name: str(path)})
    laboratory.releases.deliver({})
    plan = laboratory.releases.plan({})
    preview = untouched(lambda: laboratory.preview(plan, "eos.remove", removal))
    if there is None:
        assert preview["error"] is None
        assert [state["changes"] for state in preview["states"]] == [{str(path): {"directory": "removed"}}]
    else:
        assert "was there before Eos" in preview["error"]["words"]


def test_a_directory_that_must_not_be_made_is_previewed_as_refused(laboratory, untouched):
    path = laboratory.directory / "foreseen" / "strange"
    path.mkdir(parents=True)
    path.chmod(0o700)
    for place, words in ((path, "was there before Eos, with another owner or mode"), ("/etc/x", "is not below")):
        volumes = {"development/strange/data": {"path": str(place), **OWNER, "durability": "ephemeral"}}
        plan = laboratory.releases.plan({}, volumes=volumes)
        preview = untouched(lambda plan=plan: laboratory.preview_step(plan, "components.strange.development.volumes"))
        assert words in preview["error"]["words"], preview


def test_rules_are_previewed_by_what_is_on_the_disk(laboratory, untouched):
    directory = laboratory.directory / "eos-rules"
    directory.mkdir()
    rules = '{"groups": []}'
    monitoring = {"production/watched": {"monitor": "prometheus", "rules": hashlib.sha256(rules.encode()).hexdigest()}}
    monitor = {"directory": str(directory), "user": "0", "group": "0", "port": 1}
    slices = {"monitoring": monitoring, "monitors": {"production/prometheus": monitor}}
    plan = laboratory.releases.plan({}, **slices)
    sls = pathlib.Path(laboratory.salt.srv, "plans", plan, "salt/components/watched/production/monitoring.sls")
    sls.parent.mkdir(parents=True)
    sls.write_text('{"production/watched": {"eos_prometheus.rules": [{"name": "production/watched"}]}}')

    def previewed():
        return untouched(lambda: laboratory.preview_step(plan, "components.watched.production.monitoring"))

    (state,) = previewed()["states"]
    new = {"old": None, "new": monitoring["production/watched"]["rules"]}
    assert (state["result"], state["changes"]) == (None, {"rules": new})
    (directory / "watched.json").write_text(rules)
    (state,) = previewed()["states"]
    assert (state["result"], state["changes"]) == (True, {})
    (directory / "gone.json").write_text("{}")
    (state,) = previewed()["states"]
    assert (state["result"], state["changes"]) == (None, {"removed": ["gone.json"]})

    plan = laboratory.releases.plan({}, monitors=slices["monitors"])
    call = removed("production/watched", "rules", monitor="prometheus")
    preview = untouched(lambda: laboratory.preview(plan, "eos.remove", call))
    path = str(directory / "watched.json")
    assert [state["changes"] for state in preview["states"]] == [{path: {"file": "removed"}}]


def test_several_previews_at_once_do_not_disturb_each_other(laboratory, untouched):
    names = [f"production/parallel-{number}" for number in range(2)]
    plan = laboratory.releases.plan({name: workspace(name, name) for name in names})
    other = laboratory.releases.plan({name: workspace(name, "other") for name in names})
    asked = [(plan, name) for name in names] + [(other, name) for name in names] + [(plan, names[0])]

    def all_at_once():
        with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
            return list(pool.map(lambda one: laboratory.preview_workspace(*one), asked))

    for (environment, name), preview in zip(asked, untouched(all_at_once), strict=True):
        (resource,) = preview["terraform"]["resources"]
        assert resource["after"]["input"] == (name if environment == plan else "other")


def test_a_large_answer_arrives_whole(laboratory):
    """Salt would leave out what is large in it, unless master and minion are told how much is too much."""
    name = "production/foreseen-large"
    plan = laboratory.releases.plan({name: workspace(name, "x" * 2_000_000)})
    (resource,) = laboratory.preview_workspace(plan, name)["terraform"]["resources"]
    assert resource["after"]["input"] == "x" * 2_000_000


def test_a_silent_nomad_is_an_error_of_the_answer(laboratory, environment):
    name = f"{environment}/unheard"
    plan = laboratory.releases.plan({name: job(name)})
    nomad = laboratory.processes.started["nomad"].pid
    os.killpg(nomad, signal.SIGSTOP)
    try:
        preview = laboratory.preview_workspace(plan, name)
    finally:
        os.killpg(nomad, signal.SIGCONT)
    assert (preview["terraform"], preview["nomad"], preview["error"]["layer"]) == (None, None, "nomad")
    assert "does not answer" in preview["error"]["words"] and "refused" not in preview["error"]
    assert preview["error"]["hint"]
    wait_until("Nomad's answer", lambda: laboratory.preview_workspace(plan, name)["error"] is None)


def test_another_digest_than_the_planned_one_is_an_error(laboratory):
    name = "production/foreseen-otherwise"
    plan = laboratory.releases.plan({name: workspace(name, "x")})
    arguments = made("components.foreseen-otherwise.production.workspace", "0" * 64)
    assert "is refused" in laboratory.preview(plan, "eos.make", arguments)["error"]["words"]
    gone = f"plan-{'0' * 32}"
    assert "names no workspace of" in laboratory.preview(gone, "eos.make", arguments)["error"]["words"]


PLAN = f"plan-{'0' * 32}"


@pytest.mark.parametrize(
    ("plan", "function", "arguments"),
    [
        ("base", "eos.make", made("components.x.y.workspace", "0" * 64)),
        ("plan-../../../etc", "eos.make", made("components.x.y.workspace", "0" * 64)),
        (PLAN, "cmd.run", {"cmd": "id"}),
        (PLAN, "eos.act", made("components.x.y.workspace", "0" * 64)),
        (PLAN, "eos.make", {**made("components.x.y.workspace", "0" * 64), "component": "../x"}),
        (PLAN, "eos.make", {**made("components.x.y.workspace", "0" * 64), "kind": "../x"}),
        (PLAN, "eos.make", {**made("components.x.y.workspace", "0" * 64), "pillar": {}}),
        (PLAN, "eos.make", {"kind": "workspace"}),
        (PLAN, "eos.make", {}),
        (PLAN, "eos.make", "x"),
        (PLAN, "eos.make", removed("a/b", "secret", items=[{"item": "password"}])),
        (PLAN, "eos.remove", {**removed("a/b"), "environment": "../.."}),
        (PLAN, "eos.remove", removed("a/b", "volume", volumes={"a/b/c": "/a/../b"})),
        (PLAN, "eos.remove", removed("a/b", "volume", volumes={"a/other/c": "/a/b"})),
        (PLAN, "eos.remove", removed("a/b", "volume", volumes={"a/b/c": "/a/b"}, made_by="o")),
    ],
)
def test_malformed_previews_are_refused(laboratory, plan, function, arguments):
    answer = laboratory.salt.call("eos.preview", plan=plan, function=function, arguments=arguments)
    assert answer["retcode"] == 1 and isinstance(answer["ret"], str), answer


def test_every_role_may_preview(laboratory, untouched):
    name = "production/foreseen-by-all"
    plan = laboratory.releases.plan({name: {**workspace(name, "x"), "risk": "high"}})
    for user in ("eos-user", "eos-architect"):
        with laboratory.salt.acting_as(user):
            assert untouched(lambda: laboratory.preview_workspace(plan, name))["error"] is None


def test_what_a_killed_preview_left_goes_after_an_hour(laboratory):
    name = "production/foreseen-after-a-crash"
    plan = laboratory.releases.plan({name: workspace(name, "x")})
    left, lasting = (laboratory.salt.cache / f"eos-preview-{kind}" for kind in ("left", "lasting"))
    for directory in (left, lasting):
        directory.mkdir()
        (directory / "plan.tfplan").write_text("all values")
    os.utime(left, (0, 0))
    assert laboratory.preview_workspace(plan, name)["error"] is None
    assert [directory.name for directory in laboratory.salt.cache.glob("eos-preview-*")] == ["eos-preview-lasting"]
    (lasting / "plan.tfplan").unlink()
    lasting.rmdir()


def test_a_minion_is_served_no_file_from_outside_of_plans(laboratory):
    """A minion chooses its environment: the master must not let that lead to another directory called `salt`."""
    (laboratory.directory / "etc-of-master" / "salt").mkdir(parents=True)
    (laboratory.directory / "etc-of-master" / "salt" / "key.pem").write_text("private")
    plan = laboratory.releases.plan({})
    (laboratory.salt.srv / "plans" / plan / "salt").mkdir(exist_ok=True)
    (laboratory.salt.srv / "plans" / plan / "salt" / "key.pem").write_text("of the plan")

    def served(saltenv: str) -> object:
        command = [laboratory.salt.bin / "salt-call", "-c", laboratory.salt.etc / "minion.d", "--out=json"]
        command += ["--log-level=quiet", "cp.get_file_str", "salt://key.pem", f"saltenv={saltenv}"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        return json.loads(ran.stdout)["local"]

    assert served(plan) == "of the plan"
    for saltenv in ("../../etc-of-master", f"{plan}/../../../etc-of-master"):
        assert served(saltenv) is False
