"""Time, as a part that can be replaced: everything that waits or stamps asks a clock."""

from __future__ import annotations

import time
from typing import Protocol

import anyio


class Clock(Protocol):
    """What tells the time and what waits."""

    def now(self) -> int:
        """The wall clock in whole milliseconds since 1970."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean something."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of this clock."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


SYSTEM_CLOCK = SystemClock()
