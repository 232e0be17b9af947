"""The least risk of what a minion is about to make, computed from emitted files: pure, without any engine."""

from __future__ import annotations

import json
import re
import types

import pytest

from laboratory import FORMULA, MINION

ROOT = FORMULA.parent
GOLDEN = ROOT / "tests" / "golden"
RANK = ("low", "medium", "high")
SETTINGS = {
    # Beside those of this minion's own volumes.
    "volumes_below": ["/opt"],
    "programs": [{"words": ["eos", "serve-hello"], "environment": ["EOS_HELLO_GREETING"], "tier": "low"}],
}


def golden(tree: str) -> dict[str, dict]:
    """Every workspace of a golden tree: its slice, and its files by path."""
    root = GOLDEN / tree / "tree"
    _, text = (root / "pillar/hosts/control.sls").read_text().split("\n", 1)
    slices = json.loads(text)["eos"]["workspaces"]
    return {
        name: {"slice": facts, "files": {path: (root / path).read_bytes() for path in facts["files"]}}
        for name, facts in slices.items()
    }


@pytest.fixture
def tiers(load):
    utils = {}
    for name in ("eos_hcl", "eos_emitted", "eos_job", "eos_images", "eos_providers"):
        used = load(f"_utils/{name}.py")
        # Salt gives them no way to one another.
        del used.__utils__
        utils |= {f"{name}.{function}": getattr(used, function) for function in dir(used)}
    there = {
        "eos_volumes.allowed": lambda: ["/srv/lab/volumes"],
        "eos_volumes.why_not_its_own": lambda name, path: None,
        "eos_workspace.of_others": lambda name: {},
        "eos_terraform.recorded_risks": lambda environment, component: [],
        "eos_secrets.risks_of_holder": lambda name: [],
    }
    module = load("_modules/eos_tiers.py", utils=utils, salt=there)
    module.__opts__["eos_tiers"] = SETTINGS
    return module


def highest(found: list[tuple]) -> str:
    return max((tier for tier, _ in found), key=RANK.index, default="low")


def judged(tiers, tree: str, name: str, change=lambda files: None, **of_slice: object) -> list[tuple]:
    """(tier, why) of a golden workspace after a change of its files, given by how their paths end."""
    there = golden(tree)[name]
    files = dict(there["files"])
    change(files)
    return tiers.of_workspace(name, {**there["slice"], **of_slice}, files)


@pytest.mark.parametrize("tree", sorted(path.name for path in GOLDEN.iterdir()))
def test_all_that_eos_emits_is_read_and_is_of_the_risk_of_its_recipe(tiers, tree):
    workspaces = golden(tree)
    others = {name: there["files"] for name, there in workspaces.items()}
    tiers.__salt__["eos_workspace.of_others"] = lambda name: {
        other: files
        for other, files in others.items()
        if other != name and any(b"nomad_dynamic_host_volume_registration" in content for content in files.values())
    }
    for name, there in workspaces.items():
        found = tiers.of_workspace(name, there["slice"], there["files"])
        assert highest(found) == there["slice"]["risk"], (name, found)


def edit(ending: str, before: str, after: str):
    """Replaces a text in the one file whose path ends so."""

    def change(files: dict[str, bytes]) -> None:
        (path,) = [path for path in files if path.endswith(ending)]
        assert before.encode() in files[path], (path, before)
        files[path] = files[path].replace(before.encode(), after.encode(), 1)

    return change


def value(name: str, new: object):
    """Gives a variable of the workspace another value."""

    def change(files: dict[str, bytes]) -> None:
        (path,) = [path for path in files if path.endswith("terraform.tfvars.json")]
        values = json.loads(files[path])
        assert name in values
        files[path] = json.dumps({**values, name: new}).encode()

    return change


def added(path: str, text: str):
    def change(files: dict[str, bytes]) -> None:
        (here,) = [path.rpartition("/")[0] for path in files if path.endswith("terraform.tfvars.json")]
        files[f"{here}/{path}"] = text.encode()

    return change


