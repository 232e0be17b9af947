"""Storage on a machine with disks of its own: every verb, through Salt, read back from the kernel and the disks."""

import json

import pytest
from guests import no_guests
from storage import MIB, storage_host

pytestmark = [pytest.mark.chain, pytest.mark.quiet]

# Salt's own name for a minion, and a name that a component cannot have.
HOST = "node1.example.org"
VOLUME = "database_volume"


# A table with one partition, as `fdisk` writes it.
TABLE = r"""{ printf '\0\0\2\0\203\377\377\377\0\10\0\0\0\100\0\0'; head -c 48 /dev/zero; printf '\125\252'; } |
    dd of=/dev/ubde bs=1 seek=446 && blockdev --rereadpt /dev/ubde"""
# Disks that must not be used: what was done to them, and what is said of them.
ODD = {
    "/dev/ubdd": ("mkfs.ext4 -q -b 4096 /dev/ubdd", "holds a filesystem (ext4)"),
    "/dev/ubde": (TABLE, "partitioned"),
    "/dev/ubdf": ("pvcreate -q /dev/ubdf && vgcreate -q foreign /dev/ubdf", "physical volume of group foreign"),
    "/dev/ubdg": ("mkfs.xfs -q /dev/ubdg && mkdir /mnt/own && mount -o ro /dev/ubdg /mnt/own", "mounted at /mnt/own"),
    "/dev/ubdh": ("true", "smaller than 64 MiB"),
}


@pytest.fixture(scope="module")
def host(estate):
    if why := no_guests():
        pytest.skip(why)
    with storage_host(estate, HOST, ["2G", "1G", "1G", "100M", "100M", "400M", "32M"]) as made:
        for command, _ in ODD.values():
            made.machine.must(command)
        yield made


@pytest.fixture(scope="module")
def data(host):
    """A volume of its own, with a file on it."""
    host.carried_out(
        *f"create volume {VOLUME} --size 400M --on data-vg --device /dev/ubdb --host {HOST} --mount /srv/files".split()
    )
    return host.write("/srv/files/first", 20)


def test_a_volume_is_made_of_a_disk_once_an_architect_approves(host, data):
    assert host.mounted("/srv/files") == ("/dev/mapper/data--vg-database_volume", "xfs")
    assert host.size(f"/dev/data-vg/{VOLUME}") == 400 * MIB
    assert "/srv/files" in host.machine.must("cat /etc/fstab")
    # Asked for again, it is there.
    again = host.eos(*f"create volume {VOLUME} --size 400M --on data-vg --device /dev/ubdb --host {HOST} --yes".split())
    assert again.returncode == 0, again.stderr


def test_it_grows_while_it_is_written_to(host, data):
    with host.load("/srv/files"):
        host.carried_out(*f"resize lvm {VOLUME} +200M".split())
    assert host.size(f"/dev/data-vg/{VOLUME}") == 600 * MIB
    assert host.capacity("/srv/files") > 500 * MIB
    assert host.digest("/srv/files/first") == data


def test_what_it_says_of_storage(host, data):
    said = host.estate.json("storage", HOST)["hosts"][0]["storage"]
    disks = {disk["path"]: disk for disk in said["disks"]}
    assert disks["/dev/ubdb"]["group"] == "data-vg" and disks["/dev/ubdc"]["usable"], disks
    assert {path: disks[path]["why"] for path in ODD} == {path: why for path, (_, why) in ODD.items()}
    assert not any(disks[path]["usable"] for path in ODD), disks
    volume = next(one for one in said["volumes"] if one["name"] == VOLUME)
    assert (volume["id"], volume["filesystem"], volume["mount"]) == (f"production/{VOLUME}/data", "xfs", "/srv/files")
    assert volume["used"] > 20 * MIB


def test_a_snapshot_brings_back_what_was(host, data):
    with host.load("/srv/files") as load:
        before = load.written()
        host.carried_out(*f"snapshot create {VOLUME} before".split())
        # Nothing is taken away under the hands of whoever writes.
        refused = host.eos(*f"snapshot restore {VOLUME} before --yes".split())
        why = "cannot be restored while files are open in /srv/files"
        assert refused.returncode == 2 and why in " ".join(refused.stderr.split()), refused.stderr
    listed = json.loads(host.eos(*f"snapshot list {VOLUME} --json".split()).stdout.strip().split("\n")[-1])
    assert [one["name"] for one in listed["volumes"][0]["snapshots"]] == ["before"], listed
    host.machine.must("rm /srv/files/first && echo new > /srv/files/after && sync")
    host.carried_out(*f"snapshot restore {VOLUME} before".split())
    load.must_be_there(before)
    assert host.digest("/srv/files/first") == data
    assert host.machine.run("test -e /srv/files/after")[0] != 0
    assert host.mounted("/srv/files") == ("/dev/mapper/data--vg-database_volume", "xfs")
    assert "before" not in host.machine.must("lvs --noheadings -o lv_name data-vg")


