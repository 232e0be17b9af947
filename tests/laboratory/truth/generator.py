"""Scenarios from a seed: the same vocabulary as the written ones, put together by chance."""

import random

from . import hands
from .scenarios import Scenario

# Component -> option -> values it may have; nothing is the default.
VALUES = {
    "hello": {"greeting": [None, "Ahoy", "Servus", "a 'b' \"c\""], "replicas": [1, 2, 3], "memory": [64, 72]},
    "greeter": {"greeting": [None, "Moin", "Hej"], "replicas": [1, 2], "cpu": [50, 60]},
    "page": {
        "title": [None, "One", "Two"],
        "workers": [2, 5],
        "loud": [False, True],
        "remark": [None, "soft", "loud"],
        "note": [None, "a\nb", "{} %s"],
        "look": ["/health", "/metrics"],
        "beside": [False, True],
        "room": [False, True],
        "replicas": [1, 2],
    },
    "store": {"title": [None, "Barn", "Shed"], "replicas": [1, 2]},
    "notes": {"heading": [None, "Minutes"]},
}
# The variable of the first task that a hand may change.
VARIABLES = {
    "hello": "EOS_HELLO_GREETING",
    "greeter": "EOS_HELLO_GREETING",
    "page": "TITLE",
    "store": "EOS_HELLO_GREETING",
}


def some_options(chance: random.Random, component: str, most: int = 2) -> dict:
    options = VALUES[component]
    names = chance.sample(sorted(options), chance.randint(0, min(most, len(options))))
    return {name: chance.choice(options[name]) for name in names}


def other_options(chance: random.Random, component: str, now: dict) -> dict:
    """At least one option becomes another; what is not named stays as it is."""
    changed = {}
    while not changed:
        for name in chance.sample(sorted(VALUES[component]), chance.randint(1, 2)):
            usual = VALUES[component][name][0]
            others = [value for value in VALUES[component][name] if value != now.get(name, usual)]
            if others:
                changed[name] = chance.choice(others)
    return changed


def a_hand(chance: random.Random, component: str):
    """What somebody does to a component's job, in words and as a deed."""
    kind = chance.choice(["count", "variable", "stray", "purged", "stopped"])
    made = {
        "count": lambda: hands.count(component, 3),
        "variable": lambda: hands.env(component, VARIABLES[component], "by hand"),
        "stray": lambda: hands.env(component, "STRAY", "by hand"),
        "purged": lambda: hands.stopped(component, purge=True),
        "stopped": lambda: hands.stopped(component, purge=False),
    }
    return f"{component} {kind} by hand", made[kind]()


def by_verb(chance: random.Random, given: dict) -> tuple[str, tuple[str, ...]]:
    """One command about one component."""
    verbs = ["update"] * 4 + ["delete"] + (["rotate"] if "store" in given else [])
    verb = chance.choice(verbs)
    component = "store" if verb == "rotate" else chance.choice(sorted(given))
    if verb == "rotate":
        return "rotate store", ("rotate", "secret", "store", "password")
    if verb == "delete":
        return f"delete {component}", ("delete", component)
    changed = other_options(chance, component, given[component])
    words = []
    for name, value in changed.items():
        flag = name.replace("_", "-")
        shown = str(value).lower() if isinstance(value, bool) else value
        words += ["--unset", flag] if value is None else [f"--{flag}={shown}"]
    return f"update {component} ({', '.join(changed)})", ("update", component, *words)


def by_pillar(chance: random.Random, given: dict) -> tuple[str, dict]:
    """Several components at once, by an edit of the pillar: some come, some change, some go."""
    after, said = dict(given), []
    for component in chance.sample(sorted(VALUES), chance.randint(2, 3)):
        if component not in after:
            after[component] = some_options(chance, component)
            said.append(f"create {component}")
        elif chance.random() < 0.3:
            del after[component]
            said.append(f"delete {component}")
        else:
            changed = other_options(chance, component, after[component])
            after[component] = {**after[component], **changed}
            said.append(f"update {component} ({', '.join(changed)})")
    plain = {name: {key: v for key, v in options.items() if v is not None} for name, options in after.items()}
    return ", ".join(said), plain


def generate(seed: int, number: int = 32) -> list[Scenario]:
    return [one(random.Random(f"{seed}/{index}"), index) for index in range(number)]


def one(chance: random.Random, index: int) -> Scenario:
    given = {name: some_options(chance, name) for name in chance.sample(sorted(VALUES), chance.randint(1, 3))}
    said, hand, words = [], [hands.no_volume_directory("page")], ()
    touchable = [name for name in given if name in VARIABLES and not given[name].get("room")]
    if touchable and chance.random() < 0.4:
        what, deed = a_hand(chance, chance.choice(touchable))
        said.append(what)
        hand.append(deed)
    if given.get("page", {}).get("room"):
        # What lies there is the volume of a component that runs.
        hand.pop(0)
    if chance.random() < 0.5:
        what, words = by_verb(chance, given)
    else:
        what, after = by_pillar(chance, given)
        hand.append(hands.pillar(after))
    name = f"generated {index + 1}: {'; '.join([*said, what])}"
    return Scenario(name, words, given=given, alone=True, hand=hands.all_of(*hand))
