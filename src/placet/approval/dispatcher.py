"""From a question to the outcome that the log holds: ask, run the chain against the stop, settle, read back.

The policy in force at `asked` counts, live and after a restart; a later switch never answers a card. Shutdown
settles nothing: a cancelled `request` leaves its ask open in the log.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from placet.approval.errors import NoOpenTurn
from placet.approval.events import POLICY, asked, decided, decided_key
from placet.approval.open_asks import OPEN_ASKS
from placet.approval.outcome import ASKER_GONE, STOPPED, SYSTEM, Decision, Outcome, Policy, Who, WhoKind
from placet.approval.policy import PolicyFold
from placet.approval.responder import Answer, Ask, InLog, Reply, Responder, Responders, unavailable
from placet.approval.settle import Barred, Lost, Won, settle, undated
from placet.approval.subject import Subject
from placet.kernel.chain import CallNext, Chain, Link
from placet.kernel.clock import Clock
from placet.kernel.signal import AbortSignal
from placet.session import keys
from placet.session.errors import LeaseLost, SessionError
from placet.session.event import Draft, Event
from placet.session.ids import AskId, SessionId, new_ask_id
from placet.session.log import SessionLog
from placet.session.store import Appended, Lease, Refused, Store

logger = logging.getLogger(__name__)

MAX_OPEN = 100
"""How many asks of one session may be open; a further call ends with an error before it asks."""

BY_NEVER = Answer(
    Outcome.REJECTED,
    Who(WhoKind.POLICY, "never"),
    channel="worker",
    evidence="approval policy",
    strength="none",
    detail="policy-never",
)


def cancelled(detail: str) -> Answer:
    """Return placet's own cancellation, with what caused it."""
    return Answer(Outcome.CANCELLED, SYSTEM, channel="worker", evidence="signal", strength="none", detail=detail)


