"""Says if an estate is whole: the engines, the disk and the journal agree with the world that is wanted.

It reads Nomad by its API, everything else from the disk. Only the last questions are Eos's own: whether it finds so too.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
from pathlib import Path

import witness
from estates import Estate, get
from truth.dump import Lab, consul, terraform, vault
from truth.rest import restless

from .subjects import PRODUCTION, STAGING, Key, World, has_volume

UNFINISHED = ("running", "failed", "interrupted", "waiting for approval")
# The workspace of an environment itself, which has its namespace.
PLATFORM = "platform"
DATA = "what the component keeps"
COPY = re.compile(r"eos_users/[^/]+/revealed/")
# How often a minion that did not answer is asked again.
LATE = 2


def operations(estate: Estate) -> list[dict]:
    """All operations, the oldest first, from the store itself."""
    file = estate.root / ".eos/store.db"
    if not file.exists():
        # Nothing was done here yet.
        return []
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as store:
        rows = store.execute("select id, outcome, words from operations order by rowid").fetchall()
    store.close()
    return [{"id": id, "outcome": outcome, "words": words} for id, outcome, words in rows]


def unfinished(estate: Estate) -> list[dict]:
    return [one for one in operations(estate) if one["outcome"] in UNFINISHED]


def wanted(estate: Estate) -> dict[Key, str]:
    """The components of the pillar as it is on the disk, with their greeting."""
    found = {}
    for environment in (PRODUCTION, STAGING):
        file = estate.root / f"pillar/infrastructure/{environment}.sls"
        for name in re.findall(r"^  (\w+):", file.read_text() if file.exists() else "", re.M):
            lines = witness.pillar(estate, name, environment)
            greeting = re.search(r"greeting: (.*)", lines)
            found[environment, name] = greeting.group(1).strip("'\"") if greeting else "Hello"
    return found


class Judge:
    """Remembers between two verdicts what must not change: secrets by their rotation, and the data in volumes."""

    def __init__(self, estate: Estate):
        self.estate = estate
        self.secrets: dict[tuple[Key, int], dict] = {}
        self.values: set[str] = set()
        self.kept: set[Key] = set()

    def violations(self, world: World) -> list[str]:
        """Everything that is not as this world wants it, in words."""
        # The next plan takes away what a killed one delivered.
        self.estate.eos("plan")
        self.estate.wait_until(lambda: not self.restless(), 120, "rest")
        found = [
            *self.of_journal(),
            *self.of_pillar(world),
            *self.of_nomad(world),
            *self.of_terraform(world),
            *self.of_secrets(world),
            *self.of_volumes(world),
        ]
        return found + (self.of_eos() if not found else [])

    def restless(self) -> list[str]:
        """What still moves. The token of a run that was killed ends by itself in half an hour, and moves nothing."""
        lab = Lab(self.estate.root)
        moving = [line for line in restless(lab) if not line.startswith("Terraform still runs with the token")]
        return moving + self.terraforms()

    def terraforms(self) -> list[str]:
        return [line for line in self.estate.processes() if re.match(r"\d+ \S*(terraform|tofu) ", line)]

    def of_journal(self) -> list[str]:
        estate = self.estate
        found = [f"operation {one['id']} is {one['outcome']}: {one['words']}" for one in unfinished(estate)]
        changed = witness.git(estate, "status", "--porcelain")
        found += [f"git: {line}" for line in changed.splitlines()]
        broken = subprocess.run(
            ["git", "-C", estate.root, "fsck", "--no-dangling", "--no-progress"], capture_output=True, text=True
        )
        found += [f"git fsck: {line}" for line in (broken.stdout + broken.stderr).splitlines()]
        found += [f"left over: {path}" for path in estate.files("srv/plans/*")]
        found += [f"left over: {path}" for path in estate.root.glob(".git/*.lock")]
        return found

    def of_pillar(self, world: World) -> list[str]:
        there = wanted(self.estate)
        asked = {key: subject.greeting for key, subject in world.items()}
        return [] if there == asked else [f"the pillar has {there}, and should have {asked}"]

    def of_nomad(self, world: World) -> list[str]:
        estate, found = self.estate, []
        asked = sorted("/".join(key) for key in world)
        there = sorted(estate.jobs())
        if there != asked:
            found.append(f"Nomad has the jobs {there}, and should have {asked}")
        spaces = {environment for environment, _ in world}
        if set(witness.environments(estate)) != spaces:
            found.append(f"Nomad has the namespaces {witness.environments(estate)}, and should have {sorted(spaces)}")
        for (environment, name), subject in world.items():
            running = estate.running(name, environment)
            service = name if environment == PRODUCTION else f"{name}-{environment}"
            services = estate.nomad(f"/v1/service/{service}?namespace={environment}") or []
            pages = [get(f"http://{one['Address']}:{one['Port']}/")[1] for one in services]
            # An environment has its own number of instances.
            is_served = len(running) == len(pages) and all(subject.greeting in page for page in pages)
            if not running or not is_served:
                found.append(f"{environment}/{name} should show {subject.greeting!r}: {len(running)} run, {pages}")
        return found

    def of_terraform(self, world: World) -> list[str]:
        estate, found = self.estate, []
        asked = {"/".join(key) for key in world} | {f"{environment}/{PLATFORM}" for environment, _ in world}
        there = {name: bool(state["resources"]) for name, state in terraform(Lab(estate.root)).items()}
        having = {name for name, has in there.items() if has}
        if having != asked:
            found.append(f"Terraform has something of {sorted(having)}, and should have of {sorted(asked)}")
        found += [f"left over: {path}" for path in estate.files("terraform/workspaces/**/*.lock.info")]
        if "consul" in estate.endpoints:
            locks = consul(Lab(estate.root).consul)["locks"]
            found += [f"left locked: {key}" for key, holder in locks.items() if holder]
        return found + [f"left running: {line}" for line in self.terraforms()]

    def of_secrets(self, world: World) -> list[str]:
        asked, there, found = {key for key in world if has_volume(key)}, self.secrets_there(), []
        if set(there) != asked:
            found.append(f"there are secrets of {sorted(there)}, and should be of {sorted(asked)}")
        for key in asked & set(there):
            now = there[key]
            before = self.secrets.setdefault((key, world[key].rotated), now)
            if before != now:
                found.append(f"the secret of {key} is another one, and nobody rotated it")
            same = [turn for (of, turn), value in self.secrets.items() if of == key and value == now]
            if same != [world[key].rotated]:
                found.append(f"the secret of {key} is an older one")
            self.values.update(now.values())
        return found + [
            f"a secret value lies in {at}" for value in self.values for at in witness.leaks(self.estate, value)
        ]

    def secrets_there(self) -> dict[tuple[str, ...], dict[str, str]]:
        """All secrets of the engine, staged ones too, by environment and component or else by their path.

        Those left out are a person's own copies. Where Salt was silent nobody came for them, and Salt's schedule removes them.
        """
        estate = self.estate
        variables = [one for one in estate.nomad("/v1/vars?namespace=*") if not COPY.match(one["Path"])]
        found = {
            (one["Namespace"], one["Path"].removeprefix("nomad/jobs/")): estate.nomad(
                f"/v1/var/{one['Path']}?namespace={one['Namespace']}"
            )["Items"]
            for one in variables
        }
        if "vault" in estate.endpoints:
            paths = vault(Lab(estate.root).vault)["secrets"]
            for path in (path for path in paths if not COPY.match(path)):
                items = ((estate.vault(f"/v1/secret/data/{path}") or {}).get("data") or {}).get("data") or {}
                found[tuple(path.removesuffix("/app").split("/"))] = items
        return found

    def of_volumes(self, world: World) -> list[str]:
        estate, found = self.estate, []
        asked = sorted(f"{name}-data" for environment, name in world if has_volume((environment, name)))
        there = sorted(one["Name"] for one in estate.nomad("/v1/volumes?type=host&namespace=*"))
        if there != asked:
            found.append(f"Nomad has the volumes {there}, and should have {asked}")
        for key in self.kept | {key for key in world if has_volume(key)}:
            file = self.data_of(key)
            if key in self.kept:
                found += [] if file.is_file() and file.read_text() == DATA else [f"the data of {key} are lost: {file}"]
            elif file.parent.is_dir():
                # The component has its volume now. From here on its data must stay.
                file.write_text(DATA)
                self.kept.add(key)
            else:
                found.append(f"{key} has no directory: {file.parent}")
        return found

    def data_of(self, key: Key) -> Path:
        return self.estate.lab / f"volumes/opt/{key[1]}/data/file"

    def of_eos(self) -> list[str]:
        """The engines agree; does Eos see that they do?"""
        found = []
        for words in (("drift",), ("plan", "--check"), ("audit", "verify"), ("doctor",), ("status",)):
            ran = self.estate.eos(*words)
            # A minion may still be at the work of one who was killed. That it answers late is no verdict on the estate.
            for _ in range(LATE):
                if "did not answer" in ran.stdout + ran.stderr:
                    ran = self.estate.eos(*words)
            if ran.returncode:
                said = "\n".join(line for line in ran.stdout.splitlines() if "  ok  " not in line)
                found.append(f"eos {' '.join(words)}: exit {ran.returncode}\n{said}\n{ran.stderr}")
        return found
