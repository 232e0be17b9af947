"""Every kind of failure, provoked on real engines: the layer, the object, the quoted lines, and the hint.

A failed update leaves the old version serving, with its data unchanged.
"""

import json
import secrets
import signal
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from estates import Estate, get, struck

# Serves a directory, the health of which is a file in it. Its volume is that directory; it fails in the ways it is told.
SERVER = """\
import http.server, os, sys
listen, root, mode = sys.argv[1:]
print('the password is', os.environ['PASSWORD'], file=sys.stderr)
if mode == 'crash':
    print('no such database', file=sys.stderr)
    sys.exit(3)
port = int(os.environ['NOMAD_PORT_http'])
os.chdir(root)
http.server.SimpleHTTPRequestHandler.log_message = lambda *words: None
http.server.ThreadingHTTPServer((listen, port), http.server.SimpleHTTPRequestHandler).serve_forever()
"""

FAULTY = f"""\
recipe: faulty
summary: Serves a directory, or fails as it is told
version: "1"
options:
  data_path: {{type: path, default: /opt/faulty/data, help: Where the volume is}}
  root: {{type: string, help: The directory to serve}}
  mode: {{type: string, default: serve, help: serve or crash}}
  health: {{type: string, default: /health, help: Path of its check}}
  password: {{type: secret, generate: 24, help: What it says at its start}}
needs:
  data: {{volume: {{purpose: application, size: 1GiB, path: "{{{{ data_path }}}}"}}}}
services:
  faulty:
    instances: one
    cpu: 50
    memory: 64
    program: [{sys.executable}, -u, -c, {json.dumps(SERVER)}, "{{{{ listen_address }}}}", "{{{{ root }}}}", "{{{{ mode }}}}"]
    secrets: {{PASSWORD: password}}
    ports: {{http: {{}}}}
    check: {{http: "{{{{ health }}}}"}}
"""

ABSENT = """\
recipe: absent
summary: Names a program that is not there
version: "1"
services:
  absent:
    replicas: 1
    cpu: 50
    memory: 64
    program: [/no/such/program]
"""

UNPULLED = """\
recipe: unpulled
summary: Names an image that nobody has
version: "1"
services:
  unpulled:
    replicas: 1
    cpu: 50
    memory: 64
    image: 127.0.0.1:9/nobody/has-it:1
"""

NOTE = "written before the update"


def with_recipes(estate: Estate) -> Estate:
    for name, text in (("faulty", FAULTY), ("absent", ABSENT), ("unpulled", UNPULLED)):
        directory = estate.root / "recipes" / name
        if not directory.exists():
            directory.mkdir(parents=True)
            (directory / "recipe.yaml").write_text(text)
    return estate


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


def volume(estate: Estate) -> Path:
    return estate.lab / "volumes/opt/faulty/data"


def serve(estate: Estate):
    # Made before its step makes it, so that the file of its health is there when it is first asked for.
    volume(estate).mkdir(parents=True, exist_ok=True)
    (volume(estate) / "health").write_text("well")
    estate.must("create", "faulty", "--root", str(volume(estate)), "--yes")
    (volume(estate) / "note").write_text(NOTE)


def remove(estate: Estate, component: str):
    names = [row["component"] for row in estate.json("status")["components"]]
    if component in names:
        estate.must("delete", component, "--yes")
    assert f"production/{component}" not in estate.jobs()


def still_serves(estate: Estate, before: list[str] | None = None):
    """One healthy instance of the old version; the very one where `before` names it."""
    estate.wait_until(lambda: len(estate.running("faulty")) == 1, 30, "one instance runs")
    if before is not None:
        assert [one["ID"] for one in estate.running("faulty")] == before
    (service,) = estate.nomad("/v1/service/faulty?namespace=production")
    url = f"http://{service['Address']}:{service['Port']}/note"
    assert get(url) == (200, NOTE)
    assert (volume(estate) / "note").read_text() == NOTE


def ids(estate: Estate) -> list[str]:
    return [one["ID"] for one in estate.running("faulty")]


def failure(estate: Estate, *words: str, within: float, input: str = "") -> dict:
    """The error of a command that fails in time, as a program sees it."""
    begun = time.monotonic()
    ran = estate.eos(*words, "--yes", "--json", input=input)
    took = time.monotonic() - begun
    assert ran.returncode == 1, f"{ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    (error,) = [event for event in events if event["event"] == "error"]
    assert took < within, f"{took:.0f} s until: {error['message']}"
    assert error["hint"], error
    print(f"\n{took:.0f} s: {' '.join(words)}\n{json.dumps(error, indent=1)}")
    return error


