"""One session followed as it grows: read once, then only what is new."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from .catalogue import known
from .errors import BadDraft, StoreDamaged, StoreError, StoreGone, UnknownEvent, UnknownSession
from .event import Draft, Event
from .fold import Fold
from .ids import HOUSE, SessionId
from .store import Appended, Lease, Numbered, Refused, Store

S = TypeVar("S")

CHUNK = 5000


class _Folded:
    """A fold with its state and how many events went into it."""

    def __init__(self, fold: Fold[Any]) -> None:
        self.fold = fold
        self.state = fold.start()
        self.count = 0

    def follow(self, events: Sequence[Event]) -> Any:
        while self.count < len(events):
            self.state = self.fold.step(self.state, events[self.count])
            self.count += 1
        return self.state


class SessionLog:
    """The log of one session in memory, with one state per fold. Several tasks of one loop may share it."""

    def __init__(self, store: Store, session: SessionId) -> None:
        self.store = store
        self.session = session
        self._events: list[Event] = []
        self._folds: dict[int, _Folded] = {}

    @classmethod
    async def open(cls, store: Store, session: SessionId) -> SessionLog:
        """Read the whole log. Raises UnknownSession, UnknownEvent, StoreDamaged. Reading never appends."""
        log = cls(store, session)
        await log.catch_up()
        if not log._events and session != HOUSE:
            raise UnknownSession(session)
        return log

    @property
    def events(self) -> Sequence[Event]:
        """What was read so far. Not a copy: look, do not keep it over an await."""
        return self._events

    @property
    def seq(self) -> int:
        """The number of the last event that was read, -1 before the first."""
        return len(self._events) - 1

    def see(self, fold: Fold[S]) -> S:
        """The state of a fold over everything that was read; each event is folded once."""
        found = self._folds.get(id(fold))
        if found is None:
            found = self._folds[id(fold)] = _Folded(fold)
        state: S = found.follow(self._events)
        return state

    async def catch_up(self) -> list[Event]:
        """Read what was appended since, by whomever; the new events."""
        found: list[Event] = []
        while True:
            chunk = await self.store.read(self.session, after=self.seq, limit=CHUNK)
            found += self._take(chunk)
            if len(chunk) < CHUNK:
                return found

    async def append(
        self,
        drafts: Sequence[Draft] | Numbered,
        *,
        present: Collection[str] = (),
        absent: Collection[str] = (),
        lease: Lease | None = None,
    ) -> Appended | Refused:
        """Append to the store and follow. Raises StoreGone when the store takes nothing or the fate cannot be learned.

        An append that fails, or is not acknowledged, is looked up by its key: if it is there it counts, if it is not
        it is tried once more. So no outcome is returned that the log does not hold, and none is taken for lost that it
        holds.
        """
        try:
            answer = await self.store.append(self.session, drafts, present=present, absent=absent, lease=lease)
        except (BadDraft, StoreDamaged):
            raise
        except Exception as error:
            answer = await self._after_doubt(drafts, present, absent, lease, error)
        if isinstance(answer, Appended):
            await self._follow(answer.events)
        return answer

    async def _after_doubt(
        self,
        drafts: Sequence[Draft] | Numbered,
        present: Collection[str],
        absent: Collection[str],
        lease: Lease | None,
        doubt: Exception,
    ) -> Appended | Refused:
        try:
            there = await self._own(drafts)
            if there is None:
                answer = await self.store.append(self.session, drafts, present=present, absent=absent, lease=lease)
                there = await self._own(drafts) if isinstance(answer, Refused) and answer.why == "duplicate" else None
                return answer if there is None else there
            return there
        except StoreGone:
            raise
        except (StoreError, OSError, TimeoutError) as error:
            raise StoreGone(f"the store does not answer: {error}") from doubt

    async def _own(self, drafts: Sequence[Draft] | Numbered) -> Appended | None:
        """The drafts as events, if they were committed after all: all of them together, or none was."""
        if isinstance(drafts, Numbered):
            return await self._own_numbered(drafts)
        events = []
        for draft in drafts:
            event = await self.store.lookup(self.session, draft.key)
            if event is None or event.type != draft.type or event.data != draft.data:
                return None
            events.append(event)
        return Appended(tuple(events))

    async def _own_numbered(self, drafts: Numbered) -> Appended | None:
        if drafts.key is None:
            raise StoreGone("nobody can say whether an append with new numbers was committed")
        first = await self.store.lookup(self.session, drafts.key)
        if first is None:
            return None
        count = len(drafts.sample())
        return Appended(tuple(await self.store.read(self.session, after=first.seq - 1, limit=count)))

    async def _follow(self, events: Sequence[Event]) -> None:
        if events[0].seq > self.seq + 1:
            await self.catch_up()
        self._take(events)

    def _take(self, events: Sequence[Event]) -> list[Event]:
        """Keep what continues the log; what another task has taken meanwhile is skipped."""
        new = [event for event in events if event.seq > self.seq]
        unknown = [event.type for event in new if not known(event.type, event.data)]
        if unknown:
            raise UnknownEvent(self.session, unknown)
        if new and new[0].seq != self.seq + 1:
            raise StoreDamaged(
                f"session {self.session}, seq {self.seq + 1}",
                f"the record is missing; the next one there is seq {new[0].seq}",
            )
        self._events += new
        return new
