"""Stop and remove: what lives is killed first and written then; the plugin takes no other transition meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import anyio

from placet.cordis import events as log
from placet.cordis import messages
from placet.cordis.admission import MISSING
from placet.cordis.answers import Stopped, StopRefused
from placet.cordis.attempt import Attempt
from placet.cordis.errors import Overtaken
from placet.cordis.events import By
from placet.cordis.registry import Plugin
from placet.cordis.running.activation import Activation
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.writing import Writer
from placet.cordis.vocabulary import AttemptStatus, Detail, PluginId
from placet.permission.escalation import wider
from placet.sandbox.mode import SandboxMode
from placet.session.event import Draft
from placet.session.ids import SessionId
from placet.session.lease import alive
from placet.session.store import Appended, Numbered

T = TypeVar("T")

ROUNDS = 20

_ELSEWHERE = (
    "{plugin} runs in another placet process ({holder}), which alone can end it: stop it there, or end that process"
)

_AGAIN = "{plugin} is started again and again by somebody else"


class Ending:
    """Ends plugins for one process. `living` tells whether another holder lives."""

    def __init__(
        self,
        ledger: Ledger,
        writer: Writer,
        activation: Activation,
        *,
        holder: str,
        living: Callable[[str], bool] = alive,
    ) -> None:
        self._ledger, self._writer, self._activation = ledger, writer, activation
        self._holder, self._living = holder, living
        self._slots: dict[PluginId, int] = {}

    def ending(self, plugin: PluginId) -> bool:
        """Whether a stop or a removal of the plugin is under way."""
        return plugin in self._slots

    def elsewhere(self, attempt: Attempt | None) -> bool:
        """Whether a run lives in another process that lives."""
        return attempt is not None and attempt.holder != self._holder and self._living(attempt.holder)

    @contextmanager
    def _slot(self, plugin: PluginId) -> Iterator[None]:
        self._slots[plugin] = self._slots.get(plugin, 0) + 1
        try:
            yield
        finally:
            self._slots[plugin] -= 1
            if not self._slots[plugin]:
                del self._slots[plugin]

    async def stop(
        self, session: SessionId, plugin: PluginId, *, by: By, told: bool, detail: Detail = Detail.STOPPED
    ) -> Stopped | StopRefused:
        """End what runs and withdraw what waits (I26); an idle plugin is stopped already. Raises `StoreError`."""
        return await self._alone(plugin, lambda: self._stop(session, plugin, by, told=told, detail=detail))

    async def undefine(self, session: SessionId, plugin: PluginId, *, by: By, told: bool) -> Stopped | StopRefused:
        """End the plugin, then forget it with its packages, consents and pointers (H10). Raises `StoreError`."""
        return await self._alone(plugin, lambda: self._undefine(session, plugin, by, told=told))

    async def _alone(self, plugin: PluginId, work: Callable[[], Awaitable[T]]) -> T:
        """Hold the plugin's slot until the work is done; who began to end something ends it, cancelled or not."""
        done: list[T] = []
        with self._slot(plugin), anyio.CancelScope(shield=True):
            done.append(await work())
        return done[0]

    async def _undefine(self, session: SessionId, id: PluginId, by: By, *, told: bool) -> Stopped | StopRefused:
        running = False
        for _ in range(ROUNDS):
            said = await self._stop(session, id, by, told=False, detail=Detail.UNDEFINED)
            if isinstance(said, StopRefused):
                return said
            running = running or said.was_running
            found = self._ledger.plugins.owned(session, id)
            if found is None or await self._undefined(found, by, running=running, told=told):
                return Stopped(id, running)
        return StopRefused("elsewhere", _AGAIN.format(plugin=id))

    async def _undefined(self, plugin: Plugin, by: By, *, running: bool, told: bool) -> bool:
        """Write the removal, unless somebody has made another attempt since the plugin was looked at."""
        counted = f"attempts:{plugin.id}"
        gone = log.undefined(plugin.id, was_running=running, by=by)
        text = messages.undefined_by_user(plugin)
        drafts = [gone, *([self._writer.told(plugin.id, text, wake=False)] if told else [])]

        def make(numbers: Mapping[str, int]) -> list[Draft]:
            if numbers[counted] not in (plugin.attempts + 1, 1):
                raise Overtaken
            return drafts

        try:
            outcome = await self._writer.once(plugin.session, Numbered((counted,), make, gone.key))
        except Overtaken:
            return False
        await self._ledger.catch_up()
        return isinstance(outcome, Appended) or self._ledger.plugins.owned(plugin.session, plugin.id) is None

    async def _stop(
        self, session: SessionId, id: PluginId, by: By, *, told: bool, detail: Detail
    ) -> Stopped | StopRefused:
        """Act on what is there, and look again, until nothing is (the model's `one_cas`)."""
        running = False
        for _ in range(ROUNDS):
            plugin = (await self._ledger.catch_up()).owned(session, id)
            if plugin is None:
                return StopRefused("plugin-missing", MISSING.format(plugin=id[:64]))
            flight, active = plugin.in_flight, plugin.active
            target = flight or active
            if target is None:
                return Stopped(id, running)
            if not target.awaits and self.elsewhere(target):
                return StopRefused("elsewhere", _ELSEWHERE.format(plugin=id, holder=target.holder.split(":")[0]))
            running = await self._end(plugin, target, by, told=told, detail=detail) or running
        return StopRefused("elsewhere", _AGAIN.format(plugin=id))

    async def _end(self, plugin: Plugin, target: Attempt, by: By, *, told: bool, detail: Detail) -> bool:
        """End one attempt or run; whether it was this that ended it."""
        activation, tell = self._activation, False if told else None
        if target.awaits:
            return await activation.outcomes.settled(
                plugin,
                target,
                AttemptStatus.CANCELLED,
                detail,
                by=by,
                tell=tell,
                text=messages.cancelled(plugin, target, detail),
                absent=[log.consented_key(target.run)],
            )
        live = activation.runs.get(target.run)
        if live is None:
            return await self._write(plugin, target, by, tell, detail, unstarted=target.started_at is None)
        async with activation.killed(live) as (now, attempt):
            if now is None or attempt is None:
                return False
            return await self._write(now, attempt, by, tell, detail, unstarted=False)
        raise AssertionError("the block returns")

    async def _write(
        self, plugin: Plugin, target: Attempt, by: By, tell: bool | None, detail: Detail, *, unstarted: bool
    ) -> bool:
        """Write the end of an attempt or a run of which nothing lives."""
        outcomes, text = self._activation.outcomes, messages.stopped_by_user(plugin, target)
        if target.status.in_flight:
            absent = [log.started_key(target.run)] if unstarted else []
            return await outcomes.settled(
                plugin, target, AttemptStatus.STOPPED, detail, by=by, tell=tell, text=text, absent=absent
            )
        if not plugin.runs(target):
            return False
        return await outcomes.stopped(plugin, target, AttemptStatus.STOPPED, detail, by=by, tell=tell, text=text)

    async def withdraw(self, plugin: Plugin, detail: Detail, *, by: By | None = None, wake: bool = False) -> bool:
        """Withdraw an open request; a consent that is in the log already wins."""
        target = plugin.pending
        if target is None:
            return False
        return await self._activation.outcomes.settled(
            plugin,
            target,
            AttemptStatus.CANCELLED,
            detail,
            by=by,
            tell=wake and target.agents,
            text=messages.cancelled(plugin, target, detail),
            absent=[log.consented_key(target.run)],
        )

    async def end_session(self, session: SessionId, detail: Detail, by: By | None = None) -> None:
        """End all runs of a session that is put away or deleted; returns when none of them lives."""
        plugins = await self._ledger.catch_up()
        for plugin in plugins.of(session):
            await self.withdraw(plugin, detail, by=by)
        await self._ledger.catch_up()  # a yes that came before the withdrawal has its run among these
        for live in [one for one in self._activation.runs.values() if one.session == session]:
            await self._activation.end(live, detail, by=by)
        await self._activation.discard(session)

    async def end_wider(self, session: SessionId, mode: SandboxMode, by: By | None = None) -> None:
        """End the runs of this process that run in a wider mode than this one; returns when none of them lives.

        What waits for a start waits in the mode before, so it is ended, too.
        """
        await self._activation.discard(session)
        for live in tuple(self._activation.runs.values()):
            if live.session == session and wider(mode, live.mode):
                await self._activation.end(live, Detail.NARROWED, by=by)
