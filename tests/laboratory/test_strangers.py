"""Another user of the machine gets no token of an engine, and no agent of theirs becomes a member."""

import json
import os
import signal
import stat
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from estates import running_estate
from strangers import choices, copied, free_port, listens, given_away, never, squat, stranger, Stranger, unpinned

# Who is first is chance, and more so on a busy machine.
TRIES, THIEVES = 3, 4


@pytest.fixture(scope="module")
def with_hello(estate):
    """With something applied, of which Salt's minion asks Nomad by its schedule."""
    estate.must("create", "hello", "--yes")
    return estate


def test_a_squatter_on_nomads_port_gets_no_token(with_hello):
    estate = with_hello
    squat(estate, [choices(estate)["ports"]["nomad_http"]])


def test_a_squatter_gets_no_token_while_nomad_is_dead(with_hello):
    """Salt's minion goes on asking: by its schedule, or for a step."""
    estate, port = with_hello, choices(with_hello)["ports"]["nomad_http"]
    try:
        with stranger() as who:
            os.kill(estate.pid("nomad"), signal.SIGKILL)
            estate.wait_until(lambda: not listens(port), 20, "Nomad's port is free")
            kept = who.squat(port)
            assert estate.eos("update", "hello", "--greeting", "Hi", "--yes").returncode != 0
            estate.salt(
                [
                    {
                        "client": "local",
                        "tgt": "control",
                        "fun": "eos.observe",
                        "kwarg": {"parts": {"workspace": ["production/hello"]}},
                    }
                ]
            )
            assert kept.exists(), "nobody spoke to the squatter"
            assert given_away(estate, [kept]) == []
    finally:
        estate.must("lab", "up")


def test_a_stranger_reads_no_ports_and_no_settings(estate):
    for name in ("lab.json", "endpoints.json", "nomad/agent.json", "tls/nomad-server-key.pem"):
        mode = stat.S_IMODE((estate.lab / name).stat().st_mode)
        assert mode == 0o600, f"{name}: {mode:04o}"


def agent(who: Stranger, name: str) -> dict:
    kinds = ("http", "rpc", "serf")
    return {
        "name": name,
        "data_dir": who.data(name),
        "bind_addr": "127.0.0.1",
        "advertise": dict.fromkeys(kinds, "127.0.0.1"),
        "ports": {kind: free_port() for kind in kinds},
    }


def nomad_client(who: Stranger, name: str, rpc: int, tls: dict | None) -> dict:
    options = {"fingerprint.denylist": "env_aws,env_gce,env_azure,env_digitalocean"}
    client = {"enabled": True, "servers": [f"127.0.0.1:{rpc}"], "network_interface": "lo", "options": options}
    return {**agent(who, name), "client": client, **({"tls": tls} if tls else {})}


def nomad_server(who: Stranger, name: str, serf: int, tls: dict | None) -> dict:
    server = {"enabled": True, "bootstrap_expect": 2, "server_join": {"retry_join": [f"127.0.0.1:{serf}"]}}
    return {**agent(who, name), "acl": {"enabled": True}, "server": server, **({"tls": tls} if tls else {})}


def nomad_tls(authority: Path, certificate: Path, key: Path) -> dict:
    files = {"ca_file": str(authority), "cert_file": str(certificate), "key_file": str(key)}
    return {"http": False, "rpc": True, **files}


def test_a_foreign_nomad_agent_is_no_member(estate):
    lab = choices(estate)
    program, ports = Path(lab["engines"]["nomad"]["path"]), lab["ports"]
    with stranger() as who:
        for role, settings, port in (
            ("client", nomad_client, ports["nomad_rpc"]),
            ("server", nomad_server, ports["nomad_serf"]),
        ):
            own, key = who.certificate(f"{role}.global.nomad")
            kinds = {"plain": None, "own": nomad_tls(own, own, key)}
            if role == "client":
                # Even with a certificate of the lab's, a node that nobody introduced is none.
                names = ("authority.pem", "nomad-client.pem", "nomad-client-key.pem")
                kinds["stolen"] = nomad_tls(*(copied(who, estate, name) for name in names))
            for kind, tls in kinds.items():
                name = f"{kind}-{role}"
                who.agent(program, name, settings(who, name, port, tls))

        def strangers() -> list[str]:
            nodes = [node["Name"] for node in estate.nomad("/v1/nodes")]
            members = [
                member["Name"].removesuffix(".global") for member in estate.nomad("/v1/agent/members")["Members"]
            ]
            peers = estate.nomad("/v1/operator/raft/configuration")["Servers"]
            return [name for name in nodes + members if name != "control"] + [str(peer) for peer in peers[1:]]

        never("members of Nomad", strangers)
        said = {path.stem: path.read_text() for path in who.directory.glob("*.log")}
        assert who.all_run(), said
        assert "Permission denied" in said["stolen-client"], said["stolen-client"][-3000:]


def test_a_thief_of_nomads_first_token_has_a_token_of_nothing(tmp_path):
    """Nomad gives it to whoever asks first, and anybody may ask while it starts for the first time."""
    tries = (stolen_from(tmp_path / str(number)) for number in range(TRIES))
    assert any(tries), f"the thieves came too late {TRIES} times"


def stolen_from(place: Path) -> bool:
    """Whether a thief was faster than a new laboratory, which then must not know the token."""
    stolen: list[dict] = []
    done = threading.Event()
    place.mkdir()

    def steal() -> None:
        file = place / "estate/.eos/lab/lab.json"
        body = json.dumps({"BootstrapSecret": "11111111-2222-4333-8444-555555555555"}).encode()
        while not stolen and not done.wait(0.01):
            for scheme in ("https", "http"):
                try:
                    port = json.loads(file.read_text())["ports"]["nomad_http"]
                    ask = urllib.request.Request(f"{scheme}://127.0.0.1:{port}/v1/acl/bootstrap", body, method="POST")
                    with urllib.request.urlopen(ask, timeout=2, context=unpinned()) as answer:
                        stolen.append(json.load(answer))
                except (OSError, ValueError):
                    continue

    thieves = [threading.Thread(target=steal) for _ in range(THIEVES)]
    for thief in thieves:
        thief.start()
    try:
        with running_estate(place / "estate") as estate:
            if not stolen:
                return False
            headers = {"X-Nomad-Token": stolen[0]["SecretID"]}
            try:
                estate.ask("nomad", "/v1/acl/token/self", "GET", None, headers)
                raise AssertionError("Nomad knows the thief's token")
            except urllib.error.HTTPError as error:
                assert error.code == 403, error
            estate.must("create", "hello", "--yes")
            return True
    finally:
        done.set()
        for thief in thieves:
            thief.join()
