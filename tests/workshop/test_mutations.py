"""Every defect of the mutation check can still be put in."""

import tomllib

import pytest
from record import HERE, ROOT
from selection import AREAS

DEFECTS = tomllib.loads((HERE / "mutations.toml").read_text())


def test_there_are_twelve():
    assert len(DEFECTS) == 12


@pytest.mark.parametrize("name", DEFECTS)
def test_its_text_is_there_once(name):
    defect = DEFECTS[name]
    assert (ROOT / defect["file"]).read_text().count(defect["old"]) == 1
    assert defect["old"] != defect["new"] and defect["area"] in AREAS
