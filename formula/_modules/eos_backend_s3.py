"""The Terraform backend `s3`: the Terraform state is an object in a bucket, its lock another one beside it.

Nothing here may be called over the API; `eos_backend` finds it by its name, and says what a backend has. A place has
`bucket` and `region`, and perhaps `endpoint` (a store other than AWS) and `prefix`.
"""

from __future__ import annotations

import concurrent.futures
import datetime
import html
import json
import re

from salt.exceptions import CommandExecutionError

_OF_A_STATE = ("serial", "lineage")
_OBJECT = "terraform.tfstate"
_KEY = re.compile(r"<Key>([^<]*)</Key>")
_NEXT = re.compile(r"<NextContinuationToken>([^<]*)</NextContinuationToken>")
_AT_ONCE = 8
_NAMES = ("access_key_id", "secret_access_key")
_MAY = "May the credential read, write and list this bucket, and does the bucket exist?"


def of(place: dict, profile: object) -> _S3:
    return _S3(place, profile)


class _S3:
    kind = "s3"
    keeps_locks = True

    def __init__(self, place: dict, profile: object):
        self.place, self._profile = place, profile
        self._known: dict[str, str] | None = None
        region = place["region"]
        self._address = place.get("endpoint") or f"https://s3.{region}.amazonaws.com"
        # Bound now: threads have no Salt.
        self._url, self._signed = __utils__["eos_s3.url"], __utils__["eos_s3.signed"]
        self._exchange, self._failed = __utils__["eos_http.exchange"], __utils__["eos_failure.of"]

    def where(self, name: str) -> str:
        return f"s3://{self.place['bucket']}/{self._key(name)}"

    def prepare(self, name: str) -> dict[str, object]:
        """As `emit/backend.rs` writes them for people."""
        settings = {"bucket": self.place["bucket"], "key": self._key(name), "region": self.place["region"]}
        settings |= {"use_lockfile": True}
        if endpoint := self.place.get("endpoint"):
            skipped = ("credentials_validation", "metadata_api_check", "region_validation", "requesting_account_id")
            settings |= {"endpoints": {"s3": endpoint}, "use_path_style": True}
            settings |= {f"skip_{check}": True for check in skipped}
        return settings

    def environment(self) -> dict[str, str]:
        known = self._credential()
        told = {"AWS_ACCESS_KEY_ID": known["access_key_id"], "AWS_SECRET_ACCESS_KEY": known["secret_access_key"]}
        return {**told, "AWS_EC2_METADATA_DISABLED": "true"}

    def read(self, name: str) -> tuple[dict | None, str | None]:
        found = self._get(self._key(name))
        if found is None:
            return None, None
        state = _object(found)
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
        status, said = self._ask("PUT", self._key(name), text, {"If-None-Match": "*"})
        if status in (409, 412):
            words = f"{self.where(name)} is there already"
            raise self._failed("terraform", name, words, "Compare it with that of the workspace")
        self._must(status, said, self._key(name))

    def remove(self, name: str) -> None:
        status, said = self._ask("DELETE", self._key(name))
        if status != 404:
            self._must(status, said, self._key(name))

    def last_good(self, name: str) -> None:
        """A bucket with versions has it; people restore it."""

    def mend(self, workspace: object) -> None:
        """Keeps the damaged Terraform state in the workspace; a run begins with what the engines have."""
        damaged = (self._get(self._key(workspace.name)) or b"").decode(errors="replace")
        __utils__["eos_disk.write_json"](workspace.damaged_state_file, {"damaged": damaged})
        self.remove(workspace.name)

    def is_written(self, name: str) -> bool:
        """An object is written whole."""
        del name
        return False

    def lock(self, name: str) -> dict | None:
        """Terraform's own. It says who took it, and nobody can know whether that run still lives."""
        key = f"{self._key(name)}.tflock"
        if (found := self._get(key)) is None:
            return None
        facts = _object(found) or {}
        store = f" --endpoint-url {self.place['endpoint']}" if self.place.get("endpoint") else ""
        where = f"s3://{self.place['bucket']}/{key}"
        told = {"who": facts.get("Who"), "since": facts.get("Created"), "id": facts.get("ID")}
        return {"where": where, "held": True, **told, "unlock": f"aws s3 rm {where}{store}"}

    def free(self, name: str, identity: str) -> None:
        del identity
        status, said = self._ask("DELETE", f"{self._key(name)}.tflock")
        self._must(status, said, self._key(name))

    def _key(self, name: str) -> str:
        prefix = self.place.get("prefix")
        return f"{prefix}/{name}/{_OBJECT}" if prefix else f"{name}/{_OBJECT}"

    def _names(self) -> set[str]:
        """Of every workspace that has a Terraform state here."""
        prefix = f"{self.place['prefix']}/" if self.place.get("prefix") else ""
        names, page = set(), {"list-type": "2", "prefix": prefix}
        while True:
            status, said = self._ask("GET", "", **page)
            text = self._must(status, said, prefix or "its objects").decode(errors="replace")
            for key in map(html.unescape, _KEY.findall(text)):
                name = key.removeprefix(prefix).removesuffix(f"/{_OBJECT}")
                if key == f"{prefix}{name}/{_OBJECT}" and name.count("/") == 1:
                    names.add(name)
            if (following := _NEXT.search(text)) is None:
                return names
            page["continuation-token"] = html.unescape(following[1])

    def _get(self, key: str) -> bytes | None:
        status, said = self._ask("GET", key)
        # A bucket that is not there holds no state for certain, but Terraform would fail: that is worth its own words.
        if status == 404 and b"NoSuchBucket" not in said:
            return None
        return self._must(status, said, key)

    def _must(self, status: int, said: bytes, key: str) -> bytes:
        if status not in (200, 204):
            words = f"s3://{self.place['bucket']}/{key}: {status}: {said[:500].decode(errors='replace')}"
            raise self._failed("salt", self.place["bucket"], self._profile.without_tokens(words), _MAY)
        return said

    def _ask(
        self, method: str, key: str, body: bytes = b"", more: dict[str, str] | None = None, **query: str
    ) -> tuple[int, bytes]:
        url = self._url(self._address, self.place["bucket"], key, **query)
        when = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
        headers = self._signed(method, url, body, self._credential(), self.place["region"], when)
        # Not signed: it can only make the store do less.
        headers |= {"Content-Type": "application/json", **(more or {})}
        try:
            status, _, said = self._exchange(method, url, headers, body or None)
        except (OSError, ValueError) as error:
            raise self._unreachable(error) from None
        return status, said

    def _unreachable(self, error: Exception) -> CommandExecutionError:
        words = f"The S3 store at {self._address} does not answer: {error}"
        return self._failed("salt", self._address, words, "Is it running, and does this minion reach it?")

    def _credential(self) -> dict[str, str]:
        if self._known is None:
            place = {key: self.place.get(key) for key in ("bucket", "endpoint")}
            self._known = __salt__["eos_profile.backend_credential"](self.kind, _NAMES, **place)
            self._profile.hide(self._known["secret_access_key"])
        return self._known


def _object(text: bytes) -> dict | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
