"""The component `safe`: all that an operation of a component can touch, and whether it is as it was."""

import subprocess

import witness
from estates import Estate

# A secret, a volume and a page: all that an operation of a component can touch.
SAFE = """\
recipe: safe
summary: Has a secret and a volume
version: "1"
options:
  greeting: {type: string, default: Hello, help: First line of the page}
  password: {type: secret, generate: 24, help: What a reader must know}
needs:
  data: {volume: {purpose: application, size: 1GiB, path: "/opt/{{ instance }}/data"}}
services:
  safe:
    replicas: 1
    cpu: 50
    memory: 64
    program: [eos, serve-hello, --listen, "{{ listen_address }}"]
    env: {EOS_HELLO_GREETING: "{{ greeting }}"}
    secrets: {SAFE_PASSWORD: {file: password}}
    ports: {http: {}}
    check: {http: /health}
"""

OLD, NEW = "the old greeting", "the new greeting"


def data(estate: Estate):
    return estate.lab / "volumes/opt/safe/data"


def clear(estate: Estate):
    if witness.pillar(estate, "safe"):
        estate.must("delete", "safe", "--yes")
    witness.nothing(estate, "safe")
    subprocess.run(["rm", "-rf", estate.lab / "volumes/opt/safe"], check=True)


class Made:
    """The component with the old greeting and a file of data; what it must still be after a way back."""

    def __init__(self, estate: Estate):
        if not witness.pillar(estate, "safe"):
            estate.must("create", "safe", "--greeting", OLD, "--yes")
        elif OLD not in witness.pillar(estate, "safe"):
            estate.must("update", "safe", "--greeting", OLD, "--yes")
        (data(estate) / "file").write_text("data")
        self.estate, self.pillar = estate, witness.pillar(estate, "safe")
        self.secret = witness.secret(estate, "safe")
        self.release = witness.served_release(estate, "safe")
        assert self.secret and self.release

    def is_as_before(self):
        witness.serves(self.estate, "safe", OLD)
        assert witness.pillar(self.estate, "safe") == self.pillar
        assert witness.secret(self.estate, "safe") == self.secret
        assert witness.served_release(self.estate, "safe") == self.release

    def data_is_there(self):
        assert (data(self.estate) / "file").read_text() == "data"


def newest(estate: Estate) -> dict:
    """The newest operation of it."""
    return witness.operations(estate, "safe")[0]
