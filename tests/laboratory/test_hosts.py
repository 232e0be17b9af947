"""Hosts come and go: one with a second real minion, and one that no engine knows."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from estates import Estate

SALT = os.environ.get("EOS_TEST_SALT")
# As Salt itself names a minion: by the full name of its machine.
NODE = "node2.example.org"
# Where Salt looks for the SLS `hosts.node2.example.org`.
SLICE = "hosts/node2/example/org.sls"


def git(estate: Estate, *words: str) -> str:
    return subprocess.run(["git", "-C", estate.root, *words], capture_output=True, text=True, check=True).stdout.strip()


def hosts(estate: Estate) -> list[str]:
    return [host["host"] for host in estate.json("list", "--hosts")["hosts"]]


@pytest.fixture
def minion(estate, tmp_path):
    """A second minion of the lab's master, its key accepted, as an administrator starts it: without the formula."""
    etc = tmp_path / "etc"
    etc.mkdir()
    settings = json.loads((estate.lab / "salt/minion/etc/minion").read_text())
    master = json.loads((estate.lab / "salt/master/etc/master").read_text())
    # The path of a socket must be short.
    sockets = Path(tempfile.mkdtemp(prefix="eos-node2-"))
    settings |= {
        "id": NODE,
        "conf_file": str(etc / "minion"),
        "pki_dir": str(tmp_path / "pki"),
        "cachedir": str(tmp_path / "cache"),
        "sock_dir": str(sockets),
        "extension_modules": str(tmp_path / "extmods"),
        "pidfile": str(tmp_path / "minion.pid"),
        "eos": {"roles": settings["eos"]["roles"], "volumes_below": [str(estate.lab / "volumes")]},
    }
    (etc / "minion").write_text(json.dumps(settings))
    pki = Path(master["pki_dir"])
    log = (tmp_path / "log").open("w")
    started = subprocess.Popen(
        [salt_program("salt-minion"), "-c", str(etc)], stdout=log, stderr=log, start_new_session=True
    )
    try:
        pending = pki / f"minions_pre/{NODE}"
        estate.wait_until(pending.exists, 60, "the key of the second minion")
        pending.rename(pki / f"minions/{NODE}")
        ping = [{"client": "local", "tgt": NODE, "fun": "test.ping"}]
        estate.wait_until(lambda: "true" in estate.salt(ping)[1], 60, "the second minion's answer")
        yield NODE
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        (pki / f"minions/{NODE}").unlink(missing_ok=True)
        shutil.rmtree(sockets, ignore_errors=True)


def salt_program(name: str) -> str:
    found = [path for path in (Path(SALT or "/") / "bin" / name, Path(SALT or "/") / name) if path.exists()]
    if not found:
        pytest.skip("EOS_TEST_SALT names no Salt")
    return str(found[0])


def test_a_host_that_nobody_answers_for_is_refused_before_anyone_confirms(estate):
    before, operations = git(estate, "rev-parse", "HEAD"), len(estate.json("history")["operations"])
    tree = git(estate, "status", "--porcelain")
    for words in (("--yes",), ("--plan",)):
        ran = estate.eos("create", "host", "ghost", "--address", "10.9.9.9", *words)
        assert ran.returncode == 2, ran.stderr
        assert "ghost" in ran.stderr and "salt-minion" in ran.stderr and "key" in ran.stderr, ran.stderr
    assert git(estate, "rev-parse", "HEAD") == before
    assert len(estate.json("history")["operations"]) == operations
    assert git(estate, "status", "--porcelain") == tree
    assert hosts(estate) == ["control"]


def told(plan: dict) -> list[tuple[str, str]]:
    return [(change["action"], change["address"]) for change in plan["changes"]]


def steps(plan: dict) -> list[tuple[str, str | None]]:
    return [(step["work"], step.get("kind")) for step in plan["steps"]]


def serve_formula(estate: Estate, minion: str) -> None:
    """As an administrator does it: no API user brings a minion its first formula."""
    by_hand = [salt_program("salt"), "-c", str(estate.lab / "salt/master/etc"), minion, "saltutil.sync_all"]
    subprocess.run(by_hand, check=True, timeout=120, stdout=subprocess.DEVNULL)


