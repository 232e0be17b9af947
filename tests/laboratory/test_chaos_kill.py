"""Commands are killed at random times, and whatever they left ends well by the way that Eos names."""

import pytest
from chaos.faults import Kill
from chaos.play import Play, chance_of
from estates import FULL, SEED


@pytest.fixture(scope="module")
def play(estate):
    return Play(estate)


@pytest.mark.parametrize("number", range(150 if FULL else 3))
def test_a_command_is_killed_at_a_random_time(play, number):
    play.run(chance_of(SEED, number), Kill(play.usual))
