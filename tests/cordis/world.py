"""A session with plugins on a real store. Its host halves are small, real ones of this process, with words for code."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from placet.approval.outcome import Policy, Who, WhoKind
from placet.approval.subject import CallKey
from placet.cordis.answers import Answered, Receipt
from placet.cordis.attempt import Attempt
from placet.cordis.definition import Definition, Package
from placet.cordis.host.port import Cause, Diagnosis, Ended, HostFailed, InvokeFailed, RunFacts
from placet.cordis.registry import Plugin
from placet.cordis.service import Cordis
from placet.cordis.vocabulary import AttemptStatus, HalfStatus, InvokeFailure, PackageId, Phase, PluginId, RunId
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.kernel.signal import AbortSignal
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Workdir
from placet.session import Draft, Event, Lease, SessionId, SessionLog, Store
from placet.session.stores.sqlite import SqliteStore
from placet.testing.facts import appended, new_session, yes
from placet.tools.tool import CallContext

OWNER = Who(WhoKind.PERSON, "owner")
PANEL = {"kind": "person", "name": "owner", "channel": "page"}
AGENT = {"kind": "agent", "name": "rehearsal"}
CLIENT = "return { apply(ctx) {} }"


class Half:
    """A host half whose code is words: `provides:NAME`, `waits:NAME`, `handles:NAME`."""

    def __init__(self, halves: Halves, facts: RunFacts, ended: Callable[[Ended], None], changed: Callable[[], None]):
        words = [word.partition(":") for word in facts.source.split()]
        self.facts, self._halves, self._ended, self._changed = facts, halves, ended, changed
        self.provides = tuple(name for word, _, name in words if word == "provides")
        self.waiting_for = tuple(name for word, _, name in words if word == "waits")
        self.handlers = tuple(name for word, _, name in words if word == "handles")
        self.pid = 0

    @property
    def status(self) -> HalfStatus:
        return HalfStatus.WAITING if self.waiting_for else HalfStatus.RUNNING

    def wake(self) -> None:
        """What it waits for is there."""
        self.waiting_for = ()
        self._changed()

    def die(self, cause: Cause = Cause.CRASHED, message: str = "it is gone") -> None:
        self._halves.living.pop(self.facts.run, None)
        self._ended(Ended(cause, Phase.HOST_APPLY, message, "a stack"))

    async def invoke(self, method: str, args: Any) -> Any:
        if method == "boom":
            raise InvokeFailed(InvokeFailure.HANDLER_ERROR, "boom failed", "line 1")
        if method not in self.handlers:
            raise InvokeFailed(InvokeFailure.METHOD_NOT_FOUND, f"there is no {method}")
        return {"method": method, "args": args}

    async def end(self) -> None:
        await anyio.lowlevel.checkpoint()
        self._halves.living.pop(self.facts.run, None)


class Halves:
    """Starts halves; `living` are those that are up or on their way, `most` the most at once per plugin."""

    def __init__(self) -> None:
        self.living: dict[RunId, Half] = {}
        self.started: list[RunId] = []
        self.most: dict[PluginId, int] = {}
        self.discarded: list[SessionId] = []
        self.prepared: list[SessionId] = []
        self.gate: anyio.Event | None = None
        self.entered = anyio.Event()

    async def start(
        self,
        facts: RunFacts,
        *,
        on_ended: Callable[[Ended], None],
        on_change: Callable[[], None] = lambda: None,
        on_diagnosed: Callable[[Diagnosis], None] = lambda _: None,
    ) -> Half:
        half = Half(self, facts, on_ended, on_change)
        self.living[facts.run] = half
        self.started.append(facts.run)
        count = sum(one.facts.plugin == facts.plugin for one in self.living.values())
        self.most[facts.plugin] = max(self.most.get(facts.plugin, 0), count)
        try:
            self.entered.set()
            if "hangs" in facts.source and self.gate is not None:
                await self.gate.wait()
            await anyio.lowlevel.checkpoint()
            if "fails" in facts.source:
                raise HostFailed(Phase.HOST_APPLY, "NameError: name 'x' is not defined", "line 2, in apply", 2)
        except BaseException:
            self.living.pop(facts.run, None)
            raise
        return half

    async def prepare(self, session: SessionId, mode: SandboxMode, *, after: float = 0.0) -> None:
        self.prepared.append(session)

    async def discard(self, session: SessionId) -> None:
        self.discarded.append(session)


class NoChecks:
    """Finds nothing wrong but the word `syntax`."""

    async def complaint(self, call: CallContext, definition: Definition) -> str | None:
        return "line 1: syntax" if "syntax" in (definition.host or "") else None


class CordisWorld:
    """One session with an open turn; `cordis` is a process, `again` makes another one after its death."""

    def __init__(self, store: Store, session: SessionId, lease: Lease, log: SessionLog, cwd: Path) -> None:
        self.store, self.session, self.lease, self.log, self.cwd = store, session, lease, log, cwd
        self.halves = Halves()
        self.cordis: Cordis
        self.clock: Clock = SYSTEM_CLOCK
        self.dead: set[str] = set()
        self._positions = itertools.count()
        self._keys = itertools.count(1)

    def key(self) -> str:
        return f"key-{next(self._keys)}"

    @asynccontextmanager
    async def process(self, holder: str = "process-1", **more: Any) -> AsyncIterator[Cordis]:
        """A process that lives until the end of the block, where it ends in order."""
        self.halves = more.pop("halves", None) or Halves()
        cordis = Cordis(
            more.pop("store", self.store),
            self.halves,
            NoChecks(),
            self.clock,
            holder=holder,
            living=lambda other: other not in self.dead,
            **more,
        )
        self.cordis = cordis
        async with cordis.serving():
            yield cordis

    def call(
        self, *, mode: SandboxMode = SandboxMode.WORKSPACE_WRITE, signal: AbortSignal | None = None
    ) -> CallContext:
        return CallContext(
            key=CallKey(1, 1, next(self._positions)),
            session=self.session,
            cwd=self.cwd,
            workdir=Workdir.of(self.cwd),
            mode=mode,
            policy=Policy.ASK,
            escalated=False,
            signal=signal or AbortSignal(),
            log=self.log,
            lease=self.lease,
        )

    async def define(
        self, host: str | None = "ok", client: str | None = None, plugin: str | None = None, **more: Any
    ) -> Package:
        prefix = None if plugin is not None else more.pop("prefix", "clock")
        definition = Definition(
            more.pop("name", "Clock"),
            more.pop("purpose", "Show the time."),
            host,
            client,
            prefix=prefix,
            plugin=None if plugin is None else PluginId(plugin),
        )
        package = await self.cordis.define(self.call(), definition)
        assert isinstance(package, Package), package
        return package

    async def run(self, package: Package, mode: str = "run", *, call: CallContext | None = None) -> Any:
        """Let the agent run a package."""
        call = call or self.call()
        return await self.cordis.run(
            self.session, package.plugin, package.id, mode, by=AGENT, call=call, policy=Policy.ASK
        )

    async def asked(self, package: Package, mode: str = "run") -> RunId:
        receipt = await self.run(package, mode)
        assert isinstance(receipt, Receipt), receipt
        return receipt.run

    async def consent(self, run: str, width: str = "package", **more: Any) -> Any:
        return await self.cordis.consent(RunId(run), **await self._answer(run, more), width=width)

    async def decline(self, run: str, feedback: str | None = None, **more: Any) -> Any:
        return await self.cordis.decline(RunId(run), **await self._answer(run, more), feedback=feedback)

    async def _answer(self, run: str, more: dict[str, Any]) -> dict[str, Any]:
        event = await self.store.find(f"requested:{run}")
        assert event is not None
        return {
            "digest": event.data["digest"],
            "who": OWNER,
            "channel": "page",
            "evidence": "page-key",
            "strength": "page-key",
            "key": self.key(),
            **more,
        }

    async def up(self, package: Package, mode: str = "run", **verdict: Any) -> RunId:
        """Bring a package with a client half up: run, consent where it is needed, verdict of a page."""
        run = await self.asked(package, mode)
        if (await self.attempt(run)).awaits:
            assert isinstance(await self.consent(run), Answered)
        await self.until(run, AttemptStatus.CLIENT_PENDING)
        assert await self.cordis.verdict(run, ok=True, page="page-1", **verdict)
        return run

    async def plugin(self, id: str = "clock-1") -> Plugin:
        plugin = await self.cordis.plugin(PluginId(id))
        assert plugin is not None
        return plugin

    async def attempt(self, run: str) -> Attempt:
        for plugin in await self.cordis.plugins():
            attempt = plugin.attempt(RunId(run))
            if attempt is not None:
                return attempt
        raise AssertionError(f"no attempt {run}")

    async def until(self, run: str, *statuses: AttemptStatus) -> Attempt:
        """Return the attempt as soon as the log gives it one of these statuses."""
        with anyio.fail_after(30):
            async with self.store.doorbell() as bell:
                while (attempt := await self.attempt(run)).status not in statuses:
                    await bell.wait(1.0)
        return attempt

    async def until_event(self, key: str) -> Event:
        with anyio.fail_after(30):
            async with self.store.doorbell() as bell:
                while (event := await self.store.find(key)) is None:
                    await bell.wait(1.0)
        return event

    async def types(self) -> list[str]:
        return [e.type for e in await self.store.read(self.session) if e.type.startswith("cordis/")]

    async def told(self) -> list[dict[str, Any]]:
        """Return what the agent was told of plugins, oldest first."""
        events = await self.store.feed(0, types={"agent/inbox"}, session=self.session)
        return [event.data["put"] for event in events if "put" in event.data]

    async def append(self, kind: str, data: dict[str, Any], key: str) -> Event:
        return appended(await self.store.append(self.session, [Draft(kind, data, key)]))[0]

    async def mode(self, mode: SandboxMode) -> None:
        await self.append("sandbox/mode", {"mode": mode.value, "by": PANEL}, f"mode:{self.key()}")


@asynccontextmanager
async def cordis_world(tmp_path: Path, *, serving: bool = True, **more: Any) -> AsyncIterator[CordisWorld]:
    """A world with one process; with `serving=False` the test makes its processes itself."""
    async with await SqliteStore.open(tmp_path / "state" / "placet.db") as store:
        session = await new_session(store)
        appended(await store.append(session, [Draft("turn/start", {"turn": 1}, "turn:1")]))
        lease = await store.acquire(session, "worker", yes)
        assert isinstance(lease, Lease)
        log = await SessionLog.open(store, session)
        world = CordisWorld(store, session, lease, log, tmp_path)
        if not serving:
            yield world
            return
        async with world.process(**more):
            yield world


def package_id(text: str) -> PackageId:
    return PackageId(text)
