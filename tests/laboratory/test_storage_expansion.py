"""Volumes that are really full: the decision of `eos expand storage`, and its effect."""

import json
import subprocess
from contextlib import suppress

import pytest
from guests import MINION, no_guests
from storage import MIB, storage_host

pytestmark = [pytest.mark.chain, pytest.mark.quiet]

CREATE = "create volume {name} --size {size} --on {group} --device {device} --host node4"


@pytest.fixture(scope="module")
def host(estate):
    if why := no_guests():
        pytest.skip(why)
    with storage_host(estate, "node4", ["1200M", "700M", "700M"]) as made:
        yield made


@pytest.fixture(scope="module")
def logs(host):
    host.carried_out(*CREATE.format(name="logs", size="400M", group="data-vg", device="/dev/ubdb").split())


def filled(host, path: str, percent: int) -> None:
    """Filled with data, as `df` counts it."""
    host.machine.must(f"rm -f {path}/filling && sync")
    used, available = host.machine.must(f"df --output=used,avail -B1 {path} | tail -1").split()
    wanted = (int(used) + int(available)) * percent // 100 - int(used)
    host.machine.must(f"head -c {wanted} /dev/urandom > {path}/filling && sync", timeout=120)


def decided(host) -> list[dict]:
    ran = host.eos("expand", "storage", "--host", "node4", "--json")
    return json.loads(ran.stdout.strip().split("\n")[-1])["decisions"]


def expanded(host, *words: str):
    with (host.estate.root / "eos.toml").open("a") as settings:
        settings.write('\n[expand]\nrisk = "high"\n')
    try:
        host.carried_out("expand", "storage", "--auto", "--host", "node4", *words)
    finally:
        text = (host.estate.root / "eos.toml").read_text()
        (host.estate.root / "eos.toml").write_text(text.replace('\n[expand]\nrisk = "high"\n', ""))


def told(host) -> dict:
    """What reaches the master when the host notes how full its volumes are, as its schedule has it do."""
    salt = json.loads((host.estate.lab / "lab.json").read_text())["engines"]["salt"]["path"]
    listen = [
        f"{salt}/salt-run",
        "-c",
        f"{host.estate.lab}/salt/master/etc",
        "state.event",
        "eos/storage/full",
        "count=1",
    ]
    with subprocess.Popen(listen, stdout=subprocess.PIPE, text=True) as listener:
        try:
            # The listener does not say when it listens.
            for _ in range(3):
                host.machine.must(f"{salt}/salt-call -c {MINION}/etc eos_storage.sample", timeout=120)
                with suppress(subprocess.TimeoutExpired):
                    output, _ = listener.communicate(timeout=10)
                    return json.loads(output.splitlines()[0].partition("\t")[2])["data"]
        finally:
            listener.kill()
    raise AssertionError("the master heard of no volume that is too full")


def test_it_grows_in_its_group(host, logs):
    assert decided(host) == []
    filled(host, "/srv/logs", 86)
    event = told(host)
    assert event["volume"] == "production/logs/data" and event["percent"] >= event["alert"] == 85, event
    digest = host.digest("/srv/logs/filling")
    (decision,) = decided(host)
    assert (decision["rule"], decision["name"], decision["risk"]) == ("grow", "logs", "medium"), decision
    # Nobody approved it in advance.
    refused = host.eos("expand", "storage", "--auto", "--host", "node4", "--yes")
    assert refused.returncode == 2 and "no standing approval" in refused.stderr, refused.stderr
    expanded(host)
    assert host.size("/dev/data-vg/logs") >= 480 * MIB
    assert host.digest("/srv/logs/filling") == digest
    assert decided(host) == []


def test_a_disk_joins_the_group_if_that_is_full(host):
    host.carried_out(*CREATE.format(name="mail", size="600M", group="mail-vg", device="/dev/ubdc").split())
    filled(host, "/srv/mail", 90)
    (decision,) = [one for one in decided(host) if one["name"] == "mail"]
    assert decision["rule"] == "nothing", decision
    ran = host.eos("expand", "storage", "--auto", "--host", "node4", "--yes")
    assert ran.returncode == 3, ran.stderr
    host.estate.must("update", "host", "node4", "--device", "/dev/ubdd", "--yes")
    (decision,) = [one for one in decided(host) if one["name"] == "mail"]
    assert (decision["rule"], decision["device"], decision["risk"]) == ("add-disk", "/dev/ubdd", "high"), decision
    digest = host.digest("/srv/mail/filling")
    expanded(host)
    assert host.size("/dev/mail-vg/mail") > 700 * MIB
    assert "/dev/ubdd" in host.machine.must("pvs --noheadings -o pv_name -S vg_name=mail-vg")
    assert host.digest("/srv/mail/filling") == digest


HISTORY = """
import json, os, time
place = {place!r}
kept = json.load(open(place))
status = os.statvfs("/srv/logs")
used = (status.f_blocks - status.f_bfree) * status.f_frsize
now = time.time()
kept["production/logs/data"] = [[now - 3600 * ago, used - ago * {a_day} // 24] for ago in range(47, 0, -1)]
json.dump(kept, open(place, "w"))
"""


def test_what_will_be_full_soon_grows_now(host, logs):
    filled(host, "/srv/logs", 60)
    assert [one for one in decided(host) if one["name"] == "logs"] == []
    size = host.size("/dev/data-vg/logs")
    place = host.machine.must("find /var/lib/minion -name samples.json").split()[0]
    # As if the host had noted for two days that a tenth of it fills each day.
    (host.machine.share / "history.py").write_text(HISTORY.format(place=place, a_day=size // 10))
    host.machine.must("python3 /guest/history.py")
    (decision,) = [one for one in decided(host) if one["name"] == "logs"]
    assert decision["rule"] == "grow" and decision["percent"] < 70 and decision["days_to_full"] < 7, decision
    expanded(host)
    assert host.size("/dev/data-vg/logs") > size
    # The alert comes a week before it would be full.
    volumes = host.estate.json("storage", "node4")["hosts"][0]["storage"]["volumes"]
    assert [(one["name"], one["alert"] < 85) for one in volumes] == [("logs", True), ("mail", False)], volumes
