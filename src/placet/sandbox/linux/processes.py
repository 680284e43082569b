"""Processes as /proc shows them, and signals to them that cannot hit a stranger with a reused number."""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

_FREEZE_SECONDS = 2.0
_STILL = "TtZX"
_FIRST_TO_END = b"800"


@dataclass(frozen=True, slots=True)
class Seen:
    """A process as it was seen: `start` (clock ticks since boot) tells it from a later one with the same number."""

    pid: int
    state: str
    parent: int
    session: int
    start: int

    @property
    def dead(self) -> bool:
        return self.state in "ZX"


def look(pid: int) -> Seen | None:
    """The process with that number, or None if there is none (proc_pid_stat(5))."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Seen(pid, fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[19]))


def everyone() -> Iterator[Seen]:
    """Every process that /proc shows."""
    for name in os.listdir("/proc"):
        if name.isdigit() and (seen := look(int(name))) is not None:
            yield seen


def count_seen_by(pid: int) -> int:
    """How many processes there are in the process's own view of the machine. Quick, however many.

    0 if it is gone, or has no view of its own yet: for a moment at its start it sees those of the whole machine.
    """
    view = os.path.join("/proc", str(pid), "root", "proc")
    try:
        if os.stat(view).st_dev == os.stat("/proc").st_dev:
            return 0
        return sum(name.isdigit() for name in os.listdir(view))
    except OSError:
        return 0


def own_children() -> Iterator[Seen]:
    """The direct children of this process, adopted ones included."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(OSError), open(f"/proc/self/task/{thread}/children", "rb") as file:
            for pid in file.read().split():
                if (seen := look(int(pid))) is not None:
                    yield seen


def descendants(roots: Iterable[int]) -> list[Seen]:
    """Everything below the given processes, parents before children; the roots are not in it."""
    below: dict[int, list[Seen]] = defaultdict(list)
    for seen in everyone():
        below[seen.parent].append(seen)
    found: list[Seen] = []
    todo = list(roots)
    while todo:
        children = below.get(todo.pop(), [])
        found += children
        todo += [child.pid for child in children]
    return found


def send(seen: Seen, number: signal.Signals) -> None:
    """Signal the process that was seen; does nothing if it is gone or another one has its number."""
    with suppress(ProcessLookupError, PermissionError):
        handle = os.pidfd_open(seen.pid)
        try:
            now = look(seen.pid)
            if now is not None and now.start == seen.start and not now.dead:
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def freeze(pid: int) -> list[Seen]:
    """Stop one process and return everything below it, which it can add to no more. It is the caller's to kill."""
    root = look(pid)
    if root is None:
        return []
    send(root, signal.SIGSTOP)
    until = time.monotonic() + _FREEZE_SECONDS
    while (now := look(pid)) is not None and now.state not in _STILL and time.monotonic() < until:
        time.sleep(0.0005)  # one that is in the middle of a call of the kernel (D), a fork say, stops after it
    return descendants([pid])


def await_end(ending: Iterable[Seen], seconds: float) -> None:
    """Return when none of them lives any more, or after that time."""
    until = time.monotonic() + seconds
    for seen in ending:
        while not gone(seen):
            if time.monotonic() > until:
                return
            time.sleep(0.001)


def reap(pid: int) -> None:
    """Take away a dead child of this process; does nothing if it is no child or not dead."""
    with suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)


def gone(seen: Seen) -> bool:
    """Whether the process that was seen is no more; it is taken away first if it is a dead child of this one."""
    reap(seen.pid)
    now = look(seen.pid)
    return now is None or now.start != seen.start or (now.dead and now.parent != os.getpid())


def reap_handle(pidfd: int) -> None:
    """Take away the process of a pidfd if it is dead and was left to this process; else do nothing."""
    with suppress(OSError):
        os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)


def first_to_end(pid: int) -> None:
    """Have the kernel end this process, and what it starts from now on, before others when memory is out (proc(5))."""
    with suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "wb") as file:
        file.write(_FIRST_TO_END)


def is_restricted(pid: int) -> bool:
    """Whether the process has no_new_privs and a seccomp filter, which no process can put off."""
    facts = status(pid)
    return facts.get("NoNewPrivs") == "1" and facts.get("Seccomp") == "2"


def status(pid: int | str) -> dict[str, str]:
    """The lines of /proc/PID/status; empty if the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}
    except OSError:
        return {}


def carries(pid: int, mark: str) -> bool:
    """Whether the process was started with the mark in its environment."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark.encode() in file.read(1 << 20).split(b"\0")
    except OSError:
        return False
