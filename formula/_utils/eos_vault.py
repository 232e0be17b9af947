"""Vault's HTTP API as far as the control minion needs it: a login, credentials leased for it, and secrets."""

from __future__ import annotations

import json
import urllib.parse


def log_in(vault: object, role_id: str, secret_id: str) -> dict:
    """A token, {"client_token", "lease_duration"}; all that is leased with it ends with it."""
    status, answer = vault.ask("POST", "/v1/auth/approle/login", {"role_id": role_id, "secret_id": secret_id})
    if status != 200:
        hint = "Is Vault unsealed, and does the root credential hold the ids of AppRole eos-control?"
        raise vault.failure("login of AppRole eos-control", f"{status}: {answer}", hint)
    return answer["auth"]


def lease(vault: object, path: str) -> dict:
    """Credentials made for this login, {"data", "lease_id", "lease_duration"}."""
    status, answer = vault.ask("GET", f"/v1/{path}")
    if status != 200:
        hint = "Does Vault have this role, and does policy eos-control let AppRole eos-control read it?"
        raise vault.failure(path, f"{status}: {answer}", hint)
    return answer


def renew(vault: object, lease_ids: list[str]) -> None:
    """Begins the lifetime of this login and of its leases anew, as far as their roles allow."""
    requests = [("/v1/auth/token/renew-self", {})]
    requests += [("/v1/sys/leases/renew", {"lease_id": lease_id}) for lease_id in lease_ids]
    for path, body in requests:
        status, answer = vault.ask("POST", path, body)
        if status != 200:
            words = f"Vault did not renew the leases: {status}: {answer}"
            raise vault.failure(path, words, "AppRole eos-control needs Vault's policy default")


def log_out(vault: object) -> None:
    """Revokes the token of this login, and with it all that was leased."""
    status, answer = vault.ask("POST", "/v1/auth/token/revoke-self", {})
    if status not in (200, 204):
        words = f"The token of this run could not be revoked: {status}: {answer}"
        hint = "The token and its leases expire within the hour"
        raise vault.failure("token of AppRole eos-control", words, hint)


def secret_version(vault: object, secret: dict) -> int:
    """The current version of a secret; fails with its name if there is none. Values are not asked for."""
    path, name = secret["path"], f"secret/{secret['path']}"
    status, answer = vault.ask("GET", f"/v1/secret/metadata/{urllib.parse.quote(path)}")
    if status not in (200, 404):
        hint = "Does policy eos-control let AppRole eos-control read secret/metadata/*?"
        raise vault.failure(name, f"{status}: {answer}", hint)
    metadata = answer["data"] if status == 200 else {"current_version": 0, "versions": {}}
    current = metadata["current_version"]
    version = metadata["versions"].get(str(current))
    if version is None or version["destroyed"] or version["deletion_time"]:
        why = "is missing" if version is None else f"is deleted in its current version {current}"
        words = f"Secret {name} {why}: it needs {', '.join(secret['items'])}"
        raise vault.failure(name, words, f"vault kv put {name} <item>=<value>")
    return current


def read_entry(vault: object, path: str, version: int | None = None) -> dict | None:
    """{"items", "revision"} of an entry in its newest version or this one; no items if that version is deleted."""
    asked = f"?version={version}" if version else ""
    status, answer = vault.ask("GET", f"/v1/secret/data/{urllib.parse.quote(path)}{asked}")
    if status == 404:
        # A version that is deleted is a 404 with what is known of it.
        answer = _parsed(answer)
        if "metadata" not in (answer.get("data") or {}):
            return None
    else:
        _require_success(vault, path, status, "read")
    found = answer["data"]
    return {"items": found["data"] or {}, "revision": found["metadata"]["version"]}


def write_entry(vault: object, path: str, items: dict[str, str], revision: int) -> None:
    """Writes an entry whole, if its newest version is still this one (0: if there never was one)."""
    body = {"options": {"cas": revision}, "data": items}
    status, answer = vault.ask("POST", f"/v1/secret/data/{urllib.parse.quote(path)}", body)
    if status == 400 and "check-and-set" in str(answer):
        raise vault.failure(f"secret/{path}", "Others changed it meanwhile", "Run the step again")
    _require_success(vault, path, status, "write")


def remove_entry(vault: object, path: str) -> None:
    """Removes an entry with all its versions; one that is gone already is no failure."""
    status, _ = vault.ask("DELETE", f"/v1/secret/metadata/{urllib.parse.quote(path)}")
    _require_success(vault, path, status, "remove")


def names_below(vault: object, path: str) -> list[str]:
    """What there is below a path, one level deep: entries, and paths with a slash at their end."""
    status, answer = vault.ask("GET", f"/v1/secret/metadata/{urllib.parse.quote(path)}?list=true")
    if status == 404:
        return []
    _require_success(vault, path, status, "list")
    return answer["data"]["keys"]


def _require_success(vault: object, path: str, status: int, to_do: str) -> None:
    """The answer itself is left out: it could hold values."""
    if status not in (200, 204):
        hint = f"Does policy eos-control let AppRole eos-control {to_do} secret/*?"
        raise vault.failure(f"secret/{path}", f"Vault answered {status}", hint)


def _parsed(text: object) -> dict:
    try:
        parsed = json.loads(text)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
