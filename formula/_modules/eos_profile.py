"""What the control minion has of the engines: one class for each profile, both of one shape.

Nothing here may be called over the API; `eos_terraform`, `eos_restart`, `eos_secrets` and `eos_preview` call it. An
object of these classes serves one call: `log_in` opens it, `close` ends every token that was made in between. A minion
with the setting `vault_address` is of the full profile. A profile is a preset: it names the Terraform backend of a
workspace that names none (`eos_backend_<kind>`), and the lock of an operation (`eos_lock_<kind>`).
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator

from salt.exceptions import CommandExecutionError

# How Terraform's providers and backends are told an address, a token and an authority.
_VARIABLES = {
    "nomad": ("NOMAD_ADDR", "NOMAD_TOKEN", "NOMAD_CACERT"),
    "consul": ("CONSUL_HTTP_ADDR", "CONSUL_HTTP_TOKEN", "CONSUL_CACERT"),
}
# Where the control minion and people put values of running operations in Nomad, apart from every environment.
_APART = "default"
_ADDRESS = re.compile(r"[0-9A-Za-z][0-9A-Za-z.:-]{0,252}")


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


def engines_answer() -> bool:
    """Whether Nomad and Consul, as far as this minion has them, can answer Terraform's providers now."""
    layers = [layer for layer in ("nomad", "consul") if optional_setting(f"{layer}_address")]
    try:
        return all(engine(layer).has_leader() for layer in layers)
    except CommandExecutionError:
        return False


def credential_fault() -> str | None:
    """What is wrong with the root credential of this minion, if anything; never what it holds."""
    names = ("role_id", "secret_id") if _settings().get("vault_address") else ("nomad_token",)
    try:
        _root_credential(*names)
    except CommandExecutionError as failure:
        return failure.info["words"]
    return None


def backend_credential(kind: str, names: tuple[str, ...], **place: object) -> dict[str, str]:
    """The credential for a Terraform backend: that entry of `backends` in the root credential that names this place.

    So the minion shows a credential to nobody whom its administrator did not name, whatever was delivered.
    """
    path, shown = setting("credentials"), ", ".join(f"{key} {value}" for key, value in place.items() if value)
    shape = ", ".join(f'"{key}": "..."' for key in (*(key for key, value in place.items() if value), *names))
    hint = f'An administrator adds {{"backend": "{kind}", {shape}}} to the list "backends" of {path}'
    entries = _credential_file().get("backends")
    for entry in entries if isinstance(entries, list) else []:
        is_meant = isinstance(entry, dict) and entry.get("backend") == kind and _is_for(entry, place)
        if is_meant and all(isinstance(entry.get(name), str) and entry[name] for name in names):
            return {name: entry[name] for name in names}
    raise _failure(path, f"The root credential has none for the Terraform backend {kind} with {shown}", hint)


def provider_credential(name: str, variables: tuple[str, ...]) -> dict[str, str]:
    """The variables of a Terraform provider's credential: its entry of `providers` in the root credential."""
    path, shape = setting("credentials"), ", ".join(f'"{variable}": "..."' for variable in variables)
    hint = f'An administrator adds "providers": {{"{name}": {{{shape}}}}} to {path}'
    entries = _credential_file().get("providers")
    entry = entries.get(name) if isinstance(entries, dict) else None
    for variable in variables:
        value = entry.get(variable) if isinstance(entry, dict) else None
        if not isinstance(value, str) or not value:
            words = f"The root credential has no {variable} for the Terraform provider {name}"
            raise _failure(path, words, hint)
    return {variable: entry[variable] for variable in variables}


def _is_for(entry: dict, place: dict) -> bool:
    return all((entry.get(key) or None) == (value or None) for key, value in place.items())


def _settings() -> dict:
    # From the minion's own configuration only: config.get would let the pillar's `eos` shadow it.
    return __opts__.get("eos") or {}


