"""A person's answer on its way to the log: who sent it, over what, and what they are told."""

from __future__ import annotations

from placet.agent.gestures import stop_of
from placet.approval.answer import BadResponse, NotPending, Receipt
from placet.approval.events import asked_key
from placet.approval.outcome import Outcome, grants
from placet.session.event import Draft
from placet.session.ids import AskId
from placet.web.desk import Desk
from placet.web.errors import Forbidden, TooMany
from placet.web.gestures.senders import admit_answer, person, strength
from placet.web.replies import Json
from placet.web.rights import Right
from placet.web.security.caller import Caller
from placet.web.wire import Accepted, Answer, BadResponseBody, DecisionView, NotPendingBody, ReceiptView, Wire


async def decide(desk: Desk, caller: Caller, ask: AskId, answer: Answer) -> Wire | Json:
    """Hand the answer to the inbox and return what the sender is told.

    Raises Forbidden where the sender may not give it, StoreError where it could not be recorded.
    """
    needed = Right.ANSWER if grants(Outcome(answer.outcome)) else Right.SEND
    if needed not in caller.rights:
        raise Forbidden(f"this needs the right to {needed}", code="no-right")
    sender = f"{caller.key_id or caller.channel} {ask}"
    if desk.wrong_answers.too_many(sender):
        raise TooMany("too many wrong answers to this ask", hint="Wait a minute, and read the ask again.")
    await admit_answer(desk, caller, ask, answer)
    said = await desk.services.inbox.answer(
        ask,
        outcome=answer.outcome,
        digest=answer.digest,
        key=answer.key,
        feedback=answer.feedback,
        who=person(caller),
        channel=str(caller.channel),
        evidence=caller.evidence,
        strength=await strength(desk, caller),
        stop=await _stop(desk, caller, ask, answer),
    )
    match said:
        case Receipt():
            return Accepted(receipt=ReceiptView.model_validate(said.json()))
        case NotPending(decision):
            desk.wrong_answers.count(sender)
            view = None if decision is None else DecisionView.model_validate(decision.json())
            return _no(409, NotPendingBody(decision=view))
        case BadResponse(why):
            desk.wrong_answers.count(sender)
            return _no(422, BadResponseBody(why=why))


async def _stop(desk: Desk, caller: Caller, ask: AskId, answer: Answer) -> list[Draft]:
    store = desk.services.store
    asked = await store.find(asked_key(ask)) if answer.stop else None
    if asked is None:
        return []
    return await stop_of(store, asked.session, asked.data["call"]["turn"], answer.key, caller.by)


def _no(status: int, body: Wire) -> Json:
    return Json(body.model_dump(), status_code=status)