def test_a_host_comes_changes_and_goes(estate, minion):
    applied = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/eos"]
    refs = git(estate, *applied)
    create = ("create", "host", minion, "--address", "127.0.0.2", "--role", "storage")
    # No API user brings a minion its first formula: who accepts its key does.
    refused = estate.eos(*create, "--plan")
    assert refused.returncode == 2 and f"salt {NODE} saltutil.sync_all" in " ".join(refused.stderr.split()), (
        refused.stderr
    )
    serve_formula(estate, minion)
    refused = estate.eos(*create[:-1], "client", "--yes")
    assert refused.returncode == 2, refused.stderr
    assert "no client has that name" in " ".join(refused.stderr.split())

    planned = estate.json(*create, "--plan")["plan"]
    assert [change["address"] for change in planned["changes"]] == [f"host/{NODE}"]
    assert [(step["work"], step.get("kind")) for step in planned["steps"]] == [("deliver", None), ("prove", "host")]
    estate.must(*create, "--yes")
    assert hosts(estate) == ["control", NODE]
    assert git(estate, "log", "-1", "--format=%s") == f"Create host {NODE}"
    assert git(estate, *applied) == refs, "a host is in no environment"
    status, body = estate.salt([{"client": "local", "tgt": NODE, "fun": "eos.info"}])
    release = json.loads(body)["return"][0][NODE]["release"]
    assert release == (estate.lab / "srv/current/salt/release").read_text().strip()
    assert "nothing to do" in estate.must(*create, "--yes").stderr
    assert "nothing to do" in estate.must("plan", "--check").stderr

    estate.must("update", "host", minion, "--device", "/dev/sdy,/dev/sdz", "--yes")
    assert estate.json("list", "--hosts")["hosts"][1]["devices"] == ["/dev/sdy", "/dev/sdz"]

    for boundary in (3, 5, 6):
        words = ("update", "host", minion, "--address", f"127.0.0.{boundary}", "--yes")
        killed = estate.eos(*words, env={"EOS_FAULT_KILL_AT": str(boundary)})
        assert killed.returncode == -signal.SIGKILL, (boundary, killed.stderr)
        estate.must("resume")
        assert estate.json("list", "--hosts")["hosts"][1]["address"] == f"127.0.0.{boundary}"
        assert git(estate, "status", "--porcelain") == ""

    estate.must("delete", "host", minion, "--yes")
    assert hosts(estate) == ["control"]
    assert not (estate.root / f"pillar/{SLICE}").exists()
    assert git(estate, "log", "-1", "--format=%s") == f"Delete host {NODE}"
    refused = estate.eos("delete", "host", "control", "--yes")
    assert refused.returncode == 2 and "runs Terraform" in refused.stderr, refused.stderr


