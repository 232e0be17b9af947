"""A cloud on loopback that speaks a part of Hetzner Cloud's documented API: networks, firewalls, servers, SSH keys.

It is a stand-in for tests: it keeps things in memory, runs nothing, and every action has succeeded at once. It answers
only to its own token, and remembers all requests. To an unknown request it answers with the API's own error.
"""

from __future__ import annotations

import ipaddress
import itertools
import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "canary-" + "t" * 57
CREATED = "2026-01-01T00:00:00+00:00"
LOCATION = {
    "id": 2,
    "name": "nbg1",
    "description": "Nuremberg DC Park 1",
    "country": "DE",
    "city": "Nuremberg",
    "latitude": 49.45,
    "longitude": 11.07,
    "network_zone": "eu-central",
}
DATACENTER = {
    "id": 12,
    "name": "nbg1-dc3",
    "description": "Nuremberg 1 virtual DC 3",
    "location": LOCATION,
    "server_types": {"supported": [104, 105], "available": [104, 105], "available_for_migration": [104, 105]},
}
# What each collection calls one of its things.
SINGULAR = {
    "networks": "network",
    "firewalls": "firewall",
    "servers": "server",
    "ssh_keys": "ssh_key",
    "actions": "action",
    "server_types": "server_type",
    "images": "image",
    "locations": "location",
    "datacenters": "datacenter",
}
MADE = ("networks", "firewalls", "servers", "ssh_keys")


class Refused(Exception):
    """The API's own error."""

    def __init__(self, status: HTTPStatus, code: str, message: str):
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def server_type(number: int, name: str, cores: int) -> dict:
    price = {"net": "1.0000", "gross": "1.1900"}
    return {
        "id": number,
        "name": name,
        "description": name.upper(),
        "category": "cost_optimized",
        "cores": cores,
        "memory": 4.0,
        "disk": 40,
        "storage_type": "local",
        "cpu_type": "shared",
        "architecture": "x86",
        "deprecated": False,
        "deprecation": None,
        "locations": [{"id": LOCATION["id"], "name": LOCATION["name"], "deprecation": None}],
        "prices": [{"location": LOCATION["name"], "price_hourly": price, "price_monthly": price}],
    }


IMAGE = {
    "id": 114690387,
    "type": "system",
    "status": "available",
    "name": "debian-12",
    "description": "Debian 12",
    "image_size": None,
    "disk_size": 5.0,
    "created": CREATED,
    "created_from": None,
    "bound_to": None,
    "os_flavor": "debian",
    "os_version": "12",
    "rapid_deploy": True,
    "protection": {"delete": False},
    "deprecated": None,
    "deleted": None,
    "labels": {},
    "architecture": "x86",
}


