"""What people do in a session, from the request to the log and back to what the screen shows."""

from __future__ import annotations

from placet.agent import gestures
from placet.agent.errors import MessageIdTaken
from placet.session.codec import escape
from placet.session.errors import UnknownSession
from placet.session.ids import MessageId, SessionId

from .desk import Desk
from .errors import Conflict, Unacceptable
from .security.caller import Caller
from .wire import ModelChange, NewMessage, PermissionChange, PermissionView, SessionChange, Summary


async def send(desk: Desk, caller: Caller, session: SessionId, request: NewMessage) -> None:
    """Queue a message; the same id again changes nothing. Raises UnknownSession."""
    await desk.summaries.line(session)
    store, id = desk.services.store, MessageId(request.id)
    try:
        await gestures.send_message(store, session, request.text, id, steer=request.steer, by=caller.by)
    except MessageIdTaken as taken:
        raise Conflict(str(taken), code="message-id-taken") from taken


async def stop(desk: Desk, caller: Caller, session: SessionId, key: str) -> int:
    """Stop the open turn and return its number. Raises Conflict when none is open."""
    await desk.summaries.line(session)
    match await gestures.stop(desk.services.store, session, key, caller.by):
        case gestures.Stopped(turn):
            return turn
        case gestures.NotRunning():
            raise Conflict("nothing is running here", code="not-running")


async def change(desk: Desk, caller: Caller, session: SessionId, request: SessionChange) -> Summary:
    """Rename the session, put it away or take it out."""
    store = desk.services.store
    await desk.summaries.line(session)
    if request.title is not None:
        await gestures.rename(store, session, escape(request.title.strip()), caller.by, request.key)
    if request.archived is not None:
        await gestures.archive(store, session, caller.by, request.key, archived=request.archived)
    return await desk.summaries.of(session)


async def delete(desk: Desk, session: SessionId) -> None:
    """Remove the session's log. Raises Conflict while a turn is open, UnknownSession."""
    line = await desk.summaries.line(session)
    if line.turn is not None:
        raise Conflict("a turn is running in this session", code="running", hint="Stop it first.")
    await desk.services.store.remove(session)
    desk.summaries.forget(session)


async def switch_model(desk: Desk, caller: Caller, session: SessionId, request: ModelChange) -> Summary:
    """Let later steps ask another model; only one that this installation offers."""
    known_model(desk, request.model)
    await desk.summaries.line(session)
    await gestures.set_model(desk.services.store, session, request.model, caller.by, request.key)
    return await desk.summaries.of(session)


def known_model(desk: Desk, name: str) -> None:
    """Raise Unacceptable unless the installation offers this model."""
    facts = desk.services.installation
    names = [entry.name for entry in facts.models]
    if name not in names and name != facts.model:
        raise Unacceptable("there is no such model here", code="unknown-model", hint=f"Known: {', '.join(names)}.")


async def permit(desk: Desk, caller: Caller, session: SessionId, request: PermissionChange) -> PermissionView:
    """Switch preset, mode or policy."""
    raise UnknownSession(session)
