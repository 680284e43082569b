"""A store that fails where a test wants it to: before the commit, after it, or with the whole process."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum

from placet.session.errors import StoreDamaged, StoreGone
from placet.session.event import Draft, Event
from placet.session.ids import SessionId
from placet.session.store import Appended, Bell, Finding, Held, Lease, Numbered, Refused, SessionHead, Store

CRASH_AFTER = "PLACET_CRASH_AFTER"
"""Environment variable `TYPE` or `TYPE:N`: kill -9 this process right after the N-th event of that type is durable."""


class StoreWrapper:
    """A store that passes everything on; a wrapper overrides what it changes."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    async def append(
        self,
        session: SessionId,
        drafts: Sequence[Draft] | Numbered,
        *,
        present: Collection[str] = (),
        absent: Collection[str] = (),
        lease: Lease | None = None,
    ) -> Appended | Refused:
        return await self.inner.append(session, drafts, present=present, absent=absent, lease=lease)

    async def read(
        self,
        session: SessionId,
        *,
        after: int = -1,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Event]:
        return await self.inner.read(session, after=after, before=before, limit=limit, newest=newest)

    async def lookup(self, session: SessionId, key: str) -> Event | None:
        return await self.inner.lookup(session, key)

    async def find(self, key: str) -> Event | None:
        return await self.inner.find(key)

    async def feed(
        self, after: int, *, limit: int = 500, types: Collection[str] | None = None, session: SessionId | None = None
    ) -> list[Event]:
        return await self.inner.feed(after, limit=limit, types=types, session=session)

    async def head(self) -> int:
        return await self.inner.head()

    async def unpaired(self, opener: str, closer: str) -> list[Event]:
        return await self.inner.unpaired(opener, closer)

    async def sessions(self) -> list[SessionHead]:
        return await self.inner.sessions()

    async def acquire(self, session: SessionId, holder: str, alive: Callable[[str], bool]) -> Lease | Held:
        return await self.inner.acquire(session, holder, alive)

    async def release(self, lease: Lease) -> None:
        await self.inner.release(lease)

    async def current_lease(self, session: SessionId) -> Lease | None:
        return await self.inner.current_lease(session)

    async def remove(self, session: SessionId) -> None:
        await self.inner.remove(session)

    async def damage(self) -> list[Finding]:
        return await self.inner.damage()

    async def damaged(self, *, look: bool = False) -> Mapping[SessionId, StoreDamaged]:
        return await self.inner.damaged(look=look)

    def doorbell(self) -> AbstractAsyncContextManager[Bell]:
        return self.inner.doorbell()

    async def aclose(self) -> None:
        await self.inner.aclose()


class Fault(StrEnum):
    """What happens to one append."""

    REFUSE = "refuse"
    """It fails before the commit: nothing is in the log."""
    LOSE_ACK = "lose-ack"
    """It is committed, but the caller is told that the store does not answer."""
    KILL = "kill"
    """It is committed, and the process dies by SIGKILL before anybody hears of it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A fault for the next append that holds an event of this type (`*`: of any), after letting `skip` of them pass."""

    fault: Fault
    type: str = "*"
    skip: int = 0


class FaultyStore(StoreWrapper):
    """A store that follows plans, the first one first; each plan is used once.

    >>> store = FaultyStore(inner)                                        # doctest: +SKIP
    >>> store.plan(Fault.LOSE_ACK, "approval/decided")                    # doctest: +SKIP

    With `down` set, every method that reads or appends raises StoreGone, as if the disk were gone. The environment
    variable PLACET_CRASH_AFTER adds a KILL plan.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.down = False
        self.appended: list[str] = []
        self._plans: deque[Plan] = deque()
        wanted = os.environ.get(CRASH_AFTER, "")
        if wanted:
            kind, _, number = wanted.partition(":")
            self.plan(Fault.KILL, kind, skip=int(number or 1) - 1)

    def plan(self, fault: Fault, type: str = "*", *, skip: int = 0) -> None:
        """Let a fault happen once, at the append of an event of this type, after `skip` events of it have passed."""
        self._plans.append(Plan(fault, type, skip))

    @property
    def pending(self) -> int:
        """How many plans have not come true yet."""
        return len(self._plans)

    async def append(
        self,
        session: SessionId,
        drafts: Sequence[Draft] | Numbered,
        *,
        present: Collection[str] = (),
        absent: Collection[str] = (),
        lease: Lease | None = None,
    ) -> Appended | Refused:
        self._check()
        fault = self._due(drafts.sample() if isinstance(drafts, Numbered) else drafts)
        if fault is Fault.REFUSE:
            raise StoreGone("the test's store refuses this append")
        answer = await self.inner.append(session, drafts, present=present, absent=absent, lease=lease)
        if isinstance(answer, Appended):
            self.appended += [event.type for event in answer.events]
            if fault is Fault.KILL:
                os.kill(os.getpid(), signal.SIGKILL)
        if fault is Fault.LOSE_ACK:
            raise StoreGone("the test's store has lost its answer")
        return answer

    async def read(
        self,
        session: SessionId,
        *,
        after: int = -1,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Event]:
        self._check()
        return await self.inner.read(session, after=after, before=before, limit=limit, newest=newest)

    async def lookup(self, session: SessionId, key: str) -> Event | None:
        self._check()
        return await self.inner.lookup(session, key)

    async def find(self, key: str) -> Event | None:
        self._check()
        return await self.inner.find(key)

    async def unpaired(self, opener: str, closer: str) -> list[Event]:
        self._check()
        return await self.inner.unpaired(opener, closer)

    def _check(self) -> None:
        if self.down:
            raise StoreGone("the test's store is down")

    def _due(self, drafts: Sequence[Draft]) -> Fault | None:
        """The fault of this append, if the first plan is due; else the plan comes nearer by its events."""
        if not self._plans:
            return None
        plan = self._plans[0]
        count = sum(plan.type in ("*", draft.type) for draft in drafts)
        if count > plan.skip:
            self._plans.popleft()
            return plan.fault
        self._plans[0] = Plan(plan.fault, plan.type, plan.skip - count)
        return None
