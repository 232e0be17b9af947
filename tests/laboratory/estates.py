"""An estate with its engines, asked directly over HTTP. Shares no code with Eos."""

import fcntl
import glob
import json
import os
import random
import shutil
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

from packages import cannot_have


PROGRAM = os.environ.get("EOS_TEST_PROGRAM")
FULL = os.environ.get("EOS_TEST_FULL") == "1"
SEED = int(os.environ.get("EOS_TEST_SEED", "0"))
# For every lab, such as another Terraform.
LAB_OPTIONS = os.environ.get("EOS_TEST_LAB_OPTIONS", "").split()


def sample(items: list, size: int) -> list:
    """All items in a full run, else a seeded few of them."""
    if FULL or len(items) <= size:
        return items
    return sorted(random.Random(SEED).sample(items, size))


class Estate:
    """One estate with its lab; `eos` runs the program in it, the other methods ask the engines themselves."""

    def __init__(self, root: Path):
        self.root = root
        self.lab = root / ".eos/lab"

    def begin(self, *words: str, trusting: bool = True) -> None:
        """Makes the estate and starts its lab."""
        ran = subprocess.run([PROGRAM, "init", str(self.root)], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, ran.stderr
        if trusting:
            self.trust_recipes()
        self.must("lab", "up", *words, *LAB_OPTIONS, timeout=900)

    def trust_recipes(self) -> None:
        """Lets the minion take every program of a recipe for what the recipe says, as an administrator may.

        Recipes of these tests run programs of the host. A laboratory without this file takes those for high risk.
        """
        tiers = {"programs": [{"words": [], "tier": "low"}], "volumes_below": ["/opt", "/srv"]}
        tiers["files"] = [{"below": str(self.host_files), "tier": "low"}]
        settings = {"eos_tiers": tiers}
        file = self.lab / "salt/minion/etc/minion.d/tests.conf"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(settings))

    @property
    def host_files(self) -> Path:
        """Where recipes of these tests may have files of the host."""
        return self.lab / "files"

    def end(self) -> list[str]:
        """Stops the lab and removes the estate; answers what stays behind."""
        down = self.eos("lab", "down", timeout=180)
        left = [] if down.returncode == 0 else [f"eos lab down: {down.stderr}"]
        left += [f"left running: {process}" for process in self.processes()]
        mounts = Path("/proc/mounts").read_text().splitlines()
        left += [f"left mounted: {line}" for line in mounts if str(self.root) in line]
        shutil.rmtree(self.root, ignore_errors=True)
        return left

    def eos(self, *words: str, timeout: float = 400, env: dict | None = None, input: str = ""):
        return subprocess.run(
            [PROGRAM, "--estate", str(self.root), *words],
            input=input,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **(env or {})},
        )

    def start(self, *words: str, env: dict | None = None) -> subprocess.Popen:
        return subprocess.Popen(
            [PROGRAM, "--estate", str(self.root), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )

    def must(self, *words: str, **options):
        ran = self.eos(*words, **options)
        assert ran.returncode == 0, f"eos {' '.join(words)}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran

    def json(self, *words: str):
        # Only a line feed ends a line here: a text may hold any of the others.
        return json.loads(self.must(*words, "--json").stdout.strip().split("\n")[-1])

    @property
    def endpoints(self) -> dict:
        return json.loads((self.lab / "endpoints.json").read_text())

    @property
    def management_token(self) -> str:
        """Nomad's first token: sees everything there is in it."""
        return (self.lab / "secrets/nomad-management-token").read_text().strip()

    def nomad(self, path: str, method: str = "GET", body=None):
        """Nomad's answer, or nothing where it says 404."""
        return self.ask("nomad", path, method, body, {"X-Nomad-Token": self.management_token})

    def consul(self, path: str, method: str = "GET", body=None):
        token = (self.lab / "secrets/consul-management-token").read_text().strip()
        return self.ask("consul", path, method, body, {"X-Consul-Token": token})

    def forget_service(self, node: str, service: str) -> None:
        """Removes a service from the Consul agent that registered it: the one beside the node that runs it."""
        nodes = json.loads((self.lab / "lab.json").read_text())["nodes"]
        ports = {one["name"]: one["consul_http"] for one in nodes}
        endpoint = dict(self.endpoints["consul"])
        if node in ports:
            endpoint["address"] = f"https://127.0.0.1:{ports[node]}"
        token = (self.lab / "secrets/consul-management-token").read_text().strip()
        path = f"/v1/agent/service/deregister/{service}"
        open_engine(endpoint, path, "PUT", headers={"X-Consul-Token": token}).close()

    def vault(self, path: str, method: str = "GET", body=None):
        token = json.loads((self.lab / "secrets/vault-init.json").read_text())["root_token"]
        return self.ask("vault", path, method, body, {"X-Vault-Token": token})

    def ask(self, engine: str, path: str, method: str, body, headers: dict):
        try:
            with open_engine(self.endpoints[engine], path, method, body, headers) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def jobs(self) -> list[str]:
        return [f"{job['Namespace']}/{job['ID']}" for job in self.nomad("/v1/jobs?namespace=*")]

    def files(self, pattern: str) -> list[Path]:
        """Files of the lab by a pattern; others of them may come and go meanwhile."""
        return sorted(map(Path, glob.glob(str(self.lab / pattern), recursive=True, include_hidden=True)))

    def write(self, path: str, text: str) -> None:
        """A file of the estate appears whole: another operation may read all of them at any moment."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        new = self.root / ".eos" / f"new-{path.replace('/', '-')}"
        new.write_text(text)
        new.rename(file)

    def write_recipe(self, name: str, text: str) -> None:
        self.write(f"recipes/{name}/recipe.yaml", text)

    def running(self, job: str, namespace: str = "production") -> list[dict]:
        found = self.nomad(f"/v1/job/{job}/allocations?namespace={namespace}") or []
        return [one for one in found if one["ClientStatus"] == "running" and one["DesiredStatus"] == "run"]

    def salt(self, lowstate: list[dict], user: str | None = None) -> tuple[int, str]:
        """One call of Salt's API as this user, or the estate's own: status and body."""
        salt = self.endpoints["salt"]
        user = user or salt["user"]
        context = ssl.create_default_context(cafile=salt["certificate"])

        def post(path: str, body, headers=None):
            request = urllib.request.Request(
                salt["url"] + path,
                data=json.dumps(body).encode(),
                headers={"Content-Type": "application/json", "Accept": "application/json", **(headers or {})},
            )
            try:
                with urllib.request.urlopen(request, timeout=60, context=context) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode()

        password = (self.lab / f"secrets/{user}-password").read_text().strip()
        status, body = post("/login", {"eauth": "file", "username": user, "password": password})
        assert status == 200, body
        token = json.loads(body)["return"][0]["token"]
        return post("/", lowstate, {"X-Auth-Token": token})

    def docker(self, *words: str) -> str:
        """What Docker's own client says of the lab's Docker."""
        sockets = json.loads((self.lab / "lab.json").read_text())["sockets"]
        command = ["docker", "-H", f"unix://{sockets}/docker.sock", *words]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def processes(self) -> list[str]:
        """Command lines of all processes that name this estate, there or in their environment."""
        found = []
        for process in Path("/proc").iterdir():
            try:
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                environment = (process / "environ").read_bytes().decode(errors="replace")
                stat = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except (OSError, IndexError):
                continue
            if process.name.isdigit() and stat != "Z" and str(self.root) in line + environment:
                found.append(f"{process.name} {line}")
        return found

    def pid(self, engine: str) -> int:
        return json.loads((self.lab / f"run/{engine}.json").read_text())["pid"]

    def wait_until(self, true, seconds: float, what: str):
        ends = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < ends, f"not within {seconds} s: {what}"
            time.sleep(0.2)


def family(pid: int) -> list[int]:
    """A process and all below it: an engine may be several."""
    children: dict[int, list[int]] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(process.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


@contextmanager
def struck(estate: "Estate", engine: str, blow: signal.Signals = signal.SIGSTOP):
    """An engine that is killed, or is there and does not answer; then it goes on at the end."""

    def strike(blow: signal.Signals) -> None:
        for pid in processes:
            # A child may have ended by itself.
            with suppress(ProcessLookupError):
                os.kill(pid, blow)

    processes = family(estate.pid(engine))
    strike(blow)
    try:
        yield
    finally:
        if blow == signal.SIGSTOP:
            strike(signal.SIGCONT)


@contextmanager
def in_use(plan: Path):
    """A delivered plan whose maker lives: nobody takes it away."""
    directory = os.open(plan, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def open_engine(endpoint: dict, path: str, method: str = "GET", body=None, headers: dict | None = None):
    """The answer of an engine of a lab. It must show a certificate of the lab's authority."""
    request = urllib.request.Request(
        endpoint["address"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers=headers or {},
    )
    return urllib.request.urlopen(
        request, timeout=20, context=ssl.create_default_context(cafile=endpoint["certificate"])
    )


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


# Program, by name or path, and the package of Debian that has it.
CONTAINER_PACKAGES = {
    "dockerd": "docker.io",
    "docker-registry": "docker-registry",
    "ip": "iproute2",
    "redis-server": "redis-server",
    "redis-cli": "redis-tools",
    "prometheus": "prometheus",
    "prometheus-alertmanager": "prometheus-alertmanager",
    "caddy": "caddy",
    "/usr/lib/postgresql/*/bin/postgres": "postgresql",
}
MESH_PACKAGES = {"/usr/lib/cni/bridge": "containernetworking-plugins", "iptables": "iptables", "ip": "iproute2"}


def no_containers() -> str | None:
    """Why a lab cannot have containers here, or nothing if it can."""
    return cannot_have(CONTAINER_PACKAGES, "a Docker of the lab's own needs root")


def no_mesh() -> str | None:
    """Why a lab cannot have the mesh here, or nothing if it can."""
    return cannot_have(MESH_PACKAGES, "the mesh needs root: networks of tasks are joined to a bridge")


@contextmanager
def running_estate(root: Path, *words: str):
    """An estate with a lab of its own, for a test that no standing lab serves. It leaves nothing."""
    made = Estate(root)
    made.begin(*words)
    try:
        yield made
    finally:
        left = made.end()
    assert not left, "\n".join(left)
