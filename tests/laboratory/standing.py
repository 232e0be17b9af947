"""The standing laboratories of one test run: started once, lent to one test file after the other or to several at once.

`standing.py start NAME...` and `standing.py end` are for run.py. A file that owns its names works side by side with others in
`solo`; every other file has its laboratory for itself and may stop engines in it.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from chaos.judge import unfinished
from estates import FULL, Estate, no_containers, no_mesh

SPARES = ("spare", "spare-2", "spare-3", "spare-4")
# For files that strike engines. In a full run one of them may need its laboratory for an hour, and each worker has one.
SPARE = SPARES if FULL else SPARES[:2]
# By name: what `eos lab up` is given.
LABORATORIES = {
    "solo": (),
    **{name: () for name in SPARES},
    "containers": ("--containers",),
    "full": ("--full", "--nodes", "2"),
    "strict": (),
}
# Its settings are those that every laboratory begins with; the others trust the recipes of the tests.
STRICT = "strict"
# Where several files work at once, each environment has a component that stays: else the first one to come would make the
# namespace, and the last one to go would remove it, under the others. `development` is of test_volumes.py alone.
SHARED = "solo"
GROUND = ("production", "staging")
# A file that waits longer for a laboratory has met a deadlock.
PATIENCE = 2400


def place() -> Path:
    return Path(os.environ["EOS_TEST_LABS"])


class Standing:
    """One standing laboratory; its lock says who works in it."""

    def __init__(self, name: str):
        self.name = name
        self.estate = Estate(place() / name / "estate")
        self.is_up = place() / f"{name}.up"

    def options(self) -> list[str]:
        words = [*LABORATORIES[self.name]]
        if "--full" in words:
            # Without root the lab comes up all the same, without mesh and containers.
            no_mesh()
            words += [] if no_containers() else ["--containers"]
        if self.name == STRICT and not no_containers():
            words.append("--containers")
        return words

    def start(self) -> None:
        """Starts it, once a run; who comes meanwhile waits."""
        with locked(place() / f"{self.name}.starting", fcntl.LOCK_EX):
            if not self.is_up.exists():
                self.estate.root.parent.mkdir(exist_ok=True)
                self.estate.begin(*self.options(), trusting=self.name != STRICT)
                # Nothing was made in it yet, so nothing can differ.
                self.estate.must("drift")
                for environment in GROUND if self.name == SHARED else ():
                    ground = ("create", "hello", "--name", "ground", "--replicas", "1", "-e", environment, "--yes")
                    self.estate.must(*ground)
                self.is_up.touch()

    def end(self) -> list[str]:
        left = self.estate.end()
        self.is_up.unlink(missing_ok=True)
        return left

    def clear(self) -> None:
        """Gives the next file the ground that this one found; a laboratory that cannot is made again."""
        try:
            self.estate.must("lab", "up", *self.options(), timeout=300)
            self._dismiss_operations()
            self._remove_components()
            self._remove_hosts()
            self._forget_edits()
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            print(f"{self.name} is made again: {error}")
            self.end()
            self.start()

    def _dismiss_operations(self) -> None:
        """Nobody goes on with what a test left waiting, and the next file judges the journal as well."""
        for one in unfinished(self.estate):
            self.estate.must("rollback", one["id"], "--dismiss", "its test is over", "--yes")

    def _remove_components(self) -> None:
        for file in (self.estate.root / "pillar/infrastructure").glob("*.sls"):
            if file.stem == "common":
                continue
            for component in self.estate.json("list", "-e", file.stem)["components"]:
                # One that another component owns goes with its owner.
                self.estate.eos("delete", component["component"], "-e", file.stem, "--yes")
            left = self.estate.json("list", "-e", file.stem)["components"]
            assert not left, f"{file.stem} still has {left}"
        jobs = self.estate.jobs()
        assert not jobs, f"Nomad still has {jobs}"
        # Data outlive their component; the next file's component may have the same name.
        for left in (self.estate.lab / "volumes").glob("*"):
            shutil.rmtree(left)

    def _remove_hosts(self) -> None:
        hosts = [one["host"] for one in self.estate.json("list", "--hosts")["hosts"]]
        for host in hosts:
            if host != self.estate.endpoints["control"]:
                self.estate.must("delete", "host", host, "--yes")

    def _forget_edits(self) -> None:
        for words in (["checkout", "--quiet", "--", "."], ["clean", "-fdq"]):
            subprocess.run(["git", *words], cwd=self.estate.root, check=True)


@contextmanager
def locked(path: Path, kind: int):
    with open(path, "a") as file:
        fcntl.flock(file, kind)
        yield


@contextmanager
def lent(*names: str, side_by_side: bool = False):
    """The estate of the first of these laboratories that is free."""
    laboratory, lock = _take(names, fcntl.LOCK_SH if side_by_side else fcntl.LOCK_EX)
    with lock:
        laboratory.start()
        yield laboratory.estate
        if not side_by_side:
            laboratory.clear()


def _take(names: tuple[str, ...], kind: int):
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        for name in names:
            file = open(place() / f"{name}.lock", "a")
            try:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                continue
            return Standing(name), file
        time.sleep(0.2)
    raise TimeoutError(f"no laboratory of {', '.join(names)} was free in {PATIENCE} s")


def main() -> int:
    verb, *names = sys.argv[1:]
    if verb == "start":
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda name: Standing(name).start(), names))
        return 0
    standing = [Standing(name) for name in LABORATORIES if (place() / name).exists()]
    with ThreadPoolExecutor() as pool:
        left = [line for lines in pool.map(Standing.end, standing) for line in lines]
    print("\n".join(left) or f"{len(standing)} laboratories left nothing behind")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
