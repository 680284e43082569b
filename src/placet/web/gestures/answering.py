"""The one door that every answer of a person passes, to an ask or to a request for consent.

Right, bound on wrong answers, the sender's own end, and what is logged of an answer that did not count.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from placet.approval.outcome import Who
from placet.session.event import Draft
from placet.session.ids import SessionId
from placet.web.desk import Desk, Said
from placet.web.errors import Forbidden, TooMany
from placet.web.gestures.senders import objection, person, refusal, strength
from placet.web.replies import Json
from placet.web.rights import Right
from placet.web.security.caller import Caller
from placet.web.wire import Wire

MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Question:
    """What is answered: its id, and the log that it stands in (None for one that is not there)."""

    id: str
    session: SessionId | None
    kind: str  # of its id in a notice: `ask` or `run`


@dataclass(frozen=True, slots=True)
class Sender:
    """Who answers, as the log will say it; `mark` tells senders apart whatever keys they choose."""

    who: Who
    channel: str
    evidence: str
    strength: str
    mark: str


Note = Callable[[str, str], Awaitable[None]]
"""Logs in the question's own words an answer that did not count: why, and the sender's mark."""


async def admitted(desk: Desk, caller: Caller, question: Question, *, widens: bool, note: Note | None = None) -> Sender:
    """Return who answers. What widens needs the right to answer, all else the right to send.

    Raises Forbidden where the sender may not, or is on the agent's side (logged and told; the question stays open), and
    TooMany after too many answers that did not fit.
    """
    needed = Right.ANSWER if widens else Right.SEND
    if needed not in caller.rights:
        raise Forbidden(f"this needs the right to {needed}", code="no-right")
    if desk.wrong_answers.too_many(_tries(caller, question)):
        raise TooMany("too many wrong answers to this", hint="Wait a minute, and read it again.")
    mark = caller.key_id or str(caller.channel)  # not the answer's own key, which the sender can change at will
    why = await objection(desk, caller)
    if why is not None:
        desk.say(Said("sender-refused", f"Refused an answer to {question.id}: {why}."))
        if note is not None:
            await note(why, mark)
        await _tell(desk, question, why, mark)
        raise refusal(why)
    return Sender(person(caller), str(caller.channel), caller.evidence, await strength(desk, caller), mark)


def missed(desk: Desk, caller: Caller, question: Question, status: int, body: Wire) -> Json:
    """Count an answer that did not settle anything, and return the response that says so."""
    desk.wrong_answers.count(_tries(caller, question))
    return Json(body.model_dump(), status_code=status)


def _tries(caller: Caller, question: Question) -> str:
    return f"{caller.key_id or caller.channel} {question.id}"


async def _tell(desk: Desk, question: Question, why: str, mark: str) -> None:
    if question.session is None:
        return
    text = f"An answer over the page's key did not count: {why}. If that was not you, sign this browser out."
    data: dict[str, Any] = {"level": "error", "code": "sender-refused", "text": text, question.kind: question.id}
    digest = sha256(mark.encode()).hexdigest()[:16]
    minute = desk.services.clock.now() // MINUTE
    key = f"notice:sender-refused:{question.id}:{digest}:{minute}"
    await desk.services.store.append(question.session, [Draft("notice", data, key)])