class Cloud:
    """Everything that there is, and everything that was asked."""

    def __init__(self):
        self.address = ""
        self.asked: list[tuple[str, str]] = []
        self.things: dict[str, dict[int, dict]] = {name: {} for name in SINGULAR}
        self._numbers, self._lock = itertools.count(1001), threading.RLock()
        types = [server_type(104, "cx22", 2), server_type(105, "cx32", 4)]
        for collection, items in {
            "server_types": types,
            "images": [IMAGE],
            "locations": [LOCATION],
            "datacenters": [DATACENTER],
        }.items():
            self.things[collection] = {item["id"]: item for item in items}

    def names(self, collection: str) -> list[str]:
        return sorted(thing["name"] for thing in self.things[collection].values())

    def one(self, collection: str) -> dict:
        (thing,) = self.things[collection].values()
        return thing

    def is_empty(self) -> bool:
        return not any(self.things[collection] for collection in MADE)

    def writes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path in self.asked if method != "GET"]

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        """Asks over the wire, as somebody with a token of the project does."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"{}")

    def answer(self, method: str, path: str, query: dict, body: dict) -> tuple[HTTPStatus, dict]:
        with self._lock:
            self.asked.append((method, path))
            match [part for part in path.split("/") if part], method:
                case [collection], "GET" if collection in self.things:
                    return HTTPStatus.OK, self._listed(collection, query)
                case [collection], "POST" if collection in MADE:
                    return HTTPStatus.CREATED, getattr(self, f"_make_{SINGULAR[collection]}")(body)
                case [collection, number], "GET":
                    return HTTPStatus.OK, {SINGULAR[collection]: self._thing(collection, number)}
                case [collection, number], "PUT":
                    thing = self._thing(collection, number)
                    thing |= {key: body[key] for key in ("name", "labels") if body.get(key) is not None}
                    return HTTPStatus.OK, {SINGULAR[collection]: thing}
                case [collection, number], "DELETE":
                    return self._remove(collection, self._thing(collection, number))
                case [collection, number, "actions", command], "POST":
                    thing = self._thing(collection, number)
                    return HTTPStatus.CREATED, self._act(collection, thing, command, body)
            raise Refused(HTTPStatus.NOT_FOUND, "not_found", f"{method} {path} is not served")

    def _thing(self, collection: str, number: str) -> dict:
        found = self.things.get(collection, {}).get(int(number) if number.isdecimal() else -1)
        if found is None:
            raise Refused(HTTPStatus.NOT_FOUND, "not_found", f"{collection} {number} not found")
        return found

    def _named(self, collection: str, name: object) -> dict:
        for thing in self.things[collection].values():
            if name in (thing["name"], thing["id"], str(thing["id"])):
                return thing
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_input", f"{collection} {name} not found")

    def _listed(self, collection: str, query: dict) -> dict:
        items = list(self.things[collection].values())
        if names := query.get("name"):
            items = [item for item in items if item.get("name") in names]
        if numbers := query.get("id"):
            items = [item for item in items if str(item["id"]) in numbers]
        pages = {"page": 1, "per_page": 50, "previous_page": None, "next_page": None, "last_page": 1}
        return {collection: items, "meta": {"pagination": {**pages, "total_entries": len(items)}}}

    def _new(self, collection: str, body: dict, **more: object) -> dict:
        if any(thing["name"] == body["name"] for thing in self.things[collection].values()):
            raise Refused(HTTPStatus.CONFLICT, "uniqueness_error", f"name {body['name']} is already used")
        number = next(self._numbers)
        thing = {
            "id": number,
            "name": body["name"],
            "labels": body.get("labels") or {},
            "created": CREATED,
            "protection": {"delete": False},
            **more,
        }
        self.things[collection][number] = thing
        return thing

    def _done(self, command: str, *about: tuple[str, dict]) -> dict:
        number = next(self._numbers)
        action = {
            "id": number,
            "command": command,
            "status": "success",
            "progress": 100,
            "started": CREATED,
            "finished": CREATED,
            "resources": [{"id": thing["id"], "type": kind} for kind, thing in about],
            "error": None,
        }
        self.things["actions"][number] = action
        return action

    def _make_network(self, body: dict) -> dict:
        subnets = [_with_gateway(subnet) for subnet in body.get("subnets") or []]
        more = {"ip_range": body["ip_range"], "subnets": subnets, "routes": [], "servers": [], "load_balancers": []}
        return {"network": self._new("networks", body, **more, expose_routes_to_vswitch=False)}

    def _make_firewall(self, body: dict) -> dict:
        rules = [_whole_rule(rule) for rule in body.get("rules") or []]
        firewall = self._new("firewalls", body, rules=rules, applied_to=[])
        return {"firewall": firewall, "actions": [self._done("set_firewall_rules", ("firewall", firewall))]}

    def _make_ssh_key(self, body: dict) -> dict:
        more = {"public_key": body["public_key"], "fingerprint": "00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff"}
        return {"ssh_key": self._new("ssh_keys", body, **more)}

    def _make_server(self, body: dict) -> dict:
        kind, image = self._named("server_types", body["server_type"]), self._named("images", body["image"])
        walls = [self._thing("firewalls", str(wall["firewall"])) for wall in body.get("firewalls") or []]
        server = self._new(
            "servers",
            body,
            status="running",
            server_type=kind,
            image=image,
            location=LOCATION,
            datacenter=DATACENTER,
            public_net={
                "ipv4": {"id": 1, "ip": "192.0.2.1", "blocked": False, "dns_ptr": "static.example"},
                "ipv6": {"id": 2, "ip": "2001:db8::/64", "blocked": False, "dns_ptr": []},
                "floating_ips": [],
                "firewalls": [{"id": wall["id"], "status": "applied"} for wall in walls],
            },
            private_net=[],
            volumes=[],
            load_balancers=[],
            primary_disk_size=kind["disk"],
            included_traffic=0,
            outgoing_traffic=None,
            ingoing_traffic=None,
            backup_window=None,
            rescue_enabled=False,
            iso=None,
            locked=False,
            placement_group=None,
        )
        server["protection"] = {"delete": False, "rebuild": False}
        for wall in walls:
            wall["applied_to"].append({"type": "server", "server": {"id": server["id"]}})
        started = self._done("start_server", ("server", server))
        made = {"server": server, "action": self._done("create_server", ("server", server)), "next_actions": [started]}
        return {**made, "root_password": None}

    def _remove(self, collection: str, thing: dict) -> tuple[HTTPStatus, dict]:
        in_use = thing.get("applied_to") or thing.get("servers")
        if collection in ("firewalls", "networks") and in_use:
            raise Refused(HTTPStatus.CONFLICT, "resource_in_use", f"{thing['name']} is still in use")
        del self.things[collection][thing["id"]]
        if collection != "servers":
            return HTTPStatus.NO_CONTENT, {}
        for wall in self.things["firewalls"].values():
            wall["applied_to"] = [one for one in wall["applied_to"] if one["server"]["id"] != thing["id"]]
        for network in self.things["networks"].values():
            network["servers"] = [number for number in network["servers"] if number != thing["id"]]
        return HTTPStatus.OK, {"action": self._done("delete_server", ("server", thing))}

    def _act(self, collection: str, thing: dict, command: str, body: dict) -> dict:
        match collection, command:
            case "networks", "add_subnet":
                thing["subnets"].append(_with_gateway(body))
            case "networks", "delete_subnet":
                thing["subnets"] = [one for one in thing["subnets"] if one["ip_range"] != body["ip_range"]]
            case "firewalls", "set_rules":
                thing["rules"] = [_whole_rule(rule) for rule in body.get("rules") or []]
                return {"actions": [self._done("set_firewall_rules", ("firewall", thing))]}
            case "servers", "change_type":
                thing["server_type"] = self._named("server_types", body["server_type"])
            case "servers", "attach_to_network":
                self._attach(thing, self._thing("networks", str(body["network"])), body)
            case "servers", "poweroff" | "shutdown":
                thing["status"] = "off"
            case "servers", "poweron":
                thing["status"] = "running"
            case _:
                raise Refused(HTTPStatus.NOT_FOUND, "not_found", f"{collection} has no action {command}")
        return {"action": self._done(command, (SINGULAR[collection], thing))}

    def _attach(self, server: dict, network: dict, body: dict) -> None:
        if not network["subnets"]:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_input", "the network has no subnet")
        free = itertools.islice(ipaddress.ip_network(network["subnets"][0]["ip_range"]).hosts(), 1, None)
        address = body.get("ip") or str(next(itertools.islice(free, len(network["servers"]), None)))
        private = {"network": network["id"], "ip": address, "alias_ips": [], "mac_address": "86:00:00:00:00:01"}
        server["private_net"].append(private)
        network["servers"].append(server["id"])


def _with_gateway(subnet: dict) -> dict:
    return {**subnet, "gateway": str(next(ipaddress.ip_network(subnet["ip_range"]).hosts()))}


def _whole_rule(rule: dict) -> dict:
    empty = {"port": None, "source_ips": [], "destination_ips": [], "description": None}
    return {**empty, **{key: value for key, value in rule.items() if value is not None}}


@contextmanager
def serving() -> Iterator[Cloud]:
    """A cloud that answers at its address as long as the block lasts."""
    cloud = Cloud()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            split = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            try:
                if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    raise Refused(HTTPStatus.UNAUTHORIZED, "unauthorized", "unable to authenticate")
                path = split.path.removeprefix("/v1")
                status, answer = cloud.answer(self.command, path, parse_qs(split.query), body)
            except Refused as refused:
                status = refused.status
                answer = {"error": {"code": refused.code, "message": refused.message, "details": None}}
            data = b"" if status == HTTPStatus.NO_CONTENT else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = do  # noqa: N815  the names that the server calls

        def log_message(self, *_: object) -> None:
            """What was asked is remembered, not printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    cloud.address = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield cloud
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
