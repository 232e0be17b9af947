"""Status and the live graph against the engines' own words, on set-ups that are really broken."""

import json
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from between import between
from estates import Estate

MORE = ("second", "third")


def status(estate: Estate, *words: str) -> dict:
    return estate.json("status", *words)


def row(estate: Estate, component: str) -> dict:
    (found,) = [one for one in status(estate)["components"] if one["component"] == component]
    return found


def process_of(allocation: str) -> int:
    """The process that Nomad started for an allocation."""
    for process in Path("/proc").iterdir():
        try:
            if b"serve-hello" not in (process / "cmdline").read_bytes():
                continue
            if f"NOMAD_ALLOC_ID={allocation}".encode() in (process / "environ").read_bytes():
                return int(process.name)
        except OSError:
            continue
    raise AssertionError(f"no process of {allocation}")


@contextmanager
def stopped(target: int):
    """A process, or with a minus its group, does nothing as long as this lasts."""
    subprocess.run(["kill", "-STOP", "--", str(target)], check=True)
    try:
        yield
    finally:
        subprocess.run(["kill", "-CONT", "--", str(target)], check=True)


@pytest.fixture(scope="module")
def solo(estate):
    estate.must("create", "hello", "--yes")
    yield estate
    for name in ("hello", *MORE):
        if f"  {name}:" in (estate.root / "pillar/infrastructure/production.sls").read_text():
            estate.must("delete", name, "--yes")


@pytest.fixture(scope="module")
def more(solo):
    """Two components more, for the tests below the one that counts requests without them."""
    for name in MORE:
        solo.must("create", "hello", "--name", name, "--yes")


def test_a_component_is_told_as_nomad_has_it(solo):
    (one,) = solo.running("hello")
    seen = row(solo, "hello")
    assert (seen["desired"], seen["running"], seen["healthy"]) == (1, 1, 1), seen
    assert seen["nodes"] == [one["NodeName"]] and seen["trouble"] is None
    (instance,) = seen["instances"]
    assert instance["allocation"] == one["ID"] and instance["checks"][0]["status"] == "passing"
    assert seen["operation"]["verb"] == "create" and seen["operation"]["outcome"] == "done"

    detail = solo.must("status", "hello").stdout
    assert one["ID"][:8] in detail and "as applied" in detail and "eos create hello" in detail, detail
    short = solo.must("status").stdout
    assert re.search(r"^hello +1 +1 +1 +1 ", short, re.M), short
    assert "salt 1 of 1 minion   terraform 2 workspaces, 0 locked   nomad 1 node" in short, short
    narrow = solo.eos("status", env={"COLUMNS": "80"}).stdout
    assert max(map(len, narrow.splitlines())) <= 80, narrow


def test_each_layer_has_its_table(solo):
    text = solo.must("status", "--layers").stdout
    for heading in ("salt: 1 of 1 minion", "terraform: 2 workspaces", "nomad: 1 node"):
        assert heading in text, text
    layers = status(solo)["layers"]
    assert [one["minion"] for one in layers["salt"]["minions"]] == ["control"]
    workspaces = {one["workspace"]: one for one in layers["terraform"]["workspaces"]}
    assert set(workspaces) == {"production/hello", "production/platform"}
    assert all(one["as_applied"] and one["locked"] is None for one in workspaces.values())
    (node,) = layers["nomad"]["nodes"]
    assert node["version"] == solo.nomad("/v1/nodes")[0]["Version"]
    assert "consul" not in layers and "vault" not in layers


def test_the_number_of_requests_does_not_grow_with_the_components(solo, request):
    def counted() -> tuple[dict, int]:
        with between(solo, "nomad") as stands:
            seen = status(solo)["components"]
            assert all(one["healthy"] == 1 for one in seen), seen
        checks = sum(count for path, count in stands.requests.items() if path.endswith("/checks"))
        rest = {path: count for path, count in stands.requests.items() if not path.endswith("/checks")}
        return rest, checks

    few, few_checks = counted()
    request.getfixturevalue("more")
    many, many_checks = counted()
    assert many == few and set(many.values()) == {1}, (few, many)
    # Only the client that runs an instance knows its checks.
    assert (few_checks, many_checks) == (1, 3)


