"""What pages say of client halves, and what they are given: only ever for the exact active run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from placet.cordis import events as log
from placet.cordis import messages
from placet.cordis.answers import InvokeRefused, SourceRefused
from placet.cordis.attempt import Attempt
from placet.cordis.events import Fault
from placet.cordis.host.port import Diagnosis, InvokeFailed
from placet.cordis.registry import Plugin
from placet.cordis.running.activation import Activation
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.live import Live
from placet.cordis.running.writing import Writer
from placet.cordis.vocabulary import AttemptStatus, Detail, Half, InvokeFailure, Phase, PluginId, RunId

MESSAGE, STACK = 4_000, 8_000
"""Characters of a failure's texts that are kept."""
DISTINCT = 20
"""Distinct failures of one run that are written down."""
WAKES = 5
"""Distinct failures of one run that wake the agent; later ones wait for its next wake."""
WAITS, NAME = 50, 100


class Pages:
    """The page's side of runs that this process drives."""

    def __init__(self, ledger: Ledger, writer: Writer, activation: Activation) -> None:
        self._ledger, self._writer, self._activation = ledger, writer, activation
        self._seen: dict[RunId, set[str]] = {}

    async def verdict(
        self,
        run: RunId,
        *,
        ok: bool,
        phase: Phase | None,
        message: str | None,
        stack: str | None,
        waiting_for: Sequence[str],
        page: str | None,
    ) -> bool:
        """Take the first word of any page on a client-pending run (I17, I18); False for every other one."""
        _, attempt, live = await self._live(run)
        if attempt is None or live is None or attempt.status is not AttemptStatus.CLIENT_PENDING:
            return False
        if ok:
            waits = [name[:NAME] for name in waiting_for[:WAITS]]
            return await self._activation.accept(live, page=page, waiting_for=waits)
        fault = fault_of(message or "the page said nothing about it", stack)
        detail = Detail.GUARD if phase is Phase.GUARD else None
        where = Phase.CLIENT_APPLY if phase in (None, Phase.GUARD) else phase
        return await self._activation.refuse(live, phase=where, fault=fault, page=page, detail=detail)

    async def report(self, run: RunId, *, phase: Phase, slot: str | None, message: str, stack: str | None) -> bool:
        """Take a page's word that a client half failed after its success; one that was cut off ends the run."""
        plugin, attempt, live = await self._live(run)
        if plugin is None or attempt is None or live is None:
            return False
        if attempt.status is AttemptStatus.CLIENT_PENDING:
            return await self.verdict(
                run, ok=False, phase=phase, message=message, stack=stack, waiting_for=(), page=None
            )
        fault = fault_of(message, stack)
        if phase is Phase.GUARD:
            await self._activation.cut_off(live, fault)
            return True
        return await self._write(plugin, attempt, Half.CLIENT, phase, slot, fault)

    async def invoke(self, plugin: PluginId, run: RunId, method: str, args: Any) -> Any:
        """Call a method of the host half for a page; the checks have the order of I32."""
        found = (await self._ledger.catch_up()).plugins.get(plugin)
        if found is None or found.active is None:
            return InvokeRefused(InvokeFailure.PLUGIN_NOT_RUNNING, f"{plugin[:64]} does not run")
        if found.active.run != run:
            text = f"{run[:64]} is not the run of {plugin} that is active; that is {found.active.run}"
            return InvokeRefused(InvokeFailure.STALE_RUN, text)
        live = self._activation.runs.get(run)
        half = None if live is None or live.ending else live.half
        if half is None:
            text = f"{plugin} has no host half here that could answer {method[:64]!r}"
            missing = InvokeFailure.PLUGIN_NOT_RUNNING if live is None else InvokeFailure.METHOD_NOT_FOUND
            return InvokeRefused(missing, text)
        try:
            return await half.invoke(method, args)
        except InvokeFailed as failure:
            if failure.code is InvokeFailure.HANDLER_ERROR:
                fault = fault_of(f"{method}: {failure.message}", failure.stack)
                await self._handler_failed(plugin, run, fault)
            return InvokeRefused(failure.code, failure.message)

    async def _handler_failed(self, plugin: PluginId, run: RunId, fault: Fault) -> None:
        found = self._ledger.plugins.plugins.get(plugin)
        if found is not None and found.active is not None and found.active.run == run:
            await self._write(found, found.active, Half.HOST, Phase.HANDLER, None, fault)

    async def diagnosed(self, run: RunId, diagnosis: Diagnosis) -> None:
        """Write down what failed in a host half that goes on."""
        plugin, attempt, _ = await self._live(run)
        if plugin is not None and attempt is not None:
            fault = fault_of(f"{diagnosis.label}: {diagnosis.message}", diagnosis.stack)
            await self._write(plugin, attempt, Half.HOST, Phase.HANDLER, None, fault)

    async def source(self, plugin: PluginId, run: RunId) -> str | SourceRefused:
        """Hand out the client half, as it was written, for the exact active run only (I16)."""
        found = (await self._ledger.catch_up()).plugins.get(plugin)
        if found is None or found.active is None or found.active.run != run:
            return SourceRefused(f"{run[:64]} is not the active run of {plugin[:64]}")
        package = found.package(found.active.package)
        code = None if package is None else await self._ledger.code(found, package)
        text = None if code is None or code.digest != found.active.digest else code.plain_client
        return SourceRefused(f"{found.active.package} has no client half to hand out") if text is None else text

    async def _write(
        self, plugin: Plugin, attempt: Attempt, half: Half, phase: Phase, slot: str | None, fault: Fault
    ) -> bool:
        """Write a failure down once per distinct text, and wake the agent: for a render failure only the first."""
        if attempt.status.in_flight:
            return False
        draft = log.diagnosed(attempt.ids, half=half, phase=phase, slot=slot and slot[:NAME], fault=fault)
        seen = self._seen.setdefault(attempt.run, set())
        if draft.key in seen or len(seen) >= DISTINCT:
            return True
        again = phase is Phase.CLIENT_RENDER and any(
            one.run == attempt.run and one.phase is phase for one in plugin.diagnoses
        )
        text = messages.diagnosed(plugin, attempt, half=half, phase=phase, slot=slot and slot[:NAME], fault=fault)
        await self._writer.once(
            plugin.session,
            [draft, *([] if again else [self._writer.told(plugin.id, text, wake=len(seen) < WAKES)])],
            present=[log.settled_key(attempt.run)],
            absent=[log.stopped_key(attempt.run), log.undefined_key(plugin.id)],
        )
        seen.add(draft.key)
        self._seen = {run: keys for run, keys in self._seen.items() if run in self._activation.runs}
        await self._ledger.catch_up()
        return True

    async def _live(self, run: RunId) -> tuple[Plugin | None, Attempt | None, Live | None]:
        """The plugin, the attempt and the live run, if it is the active one and lives in this process."""
        plugin = (await self._ledger.catch_up()).by_run(run)
        live = self._activation.runs.get(run)
        if plugin is None or plugin.active is None or plugin.active.run != run or live is None or live.ending:
            return None, None, None
        return plugin, plugin.active, live


def fault_of(message: str, stack: str | None) -> Fault:
    """Bound what a half says about itself."""
    return Fault(message[:MESSAGE], None if stack is None else stack[:STACK])