IMAGE = "        image = var.grafana_image\n"
JOB = "grafana.nomad.hcl"
TASK = '      driver = "docker"\n'
MAIN = 'resource "nomad_job" "component" {\n'
# By what an administrator calls it: a change of grafana's files by somebody who can deliver.
HOSTILE = {
    "another driver": edit(JOB, '"docker"', '"exec"'),
    "a driver by a variable": edit(JOB, '"docker"', "var.grafana_image"),
    "a program": edit(JOB, '"docker"', '"raw_exec"'),
    "privileged": edit(JOB, IMAGE, IMAGE + "        privileged = true\n"),
    "a capability": edit(JOB, IMAGE, IMAGE + '        cap_add = ["sys_admin"]\n'),
    "a bind mount": edit(JOB, IMAGE, IMAGE + '        volumes = ["/:/host"]\n'),
    "a mount block": edit(
        JOB, IMAGE, IMAGE + '        mount {\n          type = "bind"\n          source = "/"\n        }\n'
    ),
    # A container could replace a file of a directory that it has by a link to one of the host.
    "a file that its container can replace": edit(
        JOB,
        IMAGE,
        IMAGE
        + '\n        mount {\n          type     = "bind"\n          source   = "local/a"\n'
        + '          target   = "/a"\n          readonly = true\n        }\n',
    ),
    "a device": edit(JOB, IMAGE, IMAGE + '        devices = ["/dev/sda"]\n'),
    "the host's network": edit(JOB, IMAGE, IMAGE + '        network_mode = "host"\n'),
    "the host's network for the group": edit(
        JOB, '    network {\n      port "http"', '    network {\n      mode = "host"\n\n      port "http"'
    ),
    "the host's processes": edit(JOB, IMAGE, IMAGE + '        pid_mode = "host"\n'),
    "the host's memory": edit(JOB, IMAGE, IMAGE + '        ipc_mode = "host"\n'),
    "another setting of the kernel": edit(JOB, IMAGE, IMAGE + '        sysctl = { "net.ipv4.ip_forward" = "1" }\n'),
    "an artifact": edit(JOB, TASK, TASK + '\n      artifact {\n        source = "http://x"\n      }\n\n'),
    "a file of the host in a template": edit(
        JOB, TASK, TASK + '\n      template {\n        source = "/x"\n      }\n\n'
    ),
    "another role in Vault": edit(JOB, TASK, TASK + '\n      vault {\n        role = "nomad"\n      }\n\n'),
    "a second job": edit(JOB, "\njob ", '\njob "other" {\n}\n\njob '),
    "another name": edit(JOB, 'job "grafana"', 'job "postgres"'),
    "another namespace": value("namespace", "staging"),
    "a default of a variable": edit(JOB, "  type = string\n", '  type = string\n  default = "x"\n'),
    "a comment": edit(JOB, "\njob ", "\n# x\njob "),
    "a heredoc": edit(JOB, TASK, TASK + "      x = <<E\nE\n"),
    "a function in the job": edit(JOB, "var.grafana_cpu", "max(1, 2)"),
    "another's volume": value("volume_data_name", "postgres-data"),
    "a volume that nobody registers": edit(JOB, "var.volume_data_name", "var.grafana_service"),
    "a volume at /etc": value("volume_data_path", "/etc"),
    "a volume above": value("volume_data_path", "/srv/lab/volumes/../../../etc"),
    "a volume beside": value("volume_data_path", "/srv/lab/volumesx"),
    "all volumes": value("volume_data_path", "/srv/lab/volumes"),
    "another's service": value("grafana_service", "postgres"),
    "another resource": lambda files: edit_module(files, 'resource "terraform_data" "x" {}\n\n'),
    "a data source": lambda files: edit_module(files, 'data "local_file" "x" {\n  filename = "/etc/shadow"\n}\n\n'),
    "a provisioner": lambda files: edit_module(
        files, MAIN + '  provisioner "local-exec" {\n    command = "id"\n  }\n\n', MAIN
    ),
    "a file of the host": lambda files: edit_module(
        files, 'jobspec          = file("/etc/shadow")', 'jobspec          = file("${path.module}/grafana.nomad.hcl")'
    ),
    "another value for the job": lambda files: edit_module(files, "= var.grafana_image\n", "= var.grafana_service\n"),
    "a variable of the environment": lambda files: edit_root(
        files, 'variable "x" {\n  type = string\n}\n', "variables.tf"
    ),
    "another provider": lambda files: edit_root(
        files,
        '    evil = {\n      source  = "evil/evil"\n      version = "~> 2.0"\n    }\n    nomad',
        "main.tf",
        "    nomad",
    ),
    "another source of a provider": lambda files: edit_root(files, '"evil/nomad"', "main.tf", '"hashicorp/nomad"'),
    "a provider with settings": lambda files: edit_root(
        files, 'provider "nomad" {\n  address = "http://x"\n}\n', "main.tf", 'provider "nomad" {}\n'
    ),
    "a backend with settings": lambda files: edit_root(
        files, '  backend "local" {\n    path = "/x"\n  }\n', "main.tf", '  backend "local" {}\n'
    ),
    "another module": lambda files: edit_root(
        files, '"../../../modules/other/', "main.tf", '"../../../modules/grafana/'
    ),
    "a second module": lambda files: edit_root(
        files, 'module "x" {\n  source = "x"\n}\n\nmodule "g', "main.tf", 'module "g'
    ),
    "more values": added("more.auto.tfvars", 'grafana_image = "x"\n'),
    "more Terraform": added("more.tf", "\n"),
    "an override": added("main_override.tf", "\n"),
}


