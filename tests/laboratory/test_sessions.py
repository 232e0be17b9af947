"""Sessions in tasks (`eos exec`) and logs that are followed, on real engines with containers."""

import base64
import fcntl
import hashlib
import http.client
import json
import os
import pty
import re
import select
import signal
import ssl
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from estates import PROGRAM, Estate

pytestmark = pytest.mark.chain

# One that holds a secret, and one whose task is a program of its host.
ENTERED, PROGRAMMED = "entered", "programmed"
AS_USER = {"EOS_SALT_USER": "eos-user"}
RECIPE = """\
recipe: entered
summary: Tells the time, and is entered
version: "1"
risk: low
options:
  key:
    type: secret
    generate: 32
    help: What nobody may read in a record
services:
  entered:
    instances: one
    cpu: 50
    memory: 64
    image: tools/entered:1
    args: [-c, "while sleep 1; do test -e /local/quiet || echo tick $HOSTNAME; done"]
    secrets:
      KEY:
        file: key
        text: "{{ key }}"
"""


@pytest.fixture(scope="module", autouse=True)
def components(with_containers):
    estate = with_containers
    programs = ["sh", "sleep", "cat", "stty", "wc", "id", "tr", "rm"]
    estate.must("lab", "image", "tools/entered:1", *programs)
    estate.write_recipe("entered", RECIPE)
    estate.must("create", "entered", "--yes")
    estate.must("create", "hello", "--name", PROGRAMMED, "--replicas", "1", "--yes")
    yield
    for name in (ENTERED, PROGRAMMED):
        estate.must("delete", name, "--yes")


def plain(text: str) -> str:
    """Without the ends of lines, which depend on the width of a terminal."""
    return " ".join(text.split())


def instance(estate: Estate, component: str = ENTERED) -> str:
    [one] = estate.running(component)
    return one["ID"]


def secret(estate: Estate) -> str:
    return estate.must("read", ENTERED, "--reveal", "key").stdout.strip()


def recorded(estate: Estate) -> list[dict]:
    """What the control minion has written down of sessions."""
    [file] = estate.files("salt/**/eos/sessions.jsonl")
    assert file.stat().st_mode & 0o777 == 0o600
    return [json.loads(line) for line in file.read_text().splitlines()]


def audited(estate: Estate) -> list[dict]:
    """What Eos itself has written down of them, newest first."""
    return [one for one in estate.json("audit", "show", "--limit", "200")["entries"] if one["action"] == "enter"]


def session_tokens(estate: Estate) -> list[str]:
    return [one["Name"] for one in estate.nomad("/v1/acl/tokens") if one["Name"].startswith("eos session")]


def doors(estate: Estate) -> list[str]:
    """Places that sessions hold: a process of a door has one to its end."""
    held = []
    for file in estate.files("salt/**/eos/sessions/*.lock"):
        with open(file) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(file.name)
    return held


def nothing_is_left(estate: Estate) -> None:
    estate.wait_until(lambda: not doors(estate) and not session_tokens(estate), 10, "door and token are gone")


def act(estate: Estate, word: str, user: str | None = None, component: str = ENTERED, **facts: str) -> object:
    """What the control minion answers to somebody who asks for a door by Salt's API alone."""
    proof = hashlib.sha256(word.encode()).hexdigest()
    given = {"instance": instance(estate, component), "task": component, "proof": proof, **facts}
    keywords = {"kind": "workspace", "action": "enter", "environment": "production", "component": component}
    call = {"client": "local", "tgt": [estate.endpoints["control"]], "tgt_type": "list", "fun": "eos.act"}
    status, body = estate.salt([{**call, "kwarg": {**keywords, "facts": given}}], user)
    assert status == 200, body
    [answer] = json.loads(body)["return"][0].values()
    return answer


def knock(door: dict, word: str, path: str = "/session", command: list[str] | None = None) -> tuple[int, str]:
    """What the door answers: status and words."""
    context = ssl.create_default_context(cadata=door["certificate"])
    context.check_hostname = False
    connection = http.client.HTTPSConnection(door["address"], door["port"], context=context, timeout=20)
    asked = json.dumps({"command": command or ["id"], "terminal": False}).encode()
    headers = {
        "Authorization": f"Bearer {word}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Eos-Command": base64.b64encode(asked).decode(),
    }
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, "" if answer.status == 101 else answer.read().decode()
    finally:
        connection.close()


