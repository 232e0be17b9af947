"""What the control minion has of the engines: one class for each profile, both of one shape.

Nothing here may be called over the API; `eos_terraform`, `eos_secrets` and `eos_preview` call it. An object of these
classes serves one call: `log_in` opens it, `close` ends every token that was made in between. A minion with the
setting `vault_address` is of the full profile.
"""

from __future__ import annotations

import contextlib
import datetime
import getpass
import json
import os
import stat
import time
import urllib.parse
from collections.abc import Callable, Iterator

from salt.exceptions import CommandExecutionError

# Operations begun without Eos, which nobody holds a lock for.
_EJECTED = "eject-"
# How Terraform's providers and backends are told an address, a token and an authority.
_VARIABLES = {
    "nomad": ("NOMAD_ADDR", "NOMAD_TOKEN", "NOMAD_CACERT"),
    "consul": ("CONSUL_HTTP_ADDR", "CONSUL_HTTP_TOKEN", "CONSUL_CACERT"),
}
# Where the control minion and people put values of running operations in Nomad, apart from every environment.
_APART = "default"
# Seconds in which a state that Terraform is writing becomes whole.
_WRITING = 2.0
# What every Terraform state has.
_OF_A_STATE = ("serial", "lineage")
_EMPTY = "is empty"


def of_this_minion() -> _Solo | _Full:
    return _Full() if _settings().get("vault_address") else _Solo()


@contextlib.contextmanager
def closing(profile: object, tell: Callable[[str], None]) -> Iterator[None]:
    """Ends the tokens that were made in the block, whatever happens."""
    finished = False
    try:
        yield
        finished = True
    finally:
        try:
            profile.close()
        except CommandExecutionError as failure:
            # The failure that brought us here is the one to report; what was not revoked dies by itself.
            if finished:
                raise
            tell(str(failure.error))


def setting(name: str) -> str:
    """One of the `eos:` settings of this minion, which must be set."""
    value = _settings().get(name)
    if not isinstance(value, str) or not value:
        raise _failure("minion configuration", f"eos:{name} is not set on this minion", "See formula/README.md")
    return value


def optional_setting(name: str) -> str | None:
    return _settings().get(name)


def engine(layer: str, token: str | None = None) -> object:
    """Consul, Nomad or Vault, where this minion's settings say that it is."""
    authority = optional_setting("engines_authority")
    return __utils__["eos_http.engine"](layer, setting(f"{layer}_address"), token, authority)


def credential_fault() -> str | None:
    """What is wrong with the root credential of this minion, if anything; never what it holds."""
    names = ("role_id", "secret_id") if _settings().get("vault_address") else ("nomad_token",)
    try:
        _root_credential(*names)
    except CommandExecutionError as failure:
        return failure.info["words"]
    return None


def _settings() -> dict:
    # From the minion's own configuration only: config.get would let the pillar's `eos` shadow it.
    return __opts__.get("eos") or {}


