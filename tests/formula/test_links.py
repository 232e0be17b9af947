"""Root works where others write: links, second names and directories of strangers change nothing outside."""

from __future__ import annotations

import hashlib
import os
import stat

import pytest

RULES = '{"groups": []}\n'
OWNER = {"user": str(os.getuid()), "group": str(os.getgid()), "mode": "0750"}
# Who runs Prometheus; without root everybody is the one user there is.
OTHER = 65534 if os.getuid() == 0 else os.getuid()
NAME = "production/web"


class Monitor:
    """A volume of Prometheus' user, in which that user may have put anything, and a directory outside of it."""

    def __init__(self, load, tmp_path):
        self.top = tmp_path / "opt"
        self.volume = self.top / "prometheus" / "data"
        self.volume.mkdir(parents=True)
        self.rules = self.volume / "eos-rules"
        self.outside = tmp_path / "outside"
        self.outside.mkdir(mode=0o700)
        (self.outside / "precious.json").write_text("precious")
        (self.outside / "precious.json").chmod(0o600)
        self.before = self.told()
        os.chown(self.volume, OTHER, -1)
        functions = {
            "cp.get_file_str": lambda path: RULES,
            "network.ip_addrs": lambda include_loopback: [],
            "eos_volumes.allowed": lambda: [str(self.top)],
        }
        self.module = load("_modules/eos_prometheus.py", salt=functions)
        self.module._reload = lambda port: (1, [])
        monitor = {"directory": str(self.rules), "user": str(OTHER), "group": str(OTHER), "port": 1}
        digest = hashlib.sha256(RULES.encode()).hexdigest()
        self.pillar = {
            "monitors": {"production/prometheus": monitor},
            "monitoring": {NAME: {"monitor": "prometheus", "rules": digest, "risk": "low"}},
        }

    def told(self) -> list:
        """All of what is outside: names, owners, modes, contents."""
        found = [self.outside, *sorted(self.outside.iterdir())]
        facts = [(path.name, path.stat().st_uid, path.stat().st_mode) for path in found]
        return [*facts, (self.outside / "precious.json").read_text()]

    def load(self) -> dict | None:
        return self.module.load(NAME, self.pillar)["error"]

    def unload(self) -> dict | None:
        return self.module.unload(NAME, self.pillar["monitors"]["production/prometheus"])


@pytest.fixture
def monitor(load, tmp_path):
    return Monitor(load, tmp_path)


def test_rules_lie_in_a_directory_of_roots_own(monitor):
    assert monitor.load() is None
    status = monitor.rules.stat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (os.getuid(), 0o755)
    (written,) = monitor.rules.iterdir()
    assert (written.name, written.read_text()) == ("web.json", RULES)
    assert (written.stat().st_uid, stat.S_IMODE(written.stat().st_mode)) == (os.getuid(), 0o644)
    assert monitor.module.would_load(NAME, monitor.pillar) == {}
    assert monitor.unload() is None and not list(monitor.rules.iterdir())


def test_a_directory_that_an_earlier_formula_gave_away_becomes_roots(monitor):
    monitor.rules.mkdir()
    os.chown(monitor.rules, OTHER, -1)
    assert monitor.load() is None
    assert monitor.rules.stat().st_uid == os.getuid()


def test_a_link_in_place_of_the_directory_is_refused(monitor):
    monitor.rules.symlink_to(monitor.outside)
    error = monitor.load()
    assert error and str(monitor.rules) in error["words"], error
    assert monitor.module.would_load(NAME, monitor.pillar)["rules"]["old"] is None
    assert monitor.unload() is None
    assert monitor.told() == monitor.before


def test_a_link_above_the_directory_is_refused(monitor):
    monitor.volume.rename(monitor.volume.with_name("moved"))
    monitor.volume.symlink_to(monitor.outside)
    assert monitor.load()
    assert monitor.told() == monitor.before


