"""Run: the checks, the attempt in the log, and what the call is told of it (I1 to I8)."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakValueDictionary

import anyio

from placet.approval.outcome import Policy
from placet.cordis import events as log
from placet.cordis import messages
from placet.cordis.admission import MISSING, Admitted, admit
from placet.cordis.answers import Receipt, RunRefused
from placet.cordis.attempt import Attempt
from placet.cordis.errors import Overtaken
from placet.cordis.events import By
from placet.cordis.registry import Plugin
from placet.cordis.running.activation import Activation
from placet.cordis.running.defining import call_key
from placet.cordis.running.ending import Ending
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.live import Live
from placet.cordis.running.tasks import Tasks
from placet.cordis.running.writing import Writer
from placet.cordis.vocabulary import (
    RUN,
    AttemptStatus,
    Detail,
    PackageId,
    PluginId,
    ReceiptStatus,
    RunId,
    RunRefusal,
)
from placet.kernel.clock import Clock
from placet.session import keys
from placet.session.errors import LeaseLost
from placet.session.event import Draft, Event
from placet.session.ids import SessionId
from placet.session.store import Appended, Numbered, Refused
from placet.tools.tool import CallContext

TRIES = 5


class Beginning:
    """Makes attempts for one process."""

    def __init__(
        self,
        ledger: Ledger,
        writer: Writer,
        activation: Activation,
        ending: Ending,
        tasks: Tasks,
        clock: Clock,
        *,
        holder: str,
        deadline: float | None,
    ) -> None:
        self._ledger, self._writer, self._activation, self._ending = ledger, writer, activation, ending
        self._tasks, self._clock, self._holder, self._deadline = tasks, clock, holder, deadline
        self._locks: WeakValueDictionary[PluginId, anyio.Lock] = WeakValueDictionary()
        self._calling: set[tuple[SessionId, str]] = set()

    def called(self, session: SessionId, attempt: Attempt) -> bool:
        """Whether a call of this process waits for the outcome of an attempt, so that nobody else has to tell it."""
        return attempt.call is not None and (session, attempt.call) in self._calling

    async def run(
        self,
        session: SessionId,
        plugin: PluginId,
        package: PackageId,
        mode: str,
        *,
        by: By,
        call: CallContext | None,
        policy: Policy | None,
        key: str | None,
    ) -> Receipt | RunRefused:
        """Make an attempt, and wait for its outcome where it is host-only. Raises `LeaseLost`, `StoreError`."""
        calling = None if call is None else (session, call_key(call))
        if calling is not None:
            self._calling.add(calling)
        try:
            for _ in range(TRIES):
                async with self._lock(plugin):
                    try:
                        answer = await self._request(session, plugin, package, mode, by, call, policy, key)
                    except Overtaken:
                        continue
                return answer if isinstance(answer, RunRefused) else await self._receipt(*answer, call)
        finally:
            if calling is not None:
                self._calling.discard(calling)
        return RunRefused(RunRefusal.TRANSITION_IN_FLIGHT, f"{plugin} is being run by somebody else just now")

    async def _request(
        self,
        session: SessionId,
        id: PluginId,
        package: PackageId,
        mode: str,
        by: By,
        call: CallContext | None,
        policy: Policy | None,
        key: str | None,
    ) -> tuple[Plugin, Attempt] | RunRefused:
        plugins = await self._ledger.catch_up()
        plugin = plugins.owned(session, id)
        if plugin is not None and key is not None and plugin.latest is not None and plugin.latest.key == key:
            return plugin, plugin.latest
        aborted = call is not None and call.signal.aborted
        transition = self._ending.ending(id)
        answer = admit(plugin, id, package, mode, transition=transition, aborted=aborted)
        if isinstance(answer, RunRefused) or plugin is None:
            assert isinstance(answer, RunRefused)
            return answer
        refusal = await self._forbidden(plugin, answer, policy or self._ledger.policy(session))
        if refusal is not None:
            return refusal
        drafts = self._requested(plugin, answer, by, None if call is None else call_key(call), key)
        outcome = await self._writer.once(
            session,
            drafts,
            absent=[log.undefined_key(id), *([] if call is None else [keys.abort(call.key.turn)])],
            lease=None if call is None else call.lease,
        )
        match outcome:
            case Appended(events):
                await self._ledger.catch_up()
                run = RunId(events[0].data["run"])
                return await self._now(session, id, run, events[0], answer)
            case Refused("lease"):
                raise LeaseLost(session)
            case Refused(key=stood) if stood == log.undefined_key(id) or call is None:
                return RunRefused(RunRefusal.PLUGIN_MISSING, MISSING.format(plugin=id))
            case _:
                text = "the turn was stopped before this began; nothing was started"
                return RunRefused(RunRefusal.CANCELLED, text)

    async def _now(
        self, session: SessionId, id: PluginId, run: RunId, event: Event, admitted: Admitted
    ) -> tuple[Plugin, Attempt] | RunRefused:
        """The plugin and the attempt that was just made; what overtook it may have removed both."""
        plugin = self._ledger.plugins.owned(session, id)
        if plugin is None:
            return RunRefused(RunRefusal.CANCELLED, "the plugin was removed while this began", run)
        return plugin, plugin.attempt(run) or Attempt.of(event, admitted.package)

    async def _forbidden(self, plugin: Plugin, admitted: Admitted, policy: Policy) -> RunRefused | None:
        """Refuse at once what nobody could decide, what would run elsewhere, and code that was tampered with."""
        if self._ledger.archived(plugin.session):
            return RunRefused(RunRefusal.REJECTED, "this session was put away; take it out again first")
        if not self._tasks.open:
            return RunRefused(RunRefusal.CANCELLED, "placet is ending, so nothing can be started")
        if admitted.needs_consent and policy is Policy.NEVER:
            text = (
                "a person has to agree to code that enters their page, and this session never asks anybody (approval"
                " policy never). Nothing was started; do not try again. A package with only a host half needs no"
                " consent"
            )
            return RunRefused(RunRefusal.REJECTED, text)
        code = await self._ledger.code(plugin, admitted.package)
        if code is None:
            text = f"the stored code of {admitted.package.id} was changed after it was defined, so it will never run"
            return RunRefused(RunRefusal.PACKAGE_MISSING, f"{text}; define it again")
        if self._ending.elsewhere(plugin.active):
            return RunRefused(RunRefusal.TRANSITION_IN_FLIGHT, f"{plugin.id} runs in another placet process")
        return None

    def _requested(self, plugin: Plugin, admitted: Admitted, by: By, call: str | None, key: str | None) -> Numbered:
        package, counted = admitted.package, f"attempts:{plugin.id}"
        deadline = None
        if admitted.needs_consent and self._deadline is not None:
            deadline = self._clock.now() + round(self._deadline * 1000)
        mode = self._ledger.mode(plugin.session)

        def make(numbers: Mapping[str, int]) -> list[Draft]:
            if numbers[counted] not in (plugin.attempts + 1, 1):  # 1: a look at how many drafts there will be
                raise Overtaken
            ids = log.RunIds(RunId(f"run-{numbers[RUN]}"), plugin.id, package.id)
            asked = log.requested(
                ids,
                mode=admitted.mode,
                needs_consent=admitted.needs_consent,
                digest=package.digest,
                call=call,
                by=by,
                holder=self._holder,
                deadline=deadline,
                key=key,
            )
            if admitted.needs_consent:
                return [asked]
            return [asked, log.started(ids, mode=mode, holder=self._holder)]

        return Numbered((RUN, counted), make)

    async def _receipt(self, plugin: Plugin, attempt: Attempt, call: CallContext | None) -> Receipt | RunRefused:
        package = plugin.package(attempt.package)
        if attempt.awaits:
            if package is not None and package.has_host:  # it is warm when the person has read the card
                self._activation.prepare(plugin.session)
            return Receipt.of(ReceiptStatus.AWAITING_APPROVAL, plugin, attempt)
        if attempt.status.in_flight and package is not None and package.has_client:
            return Receipt.of(ReceiptStatus.STARTING, plugin, attempt)
        live = self._activation.runs.get(attempt.run)
        if live is not None:
            await self._wait(live, call)
        after = (await self._ledger.catch_up()).owned(plugin.session, plugin.id)
        ended = None if after is None else after.attempt(attempt.run)
        if after is None or ended is None:
            return RunRefused(RunRefusal.CANCELLED, "it was removed or replaced while it started", attempt.run)
        if ended.status.succeeded:
            status = ReceiptStatus.RUNNING if ended.status is AttemptStatus.RUNNING else ReceiptStatus.WAITING
            return Receipt.of(status, after, ended)
        if ended.status is AttemptStatus.FAILED:
            return RunRefused(RunRefusal.HOST_HALF_FAILED, messages.failure(after, ended), ended.run)
        return RunRefused(RunRefusal.CANCELLED, messages.failure(after, ended), ended.run)

    def _lock(self, plugin: PluginId) -> anyio.Lock:
        return self._locks.setdefault(plugin, anyio.Lock())

    async def _wait(self, live: Live, call: CallContext | None) -> None:
        """Wait for the end of a start; a stop of the turn whose call waits for it cancels it."""
        undo = call.signal.on_abort(lambda _: live.scope.cancel()) if call is not None else lambda: None
        try:
            await live.up.wait()
        finally:
            undo()
        if call is not None and call.signal.aborted:
            await self._activation.give_up(live, Detail.TURN_STOPPED)
