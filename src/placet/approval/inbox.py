"""The inbox: the open asks as a view of the log, the answers of people, and the responder that waits for them.

There is no table beside the log. An answer *is* the conditional append of `approval/decided`; "accepted" is said only
after its commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from placet.approval import view as views
from placet.approval.answer import MAX_FEEDBACK, MAX_KEY, BadResponse, NotPending, Receipt
from placet.approval.events import asked_key, decided_key, refused
from placet.approval.outcome import PERSON_OUTCOMES, STOPPED, Decision, Outcome, Policy, Who
from placet.approval.people import REREAD, People
from placet.approval.responder import Answer, Ask, Responder
from placet.approval.settle import Barred, Lost, Won, settle
from placet.approval.view import AskView, Page
from placet.kernel.clock import Clock
from placet.session import keys
from placet.session.errors import StoreGone
from placet.session.event import Draft, Event
from placet.session.ids import AskId, SessionId
from placet.session.store import Store


def every_session(_: SessionId) -> bool:
    """Serve all sessions."""
    return True


class Inbox:
    """What people see and answer. `deadline` is in seconds since the ask; None waits without limit."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        serves: Callable[[SessionId], bool] = every_session,
        deadline: float | None = None,
        reread: float = REREAD,
    ) -> None:
        self._store, self._clock = store, clock
        self._people = People(store, clock, serves=serves, deadline=deadline, reread=reread)

    # What people see.

    async def open(self, *, after: int | None = None, limit: int = 50) -> Page:
        """Return open asks of all sessions, oldest first, after a cursor of an earlier page."""
        events = await views.open_asks(self._store)
        numbered = [(place, event) for place, event in enumerate(events, 1) if after is None or event.pos > after]
        shown = tuple(self._view(event, place, len(events)) for place, event in numbered[:limit])
        return Page(shown, len(events), shown[-1].cursor if len(numbered) > limit else None)

    async def get(self, ask_id: AskId) -> AskView | None:
        """Return one ask with its whole subject, open or decided; None for an id that no log holds.

        A decided one, and one that can no longer be answered, has position 0.
        """
        event = await self._store.find(asked_key(ask_id))
        if event is None:
            return None
        events = await views.open_asks(self._store)
        places = {other.data["id"]: place for place, other in enumerate(events, 1)}
        decided = None if ask_id in places else await self._store.lookup(event.session, decided_key(ask_id))
        decision = None if decided is None else await self._decision(decided, Ask.of(event).turn)
        return self._view(event, places.get(ask_id, 0), len(events), decision)

    async def _decision(self, decided: Event, turn: int) -> Decision:
        """Read a decision; for an ask that ended with its turn, also who stopped that."""
        if decided.data["detail"] != STOPPED:
            return Decision.of(decided)
        return Decision.of(decided, stop=await self._store.lookup(decided.session, keys.abort(turn)))

    def _view(self, event: Event, position: int, total: int, decision: Decision | None = None) -> AskView:
        rearmed = self._people.rearmed(event.data["id"])
        return views.view(event, decision=decision, position=position, total=total, rearmed=rearmed)

    # What people say.

    async def answer(
        self,
        ask_id: AskId,
        *,
        outcome: str,
        digest: str,
        key: str,
        feedback: str | None = None,
        who: Who,
        channel: str,
        evidence: str,
        strength: str,
        stop: Sequence[Draft] = (),
    ) -> Receipt | NotPending | BadResponse:
        """Make a person's answer the decision, if it is the first one. The sender has proved who they are.

        With a rejection, `stop` may hold the events that stop the turn: they are appended with the decision, so that
        the agent can take no step between the two.

        Raises `StoreError` where the answer could not be recorded; sending it again with the same key is safe.
        """
        asked = await self._store.find(asked_key(ask_id))
        if asked is None:
            return BadResponse("there is no ask with this id")
        complaint = _complaint(outcome, asked, digest, key, feedback, stop=bool(stop))
        if complaint is not None:
            await self.note_refused(asked, who=who, channel=channel, why=complaint, outcome=outcome, key=key)
            return BadResponse(complaint)
        said = Answer(Outcome(outcome), who, channel, evidence, strength, detail=None, feedback=feedback or None)
        append = partial(self._store.append, asked.session)
        settled = await settle(append, Ask.of(asked), said, now=self._clock.now(), key=key, also=stop)
        match settled:
            case Won(event):
                self._people.wake(ask_id)
                return Receipt.of(event, stopped=bool(stop))
            case Lost(event) if _same(event, outcome, key, who):
                return Receipt.of(event, stopped=await self._stopped_with(event, Ask.of(asked).turn))
            case Lost(event):
                refusal = NotPending(await self._decision(event, Ask.of(asked).turn))
            case Barred(why):
                refusal = NotPending(None, "ended" if why == "ended" else "stopped")
        await self.note_refused(asked, who=who, channel=channel, why=refusal.why, outcome=outcome, key=key)
        return refusal

    async def _stopped_with(self, decided: Event, turn: int) -> bool:
        """Whether the turn was stopped in the append that decided: the stop is the very next event."""
        aborted = await self._store.lookup(decided.session, keys.abort(turn))
        return aborted is not None and aborted.seq == decided.seq + 1

    async def note_refused(self, asked: Event, *, who: Who, channel: str, why: str, outcome: str, key: str) -> None:
        """Log an answer that did not count: at most one per ask, key and minute, and only for a proven sender.

        The sender is told either way, so a store that cannot take the note does not matter here.
        """
        tried = outcome if outcome in PERSON_OUTCOMES else "other"
        now = self._clock.now()
        draft = refused(asked.data["id"], who=who, channel=channel, why=why, outcome=tried, key=key, now=now)
        try:
            await self._store.append(asked.session, [draft])
        except StoreGone:
            return

    # The responder that waits for people.

    def responder(self) -> Responder:
        """Return the link of the chain that waits for people; its name is `inbox`."""
        return self._people


def _complaint(outcome: str, asked: Event, digest: str, key: str, feedback: str | None, *, stop: bool) -> str | None:
    """Return why an answer cannot be one of this ask, or None."""
    if asked.data["policy"] == Policy.NEVER:
        return "nobody is asked under the policy never"
    if outcome not in PERSON_OUTCOMES:
        return "a person can answer only allowed-once or rejected"
    if digest != asked.data["digest"]:
        return "the digest is not that of the ask: what was shown is not what would run"
    if not 0 < len(key) <= MAX_KEY:
        return f"the key must have 1 to {MAX_KEY} characters"
    if stop and outcome != Outcome.REJECTED:
        return "a stop can be sent only with a rejection"
    if feedback and outcome != Outcome.REJECTED:
        return "a note can be sent only with a rejection"
    if feedback and len(feedback) > MAX_FEEDBACK:
        return f"the note has more than {MAX_FEEDBACK} characters"
    return None


def _same(event: Event, outcome: str, key: str, who: Who) -> bool:
    """Whether the decision in the log is this very answer, sent again."""
    decision = Decision.of(event)
    return decision.key == key and decision.outcome == outcome and decision.who == who