def edit_module(files: dict[str, bytes], new: str, instead_of: str = MAIN) -> None:
    (path,) = [path for path in files if path.startswith("terraform/modules/") and path.endswith("/main.tf")]
    assert instead_of.encode() in files[path]
    new = new + instead_of if instead_of == MAIN and MAIN not in new else new
    files[path] = files[path].replace(instead_of.encode(), new.encode(), 1)


def edit_root(files: dict[str, bytes], new: str, file: str, instead_of: str = "") -> None:
    (path,) = [path for path in files if path.startswith("terraform/environments/") and path.endswith(f"/{file}")]
    assert instead_of.encode() in files[path]
    files[path] = files[path].replace(instead_of.encode(), new.encode(), 1)


@pytest.mark.parametrize("what", HOSTILE)
def test_what_eos_does_not_emit_is_of_high_risk(tiers, what):
    assert highest(judged(tiers, "grafana", "production/grafana")) == "low"
    found = judged(tiers, "grafana", "production/grafana", HOSTILE[what])
    assert highest(found) == "high", found


GALLERY = "gallery/gallery.nomad.hcl"
PLACED = 'source   = "placed/gallery.conf"'


def gallery(tiers, change=lambda files: None) -> str:
    """The risk of a golden component with tasks, a mounted file and a container that says all of itself."""
    return highest(judged(tiers, "jobs", "production/gallery", change))


@pytest.mark.parametrize(
    "source",
    [
        "local/gallery.conf",
        "secrets/gallery.conf",
        "alloc/gallery.conf",
        "../alloc/gallery.conf",
        "placed/../local/gallery.conf",
        "placed/..",
        "placed",
        "/etc",
        "/var/run/docker.sock",
        "placed/a/b",
        "migrate/local/x",
    ],
)
def test_a_mount_from_where_a_task_can_write_is_of_high_risk(tiers, source):
    assert gallery(tiers) == "medium"
    assert gallery(tiers, edit("gallery.nomad.hcl", PLACED, f'source   = "{source}"')) == "high"


@pytest.mark.parametrize(
    "change",
    [
        edit("gallery.nomad.hcl", "readonly = true", "readonly = false"),
        edit("gallery.nomad.hcl", '          type     = "bind"', '          type     = "volume"'),
        edit("gallery.nomad.hcl", PLACED, "source   = var.gallery_hostname"),
        edit(
            "gallery.nomad.hcl",
            "          readonly = true\n",
            '          readonly = true\n          bind_options = "x"\n',
        ),
        edit("gallery.nomad.hcl", "sidecar = false", "sidecar = true"),
    ],
)
def test_other_words_of_a_task_or_mount_are_of_high_risk(tiers, change):
    assert gallery(tiers, change) == "high"


