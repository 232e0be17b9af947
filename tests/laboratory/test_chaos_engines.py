"""Engines are killed, or stand still, at random times; every command ends, and whatever it left ends well."""

import pytest
from chaos.faults import Engine, Window
from chaos.play import Play, chance_of
from estates import FULL, SEED

ENGINES = ("nomad", "salt-master", "salt-api", "salt-minion")
LONGEST = 90 if FULL else 15


@pytest.fixture(scope="module")
def play(estate):
    return Play(estate)


@pytest.mark.parametrize("number", range(50 if FULL else 1))
def test_an_engine_is_struck_at_a_random_time(play, number):
    play.run(chance_of(SEED, number), Engine(play.estate, ENGINES, LONGEST, play.usual))


@pytest.mark.parametrize("whom", ["terraform", "salt-minion"])
@pytest.mark.parametrize("number", range(25 if FULL else 1))
def test_it_is_killed_while_terraform_applies(play, whom, number):
    play.run(chance_of(SEED, number), Window(play.estate, whom))
