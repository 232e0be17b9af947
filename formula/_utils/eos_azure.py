"""Requests to Azure's blob store: the signature (SharedKey) that each carries."""

from __future__ import annotations

import base64
import hmac
import urllib.parse

_VERSION = "2021-08-06"
# Headers that the signature covers in this order, beside those of the store's own.
_COVERED = ("content-encoding", "content-language", "content-length", "content-md5", "content-type", "date")
_CONDITIONS = ("if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range")


def signed(
    method: str, url: str, body: bytes, headers: dict[str, str], account: str, key: str, when: str
) -> dict[str, str]:
    """The headers of a request with its signature; `when` is the time as HTTP writes it. ValueError: a key is none."""
    parts = urllib.parse.urlsplit(url)
    sent = {name.lower(): value for name, value in headers.items()} | {"x-ms-date": when, "x-ms-version": _VERSION}
    covered = {**sent, "content-length": str(len(body)) if body else ""}
    own = [f"{name}:{sent[name]}" for name in sorted(sent) if name.startswith("x-ms-")]
    # An account in the path of the address, as an emulator has it, is named twice.
    resource = [f"/{account}{parts.path}"]
    query = urllib.parse.parse_qs(parts.query, keep_blank_values=True)
    resource += [f"{name}:{','.join(sorted(values))}" for name, values in sorted(query.items())]
    lines = [method, *(covered.get(name, "") for name in (*_COVERED, *_CONDITIONS)), *own, *resource]
    digest = hmac.digest(base64.b64decode(key, validate=True), "\n".join(lines).encode(), "sha256")
    return {**sent, "Authorization": f"SharedKey {account}:{base64.b64encode(digest).decode()}"}
