"""The real engines of these tests, all on loopback: Salt (master, API, minion), Nomad, Consul and Vault."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import uuid

import pytest

FORMULA = pathlib.Path(__file__).resolve().parents[2] / "formula"
MINION = "control"
PROVIDER_SOURCE = "mirror.test/eos/nomad"
PASSWORD = "laboratory-password-of-eos"
# A run that measures coverage measures these processes, too.
MEASURED = {name: os.environ[name] for name in ("COVERAGE_PROCESS_START", "PYTHONPATH") if name in os.environ}
ROLES = {"eos-user": "user", "eos-operator": "operator", "eos-architect": "architect"}


def required(*names: str) -> list[str]:
    """The values of these variables; the test is skipped if one is not set."""
    for name in names:
        if not os.environ.get(name):
            pytest.skip(f"{name} is not set")
    return [os.environ[name] for name in names]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def wait_until(what: str, check, seconds: float = 60):
    """Answers the first true value of `check`; a failed connection counts as not yet."""
    deadline = time.monotonic() + seconds
    reason: object = None
    while time.monotonic() < deadline:
        try:
            if value := check():
                return value
        except (OSError, ValueError, KeyError) as error:
            reason = error
        time.sleep(0.2)
    raise TimeoutError(f"{what} did not happen in {seconds} s: {reason}")


def ask(address: str, header: str, token: str, method: str, path: str, body: object = None):
    """What an engine answers to one request; an answer that is no success is raised."""
    request = urllib.request.Request(
        address + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={header: token} if token else {},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


class Processes:
    """What was started here, each in its own process group, and ends with us."""

    def __init__(self, logs: pathlib.Path):
        self.logs = logs
        self.started: dict[str, subprocess.Popen] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, *command: str | pathlib.Path, **environment: str):
        with (self.logs / f"{name}.out").open("ab") as output:
            self.started[name] = subprocess.Popen(
                [str(word) for word in command],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                # The master loads a module from the formula's own folder.
                env={
                    "PATH": os.environ["PATH"],
                    "LANG": "C.UTF-8",
                    "PYTHONDONTWRITEBYTECODE": "1",
                    **MEASURED,
                    **environment,
                },
            )

    def stop(self, name: str):
        process = self.started.pop(name)
        for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)

    def stop_all(self):
        for name in reversed(list(self.started)):
            self.stop(name)


class Nomad:
    """One agent, server and client, with access control."""

    def __init__(self, binary: str, directory: pathlib.Path, processes: Processes):
        self.address = f"http://127.0.0.1:{free_port()}"
        self.token = str(uuid.uuid4())
        directory.mkdir()
        configuration = directory / "nomad.hcl"
        configuration.write_text(
            f"""
            name                 = "{MINION}"
            disable_update_check = true
            ports {{
              http = {self.address.rsplit(":", 1)[1]}
              rpc  = {free_port()}
              serf = {free_port()}
            }}
            acl {{ enabled = true }}
            client {{
              options = {{ "fingerprint.denylist" = "env_aws,env_gce,env_azure,env_digitalocean,consul,vault" }}
            }}
            plugin "raw_exec" {{
              config {{ enabled = true }}
            }}
            consul {{ enabled = false }}
            """
        )
        processes.start(
            "nomad", binary, "agent", "-dev", "-bind", "127.0.0.1", "-config", configuration, TMPDIR=str(directory)
        )
        wait_until("Nomad's bootstrap", self._bootstrap)
        for name in ("eos-deploy", "eos-nodes", "eos-session"):
            rules = (FORMULA / "files" / f"{name}.policy.hcl").read_text()
            self.call("POST", f"/v1/acl/policy/{name}", {"Name": name, "Rules": rules})
        wait_until("Nomad's node", lambda: [n for n in self.call("GET", "/v1/nodes") if n["Status"] == "ready"])

    def _bootstrap(self) -> bool:
        self.call("POST", "/v1/acl/bootstrap", {"BootstrapSecret": self.token}, token="")
        return True

    def call(self, method: str, path: str, body: object = None, token: str | None = None):
        return ask(self.address, "X-Nomad-Token", self.token if token is None else token, method, path, body)

    def write_variable(self, namespace: str, path: str, **items: str):
        self.call("PUT", f"/v1/var/{path}?namespace={namespace}", {"Path": path, "Items": items})

    def token_names(self) -> list[str]:
        return [token["Name"] for token in self.call("GET", "/v1/acl/tokens")]


class Consul:
    """One server with access control, and the policy of formula/files."""

    def __init__(self, binary: str, directory: pathlib.Path, processes: Processes):
        self.address = f"http://127.0.0.1:{free_port()}"
        self.token = str(uuid.uuid4())
        self.processes, self.command = processes, (binary, "agent", "-config-file", directory / "consul.hcl")
        directory.mkdir()
        (directory / "consul.hcl").write_text(
            f"""
            node_name            = "{MINION}"
            data_dir             = "{directory / "data"}"
            server               = true
            bootstrap_expect     = 1
            bind_addr            = "127.0.0.1"
            client_addr          = "127.0.0.1"
            disable_update_check = true
            ports {{
              http     = {self.address.rsplit(":", 1)[1]}
              server   = {free_port()}
              serf_lan = {free_port()}
              serf_wan = -1
              dns      = -1
              grpc     = -1
              grpc_tls = -1
            }}
            acl {{
              enabled        = true
              default_policy = "deny"
              tokens {{ initial_management = "{self.token}" }}
            }}
            performance {{ raft_multiplier = 1 }}
            """
        )
        self.up()
        rules = (FORMULA / "files" / "eos-deploy.consul.hcl").read_text()
        self.call("PUT", "/v1/acl/policy", {"Name": "eos-deploy", "Rules": rules})

    def up(self):
        self.processes.start("consul", *self.command)
        wait_until("Consul's first write", lambda: self.call("PUT", "/v1/kv/ready", {}))

    def down(self):
        self.processes.stop("consul")

    def call(self, method: str, path: str, body: object = None, token: str | None = None):
        return ask(self.address, "X-Consul-Token", self.token if token is None else token, method, path, body)

    def keys(self, prefix: str) -> list[str]:
        try:
            return self.call("GET", f"/v1/kv/{prefix}?keys")
        except urllib.error.HTTPError as refusal:
            if refusal.code == 404:
                return []
            raise

    def value(self, key: str):
        (entry,) = self.call("GET", f"/v1/kv/{key}")
        return json.loads(base64.b64decode(entry["Value"]))

    @contextlib.contextmanager
    def locked(self, name: str, operation: str):
        """Holds the lock of a workspace for an operation, as Eos does."""
        wanted = {"TTL": "600s", "Behavior": "release", "LockDelay": "0s"}
        session = self.call("PUT", "/v1/session/create", wanted)["ID"]
        holder = {"operation": operation, "who": "a test", "since": "now"}
        try:
            assert self.call("PUT", f"/v1/kv/terraform/{name}/lock?acquire={session}", holder) is True
            yield
        finally:
            self.call("PUT", f"/v1/session/destroy/{session}")


class Vault:
    """One server, unsealed, with what formula/README.md says of it: secrets, leases of both engines, one AppRole."""

    def __init__(
        self, binary: str, plugins: str, directory: pathlib.Path, processes: Processes, nomad: Nomad, consul: Consul
    ):
        self.address = f"http://127.0.0.1:{free_port()}"
        self.token = ""
        self.audit = directory / "audit.log"
        directory.mkdir()
        configuration = directory / "vault.hcl"
        configuration.write_text(
            f"""
            storage "inmem" {{}}
            listener "tcp" {{
              address     = "{self.address.removeprefix("http://")}"
              tls_disable = true
            }}
            api_addr         = "{self.address}"
            disable_mlock    = true
            plugin_directory = "{pathlib.Path(plugins).resolve()}"
            """
        )
        processes.start("vault", binary, "server", "-config", configuration, TMPDIR=str(directory))
        wait_until("Vault's initialisation", self._initialise)
        wait_until("Vault's unsealing", lambda: self.call("GET", "/v1/sys/health"))
        self.call("PUT", "/v1/sys/audit/file", {"type": "file", "options": {"file_path": str(self.audit)}})
        for name in ("nomad", "consul"):
            digest = hashlib.sha256((pathlib.Path(plugins) / name).read_bytes()).hexdigest()
            self.call("PUT", f"/v1/sys/plugins/catalog/secret/{name}", {"sha256": digest, "command": name})
            self.call("POST", f"/v1/sys/mounts/{name}", {"type": name})
        self.call("POST", "/v1/nomad/config/access", {"address": nomad.address, "token": nomad.token})
        access = {"address": consul.address.removeprefix("http://"), "scheme": "http", "token": consul.token}
        self.call("POST", "/v1/consul/config/access", access)
        self._set_up_as_documented(binary)

    def _set_up_as_documented(self, binary: str):
        path = f"{pathlib.Path(binary).parent}:{os.environ['PATH']}"
        environment = {"VAULT_ADDR": self.address, "VAULT_TOKEN": self.token, "PATH": path}
        commands = readme_block("vault secrets", "sh")
        ran = subprocess.run(
            ["sh", "-eu"], input=commands, cwd=FORMULA, env=environment, capture_output=True, text=True, timeout=120
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def _initialise(self) -> bool:
        answer = self.call("PUT", "/v1/sys/init", {"secret_shares": 1, "secret_threshold": 1})
        self.token = answer["root_token"]
        self.call("PUT", "/v1/sys/unseal", {"key": answer["keys_base64"][0]})
        return True

    def lease_for(self, ttl: str):
        """How long tokens of Nomad and Consul live unless they are renewed."""
        self.call("POST", "/v1/nomad/config/lease", {"ttl": ttl, "max_ttl": "1h"})
        wanted = {"consul_policies": ["eos-deploy"], "ttl": ttl, "max_ttl": "1h"}
        self.call("POST", "/v1/consul/roles/eos-deploy", wanted)

    def credential(self) -> dict[str, str]:
        """A new root credential of the control minion."""
        role = self.call("GET", "/v1/auth/approle/role/eos-control/role-id")["data"]["role_id"]
        secret = self.call("POST", "/v1/auth/approle/role/eos-control/secret-id", {})["data"]["secret_id"]
        return {"role_id": role, "secret_id": secret}

    def call(self, method: str, path: str, body: object = None, token: str | None = None):
        return ask(self.address, "X-Vault-Token", self.token if token is None else token, method, path, body)

    def write_secret(self, path: str, **items: str) -> int:
        """Answers the version that was written."""
        return self.call("POST", f"/v1/secret/data/{path}", {"data": items})["data"]["version"]

    def tokens(self) -> set[str]:
        return set(self.call("LIST", "/v1/auth/token/accessors")["data"]["keys"])

    def logins(self) -> int:
        entries = map(json.loads, self.audit.read_text().splitlines())
        return sum(e["type"] == "response" and e["request"]["path"] == "auth/approle/login" for e in entries)


class Salt:
    """Master, API and one minion below one short directory; the role users are set up as formula/README.md says."""

    def __init__(self, venv: str, directory: pathlib.Path, processes: Processes, eos_settings: dict):
        self.bin = pathlib.Path(venv) / "bin"
        self.directory = directory
        self.processes = processes
        self.etc = directory / "etc"
        self.srv = directory / "srv"
        self.cache = directory / "minion" / "cache"
        self.url = f"https://127.0.0.1:{free_port()}"
        self.publish_port, self.return_port = free_port(), free_port()
        self.token, self.tokens = "", {}
        (self.etc / "minion.d").mkdir(parents=True)
        self.srv.mkdir()
        self._certificate()
        self.write_master(readme_block("external_auth"))
        self._write_minion(MINION, "minion", self.etc / "minion.d", eos_settings)

    def _certificate(self):
        names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-keyout", self.etc / "key.pem", "-out", self.etc / "cert.pem", "-days", "2", "-subj", "/CN=localhost"]
            + ["-addext", names],
            check=True,
            capture_output=True,
        )
        self.trust = ssl.create_default_context(cafile=self.etc / "cert.pem")

    def write_master(self, access: str):
        directory = self.directory / "master"
        (self.etc / "users").write_text("".join(f"{user}:{password_digest(user)}\n" for user in ROLES))
        settings = {
            "user": os.environ.get("USER", "root"),
            "root_dir": str(directory),
            "pki_dir": str(directory / "pki"),
            "cachedir": str(directory / "cache"),
            "sock_dir": str(directory / "sock"),
            "pidfile": str(directory / "master.pid"),
            "api_pidfile": str(directory / "api.pid"),
            "log_file": str(self.processes.logs / "master.log"),
            "api_logfile": str(self.processes.logs / "api.log"),
            "key_logfile": str(self.processes.logs / "key.log"),
            "sqlite_queue_dir": str(directory / "queues"),
            "token_dir": str(directory / "tokens"),
            "syndic_dir": str(directory / "syndic"),
            "conf_file": str(self.etc / "master"),
            "interface": "127.0.0.1",
            "publish_port": self.publish_port,
            "ret_port": self.return_port,
            "worker_threads": 3,
            "auto_accept": True,
            "timeout": 5,
            "gather_job_timeout": 5,
            "rest_cherrypy": {
                "host": "127.0.0.1",
                "port": int(self.url.rsplit(":", 1)[1]),
                "ssl_crt": str(self.etc / "cert.pem"),
                "ssl_key": str(self.etc / "key.pem"),
                "thread_pool": 20,
            },
        }
        access = access.replace("/etc/salt/eos-users", str(self.etc / "users"))
        access = access.replace("/srv/eos/formula", str(FORMULA))
        roots = readme_block("file_roots").replace("/srv/eos/formula", str(FORMULA)).replace("/srv/eos", str(self.srv))
        roots = roots.replace("/var/cache/salt/minion", str(self.cache))
        (self.etc / "master").write_text(as_yaml(settings) + roots + access)

    def _write_minion(self, name: str, below: str, etc: pathlib.Path, eos_settings: dict):
        directory = self.directory / below
        settings = {
            "id": name,
            "user": os.environ.get("USER", "root"),
            "master": "127.0.0.1",
            "master_port": self.return_port,
            "publish_port": self.publish_port,
            "root_dir": str(directory),
            "pki_dir": str(directory / "pki"),
            "cachedir": str(directory / "cache"),
            "sock_dir": str(directory / "sock"),
            "extension_modules": str(directory / "extmods"),
            "pidfile": str(directory / "minion.pid"),
            "log_file": str(self.processes.logs / f"{below}.log"),
            "conf_file": str(etc / "minion"),
            "acceptance_wait_time": 1,
            "acceptance_wait_time_max": 2,
            "random_startup_delay": 0,
            "recon_default": 200,
            "recon_max": 2000,
            "master_alive_interval": 0,
            "enable_fqdns_grains": False,
            "enable_gpu_grains": False,
            "eos": eos_settings,
            # Workspaces of these tests are smaller than those that Eos emits, and of other resources.
            "eos_tiers": {"form": "low", "files": [{"below": str(self.directory / "files"), "tier": "low"}]},
        }
        common = readme_block("disable_returners").split("eos:\n")[0]
        (etc / "minion").write_text(as_yaml(settings) + common)

    def up(self):
        self.up_master()
        self.processes.start("api", self.bin / "salt-api", "-c", self.etc, "-l", "warning")
        self.processes.start("minion", self.bin / "salt-minion", "-c", self.etc / "minion.d", "-l", "warning")
        self.wait()

    @contextlib.contextmanager
    def node(self, name: str):
        """A second minion, with the formula and without an engine, while the block runs."""
        etc = self.etc / f"{name}.d"
        etc.mkdir()
        self._write_minion(name, name, etc, {"roles": ROLES})
        self.processes.start(name, self.bin / "salt-minion", "-c", etc, "-l", "warning")
        try:
            wait_until(f"the ping of {name}", lambda: "true" in self.run("salt", name, "test.ping").stdout, 120)
            self.bring_formula(name)
            yield name
        finally:
            self.processes.stop(name)
            self.run("salt-key", "--yes", "--delete", name)

    def up_master(self):
        self.processes.start("master", self.bin / "salt-master", "-c", self.etc, "-l", "warning")

    def wait(self):
        wait_until("login at the API", self.login, 120)
        wait_until("the minion's ping", lambda: self.call("test.ping").get("ret") is True, 120)

    def login(self, user: str = "eos-operator") -> bool:
        answer = self.post("/login", {"eauth": "file", "username": user, "password": password(user)}, token="")
        self.token = answer["return"][0]["token"]
        return True

    @contextlib.contextmanager
    def acting_as(self, user: str):
        """Calls in the block are made by this user."""
        before = self.token
        self.token = self.tokens.get(user, "") or (self.login(user) and self.token)
        self.tokens[user] = self.token
        try:
            yield
        finally:
            self.token = before

    def post(self, path: str, body: object, token: str | None = None):
        token = self.token if token is None else token
        request = urllib.request.Request(
            self.url + path,
            data=json.dumps(body).encode(),
            headers={"Accept": "application/json", "Content-Type": "application/json", "X-Auth-Token": token},
        )
        with urllib.request.urlopen(request, timeout=300, context=self.trust) as answer:
            return json.loads(answer.read())

    def lowstate(self, **fields: object):
        """One call as the API user; answers the status and, if it was permitted, the minion's return."""
        # How long Salt waits before it asks whether the minion still works: on a busy machine not even that answers.
        low = {"client": "local", "tgt": MINION, "full_return": True, "timeout": 60, **fields}
        try:
            return 200, self.post("/", [low])["return"][0]
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()

    def call(self, function: str, /, **keywords: object) -> dict:
        """The full return of one function on the minion, called over the API with keywords only."""
        status, answer = self.lowstate(fun=function, kwarg=keywords)
        assert status == 200, answer
        return answer[MINION]

    def publish(self, requests: list[dict], role: str = "master") -> list:
        """Hands requests to the master's own port, past salt-api, as anybody or as the minion; answers what it says."""
        settings = {"master": self.etc / "master", "minion": self.etc / "minion.d" / "minion"}[role]
        said = subprocess.run(
            [*self._script("at_the_masters_port.py"), role, str(settings)],
            input=json.dumps(requests),
            capture_output=True,
            text=True,
            timeout=1800,
        )
        assert said.returncode == 0, said.stderr
        return json.loads(said.stdout)

    def _script(self, name: str) -> list[str]:
        """A script of these tests, for Salt's own Python."""
        return [str(self.bin / "python"), str(pathlib.Path(__file__).with_name(name))]

    def record(self, function: str, /, **keywords: object) -> dict:
        answer = self.call(function, **keywords)
        assert isinstance(answer["ret"], dict), answer
        return answer["ret"]

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess:
        """A program of Salt's as the administrator runs it on the master."""
        command = [str(self.bin / program), "-c", str(self.etc), "--out=json", "--log-level=error", *arguments]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)

    def bring_formula(self, minion: str = MINION):
        """As the administrator does once for every minion."""
        brought = self.run("salt", minion, "saltutil.sync_all")
        assert brought.returncode == 0 and "modules.eos" in brought.stdout, brought

    @contextlib.contextmanager
    def bus(self):
        """Gathers all that is on the master's event bus while the block runs, as root on the master sees it."""
        gathered: list[dict] = []
        command = [*self._script("on_the_bus.py"), str(self.etc / "master")]
        listener = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert listener.stdout.readline() == "listening\n"
        try:
            yield gathered
            time.sleep(2)
        finally:
            said, _ = listener.communicate(timeout=60)
            gathered.extend(map(json.loads, said.splitlines()))

    @contextlib.contextmanager
    def events(self):
        """Gathers the master's events, as an API user sees them, while the block runs."""
        gathered: list[str] = []
        command = ["curl", "-sN", "--cacert", str(self.etc / "cert.pem"), f"{self.url}/events"]
        listener = subprocess.Popen(
            [*command, "-H", "@-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        listener.stdin.write(f"X-Auth-Token: {self.token}\n")
        listener.stdin.close()
        time.sleep(1)
        try:
            yield gathered
            time.sleep(1)
        finally:
            listener.terminate()
            gathered.extend(listener.stdout.read().splitlines())
            listener.wait()


def password(user: str) -> str:
    return f"{PASSWORD}-{user}"


def password_digest(user: str) -> str:
    return hashlib.sha512(password(user).encode()).hexdigest()


def as_yaml(settings: dict) -> str:
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())


def readme_block(beginning: str, language: str = "yaml") -> str:
    """The fenced block of formula/README.md with a line that begins so: what is documented is what is tested."""
    for block in re.findall(rf"```{language}\n(.*?)```", (FORMULA / "README.md").read_text(), re.DOTALL):
        if re.search(rf"^{beginning}", block, re.MULTILINE):
            return block
    raise LookupError(f"formula/README.md has no block with {beginning}")


class Releases:
    """What Eos would deliver: immutable releases and the symlink `current`."""

    def __init__(self, srv: pathlib.Path):
        self.srv = srv
        # By release: what the minion's slice was in it.
        self.slices: dict[str, dict] = {}

    def digest(self, release: str, sls: str) -> str:
        return digest_of(sls, self.slices[release])

    def deliver(
        self, workspaces: dict[str, dict], volumes: dict | None = None, waves: list | None = None, **more: dict
    ) -> str:
        """`workspaces` is {"production/hello": {"files": {path: text}, **slice}}, `more` is further parts of it.

        Answers the release's digest.
        """
        files, slice_of_minion = self._compile("base", workspaces, volumes, waves, more)
        release = self._switch(files)
        self.slices[release] = slice_of_minion
        return release

    def plan(self, workspaces: dict[str, dict], volumes: dict | None = None, **more: dict) -> str:
        """As `deliver`, but as a plan: an environment of its own that is not served. Answers its name."""
        plan = f"plan-{os.urandom(16).hex()}"
        files, self.slices[plan] = self._compile(plan, workspaces, volumes, None, more)
        self._write(self.srv / "plans" / plan, files)
        return plan

    @staticmethod
    def _compile(
        saltenv: str, workspaces: dict[str, dict], volumes: dict | None, waves: list | None, more: dict
    ) -> tuple[dict[str, str], dict]:
        """The files of a release or plan, and the minion's slice in it."""
        volumes = {name: {"risk": "low", **facts} for name, facts in (volumes or {}).items()}
        files = {"pillar/top.sls": json_sls({saltenv: {MINION: [f"hosts.{MINION}"]}})}
        slices = {}
        for name, workspace in workspaces.items():
            environment, component = name.split("/")
            files[f"salt/components/{component}/{environment}/workspace.sls"] = json_sls(
                {name: {"eos_terraform.applied": [{"name": name}]}}
            )
            texts = workspace["files"]
            files |= {f"files/{path}": text for path, text in texts.items()}
            digests = {path: sha256(text) for path, text in texts.items()}
            facts = {
                "risk": "low",
                "token": "client",
                "hosts": [],
                "secrets": [],
                **workspace,
                "files": workspace.get("digests", digests),
            }
            facts.pop("digests", None)
            slices[name] = {"digest": canonical_digest(facts), **facts}
        for name, volume in volumes.items():
            environment, component, _ = name.split("/")
            # Salt takes a number in quotes for the name of a user that nobody has.
            owner = [{"user": int(volume["user"])}, {"group": int(volume["group"])}, {"mode": volume["mode"]}]
            arguments = [{"name": volume["path"]}, *owner, {"makedirs": True}]
            files[f"salt/components/{component}/{environment}/volumes.sls"] = json_sls(
                {name: {"file.directory": arguments}}
            )
        slice_of_minion = {"volumes": volumes, "workspaces": slices, **more}
        files[f"pillar/hosts/{MINION}.sls"] = json_sls({"eos": slice_of_minion})
        if waves is not None:
            order = [[{**step, "digest": digest_of(step["sls"], slice_of_minion)} for step in wave] for wave in waves]
            files["salt/orchestrate/waves.json"] = json.dumps({"waves": order})
        return files, slice_of_minion

    def _switch(self, files: dict[str, str]) -> str:
        digest = sha256(json.dumps(files, sort_keys=True))
        root = self.srv / "releases" / digest
        if not root.exists():
            self._write(root, {**files, "salt/release": f"{digest}\n"})
        following = self.srv / "current.next"
        following.unlink(missing_ok=True)
        following.symlink_to(root)
        following.replace(self.srv / "current")
        return digest

    @staticmethod
    def _write(root: pathlib.Path, files: dict[str, str]):
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)