@pytest.mark.parametrize("directory", ["{volume}/../other/eos-rules", "{volume}/rules"])
def test_rules_lie_nowhere_else(monitor, directory):
    other = monitor.volume.parent / "other"
    (other / "eos-rules").mkdir(parents=True)
    (other / "eos-rules/approved.json").write_text("{}")
    monitor.pillar["monitors"]["production/prometheus"]["directory"] = directory.format(volume=monitor.volume)
    assert monitor.load()
    assert [path.name for path in other.rglob("*.json")] == ["approved.json"]
    assert not (monitor.volume / "rules").exists()


def test_links_with_the_names_of_rules_are_not_followed(monitor):
    monitor.rules.mkdir()
    os.chown(monitor.rules, OTHER, -1)
    precious = monitor.outside / "precious.json"
    # A guess at the name of a file that is not finished, for every process that could be the minion's.
    for number in range(os.getpid() - 50, os.getpid() + 50):
        (monitor.rules / f"web.json.{number}.unfinished").symlink_to(precious)
    (monitor.rules / "web.json").symlink_to(precious)
    (monitor.rules / "gone.json").symlink_to(precious)
    assert monitor.load() is None
    assert monitor.told() == monitor.before
    assert [path.name for path in monitor.rules.iterdir()] == ["web.json"]
    assert not (monitor.rules / "web.json").is_symlink()


def test_a_second_name_of_another_file_is_not_read(monitor):
    monitor.rules.mkdir()
    os.link(monitor.outside / "precious.json", monitor.rules / "web.json")
    monitor.module._reload = lambda port: (1, ["no"])
    assert monitor.load()["words"] == "no"
    # Rules that are refused are taken back: nothing is written again that everybody could read then.
    assert not (monitor.rules / "web.json").exists()
    assert monitor.told() == monitor.before


def test_a_directory_of_a_third_user_is_refused(monitor):
    if os.getuid() != 0:
        pytest.skip("only root can give a directory away")
    monitor.rules.mkdir()
    os.chown(monitor.rules, 12345, -1)
    assert "neither root nor Prometheus" in monitor.load()["words"]


class Volumes:
    """The volumes of one minion, which may lie below `top`."""

    def __init__(self, load, tmp_path):
        self.top = tmp_path / "srv"
        self.top.mkdir()
        self.module = load("_modules/eos_volumes.py")
        self.module.__opts__["cachedir"] = str(tmp_path / "cache")
        self.module.__opts__["eos"]["volumes_below"] = [str(self.top)]

    def place(self, path: object, **facts: object) -> str | None:
        """The words of the refusal; the hint names a way out."""
        wanted = {"production/web/data": {"path": str(path), **OWNER, **facts}}
        refused = self.module.refused_place(wanted)
        assert self.module.place(wanted) == refused
        assert refused is None or refused["hint"]
        return refused and refused["words"]


@pytest.fixture
def volumes(load, tmp_path):
    return Volumes(load, tmp_path)


@pytest.mark.parametrize(
    "path", ["/etc", "/var/log", "/opt/x", "/srv/../etc", "relative", "/srv//x", "/srv/x/", "/", None]
)
def test_a_path_that_the_host_does_not_allow_is_refused(volumes, path):
    assert volumes.place(path)
    below = f"{volumes.top}/../outside"
    assert "not a plain absolute path" in volumes.place(below)
    assert volumes.place(volumes.top)
    assert volumes.place(volumes.top / "web" / "data") is None


def test_a_system_directory_is_refused_whatever_the_settings_say(load):
    directory = load("_utils/eos_directory.py")
    for path in ("/etc", "/etc/x/y", "/usr/local/data", "/root/data", "/srv/salt/_modules", "/srv/eos/formula/_grains"):
        assert "system directory" in directory.why_no_place(path, ["/"]), path
    # A directory that the settings name is the administrator's own choice.
    assert directory.why_no_place("/root/lab/volumes/data", ["/root/lab/volumes"]) is None


def test_a_directory_of_salt_or_terraform_is_refused(volumes):
    volumes.module.__opts__ |= {"cachedir": str(volumes.top / "cache")}
    volumes.module.__opts__["eos"]["terraform_root"] = str(volumes.top / "terraform")
    for own in ("cache", "terraform"):
        assert "root's own" in volumes.place(volumes.top / own / "eos" / "data")


