"""What people do in a session, from the request to the log and back to what the screen shows."""

from __future__ import annotations

from dataclasses import replace

from anyio import to_thread

from placet.agent import gestures
from placet.agent.errors import MessageIdTaken
from placet.approval.errors import UnknownPolicy
from placet.approval.outcome import Policy
from placet.approval.policy import parse_policy
from placet.cordis.vocabulary import Detail
from placet.permission.errors import UnknownMode, UnknownPreset
from placet.permission.escalation import wider
from placet.permission.preset import Permissions, Preset, mode_named, preset_named
from placet.sandbox.mode import SandboxMode
from placet.session import keys
from placet.session.codec import escape
from placet.session.event import Draft
from placet.session.ids import HOUSE, MessageId, SessionId
from placet.tools.jobs import Reason
from placet.web.desk import Desk
from placet.web.errors import Conflict, Forbidden, Unacceptable
from placet.web.gestures.jobs import end_wider, named_first
from placet.web.gestures.senders import admit
from placet.web.rights import Right
from placet.web.security.caller import Caller
from placet.web.views.permissions import permissions
from placet.web.wire import ModelChange, NewMessage, PermissionChange, PermissionView, SessionChange, Summary


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
    """Rename the session, put it away or take it out; what its commands left in temporary places goes when it rests."""
    store = desk.services.store
    line = await desk.summaries.line(session)
    if request.title is not None:
        await gestures.rename(store, session, escape(request.title.strip()), caller.by, request.key)
    if request.archived is not None:
        await gestures.archive(store, session, caller.by, request.key, archived=request.archived)
        if request.archived:
            await desk.services.jobs.end_session(session, Reason.ARCHIVED, caller.by)
            await desk.services.cordis.end_session(session, Detail.ARCHIVED, caller.by)
        if request.archived and line.turn is None:
            await _tidy(desk, session)
    return await desk.summaries.of(session)


async def delete(desk: Desk, caller: Caller, session: SessionId) -> None:
    """End the session's jobs and plugins, remove its log and tell every screen.

    Raises Conflict while a turn is open, UnknownSession.
    """
    damaged = session in await desk.services.store.damaged()  # nothing runs there, and removing it mends the store
    if not damaged and (await desk.summaries.line(session)).turn is not None:
        raise Conflict("a turn is running in this session", code="running", hint="Stop it first.")
    await desk.services.jobs.end_session(session, Reason.DELETED)
    if not damaged:  # else the removal itself ends them, for nothing can be written there
        await desk.services.cordis.end_session(session, Detail.DELETED, caller.by)
    await desk.services.store.remove(session)
    desk.summaries.forget(session)
    gone = Draft("session/removed", {"session": session, "by": dict(caller.by)}, keys.removed(session))
    await desk.services.store.append(HOUSE, [gone])
    await _tidy(desk, session)


async def _tidy(desk: Desk, session: SessionId) -> None:
    """End what is kept warm for the session, and remove its temp directory and spills."""
    await desk.services.workspaces.release(session)
    await to_thread.run_sync(desk.services.workspaces.forget_session, session)


async def switch_model(desk: Desk, caller: Caller, session: SessionId, request: ModelChange) -> Summary:
    """Let later steps ask another model; only one that this installation offers."""
    known_model(desk, request.model)
    await admit(desk, caller, "switch a session's model")
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
    """Switch preset, mode or policy; what widens needs the right to answer, full access needs to be confirmed.

    What narrows ends the jobs and host halves that run with more. Raises Unacceptable for names outside the
    vocabularies, Conflict `confirm-needed` or `jobs-running`, Forbidden.
    """
    wanted = _wanted(request)
    before = (await desk.summaries.line(session)).permissions
    after = _after(before, wanted)
    if _widens(before, after):
        if Right.ANSWER not in caller.rights:
            raise Forbidden(f"this needs the right to {Right.ANSWER}", code="no-right")
        await admit(desk, caller, "widen a session's permission")
    full = SandboxMode.DANGER_FULL_ACCESS
    if after.mode is full and before.mode is not full and not request.confirm:
        raise Conflict(
            "full access lets commands change everything that you can, and placet itself",
            code="confirm-needed",
            hint="Send confirm: true if that is meant.",
        )
    if not request.confirm:
        await named_first(desk, session, before, after)
    knobs, by, key = desk.services.knobs, caller.by, request.key
    match wanted:
        case Preset():
            await gestures.select_preset(knobs, session, wanted.value, by=by, key=key)
        case SandboxMode():
            await gestures.turn_knobs(knobs, session, mode=wanted, by=by, key=key)
        case Policy():
            await gestures.turn_knobs(knobs, session, policy=wanted, by=by, key=key)
    now = (await desk.summaries.line(session)).permissions
    await end_wider(desk, caller, session, before, now)
    return PermissionView(permissions=permissions(now), mode=now.mode, policy=now.policy)


def _wanted(request: PermissionChange) -> Preset | SandboxMode | Policy:
    given = [name for name in (request.preset, request.mode, request.policy) if name is not None]
    if len(given) != 1:
        raise Unacceptable("send exactly one of preset, mode and policy", code="bad-permission")
    try:
        if request.preset is not None:
            return preset_named(request.preset)
        return mode_named(request.mode) if request.mode is not None else parse_policy(request.policy)
    except UnknownPreset as unknown:
        raise Unacceptable(str(unknown), code="unknown-preset") from unknown
    except UnknownMode as unknown:
        raise Unacceptable(str(unknown), code="unknown-mode") from unknown
    except UnknownPolicy as unknown:
        raise Unacceptable(str(unknown), code="unknown-policy") from unknown


def _after(before: Permissions, wanted: Preset | SandboxMode | Policy) -> Permissions:
    match wanted:
        case Preset():
            return replace(before, mode=wanted.mode, policy=wanted.policy)
        case SandboxMode():
            return replace(before, mode=wanted)
        case Policy():
            return replace(before, policy=wanted)


def _widens(before: Permissions, after: Permissions) -> bool:
    """Whether more can happen afterwards: a wider mode, or a person is asked who was not."""
    return wider(before.mode, after.mode) or (before.policy is Policy.NEVER and after.policy is Policy.ASK)