def digest_of(sls: str, slice_of_minion: dict) -> str:
    """The digest that belongs to an SLS: a workspace's own, or that of a component's volumes, files or monitoring."""
    _, component, environment, kind = sls.split(".", 3)
    name = f"{environment}/{component}"
    if kind == "workspace":
        slices = slice_of_minion["workspaces"][name].items()
        return canonical_digest({key: value for key, value in slices if key != "digest"})
    if kind == "monitoring":
        facts = slice_of_minion["monitoring"][name]
        at = slice_of_minion["monitors"][f"{environment}/{facts['monitor']}"]
        return canonical_digest({name: {**facts, "at": at}})
    parts = slice_of_minion[kind.partition("-")[0]].items()
    return canonical_digest({part: facts for part, facts in parts if part.startswith(f"{name}/")})


def part_of(sls: str) -> dict:
    """The part that an emitted SLS is about, as a call names it."""
    _, component, environment, piece = sls.split(".", 3)
    kind = {"volumes": "volume", "files": "file", "monitoring": "rules", "workspace": "workspace"}[
        piece.partition("-")[0]
    ]
    return {"kind": kind, "environment": environment, "component": component}


def made(sls: str, digest: str) -> dict:
    """The arguments of `eos.make` for an emitted SLS at this digest."""
    return {**part_of(sls), "facts": {"digest": digest}}


def removed(name: str, kind: str = "workspace", **facts: object) -> dict:
    """The arguments of `eos.remove` for a part of "<environment>/<component>"."""
    environment, component = name.split("/")
    return {"kind": kind, "environment": environment, "component": component, "facts": facts}


def json_sls(data: dict) -> str:
    return "#!json\n" + json.dumps(data, indent=1) + "\n"
