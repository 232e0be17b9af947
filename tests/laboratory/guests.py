"""Machines of a lab with a kernel and disks of their own: user-mode Linux, with a minion of the lab's master inside.

A guest sees the files of this machine, read only, and writes its changes to its system disk; its other disks are
empty. A test can cut the power at any moment: the next boot finds the disks as they were at the cut.
"""

import functools
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from estates import Estate
from packages import cannot_have

GUEST_PACKAGES = {
    "linux.uml": "user-mode-linux",
    "slirp-fullbolt": "slirp",
    "/bin/busybox": "busybox-static",
    "modprobe": "kmod",
    "lvm": "lvm2",
    "thin_check": "thin-provisioning-tools",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "ip": "iproute2",
}
# Where a guest finds the loopback of this machine.
HOST = "10.0.2.2"
# The memory of guests is a file, which is best kept in memory.
MEMORY = "/dev/shm"
SYSTEM_DISK = "1G"
BLOCK = 1 << 20
MINION = Path("/var/lib/minion")

# From the kernel to a root that can be written: the system disk over the files of this machine.
INIT = """\
#!/bin/busybox sh
box=/bin/busybox
fail() { echo "guest: no $1"; $box poweroff -f; }
$box mount -t proc proc /proc
modules=/usr/lib/uml/modules/$($box uname -r)
for word in $($box cat /proc/cmdline); do
    case $word in guest.share=*) share=${word#*=};; esac
done
$box mount -t tmpfs -o mode=755 tmpfs /mnt || fail tmpfs
$box mkdir /mnt/dev /mnt/system /mnt/root
$box mount -t devtmpfs dev /mnt/dev || fail devices
$box mount -t ext4 /mnt/dev/ubda /mnt/system || fail "system disk"
$box insmod $modules/kernel/fs/overlayfs/overlay.ko
layers=lowerdir=/,upperdir=/mnt/system/upper,workdir=/mnt/system/work
$box mount -t overlay -o $layers overlay /mnt/root || fail overlay
cd /mnt/root
$box mount -t proc proc proc
$box mount -t sysfs sysfs sys
$box mount --move /mnt/dev dev
$box mkdir -p dev/pts dev/shm
$box mount -t devpts -o ptmxmode=666 devpts dev/pts
$box mount -t tmpfs tmpfs dev/shm
$box mount -t tmpfs -o mode=755 tmpfs run
$box mkdir -p run/lock run/lvm
$box mount -t hostfs -o sync,$share share guest || fail share
exec $box chroot . $(. /mnt/root/guest/settings; echo $PYTHON) -I -S /guest/agent.py
"""

# What a machine does before its services start. There is no udev: libdm makes the nodes of devices.
BOOT = """\
. /guest/settings
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr
hostname $NAME
modprobe -a dm-mod dm-snapshot dm-thin-pool dm-mirror loop fuse
ip link set lo up
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up
ip route add default via $HOST
mount -t cgroup2 cgroup2 /sys/fs/cgroup
vgchange -ay
mount -a
"""

# The first process: runs commands whose numbers follow one another, and reaps what they leave.
AGENT = """\
import json, os, signal, time

SHARE = "/guest/"
os.chdir("/")
os.environ.clear()
os.environ.update(
    PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME="/root",
    LANG="C.UTF-8",
    DM_DISABLE_UDEV="1",
)


def spawn(script, output):
    open_null = (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)
    outputs = [(os.POSIX_SPAWN_DUP2, output, one) for one in (1, 2)]
    shell = ["/bin/sh", "-c", script]
    return os.posix_spawn(shell[0], shell, os.environ, file_actions=[open_null, *outputs], setsid=True)


def answer(number, status):
    with open(f"/run/{number}.output", "rb") as file:
        output = file.read().decode(errors="replace")
    path = f"{SHARE}answers/{number}"
    with open(path + ".new", "w") as file:
        json.dump([os.waitstatus_to_exitcode(status), output], file)
    os.rename(path + ".new", path)


def reap():
    # Answers for what was asked for, and says whether anything is left.
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if not pid:
            return True
        if pid in running:
            answer(running.pop(pid), status)


def shut_down():
    # Both go to everybody but the first process.
    os.kill(-1, signal.SIGTERM)
    ends = time.monotonic() + 5
    while reap() and time.monotonic() < ends:
        time.sleep(0.05)
    os.kill(-1, signal.SIGKILL)
    os.execv("/bin/sh", ["/bin/sh", "/guest/shutdown"])


running, number = {}, 1
console = os.open("/dev/console", os.O_WRONLY)
os.waitpid(spawn(". /guest/boot", console), 0)
for service in sorted(os.listdir(SHARE + "services")):
    spawn(f"exec sh /guest/service {service}", console)
open(SHARE + "booted", "w").close()
while True:
    reap()
    try:
        with open(f"{SHARE}commands/{number}") as file:
            script = file.read()
    except FileNotFoundError:
        time.sleep(0.05)
        continue
    if script == "shut down":
        shut_down()
    with open(f"/run/{number}.output", "w") as output:
        running[spawn(script, output.fileno())] = number
    number += 1
"""

