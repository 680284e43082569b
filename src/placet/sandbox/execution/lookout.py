"""The thread that looks at all running commands, and kills the one that has too much before it takes the machine.

A thread of its own, beside the event loop and before all else where the system lets it: a burst of processes leaves
little time for those who share it out fairly.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from .bounds import Bounds, Machine

EVERY = 0.5
"""Seconds from one look at a command to the next."""
GLANCE = 0.05
"""Seconds from one glance at the whole machine to the next: that costs next to nothing."""


class Crowd(Protocol):
    """A command with everything that it has started."""

    @property
    def root(self) -> int: ...

    def count(self) -> int:
        """How many processes it has, as quickly as can be told."""
        ...

    def kill(self) -> None:
        """Kill at once what can be killed in one step; a `clear` follows."""
        ...


class Lookout:
    """Looks while there is something to look at. One per server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[int, tuple[Callable[[], str | None], Callable[[str], None], Bounds]] = {}
        self._next, self._runs = 0, False

    def watch(self, look: Callable[[], str | None], tell: Callable[[str], None], bounds: Bounds) -> Callable[[], None]:
        """Have a look taken again and again until it finds something, which is told; returns what ends that."""
        with self._lock:
            number = self._next = self._next + 1
            self._watched[number] = (look, tell, bounds)
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="placet-lookout", daemon=True).start()

        def undo() -> None:
            with self._lock:
                self._watched.pop(number, None)

        return undo

    def _run(self) -> None:
        _before_all_else()
        before, due = Machine.now(), time.monotonic() + EVERY
        while True:
            time.sleep(GLANCE)
            with self._lock:
                if not self._watched:
                    self._runs = False
                    return
                watched = list(self._watched.items())
            now = Machine.now()
            if time.monotonic() < due and not any(now.strained(before, bounds) for _, (_, _, bounds) in watched):
                continue
            for number, (look, tell, _) in watched:
                self._take(number, look, tell)
            before, due = Machine.now(), time.monotonic() + EVERY

    def _take(self, number: int, look: Callable[[], str | None], tell: Callable[[str], None]) -> None:
        with suppress(OSError):  # it ended in this moment, or the system has no descriptor left: the next look tells
            found = look()
            if found is None:
                return
            with self._lock:
                wanted = self._watched.pop(number, None) is not None
            if wanted:
                with suppress(RuntimeError):  # the event loop has ended, and with it whoever wanted to know
                    tell(found)


def _before_all_else() -> None:
    """Have the calling thread run before others (sched(7)); only root may as a rule."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
