"""Bounds on the processes and the memory of one confined command, kept by a watcher that looks twice a second."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread

from placet.sandbox.linux import processes

EVERY = 0.5
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SHARE = 0.75


@functools.cache
def machine_memory() -> int:
    """The memory of this machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * _PAGE


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one command with everything that it starts may have at once: processes, and bytes of memory of their own."""

    processes: int = 2_000
    memory: int = field(default_factory=lambda: int(machine_memory() * _SHARE))

    def exceeded(self, root: int) -> str | None:
        """What the tree below a process has too much of, in words; None if nothing."""
        tree = processes.descendants([root])
        if len(tree) > self.processes:
            return f"more than {self.processes} processes at once"
        used = sum(own_memory(seen.pid) for seen in tree)
        return f"more than {self.memory >> 20} MiB of memory" if used > self.memory else None

    async def passed(self, root: int) -> str:
        """Return when the tree below a process has too much of something, and say of what."""
        while True:
            await anyio.sleep(EVERY)
            found = await to_thread.run_sync(self.exceeded, root)
            if found is not None:
                return found

    def __str__(self) -> str:
        return f"{self.processes} processes and {self.memory >> 20} MiB of memory for one command"


def own_memory(pid: int) -> int:
    """The resident memory that a process does not share, in bytes (proc_pid_statm(5))."""
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE
