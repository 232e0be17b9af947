"""A commit of Eos is on disk before its journal names it: the kernel says what git and Eos synced."""

import re
import subprocess
from pathlib import Path

import pytest
from estates import PROGRAM
from packages import cannot_have

SYNCED = re.compile(r"\b(?:fsync|fdatasync)\(\d+<(.+?)>\)")
RENAMED = re.compile(r'\brename(?:at2?)?\(.*"([^"]+)"(?:, \w+)?\)')


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """What the program and its children synced and renamed while they made an estate: pairs of verb and path."""
    if not PROGRAM:
        pytest.skip("EOS_TEST_PROGRAM is not set")
    if why := cannot_have({"strace": "strace"}, "packages are root's to install"):
        pytest.skip(why)
    root = tmp_path_factory.mktemp("durable") / "estate"
    trace = root.with_name("trace")
    strace = ["strace", "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2"]
    ran = subprocess.run([*strace, PROGRAM, "init", root], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    found = []
    for line in trace.read_text().splitlines():
        if match := SYNCED.search(line):
            found.append(("synced", match[1]))
        elif match := RENAMED.search(line):
            found.append(("renamed", match[1]))
    return root, found


def synced(calls) -> list[str]:
    return [path for verb, path in calls[1] if verb == "synced"]


def test_git_syncs_every_object_the_index_and_the_reference(calls):
    root, _ = calls
    below = [path for path in synced(calls) if path.startswith(f"{root}/.git/")]
    objects = [path for path in (root / ".git/objects").rglob("*") if path.is_file()]
    assert len(objects) > 5
    assert len([path for path in below if "/objects/" in path]) >= len(objects), below
    assert f"{root}/.git/refs/heads/main.lock" in below, below
    assert [path for path in below if "index" in Path(path).name], below


def test_the_name_of_the_reference_is_synced_after_git_gave_it(calls):
    root, all_calls = calls
    named = max(at for at, (verb, path) in enumerate(all_calls) if verb == "renamed" and path.endswith("heads/main"))
    later = [path for verb, path in all_calls[named:] if verb == "synced"]
    assert f"{root}/.git/refs/heads" in later, later


def test_files_of_the_estate_are_synced_with_the_directories_that_name_them(calls):
    root, _ = calls
    done = synced(calls)
    for directory in ("", "/pillar", "/pillar/infrastructure"):
        assert f"{root}{directory}" in done, directory
