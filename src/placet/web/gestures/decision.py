"""A person's answer to an ask on its way to the log, and what they are told."""

from __future__ import annotations

from functools import partial

from placet.agent.gestures import stop_of
from placet.approval.answer import BadResponse, NotPending, Receipt
from placet.approval.events import asked_key
from placet.approval.outcome import Outcome, grants
from placet.session.event import Draft, Event
from placet.session.ids import AskId
from placet.web.desk import Desk
from placet.web.gestures.answering import Question, admitted, missed
from placet.web.gestures.senders import person
from placet.web.replies import Json
from placet.web.security.caller import Caller
from placet.web.wire import Accepted, Answer, BadResponseBody, DecisionView, NotPendingBody, ReceiptView, Wire


async def decide(desk: Desk, caller: Caller, ask: AskId, answer: Answer) -> Wire | Json:
    """Hand the answer to the inbox and return what the sender is told.

    Raises Forbidden where the sender may not give it, StoreError where it could not be recorded.
    """
    asked = await desk.services.store.find(asked_key(ask))
    question = Question(ask, None if asked is None else asked.session, "ask")
    note = None if asked is None else partial(_note, desk, caller, asked, answer)
    sender = await admitted(desk, caller, question, widens=grants(Outcome(answer.outcome)), note=note)
    said = await desk.services.inbox.answer(
        ask,
        outcome=answer.outcome,
        digest=answer.digest,
        key=answer.key,
        feedback=answer.feedback,
        who=sender.who,
        channel=sender.channel,
        evidence=sender.evidence,
        strength=sender.strength,
        stop=await _stop(desk, caller, asked, answer),
    )
    match said:
        case Receipt():
            return Accepted(receipt=ReceiptView.model_validate(said.json()))
        case NotPending(decision):
            view = None if decision is None else DecisionView.model_validate(decision.json())
            return missed(desk, caller, question, 409, NotPendingBody(decision=view))
        case BadResponse(why):
            return missed(desk, caller, question, 422, BadResponseBody(why=why))


async def _note(desk: Desk, caller: Caller, asked: Event, answer: Answer, why: str, mark: str) -> None:
    await desk.services.inbox.note_refused(
        asked, who=person(caller), channel=str(caller.channel), why=why, outcome=answer.outcome, key=mark
    )


async def _stop(desk: Desk, caller: Caller, asked: Event | None, answer: Answer) -> list[Draft]:
    if asked is None or not answer.stop:
        return []
    return await stop_of(desk.services.store, asked.session, asked.data["call"]["turn"], answer.key, caller.by)
