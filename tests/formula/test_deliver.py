"""Delivery over the API: what is taken, what is refused, and what a kill at any moment leaves."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import inspect
import json
import os
import pathlib
import random

import pytest

PIECE = 1 << 18
SLICE = "pillar/hosts/control.sls"
MAIN = "files/terraform/environments/production/hello/main.tf"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def pieces_of(content: bytes) -> list[bytes]:
    return [content[start : start + PIECE] for start in range(0, len(content), PIECE)]


def packed(piece: bytes) -> str:
    return base64.b64encode(piece).decode()


def name_of(files: dict[str, bytes]) -> str:
    """As docs/contracts.md has it: each path and content, with its length before it, in the order of the paths."""
    whole = hashlib.sha256()
    for path, content in sorted((path.removeprefix("files/"), content) for path, content in files.items()):
        for part in (path.encode(), content):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def slice_text(**eos: object) -> bytes:
    return b"#!json\n" + json.dumps({"eos": eos}).encode()


def release(text: str = "one", **more: bytes) -> dict[str, bytes]:
    return {
        "pillar/top.sls": b"top",
        SLICE: slice_text(),
        "pillar/credentials/vault.sls": b"paths",
        "salt/orchestrate/waves.json": b"{}",
        "salt/components/hello/production/workspace.sls": b"#!json",
        MAIN: text.encode(),
        **more,
    }


KINDS = ("file", "rules", "secret", "volume", "workspace")
ROLES = {"eos-user": "user", "eos-operator": "operator", "eos-architect": "architect"}


class Control:
    """A control minion as far as delivery goes. What a thing counts as there is said by its own text."""

    def __init__(self, load, directory: pathlib.Path):
        self.srv, self.cache = directory / "srv", directory / "cache"
        self.srv.mkdir(mode=0o755)
        self.cache.mkdir()
        options = {"id": "control", "cachedir": str(self.cache), "eos": {"roles": ROLES}}
        functions = {
            "eos_profile.optional_setting": {"delivery": str(self.srv)}.get,
            "eos_files.recorded_risk": lambda name: None,
            "eos_files.tier": lambda path: ("low" if path.startswith("/srv/www/") else "high", "its path"),
            "eos_files.why_no_place": lambda path: None,
            "eos_prometheus.recorded_risk": lambda name: None,
            "eos_secrets.risks_of_holder": lambda name: [],
            "eos_storage.risk": lambda facts, name: "high",
            "eos_terraform.recorded_risks": lambda environment, component: [],
            "eos_tiers.of_workspace": lambda name, wanted, contents: [
                (tier, "its text")
                for tier in ("medium", "high")
                if any(tier.encode() in one for one in contents.values())
            ],
            "eos_volumes.risks": lambda names: [],
            "eos_volumes.risks_there": lambda names: [],
        }
        modules = ["eos_roles", "eos_delivery_roles", "eos_delivery", *(f"eos_kind_{kind}" for kind in KINDS)]
        for name in modules:
            module = load(f"_modules/{name}.py", opts=options, salt=functions)
            own = {function: one for function, one in vars(module).items() if inspect.isfunction(one)}
            functions |= {f"{name}.{function}": one for function, one in own.items() if function[0] != "_"}
            # They see one another.
            module.__salt__ = functions
            setattr(self, name, module)
        self.delivery, self.functions = self.eos_delivery, functions
        for name in modules:
            getattr(self, name).__salt__ = functions
        self.eos = load("_modules/eos.py", opts=options, salt=functions)
        self.user = "eos-user"

    def call(self, **asked: object) -> dict:
        return self.eos.deliver(**asked, __pub_user=self.user)

    def deliver(self, files: dict[str, bytes], named: str | None = None, **more: object) -> dict:
        """All that is missing, as Eos brings it."""
        manifest = json.dumps({path: [sha256(one) for one in pieces_of(text)] for path, text in files.items()})
        return self.deliver_manifest(manifest.encode(), files, named or name_of(files), **more)

    def deliver_manifest(self, manifest: bytes, files: dict[str, bytes], named: str, **more: object) -> dict:
        known = {sha256(piece): piece for text in (manifest, *files.values()) for piece in pieces_of(text)}
        asked = {"release": named, "manifest": [sha256(piece) for piece in pieces_of(manifest)], **more}
        answer = self.call(**asked)
        for _ in range(5):
            if not answer["missing"]:
                break
            answer = self.call(**asked, contents={digest: packed(known[digest]) for digest in answer["missing"]})
        return answer

    def served(self) -> dict[str, bytes]:
        current = self.srv / "current"
        found = {str(path.relative_to(current)): path.read_bytes() for path in current.rglob("*") if path.is_file()}
        found.pop("salt/release", None)
        return found

    def leftovers(self) -> list[str]:
        return [str(path) for path in self.srv.rglob(".deliver-*")]


@pytest.fixture
def control(load, tmp_path) -> Control:
    return Control(load, tmp_path)


@pytest.fixture
def refused(salt_python):
    from salt.exceptions import CommandExecutionError, SaltInvocationError

    @contextlib.contextmanager
    def is_refused(words: str):
        with pytest.raises((CommandExecutionError, SaltInvocationError), match=words):
            yield

    return is_refused


def test_a_release_is_served_under_the_digest_of_its_files(control):
    files = release()
    assert control.deliver(files)["missing"] == []
    assert control.served() == files
    assert os.readlink(control.srv / "current") == f"releases/{name_of(files)}"
    assert (control.srv / "current/salt/release").read_text() == f"{name_of(files)}\n"
    assert control.call() == {"current": name_of(files), "files": None}
    assert control.leftovers() == [] and not list((control.cache / "eos/incoming").glob("*/*"))


def test_the_master_reads_it_whatever_the_umask_of_the_minion(control):
    before = os.umask(0o077)
    try:
        control.deliver(release())
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in control.srv.rglob("*")}
    assert modes == {0o755, 0o644}


def test_only_what_changed_is_brought(control):
    control.deliver(release("one"))
    files = release("two")
    asked = {"release": name_of(files)}
    manifest = json.dumps({path: [sha256(text)] for path, text in files.items()}).encode()
    asked["manifest"] = [sha256(manifest)]
    assert control.call(**asked)["missing"] == [sha256(manifest)]
    answer = control.call(**asked, contents={sha256(manifest): packed(manifest)})
    assert answer == {"missing": [sha256(b"two")], "current": name_of(release("one"))}
    assert control.call(**asked, contents={sha256(b"two"): packed(b"two")})["missing"] == []
    assert control.served() == files


def test_a_release_that_is_kept_comes_back_without_a_piece(control):
    one, two = release("one"), release("two")
    control.deliver(one)
    control.deliver(two)
    assert control.call(release=name_of(one), manifest=["0" * 64])["missing"] == []
    assert control.served() == one


def test_a_large_file_comes_in_pieces(control):
    text = random.Random(1).randbytes(3 * PIECE + 5)
    files = release(**{"files/terraform/modules/hello/0123/large": text, "salt/components/hello/empty": b""})
    assert control.deliver(files)["missing"] == []
    assert control.served() == files


HOSTILE = (
    *("../x", "salt/../../x", "/etc/x", "salt/components/../../x", "salt/components/hello/..", "", "salt/release"),
    *("salt/components/x\n", "salt/components//x", "salt/components/./x", "salt/components/hello/", "current"),
    *("salt/_modules/eos.py", "salt/components/_modules/x.py", "salt/top.sls", "files/_modules/x.py", "files/top.sls"),
    *(
        "pillar/infrastructure/production.sls",
        "pillar/hosts/.sls",
        "pillar/hosts/../top.sls",
        "pillar/hosts/web1.example.org.sls",
    ),
    *(
        "formula/_modules/eos.py",
        "files/terraform/x",
        "salt/components/a\\b",
        "salt/components/\u202ex",
        f"salt/components/{'a/' * 600}x",
    ),
    *(f"salt/components/{'a' * 300}", "salt/components/.deliver-x", "salt/components/x\0"),
)


@pytest.mark.parametrize("path", HOSTILE)
def test_a_path_that_no_release_has_is_refused(control, refused, path):
    control.deliver(release())
    before = control.served()
    with refused("where no release has a file"):
        control.deliver(release(**{path: b"x"}))
    assert control.served() == before
    assert {path.name for path in control.srv.iterdir()} == {"current", "releases"}


@pytest.mark.parametrize(
    "manifest",
    [
        *(b"", b"[]", b"{}", b"null", b'"x"', b"[" * 100_000, b"\xff"),
        *(b'{"pillar/top.sls": "x"}', b'{"pillar/top.sls": ["x"]}', b'{"pillar/top.sls": null}'),
        json.dumps({"salt/components/a/b": [], "salt/components/a/b/c": []}).encode(),
        json.dumps({f"salt/components/a/{number}": [] for number in range(50_001)}).encode(),
        json.dumps({"salt/components/a/b": [sha256(b"x")] * 60_000}).encode(),
        json.dumps({"salt/components/a/b": [sha256(bytes(PIECE))] * 300}).encode(),
    ],
)
def test_a_manifest_that_is_none_is_refused(control, refused, manifest):
    control.deliver(release())
    before = control.served()
    with refused("manifest|larger than|digest"):
        control.deliver_manifest(manifest, {"x": b"x", "zeros": bytes(PIECE)}, "0" * 64)
    assert control.served() == before


def test_files_under_another_name_are_refused(control, refused):
    control.deliver(release())
    with refused("its files have another digest"):
        control.deliver(release("two"), named="0" * 64)
    assert control.served() == release()


@pytest.mark.parametrize(
    ("digest", "content"),
    [
        (sha256(b"x"), packed(b"y")),
        (sha256(b"x"), "no base64!"),
        (sha256(bytes(PIECE + 1)), packed(bytes(PIECE + 1))),
        ("../x", packed(b"x")),
        (sha256(b"x"), 7),
    ],
)
def test_a_piece_that_is_not_what_its_digest_says_is_refused(control, refused, digest, content):
    with refused("contents"):
        control.call(release="0" * 64, manifest=[], contents={digest: content})
    assert not list((control.cache).glob("eos/incoming/*/*"))


@pytest.mark.parametrize(
    "more",
    [
        {"release": "../x"},
        {"release": "0" * 64, "plan": "plan-x"},
        {"release": "0" * 64, "plan": "../current"},
        {"release": "0" * 64, "manifest": "x"},
        {"release": "0" * 64, "manifest": ["../x"]},
        {"release": "0" * 64, "contents": ["x"]},
        {"plan": f"plan-{'0' * 32}"},
        {"release": "0" * 64, "operation": "../x"},
        {"operation": "op"},
        {"contents": {}},
    ],
)
def test_arguments_of_another_form_are_refused(control, refused, more):
    with refused("form|list|object|nothing to deliver"):
        control.call(**more)


@pytest.mark.parametrize(
    "text",
    [
        *(b"#!py\ndef run(): pass", b"", b"[]", b'#!json\n{"eos": []}', b"#!json\n{}", b'{"eos": {}} x'),
        *(b'#!json\n{"eos": {}, "other": {}}', b'{"eos": {"a": 1}, "eos": {}}', b'{"eos": {"a": 1, "a": 2}}'),
        *('{"eos": {}}'.encode("utf-16"), b'\xff{"eos": {}}', b'{"eos": ' + b'{"a":' * 100_000),
    ],
)
def test_a_slice_has_the_key_eos_and_nothing_beside_it(control, refused, text):
    control.deliver(release())
    before = control.served()
    for path in (SLICE, "pillar/hosts/web1/example/org.sls"):
        with refused("is refused"):
            control.deliver(release(**{path: text}))
        with refused("is refused"):
            control.deliver(release(**{path: text}), plan=f"plan-{'0' * 32}")
    assert control.served() == before


def test_a_user_without_a_role_delivers_nothing(control, refused):
    with refused("may not deliver"):
        control.eos.deliver(release="0" * 64, manifest=[], __pub_user="eve")


def test_a_minion_without_the_setting_takes_nothing(control, refused):
    control.functions["eos_profile.optional_setting"] = {}.get
    for more in ({}, {"release": "0" * 64, "manifest": []}):
        with refused("takes no delivery"):
            control.call(**more)


def test_links_in_the_place_of_directories_are_not_followed(control, refused, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (control.srv / "releases").symlink_to(outside)
    with refused("is a link, or no directory"):
        control.deliver(release())
    (control.srv / "releases").unlink()
    (control.srv / "plans").symlink_to(outside)
    with refused("is a link, or no directory"):
        control.deliver(release(), plan=f"plan-{'0' * 32}")
    (control.srv / "current").symlink_to(outside)
    with refused("current leads to no release"):
        control.deliver(release())
    (control.srv / "current").unlink()
    (control.srv / "current").mkdir()
    with refused("current is no link"):
        control.deliver(release())
    assert [path.name for path in outside.iterdir()] == ["precious"]


def test_a_release_with_a_link_or_a_stranger_in_it_is_made_again(control, tmp_path):
    files = release()
    control.deliver(files)
    control.user = "eos-operator"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/precious").write_text("precious")
    own = control.srv / "releases" / name_of(files)

    def replaced_by_a_link():
        (own / "pillar/top.sls").unlink()
        (own / "pillar/top.sls").symlink_to(tmp_path / "outside/precious")

    def a_link_of_directories():
        (own / "salt/more").symlink_to(tmp_path / "outside")

    def whole_by_a_link():
        own.rename(control.srv / "aside")
        own.symlink_to(tmp_path / "outside")

    damages = [
        lambda: (own / "pillar/top.sls").write_text("changed"),
        lambda: (own / "pillar/top.sls").unlink(),
        lambda: (own / "salt/more").write_text("added"),
        lambda: (own / "salt").chmod(0o777),
        lambda: (own / "pillar/top.sls").chmod(0o666),
        lambda: os.mkfifo(own / "salt/pipe"),
        *(replaced_by_a_link, a_link_of_directories, whole_by_a_link),
    ]
    for damage in damages:
        damage()
        assert control.call()["files"] is not None
        assert control.deliver(files)["missing"] == []
        assert control.served() == files and control.call() == {"current": name_of(files), "files": None}
        assert not (own / "salt/more").exists() and not own.is_symlink()
    assert (tmp_path / "outside/precious").read_text() == "precious"
    assert control.leftovers() == []


def test_a_changed_file_is_named_by_its_digest(control):
    control.deliver(release())
    (control.srv / "current" / MAIN).write_text("by hand")
    assert control.call()["files"][MAIN] == sha256(b"by hand")


def test_a_directory_that_others_can_write_to_takes_nothing(control, refused):
    control.srv.chmod(0o1777)
    with refused("lets other users write to it"):
        control.deliver(release())
    control.srv.chmod(0o755)
    (control.srv / "releases").mkdir(mode=0o755)
    (control.srv / "releases").chmod(0o775)
    with refused("lets other users write to it"):
        control.deliver(release())
    if os.getuid() == 0:
        (control.srv / "releases").chmod(0o755)
        os.chown(control.srv, 65534, -1)
        with refused("belongs to user 65534"):
            control.deliver(release())
    assert not (control.srv / "current").exists()


def test_the_last_releases_stay(control):
    names = []
    for number in range(13):
        names.append(name_of(release(str(number))))
        control.deliver(release(str(number)))
        # The clock of a machine may be set back.
        os.utime(control.srv / "releases" / names[-1], (4e9, 4e9 + number))
    assert {path.name for path in (control.srv / "releases").iterdir()} == set(names[-10:])


def test_nobody_has_more_waiting_than_the_disk_can_bear(control, refused, monkeypatch):
    monkeypatch.setattr(control.delivery, "_MOST_WAITING", 3 * PIECE)
    pieces = [random.Random(number).randbytes(PIECE) for number in range(4)]
    for piece in pieces[:3]:
        asked = {"release": "0" * 64, "manifest": ["1" * 64]}
        assert control.call(**asked, contents={sha256(piece): packed(piece)})["missing"] == ["1" * 64]
    with refused("More than 0 MiB of yours wait"):
        control.call(**asked, contents={sha256(pieces[3]): packed(pieces[3])})
    (waiting,) = (control.cache / "eos/incoming").iterdir()
    for piece in waiting.iterdir():
        os.utime(piece, (1, 1))
    control.call(**asked, contents={sha256(pieces[3]): packed(pieces[3])})
    assert [piece.name for piece in waiting.iterdir()] == [sha256(pieces[3])]


def test_a_piece_that_a_crash_cut_comes_again(control):
    files = release()
    manifest = json.dumps({path: [sha256(text)] for path, text in files.items()}).encode()
    asked = {"release": name_of(files), "manifest": [sha256(manifest)]}
    control.call(**asked, contents={sha256(manifest): packed(manifest)})
    (cut,) = (control.cache / "eos/incoming").glob("*/*")
    cut.write_bytes(manifest[:7])
    assert control.call(**asked)["missing"] == [sha256(manifest)]
    assert control.deliver(files)["missing"] == []


def test_a_plan_is_there_beside_what_is_served_and_goes_with_later_ones(control, refused, monkeypatch):
    control.deliver(release())
    plans = [f"plan-{number:032x}" for number in range(20)]
    for plan in plans:
        assert control.deliver(release("planned"), plan=plan)["missing"] == []
    assert control.served() == release()
    left = {path.name for path in (control.srv / "plans").iterdir()}
    assert left == set(plans[-16:])
    place = control.srv / "plans" / plans[-1]
    assert (place / MAIN).read_text() == "planned"
    assert (place / "salt/release").read_text() == f"{name_of(release('planned'))}\n"
    with refused("is there already"):
        control.deliver(release("other"), plan=plans[-1])
    assert (place / MAIN).read_text() == "planned"
    record = control.cache / "eos/plans.json"
    record.write_text(record.read_text().replace('"when": ', '"when": 1, "then": '))
    control.deliver(release("planned"), plan=plans[0])
    assert {path.name for path in (control.srv / "plans").iterdir()} == {plans[0]}


def of_json(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode())


def workspace(text: str = "text", risk: str = "low", name: str = "production/hello") -> tuple[dict, dict]:
    """The slice of a workspace, and its files."""
    environment, component = name.split("/")
    main = f"terraform/environments/{environment}/{component}/main.tf"
    files = {f"files/{main}": text.encode(), f"salt/components/{component}/{environment}/workspace.sls": b"#!json"}
    return {name: {"risk": risk, "token": "client", "files": {main: sha256(text.encode())}}}, files


def estate(*workspaces: tuple[dict, dict], others: dict | None = None, **sections: dict) -> dict[str, bytes]:
    """A release of these workspaces; `others` are the slices of other minions."""
    named, files = {}, {"pillar/top.sls": b"top"}
    for one, own in workspaces:
        named, files = named | one, files | own
    files[SLICE] = slice_text(workspaces=named, **sections)
    return files | {f"pillar/hosts/{minion}.sls": slice_text(**slices) for minion, slices in (others or {}).items()}


VOLUME = {"path": "/srv/x", "risk": "low"}
DATABASE = workspace("medium", "low", "production/database")
GROUND = estate(workspace(), DATABASE, others={"node1": {"volumes": {"production/database/data": {"risk": "medium"}}}})
NODE = {"node1": {"volumes": {"production/database/data": {"risk": "medium"}}}}
# What a role user may not have served in the place of GROUND, and why.
ABOVE = {
    "a higher tier, whatever it says of itself": (estate(workspace("high"), DATABASE, others=NODE), "of high risk"),
    "a change of another one": (
        estate(workspace(), workspace("medium, changed", "low", "production/database"), others=NODE),
        "of medium risk",
    ),
    "another one goes": (estate(workspace(), others=NODE), "of medium risk"),
    "another one comes": (
        estate(workspace(), DATABASE, workspace("x", "medium", "staging/database"), others=NODE),
        "of medium risk",
    ),
    "all of another minion goes": (estate(workspace(), DATABASE), "a minion goes"),
    "a part of another minion goes": (estate(workspace(), DATABASE, others={"node1": {}}), "of medium risk"),
    "a minion comes": (estate(workspace(), DATABASE, others=NODE | {"theirs": {}}), "a minion comes"),
    "a volume on LVM": (
        estate(workspace(), DATABASE, others=NODE, volumes={"production/x/data": {**VOLUME, "volume_group": "vg"}}),
        "of high risk",
    ),
    "a volume on LVM elsewhere": (
        estate(
            workspace(),
            DATABASE,
            others={
                "node1": {
                    "volumes": {
                        "production/database/data": {"risk": "medium"},
                        "production/x/data": {**VOLUME, "volume_group": "vg"},
                    }
                }
            },
        ),
        "of medium risk",
    ),
    "a file of the host": (
        estate(
            workspace(),
            DATABASE,
            others=NODE,
            files={
                "production/x/etc/sudoers": {
                    "path": "/etc/sudoers",
                    "text": "",
                    "user": "0",
                    "group": "0",
                    "mode": "0440",
                    "risk": "low",
                }
            },
        ),
        "of high risk",
    ),
    "where rules go": (
        estate(workspace(), DATABASE, others=NODE, monitors={"production/prometheus": {"directory": "/etc"}}),
        "where rules go",
    ),
    "a key that nobody knows": (estate(workspace(), DATABASE, others=NODE, more={"x": 1}), "does not know it"),
}
# What no role may.
WRONG = {
    "workspaces of another minion": (
        estate(workspace(), DATABASE, others={"node1": {**NODE["node1"], "workspaces": workspace()[0]}}),
        "only control has workspaces",
    ),
    "a workspace without its SLS": (
        {path: text for path, text in GROUND.items() if path != "salt/components/hello/production/workspace.sls"},
        "has no SLS of it",
    ),
    "a file under another digest": ({**GROUND, MAIN: b"other"}, "names it by another digest"),
    "rules under another digest": (
        estate(
            workspace(), DATABASE, others=NODE | {"node2": {"monitoring": {"production/hello": {"rules": "0" * 64}}}}
        ),
        "names it by another digest",
    ),
    "a name that leads elsewhere": (
        estate(workspace(), DATABASE, others=NODE, volumes={"../x/data": VOLUME}),
        "no name of a component",
    ),
    "volumes that are a list": (estate(workspace(), DATABASE, others=NODE, volumes=["x"]), "another form"),
    "a workspace that is a text": (estate(({"production/hello": "x"}, {}), DATABASE, others=NODE), "SLS|another form"),
}


@pytest.fixture
def ground(control):
    control.user = "eos-architect"
    control.deliver(GROUND)
    assert control.served() == GROUND
    control.user = "eos-user"
    return control


@pytest.mark.parametrize("what", ABOVE)
def test_a_delivery_above_the_role_is_refused_whole(ground, refused, what):
    files, why = ABOVE[what]
    current = os.readlink(ground.srv / "current")
    with refused(f"^needs approval: delivery of .*{why}"):
        # What is within the role does not come along either.
        ground.deliver(files)
    assert ground.served() == GROUND and os.readlink(ground.srv / "current") == current
    ground.user = "eos-operator"
    if "high" in why or "know" in why:
        with refused("^needs approval: .*of high risk"):
            ground.deliver(files)
    else:
        assert ground.deliver(files)["missing"] == []


@pytest.mark.parametrize("what", WRONG)
def test_a_slice_that_no_minion_should_have_is_refused_to_everybody(ground, refused, what):
    files, why = WRONG[what]
    for ground.user in ROLES:
        with refused(why):
            ground.deliver(files)
    assert ground.served() == GROUND


def test_what_is_within_the_role_is_delivered(ground):
    for one in (
        estate(workspace("changed"), DATABASE, others=NODE),
        estate(workspace(), DATABASE, workspace("x", "low", "staging/other"), others=NODE),
        estate(DATABASE, others=NODE),
        estate(workspace(), DATABASE, others=NODE, volumes={"production/hello/data": VOLUME}),
        estate(workspace(), DATABASE, others=NODE, estate={"words": "for people"}),
        GROUND,
    ):
        assert ground.deliver(one)["missing"] == []
        assert ground.served() == one


def test_an_earlier_release_is_judged_as_a_new_one(ground, refused):
    before = estate(workspace(), others=NODE)
    ground.user = "eos-operator"
    ground.deliver(before)
    ground.deliver(GROUND)
    ground.user = "eos-user"
    with refused("needs approval"):
        ground.call(release=name_of(before), manifest=[])
    assert ground.served() == GROUND


def test_a_damaged_release_hides_nothing(ground, refused):
    for path in (SLICE, "pillar/hosts/node1.sls"):
        (ground.srv / "current" / path).chmod(0o666)
        with refused("the release that is served is damaged"):
            ground.deliver(estate(workspace()))
        (ground.srv / "current" / path).chmod(0o644)
        text = (ground.srv / "current" / path).read_text()
        (ground.srv / "current" / path).write_text("#!json")
        with refused("the release that is served is damaged"):
            ground.deliver(estate(workspace()))
        (ground.srv / "current" / path).write_text(text)
    assert ground.served() == GROUND


def approve(control: Control, by: str, *calls: list) -> None:
    named = {f"step-{number}": of_json(call) for number, call in enumerate(calls)}
    who = {"user": by, "role": ROLES[by], "is_root": False}
    control.eos_roles.approve(who, "op", "0" * 64, named, 5)


def call(function: str, name: str, facts: dict, kind: str = "workspace") -> list:
    environment, component = name.split("/")
    return [function, {"kind": kind, "environment": environment, "component": component, "facts": facts}]


def test_an_approval_of_a_step_has_its_part_delivered_and_no_other(ground, refused):
    files = estate(workspace("high"), DATABASE, others=NODE)
    digest = of_json(json.loads(files[SLICE][7:])["eos"]["workspaces"]["production/hello"])
    approve(ground, "eos-architect", call("eos.make", "production/hello", {"digest": digest}))
    for operation in (None, "another"):
        with refused("nobody has approved it"):
            ground.deliver(files, operation=operation)
    more = estate(workspace("high"), DATABASE, workspace("medium", "low", "production/more"), others=NODE)
    with refused("production/more on control .*approved another plan"):
        ground.deliver(more, operation="op")
    with refused("approved another plan"):
        ground.deliver(estate(workspace("high, changed"), DATABASE, others=NODE), operation="op")
    assert ground.served() == GROUND
    ground.deliver(files, operation="op")
    assert ground.served() == files


def test_an_approval_by_a_lower_role_or_by_oneself_delivers_nothing(ground, refused):
    files = estate(workspace("high"), DATABASE, others=NODE)
    digest = of_json(json.loads(files[SLICE][7:])["eos"]["workspaces"]["production/hello"])
    approve(ground, "eos-operator", call("eos.make", "production/hello", {"digest": digest}))
    with refused("eos-operator, who approved it, has the role operator"):
        ground.deliver(files, operation="op")
    ground.user = "eos-operator"
    with refused("cannot approve what eos-operator asks for"):
        ground.deliver(files, operation="op")
    assert ground.served() == GROUND


def test_an_approved_end_of_a_component_takes_its_volumes_out_of_the_slices(ground):
    files = estate(workspace(), others={"node1": {}})
    approve(ground, "eos-operator", call("eos.remove", "production/database", {}))
    ground.deliver(files, operation="op")
    assert ground.served() == files


# What changes something on a disk.
WRITES = ("mkdir", "open", "fchmod", "fsync", "rename", "symlink", "unlink", "rmdir", "utime", "replace", "write")


def killed_at(number: int, control: Control, files: dict[str, bytes]) -> bool:
    """Whether a process that delivers was killed before its write of this number; else it delivered."""
    child = os.fork()
    if child == 0:
        left = [number]

        def striking(function):
            def strike(*arguments, **keywords):
                if left[0] == 0:
                    os._exit(9)
                left[0] -= 1
                return function(*arguments, **keywords)

            return strike

        for name in WRITES:
            setattr(os, name, striking(getattr(os, name)))
        exchange = control.delivery.__utils__["eos_release.write"].__globals__
        exchange["_renameat2"] = striking(exchange["_renameat2"])
        try:
            os._exit(0 if control.deliver(files)["missing"] == [] else 1)
        finally:
            # Of an exception, too: this is no second run of the tests.
            os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), code
    return code == 9


def test_killed_anywhere_it_leaves_the_old_release_or_the_new_one(control):
    before, after = release("before"), release("after")
    control.deliver(before)
    number = 0
    while killed_at(number, control, after):
        served = control.served()
        assert served in (before, after), number
        assert control.call() == {"current": name_of(served), "files": None}, number
        if number % 7 == 0:
            # The next delivery clears what is left, and goes on.
            assert control.deliver(after)["missing"] == []
            assert control.served() == after and control.leftovers() == [], number
            control.deliver(before)
            control.delivery.__utils__["eos_release.remove"](
                os.open(control.srv / "releases", os.O_RDONLY), name_of(after)
            )
        elif served == after:
            control.deliver(before)
        number += 1
    assert number > 40
    assert control.served() == after and control.leftovers() == []


def test_killed_while_a_damaged_release_is_made_again_it_leaves_one_there(control):
    files = release()
    control.user, number = "eos-operator", 0
    while True:
        control.deliver(files)
        (control.srv / "current/pillar/top.sls").write_text("changed")
        killed = killed_at(number, control, files)
        assert control.served().keys() == files.keys(), number
        if not killed:
            break
        number += 3
    assert control.served() == files and control.leftovers() == []