def test_a_check_that_fails_after_the_deployment_is_told(solo):
    (one,) = solo.running("hello")
    with stopped(process_of(one["ID"])):
        solo.wait_until(lambda: row(solo, "hello")["healthy"] == 0, 40, "the check fails")
        seen = row(solo, "hello")
        assert seen["running"] == 1 and "check of service hello does not pass" in seen["trouble"]["words"], seen
        assert seen["trouble"]["look"] == "eos logs hello"
        checked = solo.eos("status", "--check")
        assert checked.returncode == 3 and f"allocation {one['ID'][:8]}" in checked.stdout, checked.stdout
        live = {node["address"]: node for node in solo.json("graph", "--live")["nodes"]}
        assert live["job/hello"]["health"] == live["service/hello"]["health"] == "ill", live
        assert "0 of 1 healthy" in live["job/hello"]["why"]
        assert "job/hello (ill)" in solo.must("graph", "--live").stdout
    solo.wait_until(lambda: row(solo, "hello")["healthy"] == 1, 60, "the check passes again")


def test_a_job_that_fits_nowhere_says_why(solo, more):
    """Somebody asks Nomad for more than there is; Eos names the reason and where to look."""
    name = MORE[0]
    job = solo.nomad(f"/v1/job/{name}?namespace=production")
    greedy = json.loads(json.dumps(job))
    greedy["TaskGroups"][0]["Tasks"][0]["Resources"]["MemoryMB"] = 900_000
    solo.nomad("/v1/jobs?namespace=production", "PUT", {"Job": greedy})
    try:
        solo.wait_until(lambda: row(solo, name)["trouble"], 20, "the job waits for room")
        assert "cannot be placed: too little memory" in row(solo, name)["trouble"]["words"], row(solo, name)
    finally:
        solo.nomad("/v1/jobs?namespace=production", "PUT", {"Job": job})
    solo.wait_until(lambda: row(solo, name)["healthy"] == 1, 60, "it runs again")


def test_a_job_that_went_behind_our_back_is_told(solo, more):
    name = MORE[1]
    job = solo.nomad(f"/v1/job/{name}?namespace=production")
    solo.nomad(f"/v1/job/{name}?namespace=production&purge=true", "DELETE")
    try:
        seen = row(solo, name)
        assert seen["desired"] == 0 and "no such job" in seen["trouble"]["words"], seen
        live = {node["address"]: node["health"] for node in solo.json("graph", "--live")["nodes"]}
        assert live[f"job/{name}"] == "absent" and live["job/hello"] == "well", live
    finally:
        solo.nomad("/v1/jobs?namespace=production", "PUT", {"Job": job})
    solo.wait_until(lambda: row(solo, name)["healthy"] == 1, 60, "it runs again")


def test_an_engine_that_hangs_is_named_and_the_others_are_shown(solo):
    with stopped(-solo.pid("nomad")):
        begun = time.monotonic()
        ran = solo.eos("status", "--json")
        assert time.monotonic() - begun < 20
    seen = json.loads(ran.stdout)
    assert ran.returncode == 0 and not seen["layers"]["nomad"]["answers"], seen
    assert seen["layers"]["nomad"]["troubles"][0]["look"] == "eos doctor"
    assert seen["layers"]["salt"]["answers"] and seen["layers"]["terraform"]["answers"], seen
    assert {one["healthy"] for one in seen["components"]} == {None}
    solo.wait_until(lambda: status(solo)["layers"]["nomad"]["answers"], 60, "Nomad answers again")


def test_a_locked_workspace_names_who_holds_it(solo):
    """An operation is stopped in the middle: its lock is held, and status says by whom."""
    running = solo.start("update", "hello", "--greeting", "locked", "--yes")
    try:
        held = lambda: next(  # noqa: E731
            one["locked"]
            for one in status(solo)["layers"]["terraform"]["workspaces"]
            if one["workspace"].endswith("hello")
        )
        solo.wait_until(held, 30, "the lock is held")
        assert re.match(r"held by operation 01[0-9A-Z]{24} \(process \d+\), since", held() or ""), held()
    finally:
        running.send_signal(signal.SIGCONT)
        running.wait(120)
    assert running.returncode == 0, running.communicate()
    assert held() is None
    assert not list((solo.root / ".eos/locks/operations").glob("*.lock"))


