"""The outcomes of attempts and the ends of runs: one event each, with what the agent is told in the same append."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from placet.cordis import events as log
from placet.cordis import messages
from placet.cordis.attempt import Attempt
from placet.cordis.events import By, Fault, RunIds
from placet.cordis.registry import Plugin
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.writing import Writer
from placet.cordis.vocabulary import AttemptStatus, Detail, Phase, RunId
from placet.session.event import Draft
from placet.session.store import Appended


class Outcomes:
    """Writes them for one process. Nothing of what they speak of lives any more, or it is up."""

    def __init__(self, ledger: Ledger, writer: Writer) -> None:
        self._ledger, self._writer = ledger, writer

    async def look(self, ids: RunIds) -> tuple[Plugin | None, Attempt | None]:
        """Return the plugin and the attempt as the log has them now; None for one that was replaced or removed."""
        plugins = await self._ledger.catch_up()
        plugin = plugins.by_run(ids.run)
        return plugin, None if plugin is None else plugin.attempt(ids.run)

    def told_running(self, plugin: Plugin, attempt: Attempt, *, quiet: bool) -> list[Draft]:
        """Draft what the agent hears of a success, unless the result of its call tells it."""
        after = replace(plugin, current=attempt.package, next=None)
        text = messages.running(after, attempt)
        return [] if quiet else [self._writer.told(plugin.id, text, wake=attempt.agents)]

    async def settled(
        self,
        plugin: Plugin,
        attempt: Attempt,
        status: AttemptStatus,
        detail: Detail | None,
        *,
        phase: Phase | None = None,
        fault: Fault | None = None,
        page: str | None = None,
        by: By | None = None,
        tell: bool | None,
        text: str | None = None,
        absent: Sequence[str] = (),
    ) -> bool:
        """Write the one outcome of an attempt of which nothing lives; `tell` says whether that wakes the agent."""
        if text is None:
            text = messages.failed(plugin, attempt, phase=phase, fault=fault, detail=detail)
        draft = log.settled(attempt.ids, status, detail=detail, phase=phase, fault=fault, by=by, page=page)
        told = [] if tell is None else [self._writer.told(plugin.id, text, wake=tell)]
        outcome = await self._writer.write(
            plugin.session,
            [draft, *told],
            present=[log.requested_key(attempt.run)],
            absent=[log.undefined_key(plugin.id), *absent],
        )
        await self._ledger.catch_up()
        return isinstance(outcome, Appended)

    async def stopped(
        self,
        plugin: Plugin,
        attempt: Attempt,
        status: AttemptStatus,
        detail: Detail,
        *,
        fault: Fault | None = None,
        by: By | None = None,
        tell: bool | None,
        text: str | None = None,
    ) -> bool:
        """Write the end of a run that had succeeded and of which nothing lives any more."""
        if text is None:
            text = messages.ended(plugin, attempt, detail, fault)
        told = [] if tell is None else [self._writer.told(plugin.id, text, wake=tell)]
        outcome = await self._writer.write(
            plugin.session,
            [log.stopped(attempt.ids, status=status, detail=detail, by=by, fault=fault), *told],
            present=[log.settled_key(attempt.run)],
        )
        await self._ledger.catch_up()
        return isinstance(outcome, Appended)

    async def close_lost(self, run: RunId) -> None:
        """Write the end of a run of which nothing lives because its process is gone; nothing starts by itself."""
        plugin = self._ledger.plugins.by_run(run)
        attempt = None if plugin is None else plugin.attempt(run)
        if plugin is None or attempt is None or attempt.awaits:
            return
        if attempt.status.in_flight:
            await self.settled(plugin, attempt, AttemptStatus.FAILED, Detail.RESTART, tell=attempt.agents)
        elif plugin.active is not None and plugin.active.run == run:
            await self.stopped(plugin, attempt, AttemptStatus.STOPPED, Detail.RESTART, tell=False)
