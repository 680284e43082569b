"""A session with an open turn on a real store, for the tests of asks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from placet.approval import (
    CallKey,
    Decision,
    Dispatcher,
    Inbox,
    NotAsked,
    PolicyFold,
    Responder,
    Responders,
    Subject,
    Who,
    WhoKind,
    build,
)
from placet.kernel.signal import AbortSignal
from placet.session import Appended, AskId, Draft, Event, Lease, Refused, SessionId, SessionLog, Store, keys, new_id
from placet.session.stores.sqlite import SqliteStore
from placet.testing.clock import ManualClock

BY = {"kind": "person", "name": "Ada", "channel": "page"}
ADA = Who(WhoKind.PERSON, "Ada", "ada")
BOB = Who(WhoKind.PERSON, "Bob", "bob")


def one(answer: Appended | Refused) -> Event:
    """Return the first event of an append that has to succeed."""
    assert isinstance(answer, Appended), answer
    return answer.events[0]


class World:
    """One session in turn 1 with a lease, a dispatcher with the given chain, and an inbox."""

    def __init__(self, store: Store, log: SessionLog, lease: Lease, clock: ManualClock) -> None:
        self.store, self.log, self.lease, self.clock = store, log, lease, clock
        self.session = log.session
        self.inbox = Inbox(store, clock)
        self.signal = AbortSignal()
        self.position = 0
        self.chain()

    def chain(self, *responders: Responder, order: tuple[str, ...] | None = None, **more: Any) -> Dispatcher:
        """Put these responders into the chain, in this order unless another one is named."""
        self.responders = Responders(tuple(r.name for r in responders) if order is None else order)
        for responder in responders:
            self.responders.register(responder)
        self.dispatcher = Dispatcher(self.store, self.responders, self.clock, **more)
        return self.dispatcher

    def subject(self, ask: AskId, arguments: str = '{"command":"true"}', **more: Any) -> Subject:
        """Return a subject of the next call."""
        fields: dict[str, Any] = {
            "agent": "rehearsal",
            "call": CallKey(1, 1, self.position),
            "tool": "bash",
            "tool_digest": "0" * 64,
            "arguments": arguments,
            "cwd": "/somewhere",
            "cwd_id": "1:2",
            "from_mode": "workspace-write",
            "to_mode": "danger-full-access",
        }
        return build(ask=ask, session=self.session, **(fields | more))

    async def request(self, turn: int = 1, **more: Any) -> Decision | NotAsked:
        """Ask, as the pipeline would."""
        self.position += 1
        position = self.position
        options: dict[str, Any] = {"call_id": "c-1", "reason": "because", "signal": self.signal}
        subject_of: Callable[[AskId], Subject] = more.pop(
            "subject_of", lambda ask: self.subject(ask, call=CallKey(turn, 1, position))
        )
        return await self.dispatcher.request(self.log, self.lease, turn, subject_of, **(options | more))

    async def decide(self, **more: Any) -> Decision:
        """Ask, and expect a decision."""
        decision = await self.request(**more)
        assert isinstance(decision, Decision)
        return decision

    async def events(self, *types: str) -> list[Event]:
        """Return the events of these types, from the store."""
        return [e for e in await self.store.read(self.session) if not types or e.type in types]

    async def open_ask(self) -> Event:
        """Return the one open ask as soon as it is in the log."""
        async with self.store.doorbell() as bell:
            while not (found := await self.store.unpaired("asked:", "decided:")):
                await bell.wait(5)
        return found[0]

    async def answer(self, asked: Event, outcome: str = "allowed-once", **more: Any) -> Any:
        """Answer an ask as Ada would, with the right digest."""
        fields: dict[str, Any] = {
            "outcome": outcome,
            "digest": asked.data["digest"],
            "key": "k-1",
            "who": ADA,
            "channel": "page",
            "evidence": "signature",
            "strength": "page-key",
        }
        return await self.inbox.answer(asked.data["id"], **(fields | more))

    async def switch(self, policy: str, key: str = "p-1") -> Event:
        """Switch the policy as a person would, beside the worker."""
        data = {"policy": policy, "by": BY}
        return one(await self.store.append(self.session, [Draft("approval/policy", data, keys.client("policy", key))]))

    async def stop(self, turn: int = 1) -> Event:
        """Stop the turn in the log and, as the worker would, in memory."""
        data = {"turn": turn, "reason": "user", "by": BY}
        event = one(await self.store.append(self.session, [Draft("turn/abort", data, keys.abort(turn))]))
        self.signal.abort("user")
        return event

    async def end(self, turn: int = 1) -> Event:
        """End the turn."""
        data = {"turn": turn, "reason": {"kind": "completed"}}
        return one(await self.store.append(self.session, [Draft("turn/end", data, keys.end(turn))]))

    async def reborn(self) -> World:
        """Return the world of a new worker on the same log: nothing is kept in memory, the lease is taken over."""
        lease = await self.store.acquire(self.session, new_id("w"), lambda _: False)
        assert isinstance(lease, Lease)
        return World(self.store, await SessionLog.open(self.store, self.session), lease, self.clock)


async def new_world(store: Store, clock: ManualClock, *, cwd: str = "/somewhere", cwd_id: str = "1:2") -> World:
    """Begin a session and its first turn."""
    session = SessionId(new_id("s", clock))
    created = {"v": 1, "cwd": cwd, "cwdId": cwd_id, "title": None, "gitRoots": [], "by": BY}
    one(await store.append(session, [Draft("session/created", created, "created")]))
    lease = await store.acquire(session, new_id("w"), lambda _: False)
    assert isinstance(lease, Lease)
    one(await store.append(session, [Draft("turn/start", {"turn": 1}, keys.turn(1))], lease=lease))
    return World(store, await SessionLog.open(store, session), lease, clock)


@asynccontextmanager
async def a_store(path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
    """Open a real store in a directory of the test."""
    store = await SqliteStore.open(path / "placet.db", clock=clock)
    try:
        yield store
    finally:
        await store.aclose()


__all__ = ["ADA", "BOB", "BY", "PolicyFold", "World", "a_store", "new_world", "one"]
