"""Requests to an S3 store: addresses, and the signature (AWS version 4) that each carries."""

from __future__ import annotations

import hashlib
import hmac
import urllib.parse

_SAFE = "-_.~"


def url(address: str, bucket: str, key: str, **query: str) -> str:
    """Path style: a bucket's name in a host name would fit no certificate if it has a dot."""
    path = urllib.parse.quote(f"/{bucket}/{key}" if key else f"/{bucket}", safe=f"/{_SAFE}")
    return address.rstrip("/") + path + (f"?{_query(query)}" if query else "")


def signed(
    method: str, address: str, body: bytes, credential: dict[str, str], region: str, when: str
) -> dict[str, str]:
    """The headers of a request; `when` is the time as 20260131T235959Z."""
    parts = urllib.parse.urlsplit(address)
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": parts.netloc, "x-amz-content-sha256": digest, "x-amz-date": when}
    if token := credential.get("session_token"):
        headers["x-amz-security-token"] = token
    names = ";".join(sorted(headers))
    lines = [f"{name}:{headers[name]}" for name in sorted(headers)]
    request = "\n".join([method, parts.path, parts.query, *lines, "", names, digest])
    scope = f"{when[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", when, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = f"AWS4{credential['secret_access_key']}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.new(key, text.encode(), "sha256").hexdigest()
    shown = f"Credential={credential['access_key_id']}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**headers, "Authorization": f"AWS4-HMAC-SHA256 {shown}"}


def _query(query: dict[str, str]) -> str:
    return "&".join(f"{name}={urllib.parse.quote(value, safe=_SAFE)}" for name, value in sorted(query.items()))
