"""What one host half may use, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from placet.sandbox import Bounds

LONGEST_LINE = 1 << 20
"""Bytes of one message at most, in either direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds: `start` for load and apply as a whole, `stop` for the undos, `silence` without an answer to a ping,
    `answer` for one call of a method or tool. `pending`: calls that are under way at once, in each direction.

    What comes over the line and what is printed may come in a burst, and then at a rate per second; so may calls of
    tools, which wait for their turn, and what ends in the log: changes of what is offered, diagnoses, bytes of calls.
    """

    start: float = 5.0
    stop: float = 3.0
    ping: float = 2.0
    silence: float = 10.0
    answer: float = 600.0
    pending: int = 64
    messages: tuple[float, float] = (300.0, 2_000.0)
    bytes: tuple[float, float] = (4 << 20, 32 << 20)
    printed: tuple[float, float] = (256 << 10, 4 << 20)
    calls: tuple[float, float] = (20.0, 200.0)
    changes: tuple[float, float] = (1.0, 30.0)
    diagnoses: tuple[float, float] = (0.1, 10.0)
    logged: tuple[float, float] = (32 << 10, 16 << 20)
    printed_lines: tuple[float, float] = (100.0, 500.0)
    tools: int = 32
    services: int = 16
    share: Bounds = field(default_factory=lambda: Bounds(processes=16, memory=1 << 30))


class Bucket:
    """Lets a burst pass, and then so much per second."""

    def __init__(self, rule: tuple[float, float], now: float) -> None:
        self.rate, self._most = rule
        self._left, self._filled = self._most, now

    def wait(self, now: float, much: float = 1) -> float:
        """Seconds until so much may pass; 0 where that is now."""
        left = min(self._most, self._left + (now - self._filled) * self.rate)
        return max(0.0, (much - left) / self.rate)

    def take(self, much: float, now: float) -> bool:
        """Whether so much may pass now."""
        self._left = min(self._most, self._left + (now - self._filled) * self.rate)
        self._filled = now
        if much > self._left:
            return False
        self._left -= much
        return True

    def owe(self, much: float, now: float) -> None:
        """Count what has passed already, as a debt where there was no room for it."""
        self.take(0, now)
        self._left -= much


class Share:
    """Lets many together have a part of the time. What takes a moment only is not counted."""

    MOMENT, LONGEST = 0.0003, 2.0

    def __init__(self, part: float) -> None:
        self._pause = 1 / part - 1
        self._free = 0.0

    def pause(self, spent: float, now: float) -> float:
        """Return how long to wait before the next piece of work, after one that took so long."""
        if spent < self.MOMENT:
            return 0.0
        self._free = max(self._free, now) + spent * self._pause
        return min(self.LONGEST, self._free - now)
