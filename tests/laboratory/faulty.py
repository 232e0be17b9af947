"""The component `faulty`, which fails on request, and how a test reads its failure."""

import json
import subprocess
import sys
import time
from pathlib import Path

from estates import Estate, get

# Serves a directory, the health of which is a file in it. Its volume is that directory; it fails in the ways it is told.
SERVER = """\
import base64, http.server, os, sys, urllib.parse
listen, root, mode = sys.argv[1:]
password, note = os.environ['PASSWORD'], os.path.join(root, 'password-before')
print('the password is', password, file=sys.stderr)
if os.path.exists(note):
    print('before it was', open(note).read(), file=sys.stderr)
if mode == 'crash':
    print('no such database', file=sys.stderr)
    sys.exit(3)
forms = [password, urllib.parse.quote(password, safe=''), base64.b64encode(b'me:' + password.encode()).decode()]
open(note, 'w').write(' '.join(forms))
port = int(os.environ['NOMAD_PORT_http'])
os.chdir(root)
http.server.SimpleHTTPRequestHandler.log_message = lambda *words: None
http.server.ThreadingHTTPServer((listen, port), http.server.SimpleHTTPRequestHandler).serve_forever()
"""

FAULTY = f"""\
recipe: faulty
summary: Serves a directory, or fails as it is told
version: "1"
options:
  data_path: {{type: path, default: /opt/faulty/data, help: Where the volume is}}
  root: {{type: string, help: The directory to serve}}
  mode: {{type: string, default: serve, help: serve or crash}}
  health: {{type: string, default: /health, help: Path of its check}}
  password: {{type: secret, generate: 24, help: What it says at its start}}
needs:
  data: {{volume: {{purpose: application, size: 1GiB, path: "{{{{ data_path }}}}"}}}}
services:
  faulty:
    instances: one
    cpu: 50
    memory: 64
    program: [{sys.executable}, -u, -c, {json.dumps(SERVER)}, "{{{{ listen_address }}}}", "{{{{ root }}}}", "{{{{ mode }}}}"]
    secrets: {{PASSWORD: password}}
    ports: {{http: {{}}}}
    check: {{http: "{{{{ health }}}}"}}
"""

ABSENT = """\
recipe: absent
summary: Names a program that is not there
version: "1"
services:
  absent:
    replicas: 1
    cpu: 50
    memory: 64
    program: [/no/such/program]
"""

UNPULLED = """\
recipe: unpulled
summary: Names an image that nobody has
version: "1"
services:
  unpulled:
    replicas: 1
    cpu: 50
    memory: 64
    image: 127.0.0.1:9/nobody/has-it:1
"""

NOTE = "written before the update"


def with_recipes(estate: Estate) -> Estate:
    for name, text in (("faulty", FAULTY), ("absent", ABSENT), ("unpulled", UNPULLED)):
        estate.write_recipe(name, text)
    return estate


def volume(estate: Estate) -> Path:
    return estate.lab / "volumes/opt/faulty/data"


def serve(estate: Estate):
    # Made before its step makes it, so that the file of its health is there when it is first asked for.
    volume(estate).mkdir(parents=True, exist_ok=True)
    (volume(estate) / "health").write_text("well")
    adopt(estate, "production/faulty/data", volume(estate))
    estate.must("create", "faulty", "--root", str(volume(estate)), "--yes")
    (volume(estate) / "note").write_text(NOTE)


def adopt(estate: Estate, name: str, path: Path):
    """Root of the host hands Eos a directory with what is in it."""
    salt = Path(json.loads((estate.lab / "lab.json").read_text())["engines"]["salt"]["path"])
    command = [salt / "salt-call", "--local", "-c", estate.lab / "salt/minion/etc", "eos_volumes.adopt", name, path]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def remove(estate: Estate, component: str):
    known = [row["component"] for row in estate.json("list")["components"]]
    if component in known:
        estate.must("delete", component, "--yes")
    assert f"production/{component}" not in estate.jobs()


def still_serves(estate: Estate, before: list[str] | None = None):
    """One healthy instance of the old version; the very one where `before` names it."""
    estate.wait_until(lambda: len(estate.running("faulty")) == 1, 30, "one instance runs")
    if before is not None:
        assert [one["ID"] for one in estate.running("faulty")] == before
    (service,) = estate.nomad("/v1/service/faulty?namespace=production")
    url = f"http://{service['Address']}:{service['Port']}/note"
    assert get(url) == (200, NOTE)
    assert (volume(estate) / "note").read_text() == NOTE


def ids(estate: Estate) -> list[str]:
    return [one["ID"] for one in estate.running("faulty")]


def failure(estate: Estate, *words: str, within: float, input: str = "") -> dict:
    """The error of a command that fails in time, as a program sees it."""
    begun = time.monotonic()
    ran = estate.eos(*words, "--yes", "--json", input=input)
    took = time.monotonic() - begun
    assert ran.returncode == 1, f"{ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    (error,) = [event for event in events if event["event"] == "error"]
    assert took < within, f"{took:.0f} s until: {error['message']}"
    assert error["hint"], error
    print(f"\n{took:.0f} s: {' '.join(words)}\n{json.dumps(error, indent=1)}")
    return error


def said(error: dict, by: str) -> str:
    """What somebody, named by the beginning, said of the failure."""
    found = [one["lines"] for one in error.get("lines", []) if one["from"].startswith(by)]
    assert found, f"nothing from {by!r} in {error}"
    return "\n".join(line for lines in found for line in lines)
