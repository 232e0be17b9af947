"""Of the long suites a seeded sample is run, and all of it in a full run."""

import os
import random

FULL = os.environ.get("EOS_TEST_FULL") == "1"
SEED = int(os.environ.get("EOS_TEST_SEED", "0"))
# How much of a file or directory is run; what is named twice is counted with the first.
SHARES = {
    "tests/laboratory/test_containers.py": 0.3,
    "tests/laboratory/test_drift.py": 0.2,
    "tests/laboratory/test_failures.py": 0.3,
    "tests/laboratory/test_gitops.py": 0.5,
    "tests/laboratory/test_governance.py": 0.4,
    "tests/laboratory/test_operators.py": 0.4,
    "tests/laboratory/test_rotation.py": 0.4,
    "tests/laboratory/test_storage.py": 0.15,
    "tests/laboratory/test_survive.py": 0.4,
    # Another lab for these is for full runs.
    "tests/laboratory/test_truth.py::test_what_is_foretold_happens_with_consul_and_vault": 0,
    "tests/laboratory/test_truth.py::test_what_is_foretold_happens[": 0.04,
    # What keeps API users from being root is tried every time.
    "tests/formula/test_requests.py": 1,
    "tests/formula/test_hostile_requests.py": 1,
    "tests/formula/": 0.1,
}


def pytest_collection_modifyitems(config, items):
    if FULL:
        return
    counted, left_out = set(), set()
    for place, share in SHARES.items():
        there = [item for item in items if item.nodeid.startswith(place) and item not in counted]
        counted.update(there)
        left_out.update(random.Random(SEED).sample(there, len(there) - round(len(there) * share)))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
