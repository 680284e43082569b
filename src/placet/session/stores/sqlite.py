"""The embedded store: one SQLite file for several processes, full durability, group commit."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.session.errors import StoreDamaged
from placet.session.event import Draft, Event
from placet.session.ids import HOUSE, SessionId
from placet.session.keys import PAIRS, created
from placet.session.store import Appended, Bell, Finding, Held, Lease, Numbered, Prepared, Refused, SessionHead, prepare

from . import queries
from .bells import Bells
from .condition import Condition
from .damage import damage, first_look, torn_tail
from .rows import checksum, event_of, place
from .schema import WAIT, check_format, connect, prepare_file, speak_wal, translated
from .threads import Threads

T = TypeVar("T")


class SqliteStore:
    """A `Store` on one machine: `await SqliteStore.open(path)`, then `aclose()` or `async with`."""

    def __init__(self, path: Path, clock: Clock, dropped: str | None = None, wait: float = WAIT) -> None:
        self.path = path
        self.dropped = dropped
        """What was found behind the last commit and dropped when the file was opened: a sentence, or None."""
        self._clock = clock
        self._bells = Bells(path.parent / "bells")
        self._threads = Threads(path, self._bells.ring, wait=wait)
        self._condition = Condition()

    @classmethod
    async def open(
        cls,
        path: Path | str,
        *,
        clock: Clock = SYSTEM_CLOCK,
        pairs: Sequence[tuple[str, str]] = PAIRS,
        wait: float = WAIT,
    ) -> SqliteStore:
        """Open the file or create it (0600, its directory 0700). Raises StoreError: format, damage, lock, no access.

        `pairs` are the key prefixes that `unpaired` finds by an index; `wait` is how many seconds an append waits for
        another process that writes.
        """
        file, dropped = await asyncio.to_thread(_check, Path(path), pairs)
        return cls(file, clock, dropped, wait)

    @property
    def commits(self) -> int:
        """How many transactions this store has committed: a measure of group commit."""
        return self._threads.writer.commits

    async def append(
        self,
        session: SessionId,
        drafts: Sequence[Draft] | Numbered,
        *,
        present: Collection[str] = (),
        absent: Collection[str] = (),
        lease: Lease | None = None,
    ) -> Appended | Refused:
        prepared = drafts if isinstance(drafts, Numbered) else prepare(drafts)
        wanted, unwanted = tuple(present), tuple(absent)

        def work(db: sqlite3.Connection) -> Appended | Refused:
            if not isinstance(prepared, Numbered):
                return self._append(db, session, prepared, wanted, unwanted, lease)
            numbers = queries.next_numbers(db, prepared.counters)
            made = prepare(prepared.make(numbers))
            outcome = self._append(db, session, made, wanted, unwanted, lease)
            if isinstance(outcome, Appended):
                queries.use_numbers(db, numbers)
            return outcome

        return await self._write(work, session)

    def _append(
        self,
        db: sqlite3.Connection,
        session: SessionId,
        drafts: tuple[Prepared, ...],
        present: tuple[str, ...],
        absent: tuple[str, ...],
        lease: Lease | None,
    ) -> Appended | Refused:
        if lease is not None and queries.lease(db, session) != lease:
            return Refused("lease", lease.holder, None)
        for draft in drafts:
            if (event := queries.lookup(db, session, draft.key)) is not None:
                return Refused("duplicate", draft.key, event)
        last = queries.head_seq(db, session)
        if last is None and session != HOUSE and drafts[0].key != created():
            return Refused("present", created(), None)
        for key in present:
            if not queries.there(db, session, key):
                return Refused("present", key, None)
        for key in absent:
            if (event := queries.lookup(db, session, key)) is not None:
                return Refused("absent", key, event)
        return Appended(self._insert(db, session, drafts, -1 if last is None else last))

    def _insert(
        self, db: sqlite3.Connection, session: SessionId, drafts: tuple[Prepared, ...], last: int
    ) -> tuple[Event, ...]:
        now = self._clock.now()
        events = []
        for seq, draft in enumerate(drafts, last + 1):
            total = checksum(session, seq, now, draft.type, draft.key, draft.data)
            try:
                pos = queries.insert(db, (session, seq, now, draft.type, draft.key, draft.data, total))
            except sqlite3.IntegrityError as error:
                raise StoreDamaged(place(session, seq), str(error), session=session) from error
            events.append(event_of((pos, session, seq, now, draft.type, draft.key, draft.data, total)))
        queries.move_head(db, events[-1])
        return tuple(events)

    async def read(
        self,
        session: SessionId,
        *,
        after: int = -1,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Event]:
        return await self._read(lambda db: queries.read(db, session, after, before, limit, newest=newest))

    async def lookup(self, session: SessionId, key: str) -> Event | None:
        return await self._read(lambda db: queries.lookup(db, session, key))

    async def find(self, key: str) -> Event | None:
        return await self._read(lambda db: queries.find(db, key))

    async def feed(
        self, after: int, *, limit: int = 500, types: Collection[str] | None = None, session: SessionId | None = None
    ) -> list[Event]:
        wanted = None if types is None else tuple(types)

        def work(db: sqlite3.Connection) -> list[Event]:
            events: list[Event] = []
            at = after
            while len(events) < limit and (rows := queries.feed(db, at, limit - len(events), wanted, session)):
                events += self._condition.whole(db, rows)
                at = rows[-1][0]
            return events

        return await self._read(work)

    async def head(self) -> int:
        return await self._read(queries.head)

    async def unpaired(self, opener: str, closer: str) -> list[Event]:
        return await self._read(lambda db: self._condition.whole(db, queries.unpaired(db, opener, closer)))

    async def sessions(self) -> list[SessionHead]:
        return await self._read(queries.sessions)

    async def acquire(self, session: SessionId, holder: str, alive: Callable[[str], bool]) -> Lease | Held:
        while True:
            found = await self._read(lambda db: queries.lease_row(db, session))
            owner, epoch = found
            if owner is not None and owner != holder and await asyncio.to_thread(alive, owner):
                return Held(owner)
            taken = Lease(session, holder, epoch + 1)
            if await self._write(partial(queries.take_over, found=found, taken=taken), session):
                return taken

    async def release(self, lease: Lease) -> None:
        await self._write(lambda db: queries.release(db, lease))

    async def current_lease(self, session: SessionId) -> Lease | None:
        return await self._read(lambda db: queries.lease(db, session))

    async def remove(self, session: SessionId) -> None:
        await self._write(lambda db: queries.remove(db, session))
        self._condition.forget(session)

    async def damage(self) -> list[Finding]:
        return await self._threads.read(damage)

    async def damaged(self, *, look: bool = False) -> Mapping[SessionId, StoreDamaged]:
        if look:
            for error in await self._read(partial(first_look, path=self.path)):
                self._condition.note(error)
        self._condition.admit()
        return dict(self._condition.sessions)

    def doorbell(self) -> AbstractAsyncContextManager[Bell]:
        return self._bells.bell()

    async def aclose(self) -> None:
        await self._threads.close()
        self._bells.close()

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._sound(lambda: self._threads.read(work))

    async def _write(self, work: Callable[[sqlite3.Connection], T], session: SessionId | None = None) -> T:
        return await self._sound(lambda: self._threads.write(work), session)

    async def _sound(self, go: Callable[[], Awaitable[T]], session: SessionId | None = None) -> T:
        """Go on unless the file, or that session, is known to be damaged; damage that is met is remembered."""
        self._condition.admit(session)
        try:
            return await go()
        except StoreDamaged as error:
            self._condition.note(error)
            raise

    async def __aenter__(self) -> SqliteStore:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _check(path: Path, pairs: Sequence[tuple[str, str]]) -> tuple[Path, str | None]:
    """Refuse what is no store of this format, and learn what the last process left behind."""
    path = path.absolute()
    prepare_file(path)
    with translated(path):
        db = connect(path)
        try:
            check_format(db, path, pairs)
            speak_wal(db, path)
            dropped = torn_tail(db, path)
        finally:
            db.close()
    return path, dropped
