"""The machine that Eos runs on loses its power at random times; git, store and pillar agree, and the operation ends well."""

import pytest
from chaos.home import Home
from chaos.play import Play, chance_of
from estates import FULL, SEED
from guests import guest, no_guests

pytestmark = pytest.mark.quiet


@pytest.fixture(scope="module")
def home(estate):
    if why := no_guests():
        pytest.skip(why)
    play = Play(estate)
    # A home has a history before its first power cut.
    estate.must("create", "hello", "--name", "ground", "--yes")
    estate.must("delete", "ground", "--yes")
    with guest(None, "home", disks=["1G"], memory="768M") as machine:
        yield Home(machine, play)


@pytest.mark.parametrize("number", range(10 if FULL else 1))
def test_the_power_is_cut_at_a_random_time(home, number):
    home.cut(chance_of(SEED, number))
