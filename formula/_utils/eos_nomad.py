"""Nomad's HTTP API as far as a Terraform run needs it: short-lived tokens, node ids, and whether secrets exist."""

from __future__ import annotations

import json
import os
import stat
import urllib.error
import urllib.parse
import urllib.request

from salt.exceptions import CommandExecutionError

_TOKEN_LIFETIME = "30m"
_SECONDS_TO_ANSWER = 30


def root_credential(path: str) -> str:
    """The token in the root credential file, which nobody but its owner may read."""
    hint = "An administrator puts it there: mode 0600, owned by the minion's user, {'nomad_token': '...'}"
    try:
        with open(path, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            credential = json.load(file)
    except (OSError, ValueError) as error:
        # ValueError quotes no content of the file, only a position.
        raise _failure("salt", path, f"The root credential cannot be read: {error}", hint) from None
    if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
        mode = f"{stat.S_IMODE(status.st_mode):04o}"
        words = f"The root credential has mode {mode} and owner {status.st_uid}: others may read it"
        raise _failure("salt", path, words, hint)
    if not isinstance(credential, dict) or not isinstance(credential.get("nomad_token"), str):
        raise _failure("salt", path, "The root credential holds no nomad_token", hint)
    return credential["nomad_token"]


def mint_token(address: str, root_token: str, name: str, management: bool) -> dict:
    """A token for one run, {"AccessorID", "SecretID"}; it dies by itself if nobody is left to revoke it."""
    rights = {"Type": "management"} if management else {"Type": "client", "Policies": ["eos-deploy"]}
    wanted = {"Name": name, "ExpirationTTL": _TOKEN_LIFETIME, **rights}
    status, answer = _request(address, root_token, "POST", "/v1/acl/token", wanted)
    if status != 200:
        hint = "Is the root credential a management token, and the policy eos-deploy installed?"
        raise _failure("nomad", f"token {name}", f"{status}: {answer}", hint)
    return {key: answer[key] for key in ("AccessorID", "SecretID")}


def revoke_token(address: str, root_token: str, accessor: str) -> None:
    """Ends a token; one that is gone already is no failure."""
    status, answer = _request(address, root_token, "DELETE", f"/v1/acl/token/{accessor}")
    if status not in (200, 404):
        hint = f"It expires {_TOKEN_LIFETIME} after it was made; nomad acl token delete ends it now"
        raise _failure("nomad", f"token {accessor}", f"{status}: {answer}", hint)


def node_ids(address: str, root_token: str, hosts: list[str]) -> dict[str, str]:
    """The id of the one ready node of each name."""
    if not hosts:
        return {}
    status, nodes = _request(address, root_token, "GET", "/v1/nodes")
    if status != 200:
        raise _failure("nomad", "nodes", f"{status}: {nodes}", "Is the root credential valid?")
    found: dict[str, list[str]] = {host: [] for host in hosts}
    for node in nodes:
        if node["Status"] == "ready" and node["Name"] in found:
            found[node["Name"]].append(node["ID"])
    for host, ids in found.items():
        if len(ids) != 1:
            words = f"Nomad knows {len(ids)} ready nodes named {host}"
            raise _failure("nomad", f"node {host}", words, "A Nomad node's name is the id of its Salt minion")
    return {host: ids[0] for host, ids in found.items()}


def check_secrets(address: str, root_token: str, secrets: list[dict]) -> None:
    """Fails with the name of the first secret that has no value; the values themselves are not kept."""
    for secret in secrets:
        namespace, path = secret["namespace"], secret["path"]
        where = f"/v1/var/{urllib.parse.quote(path)}?namespace={urllib.parse.quote(namespace, safe='')}"
        status, variable = _request(address, root_token, "GET", where)
        if status not in (200, 404):
            # The body is left out: it is the one answer that could hold values.
            raise _failure("nomad", f"variable {path}", f"Nomad answered {status}", "Is the root credential valid?")
        present = variable["Items"] if status == 200 else {}
        missing = [item for item in secret["items"] if item not in present]
        if status == 404 or missing:
            words = f"Secret {path} in namespace {namespace} is missing"
            words += f" {', '.join(missing)}" if status == 200 else f": it needs {', '.join(secret['items'])}"
            hint = f"nomad var put -namespace {namespace} {path} <item>=<value>"
            raise _failure("nomad", f"variable {path}", words, hint)


def _request(address: str, token: str, method: str, path: str, body: object = None) -> tuple[int, object]:
    request = urllib.request.Request(
        address.rstrip("/") + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"X-Nomad-Token": token},
    )
    # Without proxies: a proxy named in the environment has no business with a token.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_SECONDS_TO_ANSWER) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace").strip()
    except (OSError, ValueError) as error:
        raise _failure("nomad", address, f"Nomad does not answer: {error}", "Is Nomad running?") from None


def _failure(layer: str, name: str, words: str, hint: str) -> CommandExecutionError:
    return CommandExecutionError(words, info={"layer": layer, "object": name, "words": words, "hint": hint})
