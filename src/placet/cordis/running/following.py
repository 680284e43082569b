"""Follows the feed: takes what this process drives, settles what is lost, and acts on what people do to sessions."""

from __future__ import annotations

import logging

from placet.cordis import events as log
from placet.cordis.attempt import Attempt
from placet.cordis.registry import Plugin
from placet.cordis.running.activation import Activation
from placet.cordis.running.beginning import Beginning
from placet.cordis.running.ending import Ending
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.tasks import Tasks
from placet.cordis.vocabulary import Detail
from placet.kernel.clock import Clock
from placet.sandbox.mode import SandboxMode
from placet.session.errors import StoreDamaged, StoreError
from placet.session.event import Event
from placet.session.ids import SessionId
from placet.session.store import Store

logger = logging.getLogger(__name__)

LOOK_AGAIN = 5.0


class Following:
    """Keeps the runs of one process in step with the log."""

    def __init__(
        self,
        store: Store,
        ledger: Ledger,
        activation: Activation,
        ending: Ending,
        beginning: Beginning,
        tasks: Tasks,
        clock: Clock,
        *,
        holder: str,
    ) -> None:
        self._store, self._ledger, self._activation, self._ending = store, ledger, activation, ending
        self._beginning, self._tasks, self._clock, self._holder = beginning, tasks, clock, holder

    async def run(self) -> None:
        """Act on what is appended, by whomever, and write the end of runs whose process is gone."""
        while True:
            try:
                async with self._store.doorbell() as bell:
                    while True:
                        await self._ledger.catch_up()
                        await self._look_around()
                        await bell.wait(LOOK_AGAIN)
            except StoreError as error:
                logger.warning("the store does not answer, trying again: %s", error)
                await self._clock.sleep(LOOK_AGAIN)

    async def _look_around(self) -> None:
        """Take what this process has to drive, settle what is lost, withdraw what has expired."""
        now = self._clock.now()
        for plugin in tuple(self._ledger.plugins.plugins.values()):
            attempt = plugin.pending
            if attempt is not None and attempt.deadline is not None and attempt.deadline <= now:
                await self._ending.withdraw(plugin, Detail.EXPIRED, wake=True)
            for run in {one.run: one for one in (plugin.in_flight, plugin.active) if one is not None}.values():
                await self._tend(plugin, run)

    async def _tend(self, plugin: Plugin, attempt: Attempt) -> None:
        if attempt.awaits or attempt.run in self._activation.runs:
            return
        if attempt.holder == self._holder:
            if attempt.may_start:
                self._take(plugin, attempt)
                return
        elif self._ending.elsewhere(attempt):
            return
        try:
            await self._activation.outcomes.close_lost(attempt.run)
        except StoreDamaged as error:  # one damaged log keeps nobody from the others
            logger.warning("the end of %s could not be written: %s", attempt.run, error)

    def heard(self, event: Event) -> None:
        """Act on one new event; waits for nothing."""
        if not self._tasks.open:
            return
        data = event.data
        match event.type:
            case log.REQUESTED | log.CONSENTED:
                plugin = self._ledger.plugins.by_run(data["run"])
                attempt = None if plugin is None else plugin.attempt(data["run"])
                if plugin is not None and attempt is not None and attempt.may_start:
                    self._take(plugin, attempt)
            case "sandbox/mode":
                self._tasks.spawn(self._ending.end_wider, event.session, SandboxMode(data["mode"]), data["by"])
            case "session/archived" if data["archived"]:
                self._tasks.spawn(self._ending.end_session, event.session, Detail.ARCHIVED, data["by"])
            case "session/removed":
                self._tasks.spawn(self._ending.end_session, SessionId(data["session"]), Detail.DELETED, data["by"])

    def _take(self, plugin: Plugin, attempt: Attempt) -> None:
        if attempt.holder == self._holder and attempt.run not in self._activation.runs:
            quiet = self._beginning.called(plugin.session, attempt)
            package = plugin.package(attempt.package)
            alone = package is not None and not package.has_client
            self._activation.take(plugin, attempt, quiet=quiet and alone)
