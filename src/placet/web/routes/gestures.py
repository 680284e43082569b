"""What people do in a session: send, stop, switch permission or model. None of it needs a living worker."""

from fastapi import APIRouter

from placet.session.ids import MessageId, SessionId
from placet.web.desk import DeskDep
from placet.web.gestures import moving
from placet.web.gestures import session as gestures
from placet.web.rights import Right, needs
from placet.web.routes.sessions import Id
from placet.web.security.caller import CallerDep
from placet.web.wire import (
    ErrorBody,
    Keyed,
    MessageAccepted,
    ModelChange,
    MoveAway,
    MovedAway,
    NewMessage,
    PermissionChange,
    PermissionView,
    Stopped,
    Summary,
)

router = APIRouter(tags=["gestures"])


@router.post("/api/sessions/{id}/messages", dependencies=[needs(Right.SEND)])
async def send(desk: DeskDep, caller: CallerDep, id: Id, request: NewMessage) -> MessageAccepted:
    """Queue a message, or steer the turn that runs; the same id again is the same message."""
    await gestures.send(desk, caller, SessionId(id), request)
    return MessageAccepted(id=MessageId(request.id))


@router.post(
    "/api/sessions/{id}/stop",
    dependencies=[needs(Right.SEND)],
    responses={409: {"model": ErrorBody, "description": "No turn is running"}},
)
async def stop(desk: DeskDep, caller: CallerDep, id: Id, request: Keyed) -> Stopped:
    """Stop the open turn; the answer comes after the commit."""
    return Stopped(turn=await gestures.stop(desk, caller, SessionId(id), request.key))


@router.post(
    "/api/sessions/{id}/move-away",
    dependencies=[needs(Right.SEND)],
    responses={409: {"model": ErrorBody, "description": "It is not there any more, or cannot be moved"}},
)
async def move_away(desk: DeskDep, caller: CallerDep, id: Id, request: MoveAway) -> MovedAway:
    """Move away something that a call has made and other programs of yours would run."""
    return await moving.move_away(desk, caller, SessionId(id), request)


@router.post(
    "/api/sessions/{id}/permission",
    dependencies=[needs(Right.ANSWER, narrowing=Right.SEND)],
    responses={409: {"model": ErrorBody, "description": "Full access, or the end of jobs, was not confirmed"}},
)
async def permission(desk: DeskDep, caller: CallerDep, id: Id, request: PermissionChange) -> PermissionView:
    """Switch the preset, the mode or the policy; an open card is never answered by it."""
    return await gestures.permit(desk, caller, SessionId(id), request)


@router.post("/api/sessions/{id}/model", dependencies=[needs(Right.ANSWER)])
async def model(desk: DeskDep, caller: CallerDep, id: Id, request: ModelChange) -> Summary:
    """Let later steps ask another model."""
    return await gestures.switch_model(desk, caller, SessionId(id), request)
