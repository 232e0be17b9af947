"""Lends the standing laboratories to the tests."""

import pytest
from estates import no_containers
from standing import SHARED, SPARE, lent


@pytest.fixture(scope="module")
def estate(request):
    """An estate of the solo profile."""
    side_by_side = request.node.get_closest_marker("side_by_side") is not None
    names = [SHARED] if side_by_side else SPARE
    with lent(*names, side_by_side=side_by_side) as made:
        yield made


@pytest.fixture(scope="module")
def full_estate():
    """An estate of the full profile, with two nodes beside control that are not in its pillar yet."""
    with lent("full") as made:
        yield made


@pytest.fixture(scope="module")
def with_containers():
    why = no_containers()
    if why:
        pytest.skip(why)
    with lent("containers") as made:
        yield made
