"""Which children this process waits for itself, so that the dead ones that it only adopted can be taken away.

A program that makes itself a daemon leaves a dead child to the subreaper, and nothing of a dead process tells where it
came from. So it is told the other way round: whatever placet starts is known here from its first moment.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import processes

_lock = threading.Lock()
_started: list[subprocess.Popen[bytes]] = []
_hidden = 0


def known(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a process that its caller will wait for."""
    with _lock:
        popen = start()
        _started[:] = [other for other in _started if other.returncode is None]
        _started.append(popen)
    return popen


@contextmanager
def hidden() -> Iterator[None]:
    """Start processes and wait for them in the block without naming them; nothing is taken away meanwhile."""
    global _hidden
    with _lock:
        _hidden += 1
    try:
        yield
    finally:
        with _lock:
            _hidden -= 1


def take_away_adopted(since: int) -> None:
    """Take away the dead children that were started since then (clock ticks since boot) and that nobody waits for."""
    with _lock:
        if _hidden:
            return
        waited_for = {popen.pid for popen in _started if popen.returncode is None}
        for seen in processes.own_children():
            if seen.dead and seen.start >= since and seen.pid not in waited_for and seen.parent == os.getpid():
                processes.reap(seen.pid)