def test_a_command_runs_and_its_exit_code_is_that_of_eos(with_containers):
    ran = with_containers.eos("exec", ENTERED, "--", "sh", "-c", "echo said; echo cried >&2; exit 42")
    assert (ran.returncode, ran.stdout, ran.stderr) == (42, "said\n", "cried\n")
    assert with_containers.must("exec", ENTERED, "--", "sh", "-c", "exit 0").stdout == ""
    nothing_is_left(with_containers)


def test_standard_input_goes_to_the_command_and_ends_there(with_containers):
    text = "".join(f"line {number}\n" for number in range(40_000))
    # Counted, because Nomad may lose the end of a large output.
    ran = with_containers.eos("exec", ENTERED, "--", "wc", input=text)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.split() == ["40000", "80000", str(len(text))]
    few = "one\ntwo\n"
    assert with_containers.must("exec", ENTERED, "--", "cat", input=few).stdout == few


class Terminal:
    """A real terminal with `eos` in it."""

    def __init__(self, estate: Estate, *words: str):
        self.ours, theirs = pty.openpty()
        self.resize(40, 100)
        self.before = termios.tcgetattr(self.ours)
        command = [PROGRAM, "--estate", str(estate.root), *words]
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        self.process = subprocess.Popen(command, **streams, start_new_session=True)
        os.close(theirs)
        self.seen = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def sees(self, pattern: str, seconds: float = 40) -> None:
        ends = time.monotonic() + seconds
        while not re.search(pattern, self.seen):
            assert time.monotonic() < ends, f"no {pattern} in: {self.seen!r}"
            if select.select([self.ours], [], [], 0.2)[0]:
                self.seen += os.read(self.ours, 4096).decode(errors="replace")
        self.seen = self.seen[re.search(pattern, self.seen).end() :]


def test_a_terminal_has_a_shell_with_its_size_and_its_keys(with_containers):
    terminal = Terminal(with_containers, "exec", ENTERED)
    try:
        terminal.sees(r"[#$] $")
        terminal.type("stty size\r")
        terminal.sees(r"40 100\r\n")
        terminal.resize(50, 120)
        os.kill(terminal.process.pid, signal.SIGWINCH)
        time.sleep(1)
        terminal.type("stty size\r")
        terminal.sees(r"50 120\r\n")
        # Ctrl-C is the command's, and leaves the shell.
        terminal.type("sleep 100\r")
        time.sleep(1)
        terminal.type("\x03")
        terminal.type("echo still $((40 + 2))\r")
        terminal.sees(r"still 42\r\n")
        terminal.type("exit 7\r")
        assert terminal.process.wait(30) == 7
        assert termios.tcgetattr(terminal.ours)[:4] == terminal.before[:4], "the terminal is as it was"
    finally:
        terminal.process.kill()
        os.close(terminal.ours)
    assert audited(with_containers)[0]["detail"]["command"].startswith("sh -c ")
    nothing_is_left(with_containers)


def test_both_records_name_who_and_when_and_the_command_without_secrets(with_containers):
    estate = with_containers
    value = secret(estate)
    before = len(recorded(estate))
    ran = estate.must("exec", ENTERED, "--", "sh", "-c", f"echo {value}", env={"SUDO_USER": "ada"})
    assert ran.stdout == f"{value}\n"
    newest = audited(estate)[0]
    assert (newest["who"], newest["user"], newest["outcome"]) == ("ada", "eos-operator", "begun")
    assert newest["object"] == f"production/{ENTERED}"
    assert newest["detail"]["command"] == "sh -c 'echo ***'"
    assert newest["detail"]["instance"] == instance(estate)
    estate.wait_until(lambda: len(recorded(estate)) == before + 2, 10, "both lines are there")
    begun, ended = recorded(estate)[before:]
    assert (begun["what"], begun["user"], begun["command"]) == ("begun", "eos-operator", ["sh", "-c", "echo ***"])
    assert begun["when"].startswith("20") and begun["component"] == f"production/{ENTERED}"
    assert (ended["what"], ended["session"]) == ("ended", begun["session"])
    # Neither Salt's cache of jobs nor anything else of Salt's has the command.
    for file in [*estate.files("salt/master/**"), *estate.files("salt/minion/**")]:
        if file.is_file() and not file.is_symlink():
            assert value.encode() not in file.read_bytes(), file