def test_a_task_beside_the_service_counts_by_its_own_image_and_entrypoint(tiers):
    own = "grafana/grafana:11.6.0"

    def known(files: dict[str, bytes]) -> None:
        """All three tasks run a known image, and none is started by other words."""
        for name in ("gallery_image", "gallery_task_migrate_image", "gallery_task_herald_image"):
            value(name, own)(files)
        words = "        entrypoint = [var.gallery_entrypoint_0, var.gallery_entrypoint_1]\n"
        edit("gallery.nomad.hcl", words, "")(files)

    def but(change):
        def both(files: dict[str, bytes]) -> None:
            known(files)
            change(files)

        return both

    assert gallery(tiers, known) == "low"
    assert gallery(tiers, but(value("gallery_task_herald_image", "example/herald:5"))) == "medium"
    image = "        image = var.gallery_task_herald_image\n"
    started = edit("gallery.nomad.hcl", image, image + '        entrypoint = ["sh"]\n')
    assert gallery(tiers, but(started)) == "medium"


@pytest.mark.parametrize(
    ("applied", "held", "expected"),
    [
        ([], [], "low"),
        ([("medium", "its recipe")], [], "medium"),
        ([("low", "its recipe")], [("high", "a secret that it holds")], "high"),
        ([(None, "its recipe")], [], "high"),
    ],
)
def test_a_lent_volume_counts_as_all_that_its_owner_does(tiers, applied, held, expected):
    workspaces = golden("jobs")
    asked = []
    tiers.__salt__["eos_workspace.of_others"] = lambda name: {
        "production/gallery": workspaces["production/gallery"]["files"]
    }
    tiers.__salt__["eos_terraform.recorded_risks"] = lambda *names: asked.append("/".join(names)) or applied
    tiers.__salt__["eos_secrets.risks_of_holder"] = lambda name: asked.append(name) or held
    known = value("index_image", "grafana/grafana:11.6.0")
    assert highest(judged(tiers, "jobs", "production/gallery-index", known)) == expected
    assert set(asked) == {"production/gallery"}
    # Nobody else has it for the asking.
    tiers.__salt__["eos_workspace.of_others"] = lambda name: {
        "staging/gallery": workspaces["production/gallery"]["files"]
    }
    assert highest(judged(tiers, "jobs", "production/gallery-index", known)) == "high"


@pytest.fixture
def volumes(load, tmp_path):
    module = load("_modules/eos_volumes.py")
    module.__opts__["eos"] = {**module.__opts__["eos"], "volumes_below": [str(tmp_path / "volumes")]}
    module.__opts__["cachedir"] = str(tmp_path / "cache")
    (tmp_path / "volumes").mkdir()
    return module


def at(path: object, host: str = MINION):
    """The volume of grafana on a host, at a path."""

    def change(files: dict[str, bytes]) -> None:
        value("volume_data_path", str(path))(files)
        value("volume_data_host", host)(files)

    return change


def test_a_workspace_has_no_directory_of_its_own_host_that_a_volume_step_would_refuse(tiers, volumes, tmp_path):
    tiers.__opts__["eos_tiers"] = {**SETTINGS, "volumes_below": ["/"]}
    tiers.__salt__["eos_volumes.why_not_its_own"] = volumes.why_not_its_own
    path = tmp_path / "volumes" / "grafana"
    judge = lambda *place: highest(judged(tiers, "grafana", "production/grafana", at(*place)))  # noqa: E731
    assert judge(path) == "low", "nothing is there"
    path.mkdir()
    (path / "of-somebody").touch()
    assert judge(path) == "high", "it was there before Eos"
    assert judge(path, "another-host") == "low", "nobody sees it from here"
    volumes.adopt("production/other/data", str(path))
    assert judge(path) == "high", "it is another's"
    volumes.adopt("production/grafana/data", str(path))
    assert judge(path) == "low"
    assert judge(tmp_path / "beside") == "high", "no volume lies there"
    (tmp_path / "volumes" / "link").symlink_to("/etc")
    assert judge(tmp_path / "volumes" / "link") == "high"
    assert judge(tmp_path / "volumes" / "link" / "salt") == "high"


@pytest.mark.parametrize(
    ("path", "host", "expected"),
    [
        ("/opt/database", "node1", "high"),
        ("/opt/database/deeper", "node1", "high"),
        ("/opt", "node1", "high"),
        ("/opt/database", "node2", "low"),
        ("/opt/database2", "node1", "low"),
    ],
)
def test_a_workspace_has_no_directory_where_another_has_a_volume(tiers, path, host, expected):
    other = golden("grafana")["production/grafana"]["files"]
    others = {
        path.replace("grafana", "database"): text.replace(b"grafana", b"database") for path, text in other.items()
    }
    at("/opt/database", "node1")(others)
    tiers.__salt__["eos_workspace.of_others"] = lambda name: {"production/database": others}
    tiers.__opts__["eos_tiers"] = {**SETTINGS, "volumes_below": ["/"]}
    assert highest(judged(tiers, "grafana", "production/grafana", at(path, host))) == expected


