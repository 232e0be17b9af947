"""The door of a session, with a stand-in for Nomad that keeps each request."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import ssl
import threading

import pytest

KEY = base64.b64encode(b"0123456789abcdef").decode()
WORD = "a" * 64
ANSWER = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"


class Nomad:
    """Answers each connection with the same, then sends back what it gets."""

    def __init__(self, answer: bytes = ANSWER):
        self.answer, self.heard = answer, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            connection, _ = self.socket.accept()
            with connection:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += connection.recv(1)
                self.heard.append(head.decode())
                connection.sendall(self.answer)
                while self.answer == ANSWER and (chunk := connection.recv(4096)):
                    connection.sendall(chunk)


class Caller:
    def __init__(self, port: int, certificate: str, word: str = WORD, command: object = ("echo", "hi"), **more: str):
        context = ssl.create_default_context(cadata=certificate)
        context.check_hostname = False
        plain = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket = context.wrap_socket(plain)
        asked = json.dumps({"command": command, "terminal": False}).encode()
        headers = {
            "Authorization": f"Bearer {word}",
            "Sec-WebSocket-Key": KEY,
            "Eos-Command": base64.b64encode(asked).decode(),
            **more,
        }
        line = headers.pop("line", "GET /session HTTP/1.1")
        self.socket.sendall("\r\n".join([line, *(": ".join(one) for one in headers.items()), "", ""]).encode())

    def hears(self, most: int = 4096) -> bytes:
        return self.socket.recv(most)


@pytest.fixture
def door(load):
    return load("_utils/eos_door.py")


def served(door, nomad: Nomad, calls, tell=None, **asked: object) -> list[tuple[str, dict]]:
    """Serves a door while `calls(port, certificate)` is at work beside it; answers what was written down."""
    told: list = []
    failures: list = []
    at = door.listener("127.0.0.1:0")
    context, certificate = door.certificate()
    port = at.getsockname()[1]

    def work() -> None:
        try:
            calls(port, certificate)
        except BaseException as failure:
            failures.append(failure)
            raise

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    given = {
        "proof": hashlib.sha256(WORD.encode()).hexdigest(),
        "nomad": nomad.address,
        "authority": None,
        "token": "the-token",
        "namespace": "production",
        "instance": "the-instance",
        "task": "web",
        "secrets": ["hunter22", "abc"],
        **asked,
    }
    door.serve(at, context, given, tell or (lambda what, more: told.append((what, more))))
    thread.join(10)
    assert not failures, failures
    return told


def test_the_caller_gets_one_command_in_one_task_and_never_the_token(door):
    nomad = Nomad()

    def calls(port: int, certificate: str) -> None:
        caller = Caller(port, certificate, command=["sh", "-c", "echo hunter22 abc"])
        seen = caller.hears()
        assert seen == ANSWER and b"the-token" not in seen
        caller.socket.sendall(b"frames")
        assert caller.hears() == b"frames"
        with pytest.raises(OSError):
            Caller(port, certificate).hears()
        caller.socket.close()

    told = served(door, nomad, calls)
    [head] = nomad.heard
    query = "namespace=production&task=web&command=%5B%22sh%22%2C+%22-c%22%2C+%22echo+hunter22+abc%22%5D&tty=false"
    assert head.startswith(f"GET /v1/client/allocation/the-instance/exec?{query} HTTP/1.1\r\n"), head
    assert "X-Nomad-Token: the-token\r\n" in head and f"Sec-WebSocket-Key: {KEY}\r\n" in head
    # A secret is hidden; what is too short for one is a word like others.
    assert told == [("begun", {"command": ["sh", "-c", "echo *** abc"], "terminal": False}), ("ended", {})]


def test_nobody_else_comes_in_and_keeps_the_caller_out(door):
    nomad = Nomad()

    def calls(port: int, certificate: str) -> None:
        assert b"403" in Caller(port, certificate, word="b" * 64).hears()
        assert b"403" in Caller(port, certificate, word="").hears()
        assert b"400" in Caller(port, certificate, line="GET /v1/jobs HTTP/1.1").hears()
        silent = socket.create_connection(("127.0.0.1", port))
        assert Caller(port, certificate).hears() == ANSWER
        silent.close()

    told = served(door, nomad, calls)
    assert [what for what, _ in told] == ["begun", "ended"] and len(nomad.heard) == 1


@pytest.mark.parametrize(
    "more",
    [
        {"command": []},
        {"command": "id"},
        {"command": [1]},
        {"command": ["x" * 20_000]},
        {"Sec-WebSocket-Key": f"{KEY} X-Nomad-Token: mine"},
        {"Eos-Command": "none"},
    ],
)
def test_what_is_no_command_reaches_nobody(door, more):
    nomad = Nomad()
    told = served(door, nomad, lambda port, certificate: _refused(Caller(port, certificate, **more)))
    assert (told, nomad.heard) == ([], [])


def _refused(caller: Caller) -> None:
    assert b"400" in caller.hears()


def test_without_a_record_there_is_no_session(door):
    nomad = Nomad()

    def tell(what: str, more: dict) -> None:
        raise OSError(28, "No space left on device")

    served(door, nomad, lambda port, certificate: _refused(Caller(port, certificate)), tell)
    assert nomad.heard == []


def test_a_refusal_of_nomad_is_told_and_nothing_more_goes_through(door):
    nomad = Nomad(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 17\r\n\r\nPermission denied")

    def calls(port: int, certificate: str) -> None:
        caller = Caller(port, certificate)
        assert b"502" in (said := caller.hears()) and said.endswith(b"Permission denied"), said
        caller.socket.sendall(b"GET /v1/jobs HTTP/1.1\r\n\r\n")

    told = served(door, nomad, calls)
    assert [what for what, _ in told] == ["begun", "refused by Nomad"] and len(nomad.heard) == 1


def test_a_session_ends_in_time_and_a_door_closes_by_itself(door):
    nomad = Nomad()
    door._SECONDS_OPEN = door._SECONDS_TO_COME = 1

    def calls(port: int, certificate: str) -> None:
        caller = Caller(port, certificate)
        assert caller.hears() == ANSWER
        assert caller.hears() == b"", "the door hangs up"

    told = served(door, nomad, calls)
    assert [what for what, _ in told] == ["begun", "cut off"]
    assert served(door, nomad, lambda port, certificate: None) == []


def test_a_door_listens_where_the_setting_says(door):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        first = taken.getsockname()[1]
        with door.listener(f"127.0.0.1:{first}-{first + 50}") as found:
            assert first < found.getsockname()[1] <= first + 50
        with pytest.raises(OSError):
            door.listener(f"127.0.0.1:{first}")
    with door.listener("[::1]:0") as found:
        assert found.getsockname()[0] == "::1"
    with pytest.raises(ValueError):
        door.listener("no place")


def test_a_forked_process_keeps_only_its_own_files(door):
    kept, gone = os.pipe()
    if (child := os.fork()) == 0:
        door.close_files_but({kept})
        there = [os.path.exists(f"/proc/self/fd/{one}") for one in (0, kept, gone)]
        os._exit(0 if there == [True, True, False] else 1)
    os.close(kept)
    os.close(gone)
    assert os.waitpid(child, 0)[1] == 0
