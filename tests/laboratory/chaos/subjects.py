"""The components that operations are tried on, and what an operation makes of them.

`safe` has a secret and a volume, `hello` has neither. An operation is drawn by chance; `after` is the world it wants.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

PRODUCTION, STAGING = "production", "staging"
RECIPE_OF = {"k1": "safe", "k2": "safe", "h1": "hello"}
PROMOTED = "h1"
# Environment and component.
Key = tuple[str, str]


@dataclass(frozen=True)
class Subject:
    """One component as the pillar wants it."""

    greeting: str
    # Counts the rotations of its secret: two of one number have one value.
    rotated: int = 0


World = dict[Key, Subject]


@dataclass(frozen=True)
class Operation:
    verb: str
    words: tuple[str, ...]
    key: Key
    after: World

    def __str__(self) -> str:
        return f"eos {' '.join(self.words)}"


def has_volume(key: Key) -> bool:
    return RECIPE_OF[key[1]] == "safe"


def draw(chance: random.Random, world: World, names: tuple[str, ...] = tuple(RECIPE_OF)) -> Operation:
    """Something that can be asked for in this world."""
    return chance.choice([one for name in names for one in possible(world, name, chance)])


def possible(world: World, name: str, chance: random.Random) -> list[Operation]:
    key = (PRODUCTION, name)
    greeting = f"greeting {chance.randrange(10**6)}"
    if key not in world:
        words = ("create", RECIPE_OF[name], "--name", name, "--greeting", greeting)
        made = Subject(greeting, rotated=chance.randrange(10**6))
        found = [Operation("create", (*words, "--yes"), key, {**world, key: made})]
    else:
        changed = {**world, key: replace(world[key], greeting=greeting)}
        found = [
            Operation("update", ("update", name, "--greeting", greeting, "--yes"), key, changed),
            Operation("delete", ("delete", name, "--yes"), key, without(world, key)),
        ]
        if has_volume(key):
            turned = {**world, key: replace(world[key], rotated=chance.randrange(10**6))}
            found.append(Operation("rotate", ("rotate", "secret", name, "password", "--yes"), key, turned))
        if name == PROMOTED and world.get((STAGING, name)) != world[key]:
            words = ("promote", name, "--from", PRODUCTION, "--to", STAGING, "--yes")
            found.append(Operation("promote", words, (STAGING, name), {**world, (STAGING, name): world[key]}))
    if (STAGING, name) in world:
        words = ("delete", name, "-e", STAGING, "--yes")
        found.append(Operation("delete", words, (STAGING, name), without(world, (STAGING, name))))
    return found


def without(world: World, key: Key) -> World:
    return {one: subject for one, subject in world.items() if one != key}