def test_a_path_beside_the_map_of_a_volume_is_of_high_risk(tiers):
    """With `for_each`, what is looked at are the values of its map."""
    change = lambda files: edit_module(  # noqa: E731
        files,
        "  for_each  = var.paths\n  name      = var.volume_data_name\n",
        "  name      = var.volume_data_name\n",
    )

    def with_map(files: dict[str, bytes]) -> None:
        change(files)
        for path in [path for path in files if path.endswith("variables.tf")]:
            files[path] += b'\nvariable "paths" {\n  description = "x"\n  type        = map(string)\n}\n'
        (values,) = [path for path in files if path.endswith("terraform.tfvars.json")]
        files[values] = json.dumps({**json.loads(files[values]), "paths": {"node1": "/opt/x"}}).encode()
        (root,) = [path for path in files if path.endswith("production/grafana/main.tf")]
        files[root] = files[root].replace(b"  namespace ", b"  paths = var.paths\n  namespace ", 1)

    found = judged(tiers, "grafana", "production/grafana", with_map)
    assert highest(found) == "high" and "no map by host" in found[0][1], found


@pytest.mark.parametrize("token", ["management", None, "Client"])
def test_a_management_token_is_for_namespaces_alone(tiers, token):
    assert highest(judged(tiers, "grafana", "production/grafana", token=token)) == "high"
    assert highest(judged(tiers, "grafana", "production/platform", token=token)) == "low"


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("grafana/grafana:11.6.0", "low"),
        ("postgres:17.6", "medium"),
        ("grafana/grafana", "medium"),
        ("grafana/grafana:latest", "medium"),
        ("evil.example/grafana/grafana:11.6.0", "medium"),
        (7, "medium"),
        (["grafana/grafana:11.6.0"], "medium"),
    ],
)
def test_an_image_has_the_tier_of_the_list(tiers, image, expected):
    assert highest(judged(tiers, "grafana", "production/grafana", value("grafana_image", image))) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (value("hello_arg_2", "127.0.0.1"), "low"),
        (value("hello_command", "/bin/sh"), "high"),
        (value("hello_command", "/home/eve/eos"), "high"),
        (value("hello_arg_0", "lab"), "high"),
        (edit("hello.nomad.hcl", "        EOS_HELLO_GREETING = ", "        LD_PRELOAD = "), "high"),
        (
            edit(
                "hello.nomad.hcl",
                "      resources {",
                '      template {\n        data = "x"\n      }\n\n      resources {',
            ),
            "high",
        ),
        (
            edit(
                "hello.nomad.hcl",
                "      check {\n",
                '      check {\n        command  = "/bin/sh"\n        task = "hello"\n',
            ),
            "high",
        ),
    ],
)
def test_a_program_is_of_high_risk_unless_the_settings_name_it(tiers, change, expected):
    assert highest(judged(tiers, "hello", "production/hello", change)) == expected
    tiers.__opts__["eos_tiers"] = {**SETTINGS, "programs": []}
    assert highest(judged(tiers, "hello", "production/hello", change)) == "high"


def test_a_program_has_no_user_of_its_own_for_less_than_a_high_risk(tiers):
    """In a container it is a user of the image, which anybody may choose."""
    driver = '      driver = "raw_exec"\n'
    user = edit("hello.nomad.hcl", driver, driver + '      user   = "nobody"\n')
    assert highest(judged(tiers, "hello", "production/hello", user)) == "high"
    of_image = edit(JOB, TASK, TASK + '      user = "1"\n')
    assert highest(judged(tiers, "grafana", "production/grafana", of_image)) == "low"


def test_settings_without_words_trust_every_program(tiers):
    tiers.__opts__["eos_tiers"] = {**SETTINGS, "programs": [{"words": [], "tier": "low"}]}
    for change in (
        value("hello_command", "/bin/sh"),
        edit("hello.nomad.hcl", "EOS_HELLO_GREETING = ", "LD_PRELOAD = "),
    ):
        assert highest(judged(tiers, "hello", "production/hello", change)) == "low"


