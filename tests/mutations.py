"""Puts known defects into a copy of the repository, one at a time, and shows which of them the tests find.

Each defect meets the tests that always run and those of its area, for six minutes at most. Change the selection of tests,
then run this: at least eleven of twelve are to be found.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DEFECTS = tomllib.loads((HERE / "mutations.toml").read_text())
MINUTES = 6
WANTED = len(DEFECTS) - 1


def copy_of_repository(place: Path) -> None:
    """The tracked files as they are now, with what cargo built of them."""
    if not place.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, place], check=True)
        if (ROOT / "target/debug").exists():
            shutil.copytree(ROOT / "target/debug", place / "target/debug", symlinks=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    subprocess.run(["git", "fetch", "--quiet", "origin"], cwd=place, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", commit.strip()], cwd=place, check=True)


def meet(place: Path, name: str, defect: dict[str, str], whole: bool) -> tuple[bool, str]:
    """Whether the tests find the defect, and what they say."""
    file = place / defect["file"]
    text = file.read_text()
    if text.count(defect["old"]) != 1:
        sys.exit(f"error: {defect['file']} does not have the text of {name} exactly once")
    file.write_text(text.replace(defect["old"], defect["new"]))
    command = [sys.executable, "tests/run.py", "--no-lint", "--stop-at-first"]
    command += [] if whole else ["--area", defect["area"], "--budget", str(MINUTES * 60)]
    try:
        ran = subprocess.run(command, cwd=place, env=environment(), capture_output=True, text=True)
    finally:
        file.write_text(text)
    failed = re.findall(r"^failed: (.*)$", ran.stdout, re.M)
    if not re.search(r"^\d+ passed, \d+ failed", ran.stdout, re.M):
        sys.exit(f"error: the tests did not run with {name}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
    return bool(failed), failed[0] if failed else "all tests passed"


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("EOS_")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="some of the defects of tests/mutations.toml")
    parser.add_argument("--whole", action="store_true", help="meet a whole `make test` instead of one area")
    parser.add_argument("--place", type=Path, default=ROOT / "target/mutations", help="where the copy lies")
    options = parser.parse_args()
    copy_of_repository(options.place)
    names, found = options.names or list(DEFECTS), 0
    for name in names:
        begun = time.monotonic()
        is_found, words = meet(options.place, name, DEFECTS[name], options.whole)
        found += is_found
        verdict = "found" if is_found else "NOT found"
        print(
            json.dumps({"defect": name, "verdict": verdict, "by": words}),
            f"{time.monotonic() - begun:.0f} s",
            flush=True,
        )
    print(f"{found} of {len(names)} defects found")
    return 0 if found >= min(WANTED, len(names)) else 1


if __name__ == "__main__":
    sys.exit(main())
