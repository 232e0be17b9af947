"""A home machine: a guest with the repository and the store on a disk of its own, which runs Eos. The engines are outside."""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
import time
from urllib.parse import urlsplit

from estates import PROGRAM
from guests import HOST, Guest

from .judge import operations
from .play import BOUND, Play, Ran
from .subjects import draw

ENGINES = ("nomad", "consul", "vault")
# Seconds of an operation: a guest is slower than its host.
USUAL = 20.0
# The engines stay where they are; the guest has their directory as a share of its host.
MOUNT = """\
mkdir -p {root} && mount -o data=ordered /dev/ubdb {root} && mkdir -p {root}/.eos/lab &&
mount -t hostfs -o sync,{lab} share {root}/.eos/lab
"""
# What a person takes along who moves the home of an estate; the engines' own directory is none of it.
PACK = "cd {root} && tar --exclude=./.eos/lab --exclude=./lost+found -cf {file} ."
# Whether SQLite finds its file whole.
CHECK = """\
{python} -c "import sqlite3
print(sqlite3.connect('{root}/.eos/store.db').execute('pragma integrity_check').fetchone()[0])"
"""


class Home:
    """Runs commands of Eos inside; `fetch` brings what they wrote to where the judge looks."""

    def __init__(self, guest: Guest, play: Play):
        self.guest, self.play, self.estate = guest, play, play.estate
        self.root = self.estate.root
        for port in self.ports():
            script = f"exec {sys.executable} -I -S /guest/pass.py {HOST} {port}\n"
            (guest.share / f"services/pass-{port}").write_text(script)
        subprocess.run(PACK.format(root=self.root, file=guest.share / "estate.tar"), shell=True, check=True)
        guest.must(f"mkfs.ext4 -q /dev/ubdb && mkdir -p {self.root} && mount /dev/ubdb {self.root}", 120)
        guest.must(f"tar -xf /guest/estate.tar -C {self.root} && sync && umount {self.root}", 120)
        guest.power_cut()
        self.boot()

    def ports(self) -> list[int]:
        """Of all engines, on this machine's loopback, which the guest finds on its own."""
        endpoints = self.estate.endpoints
        named = [endpoints["salt"]["url"], *(one["address"] for one in map(endpoints.get, ENGINES) if one)]
        return [urlsplit(address).port for address in named]

    def boot(self) -> None:
        self.guest.boot()
        self.guest.must(MOUNT.format(root=self.root, lab=self.estate.lab))

    def command(self, words: tuple[str, ...]) -> str:
        return f"cd / && {PROGRAM} --estate {self.root} {shlex.join(words)}"

    def ask(self, *words: str) -> Ran:
        begun = time.monotonic()
        code, said = self.guest.run(self.command(words), BOUND)
        # Inside, standard output and error are one.
        return Ran(words, code, "", said, time.monotonic() - begun)

    def fetch(self) -> None:
        """Puts what the guest has on its disk in the place of what is here."""
        self.guest.must(PACK.format(root=self.root, file="/guest/estate.tar"), 120)
        kept = {".eos/lab"}
        for path in [*self.root.glob("*"), *self.root.glob(".[!.]*"), *(self.root / ".eos").glob("*")]:
            if path.name != ".eos" and str(path.relative_to(self.root)) not in kept:
                subprocess.run(["rm", "-rf", path], check=True)
        subprocess.run(["tar", "-xf", self.guest.share / "estate.tar", "-C", self.root], check=True)

    def cut(self, chance: random.Random) -> None:
        """One operation, whose machine loses its power at a random time; then it must end well."""
        play = self.play
        operation = draw(chance, play.world)
        known = {one["id"] for one in operations(self.estate)}
        after = chance.uniform(0, 1.1 * play.usual.get(operation.verb, USUAL))
        number = self.guest.start(self.command(operation.words))
        ends = time.monotonic() + after
        while time.monotonic() < ends and not self.guest.is_finished(number):
            time.sleep(0.02)
        story = [f"{operation}: the power was cut after {after:.1f} s"]
        self.guest.power_cut()
        self.boot()
        faults, ways = self.broken(), []
        self.fetch()
        begun = [one["id"] for one in operations(self.estate) if one["id"] not in known]
        way = chance.choice(("resume", "rollback"))
        while play.is_open(begun) and len(ways) < 3:
            ways.append(self.ask(way, play.is_open(begun)[-1], "--yes"))
            self.fetch()
        story += map(str, ways)
        faults += [one for ran in ways for one in ran.untrue()]
        faults += play.settle(operation, Ran(operation.words, -9, "", "", after), begun)
        faults += play.judge.violations(play.world)
        assert not faults, "\n".join([*faults, "", "The story:", *story])

    def broken(self) -> list[str]:
        """Whatever git and SQLite say of their files, before Eos runs again."""
        found = []
        git = f"git -C {self.root} fsck --no-dangling --no-progress"
        sqlite = CHECK.format(python=sys.executable, root=self.root)
        for check, wanted in ((git, ""), (sqlite, "ok")):
            code, said = self.guest.run(check, 120)
            if code or said.strip() != wanted:
                found.append(f"{check}: exit {code}\n{said}")
        return found
