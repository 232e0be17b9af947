"""Raw dumps of an estate and its engines: each engine by its own HTTP API, all else from the disk.

Shares no code with Eos. A dump holds secret values as digests only. By hand: `python dump.py ESTATE`.

A dump leaves these out, so that two of them can be equal: Salt's job cache and the other caches of the engines, logs
and audit logs, evaluations and deployments of Nomad, and the tokens of Nomad's tasks, which live as long as their task.
"""

import hashlib
import json
import os
import sqlite3
import ssl
import stat
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The minion's own schedule and beacons write these whenever it is time.
BY_SCHEDULE = ("synced.json", "looks.json", "storage")
CONFIG_KINDS = (
    "service-intentions",
    "service-defaults",
    "service-resolver",
    "service-router",
    "proxy-defaults",
    "mesh",
)
# What Eos keeps in Consul's KV below this is Terraform's.
STATES = "terraform/"


class Engine:
    """One HTTP API, asked as an administrator."""

    def __init__(self, endpoint: dict, header: str, token: str):
        self.address, self.headers = endpoint["address"], {header: token}
        self.context = ssl.create_default_context(cafile=endpoint["certificate"])

    def get(self, path: str):
        """The answer, or nothing where the engine says that there is nothing."""
        request = urllib.request.Request(self.address + path, headers=self.headers)
        try:
            with urllib.request.urlopen(request, timeout=20, context=self.context) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise


class Lab:
    """Where an estate and its engines are."""

    def __init__(self, root: Path):
        self.root = Path(root)
        self.lab = self.root / ".eos/lab"
        self.endpoints = json.loads((self.lab / "endpoints.json").read_text())

    def secret(self, name: str) -> str:
        return (self.lab / "secrets" / name).read_text().strip()

    @property
    def is_full(self) -> bool:
        return "consul" in self.endpoints

    @property
    def nomad(self) -> Engine:
        return Engine(self.endpoints["nomad"], "X-Nomad-Token", self.secret("nomad-management-token"))

    @property
    def consul(self) -> Engine:
        return Engine(self.endpoints["consul"], "X-Consul-Token", self.secret("consul-management-token"))

    @property
    def vault(self) -> Engine:
        token = json.loads(self.secret("vault-init.json"))["root_token"]
        return Engine(self.endpoints["vault"], "X-Vault-Token", token)


def digest(value) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()


def quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def nomad(engine: Engine) -> dict:
    def each(items, key, path):
        with ThreadPoolExecutor(8) as pool:
            return dict(zip(map(key, items), pool.map(lambda item: engine.get(path(item)), items)))

    space = lambda item: f"?namespace={item['Namespace']}"  # noqa: E731
    jobs = engine.get("/v1/jobs?namespace=*")
    variables = engine.get("/v1/vars?namespace=*")
    volumes = engine.get("/v1/volumes?type=host&namespace=*")
    services = [
        {"Namespace": listed["Namespace"], "Name": service["ServiceName"]}
        for listed in engine.get("/v1/services?namespace=*")
        for service in listed["Services"]
    ]
    read = each(
        variables,
        lambda item: f"{item['Namespace']}/{item['Path']}",
        lambda item: f"/v1/var/{urllib.parse.quote(item['Path'])}{space(item)}",
    )
    return {
        "namespaces": {one["Name"]: one for one in engine.get("/v1/namespaces")},
        "jobs": each(
            jobs,
            lambda item: f"{item['Namespace']}/{item['ID']}",
            lambda item: f"/v1/job/{quoted(item['ID'])}{space(item)}",
        ),
        "allocations": {one["ID"]: one for one in engine.get("/v1/allocations?namespace=*")},
        "services": each(
            services,
            lambda item: f"{item['Namespace']}/{item['Name']}",
            lambda item: f"/v1/service/{quoted(item['Name'])}{space(item)}",
        ),
        "volumes": each(
            volumes,
            lambda item: f"{item['Namespace']}/{item['Name']}/{item['NodeID']}",
            lambda item: f"/v1/volume/host/{item['ID']}{space(item)}",
        ),
        "variables": {
            name: {**one, "Items": {item: digest(value) for item, value in one["Items"].items()}}
            for name, one in read.items()
            if one
        },
        "policies": {one["Name"]: one for one in engine.get("/v1/acl/policies")},
        "roles": {one["Name"]: one for one in engine.get("/v1/acl/roles")},
        "tokens": {one["AccessorID"]: one for one in engine.get("/v1/acl/tokens")},
        "auth-methods": {one["Name"]: one for one in engine.get("/v1/acl/auth-methods")},
        "binding-rules": {one["ID"]: one for one in engine.get("/v1/acl/binding-rules")},
        "nodes": {
            one["Name"]: {key: one[key] for key in ("ID", "Status", "SchedulingEligibility", "Drain", "NodePool")}
            for one in engine.get("/v1/nodes")
        },
    }


