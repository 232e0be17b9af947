"""A plan is true: raw dumps of the engines after its application show its predictions, and it leaves no trace.

Every scenario: dump, plan, dump again (nothing may have changed), apply, dump, compare. truth/difference.py names the
compared attributes, and has the one list of exceptions.
"""

import json
import socket
from pathlib import Path

import pytest
from estates import FULL, SEED
from truth import hands
from truth.difference import difference, foretold, judge, judge_failure, served, trace
from truth.generator import generate
from truth.report import Report
from truth.scenarios import WRITTEN, Scenario
from truth.world import World

SOLO = [scenario for scenario in WRITTEN if not scenario.full] + generate(SEED)
OF_FULL = [scenario for scenario in WRITTEN if scenario.full]
REPORT = Report(SEED)


@pytest.fixture(scope="module")
def world(estate):
    yield World(estate)


@pytest.fixture(scope="module")
def full_world(full_estate):
    yield World(full_estate)


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    if FULL:
        page = Path(__file__).resolve().parents[2] / "docs/truthfulness.md"
        REPORT.write(page, [scenario.name for scenario in SOLO + OF_FULL])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def planned(world: World, scenario: Scenario, words: list[str], file: Path) -> dict:
    """The plan, which is saved too where it can be."""
    ask = words or ["plan"]
    look = ([] if ask == ["plan"] else ["--plan"]) + (
        ["--out", str(file)] if scenario.saved and not scenario.secret else []
    )
    with world.without(scenario.silent):
        ran = world.estate.must(*ask, *look, "--json", input=given_secret(scenario))
    return json.loads(ran.stdout.strip().split("\n")[-1])["plan"]


def given_secret(scenario: Scenario) -> str:
    return f"{scenario.secret}\n" if scenario.secret else ""


def carried_out(world: World, scenario: Scenario, words: list[str], file: Path) -> bool:
    """Whether it was by the plan that was saved; by the command itself where no plan can be, or where the plan was made
    half blind."""
    by_file = scenario.saved and not scenario.secret and not scenario.silent
    command = ["apply", str(file)] if by_file else words or ["apply"]
    ran = world.estate.eos(*command, "--yes", input=given_secret(scenario))
    said = f"eos {' '.join(command)}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    assert ran.returncode == (1 if scenario.fails else 0), said
    return by_file


def play(world: World, scenario: Scenario, tmp_path: Path):
    """One scenario from its start to its verdict."""
    given = {scenario.keyed(name): options for name, options in scenario.given.items()}
    world.prepare(given, [scenario.keyed(name) for name in scenario.absent], scenario.alone)
    environment = [] if scenario.words[:1] in (("undo",), ("promote",)) else ["-e", scenario.environment]
    words = [word.replace("{port}", str(free_port())) for word in scenario.words] + environment
    words = words if scenario.words else []
    world.is_clean = False
    for command in scenario.first:
        world.estate.must(*command, "--yes")
    if scenario.hand:
        scenario.hand(world)
    file = tmp_path / "plan.json"

    before = world.dump()
    plan = planned(world, scenario, words, file)
    unasked = plan.get("unasked", [])
    assert bool(unasked) == bool(scenario.silent), f"not asked: {unasked}"
    left = trace(before, world.dump())
    assert not left, "the plan left a trace:\n" + "\n".join(left)
    if scenario.between:
        scenario.between(world)
    by_file = carried_out(world, scenario, words, file)
    after = world.dump()
    if scenario.fails:
        verdict = judge_failure(plan, before, after)
    else:
        verdict = judge(foretold(plan, served(before), by_file), difference(before, after), unasked)
    world.is_clean = not scenario.fails
    if scenario.leaves is None:
        world.forget(scenario.environment)
    else:
        world.learn(scenario.environment, scenario.leaves)
    return plan, verdict


def is_true(world: World, scenario: Scenario, tmp_path: Path):
    if FULL:
        REPORT.begin(scenario.name)
    plan, verdict = play(world, scenario, tmp_path)
    if FULL:
        REPORT.end(scenario.name, verdict)
    assert verdict.is_true(), f"{scenario.name}: {verdict}"


@pytest.mark.parametrize("scenario", SOLO, ids=lambda scenario: scenario.name)
def test_what_is_foretold_happens(world, scenario, tmp_path):
    is_true(world, scenario, tmp_path)


@pytest.mark.parametrize("scenario", OF_FULL, ids=lambda scenario: scenario.name)
def test_what_is_foretold_happens_with_consul_and_vault(full_world, scenario, tmp_path):
    is_true(full_world, scenario, tmp_path)


def test_a_change_between_plan_and_apply_is_found_out(world, tmp_path):
    """The comparison can fail: what somebody else does is unpredicted. Missed ones are in test_difference.py."""
    scenario = Scenario(
        "create with a volume, while others are at work",
        ("create", "keeper"),
        given={"hello": {}},
        absent=("keeper",),
        hand=hands.no_volume_directory("keeper"),
        between=hands.namespace("production", "by somebody else"),
    )
    _, verdict = play(world, scenario, tmp_path)
    world.is_clean = False
    assert not verdict.is_true() and not verdict.missed, verdict
    assert len(verdict.unpredicted) == 1, verdict
    assert verdict.unpredicted[0].startswith("nomad/namespace/production: Description "), verdict
