"""What a half hears of its own session: notices from an allow-list, after the fact, never a say in anything."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import anyio

from placet.cordis.host.half import Half
from placet.session.errors import StoreError
from placet.session.event import Event
from placet.session.store import Store

logger = logging.getLogger(__name__)

HEARD: Mapping[str, tuple[str, ...]] = {
    "turn/start": ("turn",),
    "turn/end": ("turn", "reason"),
    "user/message": ("id", "text", "source", "turn"),
    "assistant/message": ("turn", "step", "model", "text"),
    "tool/call": ("turn", "step", "position", "name"),
    "tool/result": ("turn", "step", "position", "name", "isError", "code"),
    "job/started": ("job",),
    "job/ended": ("job", "exitCode", "signal", "reason"),
    "session/renamed": ("title",),
    "session/model": ("model",),
    "sandbox/mode": ("mode",),
    "approval/policy": ("policy",),
    "permission/preset": ("preset",),
}
"""The events, and which of their fields are told."""
LONGEST_TEXT = 16_000
LOOK_AGAIN = 5.0


def notice(event: Event) -> dict[str, Any]:
    """Return an event as a half hears it."""
    told = {name: _short(event.data.get(name)) for name in HEARD[event.type]}
    return {"type": event.type, "seq": event.seq, "time": event.time, **told}


def _short(value: Any) -> Any:
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


class Ears:
    """What one half listens to, and from where in the log on."""

    def __init__(self, store: Store, half: Half) -> None:
        self._store, self._half = store, half
        self._types: set[str] = set()
        self._cursor = 0
        self._wanted = anyio.Event()

    async def add(self, event: str) -> None:
        """Listen to one more kind, from now on."""
        if not self._types:
            self._cursor = await self._store.head()
        self._types.add(event)
        self._wanted.set()

    async def follow(self) -> None:
        """Tell what happens until cancelled."""
        await self._wanted.wait()
        while True:
            try:
                async with self._store.doorbell() as bell:
                    while True:
                        await self._tell_new()
                        await bell.wait(LOOK_AGAIN)
            except StoreError as error:
                logger.warning("the half of %s hears nothing: %s", self._half.facts.plugin, error)
                await anyio.sleep(LOOK_AGAIN)

    async def _tell_new(self) -> None:
        session = self._half.facts.session
        while events := await self._store.feed(self._cursor, types=set(self._types), session=session):
            for event in events:
                self._cursor = event.pos
                self._half.tell("event", notice(event))
