"""Hostile requests in number: every key that Salt's clients know and random ones, for every function and role.

They come over the API and at the master's port, with right credentials, wrong ones and none. The test reads disk, users
and /proc before and after, and the event bus meanwhile, with code that Eos and its formula do not share.
"""

from __future__ import annotations

import collections
import concurrent.futures
import datetime
import hashlib
import inspect
import itertools
import os
import pathlib
import random
import re
import stat
import string
import subprocess
import time
import urllib.error

import pytest

from laboratory import MINION, ROLES, password, readme_block, wait_until
from test_requests import keys_read, raw

# Every run tries what keeps API users from being root.
pytestmark = pytest.mark.always

FULL = os.environ.get("EOS_TEST_FULL") == "1"
SEED = int(os.environ.get("EOS_TEST_SEED", "0"))
SAMPLE = 400
NODE = "node1"
# Whom a request is for.
TARGETS = (MINION, NODE, "*", "no-such-minion")
# What Eos sends itself, and what Salt's client keeps for itself.
OF_EOS = {"client", "tgt", "tgt_type", "fun", "arg", "kwarg", "timeout", "gather_job_timeout", "full_return"}
OF_SALT = {"self", "kwargs", "token", "eauth", "username", "password", "listen"}
# Below the laboratory's directory: what changes by itself, or with every request, whoever's.
BY_ITSELF = (
    "log/",
    "nomad/",
    "master/sock/",
    "master/tokens/",
    "master/queues/",
    "master/cache/jobs/",
    "master/cache/proc/",
    "master/cache/saltapi/",
    "master/cache/tokens/",
    "master/cache/.root_key",
    "master/cache/roots/",
    "master/cache/file_lists/",
    *(
        f"{minion}/{below}"
        for minion in ("minion", NODE)
        for below in (
            "sock/",
            "cache/proc/",
            "cache/module_refresh",
            "cache/extmods_cache",
            "cache/files/",
            "cache/file_lists/",
            "cache/accumulator/",
        )
    ),
)
OF_THE_MACHINE = (
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/sudoers",
    "/etc/crontab",
    "/root/.ssh/authorized_keys",
)


def functions() -> list[str]:
    """All that the documented permissions name."""
    *_, allowed = re.findall(r"'\((eos.*?)\)\\Z'", readme_block("external_auth"))
    eos, names, rest = re.fullmatch(r"(eos)\\\.\(([a-z_|]+)\)\|(.*)", allowed).groups()
    return [f"{eos}.{name}" for name in names.split("|")] + rest.replace("\\", "").split("|")


def known_keys() -> list[str]:
    """Of every function of Salt's client by which something is published, of its master and its minions."""
    import salt.client
    import salt.master
    import salt.minion

    client, master, minion = salt.client.LocalClient, salt.master.ClearFuncs, salt.minion.Minion
    named = {
        parameter
        for name, function in inspect.getmembers(client, inspect.isfunction)
        if not name.startswith("__") and {"tgt", "jid"} & set(inspect.signature(function).parameters)
        for parameter in inspect.signature(function).parameters
    }
    named |= keys_read([master.publish, master._prep_jid, master._prep_pub], {"clear_load", "extra", "load"})
    named |= keys_read([minion._handle_decoded_payload_impl, minion._thread_return], {"data"})
    return sorted(named - OF_EOS - OF_SALT)