def test_a_door_opens_once_and_to_its_caller_alone(with_containers):
    estate = with_containers
    word = os.urandom(32).hex()
    door = act(estate, word)
    assert set(door) == {"address", "port", "certificate"}, door
    assert session_tokens(estate), "there is a token while the door is open"
    # Whoever read the answer in Salt's cache, and the digest beside it, does not have the word.
    assert knock(door, hashlib.sha256(word.encode()).hexdigest())[0] == 403
    assert knock(door, "0" * 64)[0] == 403
    assert knock(door, word)[0] == 101
    with pytest.raises((ConnectionError, ssl.SSLError)):
        knock(door, word)
    nothing_is_left(estate)


def test_a_door_leads_to_one_instance(with_containers):
    estate = with_containers
    word, other = os.urandom(32).hex(), instance(estate, PROGRAMMED)
    door = act(estate, word)
    status, words = knock(door, word, f"/v1/client/allocation/{other}/exec?task={PROGRAMMED}&command=%5B%22id%22%5D")
    assert (status, words) == (400, "a door knows one request only")
    assert knock(door, word)[0] == 101
    nothing_is_left(estate)
    # Nor does the control minion open one to another component's instance.
    refused = act(estate, word, instance=other)
    assert "It is no instance of entered" in refused["error"]["words"], refused
    assert not session_tokens(estate)


def test_nobody_comes_and_the_door_closes(with_containers):
    estate = with_containers
    door = act(estate, os.urandom(32).hex())
    estate.wait_until(lambda: not doors(estate) and not session_tokens(estate), 75, "the door closed")
    with pytest.raises(ConnectionError):
        knock(door, "0" * 64)


def test_one_user_has_few_sessions_at_a_time(with_containers):
    estate = with_containers
    sessions = []
    # One after the other: the test is not about how many calls Salt answers at once.
    for number in range(1, 6):
        sessions.append(estate.start("exec", ENTERED, "--", "sleep", "300"))
        estate.wait_until(lambda number=number: len(doors(estate)) == number, 60, f"session {number}")
    refused = estate.eos("exec", ENTERED, "--", "id")
    assert refused.returncode == 1 and "5 sessions already" in plain(refused.stderr), refused.stderr
    for one in sessions:
        one.kill()
        one.wait()
    # Who leaves takes the session along.
    nothing_is_left(estate)


def test_what_is_refused_is_refused_with_its_reason(with_containers):
    estate = with_containers
    ran = estate.eos("exec", PROGRAMMED, "--", "id")
    assert ran.returncode == 1 and "a program of its host" in plain(ran.stderr) and "hint:" in plain(ran.stderr), (
        ran.stderr
    )
    newest = audited(estate)[0]
    assert (newest["outcome"], newest["detail"]["command"]) == ("refused", "id")
    ran = estate.eos("exec", ENTERED, "--json", "--", "id")
    assert ran.returncode == 2 and "--json" in plain(ran.stdout), ran.stdout
    ran = estate.eos("exec", ENTERED)
    assert ran.returncode == 2 and "COMMAND is missing" in plain(ran.stderr), ran.stderr
    ran = estate.eos("exec", ENTERED, "--instance", "0000", "--", "id")
    assert ran.returncode == 2 and instance(estate)[:8] in plain(ran.stderr), ran.stderr
    assert not session_tokens(estate) and not doors(estate)


def test_nomad_itself_refuses_a_program_of_a_host(with_containers):
    """The token of a session would not open one, if the control minion overlooked it."""
    rules = with_containers.nomad("/v1/acl/policy/eos-session")["Rules"]
    assert re.findall(r'"(alloc[a-z-]*)"', rules) == ["alloc-exec"]


def test_a_role_below_the_risk_enters_nothing(with_containers):
    estate = with_containers
    # An image that is not on the list counts as medium, whatever the recipe says.
    ran = estate.eos("exec", ENTERED, "--", "id", env=AS_USER)
    assert ran.returncode == 1 and "needs the role operator" in plain(ran.stderr), ran.stderr
    refused = act(estate, os.urandom(32).hex(), user="eos-user")
    assert "may not enter production/entered, which is of medium risk" in json.dumps(refused), refused
    assert not session_tokens(estate) and not doors(estate)


