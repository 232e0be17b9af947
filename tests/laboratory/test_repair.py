"""Eos names a broken part of an estate, and the command that it names repairs it."""

import json
import os
import shutil
import subprocess

import pytest
from estates import PROGRAM, Estate

# Nothing mounts the volume, so that no container is needed: it is made, registered and removed all the same.
HOLDER = """\
recipe: holder
summary: Has a volume
version: "1"
needs:
  data: {volume: {purpose: application, size: 1GiB, path: "/opt/holder/data"}}
services:
  holder:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello]
    ports: {http: {}}
    check: {http: /health}
"""


@pytest.fixture(scope="module")
def served(estate):
    """An estate in which something was done and runs."""
    estate.must("create", "hello", "--name", "served", "--yes")
    return estate


def not_well(estate: Estate, area: str, what: str) -> list[dict]:
    document = json.loads(estate.eos("doctor", "--json").stdout)
    found = [one for one in document["findings"] if (one["area"], one["what"]) == (area, what)]
    return [one for one in found if one["condition"] != "ok"]


def follow(estate: Estate, command: str) -> None:
    """Gives the very command that Eos names."""
    if command.startswith("eos "):
        estate.must(*command.split()[1:], "--yes", timeout=300)
    else:
        subprocess.run(["sh", "-c", command], cwd=estate.root, check=True, timeout=120)


def update(estate: Estate, greeting: str):
    return estate.eos("update", "served", "--greeting", greeting, "--yes")


def test_the_lock_of_a_killed_git_is_named_and_the_next_commit_clears_it(served):
    lock = served.root / ".git/index.lock"
    lock.touch()
    (finding,) = not_well(served, "estate", "repository")
    assert finding["condition"] == "limited" and str(lock) in finding["words"], finding
    follow(served, finding["mend"])
    assert not lock.exists() and not_well(served, "estate", "repository") == []
    lock.touch()
    ran = update(served, "after a killed git")
    assert ran.returncode == 0, ran.stderr
    assert not lock.exists()


def test_a_damaged_object_of_git_is_named(served):
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=served.root, capture_output=True, text=True).stdout
    file = served.root / ".git/objects" / commit[:2] / commit[2:].strip()
    whole = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(b"")
    try:
        findings = not_well(served, "estate", "repository")
        assert [one["condition"] for one in findings] == ["broken"], findings
        ran = update(served, "on a damaged repository")
        assert ran.returncode == 1 and "hint:" in ran.stderr, ran.stderr
    finally:
        file.write_bytes(whole)
    assert not_well(served, "estate", "repository") == []


def test_endpoints_that_were_cut_are_written_again(served):
    endpoints = served.lab / "endpoints.json"
    whole = json.loads(endpoints.read_text())
    endpoints.write_text(endpoints.read_text()[:40])
    ran = served.eos("status")
    assert ran.returncode == 2 and "eos lab up" in ran.stderr, ran.stderr
    follow(served, "eos lab up")
    assert json.loads(endpoints.read_text()) == whole
    served.must("status")


BEGIN_AGAIN = "mkdir .eos/damaged && mv .eos/store.db* .eos/damaged/ && eos home take"
# What a file holds, and the command of the hint.
DAMAGES = {
    ".git/index": ("DIRC", "rm .git/index && git reset"),
    ".git/HEAD": ("", "echo 'ref: refs/heads/main' > .git/HEAD"),
    ".eos/home": ("nobody", "rm .eos/home && eos home take"),
    ".eos/lab/endpoints.json": ("{", "eos lab up"),
    ".eos/store.db": ("no database at all", BEGIN_AGAIN),
}


@pytest.mark.parametrize("file", DAMAGES)
def test_the_hint_about_a_damaged_file_helps(served, file, tmp_path):
    text, command = DAMAGES[file]
    (served.root / file).write_text(text)
    ran = update(served, f"with a damaged {file}")
    said = " ".join(ran.stderr.split())
    assert ran.returncode in (1, 2) and command in said.partition("hint:")[2], ran.stderr
    # The very words, by the name that people give the program.
    (tmp_path / "eos").symlink_to(PROGRAM)
    given = command.replace("eos home take", "eos home take --yes")
    paths = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-ec", given], cwd=served.root, check=True, timeout=300, env={**os.environ, **paths})
    ran = update(served, f"after a damaged {file}")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("loss", ["removed", "emptied"])
def test_a_lost_store_is_not_taken_for_a_new_one(served, loss, tmp_path):
    files = [served.root / ".eos" / name for name in ("store.db", "store.db-wal", "store.db-shm")]
    for file in filter(lambda file: file.exists(), files):
        shutil.copy2(file, tmp_path / file.name)
        file.unlink()
    if loss == "emptied":
        files[0].touch(0o600)
    (finding,) = not_well(served, "estate", "store")
    assert finding["condition"] == "broken" and finding["mend"] == "eos home take", finding
    ran = update(served, "without a journal")
    assert ran.returncode == 2 and "it holds no operation" in " ".join(ran.stderr.split()), ran.stderr
    if loss == "removed":
        # From a copy, as the hint says.
        for file in files:
            file.unlink(missing_ok=True)
            if (tmp_path / file.name).exists():
                shutil.copy2(tmp_path / file.name, file)
    else:
        follow(served, finding["mend"])
        assert "take home" in [one["action"] for one in served.json("audit", "show")["entries"]]
    assert not_well(served, "estate", "store") == []
    ran = update(served, f"after a store that was {loss}")
    assert ran.returncode == 0, ran.stderr


def test_an_empty_directory_goes_though_its_job_had_begun(served):
    served.write_recipe("holder", HOLDER)
    directory = served.lab / "volumes/opt/holder/data"
    ran = served.eos("create", "holder", "-e", "development", "--cpu", "999999", "--yes")
    assert ran.returncode == 1 and "rolled back:" in ran.stderr, ran.stderr
    assert not directory.exists()
