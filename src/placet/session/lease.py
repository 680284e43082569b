"""Who this process is, and whether another holder is still alive: pid, start time and boot id, never a file to lock."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def holder() -> str:
    """This process as the holder of a lease: `PID:START:BOOTID`."""
    return f"{os.getpid()}:{_start(os.getpid()) or 0}:{_boot_id()}"


def alive(holder: str) -> bool:
    """Whether the process that took a lease under this name still runs on this machine. A zombie does not."""
    pid, start, boot = ([*holder.split(":", 2), "", ""])[:3]
    if not pid.isdecimal() or boot != _boot_id():
        return False
    found = _start(int(pid))
    if found is None and not _BOOT.exists():
        return _answers(int(pid))
    return found is not None and str(found) == start


@cache
def _boot_id() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:  # not Linux: pid alone has to do
        return "unknown"


def _start(pid: int) -> int | None:
    """The start time of a process in clock ticks since boot (proc(5), field 22), None if it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