def test_a_session_ends_with_its_instance(with_containers):
    estate = with_containers
    ran = estate.start("exec", ENTERED, "--", "sleep", "300")
    estate.wait_until(lambda: doors(estate), 60, "the session is open")
    time.sleep(2)
    gone = instance(estate)
    estate.nomad(f"/v1/allocation/{gone}/stop?namespace=production", "POST", {})
    _, said = ran.communicate(timeout=60)
    assert ran.returncode == 1 and f"The session ended with its instance {gone[:8]}: it is stopped" in plain(said), said
    nothing_is_left(estate)
    estate.wait_until(lambda: len(estate.running(ENTERED)) == 1, 60, "another runs")


class Following:
    """`eos logs --follow` at work."""

    def __init__(self, estate: Estate, file: Path, *words: str):
        self.out, self.err = file.with_suffix(".out"), file.with_suffix(".err")
        command = [PROGRAM, "--estate", str(estate.root), "logs", "--follow", ENTERED, *words]
        with open(self.out, "w") as out, open(self.err, "w") as err:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def lines(self) -> list[str]:
        return self.out.read_text().splitlines()

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(10)


def test_a_log_is_followed_across_instances(with_containers, tmp_path):
    estate = with_containers
    first = instance(estate)
    text, program = Following(estate, tmp_path / "text", "-n", "2"), Following(estate, tmp_path / "json", "--json")
    estate.wait_until(lambda: len(text.lines()) > 4, 30, "lines come as they are written")
    assert all(line.startswith("tick ") for line in text.lines()), text.lines()
    estate.nomad(f"/v1/allocation/{first}/stop?namespace=production", "POST", {})
    estate.wait_until(lambda: "joins" in text.err.read_text(), 60, "the next instance joins")
    [second] = [one["ID"] for one in estate.running(ENTERED)]
    estate.wait_until(lambda: f"Instance {first[:8]}" in text.err.read_text(), 60, "the first is over")
    count = len(text.lines())
    estate.wait_until(lambda: len(text.lines()) > count + 2, 30, "the second is followed")
    assert text.end() == 130 and program.end() == 130
    told = [json.loads(line) for line in program.lines()]
    assert {one["event"] for one in told} == {"log", "instance"}
    assert {one["allocation"] for one in told if one["event"] == "log"} == {first, second}


def test_a_followed_log_has_no_secret_and_needs_the_role(with_containers, tmp_path):
    estate = with_containers
    value = secret(estate)
    following = Following(estate, tmp_path / "text", "-n", "1")
    estate.wait_until(lambda: following.lines(), 30, "it is followed")
    # Into the task's own standard output, in two pieces.
    half = f"printf 'key %s' {value[:9]} >/proc/1/fd/1; sleep 1; echo {value[9:]} end >/proc/1/fd/1"
    estate.must("exec", ENTERED, "--", "sh", "-c", f"echo >/local/quiet; sleep 2; {half}; rm /local/quiet")
    estate.wait_until(lambda: any(" end" in line for line in following.lines()), 30, "the line is there")
    assert following.end() == 130
    written = following.out.read_text()
    assert value not in written and value[:9] not in written and "***" in written, written
    ran = estate.eos("logs", "--follow", ENTERED, env=AS_USER)
    assert ran.returncode == 1 and "needs the role operator" in plain(ran.stderr), ran.stderr


def test_a_reader_that_has_enough_ends_it(with_containers):
    estate = with_containers
    command = f"{PROGRAM} --estate {estate.root} logs -f {ENTERED} | head -1"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert ran.stdout.startswith("tick ") and "error" not in plain(ran.stderr), ran


def test_a_stopped_component_has_nothing_to_enter(with_containers):
    estate = with_containers
    estate.must("stop", ENTERED, "--yes")
    ran = estate.eos("exec", ENTERED, "--", "id")
    assert ran.returncode == 1 and "Nothing of entered runs in production" in plain(ran.stderr), ran.stderr
    estate.must("start", ENTERED, "--yes")
    assert estate.eos("exec", ENTERED, "--", "id").returncode == 0
    nothing_is_left(estate)
