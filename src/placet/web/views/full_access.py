"""Whether a command or a host half ever ran without the sandbox: a process of the same account proves less then."""

from __future__ import annotations

from placet.cordis import events as cordis
from placet.sandbox.mode import SandboxMode
from placet.session.store import Store

STARTED = frozenset({"tool/started", cordis.STARTED})


class FullAccess:
    """Remembers how far the log was looked at."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cursor = 0
        self._found = False

    async def was_used(self) -> bool:
        """Return whether any command or host half of this installation ran with full access."""
        while not self._found:
            head = await self._store.head()
            events = await self._store.feed(self._cursor, types=STARTED, limit=1000)
            self._found = any(event.data["mode"] == SandboxMode.DANGER_FULL_ACCESS for event in events)
            if not events:
                self._cursor = max(self._cursor, head)
                break
            self._cursor = events[-1].pos
        return self._found
