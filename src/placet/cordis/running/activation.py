"""Runs that this process drives: from the start of the host half to its end, each step checked against the log.

Whoever gets `cordis/started` into the log drives. Every step is an append under conditions, so a late step of an
attempt that has ended does nothing. For something that runs: kill first, then append.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

import anyio

from placet.cordis import events as log
from placet.cordis.attempt import Attempt
from placet.cordis.definition import Code
from placet.cordis.events import By, Fault, Offer
from placet.cordis.host.port import Cause, Ended, HostFailed, HostHalf, HostHalves, RunFacts
from placet.cordis.registry import Plugin
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.live import Live
from placet.cordis.running.outcome import Outcomes
from placet.cordis.running.writing import Writer
from placet.cordis.vocabulary import AttemptStatus, Detail, Phase, RunId
from placet.permission.escalation import wider
from placet.sandbox.mode import SandboxMode
from placet.session.errors import StoreError
from placet.session.ids import SessionId
from placet.session.store import Appended

logger = logging.getLogger(__name__)

_ELSEWHERE = "the plugin runs in another placet process; stop it there first"
_CHANGED = "the stored code is not what its digest says: it was changed after it was defined"

NEXT = 0.3
"""Seconds after a start until an interpreter is made for the next one: the page has the time until then."""
CHANGES_APART = 0.25
"""Seconds between two words on what a half offers."""


class Activation:
    """Drives the runs of one process. `spawn` starts a task; `runs` are the runs that may have something alive."""

    def __init__(
        self,
        ledger: Ledger,
        writer: Writer,
        halves: HostHalves,
        spawn: Callable[..., None],
        *,
        holder: str,
        living: Callable[[str], bool],
    ) -> None:
        self._ledger, self._writer, self._halves, self._spawn = ledger, writer, halves, spawn
        self._holder, self._living = holder, living
        self.outcomes = Outcomes(ledger, writer)
        self.runs: dict[RunId, Live] = {}
        self.diagnosed: Callable[..., Awaitable[object]]
        """Is told what failed in a half that goes on."""

    # ---- start ----

    def prepare(self, session: SessionId, *, after: float = 0.0) -> None:
        """Have an interpreter wait for what is about to start in a session; waits for nothing."""
        self._spawn(partial(self._halves.prepare, after=after), session, self._ledger.mode(session))

    def take(self, plugin: Plugin, attempt: Attempt, *, quiet: bool = False) -> Live:
        """Become the driver of an attempt, in a task of its own."""
        live = Live(attempt.ids, plugin.session, self._ledger.mode(plugin.session), quiet=quiet)
        self.runs[attempt.run] = live
        self._spawn(self._drive, live)
        return live

    async def _drive(self, live: Live) -> None:
        try:
            with live.scope:
                await self._start(live)
        except StoreError as error:  # recovery speaks: the log says what it holds, and nothing of this run lives
            logger.warning("run %s was given up: %s", live.ids.run, error)
        except Exception:
            logger.exception("run %s failed", live.ids.run)
        finally:
            if live.scope.cancel_called or not self._stands(live):
                await self._drop(live)
                if not live.scope.cancel_called:  # else whoever ends it writes that first
                    self.forget(live)
            live.up.set()

    def _stands(self, live: Live) -> bool:
        """Whether the log, as far as it was read, holds this run to be the active one."""
        plugin = self._ledger.plugins.by_run(live.ids.run)
        return plugin is not None and plugin.active is not None and plugin.active.run == live.ids.run

    async def _start(self, live: Live) -> None:
        plugin, attempt = await self.outcomes.look(live.ids)
        if plugin is None or attempt is None or attempt.status is not AttemptStatus.STARTING_HOST:
            return
        if attempt.sandbox is not None:
            live.mode = SandboxMode(attempt.sandbox)
        code = await self._whole_code(plugin, attempt)
        if code is None:
            await self._fail(live, Phase.HOST_LOAD, Fault(_CHANGED), detail=Detail.TAMPERED)
            return
        if attempt.started_at is None and not await self._append_started(live, attempt):
            return
        await self._ledger.catch_up()
        if wider(self._ledger.mode(live.session), live.mode):
            await self._over(live, AttemptStatus.STOPPED, Detail.NARROWED)
            return
        if not await self._retract_older(plugin):
            await self._fail(live, Phase.HOST_LOAD, Fault(_ELSEWHERE))
            return
        _, now = await self.outcomes.look(live.ids)
        if now is None or now.status is not AttemptStatus.STARTING_HOST:
            return
        try:
            await self._start_host(live, code)
        except HostFailed as failure:
            self.prepare(live.session, after=NEXT)
            await self._fail(live, failure.phase, Fault(failure.message, failure.stack, failure.line))
            return
        await self._ready(live)

    async def _whole_code(self, plugin: Plugin, attempt: Attempt) -> Code | None:
        """The code, if it is what was defined, requested and, where a person signed this package, signed."""
        package = plugin.package(attempt.package)
        if package is None:
            return None
        code = await self._ledger.code(plugin, package)
        signed = {consent.digest for consent in plugin.consents if consent.package == package.id}
        return code if code is not None and {attempt.digest, *signed} == {code.digest} else None

    async def _append_started(self, live: Live, attempt: Attempt) -> bool:
        """Win the right to start it: whoever appends this drives."""
        live.mode = self._ledger.mode(live.session)
        present = [log.requested_key(attempt.run)]
        if attempt.needs_consent:
            present.append(log.consented_key(attempt.run))
        outcome = await self._writer.write(
            live.session,
            [log.started(live.ids, mode=live.mode, holder=self._holder)],
            present=present,
            absent=[log.settled_key(attempt.run), log.undefined_key(attempt.plugin)],
        )
        return isinstance(outcome, Appended)

    async def _retract_older(self, plugin: Plugin) -> bool:
        """End the run that this one replaces (I14); False where it lives in another process."""
        older = plugin.active
        if older is None:
            return True
        live = self.runs.get(older.run)
        if live is None:
            if older.holder != self._holder and self._living(older.holder):
                return False
            await self.outcomes.close_lost(older.run)  # its process is gone, and it with that
            return True
        async with self.killed(live) as (now, _):
            await self.outcomes.stopped(now or plugin, older, AttemptStatus.STOPPED, Detail.REPLACED, tell=None)
        return True

    async def _start_host(self, live: Live, code: Code) -> None:
        source = code.plain_host
        if source is None:
            return
        ids = live.ids
        facts = RunFacts(live.session, ids.plugin, ids.package, ids.run, source, live.mode)

        def ended(end: Ended) -> None:
            live.noticed = end
            if live.up.is_set():
                self._spawn(self._died, live)

        live.half = await self._halves.start(
            facts,
            on_ended=ended,
            on_change=lambda: self._spawn(self._changed, live),
            on_diagnosed=lambda diagnosis: self._spawn(self.diagnosed, ids.run, diagnosis),
        )
        self.prepare(live.session, after=NEXT)

    async def _ready(self, live: Live) -> None:
        """Say that the host half is up; where there is no client half that is the outcome."""
        plugin, attempt = await self.outcomes.look(live.ids)
        if plugin is None or attempt is None:
            await self._drop(live)
            return
        if live.noticed is not None:
            await self._dead_in_flight(live, plugin, attempt, live.noticed)
            return
        package = plugin.package(attempt.package)
        offer = _offer(live.half)
        drafts = [log.ready(live.ids, offer)]
        if package is not None and not package.has_client:
            done = replace(attempt, offer=offer)
            drafts += [log.settled(live.ids, done.success), *self.outcomes.told_running(plugin, done, quiet=live.quiet)]
        with anyio.CancelScope(shield=True):  # what is on its way to the log is there before anybody kills the half
            outcome = await self._writer.write(
                live.session,
                drafts,
                present=[log.started_key(live.ids.run)],
                absent=[log.settled_key(live.ids.run), log.undefined_key(live.ids.plugin)],
            )
        if not isinstance(outcome, Appended):
            await self._drop(live)
            return
        await self._ledger.catch_up()
        if live.noticed is not None:
            self._spawn(self._died, live)

    # ---- outcomes ----

    async def accept(self, live: Live, *, page: str | None, waiting_for: Sequence[str]) -> bool:
        """Settle a client-pending run as a success, if this verdict is the first one and its host half lives."""
        plugin, now = await self.outcomes.look(live.ids)
        if plugin is None or now is None or now.status is not AttemptStatus.CLIENT_PENDING or live.noticed is not None:
            return False
        done = replace(now, client_waiting_for=tuple(waiting_for))
        drafts = [log.settled(live.ids, done.success, page=page, waiting_for=waiting_for)]
        outcome = await self._writer.once(
            live.session,
            [*drafts, *self.outcomes.told_running(plugin, done, quiet=live.quiet)],
            present=[log.ready_key(live.ids.run)],
            absent=[log.settled_key(live.ids.run), log.undefined_key(live.ids.plugin)],
        )
        await self._ledger.catch_up()
        return isinstance(outcome, Appended)

    async def _fail(
        self,
        live: Live,
        phase: Phase | None,
        fault: Fault | None,
        *,
        detail: Detail | None = None,
        page: str | None = None,
    ) -> bool:
        return await self._over(live, AttemptStatus.FAILED, detail, phase=phase, fault=fault, page=page)

    async def _over(
        self,
        live: Live,
        status: AttemptStatus,
        detail: Detail | None,
        *,
        phase: Phase | None = None,
        fault: Fault | None = None,
        page: str | None = None,
        by: By | None = None,
    ) -> bool:
        """End an attempt that is under way: kill, then write; False where something else has settled it."""
        await self._drop(live)
        plugin, attempt = await self.outcomes.look(live.ids)
        if plugin is None or attempt is None or not attempt.status.in_flight:
            return False
        tell = None if live.quiet else attempt.agents
        return await self.outcomes.settled(
            plugin, attempt, status, detail, phase=phase, fault=fault, page=page, by=by, tell=tell
        )

    async def refuse(self, live: Live, *, phase: Phase, fault: Fault, page: str | None, detail: Detail | None) -> bool:
        """Settle a client-pending run as failed by a page's word; its host half is ended first (I22)."""
        _, now = await self.outcomes.look(live.ids)
        if now is None or now.status is not AttemptStatus.CLIENT_PENDING or live.ending:
            return False
        try:
            return await self._fail(live, phase, fault, page=page, detail=detail)
        finally:
            self.forget(live)

    @asynccontextmanager
    async def killed(self, live: Live) -> AsyncIterator[tuple[Plugin | None, Attempt | None]]:
        """Kill a run, let the block write its end from what the log says of it now, and forget it."""
        with anyio.CancelScope(shield=True):
            try:
                await self.kill(live)
                yield await self.outcomes.look(live.ids)
            finally:
                self.forget(live)

    async def give_up(self, live: Live, detail: Detail) -> None:
        """Cancel a start because its call was stopped; one that came up in the same moment is stopped."""
        async with self.killed(live) as (plugin, attempt):
            if plugin is None or attempt is None:
                return
            if attempt.status.in_flight:
                await self.outcomes.settled(plugin, attempt, AttemptStatus.CANCELLED, detail, tell=None)
            elif plugin.runs(attempt):
                await self.outcomes.stopped(plugin, attempt, AttemptStatus.STOPPED, detail, tell=None)

    async def end(self, live: Live, detail: Detail, *, by: By | None = None) -> None:
        """End a run in whichever status it is: what lives is killed first, and the end is written then."""
        async with self.killed(live) as (plugin, attempt):
            if plugin is None or attempt is None:
                return
            if attempt.status.in_flight:
                await self.outcomes.settled(plugin, attempt, AttemptStatus.STOPPED, detail, by=by, tell=False)
            elif plugin.runs(attempt):
                await self.outcomes.stopped(plugin, attempt, AttemptStatus.STOPPED, detail, by=by, tell=False)

    async def cut_off(self, live: Live, fault: Fault) -> None:
        """End a run whose client half went over its bounds; the agent is woken to hear of it."""
        async with self.killed(live) as (plugin, attempt):
            if plugin is not None and attempt is not None and plugin.runs(attempt):
                await self.outcomes.stopped(plugin, attempt, AttemptStatus.FAILED, Detail.GUARD, fault=fault, tell=True)

    # ---- the end of host halves ----

    async def kill(self, live: Live) -> None:
        """Kill whatever lives of a run; returns when nothing does. The caller writes that, and forgets the run."""
        live.scope.cancel()
        with anyio.CancelScope(shield=True):
            if not live.up.is_set():
                await live.up.wait()
            await self._drop(live)

    async def _drop(self, live: Live) -> None:
        """Kill the host half, if it lives."""
        live.ending = True
        half, live.half = live.half, None
        if half is not None:
            with anyio.CancelScope(shield=True):
                await half.end()

    def forget(self, live: Live) -> None:
        """Let go of a run whose end is written, or cannot be; before that nobody may take it for lost."""
        if self.runs.get(live.ids.run) is live:
            del self.runs[live.ids.run]

    async def _died(self, live: Live) -> None:
        """Settle the death of a host half, in whichever status its run is."""
        if live.ending or live.noticed is None:
            return
        async with self.killed(live) as (plugin, attempt):
            if plugin is None or attempt is None:
                return
            if attempt.status.in_flight:
                await self._dead_in_flight(live, plugin, attempt, live.noticed)
            elif plugin.runs(attempt):
                fault = Fault(live.noticed.message, live.noticed.stack, live.noticed.line)
                detail = _detail(live.noticed)
                await self.outcomes.stopped(plugin, attempt, AttemptStatus.FAILED, detail, fault=fault, tell=True)

    async def _dead_in_flight(self, live: Live, plugin: Plugin, attempt: Attempt, end: Ended) -> None:
        await self._drop(live)
        tell = None if live.quiet else attempt.agents
        fault = Fault(end.message, end.stack, end.line)
        await self.outcomes.settled(
            plugin, attempt, AttemptStatus.FAILED, _detail(end), phase=end.phase, fault=fault, tell=tell
        )

    async def _changed(self, live: Live) -> None:
        """Say what a host half offers or waits for now; the last word is that of now, and there are few a second."""
        if live.looking:
            return
        live.looking = True
        async with live.changing:
            live.looking = False
            await self._say_offer(live)
            await anyio.sleep(CHANGES_APART)

    async def _say_offer(self, live: Live) -> None:
        plugin, attempt = await self.outcomes.look(live.ids)
        if plugin is None or attempt is None or live.half is None or live.ending or not plugin.runs(attempt):
            return
        offer = _offer(live.half)
        if offer == attempt.offer:
            return
        live.changes += 1
        await self._writer.write(
            live.session,
            [log.changed(live.ids, offer, live.changes)],
            present=[log.ready_key(live.ids.run)],
            absent=[log.stopped_key(live.ids.run), log.undefined_key(live.ids.plugin)],
        )

    async def discard(self, session: SessionId) -> None:
        """End what waits for a start in a session."""
        await self._halves.discard(session)

    async def close(self) -> None:
        """Kill everything, at the end of the process, and write what can be written at once."""
        for live in tuple(self.runs.values()):
            with suppress(StoreError):  # the next start finds it lost
                async with self.killed(live):
                    await self.outcomes.close_lost(live.ids.run)


def _offer(half: HostHalf | None) -> Offer:
    return Offer() if half is None else Offer(tuple(half.provides), tuple(half.waiting_for), tuple(half.handlers))


def _detail(end: Ended) -> Detail:
    return Detail.GUARD if end.cause is Cause.GUARD else Detail.CRASHED
