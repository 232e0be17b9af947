"""The world of the scenarios: one estate with its lab, brought to the start of a scenario."""

import json
import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path

from estates import Estate

from .dump import Lab, dump
from .rest import is_of_a_run, wait_for_rest

RECIPES = Path(__file__).parent / "recipes"
# Component -> its recipe, where that is not its name.
RECIPE_OF = {"greeter": "hello", "second": "page"}
ENVIRONMENTS = ("production", "staging", "development")


class World:
    def __init__(self, estate: Estate):
        self.estate = estate
        self.lab = Lab(estate.root)
        # (environment, component) -> options that it is known to have; others may be set too.
        self.known: dict[tuple[str, str], dict] = {}
        # Environment -> all its components with all options that are set.
        self.exactly: dict[str, dict] = {}
        # A scenario that failed may have left anything.
        self.is_clean = True
        for file in RECIPES.glob("*.yaml"):
            self.write_recipe(file.stem, file.read_text())

    def write_recipe(self, name: str, text: str):
        place = self.estate.root / f"recipes/{name}/recipe.yaml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def dump(self) -> dict:
        """At rest. The minion's own schedule may begin a run between two looks; a token that stays is no such run's."""
        while True:
            wait_for_rest(self.lab)
            dumped = dump(self.estate.root)
            if not any(map(is_of_a_run, dumped["nomad"]["tokens"].values())):
                return dumped

    def components(self, environment: str) -> list[str]:
        return [one["component"] for one in self.estate.json("list", "-e", environment)["components"]]

    def start_over(self):
        """Whatever a scenario left that failed: nothing of it stays."""
        self.exactly.clear()
        if self.estate.eos("apply", "--yes").returncode:
            self.estate.eos("resume")
        for environment in ENVIRONMENTS:
            self.have_only(environment, {})
        self.is_clean = True

    def have_only(self, environment: str, wanted: dict):
        """These components and no others, by one operation."""
        if self.exactly.get(environment) == set_options(wanted):
            return
        self.write_pillar(environment, set_options(wanted))
        self.estate.must("apply", "-e", environment, "--yes")
        self.learn(environment, wanted)

    def prepare(self, given: dict, absent: list, alone: bool):
        """Has what a scenario starts from: these components with these options, and those not."""
        if not self.is_clean:
            self.start_over()
        for environment in sorted({environment for environment, _ in [*given, *absent]}):
            wanted = {component: options for (of, component), options in given.items() if of == environment}
            if alone:
                self.have_only(environment, wanted)
                continue
            there = self.components(environment)
            for component in [one for of, one in absent if of == environment and one in there]:
                self.estate.must("delete", component, "-e", environment, "--yes")
                self.known.pop((environment, component), None)
                self.exactly.pop(environment, None)
            for component, options in wanted.items():
                self.have(environment, component, options, component in there)

    def have(self, environment: str, component: str, options: dict, is_there: bool):
        self.exactly.pop(environment, None)
        recipe = RECIPE_OF.get(component, component)
        words = [word for name, value in options.items() for word in option(name, value)]
        known = self.known.get((environment, component), {}) if is_there else {}
        if not is_there:
            name = [] if recipe == component else ["--name", component]
            words = [word for name, value in options.items() if value is not None for word in option(name, value)]
            self.estate.must("create", recipe, *name, *words, "-e", environment, "--yes")
        elif any(known.get(name, ...) != value for name, value in options.items()):
            self.estate.must("update", component, *words, "-e", environment, "--yes")
        self.known[(environment, component)] = {**known, **options}

    def forget(self, environment: str):
        """What a scenario changed is known no longer."""
        self.known = {key: options for key, options in self.known.items() if key[0] != environment}
        self.exactly.pop(environment, None)

    def learn(self, environment: str, components: dict):
        """All that there is in an environment."""
        self.forget(environment)
        self.known |= {(environment, name): dict(options) for name, options in components.items()}
        self.exactly[environment] = set_options(components)

    def pillar(self, environment: str) -> Path:
        return self.estate.root / f"pillar/infrastructure/{environment}.sls"

    def write_pillar(self, environment: str, components: dict):
        """As a person would who edits the file, and leaves out what they need not say."""
        body = {
            name: {"recipe": RECIPE_OF.get(name, name), **({"options": o} if o else {})}
            for name, o in components.items()
        }
        self.pillar(environment).write_text(f"#!yaml\ncomponents: {json.dumps(body)}\n")

    @contextmanager
    def without(self, engine: str | None):
        """An engine that hears and does not answer."""
        if engine is None:
            yield
            return
        # Salt's programs are several processes each.
        group = self.estate.pid(engine)
        os.killpg(group, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(group, signal.SIGCONT)
        self.end_tokens()

    def end_tokens(self):
        """Who asked Nomad for a token and got no answer cannot end it; it would end by itself in half an hour. Nomad may
        still have such questions to answer, so it is looked at until none came for a while."""
        quiet = 0
        while quiet < 20:
            left = [one for one in self.estate.nomad("/v1/acl/tokens") if is_of_a_run(one)]
            for token in left:
                self.estate.nomad(f"/v1/acl/token/{token['AccessorID']}", "DELETE")
            quiet = 0 if left else quiet + 1
            time.sleep(0.25)


def set_options(components: dict) -> dict:
    """Without the options that have their default."""
    return {name: {key: v for key, v in options.items() if v is not None} for name, options in components.items()}


def option(name: str, value) -> list[str]:
    flag = name.replace("_", "-")
    if value is None:
        return ["--unset", flag]
    return [f"--{flag}={str(value).lower() if isinstance(value, bool) else value}"]
