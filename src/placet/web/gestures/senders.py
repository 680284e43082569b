"""May this sender do what needs a person's answer: the second wall, behind signature and right."""

from __future__ import annotations

from anyio import to_thread

from placet.approval.outcome import Who, WhoKind
from placet.web.desk import Desk, Said
from placet.web.errors import Forbidden
from placet.web.rights import Channel
from placet.web.security.caller import Caller

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
    why = await objection(desk, caller)
    if why is not None:
        desk.say(Said("sender-refused", f"Refused to {what}: {why}."))
        raise refusal(why)


def refusal(why: str) -> Forbidden:
    """The objection to a sender as the error that says it, in one sentence."""
    return Forbidden(f"{why[0].upper()}{why[1:]}.", code="sender-refused")


async def objection(desk: Desk, caller: Caller) -> str | None:
    """Return why this sender cannot speak for the person, None if nothing speaks against it."""
    if caller.channel is Channel.SOCKET:
        if not desk.services.installation.weak_socket_answers and await desk.full_access.was_used():
            return "a command ran with full access, so the terminal no longer answers; use the page"
        return None
    if caller.addresses is None:
        return "the connection has no ends that could be looked at"
    client, server = caller.addresses
    return await to_thread.run_sync(desk.services.objection, client, server, desk.services.state)
