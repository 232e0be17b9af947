"""Installs Debian's packages that tests need, once and as root; else says why a test cannot have them."""

import fcntl
import functools
import glob
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


@functools.cache
def installed(missing: tuple[str, ...]) -> str | None:
    """Installs packages; gives back why that failed."""
    if not shutil.which("apt-get"):
        return f"no {', '.join(missing)}, and no apt-get to install them"
    install = f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {' '.join(missing)}"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Suites run side by side, and apt-get does not wait for another one.
    with open(Path(tempfile.gettempdir()) / "eos-test-packages.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran = subprocess.run(["sh", "-c", install], env=environment, capture_output=True, text=True)
    return None if ran.returncode == 0 else f"{', '.join(missing)} could not be installed: {ran.stderr.strip()[-200:]}"


def cannot_have(packages: dict[str, str], without_root: str) -> str | None:
    """Installs what is missing of these, as root; else says why it cannot be had."""
    if os.geteuid() != 0:
        return without_root
    there = lambda name: glob.glob(name) if name.startswith("/") else shutil.which(name)  # noqa: E731
    missing = tuple(package for name, package in packages.items() if not there(name))
    return installed(missing) if missing else None