def test_a_snapshot_can_be_deleted(host, data):
    host.carried_out(*f"snapshot create {VOLUME} passing --room 64M".split())
    assert f"{VOLUME}.passing" in host.machine.must("lvs --noheadings -o lv_name data-vg")
    with host.load("/srv/files"):
        host.carried_out(*f"snapshot delete {VOLUME} passing".split())
    assert "passing" not in host.machine.must("lvs --noheadings -o lv_name data-vg")
    assert host.digest("/srv/files/first") == data


REFUSALS = {
    f"resize lvm {VOLUME} 300M": "XFS has no shrink",
    f"resize lvm {VOLUME} 50T": "GiB free and needs 50.0 TiB more",
    f"resize lvm {VOLUME} -1G": "is not a size",
    f"resize lvm {VOLUME} lots": "is not a size",
    "resize lvm database_volum +1G": f"Did you mean {VOLUME}?",
    f"create volume small --size 100M --on data-vg --host {HOST}": "XFS needs 300 MiB at least",
    f"create volume other --size 500M --on other-vg --device /dev/ubda --host {HOST}": "disk /dev/ubda cannot be used",
    f"create volume other --size 500M --on other-vg --device /dev/ubdb --host {HOST}": "physical volume of group data-vg",
    f"create volume other --size 500M --on other-vg --device /dev/nothing --host {HOST}": "there is no disk /dev/nothing",
    **{f"create volume other --size 500M --on other-vg --device {path} --host {HOST}": ODD[path][1] for path in ODD},
    f"create volume other --size 500M --on other-vg --host {HOST}": "has no volume group other-vg",
    f"create volume other --size 500M --on data-vg --mount /srv/files --host {HOST}": "both be at /srv/files",
    f"create volume other --size 500M --on data-vg --mount / --host {HOST}": 'mount cannot be "/"',
    f"create volume other --size nonsense --on data-vg --host {HOST}": "is not a size",
    "create volume other --size 500M --on data-vg --host nowhere": "There is no host",
    f"snapshot restore {VOLUME} never": "has no snapshot",
    "convert filesystem /srv/other btrfs": "There is no volume at",
}


@pytest.mark.parametrize("words", REFUSALS)
def test_refused_with_nothing_touched(host, data, words):
    assert REFUSALS[words] in host.refused(*words.split())


def test_backups_are_compressed_and_shrink_with_proof(host, data):
    host.carried_out(*f"create volume archive --size 400M --on data-vg --purpose backup --host {HOST}".split())
    assert host.mounted("/srv/archive")[1] == "btrfs"
    assert "compress=zstd" in host.machine.must("findmnt -no OPTIONS /srv/archive")
    digest = host.write("/srv/archive/kept", 20)
    with host.load("/srv/archive"):
        host.carried_out(*"resize lvm archive 300M".split())
    assert host.size("/dev/data-vg/archive") == 300 * MIB
    assert host.digest("/srv/archive/kept") == digest


def test_a_volume_that_is_deleted_keeps_its_data_unless_it_is_asked_for(host, data):
    create = f"create volume passing_volume --size 300M --on data-vg --filesystem ext4 --host {HOST}".split()
    host.carried_out(*create)
    digest = host.write("/srv/passing_volume/kept", 5)
    with host.load("/srv/passing_volume"):
        host.carried_out(*"delete volume passing_volume".split())
    assert host.digest("/srv/passing_volume/kept") == digest
    # Named again, it is the same volume.
    host.carried_out(*create)
    assert host.digest("/srv/passing_volume/kept") == digest
    host.carried_out(*"delete volume passing_volume --with-data".split())
    assert host.machine.run("findmnt --mountpoint /srv/passing_volume")[0] != 0
    assert "passing" not in host.machine.must("lvs --noheadings -o lv_name data-vg; cat /etc/fstab")
    assert host.digest("/srv/files/first") == data
