"""A Docker engine of the tests' own, from Debian's packages, and a stand-in image packed from the eos program."""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path


def missing() -> str | None:
    """Why no engine can be started here, or nothing if one can."""
    if os.geteuid() != 0:
        return "a Docker engine needs root"
    if shutil.which("dockerd") and shutil.which("ip"):
        return None
    if not shutil.which("apt-get"):
        return "no dockerd, and no apt-get to install it"
    install = "apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io iptables iproute2"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    ran = subprocess.run(["sh", "-c", install], env=environment, capture_output=True, text=True)
    return None if ran.returncode == 0 else f"docker.io could not be installed: {ran.stderr.strip()[-200:]}"


class DockerEngine:
    """Started in its own directory, on its own socket; stopped by `stop`."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.socket = directory / "docker.sock"
        self.host = f"unix://{self.socket}"
        self.forwarding = Path("/proc/sys/net/ipv4/ip_forward")
        self.forwarded_before = self.forwarding.read_text()
        # Whoever turns forwarding on decides its policy; dockerd would drop everything else.
        self.forwarding.write_text("1")
        # A bridge of its own, so that two runs on one machine do not end each other's.
        self.bridge = f"eos{os.getpid()}"
        subprocess.run(["ip", "link", "add", "name", self.bridge, "type", "bridge"], check=True)
        subprocess.run(["ip", "addr", "add", f"172.31.{os.getpid() % 250}.1/24", "dev", self.bridge], check=True)
        subprocess.run(["ip", "link", "set", self.bridge, "up"], check=True)
        (directory / "daemon.json").write_text(json.dumps({"registry-mirrors": []}))
        self.process = subprocess.Popen(
            [
                "dockerd",
                "--config-file",
                directory / "daemon.json",
                "--data-root",
                directory / "data",
                "--exec-root",
                directory / "exec",
                "--pidfile",
                directory / "dockerd.pid",
                "-H",
                self.host,
                "--bridge",
                self.bridge,
            ],
            stdout=(directory / "dockerd.log").open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        ends = time.monotonic() + 60
        while self.docker("version", check=False).returncode:
            assert self.process.poll() is None and time.monotonic() < ends, (directory / "dockerd.log").read_text()[
                -2000:
            ]
            time.sleep(0.2)

    def docker(self, *words, check: bool = True, **options):
        return subprocess.run(["docker", "-H", self.host, *words], capture_output=True, check=check, **options)

    def pack(self, name: str, program: str, entrypoint: list[str], user: str):
        """An image that holds one program and the libraries it names, and nothing else."""
        root = self.directory / "image"
        for path in [
            program,
            *re.findall(r"(/[^ ]+) \(", subprocess.run(["ldd", program], capture_output=True, text=True).stdout),
        ]:
            target = root / ("eos" if path == program else path.lstrip("/"))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        (root / "tmp").mkdir(mode=0o1777, exist_ok=True)
        archive = subprocess.run(["tar", "-C", root, "-c", "."], check=True, capture_output=True).stdout
        changes = ["-c", f"ENTRYPOINT {json.dumps(entrypoint)}", "-c", f"USER {user}"]
        self.docker("import", *changes, "-", name, input=archive)

    def stop(self):
        found = self.docker("ps", "-aq", check=False).stdout.decode().split()
        if found:
            self.docker("rm", "-f", *found, check=False)
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        subprocess.run(["ip", "link", "del", self.bridge], capture_output=True)
        self.forwarding.write_text(self.forwarded_before)