class Hostile:
    """Values that do harm where somebody acts on them: below `guarded`, where it would be seen."""

    def __init__(self, chance: random.Random, guarded: pathlib.Path):
        self.chance = chance
        file, new = str(guarded / "precious"), str(guarded / "proof")
        self.of_key = {
            "ret": ["rawfile_json", "highstate", "local_cache", "syslog", "rawfile_json,highstate", "multi_returner"],
            "ret_kwargs": [
                {"filename": file},
                {"filename": new},
                {"file_output": new, "success_function": "test.ping"},
            ],
            "ret_config": ["x", file],
            "jid": [
                *(file, new, f"../../../../../../../..{file}", "20261115181307310548", "req"),
                *("x/publish\n\n\x00", "../../x", "20261115181307310548/ret/node1", "\r\n", b"x\n\n".hex()),
            ],
            "token": [file[:-2], f"{'../' * 12}{guarded}/forged", f"{'../' * 12}{guarded}/broken", "", ".", "0" * 64],
            "key": ["", "0" * 64, file, None, [file]],
            "user": ["root", "sudo_root", "salt", f"x\n{file}"],
            "auth_list": [["@runner"], [".*"], [{"*": [".*"]}]],
            "module_executors": [["splay", "direct_call"], ["sudo"], "splay", [file]],
            "executor_opts": [{"splaytime": 3600}],
            "metadata": [{"x": f"$(touch {new})"}, {"x": "\n* * * * * root touch " + new}],
        }
        self.of_any = [
            file,
            new,
            {"filename": new},
            [file],
            {"a": {"b": [file]}},
            True,
            2**63,
            -1,
            "",
            "\n",
            [],
            {},
            None,
        ]

    def value(self, key: str) -> object:
        return self.chance.choice(self.of_key.get(key, self.of_any) if self.chance.random() < 0.8 else self.of_any)

    def key(self) -> str:
        return "".join(self.chance.choices(string.ascii_letters + "_-.", k=self.chance.randint(1, 20)))


# Over the API with a token; at the master's port with a token, or with credentials that are none.
DOORS = ("api", "port", "stranger")
# Every request that is published leaves these, and refused ones none. A login leaves nothing.
OF_A_JOB = re.compile(r"salt/job/[0-9]{20}/(new|publish|ret/[^/]+)|[0-9]{20}")
# What master and minion fire by themselves.
OF_THEMSELVES = re.compile(r"salt/(auth|presence/.*|stats/.*|minion/.*)|minion_ping|eos/drift|eos/storage/full")


def cases(hostile: Hostile) -> list[tuple[str, str, str, dict]]:
    """Door, role, function, and what the request carries beside: all known keys with all of those, or a sample."""
    keys = known_keys()
    assert {"ret", "ret_kwargs", "ret_config", "jid", "module_executors", "executor_opts", "metadata"} < set(keys), keys
    every = list(itertools.product(DOORS, ROLES, functions(), [*keys, None]))
    assert len(every) > 3000, len(every)
    hostile.chance.shuffle(every)
    made = []
    for door, user, function, key in every if FULL else every[:SAMPLE]:
        carried = {key or hostile.key(): hostile.value(key or "")}
        for _ in range(hostile.chance.randint(0, 2)):
            more = hostile.chance.choice(keys)
            carried[more] = hostile.value(more)
        # An empty job id or returner is what Salt's client sends itself; the master takes out `auth_list`, and stumbles
        # over one that has a value.
        if any(carried.values()) or not {"ret", "jid", "auth_list"} & carried.keys():
            made.append((door, user, function, carried))
    return made


def tree(root: pathlib.Path, without: tuple[str, ...] = ()) -> dict[str, tuple]:
    """Kind, mode, owner and content of all that is below."""
    seen = {}
    for path in [root, *root.rglob("*")]:
        name = str(path.relative_to(root))
        if f"{name}/".startswith(without) or (without and "/log/" in name):
            continue
        facts = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(facts.st_mode) else None
        seen[name] = (stat.filemode(facts.st_mode), facts.st_uid, facts.st_gid, content)
    return seen


def processes(directory: pathlib.Path) -> collections.Counter:
    """Those of the laboratory, by command line."""
    found = collections.Counter()
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(directory) in words and "at_the_masters_port" not in words:
            found[words] += 1
    return found


def everything(lab, guarded: pathlib.Path) -> dict:
    files = [pathlib.Path(name) for name in OF_THE_MACHINE]
    return {
        "guarded": tree(guarded),
        "laboratory": tree(lab.directory, BY_ITSELF),
        "machine": {str(file): tree(file) for file in files if file.exists()},
        "users": subprocess.run(["getent", "passwd"], capture_output=True, check=True).stdout,
        "nomad": (sorted(lab.nomad.token_names()), lab.nomad.call("GET", "/v1/jobs?namespace=*")),
    }