def consul(engine: Engine) -> dict:
    entries = {}
    for kind in CONFIG_KINDS:
        entries |= {f"{kind}/{one['Name']}": one for one in engine.get(f"/v1/config/{kind}") or []}
    keys = engine.get("/v1/kv/?recurse=true") or []
    return {
        "config": entries,
        "services": {
            name: engine.get(f"/v1/health/service/{quoted(name)}") for name in engine.get("/v1/catalog/services")
        },
        "keys": {
            one["Key"]: {**one, "Value": digest(one["Value"] or "")}
            for one in keys
            if not one["Key"].startswith(STATES)
        },
        "locks": {one["Key"]: one.get("Session") for one in keys if one["Key"].endswith("/lock")},
        # Terraform's end by themselves, a while after its run; what one of them holds is among the locks.
        "sessions": {
            one["ID"]: one["Name"] for one in engine.get("/v1/session/list") if one["Name"] != "Consul API Lock"
        },
        "policies": {one["Name"]: one for one in engine.get("/v1/acl/policies")},
        "roles": {one["Name"]: one for one in engine.get("/v1/acl/roles")},
        "auth-methods": {one["Name"]: one for one in engine.get("/v1/acl/auth-methods")},
        "binding-rules": {one["ID"]: one for one in engine.get("/v1/acl/binding-rules")},
    }


def vault(engine: Engine) -> dict:
    def keys(path: str) -> list[str]:
        return ((engine.get(f"{path}?list=true") or {}).get("data") or {}).get("keys", [])

    def secrets(below: str = ""):
        for key in keys(f"/v1/secret/metadata/{below}"):
            if key.endswith("/"):
                yield from secrets(below + key)
            else:
                yield below + key

    def secret(path: str) -> dict:
        metadata = engine.get(f"/v1/secret/metadata/{path}")["data"]
        data = ((engine.get(f"/v1/secret/data/{path}") or {}).get("data") or {}).get("data") or {}
        return {"metadata": metadata, "items": {name: digest(value) for name, value in data.items()}}

    return {
        "secrets": {path: secret(path) for path in secrets()},
        "policies": {
            name: engine.get(f"/v1/sys/policies/acl/{name}")["data"]["policy"] for name in keys("/v1/sys/policies/acl")
        },
        "mounts": {path: one["options"] for path, one in engine.get("/v1/sys/mounts")["data"].items()},
        "methods": {
            path: {
                role: digest(engine.get(f"/v1/auth/{path}role/{role}")["data"]) for role in keys(f"/v1/auth/{path}role")
            }
            for path in engine.get("/v1/sys/auth")["data"]
        },
    }


def address(resource: dict, instance: dict) -> str:
    """As Terraform itself names a resource."""
    index = instance.get("index_key")
    within = "" if index is None else f"[{json.dumps(index)}]"
    module = f"{resource['module']}." if resource.get("module") else ""
    return f"{module}{resource['type']}.{resource['name']}{within}"


def terraform_state(text: bytes) -> dict:
    state = json.loads(text)
    return {
        "serial": state["serial"],
        "lineage": state["lineage"],
        "resources": {
            address(resource, instance): instance["attributes"]
            for resource in state["resources"]
            if resource["mode"] == "managed"
            for instance in resource["instances"]
        },
    }


