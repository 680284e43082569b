"""Fresh numbers: each counter of a key is taken once, also when requests overtake each other."""

from __future__ import annotations

from dataclasses import dataclass, field

WINDOW = 4096
LARGEST = 2**53 - 1  # what a browser can count to exactly


@dataclass(slots=True)
class Counters:
    """The counters of one key that were seen; everything at or below `floor` counts as seen."""

    floor: int = 0
    seen: set[int] = field(default_factory=set)

    def take(self, counter: int) -> bool:
        """Use up a counter; False if it was used before, is too far behind, or is no counter."""
        if not self.floor < counter <= LARGEST or counter in self.seen:
            return False
        self.seen.add(counter)
        if len(self.seen) > WINDOW:
            self._forget_the_older_half()
        return True

    def _forget_the_older_half(self) -> None:
        ordered = sorted(self.seen)
        self.floor = ordered[WINDOW // 2]
        self.seen = set(ordered[WINDOW // 2 + 1 :])
