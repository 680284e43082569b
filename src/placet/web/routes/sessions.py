"""Sessions: list, create, read, rename, archive, delete."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from placet.session.ids import SessionId
from placet.web.desk import DeskDep
from placet.web.gestures.creation import create
from placet.web.gestures.session import change, delete
from placet.web.rights import Right, needs
from placet.web.security.caller import CallerDep
from placet.web.views import damage
from placet.web.views import sessions as views
from placet.web.wire import ErrorBody, NewSession, SessionChange, Summary
from placet.web.wire_session import EventPage, Sessions, SessionView

router = APIRouter(tags=["sessions"])

Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$")]


@router.get("/api/sessions", dependencies=[needs(Right.READ)])
async def sessions(desk: DeskDep) -> Sessions:
    """List all sessions, the one with the newest event first."""
    summaries = await desk.summaries.all()
    return Sessions(sessions=summaries, notices=await damage.notices(desk.services.store))


@router.post("/api/sessions", status_code=201, dependencies=[needs(Right.ANSWER)])
async def new_session(desk: DeskDep, caller: CallerDep, request: NewSession) -> Summary:
    """Create a session in a folder; the same key again brings the same session."""
    return await create(desk, caller, request)


@router.get("/api/sessions/{id}", dependencies=[needs(Right.READ)])
async def session(desk: DeskDep, id: Id) -> SessionView:
    """Read a session: its newest 200 events, what is being said, its open asks."""
    return await views.view(desk, SessionId(id))


@router.get("/api/sessions/{id}/events", dependencies=[needs(Right.READ)])
async def events(
    desk: DeskDep,
    id: Id,
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = views.NEWEST,
) -> EventPage:
    """Read older events of a session."""
    await desk.summaries.line(SessionId(id))
    return await views.older(desk, SessionId(id), before=before, limit=limit)


@router.patch("/api/sessions/{id}", dependencies=[needs(Right.SEND)])
async def change_session(desk: DeskDep, caller: CallerDep, id: Id, request: SessionChange) -> Summary:
    """Rename a session, or put it away and take it out again."""
    return await change(desk, caller, SessionId(id), request)


@router.delete(
    "/api/sessions/{id}",
    status_code=204,
    dependencies=[needs(Right.ADMINISTER)],
    responses={409: {"model": ErrorBody, "description": "A turn is running"}},
)
async def delete_session(desk: DeskDep, caller: CallerDep, id: Id) -> None:
    """Delete a session with its whole log; refused while a turn is open."""
    await delete(desk, caller, SessionId(id))