def terraform(lab: Lab) -> dict:
    """Environment/component -> Terraform state: of solo from the disk, of full from Consul's KV."""
    found = {}
    if lab.is_full:
        for key in lab.consul.get(f"/v1/kv/{STATES}?keys=true") or []:
            name, _, what = key.removeprefix(STATES).rpartition("/")
            if what == "state":
                request = urllib.request.Request(f"{lab.consul.address}/v1/kv/{key}?raw", headers=lab.consul.headers)
                with urllib.request.urlopen(request, timeout=20, context=lab.consul.context) as answer:
                    found[name] = answer.read()
    else:
        for path in (lab.lab / "terraform/workspaces").glob("*/*/state/terraform.tfstate"):
            found["/".join(path.parts[-4:-2])] = path.read_bytes()
    return {name: terraform_state(text) for name, text in found.items() if text}


def entry(path: Path) -> dict:
    """One file, link or directory as the disk has it."""
    there = path.lstat()
    facts = {"mode": f"{stat.S_IMODE(there.st_mode):04o}", "user": str(there.st_uid), "group": str(there.st_gid)}
    if path.is_symlink():
        return {**facts, "kind": "link", "to": os.readlink(path)}
    if path.is_dir():
        return {**facts, "kind": "directory"}
    return {**facts, "kind": "file", "digest": digest(path.read_bytes())}


def files(root: Path, but: tuple[str, ...] = ()) -> dict:
    """Everything below a directory, by its path in it, but for what begins so."""
    found = {}
    for directory, names, others in os.walk(root):
        at = Path(directory).relative_to(root)
        names[:] = [name for name in names if not f"{at / name}/".startswith(but)]
        for name in [*names, *others]:
            if not str(at / name).startswith(but or ("\0",)):
                found[str(at / name)] = entry(Path(directory) / name)
    return found


def hosts(lab: Lab) -> dict:
    """Minion -> absolute path -> what Salt may manage there: volumes, and what lies in them."""
    volumes = lab.lab / "volumes"
    nodes = [path.name for path in (lab.lab / "nodes").glob("*")]
    control = json.loads((lab.lab / "lab.json").read_text())["control"]
    found = {node: {str(volumes / node / path): one for path, one in files(volumes / node).items()} for node in nodes}
    own = files(volumes, tuple(f"{node}/" for node in nodes))
    found[control] = {str(volumes / path): one for path, one in own.items() if path not in nodes}
    return found


def store(root: Path) -> dict:
    """Every table of the store, row by row."""
    file = root / ".eos/store.db"
    if not file.exists():
        return {}
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        return {name: [list(map(str, row)) for row in connection.execute(f"select * from {name}")] for name in tables}


def estate(lab: Lab) -> dict:
    git = lambda *words: subprocess.run(  # noqa: E731
        ["git", "-C", lab.root, *words], capture_output=True, text=True, check=True
    ).stdout
    records = {}
    for cache in [lab.lab / "salt/minion/cache/eos", *lab.lab.glob("nodes/*/salt/minion/cache/eos")]:
        own = {path: one for path, one in files(cache).items() if not path.startswith(BY_SCHEDULE)}
        records |= {str((cache / path).relative_to(lab.lab)): one for path, one in own.items()}
    return {
        "files": files(lab.root, (".git/", ".eos/")),
        "refs": git("show-ref", "--head"),
        "status": git("status", "--porcelain"),
        "store": store(lab.root),
        "kept": files(lab.root / ".eos", ("lab/", "store.db")),
        # The directory of plans stays; what is in it would be seen.
        "served": {path: one for path, one in files(lab.lab / "srv", ("formula/",)).items() if path != "plans"},
        "current": os.readlink(lab.lab / "srv/current"),
        # The workspaces as they are rendered, and what the formula wrote down; providers and snapshots are caches.
        "workspaces": {
            path: one for path, one in files(lab.lab / "terraform/workspaces").items() if "/data/" not in f"{path}/"
        },
        "records": records,
    }


def dump(root: Path) -> dict:
    lab = Lab(root)
    work = {
        "nomad": lambda: nomad(lab.nomad),
        "terraform": lambda: terraform(lab),
        "hosts": lambda: hosts(lab),
        "estate": lambda: estate(lab),
    }
    if lab.is_full:
        work |= {"consul": lambda: consul(lab.consul), "vault": lambda: vault(lab.vault)}
    with ThreadPoolExecutor(len(work)) as pool:
        return dict(zip(work, pool.map(lambda one: one(), work.values())))


if __name__ == "__main__":
    json.dump(dump(Path(sys.argv[1])), sys.stdout, indent=1, sort_keys=True)
