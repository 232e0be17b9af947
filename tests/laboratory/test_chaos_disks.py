"""A disk is full at a random time; Eos says so, lets everybody look, and ends its work once there is room."""

import pytest
from chaos.disks import Full, estate_on_small_disks
from chaos.play import Play, chance_of
from disks import may_mount
from estates import FULL, SEED

pytestmark = pytest.mark.skipif(not may_mount(), reason="this user may not mount")


@pytest.fixture(scope="module")
def play(tmp_path_factory):
    with estate_on_small_disks(tmp_path_factory.mktemp("disks")) as estate:
        yield Play(estate)


@pytest.mark.parametrize("number", range(40 if FULL else 1))
def test_a_disk_is_full_at_a_random_time(play, number):
    play.run(chance_of(SEED, number), Full(play))
