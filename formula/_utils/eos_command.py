"""Programs of the operating system: run by argument lists, without a shell; if one fails, its own words are told."""

from __future__ import annotations

import contextlib
import os
import subprocess

from salt.exceptions import CommandExecutionError

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_UDEV = "/run/udev/control"
_GENTLY = ("ionice", "-c", "3", "nice", "-n", "19")
# Whoever has more to say says the same again.
_WORDS = 2000
_SECONDS = 300
# What reads or writes all of a filesystem takes as long as that is large.
_SECONDS_WITH_DATA = 24 * 60 * 60
_WITH_DATA = ("mkfs.xfs", "mkfs.btrfs", "mkfs.ext4", "resize2fs", "e2fsck", "btrfs", "btrfs-convert", "sync", "umount")
_SECONDS_TO_DIE = 5
_PACKAGES = {
    "lvm": "lvm2",
    "dmsetup": "dmsetup",
    "mkfs.xfs": "xfsprogs",
    "xfs_growfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "btrfs": "btrfs-progs",
    "btrfs-convert": "btrfs-progs",
    "mkfs.ext4": "e2fsprogs",
    "resize2fs": "e2fsprogs",
    "e2fsck": "e2fsprogs",
}
# LVM tells of its optional helper on every second command.
_NOISE = ("lvmpolld", "File descriptor ")


def has_udev() -> bool:
    return os.path.exists(_UDEV)


def has_systemd() -> bool:
    return os.path.isdir("/run/systemd/system")


def is_installed(program: str) -> bool:
    return any(os.access(os.path.join(folder, program), os.X_OK) for folder in _PATH.split(":"))


def package_of(program: str) -> str:
    """The Debian package that has the program."""
    return _PACKAGES.get(program, "util-linux")


def run(command: list[str], name: str, succeeds: tuple[int, ...] = (0,), gently: bool = False) -> str:
    """What the program printed. Anything but an exit code of `succeeds` is a failure of the object of this name.

    `gently` leaves processor and disk to whoever wants them.
    """
    environment = {"PATH": _PATH, "LC_ALL": "C", "LVM_SUPPRESS_FD_WARNINGS": "1"}
    if not has_udev():
        # libdm makes the device nodes itself then; otherwise it waits for somebody who is not there.
        environment["DM_DISABLE_UDEV"] = "1"
    program = command[1] if command[0] == "lvm" else command[0]
    seconds = _SECONDS_WITH_DATA if gently or program in _WITH_DATA else _SECONDS
    try:
        code, stdout, stderr = _ran([*_GENTLY, *command] if gently else command, environment, seconds)
    except FileNotFoundError:
        raise _failure(name, f"{command[0]} is not installed", f"Install {package_of(command[0])}") from None
    except subprocess.TimeoutExpired:
        words, hint = f"{program} gave no answer in {seconds} s", "Is the disk or filesystem behind it still there?"
        raise _failure(name, words, hint) from None
    if code not in succeeds:
        said = [line.strip() for line in (stderr.strip() or stdout).splitlines()]
        words = "; ".join(line for line in said if line and not any(noise in line for noise in _NOISE))
        ended = f"it ended with {code}"
        raise _failure(name, f"{program}: {words[:_WORDS] or ended}", "Fix the fault that it names on this minion")
    return stdout


def _ran(command: list[str], environment: dict[str, str], seconds: float) -> tuple[int, str, str]:
    """Exit code and output. One that hangs in the kernel cannot be ended: it is left behind."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = subprocess.Popen(command, text=True, errors="replace", env=environment, **pipes)  # noqa: S603
    try:
        stdout, stderr = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=_SECONDS_TO_DIE)
        raise
    return child.returncode, stdout, stderr


def _failure(name: str, words: str, hint: str) -> CommandExecutionError:
    return CommandExecutionError(words, info={"layer": "salt", "object": name, "words": words, "hint": hint})
