"""A process of this machine, known by more than its number: named in a record, looked for, ended with its children.

A number is given to another process as soon as its own has ended. So a record has the tick at which the process started
and the start of the machine, and whatever is signalled is held by a descriptor, which never becomes another process.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time

_SECONDS_BETWEEN_LOOKS = 0.1


def boot() -> str:
    """Which start of the machine it is: with each, process ids, ticks and the time since begin again."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def own() -> dict:
    """This process, as a record names it."""
    return {"pid": os.getpid(), "start": _start_of(os.getpid()), "boot": boot()}


def is_there(process: dict) -> bool:
    """Whether the very process runs that a record names."""
    return process.get("boot") == boot() and _start_of(process["pid"]) == process["start"]


def end(process: dict, seconds_to_save: float, seconds_to_die: float) -> bool:
    """Ends the process that a record names, with its children; answers whether all of them have ended.

    It is asked first, and has so long to save what it must. Then its children are killed, so that it can still say
    how it ended, and at last itself.
    """
    if not is_there(process):
        return True
    with _Family(process["pid"], process["start"]) as family:
        family.signal(signal.SIGTERM, children=False)
        if not family.wait(seconds_to_save, children=False):
            family.signal(signal.SIGKILL, itself=False)
            if not family.wait(seconds_to_die, children=False):
                family.signal(signal.SIGKILL)
        # Its own end asked the ones that are left: a second signal would keep Terraform from saving its state.
        if not family.wait(seconds_to_save):
            family.signal(signal.SIGKILL)
        return family.wait(seconds_to_die)


class _Family:
    """A process and all its children, each held by a descriptor from when it was first seen."""

    def __init__(self, pid: int, start: int):
        self.root = (pid, start)
        self.held: dict[tuple[int, int], int] = {}
        self._descriptors = contextlib.ExitStack()

    def __enter__(self) -> _Family:
        self._hold(*self.root)
        self._look()
        return self

    def __exit__(self, *_: object) -> None:
        self._descriptors.close()

    def signal(self, number: int, itself: bool = True, children: bool = True) -> None:
        self._look()
        for member in self._members(itself, children):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.held[member], number)

    def wait(self, seconds: float, children: bool = True) -> bool:
        """Whether they have ended, after so many seconds at most; whoever comes meanwhile is held as well."""
        ends = time.monotonic() + seconds
        while running := self._members(children=children):
            left = ends - time.monotonic()
            if left <= 0:
                return False
            self._look()
            select.select([self.held[running[0]]], [], [], min(left, _SECONDS_BETWEEN_LOOKS))
        return True

    def _members(self, itself: bool = True, children: bool = True) -> list[tuple[int, int]]:
        """Those of them that have not ended."""
        asked = [one for one in self.held if (itself if one == self.root else children)]
        # A descriptor of a process is readable once that has ended.
        ended = select.select([self.held[one] for one in asked], [], [], 0)[0]
        return [one for one in asked if self.held[one] not in ended]

    def _look(self) -> None:
        """Takes hold of children that were not seen before."""
        children: dict[int, list[tuple[int, int]]] = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if (found := _stat(int(pid))) is not None:
                children.setdefault(found[0], []).append((int(pid), found[1]))
        unseen = [pid for pid, _ in self._members()]
        while unseen:
            for child in children.get(unseen.pop(), []):
                if child not in self.held and self._hold(*child):
                    unseen.append(child[0])

    def _hold(self, pid: int, start: int) -> bool:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        self._descriptors.callback(os.close, descriptor)
        # Looked at after it was opened: now the number cannot become another's.
        if _start_of(pid) != start:
            return False
        self.held[pid, start] = descriptor
        return True


def _start_of(pid: int) -> int | None:
    """When a process started, in ticks since boot: with its id, what tells it from a later one of the same id."""
    found = _stat(pid)
    return None if found is None else found[1]


def _stat(pid: int) -> tuple[int, int] | None:
    """The parent of a process, and when it started; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The second field, the program's name in parentheses, may hold spaces and parentheses itself.
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else (int(fields[1]), int(fields[19]))
