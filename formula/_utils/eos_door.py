"""A door for one session in a task: it lets one caller in, once, and hands Nomad's connection through.

Nomad has no right for one instance: its `alloc-exec` opens every task of a namespace. So the token stays in this
process, and the caller gets a connection whose request this process wrote: one instance, one task, one command. The
caller proves by a word that it is the one who asked; only the digest of the word passed through Salt. What follows are
frames of a websocket, which the door does not read.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import datetime
import hashlib
import hmac
import json
import os
import re
import signal
import socket
import ssl
import tempfile
import urllib.parse
from collections.abc import Callable

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_SECONDS_TO_COME = 60
_SECONDS_OPEN = 600
_SECONDS_TO_SPEAK = 10
_LONGEST_HEAD = 64 << 10
_LONGEST_COMMAND = 16 << 10
_CHUNK = 64 << 10
_WEBSOCKET_KEY = re.compile(r"[A-Za-z0-9+/]{22}==")
# What is shorter would take away half the words around it, and is no secret.
_SHORTEST_SECRET = 4


def listener(place: str) -> socket.socket:
    """Listens at an address and port; of "address:first-last" at the first port that is free, of port 0 at any."""
    address, _, ports = place.rpartition(":")
    first, _, last = ports.partition("-")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in range(int(first), int(last or first) + 1):
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((address.strip("[]"), port))
            found.listen(8)
            return found
        except OSError as error:
            found.close()
            failure = error
    raise failure


def certificate() -> tuple[ssl.SSLContext, str]:
    """A certificate of this door alone, and its text: who asked for the door takes no other."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "eos session")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    text = built.public_bytes(serialization.Encoding.PEM)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # OpenSSL reads it from a file alone, which nobody else may open.
    with tempfile.NamedTemporaryFile() as file:
        file.write(key.private_bytes(*form) + text)
        file.flush()
        context.load_cert_chain(file.name)
    return context, text.decode()


def serve(at: socket.socket, context: ssl.SSLContext, asked: dict, tell: Callable[[str, dict], None]) -> None:
    """Waits a minute for the caller and serves it ten minutes at most. Returns once nothing of it is left.

    `asked` is {"proof", "nomad", "authority", "token", "namespace", "instance", "task", "secrets"}. `tell` writes down
    what happens before it does, without the secrets; where it fails, the caller gets nothing.
    """
    asyncio.run(_Door(context, asked, tell).run(at))


