"""A user who means harm, in a laboratory with the settings that it begins with: nothing is made, and nothing runs."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from estates import Estate, in_use, no_containers
from standing import STRICT, lent

AS_USER = {"EOS_SALT_USER": "eos-user"}
WAITING = 4
INPUT = 2

PROGRAM = """\
recipe: gift
summary: A program of the host
version: "1"
risk: low
services:
  gift:
    instances: one
    program: [/bin/sh, -c, "id > {proof}; exec sleep 600"]
"""
PRELOADED = """\
recipe: gift
summary: The program that the laboratory names, with a library of one's own
version: "1"
risk: low
services:
  gift:
    program: [eos, serve-hello, --listen, "{{{{ listen_address }}}}"]
    env: {{LD_PRELOAD: {proof}}}
    ports: {{http: {{}}}}
    check: {{http: /health}}
"""
VOLUME = """\
recipe: gift
summary: A directory of the host
version: "1"
risk: low
needs:
  data: {{volume: {{purpose: application, size: 1M, path: "/../../../../../../../../../..{proof}", owner: "65534:65534"}}}}
services:
  gift:
    program: [eos, serve-hello, --listen, "{{{{ listen_address }}}}"]
    ports: {{http: {{}}}}
    check: {{http: /health}}
"""


@pytest.fixture(scope="module")
def estate():
    with lent(STRICT) as made:
        made.must("home", "take", "--yes")
        yield made


@pytest.fixture
def proof(estate, tmp_path):
    """A path that nothing may touch; nothing of the recipe is left."""
    yield tmp_path / "proof"
    shutil.rmtree(estate.root / "recipes/gift", ignore_errors=True)


def volumes(estate: Estate) -> list[str]:
    return sorted(str(path) for path in (estate.lab / "volumes").rglob("*"))


@pytest.mark.parametrize("recipe", [PROGRAM, PRELOADED, VOLUME], ids=["program", "preloaded", "volume"])
def test_a_recipe_of_ones_own_is_no_way_to_root(estate, proof, recipe):
    if recipe is VOLUME:
        proof.mkdir()
    before = (estate.jobs(), volumes(estate))
    estate.write_recipe("gift", recipe.format(proof=proof))
    for words in (["create", "gift", "--yes"], ["create", "gift", "--plan"]):
        ran = estate.eos(*words, env=AS_USER)
        assert ran.returncode in ((WAITING, INPUT) if "--yes" in words else (0, INPUT)), f"{ran.stdout}\n{ran.stderr}"
    assert (estate.jobs(), volumes(estate)) == before
    assert not proof.exists() or (proof.stat().st_uid != 65534 and not list(proof.iterdir()))
    assert "gift" not in (estate.root / "pillar/infrastructure/production.sls").read_text()


def test_an_image_of_ones_own_is_for_operators(estate):
    if why := no_containers():
        pytest.skip(why)
    before = (estate.jobs(), volumes(estate))
    ran = estate.eos("create", "grafana", "--image", "other/image:1", "--yes", env=AS_USER)
    assert ran.returncode == WAITING, f"{ran.stdout}\n{ran.stderr}"
    assert (estate.jobs(), volumes(estate)) == before


def test_the_page_of_the_laboratory_is_still_for_everybody(estate):
    estate.must("create", "hello", "--yes", env=AS_USER)
    assert len(estate.running("hello")) == 1
    estate.must("delete", "hello", "--yes", env=AS_USER)


class Delivered:
    """A release that another hand changes after Eos delivered it: files, and the digests in the slice."""

    def __init__(self, estate: Estate, name: str):
        self.estate, self.name = estate, name
        self.root = Path((estate.lab / "srv/current").resolve())
        self.pillar = self.root / "pillar/hosts/control.sls"

    def slices(self) -> dict:
        return json.loads(self.pillar.read_text().split("\n", 1)[1])

    def write(self, slices: dict) -> None:
        self.pillar.write_text("#!json\n" + json.dumps(slices))

    def change(self, ending: str, before: str, after: str) -> None:
        slices = self.slices()
        wanted = slices["eos"]["workspaces"][self.name]
        (path,) = [path for path in wanted["files"] if path.endswith(ending)]
        file = self.root / "files" / path
        text = file.read_text()
        assert before in text, text
        file.write_text(text.replace(before, after, 1))
        wanted["files"][path] = hashlib.sha256(file.read_bytes()).hexdigest()
        self.write(slices)

    def wanted(self) -> dict:
        return self.slices()["eos"]["workspaces"][self.name]

    def digest(self) -> str:
        """Of the whole slice as it is served now, whatever it says of itself."""
        facts = {key: value for key, value in self.wanted().items() if key != "digest"}
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def step(self, digest: str) -> dict:
        environment, component = self.name.split("/")
        part = {"kind": "workspace", "environment": environment, "component": component}
        return {**part, "facts": {"digest": digest}}

    def make(self, digest: str | None = None) -> object:
        ids = {"operation": f"by-hand-{os.urandom(8).hex()}", "step": "1"}
        return self.call("eos.make", **ids, **self.step(digest or self.digest()))

    def call(self, function: str, /, user: str = "eos-user", **keywords: object) -> object:
        low = {"client": "local", "tgt": "control", "fun": function, "kwarg": keywords, "full_return": True}
        status, body = self.estate.salt([{**low, "timeout": 60}], user)
        assert status == 200, body
        return json.loads(body)["return"][0]["control"]["ret"]


@pytest.fixture
def delivered(estate):
    """The release with hello in it, as somebody who can write to the delivery directory finds it."""
    estate.must("create", "hello", "--yes")
    kept = Path((estate.lab / "srv/current").resolve())
    aside = estate.lab / "release-as-delivered"
    shutil.copytree(kept, aside, symlinks=True)
    yield Delivered(estate, "production/hello")
    shutil.rmtree(kept)
    aside.rename(kept)
    estate.must("delete", "hello", "--yes")


DRIVER = '      driver = "raw_exec"\n\n      config {\n        command = var.hello_command\n'
DOCKER = '      driver = "docker"\n\n      config {\n        image = var.hello_command\n'
CHANGES = {
    "another program": ("tfvars.json", '"eos"', '"/bin/sh"'),
    "another image": ("nomad.hcl", DRIVER, DOCKER),
    "privileged": ("nomad.hcl", DRIVER, DOCKER + "        privileged = true\n"),
    "a bind mount": ("nomad.hcl", DRIVER, DOCKER + '        volumes = ["/:/host"]\n'),
    "the host's network": ("nomad.hcl", DRIVER, DOCKER + '        network_mode = "host"\n'),
    "a provisioner": (
        "/main.tf",
        "  jobspec          = file",
        '  provisioner "local-exec" {\n    command = "id"\n  }\n\n  jobspec          = file',
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_delivered_by_another_hand_needs_an_approval(estate, delivered, what):
    ending, before, after = CHANGES[what]
    job = estate.nomad("/v1/job/hello?namespace=production")
    ending = ending if ending != "/main.tf" else f"{module_of(delivered)}/main.tf"
    delivered.change(ending, before, after)
    answer = delivered.make()
    assert isinstance(answer, str) and "needs approval: " in answer, answer
    assert estate.nomad("/v1/job/hello?namespace=production")["JobModifyIndex"] == job["JobModifyIndex"]


@pytest.mark.parametrize(
    "claimed", [{"token": "management"}, {"risk": "high"}, {"hosts": ["other"]}, {"secrets": [{"path": "other"}]}]
)
def test_what_a_slice_says_of_itself_counts_for_nothing(delivered, claimed):
    """The digest that somebody approved stands for the whole slice, not for its name."""
    approved, slices = delivered.digest(), delivered.slices()
    assert delivered.wanted()["digest"] == approved
    slices["eos"]["workspaces"][delivered.name] |= claimed
    delivered.write(slices)
    answer = delivered.make(approved)
    assert isinstance(answer, str) and f"at {approved} is refused: minion control is served" in answer, answer


RUNS = "import pathlib\npathlib.Path({proof!r}).touch()\ndef run():\n    return {{}}\ndef ping():\n    return True\n"


def test_nothing_that_is_delivered_runs(delivered, proof):
    program = RUNS.format(proof=str(proof))
    for kind in ("_modules", "_states", "_grains", "_utils"):
        for root in ("salt", "files"):
            file = delivered.root / root / kind / "delivered.py"
            file.parent.mkdir()
            file.write_text(program)
    delivered.call("eos.sync")
    assert delivered.call("test.ping") is True
    assert not list(delivered.estate.lab.glob("salt/**/delivered.py*"))
    for file in (delivered.pillar, delivered.root / "pillar/top.sls"):
        file.write_text(f"#!py\n{program}")
    answer = delivered.call("eos.examine", kind="volume")
    assert "control.sls is no JSON: deliver it again with `eos apply`" in answer, answer
    assert not proof.exists()


def test_a_preview_reads_no_file_of_the_host_for_its_caller(delivered, proof):
    proof.write_text("a credential of the host")
    before = 'file("${path.module}/hello.nomad.hcl")'
    delivered.change(f"{module_of(delivered)}/main.tf", before, f'file("{proof}")')
    plan = f"plan-{os.urandom(16).hex()}"
    place = delivered.estate.lab / "srv/plans" / plan
    shutil.copytree(delivered.root, place)
    asked = {"plan": plan, "function": "eos.make", "arguments": delivered.step(delivered.digest())}
    try:
        with in_use(place):
            answer = delivered.call("eos.preview", **asked)
    finally:
        shutil.rmtree(place)
    assert "The Terraform files are none that Eos emits" in answer["error"]["words"], answer
    assert "credential of the host" not in json.dumps(answer)


def module_of(delivered: Delivered) -> str:
    files = delivered.slices()["eos"]["workspaces"][delivered.name]["files"]
    (job,) = [path for path in files if path.endswith(".nomad.hcl")]
    return job.rpartition("/")[0]
