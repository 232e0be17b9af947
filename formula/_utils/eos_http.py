"""The HTTP API of an engine: one way to ask it, and its failures in the shape a step record has."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request

from salt.exceptions import CommandExecutionError

# Less than whoever asked this minion waits for it.
_SECONDS_TO_ANSWER = 10
_LONGEST = 64 << 20
_SUCCESS = 200
_FIRST_FAILURE = 300
_TOKEN_HEADERS = {"consul": "X-Consul-Token", "nomad": "X-Nomad-Token", "vault": "X-Vault-Token"}


def engine(layer: str, address: str, token: str | None = None, authority: str | None = None) -> _Engine:
    """The engine of this layer ("consul", "nomad" or "vault"), asked with this token.

    With an authority, a PEM file, only an engine that shows a certificate of it is told anything.
    """
    return _Engine(layer, address, {_TOKEN_HEADERS[layer]: token} if token else {}, authority)


def exchange(
    method: str,
    url: str,
    headers: dict[str, str],
    body: bytes | None = None,
    authority: str | None = None,
    seconds: int = _SECONDS_TO_ANSWER,
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers (in small letters) and body of an answer. OSError or ValueError: there is no such answer."""
    request = urllib.request.Request(url, method=method, data=body, headers=headers)
    # Without proxies: a proxy named in the environment has no business with a token.
    handlers = [urllib.request.ProxyHandler({}), _NoRedirect]
    if authority:
        handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority)))
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=seconds) as answer:
            return answer.status, _small(answer.headers), _read(answer)
    except urllib.error.HTTPError as error:
        return error.code, _small(error.headers), error.read(_LONGEST)


def _small(headers: object) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Whoever an answer names has no business with a token."""

    def redirect_request(self, *_: object) -> None:
        return None


class _Engine:
    def __init__(self, layer: str, address: str, headers: dict[str, str], authority: str | None):
        self.layer, self.address, self.headers, self.authority = layer, address, headers, authority

    def ask(self, method: str, path: str, body: object = None, seconds: int = _SECONDS_TO_ANSWER) -> tuple[int, object]:
        """The status, and what was answered: parsed if it was a success, as text if not."""
        given = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        url = self.address.rstrip("/") + path
        try:
            status, _, text = exchange(method, url, self.headers, given, self.authority, seconds)
            is_success = status < _FIRST_FAILURE
            return status, json.loads(text or b"null") if is_success else text.decode(errors="replace").strip()
        except (OSError, ValueError) as error:
            name = self.layer.capitalize()
            words = f"{name} at {self.address} does not answer: {error}"
            raise self.failure(self.address, words, f"Is {name} running?") from None

    def has_leader(self) -> bool:
        """Whether Nomad or Consul can answer at all: without a leader it refuses everything."""
        status, leader = self.ask("GET", "/v1/status/leader")
        return status == _SUCCESS and bool(leader)

    def failure(self, name: str, words: str, hint: str) -> CommandExecutionError:
        return CommandExecutionError(words, info={"layer": self.layer, "object": name, "words": words, "hint": hint})

    def refusal(self, name: str, words: str, hint: str) -> CommandExecutionError:
        """It answered, and will not do this however often it is asked."""
        failure = self.failure(name, words, hint)
        failure.info["refused"] = True
        return failure


def _read(answer: object) -> bytes:
    """What is answered, as far as it fits: a process that squats on an engine's port must not fill the memory."""
    text = answer.read(_LONGEST + 1)
    if len(text) > _LONGEST:
        raise ValueError(f"its answer is longer than {_LONGEST >> 20} MiB")
    return text
