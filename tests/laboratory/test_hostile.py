"""Hostile values from the pillar to their last reader: refused with a hint, or read back to the byte.

The strings come from EOS_TEST_SEED; a full run tries more of them.
"""

import base64
import html
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from estates import FULL, PROGRAM, SEED, Estate, get, sample
from hostile_strings import as_path, as_yaml, is_carried, refused, strings

pytestmark = pytest.mark.side_by_side

COUNT = 300 if FULL else 60
GREETINGS = [text for text in strings(SEED, COUNT) if is_carried(text)]


def made_estate(root: Path) -> Path:
    ran = subprocess.run([PROGRAM, "init", str(root)], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    common = root / "pillar/infrastructure/common.sls"
    # Paths are compared as they were given.
    common.write_text("".join(line for line in common.open() if "volumes_below" not in line))
    return root


def compiled(root: Path) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, "--estate", str(root), "compile"], capture_output=True, timeout=120)


def write_components(root: Path, components: list[str]):
    (root / "pillar/infrastructure/production.sls").write_text("#!yaml\ncomponents:\n" + "".join(components))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """An estate with a hello for every greeting and a grafana for every image and path, compiled."""
    if not PROGRAM:
        pytest.skip("EOS_TEST_PROGRAM is not set")
    root = made_estate(tmp_path_factory.mktemp("hostile") / "estate")
    components = [
        f"  h{index}: {{recipe: hello, options: {{greeting: {as_yaml(text)}}}}}\n"
        for index, text in enumerate(GREETINGS)
    ]
    components += [
        f"  g{index}:\n    recipe: grafana\n    options:\n      port: {3000 + index}\n"
        f"      data_path: {as_yaml(as_path(index, text))}\n"
        for index, text in enumerate(GREETINGS)
    ]
    write_components(root, components)
    ran = compiled(root)
    assert ran.returncode == 0, ran.stderr.decode()
    print(f"seed {SEED}: {len(GREETINGS)} strings")
    return root


def values(tree: Path, component: str) -> Path:
    return tree / f"terraform/environments/production/{component}/terraform.tfvars.json"


def test_what_an_engine_would_change_is_refused_with_its_line(tmp_path):
    if not PROGRAM:
        pytest.skip("EOS_TEST_PROGRAM is not set")
    root = made_estate(tmp_path / "estate")
    texts = refused(SEED, COUNT)
    write_components(
        root,
        [
            f"  h{index}: {{recipe: hello, options: {{greeting: {as_yaml(text)}}}}}\n"
            for index, text in enumerate(texts)
        ],
    )
    ran = compiled(root)
    talk = ran.stderr.decode()
    assert ran.returncode == 2, talk
    told = {int(line) for line in re.findall(r"production\.sls:(\d+):\d+", talk)}
    assert told == {index + 3 for index in range(len(texts))}, talk
    assert talk.count("hint:") >= 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", talk), repr(talk)
    assert not (root / "terraform").exists() or not list((root / "terraform").rglob("terraform.tfvars.json"))


RENDER = """
import json, sys
import salt.config, salt.loader, salt.template
opts = salt.config.minion_config(None)
opts["file_client"] = "local"
renderers = salt.loader.render(opts, {})
for path in sys.argv[1:]:
    print(json.dumps(salt.template.compile_template(path, renderers, "jinja|yaml", None, None)))
"""


def test_salt_reads_the_pillar_and_its_states(tree, tmp_path):
    volumes = [f"salt/components/g{index}/production/volumes.sls" for index in range(len(GREETINGS))]
    files = ["pillar/infrastructure/production.sls", "pillar/hosts/control.sls", *volumes]
    python = Path(os.environ["EOS_TEST_SALT"]) / "bin/python"
    ran = subprocess.run(
        [python, "-c", RENDER, *(tree / file for file in files)], capture_output=True, text=True, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    pillar, host, *states = (json.loads(line) for line in ran.stdout.splitlines())
    for index, text in enumerate(GREETINGS):
        path = as_path(index, text)
        assert pillar["components"][f"h{index}"]["options"]["greeting"] == text
        assert pillar["components"][f"g{index}"]["options"]["data_path"] == path
        assert host["eos"]["volumes"][f"production/g{index}/data"]["path"] == path
        state = states[index][f"production/g{index}/data"]["file.directory"]
        assert {"name": path} in state


def test_terraform_reads_the_values(tree, tmp_path):
    terraform = os.environ["EOS_TEST_TERRAFORM"]
    (tmp_path / "none.tfrc").write_text("")
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(tmp_path / "none.tfrc")}
    for index in sample(list(range(len(GREETINGS))), 12):
        for component, variable, wanted in [
            (f"h{index}", "hello_env_eos_hello_greeting", GREETINGS[index]),
            (f"g{index}", "volume_data_path", as_path(index, GREETINGS[index])),
        ]:
            place = tmp_path / component
            place.mkdir()
            for file in ("variables.tf", "terraform.tfvars.json"):
                shutil.copy(values(tree, component).with_name(file), place)
            if component.startswith("g"):
                (place / "node.auto.tfvars.json").write_text('{"node_ids": {}}')
            ran = subprocess.run(
                [terraform, "console"],
                input=f"base64encode(var.{variable})\n",
                cwd=place,
                env=environment,
                capture_output=True,
                text=True,
            )
            assert ran.returncode == 0, ran.stderr
            assert base64.b64decode(json.loads(ran.stdout)).decode() == wanted


