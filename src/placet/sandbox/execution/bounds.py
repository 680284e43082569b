"""Bounds on the processes and the memory of one confined command, and the look at what it has.

No resource limit does this (setrlimit(2)): RLIMIT_AS and RLIMIT_DATA count addresses and not memory, so they end Java,
Go and what is built with a sanitizer long before the memory is gone, and they count for each process alone.
RLIMIT_NPROC counts all that an account has, unless it is the account in a user namespace: only there it is used.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field
from pathlib import Path

from placet.sandbox.linux import processes

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SHARE = 0.75
_TASKS_EACH = 2


@functools.cache
def machine_memory() -> int:
    """The memory of this machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * _PAGE


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one command with everything that it starts may have at once: processes, and bytes of memory of their own."""

    processes: int = 2_000
    memory: int = field(default_factory=lambda: int(machine_memory() * _SHARE))

    @property
    def tasks(self) -> int:
        """How many processes and threads the kernel grants, where it counts them: it cannot tell one from the other."""
        return self.processes * _TASKS_EACH

    @property
    def too_many(self) -> str:
        """What is said of a command with more processes."""
        return f"more than {self.processes} processes at once"

    @property
    def too_large(self) -> str:
        """What is said of a command with more memory."""
        return f"more than {self.memory >> 20} MiB of memory"

    def exceeded(self, root: int) -> str | None:
        """What the tree below a process has too much of, in words; None if nothing. Blocks for a look at /proc."""
        tree = processes.descendants([root])
        if len(tree) > self.processes:
            return self.too_many
        return self.too_large if sum(own_memory(seen.pid) for seen in tree) > self.memory else None

    def __str__(self) -> str:
        return f"{self.processes} processes and {self.memory >> 20} MiB of memory for one command"


@dataclass(frozen=True, slots=True)
class Machine:
    """What the whole machine has at one moment: tasks, and bytes of memory that are free. Costs next to nothing."""

    tasks: int
    free: int

    @classmethod
    def now(cls) -> Machine:
        """Look (proc_loadavg(5), proc_meminfo(5)); what cannot be read is 0."""
        try:
            tasks = int(_first("/proc/loadavg").split()[3].partition("/")[2])
            lines = (line.split() for line in _first("/proc/meminfo").splitlines())
            return cls(tasks, next((int(words[1]) << 10 for words in lines if words[0] == "MemAvailable:"), 0))
        except (OSError, ValueError, IndexError):
            return cls(0, 0)

    def strained(self, since: Machine, bounds: Bounds) -> bool:
        """Whether so much has come since then that one command could be over its bounds."""
        return self.tasks - since.tasks > bounds.processes // 2 or since.free - self.free > bounds.memory // 2


def _first(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096).decode(errors="replace")
    finally:
        os.close(descriptor)


def own_memory(pid: int) -> int:
    """The resident memory that a process does not share, in bytes (proc_pid_statm(5))."""
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE
