"""A wake-up for everybody who waits: it says "look again" and carries nothing."""

from __future__ import annotations

import anyio


class Pulse:
    """Counts beats; who has seen a number waits for a higher one, so that no beat is missed between two looks."""

    def __init__(self) -> None:
        self.count = 0
        self._next = anyio.Event()

    def beat(self) -> None:
        """Wake everybody who waits."""
        self.count += 1
        self._next.set()
        self._next = anyio.Event()

    async def after(self, seen: int, seconds: float) -> bool:
        """Return true once there was a beat after the number `seen`, false after that many seconds without one."""
        if self.count > seen:
            return True
        with anyio.move_on_after(seconds):
            await self._next.wait()
        return self.count > seen
