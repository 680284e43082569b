"""A person's answer to a request for consent on its way to the log, through the same door as an answer to an ask."""

from __future__ import annotations

from placet.cordis.answers import Answered, BadResponse, NotPending
from placet.cordis.vocabulary import RunId
from placet.web.desk import Desk
from placet.web.errors import NotFound
from placet.web.gestures.answering import Question, admitted, missed
from placet.web.replies import Json
from placet.web.security.caller import Caller
from placet.web.views import consents as views
from placet.web.wire import BadResponseBody, Signer, Wire
from placet.web.wire_plugin import Consent, ConsentAccepted, ConsentNotPending, ConsentReceipt, Decline


async def consent(desk: Desk, caller: Caller, plugin: str, request: Consent) -> Wire | Json:
    """Hand a yes to Cordis and return what the sender is told. Raises as `decide` does, and NotFound."""
    question = await _question(desk, plugin, request.run)
    sender = await admitted(desk, caller, question, widens=True)
    said = await desk.services.cordis.consent(
        RunId(request.run),
        digest=request.digest,
        width=request.width,
        who=sender.who,
        channel=sender.channel,
        evidence=sender.evidence,
        strength=sender.strength,
        key=request.key,
    )
    return _told(desk, caller, question, said)


async def decline(desk: Desk, caller: Caller, plugin: str, request: Decline) -> Wire | Json:
    """Hand a no to Cordis and return what the sender is told. Raises as `decide` does, and NotFound."""
    question = await _question(desk, plugin, request.run)
    sender = await admitted(desk, caller, question, widens=False)
    said = await desk.services.cordis.decline(
        RunId(request.run),
        digest=request.digest,
        feedback=request.feedback,
        who=sender.who,
        channel=sender.channel,
        evidence=sender.evidence,
        strength=sender.strength,
        key=request.key,
    )
    return _told(desk, caller, question, said)


async def _question(desk: Desk, plugin: str, run: str) -> Question:
    """Return the request that is answered; one of another plugin is as good as missing."""
    found = await views.find(desk, run)
    if found.row.plugin.id != plugin:
        raise NotFound("this plugin has no such request", code="unknown-request")
    return Question(run, found.row.plugin.session, "run")


def _told(desk: Desk, caller: Caller, question: Question, said: Answered | NotPending | BadResponse) -> Wire | Json:
    match said:
        case Answered():
            receipt = ConsentReceipt(
                run=said.run,
                outcome=said.outcome,
                width=None if said.width is None else said.width.value,
                time=said.time,
                who=Signer.model_validate(dict(said.who)),
                channel=said.channel,
                strength=said.strength,
            )
            return ConsentAccepted(receipt=receipt)
        case NotPending(decision):
            view = None if decision is None else views.decision_view(decision)
            return missed(desk, caller, question, 409, ConsentNotPending(decision=view))
        case BadResponse(why):
            return missed(desk, caller, question, 422, BadResponseBody(why=why))
