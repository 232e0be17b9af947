"""Another user of the machine: listens where an engine should, or starts agents of its own. Shares no code with Eos."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from estates import Estate

# Nobody's number on Debian. Without root, a stranger is whoever runs the tests.
NOBODY = 65534
# The tests' own one may lie where a stranger cannot go.
PYTHON = "/usr/bin/python3"
# Longer than an agent takes to become a member where it is let in.
PATIENCE = 15

# Keeps every byte that is sent to it: as it comes, or out of TLS with a certificate of its own.
SQUATTER = """
import socket, ssl, sys, threading
port, kept, certificate, key = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)

def serve(connection):
    with connection:
        connection.settimeout(5)
        try:
            if connection.recv(1, socket.MSG_PEEK) == b"\\x16":
                connection = context.wrap_socket(connection, server_side=True)
            text = connection.recv(65536)
            connection.sendall(b"HTTP/1.1 500 No\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
        except OSError as error:
            text = repr(error).encode()
        with open(kept, "ab") as file:
            file.write(text + b"\\n")

listener = socket.create_server(("127.0.0.1", port))
print("listening", flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


class Stranger:
    """What one stranger has: a directory, and the processes that it started."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.processes: list[subprocess.Popen] = []

    def start(self, name: str, *command: str) -> Path:
        """Starts a program; answers its log."""
        log = self.directory / f"{name}.log"
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        with open(log, "w") as output:
            environment = {"PATH": os.environ["PATH"], "HOME": str(self.directory)}
            self.processes.append(
                subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, **other)
            )
        return log

    def all_run(self) -> bool:
        """Whether nothing of it ended by itself: an agent that does not start proves nothing."""
        return all(process.poll() is None for process in self.processes)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes.clear()

    def certificate(self, name: str) -> tuple[Path, Path]:
        """A certificate of the stranger's own for this name, and its key."""
        certificate, key = self.directory / f"{name}.pem", self.directory / f"{name}-key.pem"
        if not certificate.exists():
            words = [
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
            ]
            words += ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name},DNS:localhost,IP:127.0.0.1"]
            command = ["openssl", *words, "-keyout", str(key), "-out", str(certificate)]
            subprocess.run(command, check=True, capture_output=True)
            key.chmod(0o644)
        return certificate, key

    def squat(self, port: int) -> Path:
        """Listens on a port; answers the file of all that it is sent."""
        kept = self.directory / f"kept-{port}"
        files = map(str, self.certificate("squatter"))
        log = self.start(f"squatter-{port}", PYTHON, "-c", SQUATTER, str(port), str(kept), *files)
        wait_until(lambda: "listening" in log.read_text(), 20, f"the squatter on {port}: {log.read_text()}")
        return kept

    def agent(self, program: Path, name: str, settings: dict) -> Path:
        """Starts an agent of an engine with these settings."""
        own = self.directory / program.name
        if not own.exists():
            shutil.copy(program, own)
            own.chmod(0o755)
        file = self.directory / f"{name}.json"
        file.write_text(json.dumps(settings))
        option = {"nomad": "-config", "consul": "-config-file"}[program.name]
        return self.start(name, str(own), "agent", option, str(file))

    def data(self, name: str) -> str:
        """A directory that an agent of this name may write to."""
        directory = self.directory / f"{name}-data"
        directory.mkdir()
        directory.chmod(0o777)
        return str(directory)


@contextmanager
def stranger():
    directory = Path(tempfile.mkdtemp(prefix="stranger-", dir="/tmp"))
    directory.chmod(0o777)
    made = Stranger(directory)
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(directory, ignore_errors=True)


def choices(estate: Estate) -> dict:
    return json.loads((estate.lab / "lab.json").read_text())


def secrets(estate: Estate) -> dict[str, str]:
    """Each secret of the lab, and each value in a secret file of JSON, by the file's name."""
    found = {}
    for path in (estate.lab / "secrets").iterdir():
        text = path.read_text().strip()
        values = json.loads(text) if path.suffix == ".json" else {"": text}
        for key, value in values.items():
            for one in value if isinstance(value, list) else [value]:
                found[f"{path.name} {key}"] = one
    return found


def unpinned():
    """Trusts whoever answers."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def wait_until(true, seconds: float, what: str) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, f"not within {seconds} s: {what}"
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def given_away(estate: Estate, kept: list[Path]) -> list[str]:
    """Names of secrets that the squatters were sent."""
    text = b"".join(path.read_bytes() for path in kept if path.exists()).decode(errors="replace")
    return [name for name, value in secrets(estate).items() if value in text]


def squat(estate: Estate, ports: list[int]) -> None:
    """The lab is down, and a stranger has the ports: it asks for nothing, and is told nothing."""
    estate.must("lab", "down")
    try:
        with stranger() as who:
            kept = [who.squat(port) for port in ports]
            estate.eos("status")
            up = estate.eos("lab", "up")
            assert up.returncode != 0 and "uses port" in up.stderr, up.stderr
            # Salt's minion speaks to the engines as soon as it runs.
            assert not [line for line in estate.processes() if "salt-minion" in line]
            assert any(path.exists() for path in kept), "nobody spoke to the squatter"
            assert given_away(estate, kept) == []
    finally:
        estate.must("lab", "up")
    estate.must("status")


def copied(who: Stranger, estate: Estate, name: str) -> Path:
    """A file of the lab's certificates, as if it had been stolen."""
    copy = who.directory / f"stolen-{name}"
    copy.write_bytes((estate.lab / "tls" / name).read_bytes())
    copy.chmod(0o644)
    return copy


def never(what: str, found) -> None:
    """Looks again and again for as long as an agent takes to become a member."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        there = found()
        assert not there, f"{what}: {there}"
        time.sleep(0.5)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
