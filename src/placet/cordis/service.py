"""Cordis: one per process. What tools and the page ask of plugins, and what follows from the log for them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol
from weakref import WeakValueDictionary

import anyio
from anyio.abc import TaskGroup

from placet.approval.outcome import Policy, Who
from placet.approval.policy import PolicyFold
from placet.cordis import events as log
from placet.cordis import messages
from placet.cordis.admission import MISSING, Admitted, admit
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
from placet.cordis.errors import Overtaken
from placet.cordis.events import Answering, By
from placet.cordis.host.port import HostHalves
from placet.cordis.registry import Plugin
from placet.cordis.running.activation import Activation
from placet.cordis.running.ending import Ending
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.pages import Pages
from placet.cordis.running.writing import Writer
from placet.cordis.vocabulary import (
    PACKAGE,
    PLUGIN,
    AttemptStatus,
    Detail,
    PackageId,
    Phase,
    PluginId,
    ReceiptStatus,
    RunId,
    RunRefusal,
)
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.kernel.groups import unwrapped
from placet.permission.escalation import wider
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.session.errors import LeaseLost, StoreDamaged, StoreError
from placet.session.event import JSON, Draft, Event
from placet.session.ids import SessionId
from placet.session.lease import alive
from placet.session.lease import holder as this_process
from placet.session.store import Appended, Numbered, Refused, Store
from placet.tools.tool import CallContext

logger = logging.getLogger(__name__)

LOOK_AGAIN = 5.0
TRIES = 5


class Checks(Protocol):
    """Looks at code before it is defined, where it can do no harm."""

    async def complaint(self, call: CallContext, definition: Definition) -> str | None:
        """Return what is wrong with the code, or None. Raises `CheckUnavailable`."""
        ...


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
        self._store, self._checks, self._clock, self._deadline = store, checks, clock, deadline
        self._holder = holder = holder or this_process()
        self._group: TaskGroup | None = None
        self._locks: WeakValueDictionary[PluginId, anyio.Lock] = WeakValueDictionary()
        self._calling: set[tuple[SessionId, str]] = set()
        self._writer = Writer(store, clock)
        self._ledger = Ledger(store, self._heard, modes=modes, policies=policies)
        self._activation = Activation(self._ledger, self._writer, halves, self._spawn, holder=holder)
        self._ending = Ending(self._ledger, self._writer, self._activation, holder=holder, living=living)
        self._consents = Consents(store, self._ledger, self._writer, holder=holder)
        self._pages = Pages(self._ledger, self._writer, self._activation)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Drive runs inside of the block; at its end nothing of any run lives. Open requests stay open."""
        with unwrapped():
            async with anyio.create_task_group() as group:
                self._group = group
                group.start_soon(self._follow)
                try:
                    yield
                finally:
                    self._group, self._writer.closing = None, True
                    with anyio.CancelScope(shield=True):
                        await self._activation.close()
                    group.cancel_scope.cancel()

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
        wanted = definition.trimmed()
        complaint = wanted.complaint()
        if complaint is not None:
            return DefineRefused(complaint)
        if wanted.plugin is not None:
            plugins = await self._ledger.catch_up()
            if plugins.owned(call.session, wanted.plugin) is None:
                return DefineRefused(MISSING.format(plugin=wanted.plugin[:64]))
        complaint = await self._checks.complaint(call, wanted)
        if complaint is not None:
            return DefineRefused(complaint)
        return await self._define(call, wanted)

    async def _define(self, call: CallContext, wanted: Definition) -> Package | DefineRefused:
        key = _call(call)
        absent = [] if wanted.plugin is None else [log.undefined_key(wanted.plugin)]
        outcome = await call.log.append(_defined(wanted, key), absent=absent, lease=call.lease)
        match outcome:
            case Refused("lease"):
                raise LeaseLost(call.session)
            case Refused("duplicate", event=Event() as event):
                id = PackageId(event.data["package"])
            case Refused():
                return DefineRefused(MISSING.format(plugin=wanted.plugin))
            case Appended(events):
                id = PackageId(events[0].data["package"])
        plugins = await self._ledger.catch_up()
        found = (plugin.package(id) for plugin in plugins.of(call.session))
        package = next((one for one in found if one is not None), None)
        return package or DefineRefused("the plugin was removed while this was defined")

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
        calling = None if call is None else (session, _call(call))
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
        drafts = self._requested(plugin, answer, by, None if call is None else _call(call), key)
        outcome = await self._writer.once(
            session,
            drafts,
            absent=[log.undefined_key(id), *([] if call is None else [f"abort:{call.key.turn}"])],
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
        if self._group is None:
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
            ids = log.RunIds(RunId(f"run-{numbers['run']}"), plugin.id, package.id)
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

        return Numbered(("run", counted), make)

    async def _receipt(self, plugin: Plugin, attempt: Attempt, call: CallContext | None) -> Receipt | RunRefused:
        package = plugin.package(attempt.package)
        if attempt.awaits:
            return Receipt.of(ReceiptStatus.AWAITING_APPROVAL, plugin, attempt)
        if attempt.status.in_flight and package is not None and package.has_client:
            return Receipt.of(ReceiptStatus.STARTING, plugin, attempt)
        live = self._activation.runs.get(attempt.run)
        if live is not None and call is not None:
            undo = call.signal.on_abort(lambda _: self._spawn(self._activation.give_up, live, Detail.TURN_STOPPED))
            try:
                await live.up.wait()
            finally:
                undo()
        elif live is not None:
            await live.up.wait()
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
        plugins = await self._ledger.catch_up()
        for live in [one for one in self._activation.runs.values() if one.session == session]:
            await self._activation.end(live, detail, by=by)
        for plugin in plugins.of(session):
            await self._ending.withdraw(plugin, detail, by=by)

    async def wider(self, session: SessionId, mode: SandboxMode) -> tuple[Attempt, ...]:
        """Return the runs of a session, of whichever process, that run in a wider mode than this one."""
        found = [one for plugin in await self.plugins(session) for one in (plugin.active, plugin.in_flight)]
        runs = {one.run: one for one in found if one is not None and one.sandbox is not None}
        return tuple(one for one in runs.values() if wider(mode, SandboxMode(one.sandbox or mode)))

    async def end_wider(self, session: SessionId, mode: SandboxMode, by: By | None = None) -> None:
        """End the runs of this process that run in a wider mode than this one; returns when none of them lives."""
        for live in tuple(self._activation.runs.values()):
            if live.session == session and wider(mode, live.mode):
                await self._activation.end(live, Detail.NARROWED, by=by)

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
        """Return the whole card of one request, open or decided."""
        return await self._consents.view(run)

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

    # ---- what the log says ----

    async def _follow(self) -> None:
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
            await self._activation.close_lost(attempt.run)
        except StoreDamaged as error:  # one damaged log keeps nobody from the others
            logger.warning("the end of %s could not be written: %s", attempt.run, error)

    def _heard(self, event: Event) -> None:
        """Act on one new event; waits for nothing."""
        if self._group is None:
            return
        data = event.data
        match event.type:
            case log.REQUESTED | log.CONSENTED:
                plugin = self._ledger.plugins.by_run(data["run"])
                attempt = None if plugin is None else plugin.attempt(data["run"])
                if plugin is not None and attempt is not None and attempt.may_start:
                    self._take(plugin, attempt)
            case "sandbox/mode":
                self._spawn(self.end_wider, event.session, SandboxMode(data["mode"]), data["by"])
            case "session/archived" if data["archived"]:
                self._spawn(self.end_session, event.session, Detail.ARCHIVED, data["by"])
            case "session/removed":
                self._spawn(self.end_session, SessionId(data["session"]), Detail.DELETED, data["by"])

    def _take(self, plugin: Plugin, attempt: Attempt) -> None:
        if attempt.holder == self._holder and attempt.run not in self._activation.runs:
            quiet = attempt.call is not None and (plugin.session, attempt.call) in self._calling
            package = plugin.package(attempt.package)
            alone = package is not None and not package.has_client
            self._activation.take(plugin, attempt, quiet=quiet and alone)

    def _spawn(self, work: Callable[..., Awaitable[object]], *args: Any) -> None:
        """Let something be done that nobody waits for; its failures are logged."""
        if self._group is not None:
            self._group.start_soon(self._guarded, work, args)

    async def _guarded(self, work: Callable[..., Awaitable[object]], args: tuple[Any, ...]) -> None:
        try:
            await work(*args)
        except StoreError as error:
            logger.warning("cordis: the store did not take it: %s", error)
        except Exception:
            logger.exception("cordis: %s failed", getattr(work, "__name__", work))

    def _lock(self, plugin: PluginId) -> anyio.Lock:
        return self._locks.setdefault(plugin, anyio.Lock())


def _call(call: CallContext) -> str:
    return f"{call.key.turn}.{call.key.step}.{call.key.position}"


def _defined(wanted: Definition, call: str) -> Numbered:
    """The package's event, with the numbers that it gets."""
    code = Code.of(wanted.host, wanted.client)

    def make(numbers: Mapping[str, int]) -> list[Draft]:
        data = {
            "plugin": wanted.plugin or f"{wanted.prefix}-{numbers[PLUGIN]}",
            "package": f"pkg-{numbers[PACKAGE]}",
            "name": wanted.name,
            "purpose": wanted.purpose,
            "host": code.host,
            "client": code.client,
            "digest": code.digest,
            "call": call,
        }
        return [Draft(log.DEFINED, data, log.defined_key(call))]

    counters = (PACKAGE,) if wanted.plugin is not None else (PLUGIN, PACKAGE)
    return Numbered(counters, make, log.defined_key(call))
