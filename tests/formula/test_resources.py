"""Resources of clouds: their form is read strictly, their risk is high, and the settings name the providers."""

from __future__ import annotations

import json

import pytest

import test_tiers
from test_eject import by_hand
from test_tiers import golden, highest, judged

# A fixture.
tiers = test_tiers.tiers
NAME = "production/edge"
RESOURCES = "resources.tf.json"
KINDS = ["hcloud_firewall", "hcloud_network", "hcloud_network_subnet", "hcloud_server"]
FORM = "Terraform files that Eos does not emit"


@pytest.fixture
def table(load):
    return load("_utils/eos_providers.py").table()


def rewritten(change):
    """Another text of the file with the recipe's resources."""

    def edit(files: dict[str, bytes]) -> None:
        (path,) = [path for path in files if path.endswith(RESOURCES)]
        document = json.loads(files[path])
        changed = change(document)
        files[path] = (changed if isinstance(changed, str) else json.dumps(document)).encode()

    return edit


def argument(key: str, value: object):
    """The server with another argument."""

    def change(document: dict) -> None:
        document["resource"]["hcloud_server"]["web"][key] = value

    return rewritten(change)


def test_resources_are_read_and_of_high_risk(tiers):
    found = judged(tiers, "resources", NAME)
    assert [why for _, why in found] == [f"{tiers.TABLE['resource'][1]}: {kind}" for kind in KINDS]
    assert highest(found) == "high"


def test_the_settings_name_a_type_lower_and_no_other(tiers):
    tiers.__opts__["eos_tiers"] = {"resources": {"hcloud_network": "medium", "hcloud_network_subnet": "low"}}
    found = {why.rsplit(" ", 1)[1]: tier for tier, why in judged(tiers, "resources", NAME)}
    assert found == {
        "hcloud_firewall": "high",
        "hcloud_network": "medium",
        "hcloud_network_subnet": "low",
        "hcloud_server": "high",
    }
    tiers.__opts__["eos_tiers"]["resources"] = dict.fromkeys(KINDS, "low")
    assert highest(judged(tiers, "resources", NAME)) == "low"
    assert tiers.settings()["resources"] == dict.fromkeys(KINDS, "low")


