"""Writes what became of runs, again and again until the store takes it, with what the agent is told of it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from placet.cordis import events as log
from placet.cordis.vocabulary import PluginId
from placet.kernel.clock import Clock
from placet.session.errors import StoreDamaged, StoreError
from placet.session.event import Draft
from placet.session.ids import SessionId, new_message_id
from placet.session.store import Appended, Lease, Numbered, Refused, Store

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


class Writer:
    """Appends for one process. `closing` ends the repetitions."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self.closing = False

    async def once(
        self,
        session: SessionId,
        drafts: Sequence[Draft] | Numbered,
        *,
        present: Collection[str] = (),
        absent: Collection[str] = (),
        lease: Lease | None = None,
    ) -> Appended | Refused:
        """Append for somebody who can be told that it failed. Raises `StoreError`."""
        return await self._store.append(session, drafts, present=present, absent=absent, lease=lease)

    async def write(
        self,
        session: SessionId,
        drafts: Sequence[Draft],
        *,
        present: Collection[str] = (),
        absent: Collection[str] = (),
    ) -> Appended | Refused:
        """Append what has happened, until the store takes it; one whose fate was unknown counts if it is there.

        Raises `StoreError` where the session's log is damaged, or while the process ends.
        """
        pause, doubt = FIRST_PAUSE, False
        while True:
            try:
                outcome = await self._store.append(session, drafts, present=present, absent=absent)
            except StoreError as error:
                if self.closing or (isinstance(error, StoreDamaged) and error.session == session):
                    raise
                logger.warning("session %s: %s is not written yet: %s", session, drafts[0].type, error)
                doubt = True
                await self._clock.sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)
                continue
            if doubt and isinstance(outcome, Refused) and (there := await self._own(session, drafts)) is not None:
                return there
            return outcome

    async def _own(self, session: SessionId, drafts: Sequence[Draft]) -> Appended | None:
        """The drafts as events, if an append of unknown fate was committed after all."""
        event = await self._store.lookup(session, drafts[0].key)
        return Appended((event,)) if event is not None and event.data == drafts[0].data else None

    def told(self, plugin: PluginId, text: str, *, wake: bool) -> Draft:
        """Draft what the agent hears of a plugin, under a new message id."""
        return log.told(plugin, text, new_message_id(self._clock), wake=wake)
