"""The port to the store: append under conditions, read, look up. Everything that is decided is decided by `append`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from .catalogue import known, lacks
from .codec import dumps, lossless
from .errors import BadDraft, StoreDamaged
from .event import Draft, Event
from .ids import SessionId
from .keys import MAX_KEY

Why = Literal["lease", "duplicate", "present", "absent"]


@dataclass(frozen=True, slots=True)
class Lease:
    """Who drives a session now. The epoch grows by one with every new owner and never goes back."""

    session: SessionId
    holder: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Held:
    """The session is driven by somebody who is alive."""

    holder: str


@dataclass(frozen=True, slots=True)
class Appended:
    """The drafts are durable, in this order."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was appended: the key that stood in the way and, where it is in the log, its event.

    `lease`: the lease is not current. `duplicate`: a draft's key is there. `present`: a wanted key is missing.
    `absent`: an unwanted key is there. They are checked in this order.
    """

    why: Why
    key: str
    event: Event | None


@dataclass(frozen=True, slots=True)
class SessionHead:
    """The newest event of a session."""

    id: SessionId
    head_seq: int
    time: int
    pos: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: at which place, and what."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Numbered:
    """Drafts that carry new numbers: `make` gets the next one of each counter, in the transaction that appends them.

    Numbers count from 1 in the whole store and never come back; an append that is refused consumes none. `make` may run
    in another thread and more than once, so it only makes drafts, and as many whatever the numbers. Where the first of
    them always has the same key, `key` is that one, by which an append of unknown fate is found again.
    """

    counters: tuple[str, ...]
    make: Callable[[Mapping[str, int]], Sequence[Draft]]
    key: str | None = None

    def sample(self) -> Sequence[Draft]:
        """Return the drafts as they would be with the first numbers of all."""
        return self.make(dict.fromkeys(self.counters, 1))


class Bell(Protocol):
    """A hint that something was appended. Read first, then wait, then read again."""

    async def wait(self, timeout: float) -> None:
        """Return at an append of any process (at once if there was one since the last call) or after `timeout` s."""
        ...


class Store(Protocol):
    """Logs of many sessions. Every method may raise StoreError; a refusal is a value."""

    async def append(
        self,
        session: SessionId,
        drafts: Sequence[Draft] | Numbered,
        *,
        present: Collection[str] = (),
        absent: Collection[str] = (),
        lease: Lease | None = None,
    ) -> Appended | Refused:
        """Append all drafts or none, and return only after the commit is durable.

        The conditions are checked in the same transaction: every key of `present` is in the session's log, none of
        `absent` is, no draft's key is, and the lease, if given, is current. A log begins with the key `created` (that
        of the house does not), so that nothing is appended to a session that was removed.
        """
        ...

    async def read(
        self,
        session: SessionId,
        *,
        after: int = -1,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Event]:
        """Events with after < seq < before, ascending, at most `limit`: the first, or the last ones if `newest`."""
        ...

    async def lookup(self, session: SessionId, key: str) -> Event | None:
        """The event with this key in this session."""
        ...

    async def find(self, key: str) -> Event | None:
        """The event with this key in any session: for keys that hold an id, which no two sessions share."""
        ...

    async def feed(
        self, after: int, *, limit: int = 500, types: Collection[str] | None = None, session: SessionId | None = None
    ) -> list[Event]:
        """Events of all sessions in commit order with pos > after."""
        ...

    async def head(self) -> int:
        """The newest commit position, 0 in an empty store."""
        ...

    async def unpaired(self, opener: str, closer: str) -> list[Event]:
        """Events whose key is opener + X while their session has no closer + X, the oldest first."""
        ...

    async def sessions(self) -> list[SessionHead]:
        """All sessions except the house, the one with the newest event first."""
        ...

    async def acquire(self, session: SessionId, holder: str, alive: Callable[[str], bool]) -> Lease | Held:
        """Take the session over unless another holder has it and is alive. Who asks again gets a new epoch."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the session back; nothing happens if the lease is not current."""
        ...

    async def current_lease(self, session: SessionId) -> Lease | None:
        """Who has the session now, alive or not."""
        ...

    async def remove(self, session: SessionId) -> None:
        """Delete a session's log and lease for good. Appends to it are refused from then on."""
        ...

    def doorbell(self) -> AbstractAsyncContextManager[Bell]:
        """A bell that rings after appends from now on."""
        ...

    async def damage(self) -> list[Finding]:
        """Everything that is wrong with the store's records: missing, changed, unreadable. Reads all of them."""
        ...

    async def damaged(self, *, look: bool = False) -> Mapping[SessionId, StoreDamaged]:
        """The sessions in whose logs damage was met since the store was opened; with `look`, after a quick look for it.

        Their events are left out of what reads over all sessions, and nothing is appended to them nor are they given to
        anybody: that raises the damage. Raises StoreDamaged itself if the damage is not that of single sessions.
        """
        ...

    async def aclose(self) -> None:
        """Finish what was begun and let go of the file."""
        ...


MAX_DATA = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft that was checked and whose data is text: what the caller does to its object later has no effect."""

    type: str
    key: str
    data: str


def prepare(drafts: Sequence[Draft]) -> tuple[Prepared, ...]:
    """Check drafts before they reach a store. Raises BadDraft, of which NotLossless is one."""
    if not drafts:
        raise BadDraft("an append needs at least one draft")
    if len({draft.key for draft in drafts}) != len(drafts):
        raise BadDraft("two drafts of one append have the same key")
    return tuple(_prepared(draft) for draft in drafts)


def _prepared(draft: Draft) -> Prepared:
    if not 0 < len(draft.key) <= MAX_KEY or not draft.key.isprintable():
        raise BadDraft(f"a key has 1 to {MAX_KEY} printable characters: {draft.key!r:.80}")
    if not isinstance(draft.data, dict):
        raise BadDraft(f"the data of {draft.type} is {type(draft.data).__name__}, not an object")
    lossless(draft.data)
    if not known(draft.type, draft.data):
        raise BadDraft(f"{draft.type} is not in the table of event types")
    if lacking := lacks(draft.type, draft.data):
        raise BadDraft(f"this is no {draft.type}: {lacking[0]}")
    text = dumps(draft.data)
    if len(text) > MAX_DATA:
        raise BadDraft(f"the data of {draft.type} is longer than {MAX_DATA} characters")
    return Prepared(draft.type, draft.key, text)
