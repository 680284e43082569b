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

    What comes over the line and what is printed may come in a burst, and then at a rate per second.
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
    printed_lines: tuple[float, float] = (100.0, 500.0)
    tools: int = 32
    services: int = 16
    share: Bounds = field(default_factory=lambda: Bounds(processes=16, memory=1 << 30))


class Bucket:
    """Lets a burst pass, and then so much per second."""

    def __init__(self, rule: tuple[float, float], now: float) -> None:
        self.rate, self._most = rule
        self._left, self._filled = self._most, now

    def take(self, much: float, now: float) -> bool:
        """Whether so much may pass now."""
        self._left = min(self._most, self._left + (now - self._filled) * self.rate)
        self._filled = now
        if much > self._left:
            return False
        self._left -= much
        return True