def test_a_host_edited_by_hand_is_planned_proved_and_taken_back(estate, minion):
    serve_formula(estate, minion)
    common = estate.root / "pillar/infrastructure/common.sls"
    slices = estate.lab / "srv/current/pillar"
    create = ("create", "host", minion, "--address", "127.0.0.2", "--role", "storage")
    before = common.read_text()

    estate.must(*create, "--yes")
    undo = estate.json("undo", "--plan")["plan"]
    assert told(undo) == [("delete", f"host/{NODE}")] and undo["hosts"] == [NODE]
    estate.must("undo", "--yes")
    assert hosts(estate) == ["control"] and common.read_text() == before
    assert "nothing to do" in estate.must("plan", "--check").stderr
    undone = estate.json("history")["operations"][0]["id"]
    redo = estate.json("rollback", undone, "--plan")["plan"]
    assert told(redo) == [("create", f"host/{NODE}")]
    assert steps(redo) == [("deliver", None), ("prove", "host")]
    estate.must("rollback", undone, "--yes")
    assert hosts(estate) == ["control", NODE]

    # A person edits the file, and no verb.
    created = common.read_text()
    common.write_text(created.replace("127.0.0.2", "127.0.0.7"))
    planned = estate.json("plan")["plan"]
    assert told(planned) == [("change", f"host/{NODE}")]
    assert planned["components"] == [] and planned["hosts"] == [NODE]
    [address] = planned["changes"][0]["attributes"]
    assert (address["name"], address["before"], address["after"]) == ("address", "127.0.0.2", "127.0.0.7")
    assert steps(planned) == [("deliver", None), ("prove", "host")]
    assert estate.eos("plan", "--check").returncode == 3
    estate.must("apply", "--yes")
    assert git(estate, "log", "-1", "--format=%s") == f"Apply host {NODE}"
    release = json.loads(estate.salt([{"client": "local", "tgt": NODE, "fun": "eos.info"}])[1])["return"][0][NODE]
    assert release["release"] == (estate.lab / "srv/current/salt/release").read_text().strip()
    assert "nothing to do" in estate.must("plan", "--check").stderr

    # One that the person committed is seen all the same, and taken back without what came before it.
    common.write_text(common.read_text().replace("127.0.0.7", "127.0.0.8"))
    git(estate, "commit", "--quiet", "--all", "--message", "Another address")
    assert told(estate.json("plan")["plan"]) == [("change", f"host/{NODE}")]
    estate.must("apply", "--yes")
    taken = estate.json("undo", "--plan")["plan"]
    [address] = taken["changes"][0]["attributes"]
    assert (told(taken), address["before"], address["after"]) == (
        [("change", f"host/{NODE}")],
        "127.0.0.8",
        "127.0.0.7",
    )
    estate.must("undo", "--yes")
    assert "127.0.0.7" in common.read_text() and "127.0.0.8" not in common.read_text()

    # What no minion answers for is refused before anyone confirms, as if a verb had asked for it.
    good = common.read_text()
    common.write_text(good + "  ghost: {address: 10.9.9.9, roles: [storage]}\n")
    refused = estate.eos("apply", "--yes")
    assert refused.returncode == 2 and "ghost" in refused.stderr and "salt-minion" in refused.stderr, refused.stderr
    common.write_text(good)

    common.write_text(before)
    assert told(estate.json("plan")["plan"]) == [("delete", f"host/{NODE}")]
    estate.must("apply", "--yes")
    assert not (slices / SLICE).exists()
    assert "nothing to do" in estate.must("plan", "--check").stderr
    back = estate.json("undo", "--plan")["plan"]
    assert (told(back), steps(back)) == ([("create", f"host/{NODE}")], [("deliver", None), ("prove", "host")])
    estate.must("undo", "--yes")
    estate.must("delete", "host", minion, "--yes")
    assert hosts(estate) == ["control"]


def by_hand(estate: Estate, minion: str, place: Path, *words: str) -> dict:
    """What Salt alone makes of the emitted tree for this minion, without any code of Eos."""
    place.mkdir(exist_ok=True)
    roots = {
        name: {"base": [str(estate.root / tree)]} for name, tree in (("pillar_roots", "pillar"), ("file_roots", "salt"))
    }
    own = {name: str(place / name) for name in ("root_dir", "cachedir", "pki_dir", "sock_dir", "log_file")}
    (place / "minion").write_text(json.dumps({"file_client": "local", "id": minion, **own, **roots}))
    command = [salt_program("salt-call"), "--local", "-c", str(place), "--out=json", "--log-level=error", *words]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)["local"]


def test_a_volume_with_an_underscore_on_a_host_with_its_full_name(estate, minion, tmp_path):
    serve_formula(estate, minion)
    name, place = "database_volume", estate.lab / "volumes/database_volume"
    estate.must("create", "host", minion, "--address", "127.0.0.2", "--role", "storage", "--yes")
    create = ("create", "volume", name, "--size", "1G", "--host", minion, "--mount", str(place))
    try:
        estate.must(*create, "--yes")
        assert place.is_dir() and place.stat().st_mode & 0o777 == 0o755
        assert "nothing to do" in estate.must(*create, "--yes").stderr
        assert "nothing to do" in estate.must("plan", "--check").stderr
        estate.must("drift")
        called = {one["by"]: one["name"] for one in estate.json("why", f"host/{minion}")["called"]}
        assert called == {"Salt": f"pillar/{SLICE}"}
        called = {one["by"]: one["name"] for one in estate.json("why", f"volume/{name}")["called"]}
        assert called == {"Salt": f"production/{name}/data"}
        # The tree serves whoever applies it by hand, or orchestrates it.
        slices = by_hand(estate, minion, tmp_path / "by-hand", "pillar.items", "unmask=True")
        assert slices["eos"]["volumes"][f"production/{name}/data"]["path"] == str(place)
        states = by_hand(
            estate, minion, tmp_path / "by-hand", "state.show_sls", f"components.{name}.production.volumes"
        )
        assert list(states) == [f"production/{name}/data"]
        (place / "kept").write_text("kept")
        estate.must("delete", "volume", name, "--yes")
        assert (place / "kept").read_text() == "kept"
    finally:
        estate.eos("delete", "volume", name, "--yes")
        estate.must("delete", "host", minion, "--yes")