@dataclass(frozen=True, slots=True)
class NotAsked:
    """No ask came to be: the turn is stopped, or too many asks of the session are open. Nothing was logged."""

    why: Literal["aborted", "too-many"]


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked, before it stands in the log."""

    subject: Subject
    call_id: str | None
    reason: str | None
    earlier_run: bool

    def drafts(self, policy: Policy, at_once: Answer | None, chain: Sequence[Responder]) -> list[Draft]:
        """Draft the ask and, where its decision is known already, that too."""
        ask = asked(
            self.subject,
            call_id=self.call_id,
            reason=self.reason,
            policy=policy,
            chain=[responder.name for responder in chain],
            earlier_run=self.earlier_run,
        )
        if at_once is None:
            return [ask]
        return [ask, decided(self.subject.ask, undated(at_once, digest=ask.data["digest"], waited=0))]


class Dispatcher:
    """Asks, and returns only what the log holds."""

    def __init__(
        self,
        store: Store,
        responders: Responders,
        clock: Clock,
        *,
        policy: PolicyFold = PolicyFold(),  # noqa: B008 - a frozen value
        max_open: int = MAX_OPEN,
    ) -> None:
        self._store, self._responders, self._clock = store, responders, clock
        self.policy = policy
        self._max_open = max_open
        self._asking: Counter[SessionId] = Counter()

    async def request(
        self,
        log: SessionLog,
        lease: Lease,
        turn: int,
        subject_of: Callable[[AskId], Subject],
        *,
        call_id: str | None,
        reason: str | None,
        signal: AbortSignal,
        earlier_run: bool = False,
    ) -> Decision | NotAsked:
        """Ask, and return the decision that the log holds.

        Raises `NoOpenTurn` outside an open turn (A2), `SubjectTooLarge` from `subject_of`, `LeaseLost`, or the store's
        own error when the fate of an append stays unknown; then nothing is returned, and recovery speaks (A16).
        """
        await log.catch_up()
        session = log.session
        if len(log.see(OPEN_ASKS)) + self._asking[session] >= self._max_open:
            return NotAsked("too-many")
        question = _Question(subject_of(new_ask_id(self._clock)), call_id, reason, earlier_run)
        at_once = self._at_once(log, signal)
        chain = self._responders.chain() if at_once is None else ()
        before = log.seq
        self._asking[session] += 1
        try:
            event = await self._ask(log, lease, turn, question, at_once, chain)
        finally:
            self._asking[session] -= 1
        if event is None:
            return NotAsked("aborted")
        if at_once is not None:
            return await self._logged(event)
        if await self._never_came_between(log, before, event):
            return await self._settle(log, lease, Ask.of(event), BY_NEVER)
        return await self._carry(log, lease, Ask.of(event), chain, signal)

    async def resume(self, log: SessionLog, lease: Lease, event: Event, *, signal: AbortSignal) -> Decision:
        """Re-arm an ask of an earlier worker: same id, the logged subject, the policy at `asked`.

        An ask under `never` that has no decision (a foreign writer's) is rejected and never shown.
        """
        ask = Ask.of(event, rearmed=True)
        if ask.policy is Policy.NEVER:
            return await self._settle(log, lease, ask, BY_NEVER)
        return await self._carry(log, lease, ask, self._responders.chain(), signal)

    async def cancel(self, log: SessionLog, lease: Lease, event: Event, *, detail: str) -> Decision:
        """Settle an ask `cancelled` for the stop or for recovery (`stopped`, `asker-gone`); who was first stays."""
        return await self._settle(log, lease, Ask.of(event), cancelled(detail), stopping=True)

    async def _ask(
        self,
        log: SessionLog,
        lease: Lease,
        turn: int,
        question: _Question,
        at_once: Answer | None,
        chain: Sequence[Responder],
    ) -> Event | None:
        """Append `asked`, and `decided` in the same append where nobody is to be asked; None in a stopped turn."""
        drafts = question.drafts(log.see(self.policy), at_once, chain)
        outcome = await log.append(
            drafts, present=[keys.turn(turn)], absent=[keys.abort(turn), keys.end(turn)], lease=lease
        )
        match outcome:
            case Appended(events):
                return events[0]
            case Refused("lease"):
                raise LeaseLost(log.session)
            case Refused(_, key=stood) if stood == keys.abort(turn):
                return None
            case _:
                raise NoOpenTurn(turn)

    def _at_once(self, log: SessionLog, signal: AbortSignal) -> Answer | None:
        """Return the decision that is known before asking: a signal that is set, then the policy (A6, A8)."""
        if signal.aborted:
            return cancelled("aborted-before-asking")
        return BY_NEVER if log.see(self.policy) is Policy.NEVER else None

    async def _never_came_between(self, log: SessionLog, before: int, event: Event) -> bool:
        """Whether the policy became `never` after it was read and before the ask got its place in the log."""
        if event.seq == before + 1:
            return False
        policy = Policy.ASK
        for earlier in await self._store.read(log.session, after=before, before=event.seq):
            if earlier.type == POLICY:
                policy = self.policy.step(policy, earlier)
        return policy is Policy.NEVER

    async def _carry(
        self, log: SessionLog, lease: Lease, ask: Ask, chain: Sequence[Responder], signal: AbortSignal
    ) -> Decision:
        """Run the chain against the signal and make what came first the decision, if nobody else was faster."""
        reply = await _race(ask, chain, signal)
        if isinstance(reply, InLog):
            event = await self._store.lookup(log.session, decided_key(ask.id))
            if event is not None:
                await log.catch_up()
                return Decision.of(event)
            reply = unavailable("responder-invalid")
        if reply is None:
            detail = ASKER_GONE if signal.reason == ASKER_GONE else STOPPED
            return await self._settle(log, lease, ask, cancelled(detail), stopping=True)
        return await self._settle(log, lease, ask, reply)

    async def _settle(
        self, log: SessionLog, lease: Lease, ask: Ask, answer: Answer, *, stopping: bool = False
    ) -> Decision:
        settled = await settle(log.append, ask, answer, now=self._clock.now(), lease=lease, stopping=stopping)
        match settled:
            case Won(event) | Lost(event):
                return Decision.of(event)
            case Barred("stopped"):
                return await self._settle(log, lease, ask, cancelled(STOPPED), stopping=True)
            case Barred():
                raise NoOpenTurn(ask.turn)

    async def _logged(self, event: Event) -> Decision:
        found = await self._store.lookup(event.session, decided_key(AskId(event.data["id"])))
        assert found is not None
        return Decision.of(found)


async def _race(ask: Ask, chain: Sequence[Responder], signal: AbortSignal) -> Reply | None:
    """Return what the chain says, or None as soon as the signal is set; a later answer is dropped (A13)."""
    reply: Reply | None = None
    with anyio.CancelScope() as scope:
        undo = signal.on_abort(lambda _: scope.cancel())
        try:
            reply = await _answer(ask, chain)
        finally:
            undo()
    return None if signal.aborted and not isinstance(reply, InLog) else reply


async def _answer(ask: Ask, chain: Sequence[Responder]) -> Reply:
    """Ask the chain. Whatever is no answer is `unavailable`; only the store's errors go on (A11, A12)."""

    async def nobody(_: Ask) -> Reply:
        return unavailable("no-responder")

    try:
        reply: object = await Chain([_link(responder) for responder in chain], nobody)(ask)
    except SessionError:
        raise
    except Exception as error:
        logger.exception("a responder failed on ask %s", ask.id)
        return unavailable(f"responder-failed: {type(error).__name__}")
    match reply:
        case InLog():
            return reply
        case Answer(outcome=Outcome(), who=Who(kind=WhoKind())):
            return reply
        case _:
            logger.error("a responder returned %r for ask %s, which is no answer", reply, ask.id)
            return unavailable("responder-invalid")


def _link(responder: Responder) -> Link[Ask, Reply]:
    async def link(ask: Ask, call_next: CallNext[Reply]) -> Reply:
        return await responder.answer(ask, call_next)

    return link
