"""Scenarios from a seed: the vocabulary of the written ones, combined by chance."""

import random

from . import hands
from .scenarios import Scenario
from .world import option, set_options

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


def by_verb(chance: random.Random, now: dict) -> tuple[str, str, tuple[str, ...], dict]:
    """One command about one component: which, in short, the command, and what there is afterwards."""
    verb = chance.choice(["update"] * 4 + ["delete"] + (["rotate"] if "store" in now else []))
    component = "store" if verb == "rotate" else chance.choice(sorted(now))
    if verb == "rotate":
        return component, "rotate store", ("rotate", "secret", "store", "password"), now
    if verb == "delete":
        left = {name: options for name, options in now.items() if name != component}
        return component, f"delete {component}", ("delete", component), left
    changed = other_options(chance, component, now[component])
    words = [word for name, value in changed.items() for word in option(name, value)]
    after = {**now, component: {**now[component], **changed}}
    return component, f"update {component} ({', '.join(changed)})", ("update", component, *words), after


def by_pillar(chance: random.Random, now: dict) -> tuple[str, str, dict]:
    """Several components at once, by an edit of the pillar: some come, some change, some go."""
    after, said = dict(now), []
    chosen = chance.sample(sorted(VALUES), chance.randint(2, 3))
    for component in chosen:
        if component not in after:
            after[component] = some_options(chance, component)
            said.append(f"create {component}")
        elif len(after) > 2 and chance.random() < 0.6:
            del after[component]
            said.append(f"delete {component}")
        else:
            changed = other_options(chance, component, after[component])
            after[component] = {**after[component], **changed}
            said.append(f"update {component} ({', '.join(changed)})")
    return next((one for one in chosen if one in now), ""), ", ".join(said), after


def generate(seed: int, number: int = 32) -> list[Scenario]:
    """Each begins where the one before it ended, so that all of them together need little to begin with."""
    chance, now, scenarios = random.Random(seed), {}, []
    for index in range(number):
        scenario, now = one(chance, index, now)
        scenarios.append(scenario)
    return scenarios


def one(chance: random.Random, index: int, now: dict) -> tuple[Scenario, dict]:
    # What lies there is the volume of a component that runs, or left by one that ran.
    has_volume = now.get("page", {}).get("room")
    hand, words = ([] if has_volume else [hands.no_volume_directory("page")]), ()
    if now and chance.random() < 0.5:
        component, said, words, after = by_verb(chance, now)
    else:
        component, said, after = by_pillar(chance, now)
        hand.append(hands.pillar(set_options(after)))
    if component in VARIABLES and chance.random() < 0.5:
        what, deed = a_hand(chance, component)
        said = f"{what}; {said}"
        hand.append(deed)
    name = f"generated {index + 1}: {said}"
    return Scenario(name, words, given=now, alone=True, hand=hands.all_of(*hand), leaves=after), after