def differences(before: dict, after: dict) -> list:
    found = []
    for part, was in before.items():
        now = after[part]
        if was != now and isinstance(was, dict):
            found += [
                (part, key, was.get(key), now.get(key))
                for key in was.keys() | now.keys()
                if was.get(key) != now.get(key)
            ]
        elif was != now:
            found.append((part, was, now))
    return found


@pytest.fixture
def guarded(tmp_path, salt_python):
    """Files that somebody who reaches through to them would change, empty or take away."""
    import salt.payload

    (tmp_path / "precious").write_text("precious\n")
    (tmp_path / "precious").chmod(0o600)
    (tmp_path / "directory").mkdir(mode=0o700)
    (tmp_path / "directory/inside").write_text("inside\n")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    # A token that Salt would believe, and one that it would remove.
    told = {"start": 0, "expire": time.time() + 9999, "name": "eos-architect", "eauth": "file", "token": "x"}
    (tmp_path / "forged.p").write_bytes(salt.payload.dumps(told))
    (tmp_path / "broken.p").write_text("broken\n")
    return tmp_path


@pytest.fixture(scope="module")
def with_node(laboratory):
    """The laboratory with a second minion: nobody reaches that one either."""
    with laboratory.salt.node(NODE):
        yield laboratory


def idle(lab) -> None:
    """Waits until no minion works on anything: a process that was parked would keep its job there."""
    at_work = lambda: [*(lab.salt.cache / "proc").iterdir(), *(lab.directory / NODE / "cache/proc").iterdir()]  # noqa: E731
    wait_until("no job at work", lambda: not at_work(), 60)


def is_published(answer: object) -> bool:
    """Whether an answer of the API or the master names a job, or has one of a minion."""
    return isinstance(answer, dict) and (bool(answer.get("jid")) or MINION in answer or NODE in answer)


def target_of(function: str, carried: dict) -> str:
    """Another one for each request, and the same again for the same seed."""
    return TARGETS[(len(function) + sum(map(len, carried))) % len(TARGETS)]


def over_the_api(lab, tokens: dict[str, str], user: str, function: str, carried: dict) -> str | None:
    low = {
        "client": "local_async" if len(function) % 2 else "local",
        "tgt": target_of(function, carried),
        "fun": function,
        "timeout": 5,
        **carried,
    }
    try:
        answer = lab.salt.post("/", [low], token=tokens[user])["return"][0]
    except urllib.error.HTTPError as refusal:
        return None if 400 <= refusal.code <= 500 else f"{refusal.code} to {low}"
    return f"{answer} to {low}" if is_published(answer) else None


def at_the_port(lab, masters: dict[str, str], made: list) -> list[str]:
    requests = []
    for number, (user, function, carried) in enumerate(made):
        # A key may stand beside the others, where the client has its own, or among what it passes on. Beside the
        # others the client has a user and a key itself, of which the master takes neither.
        mixed = {key: (number + len(key)) % 2 and key not in ("user", "key") for key in carried}
        beside = {key: value for key, value in carried.items() if mixed[key] or key in ("ret", "jid")}
        passed_on = {key: value for key, value in carried.items() if key not in beside}
        request = raw(masters[user], fun=function, tgt=target_of(function, carried), kwargs=passed_on)
        requests.append({**request, **beside})
    return said_to(lab, requests)


def said_to(lab, requests: list[dict]) -> list[str]:
    """What the master did for these: an error, or nothing at all, is a refusal."""
    answers = lab.salt.publish(requests)
    return [
        f"{answer} to {request}"
        for request, answer in zip(requests, answers, strict=True)
        if isinstance(answer, dict) and answer and "error" not in answer
    ]


