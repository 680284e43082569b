"""A person's answer on its way to the log: who sent it, over what, and what they are told."""

from __future__ import annotations

from starlette.responses import JSONResponse

from placet.approval.answer import BadResponse, NotPending, Receipt
from placet.approval.outcome import Outcome, Who, WhoKind, grants
from placet.session.ids import AskId

from .desk import Desk
from .errors import Forbidden
from .rights import Right
from .security.caller import Caller
from .wire import Accepted, Answer, BadResponseBody, DecisionView, NotPendingBody, ReceiptView, Wire


async def decide(desk: Desk, caller: Caller, ask: AskId, answer: Answer) -> Wire | JSONResponse:
    """Hand the answer to the inbox; raises Forbidden where the sender may not give it, StoreError if it was not recorded."""
    allows = grants(Outcome(answer.outcome))
    needed = Right.ANSWER if allows else Right.SEND
    if needed not in caller.rights:
        raise Forbidden(f"this needs the right to {needed}", code="no-right")
    await desk.check_answer(caller, ask, answer)
    said = await desk.services.inbox.answer(
        ask,
        outcome=answer.outcome,
        digest=answer.digest,
        key=answer.key,
        feedback=answer.feedback,
        who=Who(WhoKind.PERSON, caller.name, caller.account),
        channel=str(caller.channel),
        evidence=caller.evidence,
        strength=await desk.strength(caller),
    )
    match said:
        case Receipt():
            return Accepted(receipt=ReceiptView.model_validate(said.json()))
        case NotPending(decision):
            view = None if decision is None else DecisionView.model_validate(decision.json())
            return _no(409, NotPendingBody(decision=view))
        case BadResponse(why):
            return _no(422, BadResponseBody(why=why))
    raise AssertionError(f"the inbox said {said!r}")


def _no(status: int, body: Wire) -> JSONResponse:
    return JSONResponse(body.model_dump(), status_code=status)