def said(error: dict, by: str) -> str:
    """What somebody, named by the beginning, said of the failure."""
    found = [one["lines"] for one in error.get("lines", []) if one["from"].startswith(by)]
    assert found, f"nothing from {by!r} in {error}"
    return "\n".join(line for lines in found for line in lines)


def test_a_salt_state_fails_and_is_tried_again_with_a_corrected_pillar(tidy):
    blocked = tidy.lab / "volumes/opt/blocked"
    blocked.parent.mkdir(parents=True, exist_ok=True)
    blocked.write_text("a file where a directory should be")
    options = ["--root", str(volume(tidy))]
    error = failure(tidy, "create", "faulty", "--data-path", "/opt/blocked", *options, within=120)
    assert error["layer"] == "salt", error
    assert error["object"].startswith("state ") and error["object"].endswith(" on control"), error
    assert "/opt/blocked" in said(error, "Salt on control")
    assert "pillar" in error["hint"]
    assert blocked.read_text() == "a file where a directory should be"
    assert tidy.running("faulty") == []
    # Corrected, it goes on.
    blocked.unlink()
    remove(tidy, "faulty")
    serve(tidy)
    before = ids(tidy)
    blocked.write_text("and again")
    error = failure(tidy, "update", "faulty", "--data-path", "/opt/blocked", within=120)
    assert error["layer"] == "salt", error
    still_serves(tidy, before)
    blocked.unlink()


def test_a_job_that_no_node_can_take_is_named_with_numbers(tidy):
    options = ["--root", str(volume(tidy)), "--memory", "900000"]
    error = failure(tidy, "create", "faulty", *options, within=120)
    assert (error["layer"], error["object"]) == ("nomad", "job faulty"), error
    assert "memory: 900000 MiB wanted, largest free on a node " in error["words"], error
    assert "--memory" in error["hint"]


def test_an_update_that_no_node_can_take_leaves_the_very_instance(serving):
    before = ids(serving)
    error = failure(serving, "update", "faulty", "--cpu", "900000", within=120)
    assert "cpu: 900000 MHz wanted, largest free on a node " in error["words"], error
    assert "was applied again" in said(error, "Terraform, after its failure")
    still_serves(serving, before)


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