class _Solo:
    """Nomad alone: a management token makes the run's own token."""

    backend = "local"
    keeps_versions = False

    @functools.cached_property
    def operation_lock(self) -> object:
        return __salt__["eos_lock_file.of"](self)

    def __init__(self):
        self._root_token: str | None = None
        self._tokens: dict[bool | str, dict] = {}
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

    def deploying(self, workspace: str) -> object:
        """Nomad, asked with the token that a Terraform run of this workspace has."""
        return engine("nomad", self.environment(workspace, management=False)["NOMAD_TOKEN"])

    def entering(self, session: str) -> str:
        """The token of one session in a task."""
        self._tokens[session] = __utils__["eos_nomad.mint_session_token"](self._nomad(), session)
        self._hidden.add(self._tokens[session]["SecretID"])
        return self._tokens[session]["SecretID"]

    def node_ids(self, hosts: list[str]) -> dict[str, str]:
        return __utils__["eos_nomad.node_ids"](self._nomad(), hosts) if hosts else {}

    def job(self, namespace: str, name: str) -> dict | None:
        return __utils__["eos_nomad.job"](self._nomad(), namespace, name)

    def runs(self, namespace: str, name: str) -> list[str]:
        return __utils__["eos_nomad.runs"](self._nomad(), namespace, name)

    def known_runs(self, namespace: str, name: str) -> list[str]:
        """The same with those that have ended already."""
        return [run["ID"] for run in __utils__["eos_nomad.all_runs"](self._nomad(), namespace, name)]

    def registered(self, namespace: str, service: str) -> dict | None:
        """Where a service answers, {"address", "port"}."""
        return _place(__utils__["eos_nomad.registered"](self._nomad(), namespace, service))

    def secret_version(self, secrets: list[dict]) -> int | None:
        """Which write of the workspace's one variable of secrets is the last; fails if it is missing."""
        return _only(secrets, [__utils__["eos_nomad.secret_version"](self._nomad(), secret) for secret in secrets])

    def secrets_of(self, environment: str, component: str) -> tuple[str, str]:
        """Where the secrets of a component lie: namespace and path."""
        return environment, f"nomad/jobs/{component}"

    def secrets_in_nomad(self, environment: str) -> list[str]:
        """Where Nomad has secrets in the namespace of an environment: it keeps that as long."""
        return __utils__["eos_nomad.variables_below"](self._nomad(), environment, "")

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

    def keep_alive(self) -> None:
        """The token outlives every run."""

    def hide(self, *secrets: str) -> None:
        """No message may show these."""
        self._hidden |= set(secrets)

    def without_tokens(self, text: str) -> str:
        return _without(self._hidden, text)

    def _nomad(self) -> object:
        return engine("nomad", self._root_token)


