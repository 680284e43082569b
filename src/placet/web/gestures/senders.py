"""May this sender do what needs a person's answer: the second wall, behind signature and right."""

from __future__ import annotations

import logging
from hashlib import sha256

from anyio import to_thread

from placet.approval.events import asked_key
from placet.approval.outcome import Who, WhoKind
from placet.session.event import Draft
from placet.session.ids import AskId
from placet.web.desk import Desk, Said
from placet.web.errors import Forbidden
from placet.web.rights import Channel
from placet.web.security.caller import Caller
from placet.web.wire import Answer

logger = logging.getLogger(__name__)

MINUTE = 60_000
WEAK = "peer-process (weak)"


def person(caller: Caller) -> Who:
    """Return the person behind a request, as decisions name them."""
    return Who(WhoKind.PERSON, caller.name, caller.account)


async def strength(desk: Desk, caller: Caller) -> str:
    """Return what the evidence for this sender is worth now.

    Once a command ran with full access, a process of the account may be the agent's.
    """
    if caller.channel is Channel.SOCKET and await desk.full_access.was_used():
        return WEAK
    return caller.strength


async def admit(desk: Desk, caller: Caller, what: str) -> None:
    """Raise Forbidden unless the sender may do something that needs a person's answer; the terminal is told."""
    why = await _objection(desk, caller)
    if why is not None:
        desk.say(Said("sender-refused", f"Refused to {what}: {why}."))
        raise Forbidden(f"refused: {why}", code="sender-refused")


async def admit_answer(desk: Desk, caller: Caller, ask: AskId, answer: Answer) -> None:
    """Raise Forbidden for an answer from the agent's side, after it was logged and told; the ask stays open."""
    why = await _objection(desk, caller)
    if why is None:
        return
    desk.say(Said("sender-refused", f"Refused an answer to {ask}: {why}."))
    await _log(desk, caller, ask, answer, why)
    raise Forbidden(f"refused: {why}", code="sender-refused")


async def _objection(desk: Desk, caller: Caller) -> str | None:
    if caller.channel is Channel.SOCKET:
        if not desk.services.installation.weak_socket_answers and await desk.full_access.was_used():
            return "a command ran with full access, so the terminal no longer answers; use the page"
        return None
    if caller.addresses is None:
        return "the connection has no ends that could be looked at"
    client, server = caller.addresses
    return await to_thread.run_sync(desk.services.objection, client, server, desk.services.state)


async def _log(desk: Desk, caller: Caller, ask: AskId, answer: Answer, why: str) -> None:
    asked = await desk.services.store.find(asked_key(ask))
    if asked is None:
        return
    inbox, now = desk.services.inbox, desk.services.clock.now()
    sender = caller.key_id or str(caller.channel)  # not the answer's own key, which the sender can change at will
    await inbox.note_refused(
        asked, who=person(caller), channel=str(caller.channel), why=why, outcome=answer.outcome, key=sender
    )
    text = f"An answer over the page's key did not count: {why}. If that was not you, sign this browser out."
    data = {"level": "error", "code": "sender-refused", "text": text, "ask": ask}
    mark = sha256(sender.encode()).hexdigest()[:16]
    await desk.services.store.append(
        asked.session, [Draft("notice", data, f"notice:sender-refused:{ask}:{mark}:{now // MINUTE}")]
    )