def as_a_stranger(lab, hostile: Hostile, made: list) -> list[str]:
    """With a token, a password or a key that is none, or with nothing, by every command that the port takes."""
    requests = []
    for number, (user, function, carried) in enumerate(made):
        shown = [
            {"token": hostile.value("token")},
            {"eauth": "file", "username": user, "password": hostile.value("")},
            {"eauth": hostile.value(""), "username": hostile.value(""), "password": hostile.value("")},
            {},
        ][number % 4]
        request = {**raw("", fun=function), **carried, "kwargs": {"client": "local", **shown}}
        if "kwargs" in carried:
            request["kwargs"] = carried["kwargs"]
        command = hostile.chance.choice(["publish"] * 4 + ["runner", "wheel", "get_token", "mk_token", hostile.key()])
        requests.append({**request, **shown, "cmd": command})
    return said_to(lab, requests)


def asks_after(event: dict, begun: str) -> bool:
    """Whether it is of Salt's own question after a job of an earlier test, which its client may still wait for."""
    data = event["data"]
    return data.get("fun") == "saltutil.find_job" and all(
        str(job) < begun for job in data.get("arg") or data.get("fun_args") or [begun]
    )


def test_nothing_comes_of_any_of_them(with_node, guarded, salt_python):
    laboratory = with_node
    hostile = Hostile(random.Random(SEED), guarded)
    made = cases(hostile)
    tokens, masters = {}, {}
    for user in ROLES:
        with laboratory.salt.acting_as(user):
            tokens[user] = laboratory.salt.token
        asked = {"cmd": "mk_token", "eauth": "file", "username": user, "password": password(user)}
        masters[user] = laboratory.salt.publish([asked])[0]["token"]
    idle(laboratory)
    before, running = everything(laboratory, guarded), processes(laboratory.directory)
    begun = f"{datetime.datetime.now(datetime.UTC):%Y%m%d%H%M%S%f}"

    by_door = {door: [case[1:] for case in made if case[0] == door] for door in DOORS}
    with laboratory.salt.bus() as events:
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            said = list(pool.map(lambda case: over_the_api(laboratory, tokens, *case), by_door["api"]))
        published = [words for words in said if words]
        published += at_the_port(laboratory, masters, by_door["port"])
        published += as_a_stranger(laboratory, hostile, by_door["stranger"])
    assert not published, published[:5]
    seen = [event for event in events if not OF_THEMSELVES.fullmatch(event["tag"]) and not asks_after(event, begun)]
    assert not seen, seen[:5]

    idle(laboratory)
    time.sleep(2)
    assert not differences(before, everything(laboratory, guarded))
    wait_until("the processes that there were", lambda: processes(laboratory.directory) == running, 60)
    print(f"{len(made)} hostile requests, seed {SEED}")


def test_keywords_do_no_harm_either(with_node, guarded, salt_python):
    """These are published where a function is asked for; what is done with them is the formula's to say."""
    laboratory, chance = with_node, random.Random(SEED)
    hostile = Hostile(chance, guarded)
    names = [
        "saltenv",
        "pillarenv",
        "pillar",
        "test",
        "refresh",
        "extmod_whitelist",
        "operation",
        "plan",
        "volumes",
        "name",
    ]
    idle(laboratory)
    before = everything(laboratory, guarded)
    with laboratory.salt.bus() as events:
        for _ in range(150 if FULL else 12):
            function = chance.choice([name for name in functions() if name.startswith("eos.")])
            keywords = {chance.choice([*names, hostile.key()]): hostile.value("") for _ in range(chance.randint(1, 3))}
            minion = chance.choice((MINION, NODE))
            with laboratory.salt.acting_as(chance.choice(list(ROLES))):
                status, answer = laboratory.salt.lowstate(tgt=minion, fun=function, kwarg=keywords)
            if status == 200:
                assert answer[minion]["retcode"] != 0, (function, keywords, answer)
    seen = [event for event in events if not re.fullmatch(f"{OF_A_JOB.pattern}|{OF_THEMSELVES.pattern}", event["tag"])]
    assert not seen, seen[:5]
    idle(laboratory)
    assert not differences(before, everything(laboratory, guarded))
