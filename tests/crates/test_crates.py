"""Every test of the crates, each in a process of its own, so that it is chosen, timed and reported like any other."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What `cargo test --no-run` made and its tests, by name: `eos-core`, `eos-core/golden`.
PROGRAMS = json.loads(Path(os.environ["EOS_TEST_CRATES"]).read_text()) if "EOS_TEST_CRATES" in os.environ else {}
PATIENCE = 900
# These start engines of their own; all others run in every run, whatever they cost.
WITH_ENGINES = ("eos-engine/engines", "eos-lab/real", "eos-terraform-provider/real")


def cases() -> list:
    return [
        pytest.param(name, test, marks=[] if name in WITH_ENGINES else pytest.mark.always)
        for name, program in PROGRAMS.items()
        for test in program["tests"]
    ]


@pytest.mark.parametrize(("name", "test"), cases())
def test_crate(name, test):
    program = PROGRAMS[name]
    command = [program["path"], "--exact", test, "--include-ignored", "--nocapture"]
    # Cargo starts a test in the directory of its package.
    environment = {**os.environ, "CARGO_MANIFEST_DIR": program["package"]}
    ran = subprocess.run(
        command, cwd=program["package"], env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0 and "1 passed" in ran.stdout, said
    if skipped := re.search(r"^skipped: (.+)$", said, re.M):
        pytest.skip(skipped[1])