def test_without_a_setting_volumes_lie_below_opt_and_srv(load):
    assert load("_modules/eos_volumes.py").allowed() == ["/opt", "/srv"]


def test_what_is_above_a_volume_is_roots(volumes):
    path = volumes.top / "a" / "b" / "data"
    # Salt's minion has such a umask, and whoever the volume is for must come through.
    before = os.umask(0o077)
    try:
        assert volumes.place(path) is None
    finally:
        os.umask(before)
    for above in (path.parent, path.parent.parent):
        assert above.stat().st_uid == os.getuid()
        assert stat.S_IMODE(above.stat().st_mode) == 0o755
    assert not path.exists()


def test_a_link_or_a_directory_of_others_above_a_volume_is_refused(volumes, tmp_path):
    (volumes.top / "link").symlink_to(tmp_path)
    assert "not a directory" in volumes.place(volumes.top / "link" / "data")
    (volumes.top / "shared").mkdir()
    (volumes.top / "shared").chmod(0o777)
    assert "can write to" in volumes.place(volumes.top / "shared" / "data")
    (volumes.top / "data").symlink_to(tmp_path)
    assert "symbolic link" in volumes.place(volumes.top / "data")
    if os.getuid() == 0:
        (volumes.top / "given").mkdir()
        os.chown(volumes.top / "given", OTHER, -1)
        assert f"belongs to user {OTHER}" in volumes.place(volumes.top / "given" / "data")


def test_a_directory_that_was_there_before_is_taken_only_if_it_fits_and_is_empty(volumes):
    path = volumes.top / "data"
    path.mkdir(mode=0o755)
    assert "another owner or mode" in volumes.place(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    path.chmod(0o750)
    assert volumes.place(path) is None
    (path / "file").write_text("of somebody")
    assert "not empty" in volumes.place(path)
    # Root of the host hands it over.
    assert volumes.module.adopt("production/web/data", str(path))["made"] is False
    assert volumes.place(path) is None
    # Another volume does not get it by that.
    other = {"production/other/data": {"path": str(path), **OWNER}}
    assert "not empty" in volumes.module.refused_place(other)["words"]


def test_what_salt_gave_away_above_a_volume_is_taken_back(volumes):
    if os.getuid() != 0:
        pytest.skip("only root can give a directory away")
    path = volumes.top / "web" / "data"
    facts = {"path": str(path), "user": str(OTHER), "group": str(OTHER), "mode": "0750"}
    with volumes.module.recorded({"production/web/data": facts}, "first"):
        path.mkdir(parents=True)
        for given in (path, path.parent):
            os.chown(given, OTHER, OTHER)
    assert volumes.place(path, user=str(OTHER), group=str(OTHER)) is None
    assert (path.parent.stat().st_uid, path.stat().st_uid) == (0, OTHER)


def test_what_is_mounted_apart_lies_where_root_alone_can_enter(load):
    mount = load("_utils/eos_mount.py")
    seen = []

    def run(command: list[str], name: str) -> None:
        above = os.stat(os.path.dirname(name))
        seen.append((command[0], stat.S_IMODE(above.st_mode), above.st_uid))

    with mount.apart(run, "/dev/null", "ext4", "ro") as path:
        assert os.path.isdir(path)
    assert seen == [("mount", 0o700, os.getuid()), ("umount", 0o700, os.getuid())]
    assert not os.path.exists(os.path.dirname(path))


def test_a_removal_follows_no_link_that_came_meanwhile(load, tmp_path):
    directory = load("_utils/eos_directory.py")
    (tmp_path / "outside" / "data").mkdir(parents=True)
    (tmp_path / "above").symlink_to(tmp_path / "outside")
    assert directory.remove(str(tmp_path / "above" / "data"))
    with pytest.raises(OSError):
        directory.remove_empty(str(tmp_path / "above" / "data"))
    assert (tmp_path / "outside" / "data").is_dir()
    assert directory.remove(str(tmp_path / "outside" / "data")) is None
