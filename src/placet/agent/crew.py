"""All workers of one process: one for each session that something wakes, for as long as it works.

The crew follows the store's feed. At its start, and every few seconds, it takes over every open turn whose holder is
dead. Several processes may do this on one store: the lease decides who works.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import anyio
from anyio.abc import TaskGroup

from placet.agent.gestures import waiting
from placet.agent.kit import Kit
from placet.agent.mailbox import INBOX
from placet.agent.speech import Delta, Partial
from placet.agent.worker import LOOK_AGAIN, Worker
from placet.kernel.bus import Bus
from placet.session.errors import LeaseLost, StoreDamaged, StoreError, UnknownEvent, UnknownSession
from placet.session.event import Event
from placet.session.ids import SessionId

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds that a session waits after its worker failed, doubled at each failure in a row."""


class Crew:
    """Starts workers and keeps at most one per session."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self._working: set[SessionId] = set()
        self._again: set[SessionId] = set()
        self._looked: dict[SessionId, int] = {}

    @property
    def deltas(self) -> Bus[Delta]:
        """News of what models say, as they say it."""
        return self.kit.speech.deltas

    def partial(self, session: SessionId) -> Partial | None:
        """What a model has said so far in a step that is not in the log yet."""
        return self.kit.speech.partial(session)

    @property
    def working(self) -> frozenset[SessionId]:
        """The sessions that have a worker in this process."""
        return frozenset(self._working)

    async def run(self) -> None:
        """Work until cancelled. A store that does not answer is asked again; nothing else ends it."""
        async with anyio.create_task_group() as group:
            pause = FIRST_PAUSE
            while True:
                try:
                    await self._follow(group)
                except StoreError as error:
                    logger.warning("the store does not answer, trying again: %s", error)
                    await self.kit.clock.sleep(pause)
                    pause = min(LONGEST_PAUSE, pause * 2)

    async def _follow(self, group: TaskGroup) -> None:
        async with self.kit.store.doorbell() as bell:
            cursor = await self.kit.store.head()
            looked = self.kit.clock.monotonic() - LOOK_AGAIN
            while True:
                if self.kit.clock.monotonic() - looked >= LOOK_AGAIN:
                    looked = self.kit.clock.monotonic()
                    await self._look_for_work(group)
                while events := await self.kit.store.feed(cursor, types={INBOX}):
                    cursor = events[-1].pos
                    self._start_all(group, (event.session for event in events if _wakes(event)))
                await bell.wait(LOOK_AGAIN)

    async def _look_for_work(self, group: TaskGroup) -> None:
        """Start a worker for each open turn and each waking message; a living holder keeps what it has."""
        store = self.kit.store
        turns = {event.session for event in await store.unpaired("turn:", "end:")}
        self._start_all(group, turns - self._working)
        newest = {event.session: event.pos for event in await store.unpaired("put:", "message:") if _wakes(event)}
        for session, pos in newest.items():
            if session in self._working or self._looked.get(session) == pos:
                continue
            self._looked[session] = pos
            if (await waiting(store, session)).wakes:
                self._start_all(group, [session])

    def _start_all(self, group: TaskGroup, sessions: Iterable[SessionId]) -> None:
        for session in sessions:
            if session in self._working:
                self._again.add(session)
            else:
                self._working.add(session)
                group.start_soon(self._work, session)

    async def _work(self, session: SessionId) -> None:
        """Let workers work until nothing is left for this process to do; after a failure again, later each time."""
        pause = FIRST_PAUSE
        try:
            while not await self._attempt(session):
                await self.kit.clock.sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)
        finally:
            self._working.discard(session)
            self._again.discard(session)

    async def _attempt(self, session: SessionId) -> bool:
        """Let a worker work, and another if a message came just as it left. False: it failed, or lost the session."""
        try:
            self._again.discard(session)
            await Worker(self.kit, session).run()
            while session in self._again:
                self._again.discard(session)
                if (await waiting(self.kit.store, session)).wakes:
                    await Worker(self.kit, session).run()
            return True
        except LeaseLost:
            logger.info("session %s has another worker now", session)
        except (UnknownSession, UnknownEvent) as error:
            logger.warning("session %s cannot be worked on: %s", session, error)
            return True
        except StoreError as error:
            if isinstance(error, StoreDamaged) and error.session == session:
                logger.error("session %s is left alone: %s", session, error)
                return True
            logger.warning("session %s: the store does not answer: %s", session, error)
        except Exception:  # one broken session must not stop the others; its log speaks at the next try
            logger.exception("session %s: the worker failed", session)
        return False


def _wakes(event: Event) -> bool:
    put = event.data.get("put")
    return put is not None and bool(put["wake"])
