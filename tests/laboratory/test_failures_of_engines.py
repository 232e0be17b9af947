"""Engines that do not answer, fall silent on the way, or refuse: named in bounded time, and what runs goes on."""

import signal
import time

import pytest
from estates import struck
from faulty import failure, ids, remove, said, serve, still_serves, volume, with_recipes


@pytest.fixture(scope="module")
def solo(estate):
    return with_recipes(estate)


@pytest.fixture
def tidy(solo):
    """Whatever a test leaves of the component is gone after it."""
    yield solo
    remove(solo, "faulty")


@pytest.fixture
def serving(tidy):
    """The component runs, with a note in its volume."""
    serve(tidy)
    return tidy


@pytest.fixture
def without_rights(solo):
    """Terraform's token may plan jobs, but not submit them: what was planned fails when it is applied."""
    path = "/v1/acl/policy/eos-deploy"
    policy = solo.nomad(path)
    assert '"submit-job",' in policy["Rules"]
    try:
        solo.nomad(path, "POST", {**policy, "Rules": policy["Rules"].replace('"submit-job",', '"plan-job",')})
        yield solo
    finally:
        solo.nomad(path, "POST", policy)


def test_a_refusal_that_terraform_meets_names_the_resource(tidy, without_rights):
    error = failure(tidy, "create", "faulty", "--root", str(volume(tidy)), within=120)
    assert error["layer"] == "nomad" and "nomad_job.component" in error["object"], error
    assert "Nomad refuses" in error["words"], error
    assert "Permission denied" in error["words"] and "lacks the right" in error["hint"], error
    assert "no previous configuration" in said(error, "Terraform, after its failure")


def test_an_update_that_terraform_cannot_apply_is_undone_by_it(serving, request):
    before = ids(serving)
    request.getfixturevalue("without_rights")
    error = failure(serving, "update", "faulty", "--mode", "crash", "--keep", within=120)
    assert "Permission denied" in error["words"], error
    # Nothing had been changed in Nomad, so that there was nothing to change back.
    assert "was applied again: 0 added, 0 changed, 0 destroyed" in said(error, "Terraform, after its failure")
    still_serves(serving, before)


@pytest.mark.parametrize(
    ("engine", "layer"),
    [("salt-master", "salt"), ("salt-minion", "salt"), ("salt-api", "salt"), ("nomad", "nomad")],
)
def test_an_engine_that_does_not_answer_is_named_in_time(solo, engine, layer):
    with struck(solo, engine):
        error = failure(solo, "create", "hello", within=60)
    assert error["layer"] == layer, error
    assert "answer" in error["words"] or "timed out" in error["words"], error
    assert "production/hello" not in solo.jobs()


@pytest.fixture(scope="module")
def full(full_estate):
    return with_recipes(full_estate)


@pytest.mark.parametrize("engine", ["consul", "vault"])
def test_in_full_an_engine_that_does_not_answer_is_named_in_time(full, engine):
    with struck(full, engine):
        error = failure(full, "create", "faulty", "--root", str(volume(full)), within=90)
    # Vault waits for Consul, and may be the one that is seen not to answer.
    assert error["layer"] == engine or engine.capitalize() in error["hint"], error
    assert "answer" in error["words"] and "https://" in error["words"], error
    assert "production/faulty" not in full.jobs()


BLOWS = [(engine, blow) for engine in ("consul", "vault", "nomad") for blow in ("SIGKILL", "SIGSTOP")]


@pytest.mark.parametrize(("engine", "blow"), BLOWS)
def test_in_full_a_rotation_survives_the_engine_that_falls_silent(full, engine, blow):
    def password() -> str:
        return full.vault("/v1/secret/data/production/faulty/app")["data"]["data"]["password"]

    def begun() -> bool:
        return full.json("history", "--limit", "1")["operations"][0]["words"].startswith("eos rotate")

    serve(full)
    before = password()
    running = full.start("rotate", "secret", "faulty", "password", "--yes")
    full.wait_until(lambda: begun() or running.poll() is not None, 60, "the operation began")
    since = time.monotonic()
    with struck(full, engine, signal.Signals[blow]):
        _, talk = running.communicate(timeout=300)
    took = time.monotonic() - since
    full.must("lab", "up", timeout=300)
    if running.returncode != 0:
        words = " ".join(talk.split())
        assert running.returncode == 1 and "error:" in words and "hint:" in words, talk
        assert "eos resume" in words and took < 180, f"{took:.0f} s\n{talk}"
        full.must("resume", "--yes")
    print(f"\n{took:.0f} s: {engine} {blow}\n{talk}")
    assert password() != before
    meta = full.nomad("/v1/job/faulty?namespace=production")["Meta"]
    version = full.vault("/v1/secret/data/production/faulty/app")["data"]["metadata"]["version"]
    assert meta["eos_secret_version"] == str(version)
    full.wait_until(lambda: len(full.consul("/v1/health/service/faulty?passing")) == 1, 30, "one healthy instance")
    remove(full, "faulty")
