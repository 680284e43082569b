"""A clock that stands still until a test moves it."""

from __future__ import annotations

import heapq
import itertools

import anyio
import anyio.lowlevel


class ManualClock:
    """Time that passes only by `advance`; sleepers wake in the order of their times."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._start = now
        self._elapsed = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, anyio.Event]] = []

    def now(self) -> int:
        return self._start + round(self._elapsed * 1000)

    def monotonic(self) -> float:
        return self._elapsed

    @property
    def sleeping(self) -> int:
        """How many sleepers wait now."""
        return len(self._sleepers)

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await anyio.lowlevel.checkpoint()
            return
        woken = anyio.Event()
        entry = (self._elapsed + seconds, next(self._order), woken)
        heapq.heappush(self._sleepers, entry)
        try:
            await woken.wait()
        finally:
            if entry in self._sleepers:
                self._sleepers.remove(entry)
                heapq.heapify(self._sleepers)

    def tick(self, seconds: float) -> None:
        """Move the time without giving the woken sleepers a turn."""
        until = self._elapsed + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            when, _, woken = heapq.heappop(self._sleepers)
            self._elapsed = when
            woken.set()
        self._elapsed = until

    async def advance(self, seconds: float) -> None:
        """Move the time and let every sleeper that it wakes run before this returns."""
        self.tick(seconds)
        for _ in range(10):
            await anyio.lowlevel.checkpoint()

    async def wait_for_sleeper(self, count: int = 1) -> None:
        """Return as soon as that many sleepers wait: the moment from which `advance` reaches them."""
        while len(self._sleepers) < count:  # noqa: ASYNC110 - it waits for what other tasks do
            await anyio.sleep(0.001)
