"""A sampled run comes to an end: a test that hangs fails, and no dear test begins once the time is over."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
SLOW = """
import time

def test_hangs():
    time.sleep(60)

def test_dear():
    pass

def test_cheap():
    pass
"""


def test_a_hanging_test_fails_and_a_dear_one_is_left_out(tmp_path):
    for file in ("conftest.py", "selection.py", "areas.toml"):
        shutil.copy(TESTS / file, tmp_path)
    (tmp_path / "costs.json").write_text(json.dumps({"workshop/test_slow.py::test_dear": {"sampled": 5.0}}))
    (tmp_path / "workshop").mkdir()
    (tmp_path / "workshop/test_slow.py").write_text(SLOW)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("EOS_TEST", "PYTEST"))}
    environment |= {"PYTHONPATH": str(tmp_path), "EOS_TEST_DEADLINE": "0", "EOS_TEST_LONGEST": "0.5"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rsf", "-q", "workshop"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=30)
    assert re.search(r"1 failed, 1 passed, 1 skipped", ran.stdout), ran.stdout
    assert re.search(r"FAILED \S*test_hangs - Failed: it took longer than 0.5 s", ran.stdout), ran.stdout
    assert re.search(r"SKIPPED .*no time left", ran.stdout), ran.stdout
