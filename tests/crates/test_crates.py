"""Every test of the crates, each in a process of its own, so that it is chosen, timed and reported like any other."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

# What `cargo test --no-run` made, by name: `eos-core`, `eos-core/golden`.
PROGRAMS = json.loads(os.environ.get("EOS_TEST_CRATES", "{}"))
PATIENCE = 900
# Started by another test, in a directory of that one.
NO_TEST = "eos-engine/fault::an_operation"


def tests() -> list[tuple[str, str]]:
    found = []
    for name, program in sorted(PROGRAMS.items()):
        listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
        found += [(name, test) for test in re.findall(r"^(\S+): test$", listed, re.M)]
    return [(name, test) for name, test in found if f"{name}::{test}" != NO_TEST]


@pytest.mark.parametrize(("name", "test"), tests(), ids=lambda word: word)
def test_crate(name, test):
    # Cargo starts a test in the directory of its package.
    package = Path(__file__).resolve().parents[2] / ("benches" if name.startswith("eos-benches") else f"crates/{name}")
    while not (package / "Cargo.toml").exists():
        package = package.parent
    environment = {**os.environ, "CARGO_MANIFEST_DIR": str(package)}
    command = [PROGRAMS[name], "--exact", test, "--include-ignored", "--nocapture"]
    ran = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0 and "1 passed" in ran.stdout, said
    if skipped := re.search(r"^skipped: (.+)$", said, re.M):
        pytest.skip(skipped[1])