# Starts a service again whenever it ends.
SERVICE = """\
exec >> /guest/$1.log 2>&1
while :; do
    sh /guest/services/$1
    sleep 1
done
"""

SHUTDOWN = """\
exec > /dev/console 2>&1
umount -a -t xfs,btrfs,ext4
vgchange -an
sync
echo u > /proc/sysrq-trigger
exec busybox poweroff -f
"""
# Nomad tells its clients of a server on loopback: passes connections to a port there on to this machine.
PASS = """\
import socket, sys, threading

host, port = sys.argv[1], int(sys.argv[2])


def copy(source, sink):
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        sink.close()


listener = socket.create_server(("127.0.0.1", port))
while True:
    near, _ = listener.accept()
    try:
        far = socket.create_connection((host, port))
    except OSError:
        near.close()
        continue
    for pair in ((near, far), (far, near)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""
# Writes a pair of keys; `argv` names their files without `.pem` and `.pub`.
MAKE_KEYS = """\
import sys
from salt.crypt import gen_keys
for end, text in zip(('.pem', '.pub'), gen_keys(2048)):
    open(sys.argv[1] + end, 'w').write(text)
"""
LVM_SETTINGS = """\
activation {
    udev_sync = 0
    udev_rules = 0
}
devices {
    obtain_device_list_from_udev = 0
}
"""


class Guest:
    """One machine; off until `boot`, and a minion of the estate's lab if there is one."""

    def __init__(self, directory: Path, name: str, estate: Estate | None, disks: list[str], memory: str):
        self.directory, self.name, self.estate, self.memory = directory, name, estate, memory
        self.share = directory / "share"
        self.disks = [directory / f"disk{number}" for number in range(1, len(disks) + 1)]
        self.process: subprocess.Popen | None = None
        self.commands = 0
        self.share.mkdir(parents=True)
        for disk, size in zip([self._system_disk, *self.disks], [SYSTEM_DISK, *disks], strict=True):
            subprocess.run(["truncate", "-s", size, disk], check=True)
        self._make_system_disk()

    def boot(self, timeout: float = 60) -> None:
        """Turns it on, and waits until commands can be run; the minion takes longer."""
        assert self.process is None, f"{self.name} is on"
        for old in ("commands", "answers"):
            shutil.rmtree(self.share / old, ignore_errors=True)
            (self.share / old).mkdir()
        (self.share / "booted").unlink(missing_ok=True)
        for log in self.share.glob("*.log"):
            log.unlink()
        self.commands = 0
        drives = [f"ubd{chr(ord('a') + number)}={path}" for number, path in enumerate([self._system_disk, *self.disks])]
        command = [
            *("linux.uml", f"mem={self.memory}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"),
            *(f"init={self.directory}/init", f"umid={self.name}", f"uml_dir={self.directory}"),
            *("con=null", "con0=null,fd:1", "ssl=null", "eth0=slirp,,/usr/bin/slirp-fullbolt"),
            *(f"guest.share={self.share}", *drives),
        ]
        with (self.directory / "console").open("ab") as console:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                env={"PATH": os.environ["PATH"], "HOME": str(self.directory), "TMPDIR": MEMORY},
                start_new_session=True,
            )
        self._wait(self.share / "booted", timeout, "boot")

    def run(self, command: str, timeout: float = 60) -> tuple[int, str]:
        """Runs a command of the shell inside, without Salt: its exit code, and all that it prints."""
        return self.finished(self.start(command), timeout, command)

    def must(self, command: str, timeout: float = 60) -> str:
        code, output = self.run(command, timeout)
        assert code == 0, f"{self.name}: `{command}`: exit {code}\n{output}"
        return output

    def start(self, command: str) -> int:
        """Starts a command that goes on; what it prints is in /run/NUMBER.output inside."""
        self.commands += 1
        path = self.share / f"commands/{self.commands}"
        path.with_suffix(".new").write_text(command)
        path.with_suffix(".new").rename(path)
        return self.commands

    def finished(self, number: int, timeout: float, command: str = "") -> tuple[int, str]:
        """Waits for the end of what was started: its exit code, and all that it printed."""
        self._wait(self._answer(number), timeout, command or f"the end of command {number}")
        code, output = json.loads(self._answer(number).read_text())
        return code, output

    def is_finished(self, number: int) -> bool:
        return self._answer(number).exists()

    def power_cut(self) -> None:
        """Ends the machine at once; what it had not written to its disks is lost."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        ends = time.monotonic() + 10
        while self._is_alive():
            assert time.monotonic() < ends, f"{self.name}: processes stay after a power cut"
            time.sleep(0.01)
        self.process = None

    def shutdown(self, timeout: float = 30) -> None:
        """Turns it off in order, and by force if that takes too long."""
        self.start("shut down")
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout)
        self.power_cut()

    def salt(self, function: str, timeout: float = 25, **arguments):
        """What this minion answers to one call of the lab's API, which itself answers within a minute or not at all."""
        waits = {"timeout": timeout, "gather_job_timeout": timeout}
        call = {"client": "local", "tgt": self.name, "fun": function, "kwarg": arguments, **waits}
        status, body = self.estate.salt([call])
        assert status == 200, body
        return json.loads(body)["return"][0].get(self.name)

    def wait_for_minion(self, timeout: float = 120) -> None:
        """Waits until the minion answers."""
        ends = time.monotonic() + timeout
        # Salt waits in vain for what comes after it asked, so that asking is left until the minion listens.
        self._wait_for_word("minion", "ready to receive requests", ends)
        while self.salt("test.ping", timeout=10) is not True:
            self._check(ends, "an answer of the minion")

    def start_nomad(self) -> None:
        """Makes it a client of the lab's Nomad under its own name, at once and at every boot from now on. Its driver is
        `raw_exec`; what a task serves can be reached from inside only.
        """
        lab = json.loads((self.estate.lab / "lab.json").read_text())
        port = lab["ports"]["nomad_rpc"]
        settings = {
            "name": self.name,
            "data_dir": "/var/lib/nomad",
            "bind_addr": "127.0.0.1",
            "advertise": {"http": "127.0.0.1", "rpc": "127.0.0.1", "serf": "127.0.0.1"},
            "disable_update_check": True,
            "acl": {"enabled": True},
            "consul": {"enabled": False},
            "plugin": {"raw_exec": {"config": {"enabled": True}}},
            "client": {
                "enabled": True,
                "servers": [f"127.0.0.1:{port}"],
                "network_interface": "eth0",
                # This kernel does not say how fast its processor is.
                "cpu_total_compute": 2000,
                "options": {"fingerprint.denylist": "env_aws,env_gce,env_azure,env_digitalocean,consul,vault"},
                "gc_disk_usage_threshold": 99,
                "gc_inode_usage_threshold": 99,
            },
        }
        (self.share / "nomad.json").write_text(json.dumps(settings))
        self._serve("nomad-pass", f"exec {sys.executable} -I -S /guest/pass.py {HOST} {port}\n")
        nomad = lab["engines"]["nomad"]["path"]
        self._serve("nomad", f"mkdir -p /var/lib/nomad && exec {nomad} agent -config /guest/nomad.json\n")

    def wait_for_nomad(self, timeout: float = 120) -> str:
        """Waits until the client has registered since the last boot; gives back the id of the node."""
        ends = time.monotonic() + timeout
        self._wait_for_word("nomad", "node registration complete", ends)
        while not (found := [node["ID"] for node in self._nodes() if node["Status"] == "ready"]):
            self._check(ends, "a node that is ready")
            time.sleep(0.2)
        return found[0]

    def disk_digests(self) -> list[str]:
        """What is on each disk but that of the system. A file system that is mounted may write by itself."""
        if self.process:
            self.must("sync")
        return [digest(disk) for disk in self.disks]

    def log(self) -> str:
        """The last words of the kernel, of the boot and of the services."""
        files = [self.directory / "console", *self.share.glob("*.log")]
        return "\n".join(f"{file.name}:\n{file.read_text(errors='replace')[-3000:]}" for file in files)

    def _answer(self, number: int) -> Path:
        return self.share / f"answers/{number}"

    def _wait(self, path: Path, timeout: float, what: str) -> None:
        ends = time.monotonic() + timeout
        while not path.exists():
            self._check(ends, what)
            time.sleep(0.02)

    def _wait_for_word(self, service: str, word: str, ends: float) -> None:
        log = self.share / f"{service}.log"
        while not (log.exists() and word in log.read_text(errors="replace")):
            self._check(ends, f"`{word}` of {service}")
            time.sleep(0.1)

    def _check(self, ends: float, what: str) -> None:
        assert self.process.poll() is None, f"{self.name} went off before: {what}\n{self.log()}"
        assert time.monotonic() < ends, f"{self.name}, not in time: {what}\n{self.log()}"

    def _is_alive(self) -> bool:
        """Whether any process of the guest runs: each is one here, too, of one group. Whoever inherits them reaps late."""
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                condition, _, group, *_ = stat.read_text().rsplit(")", 1)[1].split()
                if int(group) == self.process.pid and condition not in "ZX":
                    return True
        return False

    @property
    def _system_disk(self) -> Path:
        return self.directory / "system"

    def _make_system_disk(self) -> None:
        """What differs from this machine from the first boot on is in the upper layer."""
        tree = self.directory / "tree"
        upper = tree / "upper"
        (tree / "work").mkdir(parents=True)
        (upper / "guest").mkdir(parents=True)
        for modules in Path("/usr/lib/uml/modules").iterdir():
            (upper / "usr/lib/modules").mkdir(parents=True, exist_ok=True)
            (upper / "usr/lib/modules" / modules.name).symlink_to(modules)
        (upper / "etc/lvm").mkdir(parents=True)
        (upper / "etc/lvm/lvmlocal.conf").write_text(LVM_SETTINGS)
        (upper / "etc/fstab").write_text("")
        (upper / "etc/mtab").symlink_to("/proc/self/mounts")
        (upper / "etc/hostname").write_text(f"{self.name}\n")
        (upper / "etc/hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {self.name}\n")
        (self.directory / "init").write_text(INIT)
        (self.directory / "init").chmod(0o755)
        (self.share / "settings").write_text(f"NAME={self.name}\nHOST={HOST}\nPYTHON={sys.executable}\n")
        (self.share / "boot").write_text(BOOT)
        (self.share / "shutdown").write_text(SHUTDOWN)
        (self.share / "agent.py").write_text(AGENT)
        (self.share / "pass.py").write_text(PASS)
        (self.share / "service").write_text(SERVICE)
        (self.share / "services").mkdir()
        if self.estate:
            self._make_minion(upper)
        make = ["mke2fs", "-q", "-F", "-t", "ext4", "-d", tree, self._system_disk]
        subprocess.run(make, check=True, env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})
        shutil.rmtree(tree)

    def _make_minion(self, upper: Path) -> None:
        """A minion like those of the lab; it and the master know each other already."""
        own = upper / MINION.relative_to("/")
        (own / "etc").mkdir(parents=True)
        (own / "pki").mkdir()
        settings = json.loads((self.estate.lab / "salt/minion/etc/minion").read_text())
        settings.pop("schedule", None)
        settings |= {
            "id": self.name,
            "master": HOST,
            "conf_file": str(MINION / "etc/minion"),
            "pki_dir": str(MINION / "pki"),
            "cachedir": str(MINION / "cache"),
            "extension_modules": str(MINION / "extmods"),
            "sock_dir": "/run/minion",
            "pidfile": "/run/minion.pid",
            # It says when it listens, and what it is asked for.
            "log_level": "info",
            "grains_cache": True,
            "grains_cache_expiration": 86400,
            "mine_enabled": False,
            # A fork takes a guest seconds: with jobs as threads it answers three times as soon.
            "multiprocessing": False,
            "eos": {"roles": settings["eos"]["roles"]},
        }
        (own / "etc/minion").write_text(json.dumps(settings))
        salt = Path(json.loads((self.estate.lab / "lab.json").read_text())["engines"]["salt"]["path"])
        # In place of the shell, and without a parent that starts it again: the loop around it does.
        script = f"exec {salt}/salt-minion -c {MINION}/etc --disable-keepalive\n"
        (self.share / "services/minion").write_text(script)
        subprocess.run([salt / "python", "-c", MAKE_KEYS, own / "pki/minion"], check=True)
        # What `saltutil.sync_all` would bring, which takes a guest many seconds.
        shutil.copytree(self.estate.lab / "salt/minion/extmods", own / "extmods")
        shutil.copy(self._master_keys / "master.pub", own / "pki/minion_master.pub")
        shutil.copy(own / "pki/minion.pub", self._master_keys / "minions" / self.name)

    @property
    def _master_keys(self) -> Path:
        return self.estate.lab / "salt/master/pki"

    def _serve(self, service: str, script: str) -> None:
        (self.share / "services" / service).write_text(script)
        self.start(f"exec sh /guest/service {service}")

    def _nodes(self) -> list[dict]:
        return [node for node in self.estate.nomad("/v1/nodes") if node["Name"] == self.name]

    def _forget(self) -> None:
        """Takes from the lab what it has of this minion and node."""
        if (self.share / "services/nomad").exists():
            # The lab may be down.
            with suppress(OSError):
                for node in self._nodes():
                    self.estate.nomad(f"/v1/node/{node['ID']}/purge", "POST")
        (self._master_keys / "minions" / self.name).unlink(missing_ok=True)
        shutil.rmtree(self.estate.lab / "salt/master/cache/minions" / self.name, ignore_errors=True)


