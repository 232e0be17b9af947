"""Delivered files are data: none of them runs, whoever wrote it and whatever its first line says."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import re
import shutil
import types

import pytest

from laboratory import MINION, readme_block
from test_eject import by_hand

NUMBERS = itertools.count()
# Python that proves that it ran, as a renderer of Salt's would run it.
RUNS = "#!py\nimport pathlib\ndef run():\n    pathlib.Path({proof!r}).touch()\n    return {{}}\n"


@pytest.fixture
def proof(tmp_path) -> pathlib.Path:
    return tmp_path / "proof"


@pytest.fixture
def current(laboratory):
    """The release that is served, to be changed by another hand; it is as it was afterwards."""
    release = (laboratory.salt.srv / "current").resolve()
    aside = release.with_name("as-delivered")
    shutil.copytree(release, aside)
    yield release
    shutil.rmtree(release)
    aside.rename(release)


def volume(laboratory) -> tuple[str, dict]:
    component = f"delivered-{next(NUMBERS)}"
    path = laboratory.directory / "volumes" / component
    facts = {"path": str(path), "user": "0", "group": "0", "mode": "0750", "durability": "ephemeral"}
    return component, {f"production/{component}/data": facts}


def test_a_pillar_that_is_a_program_is_read_as_json(laboratory, current, proof):
    (current / f"pillar/hosts/{MINION}.sls").write_text(RUNS.format(proof=str(proof)))
    (current / "pillar/top.sls").write_text(RUNS.format(proof=str(proof)))
    answer = laboratory.salt.call("eos.examine", kind="volume")
    assert answer["retcode"] != 0 and "does not render" in answer["ret"], answer
    assert not proof.exists()


def test_a_module_in_a_release_or_plan_reaches_no_minion(laboratory, current, proof):
    plan = laboratory.releases.plan({})
    for root in (current, laboratory.salt.srv / "plans" / plan):
        for place in ("salt", "files"):
            for kind in ("_modules", "_states", "_utils", "_grains"):
                file = root / place / kind / "delivered.py"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"import pathlib\npathlib.Path({str(proof)!r}).touch()\ndef ping():\n    return 1\n")
    laboratory.salt.record("eos.sync")
    for saltenv in ("base", plan):
        assert laboratory.salt.run("salt", MINION, "saltutil.sync_all", f"saltenv={saltenv}").returncode == 0
    assert not list(laboratory.salt.cache.rglob("delivered.py"))
    assert not proof.exists()


def test_a_delivered_link_serves_nothing_else(laboratory, current, proof):
    proof.write_text("a file of the master's")
    plan = laboratory.releases.plan({})
    for root in (current, laboratory.salt.srv / "plans" / plan):
        (root / "salt").mkdir(exist_ok=True)
        (root / "salt/plain").write_text("delivered")
        (root / "salt/link").symlink_to(proof)
        (root / "salt/inner").symlink_to(proof.parent)
    for saltenv in ("base", plan):
        served = {
            path: str(by_hand(laboratory, "cp.get_file_str", f"salt://{path}", f"saltenv={saltenv}"))
            for path in ("plain", "link", f"inner/{proof.name}")
        }
        assert "delivered" in served["plain"], "the release itself is behind a link"
        assert not [path for path, text in served.items() if "master's" in text], served


def test_volumes_are_made_from_their_slice_whatever_the_sls_says(laboratory, proof):
    component, volumes = volume(laboratory)
    release = laboratory.releases.deliver({}, volumes)
    plan = laboratory.releases.plan({}, volumes)
    sls = f"components.{component}.production.volumes"
    for root in (laboratory.salt.srv / "releases" / release, laboratory.salt.srv / "plans" / plan):
        (root / f"salt/components/{component}/production/volumes.sls").write_text(RUNS.format(proof=str(proof)))
    foretold = laboratory.preview_step(plan, sls)
    assert foretold["error"] is None and [state["id"] for state in foretold["states"]] == list(volumes), foretold
    answer = laboratory.run_step(f"operation-{component}", "1", sls, release)
    assert answer["ret"]["status"] == "done", answer
    assert pathlib.Path(volumes[f"production/{component}/data"]["path"]).is_dir()
    assert laboratory.salt.record("eos.inspect")["states"] == []
    assert not proof.exists()


@pytest.mark.parametrize(
    "text",
    [
        "{{{{ salt['file.touch']({proof!r}) }}}}",
        "x\n\ninjected:\n  salt.runner:\n    - name: salt.cmd\n    - fun: {proof!r}\n",
    ],
)
def test_the_order_of_an_emitted_tree_is_read_as_json(laboratory, current, proof, text):
    words = text.format(proof=str(proof))
    order = {"waves": [[{"minion": words, "sls": "components.a.production.workspace", "digest": ""}]]}
    (current / "salt/orchestrate").mkdir(parents=True, exist_ok=True)
    (current / "salt/orchestrate/waves.json").write_text(json.dumps(order))
    for name in ("deploy", "destroy"):
        shown = laboratory.salt.run("salt-run", "state.orchestrate_show_sls", f"orchestrate.{name}")
        assert any(f'"{name}"' in shown.stdout for name in ("eos.make", "eos_orchestrator.remove")), shown
        assert '"injected"' not in shown.stdout, shown
    assert not proof.exists()


def test_a_delivered_top_file_is_nobodys(laboratory, current, proof):
    """Whoever applies the highstate of a minion applies nothing that was delivered."""
    (current / "salt/top.sls").write_text(RUNS.format(proof=str(proof)))
    shown = laboratory.salt.run("salt-call", "-c", str(laboratory.salt.etc / "minion.d"), "state.show_top")
    assert json.loads(shown.stdout) == {"local": {}}, shown
    assert not proof.exists()


@pytest.fixture
def delivered(load, tmp_path):
    """The external pillar, as a master has it that is set up as formula/README.md says, and its directory."""
    for place, content in (("current", {"volumes": {}}), (f"plans/plan-{'0' * 32}", {"plan": {}})):
        file = tmp_path / place / "pillar/hosts/control.sls"
        file.parent.mkdir(parents=True)
        file.write_text("#!json\n" + json.dumps({"eos": content, "roles": {"eos-user": "architect"}}))
    full = tmp_path / "current/pillar/hosts/web1/example/org.sls"
    full.parent.mkdir(parents=True)
    full.write_text('#!json\n{"eos": {"full": {}}}')
    module = load("master/pillar/eos_pillar.py")
    ignored = re.search(r"^file_ignore_regex: \['(.*)', '(.*)'\]$", readme_block("file_roots"), re.MULTILINE)
    module.__opts__ |= {
        "pillarenv": None,
        "fileserver_followsymlinks": False,
        "pillar_roots": {"base": ["/srv/pillar"]},
    }
    module.__opts__["file_ignore_regex"] = list(ignored.groups())
    return module


@pytest.mark.parametrize(
    ("minion", "pillarenv", "expected"),
    [
        ("control", None, {"volumes": {}}),
        ("control", "base", {"volumes": {}}),
        ("control", f"plan-{'0' * 32}", {"plan": {}}),
        ("control", "plan-../../current", {}),
        ("control", "../current", {}),
        ("../hosts/control", None, {}),
        ("other", None, {}),
        ("web1.example.org", None, {"full": {}}),
        ("web1", None, {}),
        # What would be the same file is no id of a minion.
        ("web1..example.org", None, {}),
        ("web1/example/org", None, {}),
        ("web1.example.org.", None, {}),
        (".web1.example.org", None, {}),
    ],
)
def test_a_minion_gets_its_own_slice_alone(delivered, tmp_path, minion, pillarenv, expected):
    delivered.__opts__["pillarenv"] = pillarenv
    given = delivered.ext_pillar(minion, {}, str(tmp_path))
    assert given == {"eos": expected, "eos_read_as": "json"}


@pytest.mark.parametrize("text", ["#!yaml\neos: {volumes: {}}\n", "#!py\n", "", "[]", '{"eos": []}', "[" * 100000])
def test_a_file_that_is_no_slice_is_named_with_what_mends_it(delivered, tmp_path, text):
    file = tmp_path / "current/pillar/hosts/control.sls"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"^{file} .*: deliver it again with `eos apply`$"):
        delivered.ext_pillar("control", {}, str(tmp_path))


def test_nothing_but_a_plain_file_is_read(delivered, tmp_path):
    file = tmp_path / "current/pillar/hosts/control.sls"
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"eos": {"secret": "1"}}))
    for make in (lambda: os.mkfifo(file), lambda: file.symlink_to(secret), file.mkdir):
        file.unlink()
        make()
        with pytest.raises((ValueError, OSError)):
            delivered.ext_pillar("control", {}, str(tmp_path))


@pytest.mark.parametrize(
    ("mode", "others", "passes"), [(0o755, 0, True), (0o1775, 0, True), (0o775, 0, False), (0o755, 1, False)]
)
def test_whoever_delivers_cannot_replace_the_formula(delivered, tmp_path, monkeypatch, mode, others, passes):
    tmp_path.chmod(mode)
    delivered.__file__ = str(tmp_path / "formula/master/pillar/eos_pillar.py")
    there = os.stat(tmp_path)
    monkeypatch.setattr(delivered.os, "geteuid", lambda: 0)
    monkeypatch.setattr(delivered.os, "stat", lambda path: types.SimpleNamespace(st_mode=there.st_mode, st_uid=others))
    if passes:
        assert delivered.ext_pillar("control", {}, str(tmp_path))
        return
    with pytest.raises(ValueError, match="lets others replace the formula"):
        delivered.ext_pillar("control", {}, str(tmp_path))


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("pillar_roots", {"base": ["{srv}/current/pillar"]}, "pillar_roots name {srv}/current/pillar"),
        ("pillar_roots", {"__env__": ["{srv}/plans/__env__/pillar"]}, "pillar_roots name"),
        ("fileserver_followsymlinks", True, "fileserver_followsymlinks is not false"),
        ("file_ignore_regex", [], "file_ignore_regex let {srv}/current/salt/_modules/eos.py pass"),
        ("file_ignore_regex", ["/current/"], "file_ignore_regex let {srv}/plans/"),
    ],
)
def test_a_master_that_would_run_what_is_delivered_gives_no_pillar(delivered, tmp_path, setting, value, words):
    text = json.dumps(value).replace("{srv}", str(tmp_path))
    delivered.__opts__[setting] = json.loads(text)
    with pytest.raises(ValueError, match=re.escape(words.format(srv=tmp_path))):
        delivered.ext_pillar("control", {}, str(tmp_path))
