"""The responder named `inbox`: holds an ask until a person's answer is in the log.

One waiter at a time reads the log for all of them, at every ring of the doorbell and every few seconds; an answer that
was given in this process wakes its waiter directly.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

import anyio

from placet.approval.events import DECIDED, decided_key
from placet.approval.outcome import SYSTEM, Outcome
from placet.approval.responder import Answer, Ask, InLog, Reply
from placet.kernel.chain import CallNext
from placet.kernel.clock import Clock
from placet.session.errors import StoreError
from placet.session.ids import AskId, SessionId
from placet.session.store import Store

logger = logging.getLogger(__name__)

REREAD = 3.0
"""Seconds after which a waiter reads again, doorbell or not."""

EXPIRED = Answer(Outcome.UNAVAILABLE, SYSTEM, channel="worker", evidence="deadline", strength="none", detail="expired")


class People:
    """Waits for people, for the sessions that it serves; a deadline, in seconds since the ask, gives `unavailable`."""

    name = "inbox"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        serves: Callable[[SessionId], bool],
        deadline: float | None,
        reread: float,
    ) -> None:
        self._store, self._clock = store, clock
        self._serves, self._deadline, self._reread = serves, deadline, reread
        self._waiting: dict[AskId, tuple[Ask, anyio.Event]] = {}
        self._reader = anyio.Lock()

    async def answer(self, ask: Ask, call_next: CallNext[Reply]) -> Reply:
        """Hold the ask until the log has its decision, or until the deadline."""
        if not self._serves(ask.session):
            return await call_next()
        decided = anyio.Event()
        self._waiting[ask.id] = (ask, decided)
        try:
            return await self._until(ask, decided)
        finally:
            del self._waiting[ask.id]

    def wake(self, ask: AskId) -> None:
        """Tell the waiter of an ask, if it is in this process, that the decision is in the log."""
        if ask in self._waiting:
            self._waiting[ask][1].set()

    def rearmed(self, ask: AskId) -> bool:
        """Whether this process took the ask over from an earlier worker."""
        return ask in self._waiting and self._waiting[ask][0].rearmed

    async def _until(self, ask: Ask, decided: anyio.Event) -> Reply:
        async def expire() -> None:
            assert self._deadline is not None
            await self._clock.sleep(self._deadline - (self._clock.now() - ask.asked_at) / 1000)
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            await self._look(ask.id)
            group.start_soon(self._read)
            if self._deadline is not None:
                group.start_soon(expire)
            await decided.wait()
            group.cancel_scope.cancel()
        return InLog() if decided.is_set() else EXPIRED

    async def _read(self) -> None:
        """Follow the log for every waiter, as soon as no other waiter does."""
        async with self._reader, self._store.doorbell() as bell:
            position: int | None = None
            while True:
                try:
                    position = await self._once(position)
                except StoreError:  # whoever waits loses nothing by reading later
                    logger.warning("the inbox cannot read the log; it tries again in %s s", self._reread, exc_info=True)
                await bell.wait(self._reread)

    async def _once(self, position: int | None) -> int:
        """Wake the waiters whose decision is in the log by now; returns the position up to which that is known."""
        if position is None:
            position = await self._store.head()
            for ask in tuple(self._waiting):
                await self._look(ask)
        while events := await self._store.feed(position, types={DECIDED}):
            for event in events:
                self.wake(AskId(event.data["id"]))
            position = events[-1].pos
        return position

    async def _look(self, ask: AskId) -> None:
        with suppress(StoreError):  # the reader looks again
            if ask in self._waiting and await self._store.lookup(self._waiting[ask][0].session, decided_key(ask)):
                self.wake(ask)
