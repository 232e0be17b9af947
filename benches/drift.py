"""Measures `eos drift` of an estate of many components against as many runs of `terraform plan`, on a laboratory.

One component is real. The others are registered without running: their jobs ask for no instance, and their
workspaces are copies of the first one's, as if each had been applied. The bench measures some runs of Terraform and
extrapolates to all. A relay between Eos and each engine counts the requests.
"""

import argparse
import http.client
import json
import os
import shutil
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from table import Table

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
FEW = 10
PLANS = 20
# Of the time that as many runs of `terraform plan` take.
AGAINST_PLANS = 1 / 20
FIRST = "c0000"
# Whoever runs this may have no git configuration.
GIT_IDENTITY = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]


class Relay:
    """Passes requests on to an engine, and counts them."""

    def __init__(self, engine: dict):
        self.requests = 0
        place = urlsplit(engine["address"]).netloc
        trust = ssl.create_default_context(cafile=engine["certificate"])
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                relay.requests += 1
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length) if length else None
                connection = http.client.HTTPSConnection(place, timeout=60, context=trust)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "accept-encoding"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = do

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


class Estate:
    def __init__(self, program: Path, root: Path, full: bool):
        self.program, self.root, self.full = program, root, full
        self.lab = root / ".eos/lab"
        self.workspaces = self.lab / "terraform/workspaces/production"
        self.eos("init", str(root), estate=False)
        self.eos("lab", "up", *(["--full"] if full else []))
        self.endpoints = self.lab / "endpoints.json"
        self.places = json.loads(self.endpoints.read_text())
        self.token = (self.lab / "secrets/nomad-management-token").read_text().strip()

    def eos(self, *words: str, estate: bool = True, codes: tuple = (0,)) -> str:
        place = ["--estate", str(self.root)] if estate else []
        ran = subprocess.run([self.program, *place, *words], capture_output=True, text=True)
        if ran.returncode not in codes:
            sys.exit(f"error: `eos {' '.join(words)}` failed with exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def nomad(self, path: str, body: dict) -> dict:
        request = urllib.request.Request(
            self.places["nomad"]["address"] + path, json.dumps(body).encode(), {"X-Nomad-Token": self.token}
        )
        trust = ssl.create_default_context(cafile=self.places["nomad"]["certificate"])
        with urllib.request.urlopen(request, timeout=60, context=trust) as answer:
            return json.loads(answer.read())

    def git(self, *words: str) -> None:
        subprocess.run(["git", "-C", self.root, *GIT_IDENTITY, *words], check=True, capture_output=True)

    def grow(self, count: int) -> None:
        """As if so many components had been applied."""
        names = [f"c{number:04}" for number in range(count)]
        lines = ["#!yaml", "components:"]
        for name in names:
            lines += [f"  {name}:", "    recipe: hello", "    options:", "      replicas: 1"]
        (self.root / "pillar/infrastructure/production.sls").write_text("\n".join(lines) + "\n")
        release = json.loads(self.eos("compile", "--json"))["release"]
        self.git("add", "-A")
        self.git("commit", "-qm", f"{count} components")
        self.deliver(release)
        slices = json.loads((self.root / "pillar/hosts/control.sls").read_text().split("\n", 1)[1])["eos"]["workspaces"]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: self.clone(name, slices[f"production/{name}"]), names[1:]))
        with sqlite3.connect(self.root / ".eos/store.db") as store:
            [operation] = store.execute("SELECT operation FROM applied LIMIT 1").fetchone()
            for name in names:
                row = ("production", name, slices[f"production/{name}"]["digest"], "[]", operation)
                columns = "(environment, component, digest, nodes, operation)"
                store.execute(f"INSERT OR REPLACE INTO applied {columns} VALUES (?, ?, ?, ?, ?)", row)

    def deliver(self, release: str) -> None:
        place = self.lab / "srv/releases" / release
        if not place.exists():
            for folder in ("salt", "pillar/hosts", "pillar/credentials"):
                shutil.copytree(self.root / folder, place / folder)
            shutil.copy(self.root / "pillar/top.sls", place / "pillar/top.sls")
            shutil.copytree(self.root / "terraform", place / "files/terraform")
            (place / "salt/release").write_text(release + "\n")
        link = self.lab / "srv/current.new"
        link.symlink_to(f"releases/{release}")
        link.replace(self.lab / "srv/current")

    def clone(self, name: str, facts: dict) -> None:
        """A workspace as if it had been applied, and a job without instances."""
        place = self.workspaces / name
        if place.exists():
            return
        for path in facts["files"]:
            file = place / "tree" / path.removeprefix("terraform/")
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / path, file)
        first = self.workspaces / FIRST
        configuration = {**json.loads((first / "tree/configuration.json").read_text()), "slice": facts}
        (place / "tree/configuration.json").write_text(json.dumps(configuration))
        index = self.register(name, facts)
        text = (first / "state/terraform.tfstate").read_text().replace(FIRST, name)
        state = json.loads(text)
        for resource in state["resources"]:
            for instance in resource["instances"]:
                if resource["type"] == "nomad_job":
                    instance["attributes"]["modify_index"] = str(index)
        (place / "state").mkdir()
        (place / "state/terraform.tfstate").write_text(json.dumps(state))
        applied = json.loads((first / "applied.json").read_text())
        # What was recorded of the first one's attributes is not true of this one's.
        applied.pop("attributes", None)
        (place / "applied.json").write_text(json.dumps({**applied, "digest": facts["digest"]}))

    def register(self, name: str, facts: dict) -> int:
        module = next(path for path in facts["files"] if path.endswith(".nomad.hcl"))
        values = json.loads((self.root / f"terraform/environments/production/{name}/terraform.tfvars.json").read_text())
        lines = [f"{key} = {json.dumps(value).replace('${', '$${')}" for key, value in values.items()]
        source = {"JobHCL": (self.root / module).read_text(), "Variables": "\n".join(lines), "Canonicalize": True}
        job = self.nomad("/v1/jobs/parse", source)
        for group in job["TaskGroups"]:
            group["Count"] = 0
        return self.nomad("/v1/jobs?namespace=production", {"Job": job})["JobModifyIndex"]

    def drift(self) -> tuple[float, dict, dict[str, int]]:
        """Seconds, the answer, and how many requests each engine got."""
        engines = [name for name in ("nomad", "consul") if name in self.places]
        relays = {name: Relay(self.places[name]) for name in engines}
        counted = {**self.places, **{name: {**self.places[name], "address": relays[name].address} for name in engines}}
        self.endpoints.write_text(json.dumps(counted))
        self.eos("drift", "--json", codes=(0, 3))
        self.endpoints.write_text(json.dumps(self.places))
        begun = time.monotonic()
        answer = json.loads(self.eos("drift", "--json", codes=(0, 3)))
        seconds = time.monotonic() - begun
        return seconds, answer, {name: relay.requests for name, relay in relays.items()}

    def plan(self, name: str) -> float:
        """Seconds of one `terraform plan` of a workspace, without its `init`."""
        place = self.workspaces / name
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "TF_CLI_CONFIG_FILE": str(self.lab / "terraform/cli.tfrc"),
            "TF_DATA_DIR": str(place / "data"),
            "TF_VAR_node_ids": "{}",
            "TF_IN_AUTOMATION": "1",
            "NOMAD_ADDR": self.places["nomad"]["address"],
            "NOMAD_CACERT": self.places["nomad"]["certificate"],
            "NOMAD_TOKEN": self.token,
        }
        terraform = json.loads((self.lab / "lab.json").read_text())["engines"]["terraform"]["path"]

        def run(*words: str) -> None:
            ran = subprocess.run(
                [terraform, *words],
                cwd=place / "tree/environments/production" / name,
                env=environment,
                capture_output=True,
                text=True,
            )
            if ran.returncode:
                sys.exit(f"error: terraform {words[0]} of {name} failed\n{ran.stdout}{ran.stderr}")

        run("init", "-input=false", f"-backend-config=path={place}/state/terraform.tfstate", "-reconfigure")
        begun = time.monotonic()
        run("plan", "-input=false", "-lock=false")
        return time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--components", type=int, default=1000)
    parser.add_argument("--program", type=Path, default=TARGET / "release/eos")
    options = parser.parse_args()
    started = time.monotonic()
    table = Table()
    with tempfile.TemporaryDirectory(prefix="eos-drift-") as directory:
        estate = Estate(options.program, Path(directory) / "estate", full=False)
        try:
            estate.eos("create", "hello", "--name", FIRST, "--replicas", "1", "--yes")
            estate.grow(FEW)
            _, few, requests_of_few = estate.drift()
            estate.grow(options.components)
            seconds, many, requests = estate.drift()
            for answer, count in ((few, FEW), (many, options.components)):
                if not answer["in_step"] or answer["looked_at"] < count:
                    sys.exit(f"error: an estate as it was applied is not in step: {str(answer)[:2000]}")
            plans = [estate.plan(f"c{number:04}") for number in range(1, PLANS + 1)]
        finally:
            estate.eos("lab", "down")
    mean = sum(plans) / len(plans)
    table.tell(f"`terraform plan` of one workspace, mean of {PLANS}", mean, "s")
    table.tell(f"{options.components} of them, extrapolated", mean * options.components, "s")
    bound = mean * options.components * AGAINST_PLANS
    table.hold(f"`eos drift` of {options.components} components", seconds, bound, "s")
    for engine, count in requests.items():
        figure = f"requests to {engine} for {options.components}, bound: those for {FEW}"
        table.hold(figure, count, requests_of_few[engine], "")
    return table.close(time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())