# By what somebody who can deliver might write, with every type named low.
HOSTILE = {
    "a provisioner": argument("provisioner", [{"local-exec": {"command": "id"}}]),
    "a connection": argument("connection", {"host": "x"}),
    "a lifecycle": argument("lifecycle", {"ignore_changes": "all"}),
    "several": argument("count", 9),
    "another provider": argument("provider", "aws"),
    "an order of its own": argument("depends_on", ["hcloud_network.net"]),
    "a file of the host": argument("user_data", '${file("/etc/shadow")}'),
    "a file behind text": argument("user_data", 'x${file("/etc/shadow")}'),
    "a condition": argument("user_data", "%{ if true }x%{ endif }"),
    "a variable": argument("user_data", "${var.generation}"),
    "an attribute of nothing": argument("image", "${hcloud_server.other.id}"),
    "a reference with more": argument("image", "${hcloud_network.net.id}-x"),
    "an index that is one": argument("image", '${hcloud_network.net["a"]}'),
    "three marks": argument("user_data", "$$${x}"),
    "a template for a key": argument('${file("/etc/shadow")}', "x"),
    "a key within": argument("labels", {"%{if true}": "y"}),
    "blocks by an expression": argument("dynamic", {"network": {"for_each": [1], "content": {}}}),
    "something of another engine": rewritten(lambda document: document["resource"].update({"nomad_job": {"x": {}}})),
    "of a provider that nobody knows": rewritten(
        lambda document: document["resource"].update({"null_resource": {"x": {}}})
    ),
    "a data source": rewritten(lambda document: document.update({"data": {"hcloud_image": {"x": {}}}})),
    "a provider of its own": rewritten(lambda document: document.update({"provider": {"hcloud": {"token": "x"}}})),
    "an output": rewritten(lambda document: document.update({"output": {"x": {"value": "y"}}})),
    "a comment": rewritten(lambda document: document.update({"//": "y"})),
    "a name twice": rewritten(lambda document: json.dumps(document)[:-1] + ', "resource": {}}'),
    "no number": argument("keep_disk", float("nan")),
    "no JSON": rewritten(lambda document: "resource {}"),
    "a list of resources": rewritten(lambda document: json.dumps([document])),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_another_form_is_high_whatever_the_settings_say(tiers, change):
    tiers.__opts__["eos_tiers"] = {"resources": dict.fromkeys([*KINDS, "nomad_job", "null_resource"], "low")}
    found = judged(tiers, "resources", NAME, change)
    assert highest(found) == "high" and any(why.startswith(FORM) for _, why in found), found


@pytest.mark.parametrize("text", ["$${a}", "%%{b}", "100%", "$", "$a {", "%", "a$b%c", '\n\t"\\'])
def test_text_stays_text(tiers, text):
    tiers.__opts__["eos_tiers"] = {"resources": dict.fromkeys(KINDS, "low")}
    assert highest(judged(tiers, "resources", NAME, argument("user_data", text))) == "low"


def test_a_provider_that_is_not_required_is_not_looked_for_elsewhere(tiers):
    def change(files: dict[str, bytes]) -> None:
        (path,) = [path for path in files if path.endswith("main.tf") and "/modules/" in path]
        files[path] = b"terraform {\n  required_providers {}\n}\n"

    found = judged(tiers, "resources", NAME, change)
    assert any("does not require provider hcloud" in why for _, why in found), found


def test_a_preview_runs_a_provider_only_for_a_role_that_reaches_the_type(load, tiers):
    """Some types read files of the host when Terraform plans them, and say so."""
    roles = load("_modules/eos_roles.py")
    there = {"eos_tiers.of_resource": tiers.of_resource, "eos_tiers.reads_all": tiers.reads_all}
    preview = load("_modules/eos_preview.py", salt={**there, "eos_roles.covers": roles.covers})
    preview.__utils__ |= tiers.__utils__
    files = golden("resources")[NAME]["files"]
    root = {"is_root": True, "role": None}
    user, operator, architect = ({"is_root": False, "role": role} for role in ("user", "operator", "architect"))
    for who in (user, operator):
        with pytest.raises(Exception, match="for a role that reaches high risk"):
            preview._refuse_strange(NAME, files, who)
    for who in (architect, root):
        preview._refuse_strange(NAME, files, who)
    tiers.__opts__["eos_tiers"] = {"resources": dict.fromkeys(KINDS, "medium")}
    preview._refuse_strange(NAME, files, operator)
    with pytest.raises(Exception, match="for a role that reaches medium risk"):
        preview._refuse_strange(NAME, files, user)


# Which providers a minion has, and what Terraform is told.


@pytest.fixture
def provider(load, tmp_path):
    """`eos_provider` of a minion with Nomad and hcloud, and its root credential."""
    credential = tmp_path / "credentials.json"
    credential.touch(mode=0o600)
    tokens = {"hcloud": {"HCLOUD_TOKEN": "canary-hcloud", "PATH": "/evil"}, "aws": {"AWS_REGION": "x"}}
    credential.write_text(json.dumps({"nomad_token": "canary-nomad", "providers": tokens}))
    profile = load("_modules/eos_profile.py")
    profile.__opts__["eos"] = {
        "credentials": str(credential),
        "nomad_address": "https://127.0.0.1:4646",
        "providers": {"hcloud": {"endpoint": "http://127.0.0.1:1/v1"}, "aws": None},
    }
    there = {f"eos_profile.{name}": getattr(profile, name) for name in ("optional_setting", "provider_credential")}
    module = load("_modules/eos_provider.py", salt=there)
    table = load("_utils/eos_providers.py")
    module.__utils__ |= {
        f"eos_providers.{name}": getattr(table, name) for name in ("table", "in_files", "is_secret", "locked")
    }
    module.settings = profile.__opts__["eos"]
    return module


class Hidden:
    def __init__(self):
        self.values: set[str] = set()

    def hide(self, *secrets: str) -> None:
        self.values |= set(secrets)


def test_only_the_variables_of_the_named_provider_reach_terraform(provider):
    profile = Hidden()
    told = provider.environment({"hcloud", "nomad"}, profile)
    assert told == {"HCLOUD_TOKEN": "canary-hcloud", "HCLOUD_ENDPOINT": "http://127.0.0.1:1/v1"}
    assert profile.values == {"canary-hcloud"}
    assert provider.environment({"nomad"}, profile) == {}
    assert provider.needs_engines({"hcloud", "nomad"}) and not provider.needs_engines({"hcloud"})


def test_a_provider_that_the_settings_do_not_name_is_refused(provider):
    provider.require(NAME, {"nomad", "hcloud"})
    for name in ("consul", "cloudflare", "null"):
        with pytest.raises(Exception, match=f"has no Terraform provider {name}"):
            provider.require(NAME, {"nomad", name})


def test_a_credential_that_is_not_whole_is_refused(provider):
    with pytest.raises(Exception, match="has no AWS_ACCESS_KEY_ID for the Terraform provider aws"):
        provider.environment({"aws"}, Hidden())


def test_terraforms_own_choice_is_what_counts(provider):
    there = ["host.example/hashicorp/nomad", "host.example/hetznercloud/hcloud"]
    provider.require_sources(NAME, there)
    for strange in ("host.example/evil/nomad", "host.example/hashicorp/null", "host.example/hashicorp/consul"):
        with pytest.raises(Exception, match=f"chose the provider {strange}"):
            provider.require_sources(NAME, [*there, strange])
    provider.settings["providers_host"] = "host.example"
    provider.require_sources(NAME, there)
    with pytest.raises(Exception, match="chose the provider evil.example/hashicorp/nomad"):
        provider.require_sources(NAME, ["evil.example/hashicorp/nomad"])
    provider.settings["providers"]["nomad"] = {"source": "mirror.example/own/nomad"}
    provider.require_sources(NAME, ["mirror.example/own/nomad"])
    with pytest.raises(Exception, match="chose the provider"):
        provider.require_sources(NAME, there)


def test_a_region_is_no_secret(provider, tmp_path):
    tokens = {"AWS_ACCESS_KEY_ID": "canary-id", "AWS_SECRET_ACCESS_KEY": "canary-key", "AWS_REGION": "eu-central-1"}
    credential = tmp_path / "credentials.json"
    credential.write_text(json.dumps({"nomad_token": "canary-nomad", "providers": {"aws": tokens}}))
    profile = Hidden()
    assert provider.environment({"aws"}, profile) == tokens
    assert profile.values == {"canary-id", "canary-key"}


def test_a_provider_does_not_get_the_key_to_terraform_states(provider):
    of_backend = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "canary-s"}
    assert provider.merged(NAME, {"HCLOUD_TOKEN": "t"}, of_backend) == {"HCLOUD_TOKEN": "t", **of_backend}
    assert provider.merged(NAME, {"AWS_ACCESS_KEY_ID": "a"}, of_backend) == of_backend
    with pytest.raises(Exception, match="AWS_ACCESS_KEY_ID would be that of a provider"):
        provider.merged(NAME, {"AWS_ACCESS_KEY_ID": "b"}, of_backend)


