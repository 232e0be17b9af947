"""What the tests of storage share: a guest as a host of the estate, what an architect approves, and evidence."""

import json
from contextlib import contextmanager

from conftest import Estate
from guests import Guest, guest

WAITING = 4
MIB = 1 << 20


class StorageHost:
    """A guest that is a host of an estate: `eos` acts, the guest's own tools are the evidence."""

    def __init__(self, estate: Estate, machine: Guest):
        self.estate = estate
        self.machine = machine

    def eos(self, *words: str, timeout: float = 600):
        return self.estate.eos(*words, timeout=timeout)

    def carried_out(self, *words: str, timeout: float = 600):
        """What an operator asks for and, where it needs that, an architect approves."""
        ran = self.estate.eos(*words, "--yes", "--json", timeout=timeout)
        if ran.returncode == WAITING:
            operation = json.loads(ran.stdout.strip().split("\n")[-1])["operation"]
            self.estate.must("approve", operation, "--as", "eos-architect", "--yes")
            ran = self.estate.eos("resume", operation, timeout=timeout)
        assert ran.returncode == 0, f"eos {' '.join(words)}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran

    def refused(self, *words: str) -> str:
        """The command is refused and not a byte of the disks is another; what it says."""
        before = self.machine.disk_digests()
        ran = self.estate.eos(*words, "--yes", timeout=300)
        assert ran.returncode == 2, f"eos {' '.join(words)}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        assert self.machine.disk_digests() == before, f"eos {' '.join(words)} touched a disk"
        return " ".join(ran.stderr.split())

    def mounted(self, path: str) -> tuple[str, str]:
        """Source and filesystem, as the kernel has them."""
        code, text = self.machine.run(f"findmnt -no SOURCE,FSTYPE --mountpoint {path}")
        assert code == 0, f"nothing is mounted at {path}"
        source, filesystem = text.split()
        return source, filesystem

    def size(self, volume: str) -> int:
        """Of a logical volume, as the kernel has it."""
        return int(self.machine.must(f"blockdev --getsize64 {volume}"))

    def capacity(self, path: str) -> int:
        """Of a filesystem, as the kernel has it."""
        return int(self.machine.must(f"df --output=size -B1 {path} | tail -1"))

    def write(self, path: str, mebibytes: int) -> str:
        """The digest of a new file."""
        self.machine.must(f"head -c {mebibytes}M /dev/urandom > {path} && sync {path}", timeout=120)
        return self.digest(path)

    def digest(self, path: str) -> str:
        return self.machine.must(f"sha256sum {path}", timeout=120).split()[0]


@contextmanager
def storage_host(estate: Estate, name: str, disks: list[str], threads: bool = False):
    with guest(estate, name, disks=disks, threads=threads) as machine:
        machine.wait_for_minion()
        estate.must("create", "host", name, "--address", "10.0.2.15", "--role", "storage", "--yes")
        yield StorageHost(estate, machine)
