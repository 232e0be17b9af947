"""A plan in a file and its pins, each moved in its own engine; and the pipeline of docs/gitops, as CI runs it."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from estates import PROGRAM, Estate, get

PIPELINE = Path(__file__).parents[2] / "docs/gitops/pipeline.sh"
IDENTITY = ("-c", "user.name=ada", "-c", "user.email=ada@localhost")
TERRAFORM = os.environ.get("EOS_TEST_TERRAFORM", "terraform")


def git(directory: Path, *words: str) -> str:
    ran = subprocess.run(["git", "-C", directory, *words], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def greeting(estate: Estate) -> str:
    return get(estate.json("read", "hello")["outputs"]["hello_url"])[1]


@pytest.fixture(scope="module")
def hello(estate):
    estate.must("create", "hello", "--yes")
    yield estate
    estate.must("delete", "--all", "--environment", "production", "--yes")


def state_of_hello(estate: Estate) -> Path:
    return next(estate.lab.glob("terraform/**/production/hello/state/terraform.tfstate"))


def planned(estate: Estate, file: Path, *words: str) -> dict:
    """The plan that a greeting be changed to what the file is called."""
    estate.must("update", "hello", "--greeting", file.stem, *words, "--plan", "--out", str(file))
    return json.loads(file.read_text())


def refuse(estate: Estate, file: Path, *moved: str):
    """The plan is refused, names what moved, and nothing was changed."""
    head = git(estate.root, "rev-parse", "HEAD")
    index = estate.nomad("/v1/job/hello?namespace=production")["JobModifyIndex"]
    ran = estate.eos("apply", str(file), "--yes", "--json")
    assert ran.returncode == 2, ran.stdout
    errors = [json.loads(line) for line in ran.stdout.splitlines() if '"event":"error"' in line]
    told = "\n".join(error["message"] for error in errors)
    assert len(errors) == 1, told
    assert all(word in told for word in ("stale", *moved)), told
    assert "new plan" in errors[0]["hint"]
    assert git(estate.root, "rev-parse", "HEAD") == head
    assert estate.nomad("/v1/job/hello?namespace=production")["JobModifyIndex"] == index
    # The attempt is on record, as one that left nothing behind.
    assert estate.json("history")["operations"][0]["outcome"] == "taken back"


def test_an_intent_is_planned_approved_and_applied_later(hello, tmp_path):
    plan = planned(hello, tmp_path / "later.json")
    pins = plan["pins"]
    assert pins["consul"] is None
    assert pins["pillar"]["commit"] == git(hello.root, "log", "-1", "--format=%H", "--", "pillar/infrastructure")
    state = json.loads(state_of_hello(hello).read_text())
    expected = {"lineage": state["lineage"], "serial": state["serial"]}
    assert pins["workspaces"] == {"production/hello": expected}
    job = hello.nomad("/v1/job/hello?namespace=production")
    assert pins["jobs"] == {"production/hello": job["JobModifyIndex"]}
    assert "later" not in greeting(hello)
    hello.must("apply", str(tmp_path / "later.json"), "--yes")
    assert "later" in greeting(hello)
    assert "eos update hello --greeting later" in hello.json("history")["operations"][0]["words"]


def test_the_pillar_moved(hello, tmp_path):
    planned(hello, tmp_path / "pillar.json")
    file = hello.root / "pillar/infrastructure/staging.sls"
    before = file.read_text() if file.exists() else None
    file.write_text((before or "#!yaml\ncomponents: {}\n") + "# a word\n")
    refuse(hello, tmp_path / "pillar.json", "pillar", "no commit")
    git(hello.root, "add", str(file))
    git(hello.root, *IDENTITY, "commit", "-qm", "A word", "--", str(file))
    refuse(hello, tmp_path / "pillar.json", "pillar", git(hello.root, "rev-parse", "HEAD")[:12])
    git(hello.root, *IDENTITY, "revert", "--no-edit", "HEAD")
    # The same text, by another way: the plan was made of neither commit.
    refuse(hello, tmp_path / "pillar.json", "pillar", git(hello.root, "rev-parse", "HEAD")[:12])
    planned(hello, tmp_path / "again.json")
    hello.must("apply", str(tmp_path / "again.json"), "--yes")
    assert "again" in greeting(hello)


def test_a_plan_of_an_edit_without_a_commit_outlives_the_commit(hello, tmp_path):
    file = hello.root / "pillar/infrastructure/production.sls"
    hello.must("update", "hello", "--greeting", "committed", "--yes")
    file.write_text(file.read_text().replace("greeting: committed", "greeting: uncommitted"))
    out = tmp_path / "uncommitted.json"
    hello.must("plan", "--out", str(out))
    assert json.loads(out.read_text())["pins"]["pillar"]["commit"] is None
    git(hello.root, *IDENTITY, "commit", "-qm", "An edit", "--", str(file))
    hello.must("apply", str(out), "--yes")
    assert "uncommitted" in greeting(hello)


def test_the_terraform_state_moved(hello, tmp_path):
    plan = planned(hello, tmp_path / "terraform.json")
    was = plan["pins"]["workspaces"]["production/hello"]
    state = state_of_hello(hello)
    resources = json.loads(state.read_text())["resources"]
    job = next(f"{one['module']}.nomad_job.{one['name']}" for one in resources if one["type"] == "nomad_job")
    for command in ("taint", "untaint"):
        ran = subprocess.run(
            [TERRAFORM, command, f"-state={state}", "-lock=false", job],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
    serial = json.loads(state.read_text())["serial"]
    assert serial > was["serial"]
    refuse(hello, tmp_path / "terraform.json", "Terraform workspace production/hello", str(was["serial"]), str(serial))
    planned(hello, tmp_path / "terraform2.json")
    hello.must("apply", str(tmp_path / "terraform2.json"), "--yes")
    assert "terraform2" in greeting(hello)


def test_the_job_moved(hello, tmp_path):
    was = planned(hello, tmp_path / "job.json")["pins"]["jobs"]["production/hello"]
    body = {"Count": 2, "Target": {"Group": "hello"}, "Message": "by hand"}
    hello.nomad("/v1/job/hello/scale?namespace=production", "POST", body)
    now = hello.nomad("/v1/job/hello?namespace=production")["JobModifyIndex"]
    refuse(hello, tmp_path / "job.json", "Nomad job production/hello", str(was), str(now))
    planned(hello, tmp_path / "job2.json")
    hello.must("apply", str(tmp_path / "job2.json"), "--yes")
    assert "job2" in greeting(hello)


def test_a_secret_that_is_given_is_in_no_file(estate, tmp_path):
    out = tmp_path / "secret.json"
    words = ("create", "grafana", "--admin-password", "-", "--plan", "--out", str(out))
    ran = estate.eos(*words, input="canary-in-a-plan\n")
    assert ran.returncode == 2 and "secret" in ran.stderr, ran.stderr
    assert not out.exists()


@pytest.fixture
def pushed(estate, tmp_path):
    """A repository that people push to, and a clone that somebody works in; the estate is its home."""
    remote, clone = tmp_path / "remote.git", tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--bare", estate.root, remote], check=True)
    git(estate.root, "remote", "add", "origin", str(remote))
    subprocess.run(["git", "clone", "-q", remote, clone], check=True)

    def push(text: str):
        git(clone, "pull", "-q", "--ff-only")
        (clone / "pillar/infrastructure/production.sls").write_text(text)
        git(clone, "add", "pillar")
        git(clone, *IDENTITY, "commit", "-qm", "What is wanted")
        git(clone, "push", "-q", "origin", "HEAD:main")

    yield push
    git(estate.root, "remote", "remove", "origin")


def pull(estate: Estate):
    git(estate.root, *IDENTITY, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")


def pipeline(estate: Estate, plan: Path, *words: str):
    environment = {
        **os.environ,
        "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}",
        "ESTATE": str(estate.root),
        "PLAN": str(plan),
        "GIT_AUTHOR_NAME": "pipeline",
        "GIT_AUTHOR_EMAIL": "pipeline@localhost",
        "GIT_COMMITTER_NAME": "pipeline",
        "GIT_COMMITTER_EMAIL": "pipeline@localhost",
    }
    return subprocess.run(
        ["sh", str(PIPELINE), *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=400,
    )


WANTED = """\
#!yaml
components:
  first:
    recipe: hello
    options: {{greeting: {word}}}
  second:
    recipe: hello