def nowhere_is(estate: Estate, secret: str, *shown: str):
    """Neither shown nor kept, but by the secrets engine and in the task's own log."""
    for text in shown:
        assert secret not in text
    kept = [*estate.root.glob(".eos/store.db*"), *(estate.lab / "log").iterdir()]
    for directory in ("salt", "terraform/workspaces", "srv"):
        kept += [path for path in (estate.lab / directory).rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(kept) > 20
    for path in kept:
        try:
            assert secret.encode() not in path.read_bytes(), path
        except FileNotFoundError:
            continue


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
    volume(tidy).mkdir(parents=True, exist_ok=True)
    options = ["--root", str(volume(tidy)), "--health", "/nowhere"]
    error = failure(tidy, "create", "faulty", *options, within=200)
    assert "check GET /nowhere does not pass: 404" in error["words"], error
    assert "404" in said(error, "Nomad, check of service faulty")
    assert "Alloc Unhealthy" in said(error, "Nomad, allocation ")
    assert "the password is ***" in said(error, "task faulty, stderr")


def test_an_update_whose_check_does_not_pass_goes_back(serving):
    error = failure(serving, "update", "faulty", "--health", "/nowhere", within=260)
    # The instance is gone by now; what its check got was noted before.
    assert "check GET /nowhere does not pass: 404" in error["words"], error
    assert "was applied again" in said(error, "Terraform, after its failure")
    still_serves(serving)


def test_an_instance_that_falls_ill_is_passed_over_and_restarted(serving):
    (one,) = serving.running("faulty")

    def restarts() -> int:
        found = serving.nomad(f"/v1/allocation/{one['ID']}?namespace=production")
        return found["TaskStates"]["faulty"]["Restarts"]

    def passing() -> bool:
        checks = serving.nomad(f"/v1/client/allocation/{one['ID']}/checks?namespace=production") or {}
        return bool(checks) and all(check["Status"] == "success" for check in checks.values())

    assert passing() and restarts() == 0
    (volume(serving) / "health").unlink()
    serving.wait_until(lambda: not passing(), 15, "the check fails")
    row = next(row for row in serving.json("status")["components"] if row["component"] == "faulty")
    assert row["healthy"] == 0, row
    serving.wait_until(lambda: restarts() == 1, 130, "Nomad restarts it")
    (volume(serving) / "health").write_text("well")
    serving.wait_until(passing, 30, "the check passes again")
    still_serves(serving, [one["ID"]])


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


@pytest.fixture
def hello(solo):
    solo.must("create", "hello", "--yes")
    yield solo
    remove(solo, "hello")


def deregister(estate: Estate, allocation: str):
    for service in estate.nomad("/v1/service/hello?namespace=production") or []:
        if service["AllocID"] == allocation:
            estate.nomad(f"/v1/service/hello/{service['ID']}?namespace=production", "DELETE")


def test_a_registration_that_vanished_comes_back_with_the_next_update(hello):
    (one,) = hello.running("hello")
    deregister(hello, one["ID"])
    assert not hello.nomad("/v1/service/hello?namespace=production")
    hello.must("update", "hello", "--replicas", "2", "--yes")
    assert len(hello.nomad("/v1/service/hello?namespace=production")) == 2


def test_a_registration_that_does_not_come_back_is_named(hello):
    (one,) = hello.running("hello")
    done = threading.Event()

    def somebody():
        while not done.wait(0.1):
            deregister(hello, one["ID"])

    thread = threading.Thread(target=somebody)
    thread.start()
    try:
        error = failure(hello, "update", "hello", "--replicas", "2", "--keep", within=200)
    finally:
        done.set()
        thread.join()
    assert (error["layer"], error["object"]) == ("nomad", "service hello"), error
    assert error["words"] == "1 of 2 instances is not registered in Nomad, though Nomad runs it", error
    assert f"nomad alloc restart -namespace production {one['ID'][:8]}" in error["hint"], error


@pytest.mark.parametrize(
    ("engine", "layer"),
    [("salt-master", "salt"), ("salt-minion", "salt"), ("salt-api", "salt"), ("nomad", "nomad")],
)
def test_an_engine_that_does_not_answer_is_named_in_time(solo, engine, layer):
    with struck(solo, engine):
        error = failure(solo, "create", "hello", within=60)
    assert error["layer"] == layer, error
    assert "answer" in error["words"] or "timed out" in error["words"], error
    assert solo.jobs() == []


@pytest.fixture(scope="module")
def full(full_estate):
    return with_recipes(full_estate)


def agent(estate: Estate, node: str) -> str:
    """The address of the Consul agent beside a node."""
    nodes = json.loads((estate.lab / "lab.json").read_text())["nodes"]
    ports = {one["name"]: one["consul_http"] for one in nodes}
    return f"http://127.0.0.1:{ports[node]}" if node in ports else estate.endpoints["consul"]["address"]


def test_in_full_a_registration_that_vanished_comes_back_by_itself(full):
    full.must("create", "hello", "--replicas", "1", "--yes")
    (before,) = full.consul("/v1/health/service/hello?passing")
    address = agent(full, before["Node"]["Node"])
    token = (full.lab / "secrets/consul-management-token").read_text().strip()
    ask = urllib.request.Request(
        f"{address}/v1/agent/service/deregister/{before['Service']['ID']}",
        method="PUT",
        headers={"X-Consul-Token": token},
    )
    urllib.request.urlopen(ask, timeout=10).close()
    full.wait_until(lambda: full.consul("/v1/health/service/hello") == [], 5, "it is gone from the catalogue")
    # It waits for the one to come back, and for the other to come.
    full.must("update", "hello", "--replicas", "2", "--yes")
    assert len(full.consul("/v1/health/service/hello?passing")) == 2
    remove(full, "hello")


def test_in_full_a_check_shows_what_consul_got(full):
    volume(full).mkdir(parents=True, exist_ok=True)
    options = ["--root", str(volume(full)), "--health", "/nowhere"]
    error = failure(full, "create", "faulty", *options, within=240)
    assert error["layer"] == "consul", error
    assert "check GET /nowhere does not pass: HTTP GET http://" in error["words"], error
    assert "404" in said(error, "Consul, check of service faulty")
    assert "the password is ***" in said(error, "task faulty, stderr")


@pytest.mark.parametrize("engine", ["consul", "vault"])
def test_in_full_an_engine_that_does_not_answer_is_named_in_time(full, engine):
    with struck(full, engine):
        error = failure(full, "create", "faulty", "--root", str(volume(full)), within=90)
    # Vault waits for Consul, and may be the one that is seen not to answer.
    assert error["layer"] == engine or engine.capitalize() in error["hint"], error
    assert "answer" in error["words"] and "http://" in error["words"], error
    assert full.jobs() == []


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
