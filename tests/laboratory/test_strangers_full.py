"""As test_strangers.py, of the full profile: Consul and Vault."""

import base64
import os
from pathlib import Path

from estates import Estate
from strangers import Stranger, choices, copied, free_port, never, squat, stranger


def test_a_foreign_consul_agent_is_no_member(full_estate):
    lab = choices(full_estate)
    program, serf = Path(lab["engines"]["consul"]["path"]), lab["ports"]["full"]["consul_serf"]
    own = {"control", *(node["name"] for node in lab["nodes"])}
    with stranger() as who:
        for server in (False, True):
            for kind, more in kinds(who, full_estate, server).items():
                name = f"{kind}-{'server' if server else 'client'}"
                who.agent(program, name, {**agent(who, name, serf, server), **more})

        def strangers() -> list[str]:
            members = [member["Name"] for member in full_estate.consul("/v1/agent/members")]
            nodes = [node["Node"] for node in full_estate.consul("/v1/catalog/nodes")]
            peers = full_estate.consul("/v1/status/peers")
            return [name for name in members + nodes if name not in own] + peers[1:]

        never("members of Consul", strangers)
        assert who.all_run(), {path.stem: path.read_text() for path in who.directory.glob("*.log")}


def agent(who: Stranger, name: str, serf: int, server: bool) -> dict:
    kinds = ("http", "server", "serf_lan")
    ports = {kind: free_port() for kind in kinds} | dict.fromkeys(("grpc", "grpc_tls", "dns", "serf_wan"), -1)
    return {
        "node_name": name,
        "server": server,
        "data_dir": who.data(name),
        "bind_addr": "127.0.0.1",
        "retry_join": [f"127.0.0.1:{serf}"],
        "retry_interval": "1s",
        "ports": ports,
    }


def kinds(who: Stranger, estate: Estate, server: bool) -> dict[str, dict]:
    """Without anything, with a key and certificate of its own, and with a certificate of the lab's but no key."""
    role = "server" if server else "client"
    own, key = who.certificate(f"{role}.dc1.consul")
    stolen = [copied(who, estate, name) for name in ("authority.pem", f"consul-{role}.pem", f"consul-{role}-key.pem")]

    def tls(authority: Path, certificate: Path, key: Path) -> dict:
        files = {"ca_file": str(authority), "cert_file": str(certificate), "key_file": str(key)}
        return {"tls": {"defaults": {**files, "verify_outgoing": True}}}

    made_up = {"encrypt": base64.b64encode(os.urandom(32)).decode()}
    return {"plain": {}, "own": {**tls(own, own, key), **made_up}, "stolen": tls(*stolen)}


def test_squatters_on_the_ports_of_a_full_lab_get_no_token(full_estate):
    full_estate.must("create", "hello", "--yes")
    ports = choices(full_estate)["ports"]
    for port in (ports["nomad_http"], ports["full"]["consul_http"], ports["full"]["vault_http"]):
        squat(full_estate, [port])
