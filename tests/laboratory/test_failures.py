"""Every kind of failure of a component, on real engines: the layer, the object, the quoted lines, and the hint.

A failed update leaves the old version serving, with its data unchanged. Failures of engines: test_failures_of_engines.py.
"""

import base64
import json
import secrets
import threading
from urllib.parse import quote

import pytest
from estates import Estate
from faulty import failure, ids, remove, said, serve, still_serves, volume, with_recipes

pytestmark = pytest.mark.side_by_side


@pytest.fixture(scope="module")
def solo(estate):
    return with_recipes(estate)


@pytest.fixture
def tidy(solo):
    """Whatever a test leaves of the component is gone after it."""
    yield solo
    remove(solo, "faulty")


def test_a_volume_that_salt_cannot_make_is_tried_again_with_a_corrected_pillar(tidy):
    blocked = tidy.lab / "volumes/opt/faulty-blocked"
    blocked.parent.mkdir(parents=True, exist_ok=True)
    blocked.write_text("a file where a directory should be")
    options = ["--root", str(volume(tidy))]
    error = failure(tidy, "create", "faulty", "--data-path", "/opt/faulty-blocked", *options, within=120)
    assert error["layer"] == "salt", error
    assert error["object"] == "volume production/faulty/data", error
    assert error["words"].endswith("/opt/faulty-blocked is not a directory"), error
    assert "another path" in error["hint"]
    assert blocked.read_text() == "a file where a directory should be"
    assert tidy.running("faulty") == []
    # Corrected, it goes on.
    blocked.unlink()
    remove(tidy, "faulty")
    serve(tidy)
    before = ids(tidy)
    blocked.write_text("and again")
    error = failure(tidy, "update", "faulty", "--data-path", "/opt/faulty-blocked", within=120)
    assert error["layer"] == "salt", error
    still_serves(tidy, before)
    blocked.unlink()


def test_a_job_that_no_node_can_take_is_named_with_numbers(tidy):
    options = ["--root", str(volume(tidy)), "--memory", "900000"]
    error = failure(tidy, "create", "faulty", *options, within=120)
    assert (error["layer"], error["object"]) == ("nomad", "job faulty"), error
    assert "memory: 900000 MiB wanted, largest free on a node " in error["words"], error
    assert "--memory" in error["hint"]


def test_a_task_that_ends_at_once_shows_its_code_and_its_last_lines_without_its_password(tidy):
    password = secrets.token_urlsafe(24)
    options = ["--root", str(volume(tidy)), "--mode", "crash", "--password", "-"]
    error = failure(tidy, "create", "faulty", *options, within=120, input=password)
    assert error["layer"] == "nomad" and error["object"].startswith("job faulty, allocation "), error
    assert error["words"] == "task faulty ended with exit code 3, and Nomad started it 4 times", error
    assert "no such database" in said(error, "task faulty, stderr")
    assert "the password is ***" in said(error, "task faulty, stderr")
    assert "Exit Code: 3" in said(error, "Nomad, allocation ")
    operation = error["operation"]
    kept = tidy.must("history", "show", operation, "--json").stdout
    assert "no such database" in kept, kept
    nowhere_is(tidy, password, json.dumps(error), kept, tidy.must("history", "show", operation).stdout)


def hides_the_value_before(estate: Estate):
    """A rotation that fails quotes the log of an instance that knows the value before; going back makes it valid again."""
    old, new = (f"{secrets.token_urlsafe(12)}/+=&%{secrets.token_urlsafe(12)}" for _ in range(2))
    estate.must("update", "faulty", "--password", "-", "--yes", input=old)
    error = failure(estate, "update", "faulty", "--mode", "crash", "--password", "-", within=240, input=new)
    lines = said(error, "task faulty, stderr")
    assert "the password is ***" in lines and "before it was *** *** " in lines, lines
    shown = [json.dumps(error), estate.must("history", "show", error["operation"]).stdout]
    logs = [estate.must("logs", "faulty", *more).stdout for more in ([], ["--ended"])]
    for value in (old, new):
        # The instance that came back names the value that was taken back, which only Vault still has.
        quoted = [*shown, *logs] if value == old or estate.endpoints.get("vault") else shown
        for form in (value, quote(value, safe=""), base64.b64encode(b"me:" + value.encode()).decode()[6:-4]):
            nowhere_is(estate, form, *quoted)


