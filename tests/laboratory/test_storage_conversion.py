"""Another filesystem under the same files: compared file by file, kept until its commit, and rolled back."""

import pytest
from guests import no_guests
from storage import storage_host

pytestmark = [pytest.mark.chain, pytest.mark.quiet]


@pytest.fixture(scope="module")
def host(estate):
    if why := no_guests():
        pytest.skip(why)
    with storage_host(estate, "node3", ["3G"]) as made:
        yield made


@pytest.fixture(scope="module")
def placed(host) -> str:
    """A volume with ext4 and files; all that can be told of them."""
    return made(host, "placed", "ext4", "1G")


def made(host, name: str, filesystem: str, size: str) -> str:
    words = f"create volume {name} --size {size} --on data-vg --device /dev/ubdb --host node3 --filesystem {filesystem}"
    host.carried_out(*words.split())
    return host.fill(f"/srv/{name}")


def test_xfs_is_copied_to_btrfs_and_back(host):
    before = made(host, "copied", "xfs", "400M")
    host.carried_out(*"convert filesystem /srv/copied btrfs --compression zstd".split())
    assert host.mounted("/srv/copied")[1] == "btrfs"
    assert "compress=zstd" in host.machine.must("findmnt -no OPTIONS /srv/copied")
    assert host.listed("/srv/copied") == before
    # The old volume is there until it is not needed.
    assert "copied.old" in host.machine.must("lvs --noheadings -o lv_name data-vg")
    host.carried_out("undo")
    assert host.mounted("/srv/copied")[1] == "xfs"
    assert host.listed("/srv/copied") == before

    host.carried_out(*"convert filesystem /srv/copied btrfs".split())
    with host.load("/srv/copied"):
        host.carried_out(*"convert filesystem /srv/copied --commit".split())
    host.machine.must("rm /srv/copied/load-*")
    assert host.mounted("/srv/copied")[1] == "btrfs"
    assert host.listed("/srv/copied") == before
    assert host.machine.must("lvs --noheadings -o lv_name data-vg").split() == ["copied"]


def test_ext4_becomes_btrfs_in_place_and_ext4_again(host, placed):
    before = placed
    host.carried_out(*"convert filesystem /srv/placed btrfs --compression zstd".split())
    assert host.mounted("/srv/placed")[1] == "btrfs"
    assert host.listed("/srv/placed") == before
    # What it was is in it, not beside it.
    assert "placed.old" not in host.machine.must("lvs --noheadings -o lv_name data-vg")
    host.carried_out("undo")
    assert host.mounted("/srv/placed")[1] == "ext4"
    assert host.listed("/srv/placed") == before


def test_nothing_is_converted_while_it_is_written_to(host, placed):
    before = host.size("/dev/data-vg/placed")
    with host.load("/srv/placed"):
        refused = host.eos(*"convert filesystem /srv/placed btrfs --yes".split())
    why = "cannot be converted while files are open in /srv/placed"
    assert refused.returncode == 2 and why in " ".join(refused.stderr.split()), refused.stderr
    assert host.mounted("/srv/placed")[1] == "ext4" and host.size("/dev/data-vg/placed") == before
