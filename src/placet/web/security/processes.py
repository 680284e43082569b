"""What /proc says about processes, without any right over them: proc(5) fields that everybody may read.

A placet process forbids others to look into it (PR_SET_DUMPABLE 0), so namespaces are not read from `ns/`: the pid
namespace shows in `NSpid`, the mount namespace in the id of the mount on `/`, the user namespace in `uid_map`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

Mark = tuple[int, int]  # pid and start time in clock ticks since boot: a name that is not used twice


@dataclass(frozen=True, slots=True)
class Process:
    """One process as it was a moment ago."""

    pid: int
    parent: int
    start: int
    uid: int
    name: str
    no_new_privs: int
    seccomp: int
    filters: int
    pid_spaces: int
    root_mount: str | None
    users: str

    @property
    def mark(self) -> Mark:
        """Pid and start time."""
        return (self.pid, self.start)

    def same_world(self, other: Process) -> bool:
        """Return whether both live in the same pid, mount and user namespace."""
        mine, theirs = (self.pid_spaces, self.root_mount, self.users), (other.pid_spaces, other.root_mount, other.users)
        return mine == theirs and self.root_mount is not None

    def stricter_than(self, other: Process) -> bool:
        """Return whether this one is under any restriction, which cannot be shed, that the other is not under."""
        return self.no_new_privs > other.no_new_privs or self.filtered_beyond(other)

    def filtered_beyond(self, other: Process) -> bool:
        """Return whether more of its system calls are filtered: in a container both may be under a filter."""
        return (self.seccomp, self.filters) > (other.seccomp, other.filters)


def look(pid: int) -> Process | None:
    """Return what is known of a process; None when it is gone, or a zombie."""
    try:
        name, stat = _stat(pid)
        status = _status(pid)
        if stat[0] in "ZX":
            return None
        return Process(
            pid=pid,
            parent=int(stat[1]),
            start=int(stat[19]),
            uid=int(status["Uid"].split()[1]),
            name=name,
            no_new_privs=int(status.get("NoNewPrivs", "0")),
            seccomp=int(status.get("Seccomp", "0")),
            filters=int(status.get("Seccomp_filters", "0")),
            pid_spaces=len(status["NSpid"].split()),
            root_mount=_root_mount(pid),
            users=(PROC / str(pid) / "uid_map").read_text(),
        )
    except (OSError, ValueError, KeyError, IndexError):
        return None


def ancestors(process: Process) -> Iterator[Process]:
    """Yield the parent, its parent and so on up to the first process; raises LookupError where the line breaks.

    A parent that is younger than its child is another process that got an old number.
    """
    child = process
    while child.parent > 0:
        parent = look(child.parent)
        if parent is None or parent.start > child.start:
            raise LookupError(f"the parent of process {child.pid} is not there any more")
        yield parent
        child = parent


def placet_processes(state: Path) -> frozenset[Mark]:
    """Return the placet processes of this installation, this one included; each has a file PID:START:BOOT."""
    me = look(os.getpid())
    marks = set() if me is None else {me.mark}
    try:
        names = os.listdir(state / "processes")
    except FileNotFoundError:
        names = []
    for name in names:
        pid, _, rest = name.partition(":")
        start = rest.partition(":")[0]
        if pid.isdecimal() and start.isdecimal():
            marks.add((int(pid), int(start)))
    return frozenset(marks)


def all_pids() -> list[int]:
    """Return the numbers of all processes that can be seen."""
    return [int(name) for name in os.listdir(PROC) if name.isdecimal()]


def holds_socket(pid: int, inode: int) -> bool | None:
    """Return whether the process has the socket open, None if that may not be seen."""
    wanted = f"socket:[{inode}]"
    folder = PROC / str(pid) / "fd"
    try:
        names = os.listdir(folder)
    except PermissionError:
        return None
    except OSError:
        return False
    return any(_link(folder / name) == wanted for name in names)


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _status(pid: int) -> dict[str, str]:
    lines = (PROC / str(pid) / "status").read_text(errors="replace").splitlines()
    return {name: value for name, colon, value in (line.partition(":") for line in lines) if colon}


def _stat(pid: int) -> tuple[str, list[str]]:
    head, _, rest = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")
    return head.partition("(")[2], rest.split()


def _root_mount(pid: int) -> str | None:
    try:
        lines = (PROC / str(pid) / "mountinfo").read_text(errors="replace").splitlines()
    except OSError:
        return None
    on_root = [fields[0] for line in lines if len(fields := line.split()) > 4 and fields[4] == "/"]
    return on_root[-1] if on_root else None
