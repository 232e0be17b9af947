"""A recipe says how long a start may take, and every layer keeps to it: a start in time stays, a late one is refused."""

import json
import sys
from datetime import datetime

import pytest
from estates import Estate, get

pytestmark = pytest.mark.side_by_side

# Listens only after so many seconds.
SLOW = """\
import http.server, os, sys, time
time.sleep(float(sys.argv[2]))
http.server.SimpleHTTPRequestHandler.log_message = lambda *words: None
address = (sys.argv[1], int(os.environ['NOMAD_PORT_http']))
http.server.ThreadingHTTPServer(address, http.server.SimpleHTTPRequestHandler).serve_forever()
"""

RECIPE = """\
recipe: {name}
summary: Listens some seconds after its start
version: "1"
services:
  {name}:
    replicas: 1
    cpu: 50
    memory: 64
    program: [{python}, -c, {program}, "{{{{ listen_address }}}}", "8"]
    ports: {{http: {{}}}}
    check: {{http: /, every: 1s, timeout: 1s}}
    start: {{within: {within}}}
    stop: {{within: 40s}}
"""


def written(estate: Estate, name: str, within: str) -> str:
    directory = estate.root / "recipes" / name
    directory.mkdir(parents=True)
    text = RECIPE.format(name=name, python=sys.executable, program=json.dumps(SLOW), within=within)
    (directory / "recipe.yaml").write_text(text)
    return name


def seconds_to_health(estate: Estate, job: str) -> float:
    """From the start of the task to Nomad's verdict on its instance."""
    [one] = estate.running(job)
    [task] = one["TaskStates"].values()
    [started] = [event["Time"] / 1e9 for event in task["Events"] if event["Type"] == "Started"]
    healthy = datetime.fromisoformat(one["DeploymentStatus"]["Timestamp"]).timestamp()
    print(f"{job} is healthy {healthy - started:.1f} s after its task started")
    return healthy - started


def test_hello_is_healthy_seconds_after_its_start(estate):
    estate.must("create", "hello", "--name", "prompt", "--yes")
    try:
        group = estate.nomad("/v1/job/prompt?namespace=production")["TaskGroups"][0]
        [check] = group["Services"][0]["Checks"]
        assert (check["Interval"], group["Update"]["MinHealthyTime"]) == (1_000_000_000, 1_000_000_000)
        # Two seconds on a machine that has nothing else to do; a check every five seconds would come too late.
        assert seconds_to_health(estate, "prompt") < 5
        assert get(estate.json("read", "prompt")["outputs"]["hello_url"])
    finally:
        estate.must("delete", "prompt", "--yes")


def test_a_slow_start_has_the_time_that_its_recipe_says(estate):
    name = written(estate, "unhurried", "60s")
    estate.must("create", name, "--yes")
    try:
        assert seconds_to_health(estate, name) > 8
        task = estate.nomad(f"/v1/job/{name}?namespace=production")["TaskGroups"][0]["Tasks"][0]
        assert task["KillTimeout"] == 40_000_000_000
        why = estate.must("why", f"job/{name}.group.start").stdout
        assert "1m" in why and f"recipes/{name}/recipe.yaml" in why, why
        node = estate.nomad("/v1/agent/self")["config"]["Client"]
        assert node["MaxKillTimeout"] == "1h", "the client itself lets a task take as long"
    finally:
        estate.must("delete", name, "--yes")


def test_a_start_that_takes_longer_is_refused_with_its_limit_and_the_key(estate):
    name = written(estate, "belated", "5s")
    ran = estate.eos("create", name, "--yes")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    said = ran.stdout + ran.stderr
    assert "not healthy within 5s" in said, said
    assert "start: {within: 5s}" in " ".join(said.split()), said
    assert f"production/{name}" not in estate.jobs()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("start: {within: 0s}", "start.within must be between 5s and 1h, not 0s"),
        ("start: {within: 2h}", "start.within must be between 5s and 1h, not 2h"),
        ("check: {http: /, every: 10ms}", "every must be between 1s and 1h, not 10ms"),
    ],
)
def test_hostile_times_are_refused_before_any_engine_is_asked(estate, tmp_path, line, words):
    recipe = tmp_path / "recipe.yaml"
    service = f"  hasty:\n    program: [x]\n    ports: {{http: {{}}}}\n    {line}\n"
    recipe.write_text(f"recipe: hasty\nsummary: s\nversion: '1'\nservices:\n{service}")
    ran = estate.eos("catalog", "lint", str(recipe))
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert words in ran.stdout + ran.stderr