def nowhere_is(estate: Estate, secret: str, *shown: str):
    """Neither shown nor kept, but by the secrets engine and in the task's own log."""
    for text in shown:
        assert secret not in text
    kept = [*estate.root.glob(".eos/store.db*"), *(estate.lab / "log").iterdir()]
    for directory in ("salt", "terraform/workspaces", "srv"):
        kept += [path for path in estate.files(f"{directory}/**") if path.is_file() and not path.is_symlink()]
    assert len(kept) > 20
    for path in kept:
        try:
            assert secret.encode() not in path.read_bytes(), path
        except FileNotFoundError:
            continue


def test_a_program_that_is_not_there(solo):
    error = failure(solo, "create", "absent", within=90)
    assert error["words"].startswith("task absent does not start: "), error
    assert "/no/such/program" in error["words"], error
    remove(solo, "absent")


def test_an_image_that_nobody_has(with_containers):
    estate = with_recipes(with_containers)
    error = failure(estate, "create", "unpulled", within=120)
    assert error["words"].startswith("task unpulled does not start: "), error
    assert "image" in error["hint"] and "registry" in error["hint"], error
    remove(estate, "unpulled")


def test_a_check_that_does_not_pass_shows_what_it_got(tidy):
    options = ["--root", str(volume(tidy)), "--health", "/nowhere"]
    error = failure(tidy, "create", "faulty", *options, within=200)
    assert "check GET /nowhere does not pass: 404" in error["words"], error
    assert "404" in said(error, "Nomad, check of service faulty")
    assert "Alloc Unhealthy" in said(error, "Nomad, allocation ")
    assert "the password is ***" in said(error, "task faulty, stderr")


@pytest.fixture(scope="module")
def serving(solo):
    """The component runs, with a note in its volume; what fails below leaves it so. Tests that make it come before these."""
    serve(solo)
    yield solo
    remove(solo, "faulty")


def test_an_update_that_no_node_can_take_leaves_the_very_instance(serving):
    before = ids(serving)
    error = failure(serving, "update", "faulty", "--cpu", "900000", within=120)
    assert "cpu: 900000 MHz wanted, largest free on a node " in error["words"], error
    assert "was applied again" in said(error, "Terraform, after its failure")
    still_serves(serving, before)


def test_an_update_that_ends_at_once_goes_back_to_the_old_version_with_its_data(serving):
    error = failure(serving, "update", "faulty", "--mode", "crash", within=150)
    assert "ended with exit code 3" in error["words"], error
    assert "was applied again: 0 added, 1 changed" in said(error, "Terraform, after its failure")
    still_serves(serving)
    # The instance that failed is gone, but not what it wrote.
    shown = serving.must("logs", "faulty", "--ended")
    assert "no such database" in shown.stdout and "the password is ***" in shown.stdout, shown.stdout
    words = serving.must("history", "show", error["operation"]).stdout
    assert "failed at" in words and "no such database" in words and "the password is ***" in words, words
    assert "(failed)" in shown.stderr, shown.stderr
    assert "no such database" not in serving.must("logs", "faulty").stdout


def test_an_update_whose_check_does_not_pass_goes_back(serving):
    error = failure(serving, "update", "faulty", "--health", "/nowhere", within=260)
    # The instance is gone by now; what its check got was noted before.
    assert "check GET /nowhere does not pass: 404" in error["words"], error
    assert "was applied again" in said(error, "Terraform, after its failure")
    still_serves(serving)


def test_a_rotation_that_fails_hides_the_value_before(serving):
    hides_the_value_before(serving)
    still_serves(serving)


