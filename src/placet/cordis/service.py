"""Cordis: one per process. What tools and the page ask of plugins, and what follows from the log for them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from placet.approval.outcome import Policy, Who
from placet.approval.policy import PolicyFold
from placet.cordis.answers import (
    Answered,
    BadResponse,
    DefineRefused,
    InvokeRefused,
    NotPending,
    Receipt,
    RunRefused,
    SourceRefused,
    Stopped,
    StopRefused,
)
from placet.cordis.attempt import Attempt
from placet.cordis.consent import ConsentPage, Consents, ConsentView
from placet.cordis.definition import Code, Definition, Package
from placet.cordis.events import Answering, By
from placet.cordis.host.port import HostHalves
from placet.cordis.registry import Plugin
from placet.cordis.running.activation import Activation
from placet.cordis.running.beginning import Beginning
from placet.cordis.running.defining import Checks, Defining
from placet.cordis.running.ending import Ending
from placet.cordis.running.following import Following
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.pages import Pages
from placet.cordis.running.tasks import Tasks
from placet.cordis.running.writing import Writer
from placet.cordis.vocabulary import (
    Detail,
    PackageId,
    Phase,
    PluginId,
    RunId,
)
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.permission.escalation import wider
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.session.event import JSON
from placet.session.ids import SessionId
from placet.session.lease import alive
from placet.session.lease import holder as this_process
from placet.session.store import Store
from placet.tools.tool import CallContext

logger = logging.getLogger(__name__)


class Cordis:
    """The plugins of all sessions, and the runs of this process; works inside of `serving`.

    `deadline` is how many seconds a request for consent waits, None without limit (I10).
    """

    def __init__(
        self,
        store: Store,
        halves: HostHalves,
        checks: Checks,
        clock: Clock = SYSTEM_CLOCK,
        *,
        modes: ModeFold = ModeFold(),  # noqa: B008 - a frozen value
        policies: PolicyFold = PolicyFold(),  # noqa: B008 - a frozen value
        deadline: float | None = None,
        holder: str | None = None,
        living: Callable[[str], bool] = alive,
    ) -> None:
        holder = holder or this_process()
        self._tasks, self._writer = Tasks(), Writer(store, clock)
        self._ledger = Ledger(store, modes=modes, policies=policies)
        self._activation = Activation(
            self._ledger, self._writer, halves, self._tasks.spawn, holder=holder, living=living
        )
        self._ending = Ending(self._ledger, self._writer, self._activation, holder=holder, living=living)
        self._defining = Defining(self._ledger, checks)
        self._beginning = Beginning(
            self._ledger, self._writer, self._activation, self._ending, self._tasks, clock,
            holder=holder, deadline=deadline,
        )  # fmt: skip
        self._following = Following(
            store, self._ledger, self._activation, self._ending, self._beginning, self._tasks, clock, holder=holder
        )
        self._consents = Consents(store, self._ledger, self._writer, holder=holder)
        self._pages = Pages(self._ledger, self._writer, self._activation)
        self._ledger.heard = self._following.heard
        self._activation.diagnosed = self._pages.diagnosed

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Drive runs inside of the block; at its end nothing of any run lives. Open requests stay open."""
        async with self._tasks.serving(self._close):
            self._tasks.spawn(self._following.run)
            yield

    async def _close(self) -> None:
        self._writer.closing = True
        await self._activation.close()

    # ---- what there is ----

    async def plugins(self, session: SessionId | None = None) -> list[Plugin]:
        """Return the plugins of a session, or of all, in the order in which they came."""
        plugins = await self._ledger.catch_up()
        return list(plugins.plugins.values() if session is None else plugins.of(session))

    async def plugin(self, id: PluginId) -> Plugin | None:
        """Return one plugin, of whichever session."""
        return (await self._ledger.catch_up()).plugins.get(id)

    async def code(self, plugin: Plugin, package: Package) -> Code | None:
        """Return the stored code of a package; None where it is not what was defined."""
        return await self._ledger.code(plugin, package)

    # ---- define ----

    async def define(self, call: CallContext, definition: Definition) -> Package | DefineRefused:
        """Check and record a package; nothing runs, nobody is asked, no pointer moves (H3 to H8).

        Raises `LeaseLost`, `StoreError`, `CheckUnavailable`.
        """
        defined = await self._defining.define(call, definition)
        if isinstance(defined, Package) and defined.has_host:
            self._activation.prepare(call.session)
        return defined

    # ---- run ----

    async def run(
        self,
        session: SessionId,
        plugin: PluginId,
        package: PackageId,
        mode: str,
        *,
        by: By,
        call: CallContext | None = None,
        policy: Policy | None = None,
        key: str | None = None,
    ) -> Receipt | RunRefused:
        """Make an attempt to run a package (I1 to I8): with a client half it returns at once.

        `call` is the agent's call, None for a person in the panel, whose `key` makes a repetition harmless. A host-only
        package is up, or has failed, when this returns. Raises `StoreError`.
        """
        return await self._beginning.run(session, plugin, package, mode, by=by, call=call, policy=policy, key=key)

    # ---- end ----

    async def stop(self, session: SessionId, plugin: PluginId, *, by: By, told: bool) -> Stopped | StopRefused:
        """End what runs of a plugin and withdraw what waits; `told` for a person's gesture, which the agent hears of.

        Returns when nothing of it is left. Raises `StoreError`.
        """
        return await self._ending.stop(session, plugin, by=by, told=told)

    async def undefine(self, session: SessionId, plugin: PluginId, *, by: By, told: bool) -> Stopped | StopRefused:
        """End a plugin and forget it, with its packages and consents. Raises `StoreError`."""
        return await self._ending.undefine(session, plugin, by=by, told=told)

    async def end_session(self, session: SessionId, detail: Detail, by: By | None = None) -> None:
        """End all runs of a session that is put away or deleted; returns when none of them lives."""
        await self._ending.end_session(session, detail, by)

    async def wider(self, session: SessionId, mode: SandboxMode) -> tuple[Attempt, ...]:
        """Return the runs of a session, of whichever process, that run in a wider mode than this one."""
        found = [one for plugin in await self.plugins(session) for one in (plugin.active, plugin.in_flight)]
        runs = {one.run: one for one in found if one is not None and one.sandbox is not None}
        return tuple(one for one in runs.values() if wider(mode, SandboxMode(one.sandbox or mode)))

    async def end_wider(self, session: SessionId, mode: SandboxMode, by: By | None = None) -> None:
        """End the runs of this process that run in a wider mode than this one; returns when none of them lives."""
        await self._ending.end_wider(session, mode, by)

    # ---- consent ----

    async def consent(
        self,
        run: RunId,
        *,
        digest: str,
        width: str,
        who: Who,
        channel: str,
        evidence: str,
        strength: str,
        key: str,
    ) -> Answered | NotPending | BadResponse:
        """Say yes to exactly these bytes; this process then starts them. Raises `StoreError`: not recorded."""
        answering = Answering(who, channel, evidence, strength, key)
        return await self._consents.consent(run, digest=digest, width=width, answering=answering)

    async def decline(
        self,
        run: RunId,
        *,
        digest: str,
        feedback: str | None = None,
        who: Who,
        channel: str,
        evidence: str,
        strength: str,
        key: str,
    ) -> Answered | NotPending | BadResponse:
        """Say no; nothing starts, and the agent is told not to ask again. Raises `StoreError`: not recorded."""
        answering = Answering(who, channel, evidence, strength, key)
        return await self._consents.decline(run, digest=digest, feedback=feedback, answering=answering)

    async def revoke(
        self,
        plugin: PluginId,
        *,
        package: PackageId | None = None,
        future: bool = False,
        who: Who,
        channel: str,
        evidence: str,
        strength: str,
        key: str,
    ) -> bool:
        """Take a consent back; what runs goes on, the next start asks. False where there is no such plugin."""
        found = await self.plugin(plugin)
        if found is None:
            return False
        answering = Answering(who, channel, evidence, strength, key)
        await self._consents.revoke(found, package=package, future=future, answering=answering)
        return True

    async def requests(self, after: int | None = None, limit: int = 50) -> ConsentPage:
        """Return open requests for consent, oldest first, after a cursor of an earlier page."""
        return await self._consents.page(after, limit)

    async def request(self, run: RunId) -> ConsentView | None:
        """Return the whole card of one request, open or decided; what would start is made ready while it is read."""
        card = await self._consents.view(run)
        if card is not None and card.row.position is not None and card.row.package.has_host:
            self._activation.prepare(card.row.plugin.session)
        return card

    # ---- pages ----

    async def verdict(
        self,
        run: RunId,
        *,
        ok: bool,
        phase: Phase | None = None,
        message: str | None = None,
        stack: str | None = None,
        waiting_for: Sequence[str] = (),
        page: str | None = None,
    ) -> bool:
        """Take a page's word on whether a client half has loaded; True if it is the one that counts."""
        return await self._pages.verdict(
            run, ok=ok, phase=phase, message=message, stack=stack, waiting_for=waiting_for, page=page
        )

    async def report(
        self, run: RunId, *, phase: Phase, slot: str | None = None, message: str, stack: str | None = None
    ) -> bool:
        """Take a page's word that a client half failed later on."""
        return await self._pages.report(run, phase=phase, slot=slot, message=message, stack=stack)

    async def invoke(self, plugin: PluginId, run: RunId, method: str, args: Any) -> JSON | InvokeRefused:
        """Call a method of the active run's host half."""
        said: JSON | InvokeRefused = await self._pages.invoke(plugin, run, method, args)
        return said

    async def source(self, plugin: PluginId, run: RunId) -> str | SourceRefused:
        """Hand out the client half of the exact active run."""
        return await self._pages.source(plugin, run)