class _Door:
    def __init__(self, context: ssl.SSLContext, asked: dict, tell: Callable[[str, dict], None]):
        self.context, self.asked, self.tell = context, asked, tell
        self.entered: asyncio.Event
        self.ended: asyncio.Event

    async def run(self, at: socket.socket) -> None:
        self.entered, self.ended = asyncio.Event(), asyncio.Event()
        here = asyncio.current_task()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, here.cancel)
        server = await asyncio.start_server(
            self._meet, sock=at, ssl=self.context, ssl_handshake_timeout=_SECONDS_TO_SPEAK, limit=_LONGEST_HEAD
        )
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):
            await asyncio.wait_for(self.entered.wait(), _SECONDS_TO_COME)
            # Nobody else comes in from here on.
            server.close()
            await asyncio.wait_for(self.ended.wait(), _SECONDS_OPEN)
        server.close()
        rest = [task for task in asyncio.all_tasks() if task is not here]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_ours = False
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _SECONDS_TO_SPEAK)
            request = _Request(head)
            if self.entered.is_set() or not request.proves(self.asked["proof"]):
                await _answer(writer, "403 Forbidden", "this door is for another caller")
                return
            is_ours = True
            self.entered.set()
            await self._enter(request, reader, writer)
        except (OSError, ValueError, EOFError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            with contextlib.suppress(OSError):
                await _answer(writer, "400 Bad Request", str(error))
        finally:
            writer.close()
            if is_ours:
                self.ended.set()

    async def _enter(self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        command, is_terminal, key = request.command()
        shown = [self._without_secrets(word) for word in command]
        self.tell("begun", {"command": shown, "terminal": is_terminal})
        outcome = "failed"
        try:
            nomad_reader, nomad_writer = await self._nomad()
            try:
                nomad_writer.write(self._request(command, is_terminal, key))
                await nomad_writer.drain()
                head = await asyncio.wait_for(nomad_reader.readuntil(b"\r\n\r\n"), _SECONDS_TO_SPEAK)
                if head.split(b" ", 2)[1:2] != [b"101"]:
                    outcome = "refused by Nomad"
                    words = await asyncio.wait_for(nomad_reader.read(_LONGEST_HEAD), _SECONDS_TO_SPEAK)
                    await _answer(writer, "502 Bad Gateway", words.decode(errors="replace").strip())
                    return
                writer.write(head)
                await writer.drain()
                await _join((reader, nomad_writer), (nomad_reader, writer))
                outcome = "ended"
            finally:
                nomad_writer.close()
        except asyncio.CancelledError:
            outcome = "cut off"
            raise
        finally:
            self.tell(outcome, {})

    async def _nomad(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        url = urllib.parse.urlsplit(self.asked["nomad"])
        context = ssl.create_default_context(cafile=self.asked["authority"]) if url.scheme == "https" else None
        port = url.port or (443 if context else 80)
        connecting = asyncio.open_connection(url.hostname, port, ssl=context, limit=_LONGEST_HEAD)
        return await asyncio.wait_for(connecting, _SECONDS_TO_SPEAK)

    def _request(self, command: list[str], is_terminal: bool, key: str) -> bytes:
        query = {
            "namespace": self.asked["namespace"],
            "task": self.asked["task"],
            "command": json.dumps(command),
            "tty": "true" if is_terminal else "false",
        }
        lines = [
            f"GET /v1/client/allocation/{self.asked['instance']}/exec?{urllib.parse.urlencode(query)} HTTP/1.1",
            f"Host: {urllib.parse.urlsplit(self.asked['nomad']).netloc}",
            f"X-Nomad-Token: {self.asked['token']}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
        ]
        return "\r\n".join([*lines, "", ""]).encode()

    def _without_secrets(self, word: str) -> str:
        for secret in sorted(self.asked["secrets"], key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                word = word.replace(secret, "***")
        return word


class _Request:
    """What a caller sends first. Of its head the door believes nothing but the word and the command."""

    def __init__(self, head: bytes):
        lines = head.decode("ascii").split("\r\n")
        if lines[0] != "GET /session HTTP/1.1":
            raise ValueError("a door knows one request only")
        pairs = [line.partition(":") for line in lines[1:] if line]
        self.headers = {name.strip().lower(): value.strip() for name, _, value in pairs}

    def proves(self, proof: str) -> bool:
        word = self.headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(hashlib.sha256(word.encode()).hexdigest(), proof)

    def command(self) -> tuple[list[str], bool, str]:
        """The words, whether they get a terminal, and the key of the websocket."""
        try:
            text = base64.b64decode(self.headers.get("eos-command", ""), validate=True)
            given = json.loads(text)
        except (binascii.Error, ValueError):
            raise ValueError("the command is not JSON in base64") from None
        words = given.get("command") if isinstance(given, dict) else None
        is_words = isinstance(words, list) and words and all(isinstance(word, str) for word in words)
        if not is_words or type(given.get("terminal")) is not bool:
            raise ValueError("the command is not a list of words")
        if len(text) > _LONGEST_COMMAND:
            raise ValueError(f"the command is longer than {_LONGEST_COMMAND >> 10} KiB")
        key = self.headers.get("sec-websocket-key", "")
        if not _WEBSOCKET_KEY.fullmatch(key):
            raise ValueError("there is no key of a websocket")
        return words, given["terminal"], key


async def _join(*ways: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """Hands through what comes, until either side has ended."""
    tasks = [asyncio.ensure_future(_pass_on(*way)) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()


async def _answer(writer: asyncio.StreamWriter, status: str, words: str) -> None:
    body = words.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


def close_files_but(kept: set[int]) -> None:
    """A process that was forked has files of its parent, and keeps none of them open."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)