def digest(disk: Path) -> str:
    """Of all on a disk that is not zero: most of it was never written, and is not read."""
    found = hashlib.sha256()
    with disk.open("rb") as file:
        offset, end = 0, os.fstat(file.fileno()).st_size
        while offset < end:
            try:
                offset = os.lseek(file.fileno(), offset, os.SEEK_DATA) // BLOCK * BLOCK
            except OSError:
                # Nothing but a hole up to the end.
                break
            block = os.pread(file.fileno(), BLOCK, offset)
            if block.count(0) < len(block):
                found.update(offset.to_bytes(8) + block)
            offset += BLOCK
    return found.hexdigest()


@contextmanager
def guest(estate: Estate | None, name: str, disks: list[str] = (), memory: str = "512M"):
    """A guest that is on, its minion not waited for, and that leaves nothing."""
    directory = Path(tempfile.mkdtemp(prefix=f"eos-guest-{name}-"))
    made = None
    try:
        made = Guest(directory, name, estate, list(disks), memory)
        made.boot()
        yield made
    finally:
        if made and made.process:
            made.power_cut()
        if made and estate:
            made._forget()
        shutil.rmtree(directory)


@functools.cache
def no_guests() -> str | None:
    """Why guests cannot be booted here, or nothing if one was."""
    why = cannot_have(GUEST_PACKAGES, "the disks of a guest need root: what it changes belongs to root")
    if why:
        return why
    try:
        with guest(None, "trial") as trial:
            code, output = trial.run("test -b /dev/ubda && lvm version")
    except AssertionError as error:
        return f"no guest boots here: {error}"
    return None if code == 0 else f"a guest boots and has no disks: {output}"