def test_an_instance_that_falls_ill_is_passed_over_and_restarted(serving):
    (one,) = serving.running("faulty")

    def restarts() -> int:
        found = serving.nomad(f"/v1/allocation/{one['ID']}?namespace=production")
        return found["TaskStates"]["faulty"]["Restarts"]

    def passing() -> bool:
        checks = serving.nomad(f"/v1/client/allocation/{one['ID']}/checks?namespace=production") or {}
        return bool(checks) and all(check["Status"] == "success" for check in checks.values())

    serving.wait_until(passing, 30, "the check passes")
    assert restarts() == 0
    (volume(serving) / "health").unlink()
    serving.wait_until(lambda: not passing(), 15, "the check fails")
    row = next(row for row in serving.json("status")["components"] if row["component"] == "faulty")
    assert row["healthy"] == 0, row
    serving.wait_until(lambda: restarts() == 1, 130, "Nomad restarts it")
    (volume(serving) / "health").write_text("well")
    serving.wait_until(passing, 30, "the check passes again")
    still_serves(serving, [one["ID"]])


@pytest.fixture
def listed(solo):
    solo.must("create", "hello", "--name", "listed", "--yes")
    yield solo
    remove(solo, "listed")


def deregister(estate: Estate, allocation: str):
    for service in estate.nomad("/v1/service/listed?namespace=production") or []:
        if service["AllocID"] == allocation:
            estate.nomad(f"/v1/service/listed/{service['ID']}?namespace=production", "DELETE")


def test_a_registration_that_vanished_comes_back_with_the_next_update(listed):
    (one,) = listed.running("listed")
    deregister(listed, one["ID"])
    assert not listed.nomad("/v1/service/listed?namespace=production")
    listed.must("update", "listed", "--replicas", "2", "--yes")
    assert len(listed.nomad("/v1/service/listed?namespace=production")) == 2


def test_a_registration_that_does_not_come_back_is_named(listed):
    (one,) = listed.running("listed")
    done = threading.Event()

    def somebody():
        while not done.wait(0.1):
            deregister(listed, one["ID"])

    thread = threading.Thread(target=somebody)
    thread.start()
    try:
        error = failure(listed, "update", "listed", "--replicas", "2", "--keep", within=200)
    finally:
        done.set()
        thread.join()
    assert (error["layer"], error["object"]) == ("nomad", "service listed"), error
    assert error["words"] == "1 of 2 instances is not registered in Nomad, though Nomad runs it", error
    assert f"nomad alloc restart -namespace production {one['ID'][:8]}" in error["hint"], error


@pytest.fixture(scope="module")
def full(full_estate):
    return with_recipes(full_estate)


def test_in_full_a_registration_that_vanished_comes_back_by_itself(full):
    full.must("create", "hello", "--replicas", "1", "--yes")
    (before,) = full.consul("/v1/health/service/hello?passing")
    full.forget_service(before["Node"]["Node"], before["Service"]["ID"])
    full.wait_until(lambda: full.consul("/v1/health/service/hello") == [], 5, "it is gone from the catalogue")
    # It waits for the one to come back, and for the other to come.
    full.must("update", "hello", "--replicas", "2", "--yes")
    assert len(full.consul("/v1/health/service/hello?passing")) == 2
    remove(full, "hello")


def test_in_full_a_check_shows_what_consul_got(full):
    options = ["--root", str(volume(full)), "--health", "/nowhere"]
    error = failure(full, "create", "faulty", *options, within=240)
    assert error["layer"] == "consul", error
    assert "check GET /nowhere does not pass: HTTP GET http://" in error["words"], error
    assert "404" in said(error, "Consul, check of service faulty")
    assert "the password is ***" in said(error, "task faulty, stderr")


def test_in_full_a_rotation_that_fails_hides_the_value_before(full):
    remove(full, "faulty")
    serve(full)
    hides_the_value_before(full)
    remove(full, "faulty")