"""


def test_a_push_is_tried_planned_approved_and_applied(estate, pushed, tmp_path):
    plan = tmp_path / "plan.json"
    nothing = pipeline(estate, plan, "propose")
    assert nothing.returncode == 0, nothing.stderr
    assert not plan.exists()

    pushed(WANTED.format(word="pushed"))
    proposed = pipeline(estate, plan, "propose")
    assert proposed.returncode == 3, proposed.stdout + proposed.stderr
    digest = proposed.stdout.splitlines()[-1]
    # It was tried, and nothing of the trial is left.
    words = [one["words"] for one in estate.json("history")["operations"][:2]]
    assert words == [
        "eos delete --all --environment development",
        "eos promote --all --from production --to development",
    ]
    assert not [job for job in estate.jobs() if job.startswith("development/")]
    assert "development" not in [one["Name"] for one in estate.nomad("/v1/namespaces")]
    assert "production/first" not in estate.jobs()

    wrong = pipeline(estate, plan, "deploy", "0" * 64)
    assert wrong.returncode == 2 and "production/first" not in estate.jobs(), wrong.stderr

    deployed = pipeline(estate, plan, "deploy", digest)
    assert deployed.returncode == 0, deployed.stdout + deployed.stderr
    assert {"production/first", "production/second"} <= set(estate.jobs())
    assert "pushed" in get(estate.json("read", "first")["outputs"]["hello_url"])[1]
    assert git(estate.root, "rev-parse", "HEAD") == git(estate.root, "ls-remote", "origin", "main").split()[0]

    # Somebody pushes between approval and deployment: what was approved is not what there is.
    pushed(WANTED.format(word="second"))
    digest = pipeline(estate, plan, "propose").stdout.splitlines()[-1]
    pushed(WANTED.format(word="third"))
    pull(estate)
    late = pipeline(estate, plan, "deploy", digest)
    assert late.returncode == 2 and "stale" in late.stderr and "pillar" in late.stderr, late.stderr
    assert "pushed" in get(estate.json("read", "first")["outputs"]["hello_url"])[1]

    pushed("#!yaml\ncomponents: {}\n")
    pull(estate)
    estate.must("apply", "--yes")


def test_an_environment_is_deleted_whole_and_by_its_name_only(estate):
    ran = estate.eos("delete", "--all", "--yes")
    assert ran.returncode == 2 and "--environment" in ran.stderr, ran.stderr
    estate.must("create", "hello", "--environment", "staging", "--replicas", "1", "--yes")
    estate.must("create", "hello", "--name", "other", "--environment", "staging", "--replicas", "1", "--yes")
    plan = estate.json("delete", "--all", "--environment", "staging", "--plan")["plan"]
    assert {change["component"] for change in plan["changes"]} == {"hello", "other", "platform"}
    assert all(change["action"] == "delete" for change in plan["changes"])
    estate.must("delete", "--all", "--environment", "staging", "--yes")
    assert not [job for job in estate.jobs() if job.startswith("staging/")]
    assert "staging" not in [one["Name"] for one in estate.nomad("/v1/namespaces")]
    assert "nothing" in estate.must("delete", "--all", "--environment", "staging", "--yes").stderr
