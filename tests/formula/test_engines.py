"""How the formula asks an engine: it tells a token only to the engine that its settings name."""

import http.server
import pathlib
import ssl
import subprocess
import threading
from contextlib import contextmanager

import pytest

TOKEN = "token-of-a-run"


@contextmanager
def listening(answer: int = 200, location: str = "", certificate: pathlib.Path | None = None):
    """A server of one answer; gives its port, and the tokens that it was told."""
    told: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            told.append(self.headers.get("X-Nomad-Token"))
            self.send_response(answer)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *words):
            """Nobody reads it."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate:
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trust.load_cert_chain(certificate)
        server.socket = trust.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1], told
    finally:
        server.shutdown()
        server.server_close()


def certificate(directory: pathlib.Path, name: str) -> pathlib.Path:
    """A certificate with its key; it is its own authority."""
    file, key = directory / f"{name}.pem", directory / f"{name}-key.pem"
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    words += ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(["openssl", *words, "-keyout", key, "-out", file], check=True, capture_output=True)
    file.write_text(file.read_text() + key.read_text())
    return file


def test_an_engine_with_a_certificate_of_the_authority_is_asked(load, tmp_path):
    eos_http = load("_utils/eos_http.py")
    own = certificate(tmp_path, "own")
    with listening(certificate=own) as (port, told):
        nomad = eos_http.engine("nomad", f"https://127.0.0.1:{port}", TOKEN, str(own))
        assert nomad.ask("GET", "/v1/jobs") == (200, {})
    assert told == [TOKEN]


def test_another_listener_is_told_nothing(load, tmp_path):
    eos_http = load("_utils/eos_http.py")
    own, other = certificate(tmp_path, "own"), certificate(tmp_path, "other")
    for shown in (other, None):
        with listening(certificate=shown) as (port, told):
            nomad = eos_http.engine("nomad", f"https://127.0.0.1:{port}", TOKEN, str(own))
            with pytest.raises(Exception, match="does not answer"):
                nomad.ask("GET", "/v1/jobs")
        assert told == []


def test_a_redirect_is_an_answer(load):
    eos_http = load("_utils/eos_http.py")
    with listening() as (elsewhere, told), listening(307, f"http://127.0.0.1:{elsewhere}/") as (port, _):
        status, _ = eos_http.engine("nomad", f"http://127.0.0.1:{port}", TOKEN).ask("GET", "/v1/jobs")
    assert (status, told) == (307, [])


def test_terraform_is_told_the_authority(load):
    settings = {"nomad_address": "https://127.0.0.1:1", "consul_address": "https://127.0.0.1:2"}
    profile = load("_modules/eos_profile.py")
    profile.__opts__["eos"] = {**settings, "engines_authority": "/a.pem"}
    assert profile._told("nomad", "t") == {
        "NOMAD_ADDR": "https://127.0.0.1:1",
        "NOMAD_TOKEN": "t",
        "NOMAD_CACERT": "/a.pem",
    }
    profile.__opts__["eos"] = settings
    assert profile._told("consul", "t") == {"CONSUL_HTTP_ADDR": "https://127.0.0.1:2", "CONSUL_HTTP_TOKEN": "t"}