class _Solo:
    """Nomad alone: a management token makes the run's own token, and the Terraform state is a file of the workspace."""

    backend = "local"
    keeps_versions = False

    def __init__(self):
        self._root_token: str | None = None
        self._tokens: dict[bool, dict] = {}
        self._hidden: set[str] = set()

    def log_in(self) -> None:
        self._root_token = _root_credential("nomad_token")["nomad_token"]
        self._hidden.add(self._root_token)

    def close(self) -> None:
        tokens, self._tokens = self._tokens, {}
        for token in tokens.values():
            __utils__["eos_nomad.revoke_token"](self._nomad(), token["AccessorID"])

    def environment(self, workspace: str, management: bool) -> dict[str, str]:
        """What Terraform is given to speak to the engines."""
        if management not in self._tokens:
            name = f"eos {workspace}"
            self._tokens[management] = __utils__["eos_nomad.mint_token"](self._nomad(), name, management)
            self._hidden.add(self._tokens[management]["SecretID"])
        return _told("nomad", self._tokens[management]["SecretID"])

    def node_ids(self, hosts: list[str]) -> dict[str, str]:
        return __utils__["eos_nomad.node_ids"](self._nomad(), hosts) if hosts else {}

    def job(self, namespace: str, name: str) -> dict | None:
        return __utils__["eos_nomad.job"](self._nomad(), namespace, name)

    def secret_version(self, secrets: list[dict]) -> int | None:
        """Which write of the workspace's one variable of secrets is the last; fails if it is missing."""
        return _only(secrets, [__utils__["eos_nomad.secret_version"](self._nomad(), secret) for secret in secrets])

    def secrets_of(self, environment: str, component: str) -> tuple[str, str]:
        """Where the secrets of a component lie: namespace and path."""
        return environment, f"nomad/jobs/{component}"

    def apart(self, path: str) -> tuple[str, str]:
        """A place that belongs to no component."""
        return _APART, path

    def read_secret(self, place: tuple[str, str], version: int | None = None) -> dict | None:
        """{"items", "revision"}, or None; there are no earlier versions."""
        return None if version else __utils__["eos_nomad.read_variable"](self._nomad(), *place)

    def write_secret(self, place: tuple[str, str], items: dict[str, str], revision: int) -> None:
        __utils__["eos_nomad.write_variable"](self._nomad(), *place, items, revision)

    def remove_secret(self, place: tuple[str, str]) -> None:
        __utils__["eos_nomad.remove_variable"](self._nomad(), *place)

    def paths_apart(self, prefix: str) -> list[str]:
        """All paths below this one that belong to no component."""
        return __utils__["eos_nomad.variables_below"](self._nomad(), _APART, f"{prefix}/")

    def prepare_backend(self, workspace: object) -> dict[str, str]:
        """What Terraform's backend is configured with."""
        path = self._state_file(workspace.name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return {"path": path}

    def look_at_state(self, name: str) -> tuple[dict | None, str | None]:
        """The Terraform state, and why there is none in a file that is there, in words that follow "state".

        Terraform makes the file when it begins and fills it in place. Whoever looks meanwhile finds it empty or cut,
        and waits while Terraform holds its lock.
        """
        path, ends, held = self._state_file(name), time.monotonic() + _WRITING, True
        while held:
            held = __utils__["eos_disk.is_record_locked"](path) and time.monotonic() < ends
            state, fault = __utils__["eos_disk.contents"](path, *_OF_A_STATE)
            if fault is None:
                return state, None
            # So it is from the lock of the first run to its first write.
            if fault == _EMPTY and not os.path.exists(os.path.join(setting("terraform_root"), name, "applied.json")):
                return None, None
            time.sleep(0.05 if held else 0)
        return None, f"{path} {fault}"

    def look_at_states(self, on_disk: set[str]) -> dict[str, tuple[dict | None, str | None]]:
        """The same of all workspaces."""
        return {name: self.look_at_state(name) for name in on_disk}

    def last_good_state(self, name: str) -> dict | None:
        """The one before, which Terraform keeps when it writes."""
        return __utils__["eos_disk.read_json"](f"{self._state_file(name)}.backup", *_OF_A_STATE)

    def mend_state(self, workspace: object) -> None:
        """Puts the last good Terraform state in the place of a damaged one, which is kept in the workspace."""
        path = self._state_file(workspace.name)
        os.replace(path, workspace.damaged_state_file)
        if (state := self.last_good_state(workspace.name)) is not None:
            __utils__["eos_disk.write_json"](path, state)
        __utils__["eos_disk.sync_directory"](os.path.dirname(path))

    def is_written(self, name: str) -> bool:
        """Whether a Terraform run that outlived its job still has the Terraform state."""
        return __utils__["eos_disk.is_record_locked"](self._state_file(name))

    def remove_state(self, workspace: object) -> None:
        """The file goes with the workspace's directory."""

    def is_held(self, workspace: object) -> bool:
        """Eos holds the lock of the estate; there is none on the engines' side."""
        del workspace
        return False

    def require_lock(self, workspace: object, operation: str) -> None:
        """As of `is_held`."""

    def keep_alive(self) -> None:
        """The token outlives every run."""

    def without_tokens(self, text: str) -> str:
        return _without(self._hidden, text)

    def _nomad(self) -> object:
        return engine("nomad", self._root_token)

    @staticmethod
    def _state_file(name: str) -> str:
        return os.path.join(setting("terraform_root"), name, "state", "terraform.tfstate")


class _Full:
    """A login at Vault leases tokens of Nomad and Consul; the Terraform state and the lock are keys in Consul."""

    backend = "consul"
    keeps_versions = True

    def __init__(self):
        self._vault: object = None
        self._leases: dict[str, dict] = {}
        self._renew_at = 0.0
        self._lock: tuple[str, str] | None = None
        self._hidden: set[str] = set()

    def log_in(self) -> None:
        if self._vault is not None:
            return
        credential = _root_credential("role_id", "secret_id")
        self._hidden |= set(credential.values())
        login = __utils__["eos_vault.log_in"](engine("vault"), **credential)
        self._vault = engine("vault", login["client_token"])
        self._hidden.add(login["client_token"])
        self._renew_at = time.monotonic() + login["lease_duration"] / 3

    def close(self) -> None:
        try:
            if self._lock is not None:
                lock, self._lock = self._lock, None
                __utils__["eos_consul.give_back_lock"](self._consul(), *lock)
        finally:
            if self._vault is not None:
                vault, self._vault, self._leases = self._vault, None, {}
                __utils__["eos_vault.log_out"](vault)

    def environment(self, workspace: str, management: bool) -> dict[str, str]:
        """What Terraform is given to speak to the engines."""
        del workspace
        nomad = self._leased("nomad/creds/eos-platform" if management else "nomad/creds/eos-deploy")
        return {**_told("nomad", nomad), **_told("consul", self._leased("consul/creds/eos-deploy"))}

    def node_ids(self, hosts: list[str]) -> dict[str, str]:
        if not hosts:
            return {}
        return __utils__["eos_nomad.node_ids"](self._nomad(), hosts)

    def job(self, namespace: str, name: str) -> dict | None:
        return __utils__["eos_nomad.job"](self._nomad(), namespace, name)

    def secret_version(self, secrets: list[dict]) -> int | None:
        """The version of the workspace's one entry of secrets; fails if it is missing."""
        self.log_in()
        return _only(secrets, [__utils__["eos_vault.secret_version"](self._vault, secret) for secret in secrets])

    def secrets_of(self, environment: str, component: str) -> tuple[str, str]:
        """Where the secrets of a component lie; Vault has no namespaces."""
        return "", f"{environment}/{component}/app"

    def apart(self, path: str) -> tuple[str, str]:
        """A place that belongs to no component: the name of an environment holds no underscore."""
        return "", path

    def read_secret(self, place: tuple[str, str], version: int | None = None) -> dict | None:
        """{"items", "revision"} of the newest version or this one, or None."""
        self.log_in()
        return __utils__["eos_vault.read_entry"](self._vault, place[1], version)

    def write_secret(self, place: tuple[str, str], items: dict[str, str], revision: int) -> None:
        self.log_in()
        __utils__["eos_vault.write_entry"](self._vault, place[1], items, revision)

    def remove_secret(self, place: tuple[str, str]) -> None:
        self.log_in()
        __utils__["eos_vault.remove_entry"](self._vault, place[1])

    def paths_apart(self, prefix: str) -> list[str]:
        """All paths below this one that belong to no component."""
        self.log_in()
        names = [f"{prefix}/{name}" for name in __utils__["eos_vault.names_below"](self._vault, prefix)]
        below = [path for name in names if name.endswith("/") for path in self.paths_apart(name.rstrip("/"))]
        return [name for name in names if not name.endswith("/")] + below

    def prepare_backend(self, workspace: object) -> dict[str, str]:
        """What Terraform's backend is configured with; its token comes by the environment."""
        address = urllib.parse.urlsplit(setting("consul_address"))
        path = _key(workspace.name, "state")
        backend = {"address": address.netloc, "scheme": address.scheme, "path": path, "gzip": "false"}
        authority = optional_setting("engines_authority")
        return {**backend, "ca_file": authority} if authority else backend

    def look_at_state(self, name: str) -> tuple[dict | None, str | None]:
        """As of the other profile; Consul's keys are written whole."""
        state, fault = __utils__["eos_consul.read_terraform_state"](self._consul(), _key(name, "state"))
        return state, fault and f"at key {_key(name, 'state')} {fault}"

    def look_at_states(self, on_disk: set[str]) -> dict[str, tuple[dict | None, str | None]]:
        """The same of all workspaces, by one request."""
        del on_disk
        return __utils__["eos_consul.read_terraform_states"](self._consul())

    def last_good_state(self, name: str) -> None:
        """Terraform keeps none in Consul."""

    def mend_state(self, workspace: object) -> None:
        """Keeps the damaged Terraform state in the workspace; a run begins with what the engines have."""
        damaged = __utils__["eos_consul.read_text"](self._consul(), _key(workspace.name, "state"))
        __utils__["eos_disk.write_json"](workspace.damaged_state_file, {"damaged": damaged})
        self.remove_state(workspace)

    def is_written(self, name: str) -> bool:
        """Terraform waits itself for the lock of another run."""
        del name
        return False

    def remove_state(self, workspace: object) -> None:
        __utils__["eos_consul.remove_terraform_state"](self._consul(), _key(workspace.name, "state"))

    def is_held(self, workspace: object) -> bool:
        return __utils__["eos_consul.is_locked"](self._consul(), _key(workspace.name, "lock"))

    def require_lock(self, workspace: object, operation: str) -> None:
        """Eos holds the lock of its operation; an operation begun without Eos takes it here."""
        key = _key(workspace.name, "lock")
        if operation.startswith(_EJECTED) and self._lock is None:
            since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            holder = {"operation": operation, "who": f"{getpass.getuser()} on {__opts__['id']}", "since": since}
            self._lock = (key, __utils__["eos_consul.take_lock"](self._consul(), key, holder))
        __utils__["eos_consul.require_lock"](self._consul(), key, operation)

    def keep_alive(self) -> None:
        """Renews what is leased, when a third of the shortest lease is over."""
        if self._vault is None or time.monotonic() < self._renew_at:
            return
        leases = self._leases.values()
        self._renew_at = time.monotonic() + min((lease["lease_duration"] for lease in leases), default=60) / 3
        __utils__["eos_vault.renew"](self._vault, [lease["lease_id"] for lease in leases])
        if self._lock is not None:
            __utils__["eos_consul.renew_session"](self._consul(), self._lock[1])

    def without_tokens(self, text: str) -> str:
        return _without(self._hidden, text)

    def _nomad(self) -> object:
        return engine("nomad", self._leased("nomad/creds/eos-read"))

    def _consul(self) -> object:
        return engine("consul", self._leased("consul/creds/eos-deploy"))

    def _leased(self, path: str) -> str:
        """The token leased at this path of Vault, the same for the whole run."""
        self.log_in()
        if path not in self._leases:
            lease = __utils__["eos_vault.lease"](self._vault, path)
            self._leases[path] = lease
            self._renew_at = min(self._renew_at, time.monotonic() + lease["lease_duration"] / 3)
            self._hidden.add(_token(lease))
        return _token(self._leases[path])


def _told(layer: str, token: str) -> dict[str, str]:
    """What Terraform is told of an engine."""
    address, secret, authority = _VARIABLES[layer]
    told = {address: setting(f"{layer}_address"), secret: token}
    if file := optional_setting("engines_authority"):
        told[authority] = file
    return told


def _token(lease: dict) -> str:
    """Nomad's secrets engine calls the token `secret_id`, Consul's `token`."""
    return lease["data"].get("secret_id") or lease["data"]["token"]


def _only(secrets: list[dict], versions: list[int]) -> int | None:
    if len(versions) > 1:
        names = ", ".join(secret["path"] for secret in secrets)
        raise _failure(names, "A workspace has one entry of secrets", "Compile again")
    return versions[0] if versions else None


def _key(name: str, kind: str) -> str:
    return f"terraform/{name}/{kind}"


def _root_credential(*names: str) -> dict[str, str]:
    """What the root credential file holds by these names; nobody but its owner may read it."""
    path = setting("credentials")
    shape = ", ".join(f"'{name}': '...'" for name in names)
    hint = f"An administrator puts it there: mode 0600, owned by the minion's user, {{{shape}}}"
    try:
        with open(path, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            credential = json.load(file)
    except (OSError, ValueError) as error:
        # ValueError quotes no content of the file, only a position.
        raise _failure(path, f"The root credential cannot be read: {error}", hint) from None
    if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
        mode = f"{stat.S_IMODE(status.st_mode):04o}"
        words = f"The root credential has mode {mode} and owner {status.st_uid}: others may read it"
        raise _failure(path, words, hint)
    for name in names:
        if not isinstance(credential, dict) or not isinstance(credential.get(name), str) or not credential[name]:
            raise _failure(path, f"The root credential holds no {name}", hint)
    return {name: credential[name] for name in names}


def _without(hidden: set[str], text: str) -> str:
    for token in hidden:
        text = text.replace(token, "***")
    return text


def _failure(name: str, words: str, hint: str) -> CommandExecutionError:
    return CommandExecutionError(words, info={"layer": "salt", "object": name, "words": words, "hint": hint})
