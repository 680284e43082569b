"""A small house for tests of the agent: a real store, the real pipeline, a tool that leaves a trace, and an inbox."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from placet.agent import gestures
from placet.agent.context import standard_context
from placet.agent.crew import Crew
from placet.agent.kit import Kit
from placet.agent.model.port import Model
from placet.agent.model.retry import Retries
from placet.agent.worker import Worker
from placet.approval.dispatcher import Dispatcher
from placet.approval.events import ASKED
from placet.approval.inbox import Inbox, Receipt
from placet.approval.outcome import Who, WhoKind
from placet.approval.policy import PolicyFold
from placet.approval.responder import Responder, Responders
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.kernel.signal import AbortSignal
from placet.permission.preset import pinned
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.session import keys
from placet.session.event import Draft, Event
from placet.session.ids import MessageId, SessionId, new_message_id, new_session_id
from placet.session.log import SessionLog
from placet.session.store import Appended, Store
from placet.session.stores.sqlite import SqliteStore
from placet.tools.pipeline import Pipeline
from placet.tools.registry import Registry
from placet.tools.tool import Arguments, CallContext, Stakes, Tool, ToolOutput

BY = {"kind": "person", "name": "owner", "channel": "page"}
OWNER = Who(WhoKind.PERSON, "owner")
POLICY, MODE = PolicyFold(), ModeFold()


class Trace(Tool):
    """Appends its line to `ran.txt` in the session's folder. With `widen` it needs a person; `wait` holds it up."""

    name = "trace"
    description = "Leaves a trace."
    parameters: Mapping[str, Any] = {"type": "object"}

    def __init__(self, before: Callable[[str, AbortSignal], Any] | None = None) -> None:
        self._before = before

    def check(self, args: Arguments) -> str | None:
        return None if isinstance(args.get("line"), str) else "line must be text"

    def stakes(self, args: Arguments) -> Stakes | None:
        return Stakes(SandboxMode.DANGER_FULL_ACCESS, "It has to.") if args.get("widen") else None

    def parallel(self, args: Arguments) -> bool:
        return True

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        with (call.cwd / "ran.txt").open("a") as file:
            file.write(f"{args['line']}\n")
        if self._before is not None:
            await self._before(args["line"], call.signal)
        return ToolOutput(f"traced {args['line']}", {"line": args["line"]})


@dataclass
class House:
    """What a test works with."""

    store: Store
    inbox: Inbox
    kit: Kit
    session: SessionId
    cwd: Path

    async def send(self, text: str = "go", *, steer: bool = False) -> MessageId:
        return await gestures.send_message(self.store, self.session, text, new_message_id(), steer=steer, by=BY)

    async def work(self) -> None:
        """Let a worker work until nothing wakes the agent."""
        with anyio.fail_after(60):
            assert await Worker(self.kit, self.session).run() is None

    async def log(self) -> list[Event]:
        return list((await SessionLog.open(self.store, self.session)).events)

    async def types(self) -> list[str]:
        return [event.type for event in await self.log()]

    async def of(self, kind: str) -> list[Event]:
        return [event for event in await self.log() if event.type == kind]

    async def wait_for(self, kind: str, count: int = 1, session: SessionId | None = None) -> list[Event]:
        """Return the events of a type as soon as there are that many."""
        with anyio.fail_after(60):
            async with self.store.doorbell() as bell:
                while True:
                    found = await self.store.feed(0, types={kind}, session=session or self.session, limit=1000)
                    if len(found) >= count:
                        return found
                    await bell.wait(1.0)

    async def asks(self, count: int) -> dict[str, Event]:
        """The asks by the line of their call, as soon as there are that many."""
        return {line_of(event): event for event in await self.wait_for(ASKED, count)}

    async def answer(self, asked: Event, outcome: str, feedback: str | None = None, stop: Sequence[Draft] = ()) -> Any:
        return await self.inbox.answer(
            asked.data["id"],
            outcome=outcome,
            digest=asked.data["digest"],
            key=f"k-{outcome}",
            feedback=feedback,
            who=OWNER,
            channel="page",
            evidence="click",
            strength="page-key",
            stop=stop,
        )

    async def allow(self, asked: Event) -> None:
        assert isinstance(await self.answer(asked, "allowed-once"), Receipt)

    async def reject(self, asked: Event, feedback: str | None = None) -> None:
        assert isinstance(await self.answer(asked, "rejected", feedback), Receipt)

    def ran(self) -> list[str]:
        """What the tool has really done."""
        path = self.cwd / "ran.txt"
        return path.read_text().splitlines() if path.exists() else []

    async def results(self) -> dict[int, Event]:
        """The results of the calls by position (of a log with one message that has calls)."""
        return {event.data["position"]: event for event in await self.of("tool/result")}

    @asynccontextmanager
    async def crew(self) -> AsyncIterator[Crew]:
        crew = Crew(self.kit)
        async with anyio.create_task_group() as group:
            group.start_soon(crew.run)
            yield crew
            group.cancel_scope.cancel()


async def until(holds: Callable[[], bool]) -> None:
    """Return as soon as something holds that no event tells."""
    with anyio.fail_after(60):
        while not holds():  # noqa: ASYNC110 - nobody sets an event for it
            await anyio.sleep(0.005)


def line_of(asked: Event) -> str:
    """The line in the arguments of an ask's call."""
    return str(json.loads(asked.data["subject"]["arguments"])["line"])


async def new_session(store: Store, cwd: Path, *, preset: str = "workspace-write") -> SessionId:
    """A session whose permission is pinned."""
    session = new_session_id()
    data = {"v": 1, "cwd": str(cwd), "cwdId": "1:2", "title": None, "gitRoots": [], "by": BY}
    drafts = [Draft("session/created", data, keys.created()), *pinned(preset, by=BY, key="new")]
    assert isinstance(await store.append(session, drafts), Appended)
    return session


def kit_on(
    store: Store,
    model: Model,
    *,
    tools: Sequence[Tool] = (),
    responders: Sequence[Responder] = (),
    clock: Clock = SYSTEM_CLOCK,
    **more: Any,
) -> Kit:
    """A kit over a store: with the trace tool unless others are given, and these responders in this order."""
    chain = Responders([responder.name for responder in responders])
    for responder in responders:
        chain.register(responder)
    dispatcher = Dispatcher(store, chain, clock, policy=POLICY)
    registry = Registry(tools or [Trace()])
    return Kit(
        store=store,
        dispatcher=dispatcher,
        pipeline=Pipeline(registry, dispatcher, clock, modes=MODE),
        tools=registry,
        context=standard_context(POLICY, MODE),
        models=lambda name: model,
        default_model=model.name,
        retries=Retries(first=0.001),
        clock=clock,
        chance=random.Random(1),
        **more,
    )


@asynccontextmanager
async def house(
    tmp_path: Path, model: Model, *, preset: str = "workspace-write", store: Store | None = None, **more: Any
) -> AsyncIterator[House]:
    """A house in `tmp_path` whose asks go to the inbox."""
    cwd = tmp_path / "workspace"
    cwd.mkdir(exist_ok=True)
    own = store or await SqliteStore.open(tmp_path / "placet.db")
    try:
        inbox = Inbox(own, SYSTEM_CLOCK)
        more.setdefault("responders", [inbox.responder()])
        session = await new_session(own, cwd, preset=preset)
        yield House(own, inbox, kit_on(own, model, **more), session, cwd)
    finally:
        if store is None:
            await own.aclose()
