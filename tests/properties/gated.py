"""What makes a worker of the machine wait and fail: a store whose appends need leave, a responder that can fail."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from placet.approval import Ask, Reply
from placet.kernel.chain import CallNext
from placet.session import Draft, Lease, SessionId, StoreGone
from placet.session.store import Appended, Refused, Store
from placet.testing.faults import Fault, StoreWrapper


@dataclass(eq=False)
class Gate:
    """One append of a worker that waits for leave: before its commit, then once more after it."""

    after: bool = False
    passed: asyncio.Event = field(default_factory=asyncio.Event)
    fault: Fault | None = None


class GatedStore(StoreWrapper):
    """The store as one worker sees it; what it wrote without the lease is a sin."""

    def __init__(self, inner: Store, lease: Lease, sins: list[str]) -> None:
        super().__init__(inner)
        self.lease, self.sins = lease, sins
        self.gate: Gate | None = None

    async def append(self, session: SessionId, drafts: Sequence[Draft], **more: Any) -> Appended | Refused:
        await self._pass(after=False)
        answer = await super().append(session, drafts, **more)
        if isinstance(answer, Appended) and await self.inner.current_lease(session) != self.lease:
            self.sins.append(f"a worker wrote {drafts[0].type} without the lease")
        await self._pass(after=True)
        return answer

    async def _pass(self, *, after: bool) -> None:
        gate = self.gate = Gate(after)
        await gate.passed.wait()
        if self.gate is gate:
            self.gate = None
        if gate.fault is not None:
            raise StoreGone("the test's store does not answer")


class Unsteady:
    """A responder before the inbox that fails when it is told to, and else passes on."""

    name = "unsteady"

    def __init__(self) -> None:
        self.fails = asyncio.Event()

    async def answer(self, ask: Ask, call_next: CallNext[Reply]) -> Reply:
        reply: Reply | None = None

        async def fail() -> None:
            await self.fails.wait()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            reply = await call_next()
            group.cancel_scope.cancel()
        if reply is None:
            raise RuntimeError("the responder fails")
        return reply
