"""How often a sender may be wrong: floods of wrong answers, or of lines for the terminal, end where they begin."""

from __future__ import annotations

from collections import Counter

from placet.kernel.clock import Clock

MINUTE = 60_000


class Tries:
    """Counts what happened in this minute by name; older minutes are forgotten."""

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._most = most
        self._minute = 0
        self._counts: Counter[str] = Counter()

    def count(self, name: str) -> int:
        """Count one more and return how many there were in this minute, this one included."""
        self._turn()
        self._counts[name] += 1
        return self._counts[name]

    def too_many(self, name: str) -> bool:
        """Return whether this minute's number is used up."""
        self._turn()
        return self._counts[name] >= self._most

    def _turn(self) -> None:
        minute = self._clock.now() // MINUTE
        if minute != self._minute:
            self._minute = minute
            self._counts.clear()
