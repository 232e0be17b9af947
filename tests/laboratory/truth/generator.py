"""Scenarios from a seed: the same vocabulary as the written ones, put together by chance."""

import random

from . import hands
from .scenarios import Scenario
from .world import option

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
        options = VALUES[component]
        for name in chance.sample(sorted(options), chance.randint(1, min(2, len(options)))):
            others = [value for value in options[name] if value != now.get(name, options[name][0])]
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


def by_verb(chance: random.Random, given: dict) -> tuple[str, str, tuple[str, ...]]:
    """One command about one component: which, in short, and the command."""
    verbs = ["update"] * 4 + ["delete"] + (["rotate"] if "store" in given else [])
    verb = chance.choice(verbs)
    component = "store" if verb == "rotate" else chance.choice(sorted(given))
    if verb == "rotate":
        return component, "rotate store", ("rotate", "secret", "store", "password")
    if verb == "delete":
        return component, f"delete {component}", ("delete", component)
    changed = other_options(chance, component, given[component])
    words = [word for name, value in changed.items() for word in option(name, value)]
    return component, f"update {component} ({', '.join(changed)})", ("update", component, *words)


def by_pillar(chance: random.Random, given: dict) -> tuple[str, str, dict]:
    """Several components at once, by an edit of the pillar: some come, some change, some go."""
    after, said = dict(given), []
    chosen = chance.sample(sorted(VALUES), chance.randint(2, 3))
    for component in chosen:
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
    return next((one for one in chosen if one in given), ""), ", ".join(said), plain


def generate(seed: int, number: int = 32) -> list[Scenario]:
    return [one(random.Random(f"{seed}/{index}"), index) for index in range(number)]


def one(chance: random.Random, index: int) -> Scenario:
    given = {name: some_options(chance, name) for name in chance.sample(sorted(VALUES), chance.randint(1, 2))}
    # What lies there is the volume of a component that runs, or left by one that ran.
    has_volume = given.get("page", {}).get("room")
    hand, words = ([] if has_volume else [hands.no_volume_directory("page")]), ()
    if chance.random() < 0.5:
        component, said, words = by_verb(chance, given)
    else:
        component, said, after = by_pillar(chance, given)
        hand.append(hands.pillar(after))
    if component in VARIABLES and chance.random() < 0.5:
        what, deed = a_hand(chance, component)
        said = f"{what}; {said}"
        hand.append(deed)
    return Scenario(f"generated {index + 1}: {said}", words, given=given, alone=True, hand=hands.all_of(*hand))