def test_terraforms_own_graph_is_drawn_without_a_trace(solo):
    def files() -> dict[str, float]:
        workspaces = solo.lab / "terraform/workspaces/production/hello"
        return {str(file): file.stat().st_mtime for file in workspaces.rglob("*") if file.is_file()}

    before = files()
    dot = solo.must("graph", "--terraform", "hello").stdout
    assert dot.startswith("digraph") and "nomad_job.component" in dot, dot
    assert solo.json("graph", "--terraform", "hello")["dot"] == dot
    assert files() == before
    refused = solo.eos("graph", "--terraform", "nothing")
    assert refused.returncode == 2 and "There is no component" in refused.stderr
    out = solo.root.parent / "hello.dot"
    solo.must("graph", "--terraform", "hello", "--out", str(out))
    assert out.read_text() == dot
    # In Terraform's own words, run by hand on the same files.
    assert dot.count("{") == dot.count("}")


@pytest.fixture(scope="module")
def full(full_estate):
    """All engines and two nodes more."""
    full_estate.must("create", "hello", "--yes")
    return full_estate


def test_consul_and_vault_have_their_tables(full):
    layers = status(full)["layers"]
    assert layers["consul"]["answers"] and layers["consul"]["servers"][0]["leads"], layers["consul"]
    services = {one["service"]: one for one in layers["consul"]["services"]}
    assert services["hello"]["passing"] == services["hello"]["checks"] > 0, services
    assert set(services) == set(full.consul("/v1/catalog/services")) - {"consul"}
    vault = layers["vault"]
    assert (vault["words"], vault["store"]) == ("unsealed", "kv version 2 at secret/"), vault
    assert len(layers["salt"]["minions"]) == len(layers["nomad"]["nodes"]) == 3
    text = full.must("status", "--layers").stdout
    assert "services passing" in text and "vault: unsealed" in text, text


def test_in_full_no_request_is_one_a_component(full):
    """Of a status, and of a drift that finds nothing."""

    def counted(look) -> dict:
        with between(full, "nomad") as nomad, between(full, "consul") as consul:
            look()
        return {**nomad.requests, **consul.requests}

    def counts() -> tuple[dict, dict]:
        return counted(all_healthy), counted(lambda: full.must("drift"))

    def all_healthy():
        assert all(one["healthy"] == 1 for one in status(full)["components"])

    few = counts()
    for name in MORE:
        full.must("create", "hello", "--name", name, "--yes")
    assert counts() == few and set(few[0].values()) == {1}, few
    print(f"drift: {sum(few[1].values())} requests to Nomad and Consul, with 1 and with {1 + len(MORE)} components")


def test_a_sealed_vault_is_told(full):
    full.vault("/v1/sys/seal", "PUT")
    try:
        full.wait_until(lambda: full.json("status")["layers"]["vault"]["words"] == "sealed", 15, "Vault is sealed")
        shown = full.eos("status", "--check")
        assert shown.returncode == 3 and "! vault: it is sealed" in shown.stdout, shown.stdout
    finally:
        full.must("lab", "up", timeout=400)
    assert status(full)["layers"]["vault"]["words"] == "unsealed"


def test_a_minion_that_hangs_is_named(full):
    (file,) = [file for file in (full.lab / "run").glob("*minion*.json") if "node2" in file.name]
    run = json.loads(file.read_text())
    with stopped(-run["pid"]):
        minions = {one["minion"]: one for one in status(full)["layers"]["salt"]["minions"]}
        assert not minions["node2"]["answers"] and minions["control"]["answers"], minions
        assert "! minion node2: it does not answer: eos doctor" in full.must("status").stdout
    full.wait_until(
        lambda: all(one["answers"] for one in status(full)["layers"]["salt"]["minions"]), 60, "all answer again"
    )