def test_the_lock_file_and_the_files_are_read(load, table):
    module = load("_utils/eos_providers.py")
    lock = '# made\nprovider "h.example/hashicorp/nomad" {\n  version = "2.5.2"\n}\n\nprovider "h/a/b" {\n}\n'
    assert module.locked(lock) == ["h.example/hashicorp/nomad", "h/a/b"]
    main = golden("resources")[NAME]["files"]["terraform/environments/production/edge/main.tf"].decode()
    assert module.in_files([main]) == {"hcloud"}
    assert {name for name, row in table.items() if row["recipes"]} == {"aws", "azurerm", "cloudflare", "hcloud"}


def test_a_minion_without_the_provider_refuses_the_workspace_and_touches_nothing(laboratory):
    """The whole way: delivered, approved by root's own hand, and refused before Terraform runs."""
    there = golden("resources")[NAME]
    texts = {path: content.decode() for path, content in there["files"].items()}
    laboratory.releases.deliver({NAME: {**there["slice"], "files": texts}})
    before = laboratory.runs()
    names = ("production", "edge", "eject-20261118T080000", "1")
    answer = by_hand(laboratory, "eos_terraform.apply", *names)
    assert answer["result"] is False
    assert answer["error"]["words"].endswith("has no Terraform provider hcloud"), answer
    assert answer["error"]["refused"] is True
    assert laboratory.runs() == before and not (laboratory.workspace(NAME) / "tree").exists()
