"""The doctor before real engines: everything well, one engine dead, and a machine seen by an ordinary user."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from conftest import PROGRAM, Estate

NOBODY = 65534


def examine(estate: Estate) -> tuple[int, float, dict[tuple[str, str], dict]]:
    """Exit code, seconds, and the findings by area and what."""
    begun = time.monotonic()
    ran = estate.eos("doctor", "--json")
    took = time.monotonic() - begun
    document = json.loads(ran.stdout)
    assert document["version"] == 1 and document["kind"] == "doctor", ran.stderr
    return ran.returncode, took, {(one["area"], one["what"]): one for one in document["findings"]}


def conditions(findings: dict, area: str) -> dict[str, str]:
    return {what: one["condition"] for (of, what), one in findings.items() if of == area}


def all_well(estate: Estate):
    code, _, findings = examine(estate)
    assert code == 0, findings
    assert conditions(findings, "salt") == {"API": "ok", "minion control": "ok"}, findings
    drivers = findings.pop(("nomad", "drivers control"))
    # Docker is not part of every machine.
    assert drivers["condition"] == "ok" or "no docker" in drivers["words"], drivers
    assert conditions(findings, "nomad") == {"leader": "ok", "node control": "ok", "hosts": "ok"}, findings
    assert conditions(findings, "clocks") == {"engines": "ok"}, findings
    assert conditions(findings, "consul") == conditions(findings, "vault") == {}
    return findings


def test_what_works_is_said_and_what_was_killed_is_named(estate):
    findings = all_well(estate)
    assert "mend" not in findings["salt", "API"]

    subprocess.run(["kill", "-9", "--", f"-{estate.pid('nomad')}"], check=True)
    code, took, findings = examine(estate)
    assert code == 3 and took < 5, (code, took)
    broken = [one for one in findings.values() if one["condition"] == "broken"]
    assert [(one["area"], one["what"], one["mend"]) for one in broken] == [("nomad", "leader", "eos lab up")], broken
    assert conditions(findings, "salt") == {"API": "ok", "minion control": "ok"}
    shown = estate.eos("doctor")
    assert shown.returncode == 3 and "next: eos lab up" in shown.stderr, shown

    estate.must("lab", "up", timeout=300)
    all_well(estate)


def test_engines_that_hang_cost_a_few_seconds(estate):
    groups = [f"-{estate.pid(engine)}" for engine in ("nomad", "salt-api")]
    subprocess.run(["kill", "-STOP", "--", *groups], check=True)
    try:
        code, took, findings = examine(estate)
    finally:
        subprocess.run(["kill", "-CONT", "--", *groups], check=True)
    assert code == 3 and took < 5, (code, took)
    assert conditions(findings, "nomad") == {"leader": "broken"}, findings
    assert conditions(findings, "salt") == {"API": "broken"}, findings
    estate.wait_until(lambda: examine(estate)[0] == 0, 30, "all well again")


def test_no_secret_is_shown(estate):
    ran = estate.eos("doctor", "--json")
    files = [file for file in (estate.lab / "secrets").iterdir() if file.is_file()]
    assert files
    for file in files:
        text = file.read_text().strip()
        for secret in json.loads(text).values() if file.suffix == ".json" else [text]:
            assert str(secret) not in ran.stdout + ran.stderr, file


@pytest.mark.skipif(not PROGRAM, reason="EOS_TEST_PROGRAM is not set")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as somebody else")
def test_an_ordinary_user_is_told_what_that_costs():
    with tempfile.TemporaryDirectory() as home:
        # Where the program was built, others may have no business.
        program = shutil.copy(PROGRAM, home)
        Path(home).chmod(0o755)
        ran = subprocess.run(
            [program, "doctor", "--json"],
            cwd=home,
            env={"PATH": "/usr/bin:/bin", "HOME": home},
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=30,
        )
    findings = {one["what"]: one for one in json.loads(ran.stdout)["findings"]}
    user = findings["user"]
    assert user["condition"] == "limited", ran.stdout
    for cost in ("exec driver", "no mesh", "one address", "Docker"):
        assert cost in user["words"], user
    # Only a Docker that somebody else has started serves an ordinary user.
    assert findings["Docker"]["condition"] == "limited" or "://" in findings["Docker"]["words"]
    assert findings["CNI plugins"]["condition"] in ("ok", "limited")
    assert findings["eos.toml"]["condition"] == "limited"
