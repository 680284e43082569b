"""When to ask a model again, and how long to wait before."""

from __future__ import annotations

import random
from dataclasses import dataclass

from placet.agent.errors import ModelError


@dataclass(frozen=True, slots=True)
class Retries:
    """How patient the loop is: `attempts` in all, waits that double from `first` to at most `longest` seconds."""

    attempts: int = 4
    first: float = 1.0
    longest: float = 30.0

    def wait(self, error: ModelError, attempt: int, chance: random.Random) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1) failed; None when there is no point in another one.

        Half of the wait is jitter, so that many sessions do not come back at the same moment. A wish of the vendor
        wins, up to `longest`.
        """
        if not error.passing or attempt >= self.attempts:
            return None
        ceiling = min(self.longest, self.first * float(2 ** (attempt - 1)))
        wait = ceiling / 2 + chance.random() * ceiling / 2
        return wait if error.after is None else min(self.longest, max(wait, error.after))
