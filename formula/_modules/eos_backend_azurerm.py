"""The Terraform backend `azurerm`: the Terraform state is a blob in a container, its lock a lease of the blob.

Nothing here may be called over the API; `eos_backend` finds it by its name, and says what a backend has. A place has
`storage_account` and `container`, and perhaps `endpoint` and `metadata_host` (another cloud than Azure's public one)
and `prefix`.
"""

from __future__ import annotations

import base64
import concurrent.futures
import datetime
import html
import json
import re
import urllib.parse

_OF_A_STATE = ("serial", "lineage")
_OBJECT = "terraform.tfstate"
_NAME = re.compile(r"<Name>([^<]*)</Name>")
_NEXT = re.compile(r"<NextMarker>([^<]+)</NextMarker>")
# Where Terraform says who has the lease.
_LOCK_INFO = "x-ms-meta-terraformlockid"
_AT_ONCE = 8
_NAMES = ("access_key",)
_MAY = "Is the access key that of the storage account, and does the container exist?"


def of(place: dict, profile: object) -> _Azurerm:
    return _Azurerm(place, profile)


class _Azurerm:
    kind = "azurerm"
    keeps_locks = True

    def __init__(self, place: dict, profile: object):
        self.place, self._profile = place, profile
        self._known: str | None = None
        account = place["storage_account"]
        self._address = (place.get("endpoint") or f"https://{account}.blob.core.windows.net").rstrip("/")
        # Bound now: threads have no Salt.
        self._signed, self._exchange = __utils__["eos_azure.signed"], __utils__["eos_http.exchange"]
        self._failed = __utils__["eos_failure.of"]

    def where(self, name: str) -> str:
        return f"{self._address}/{self.place['container']}/{self._key(name)}"

    def prepare(self, name: str) -> dict[str, object]:
        """As `emit/backend.rs` writes them for people."""
        account, container = self.place["storage_account"], self.place["container"]
        settings = {"storage_account_name": account, "container_name": container, "key": self._key(name)}
        host = self.place.get("metadata_host")
        return {**settings, "metadata_host": host} if host else settings

    def environment(self) -> dict[str, str]:
        return {"ARM_ACCESS_KEY": self._access_key()}

    def read(self, name: str) -> tuple[dict | None, str | None]:
        status, headers, said = self._ask("GET", self._key(name))
        # Terraform's lock of the first run makes an empty blob.
        if _is_missing(status, headers) or (status == 200 and not said):
            return None, None
        state = _object(self._must(status, said, name))
        is_one = state is not None and all(field in state for field in _OF_A_STATE)
        return (state, None) if is_one else (None, f"{self.where(name)} is cut, or none")

    def read_all(self, names: set[str]) -> dict[str, tuple[dict | None, str | None]]:
        """A request for each Terraform state, some at once, after one for their names."""
        del names
        there = sorted(self._names())
        with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(zip(there, pool.map(self.read, there), strict=True))

    def create(self, name: str, state: dict) -> None:
        text = json.dumps(state, indent=2).encode()
        headers = {"x-ms-blob-type": "BlockBlob", "If-None-Match": "*"}
        status, _, said = self._ask("PUT", self._key(name), text, headers)
        if status in (409, 412) and self.read(name) == (None, None):
            # An empty blob is what Terraform's lock leaves of a run that wrote nothing.
            self.remove(name)
            status, _, said = self._ask("PUT", self._key(name), text, headers)
        if status in (409, 412):
            words = f"{self.where(name)} is there already"
            raise self._failed("terraform", name, words, "Compare it with that of the workspace")
        self._must(status, said, name)

    def remove(self, name: str) -> None:
        status, headers, said = self._ask("DELETE", self._key(name))
        if not _is_missing(status, headers):
            self._must(status, said, name)

    def last_good(self, name: str) -> None:
        """A container with versions has it; people restore it."""

    def mend(self, workspace: object) -> None:
        """Keeps the damaged Terraform state in the workspace; a run begins with what the engines have."""
        _, _, said = self._ask("GET", self._key(workspace.name))
        __utils__["eos_disk.write_json"](workspace.damaged_state_file, {"damaged": said.decode(errors="replace")})
        self.remove(workspace.name)

    def is_written(self, name: str) -> bool:
        """A blob is written whole."""
        del name
        return False

    def lock(self, name: str) -> dict | None:
        """Terraform's own, a lease without end. Nobody can know whether the run that took it still lives."""
        status, headers, said = self._ask("HEAD", self._key(name))
        if _is_missing(status, headers):
            return None
        self._must(status, said, name)
        if headers.get("x-ms-lease-state") != "leased":
            return None
        facts = _object(base64.b64decode(headers.get(_LOCK_INFO, ""))) or {}
        told = {"who": facts.get("Who"), "since": facts.get("Created"), "id": facts.get("ID")}
        blob = f"--account-name {self.place['storage_account']} -c {self.place['container']} -b {self._key(name)}"
        return {"where": self.where(name), "held": True, **told, "unlock": f"az storage blob lease break {blob}"}

    def free(self, name: str, identity: str) -> None:
        headers = {"x-ms-lease-action": "release", "x-ms-lease-id": identity}
        status, _, said = self._ask("PUT", self._key(name), headers=headers, comp="lease")
        self._must(status, said, name)

    def _key(self, name: str) -> str:
        prefix = self.place.get("prefix")
        return f"{prefix}/{name}/{_OBJECT}" if prefix else f"{name}/{_OBJECT}"

    def _names(self) -> set[str]:
        """Of every workspace that has a Terraform state here."""
        prefix = f"{self.place['prefix']}/" if self.place.get("prefix") else ""
        names, page = set(), {"restype": "container", "comp": "list", "prefix": prefix}
        while True:
            status, _, said = self._ask("GET", "", **page)
            text = self._must(status, said, "its blobs").decode(errors="replace")
            for key in map(html.unescape, _NAME.findall(text)):
                name = key.removeprefix(prefix).removesuffix(f"/{_OBJECT}")
                if key == f"{prefix}{name}/{_OBJECT}" and name.count("/") == 1:
                    names.add(name)
            if (following := _NEXT.search(text)) is None:
                return names
            page["marker"] = html.unescape(following[1])

    def _must(self, status: int, said: bytes, name: str) -> bytes:
        if status not in (200, 201, 202):
            told = said[:500].decode(errors="replace")
            words = f"{self._address}/{self.place['container']}: {name}: {status}: {told}"
            raise self._failed("salt", self.place["container"], self._profile.without_tokens(words), _MAY)
        return said

    def _ask(
        self, method: str, key: str, body: bytes = b"", headers: dict[str, str] | None = None, **query: str
    ) -> tuple[int, dict[str, str], bytes]:
        path = urllib.parse.quote(f"/{self.place['container']}/{key}" if key else f"/{self.place['container']}")
        url = self._address + path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        when = datetime.datetime.now(datetime.UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        account, access_key = self.place["storage_account"], self._access_key()
        # Else Python sends a type of its own, which the signature would not cover.
        headers = {"Content-Type": "application/json", **(headers or {})}
        try:
            sent = self._signed(method, url, body, headers, account, access_key, when)
            return self._exchange(method, url, sent, body or (b"" if method == "PUT" else None))
        except (OSError, ValueError) as error:
            words = f"The blob store at {self._address} does not answer: {error}"
            hint = "Is it running, does this minion reach it, and is the access key one?"
            raise self._failed("salt", self._address, words, hint) from None

    def _access_key(self) -> str:
        if self._known is None:
            place = {key: self.place.get(key) for key in ("storage_account", "endpoint", "metadata_host")}
            found = __salt__["eos_profile.backend_credential"](self.kind, _NAMES, **place)
            self._known = found["access_key"]
            self._profile.hide(self._known)
        return self._known


def _is_missing(status: int, headers: dict[str, str]) -> bool:
    """Whether there is no such blob; a container that is missing is a fault."""
    return status == 404 and headers.get("x-ms-error-code") == "BlobNotFound"


def _object(text: bytes) -> dict | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
