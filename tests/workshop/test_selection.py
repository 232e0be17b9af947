"""The choice of tests: cheap ones always, every area, a budget, the same seed the same tests."""

import pytest
from selection import ALONE, AREAS, CHEAP, Unit, area_of, choose, cost_of, units_of

UNITS = [Unit((f"cheap {number}",), 0.1, "compiler") for number in range(5)]
UNITS += [Unit((f"{area} {number}",), 10.0 + number, area) for area in AREAS for number in range(8)]


@pytest.mark.parametrize("seed", range(20))
def test_every_area_and_all_cheap_tests_are_there_within_the_budget(seed):
    budget = 400.0
    chosen = choose(UNITS, budget, seed, set())
    assert {unit.area for unit in chosen} == set(AREAS)
    assert [unit for unit in chosen if unit.cost < CHEAP] == UNITS[:5]
    assert sum(unit.cost for unit in chosen if unit.cost >= CHEAP) <= budget
    assert chosen == choose(UNITS, budget, seed, set())


def test_another_seed_chooses_other_tests():
    assert choose(UNITS, 400.0, 1, set()) != choose(UNITS, 400.0, 2, set())


def test_areas_that_changed_fill_the_budget_first():
    chosen = choose(UNITS, 400.0, 3, {"disks"})
    assert len([unit for unit in chosen if unit.area == "disks"]) == 8


def test_an_area_runs_even_where_its_cheapest_test_is_over_the_budget():
    units = [Unit(("one",), 500.0, "disks"), Unit(("two",), 10.0, "plan")]
    assert choose(units, 20.0, 0, set()) == units


def test_tests_of_a_chain_are_one_unit_with_the_sum_of_their_costs():
    costs = {"laboratory/test_full.py::a": {"sampled": 3.0, "full": 9.0}, "laboratory/test_full.py::b": {"full": 4.0}}
    tests = [(name, "laboratory/test_full.py") for name in costs] + [("laboratory/test_plan.py::c", None)]
    chain, single = units_of(tests, costs, {"laboratory/test_plan.py::c"}, set())
    assert chain.tests == tuple(costs) and chain.cost == 7.0 and chain.area == "estate"
    assert single.tests == ("laboratory/test_plan.py::c",) and single.area == "plan"
    assert single.is_cheap and single.cost > CHEAP, "marked always"


def test_an_unmeasured_test_of_the_laboratory_is_dear():
    assert cost_of("laboratory/test_new.py::test", {}) > CHEAP > cost_of("workshop/test_new.py::test", {})


def test_a_test_without_an_area_is_an_error():
    with pytest.raises(ValueError, match="nowhere/test_x.py"):
        area_of("nowhere/test_x.py::test")


def test_a_test_that_has_the_machine_for_itself_counts_more():
    costs = {"laboratory/test_guests.py::a": {"full": 4.0}}
    [alone] = units_of([("laboratory/test_guests.py::a", None)], costs, set(), set(costs))
    assert alone.cost == 4.0 * ALONE
