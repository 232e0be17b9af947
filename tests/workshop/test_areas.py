"""The areas name what is there: every place has tests, every source exists."""

import pytest
from record import ROOT
from selection import AREAS


@pytest.mark.parametrize("name", AREAS)
def test_sources_of_an_area_exist(name):
    for source in AREAS[name]["sources"]:
        found = [*(ROOT / source).parent.glob((ROOT / source).name + "*")]
        assert found, f"{source} of {name} is not there"


@pytest.mark.parametrize("name", AREAS)
def test_tests_of_an_area_exist(name):
    for place in AREAS[name]["tests"]:
        file = place.split("::")[0]
        found = [*(ROOT / "tests" / file).parent.glob((ROOT / "tests" / file).name + "*")]
        assert found, f"{place} of {name} is not there"
