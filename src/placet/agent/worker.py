"""The worker of one session: take the lease, recover, then drive turns until nothing wakes it.

If the store does not answer, or another worker has the session, the worker ends and says nothing: recovery speaks, from
the log, in whoever comes next. The end of the process settles nothing either.
"""

from __future__ import annotations

import logging

import anyio

from placet.agent.found import FOUND, FoundCall
from placet.agent.kit import Kit
from placet.agent.loop import Turn, tool_call
from placet.agent.mailbox import MAILBOX
from placet.agent.recovery import TEXTS, AskFate, CallFate, TurnFate, plan
from placet.approval.errors import ApprovalError
from placet.kernel.groups import unwrapped
from placet.kernel.signal import AbortSignal
from placet.session.errors import StoreError
from placet.session.event import Draft
from placet.session.ids import SessionId
from placet.session.lease import alive, holder
from placet.session.log import SessionLog
from placet.session.store import Held, Lease
from placet.tools.pipeline import call_draft
from placet.tools.stages.result import error, result_draft

logger = logging.getLogger(__name__)

LOOK_AGAIN = 5.0
"""Seconds after which the log is read again although no doorbell rang."""


class Worker:
    """Drives one session while it has the lease."""

    def __init__(self, kit: Kit, session: SessionId) -> None:
        self.kit = kit
        self.session = session
        self._signal = AbortSignal()

    async def run(self) -> Held | None:
        """Work until nothing wakes the agent. `Held`: a living process has the session, nothing was done.

        Raises `LeaseLost` and `StoreError`; what was in memory is then worth nothing.
        """
        while True:
            lease = await self.acquire()
            if isinstance(lease, Held):
                return lease
            log = await self.work(lease)
            await log.catch_up()
            if not log.see(MAILBOX).wakes:  # else its sender came before the release and found the session held
                return None

    async def acquire(self) -> Lease | Held:
        """Take the session over, unless a living process has it."""
        return await self.kit.store.acquire(self.session, holder(), alive)

    async def work(self, lease: Lease) -> SessionLog:
        """Recover and work under a lease that was taken, give it back, and return the log as far as it was read."""
        try:
            log = await SessionLog.open(self.kit.store, self.session)
            with unwrapped():
                async with anyio.create_task_group() as group:
                    group.start_soon(self._follow, log)
                    await self._recover(log, lease)
                    await self._turns(log, lease)
                    group.cancel_scope.cancel()
            return log
        finally:
            self.kit.turns.drop(self.session)
            await self._release(lease)

    async def _turns(self, log: SessionLog, lease: Lease) -> None:
        await log.catch_up()
        while log.see(MAILBOX).wakes:
            self._signal = AbortSignal()
            await Turn(self.kit, log, lease, log.see(FOUND).turn + 1, self._signal).run()
            await log.catch_up()

    async def _follow(self, log: SessionLog) -> None:
        """Read the log at every ring, and set the signal when the store holds a stop of the turn that runs."""
        async with self.kit.store.doorbell() as bell:
            while True:
                await log.catch_up()
                if log.see(FOUND).stopped:
                    self._signal.abort()
                await bell.wait(LOOK_AGAIN)

    async def _release(self, lease: Lease) -> None:
        with anyio.CancelScope(shield=True):
            try:
                await self.kit.store.release(lease)
            except StoreError:  # the store is gone; that this process has the lease is harmless, it may take it again
                logger.warning("the lease of %s could not be given back", self.session)

    # ---- recovery ----

    async def _recover(self, log: SessionLog, lease: Lease) -> None:
        """Do what the tables say about an open turn, and drive it to its end if it goes on."""
        found = log.see(FOUND)
        if not found.open:
            return
        logger.info("session %s: turn %d was left open; taking it over", self.session, found.turn)
        todo = plan(found)
        self._signal = AbortSignal()
        turn = Turn(self.kit, log, lease, found.turn, self._signal)
        for ask, fate in todo.asks:
            if fate is not AskFate.KEPT:
                try:
                    await self.kit.dispatcher.cancel(log, lease, ask.event, detail=fate.value)
                except (
                    ApprovalError
                ) as error:  # a foreign writer's ask that no answer can fit; its turn's end buries it
                    logger.warning("the ask %s cannot be settled: %s", ask.event.data["id"], error)
        for call, outcome in (*todo.of_plugins, *todo.calls):
            if outcome in TEXTS:
                await turn.append(_result(found.turn, call, outcome))
        match todo.turn:
            case TurnFate.GOES_ON:
                going = [call for call, outcome in todo.calls if outcome is CallFate.GOES_ON]
                await turn.go_on(found.step, going)
            case TurnFate.ABORTED:
                await turn.end_stopped()
            case TurnFate.INTERRUPTED | TurnFate.COMPLETED:
                await turn.end(todo.turn.value)


def _result(turn: int, found: FoundCall, fate: CallFate) -> list[Draft]:
    """The result that recovery writes, with the call before it where even that is missing (B22)."""
    call = tool_call(turn, found)
    drafts = [] if found.called is not None else [call_draft(call)]
    return [*drafts, result_draft(call, error(fate.value, TEXTS[fate]))]