class _Full:
    """A login at Vault leases tokens of Nomad and Consul."""

    backend = "consul"
    keeps_versions = True

    @functools.cached_property
    def operation_lock(self) -> object:
        return __salt__["eos_lock_consul.of"](self)

    def __init__(self):
        self._vault: object = None
        self._leases: dict[str, dict] = {}
        self._renew_at = 0.0
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
            self.operation_lock.give_back()
        finally:
            if self._vault is not None:
                vault, self._vault, self._leases = self._vault, None, {}
                __utils__["eos_vault.log_out"](vault)

    def environment(self, workspace: str, management: bool) -> dict[str, str]:
        """What Terraform is given to speak to the engines."""
        del workspace
        nomad = self._leased("nomad/creds/eos-platform" if management else "nomad/creds/eos-deploy")
        return {**_told("nomad", nomad), **_told("consul", self._leased("consul/creds/eos-deploy"))}

    def deploying(self, workspace: str) -> object:
        """Nomad, asked with the token that a Terraform run of this workspace has."""
        return engine("nomad", self.environment(workspace, management=False)["NOMAD_TOKEN"])

    def entering(self, session: str) -> str:
        """The token of one session in a task; Vault gives it a name."""
        del session
        return self._leased("nomad/creds/eos-session")

    def node_ids(self, hosts: list[str]) -> dict[str, str]:
        if not hosts:
            return {}
        return __utils__["eos_nomad.node_ids"](self._nomad(), hosts)

    def job(self, namespace: str, name: str) -> dict | None:
        return __utils__["eos_nomad.job"](self._nomad_with_jobs(), namespace, name)

    def runs(self, namespace: str, name: str) -> list[str]:
        return __utils__["eos_nomad.runs"](self._nomad_with_jobs(), namespace, name)

    def known_runs(self, namespace: str, name: str) -> list[str]:
        """The same with those that have ended already."""
        return [run["ID"] for run in __utils__["eos_nomad.all_runs"](self._nomad_with_jobs(), namespace, name)]

    def registered(self, namespace: str, service: str) -> dict | None:
        """Where a service answers, {"address", "port"}; Consul has no namespaces."""
        del namespace
        return _place(__utils__["eos_consul.registered"](self.consul(), service))

    def secret_version(self, secrets: list[dict]) -> int | None:
        """The version of the workspace's one entry of secrets; fails if it is missing."""
        self.log_in()
        return _only(secrets, [__utils__["eos_vault.secret_version"](self._vault, secret) for secret in secrets])

    def secrets_of(self, environment: str, component: str) -> tuple[str, str]:
        """Where the secrets of a component lie; Vault has no namespaces."""
        return "", f"{environment}/{component}/app"

    def secrets_in_nomad(self, environment: str) -> list[str]:
        """None: Vault has them."""
        del environment
        return []

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

    def keep_alive(self) -> None:
        """Renews what is leased, when a third of the shortest lease is over."""
        if self._vault is None or time.monotonic() < self._renew_at:
            return
        leases = self._leases.values()
        self._renew_at = time.monotonic() + min((lease["lease_duration"] for lease in leases), default=60) / 3
        __utils__["eos_vault.renew"](self._vault, [lease["lease_id"] for lease in leases])
        self.operation_lock.keep_alive()

    def hide(self, *secrets: str) -> None:
        """No message may show these."""
        self._hidden |= set(secrets)

    def without_tokens(self, text: str) -> str:
        return _without(self._hidden, text)

    def _nomad(self) -> object:
        return engine("nomad", self._leased("nomad/creds/eos-read"))

    def _nomad_with_jobs(self) -> object:
        """The other token sees nodes alone."""
        return engine("nomad", self._leased("nomad/creds/eos-deploy"))

    def consul(self) -> object:
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


def _place(instances: list[tuple[str, int]]) -> dict | None:
    """Of one instance, as Eos chooses and names it for people; an address that none of them can type is left out."""
    found = min((one for one in instances if _ADDRESS.fullmatch(one[0])), default=None)
    return found and {"address": "localhost" if found[0] == "127.0.0.1" else found[0], "port": found[1]}


def _token(lease: dict) -> str:
    """Nomad's secrets engine calls the token `secret_id`, Consul's `token`."""
    return lease["data"].get("secret_id") or lease["data"]["token"]


def _only(secrets: list[dict], versions: list[int]) -> int | None:
    if len(versions) > 1:
        names = ", ".join(secret["path"] for secret in secrets)
        raise _failure(names, "A workspace has one entry of secrets", "Compile again")
    return versions[0] if versions else None


def _root_credential(*names: str) -> dict[str, str]:
    """What the root credential file holds by these names."""
    credential, path, hint = _credential_file(*names), setting("credentials"), _credential_hint(*names)
    for name in names:
        if not isinstance(credential.get(name), str) or not credential[name]:
            raise _failure(path, f"The root credential holds no {name}", hint)
    return {name: credential[name] for name in names}


def _credential_file(*names: str) -> dict:
    """The root credential; nobody but its owner may read it."""
    path, hint = setting("credentials"), _credential_hint(*names)
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
    return credential if isinstance(credential, dict) else {}


def _credential_hint(*names: str) -> str:
    shape = ", ".join(f"'{name}': '...'" for name in names)
    return f"An administrator puts it there: mode 0600, owned by the minion's user, {{{shape}}}"


def _without(hidden: set[str], text: str) -> str:
    for token in hidden:
        text = text.replace(token, "***")
    return text


def _failure(name: str, words: str, hint: str) -> CommandExecutionError:
    return CommandExecutionError(words, info={"layer": "salt", "object": name, "words": words, "hint": hint})
