"""Shared parts of the storage tests: a guest as a host of the estate, an architect's approvals, and evidence."""

import json
import time
from contextlib import contextmanager

from estates import Estate
from guests import Guest, guest

WAITING = 4
MIB = 1 << 20

# Files of all kinds; `argv` names the directory.
FILL = """\
import os, sys
os.chdir(sys.argv[1])
os.makedirs("inner/empty")
for number in range(8):
    with open(f"inner/file-{number}", "wb") as file:
        file.write(os.urandom(number * 700_001))
os.setxattr("inner/file-1", "user.note", b"kept")
os.setxattr("inner", "user.note", b"as well")
os.link("inner/file-2", "linked")
os.symlink("inner/file-3", "pointed")
os.chown("inner/file-4", 1234, 2345)
os.chmod("inner/file-4", 0o4750)
os.mkfifo("inner/pipe")
with open("sparse", "wb") as file:
    file.seek(20 << 20)
    file.write(b"end")
os.utime("inner/file-5", ns=(1, 1_234_567_890_123_456_789))
os.utime("inner/empty", ns=(1, 1_000_000_000_000_000_000))
os.sync()
"""
# All that files are; what filesystems make for themselves is left out.
LIST = """\
import hashlib, json, os, stat, sys
found, names = {}, {}
os.chdir(sys.argv[1])
for directory, inner, files in os.walk("."):
    if directory == ".":
        inner[:] = [name for name in inner if name not in ("lost+found", "ext2_saved")]
    for name in [*inner, *files]:
        path = os.path.join(directory, name)
        is_ = os.lstat(path)
        kind = stat.S_IFMT(is_.st_mode)
        fact = {"mode": is_.st_mode, "user": is_.st_uid, "group": is_.st_gid, "changed": is_.st_mtime_ns}
        fact["attributes"] = {
            key: os.getxattr(path, key, follow_symlinks=False).hex() for key in os.listxattr(path, follow_symlinks=False)
        }
        if kind == stat.S_IFLNK:
            fact["to"] = os.readlink(path)
        if kind == stat.S_IFREG:
            fact["size"] = is_.st_size
            fact["is_sparse"] = is_.st_blocks * 512 < is_.st_size // 2
            with open(path, "rb") as file:
                fact["sha256"] = hashlib.sha256(file.read()).hexdigest()
            names.setdefault(is_.st_ino, []).append(path)
        found[path] = fact
for paths in names.values():
    for path in paths:
        found[path]["links"] = sorted(paths)
print(json.dumps(found, sort_keys=True))
"""

# Writes file after file, and names each with its digest once it is on the disk; any error is its end.
LOAD = """\
import hashlib, os, sys, time
where, log, end = sys.argv[1:]
os.chdir(where)
number = 0
with open(log, "w") as log:
    while not os.path.exists(end):
        number += 1
        content = os.urandom(8192)
        with open(f"load-{number}", "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        directory = os.open(".", os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
        print(f"{hashlib.sha256(content).hexdigest()}  load-{number}", file=log, flush=True)
        # A guest has one slow processor, and its minion needs some of it.
        time.sleep(0.05)
"""


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
        """The command is refused and not a byte of the disks is another; what it says. The filesystems stand still for
        it: XFS writes by itself some time after it was written to.
        """
        still = "for path in $(findmnt -rno TARGET | grep ^/srv/); do fsfreeze {} $path || exit 1; done"
        self.machine.must(still.format("--freeze"))
        try:
            before = self.machine.disk_digests()
            ran = self.estate.eos(*words, "--yes", timeout=300)
            after = self.machine.disk_digests()
        finally:
            self.machine.must(still.format("--unfreeze"))
        assert ran.returncode == 2, f"eos {' '.join(words)}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        assert after == before, f"eos {' '.join(words)} touched a disk"
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

    def fill(self, path: str) -> str:
        """Puts files of all kinds into a directory; answers all that they are."""
        self._python("fill.py", FILL, path)
        return self.listed(path)

    def listed(self, path: str) -> str:
        """All that the files of a directory are."""
        return self._python("list.py", LIST, path)

    @contextmanager
    def load(self, path: str):
        """A directory is written to meanwhile; what was on the disk once must be there afterwards."""
        load = Load(self.machine, path)
        try:
            load.goes_on()
            yield load
            load.goes_on()
        finally:
            load.end()
        load.must_be_there(load.written())

    def _python(self, name: str, script: str, path: str) -> str:
        (self.machine.share / name).write_text(script)
        return self.machine.must(f". /guest/settings; $PYTHON -I -S /guest/{name} {path}", timeout=120)

    def digest(self, path: str) -> str:
        return self.machine.must(f"sha256sum {path}", timeout=120).split()[0]


class Load:
    """What writes to a directory of a guest, file after file, until it is ended."""

    def __init__(self, machine: Guest, path: str):
        self.machine, self.path = machine, path
        self.log, self.ending = machine.share / "load.log", machine.share / "load.end"
        for old in (self.log, self.ending):
            old.unlink(missing_ok=True)
        (machine.share / "load.py").write_text(LOAD)
        command = f". /guest/settings; $PYTHON -I -S /guest/load.py {path} /guest/load.log /guest/load.end"
        self.number = machine.start(command)

    def written(self) -> list[str]:
        """The files that are on the disk, as `sha256sum` names them."""
        lines = self.log.read_text().splitlines(keepends=True) if self.log.exists() else []
        return [line for line in lines if line.endswith("\n")]

    def goes_on(self, more: int = 20, timeout: float = 60) -> None:
        """Waits until it has written some more files."""
        ends, wanted = time.monotonic() + timeout, len(self.written()) + more
        while len(self.written()) < wanted:
            if self.machine.is_finished(self.number):
                raise AssertionError(f"the load came to an end: {self.machine.finished(self.number, 0)}")
            assert time.monotonic() < ends, f"{len(self.written())} files in {timeout} s are no load"
            time.sleep(0.1)

    def end(self) -> None:
        self.ending.touch()
        code, output = self.machine.finished(self.number, 30)
        assert code == 0, f"a write failed: {output}"

    def must_be_there(self, files: list[str]) -> None:
        (self.machine.share / "load.sums").write_text("".join(files))
        self.machine.must(f"cd {self.path} && sha256sum --check --quiet --strict /guest/load.sums", timeout=120)


@contextmanager
def storage_host(estate: Estate, name: str, disks: list[str]):
    with guest(estate, name, disks=disks) as machine:
        machine.wait_for_minion()
        estate.must(
            "create",
            "host",
            name,
            "--address",
            "10.0.2.15",
            "--role",
            "storage",
            "--yes",
        )
        yield StorageHost(estate, machine)