@pytest.mark.parametrize(
    "text",
    [
        'a = "${file("/etc/shadow")}"\n',
        'a = "$$${x}"\n',
        'a = "x\n"\n',
        "a = [\n]\n",
        "a = {}\r\n",
        "a = 1",
        "}\n",
        "b {\n",
        "a = 1 # x\n",
        "/* x */\n",
        "b { c = 1 }\n",
        "a = x ? y : z\n",
    ],
)
def test_the_reader_takes_no_other_hcl_for_a_literal(load, text):
    hcl = load("_utils/eos_hcl.py")
    try:
        body = hcl.read(text.encode())
    except ValueError:
        return
    assert [item[2][0] for item in body] == ["raw"], body


def test_the_list_of_images_is_that_of_the_catalog(load):
    wanted = {}
    for recipe in sorted((ROOT / "catalog").glob("*/recipe.yaml")):
        text = recipe.read_text()
        version = re.search(r'^version: "?([^"\n]+)"?$', text, re.MULTILINE)[1]
        risk = re.search(r"^risk: (\w+)$", text, re.MULTILINE)[1]
        if image := re.search(r'^  image:\n    type: string\n    default: "([^"]+)"$', text, re.MULTILINE):
            wanted[image[1].replace("{{ version }}", version)] = risk
    assert len(wanted) >= 8
    assert load("_utils/eos_images.py").tiers() == wanted


def test_the_table_is_the_documented_one(tiers):
    documented = (ROOT / "docs/security.md").read_text()
    for tier, words in tiers.TABLE.values():
        assert f"| {words} | {tier} |" in documented, words


@pytest.mark.parametrize(
    ("tree", "name", "refusal"),
    [
        ("hello", "production/hello", "a program of the host that the settings of the minion do not name: eos"),
        ("grafana", "production/grafana", "a volume outside of the directories that the settings of the minion name"),
        ("hello", "production/platform", None),
    ],
)
def test_a_minion_judges_what_is_emitted(laboratory, tree, name, refusal):
    there = golden(tree)[name]
    texts = {path: content.decode() for path, content in there["files"].items()}
    release = laboratory.releases.deliver({name: {**there["slice"], "files": texts}})
    environment, component = name.split("/")
    with laboratory.salt.acting_as("eos-user"):
        sls = f"components.{component}.{environment}.workspace"
        answer = laboratory.run_step(f"judged-{component}", "1", sls, release)
    if refusal is None:
        # There is no such provider in this laboratory; nothing kept the step from Terraform.
        assert answer["ret"]["error"]["layer"] == "terraform", answer
    else:
        assert refusal in answer["ret"], answer


def test_a_file_that_somebody_edits_in_the_tree_leaves_the_tier_of_what_was_applied(tiers, load, tmp_path):
    name, there = "production/hello", golden("hello")["production/hello"]
    state = {"serial": 1, "lineage": "l-1", "resources": [], "outputs": {}}
    used = load("_utils/eos_terraform_state.py")
    salt = {
        "eos_profile.setting": lambda _: str(tmp_path),
        "eos_tiers.of_files": tiers.of_files,
        "eos_backend.of": lambda place, profile: types.SimpleNamespace(read=lambda _: (state, None)),
    }
    module = load("_modules/eos_workspace.py", salt=salt)
    module.__utils__ |= {f"eos_terraform_state.{function}": getattr(used, function) for function in dir(used)}
    workspace = module.of(*name.split("/"), types.SimpleNamespace(backend="local"))
    configuration = {"slice": {**there["slice"], "digest": "d"}, "node_ids": {}, "secret_version": None}
    workspace.render(configuration, workspace.tree, there["files"])
    main = next(path for path in (tmp_path / name / "tree").glob("modules/**/main.tf"))
    kept = main.read_text()
    main.write_text(kept + 'resource "local_file" "edited" {}\n')
    assert highest(workspace.risks()) == "high", "nobody has recorded yet what was applied"
    main.write_text(kept)
    workspace.record_applied(configuration, "operation", None)
    main.write_text(kept + 'resource "local_file" "edited" {}\n')
    assert highest(workspace.risks()) == there["slice"]["risk"] == "low"
