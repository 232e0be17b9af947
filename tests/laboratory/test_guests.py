"""A guest is a machine like any other: a minion, disks of its own, and a power cord to pull."""

import json

import pytest
from guests import guest, no_guests

pytestmark = [pytest.mark.chain, pytest.mark.quiet]

WRITE = """
pvcreate -q /dev/ubdb && vgcreate -q data /dev/ubdb && lvcreate -q -n files -L 400M data &&
mkfs.xfs -q /dev/data/files && mkdir /srv/files && echo /dev/data/files /srv/files xfs defaults 0 0 >> /etc/fstab &&
mount -a && head -c 5M /dev/urandom > /srv/files/kept && sync /etc/fstab /srv/files/kept && sha256sum /srv/files/kept
"""
WRITER = "while :; do hostname >> /srv/files/writer; sleep 1; done"


@pytest.fixture(scope="module")
def machine(estate):
    why = no_guests()
    if why:
        pytest.skip(why)
    with guest(estate, "machine", disks=["1G", "1G"]) as made:
        made.wait_for_minion()
        yield made


def test_a_guest_is_a_minion_that_outlives_a_power_cut(estate, machine):
    assert machine.salt("test.ping") is True
    info = machine.salt("eos.info")
    assert info["minion"] == "machine" and info["role"] == "operator", info
    _, body = estate.salt([{"client": "local", "tgt": "control", "fun": "eos.info"}])
    assert json.loads(body)["return"][0]["control"]["formula"] == info["formula"]

    before = machine.disk_digests()
    digest = machine.must(WRITE).splitlines()[-1]
    after = machine.disk_digests()
    assert before[0] != after[0] and before[1] == after[1]

    machine.start("while :; do echo line; done > /srv/files/lost")
    machine.power_cut()
    assert machine.salt("test.ping", timeout=1) is not True
    machine.boot()
    assert machine.must("findmnt -no SOURCE,FSTYPE /srv/files").split() == ["/dev/mapper/data-files", "xfs"]
    assert machine.must("sha256sum /srv/files/kept").strip() == digest
    machine.wait_for_minion()
    assert machine.salt("eos.info")["formula"] == info["formula"]


def test_a_guest_that_is_shut_down_has_written_everything(machine):
    digest = machine.must("head -c 5M /dev/urandom > /srv/files/unsynced && sha256sum /srv/files/unsynced")
    machine.shutdown()
    machine.boot()
    assert machine.must("sha256sum /srv/files/unsynced") == digest


def test_a_guest_is_a_node_of_nomad_before_and_after_a_power_cut(estate, machine):
    machine.start_nomad()
    node = machine.wait_for_nomad()
    task = {"Name": "writer", "Driver": "raw_exec", "Config": {"command": "/bin/sh", "args": ["-c", WRITER]}}
    here = {"LTarget": "${node.unique.name}", "RTarget": "machine", "Operand": "="}
    job = {"ID": "writer", "Type": "service", "Constraints": [here], "TaskGroups": [{"Name": "one", "Tasks": [task]}]}
    estate.nomad("/v1/jobs", "POST", {"Job": job})
    try:
        lines = lambda: int(machine.must("cat /srv/files/writer 2>/dev/null | wc -l"))  # noqa: E731
        estate.wait_until(lambda: lines() > 0, 60, "a task in the guest")
        machine.must("sync")
        machine.power_cut()
        machine.boot()
        before = lines()
        assert before > 0
        assert machine.wait_for_nomad() == node
        estate.wait_until(lambda: lines() > before, 90, "the task after the power cut")
    finally:
        estate.nomad("/v1/job/writer?purge=true", "DELETE")