def test_nomad_reads_the_values(tree):
    nomad = os.environ["EOS_TEST_NOMAD"]
    for index in sample(list(range(len(GREETINGS))), 40):
        job = next(tree.glob(f"terraform/modules/h{index}/*/h{index}.nomad.hcl"))
        ran = subprocess.run(
            [nomad, "job", "run", "-output", f"-var-file={values(tree, f'h{index}')}", job],
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
        (group,) = json.loads(ran.stdout)["Job"]["TaskGroups"]
        assert group["Tasks"][0]["Env"]["EOS_HELLO_GREETING"] == GREETINGS[index]


def seen_by_task(estate: Estate) -> set[bytes]:
    """The greeting in the environment of every process of the running allocation."""
    allocation = estate.running("hostile")[-1]["ID"]
    seen = set()
    for process in Path("/proc").iterdir():
        try:
            block = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"NOMAD_ALLOC_ID={allocation}".encode() in block:
            seen |= {one.split(b"=", 1)[1] for one in block if one.startswith(b"EOS_HELLO_GREETING=")}
    return seen


def test_a_running_task_has_the_values(estate):
    # All of them in one value, then some alone: ends and emptiness count too.
    together = "\n--\n".join(GREETINGS)[:60_000]
    alone = sample(sorted({text for text in GREETINGS if len(text) < 100}), 2)[:20]
    begun = time.monotonic()
    try:
        estate.must("create", "hello", "--name", "hostile", f"--greeting={together}", "--yes")
        for text in [together, *alone]:
            if text != together:
                estate.must("update", "hostile", f"--greeting={text}", "--yes")
            assert seen_by_task(estate) == {text.encode()}
            # Python takes more for the end of a line than JSON does.
            told = estate.must("read", "hostile", "--json").stdout.strip().split("\n")[-1]
            status, page = get(json.loads(told)["outputs"]["hello_url"])
            shown = html.unescape(re.search(r"<h1>(.*)</h1>", page, re.S)[1])
            assert status == 200 and shown == (text or "Hello from Eos")
    finally:
        estate.must("delete", "hostile", "--yes")
    print(f"seed {SEED}: {len(alone) + 1} values in a running task, {time.monotonic() - begun:.0f} s")


PLACER = """recipe: placer
summary: A task and a directory
version: "1"
options:
  place: {type: path}
needs:
  data: {volume: {purpose: application, size: 1M, path: "{{ place }}", owner: "OWNER"}}
services:
  placer:
    program: [eos, serve-hello]
    replicas: 1
    cpu: 50
    memory: 64
    env: {PLACE: "{{ place }}"}
    ports: {http: {}}
    check: {http: /health}
"""


def test_a_directory_gets_its_very_name(estate):
    estate.write_recipe("placer", PLACER.replace("OWNER", f"{os.getuid()}:{os.getgid()}"))
    place = '/it\'s "q" $(id) `id` {{ x }} %{y} {% z %} #;&|<>*?~ \\n ünï🦀/-rf ..x'
    try:
        estate.must("create", "placer", f"--place={place}", "--yes")
        made = [str(found.relative_to(estate.lab / "volumes")) for found in estate.files("volumes/**/-rf*")]
        assert made == [place.removeprefix("/")]
        volumes = estate.nomad("/v1/volumes?type=host&namespace=production")
        assert "placer-data" in [one["Name"] for one in volumes]
    finally:
        estate.must("delete", "placer", "--yes")
