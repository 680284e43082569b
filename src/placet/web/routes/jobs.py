"""Background jobs: read what one writes, end one. The session's own view lists those that run."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from placet.session.ids import SessionId
from placet.web.desk import DeskDep
from placet.web.gestures import jobs as gestures
from placet.web.rights import Right, needs
from placet.web.routes.sessions import Id
from placet.web.security.caller import CallerDep
from placet.web.views import jobs as views
from placet.web.wire import ErrorBody, Keyed
from placet.web.wire_session import JobOutput, JobView

router = APIRouter(tags=["jobs"])

Job = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$")]


@router.get("/api/sessions/{id}/jobs/{job}/output", dependencies=[needs(Right.READ)])
async def output(desk: DeskDep, id: Id, job: Job, after: Annotated[int, Query(ge=0, le=2**53)] = 0) -> JobOutput:
    """Read what a job has written from a byte on; its newest 64,000 bytes are kept."""
    return await views.output(desk, SessionId(id), job, after)


@router.post(
    "/api/sessions/{id}/jobs/{job}/kill",
    dependencies=[needs(Right.SEND)],
    responses={409: {"model": ErrorBody, "description": "The job lives in another process"}},
)
async def kill(desk: DeskDep, caller: CallerDep, id: Id, job: Job, request: Keyed) -> JobView:
    """End a job with everything that it has started; the answer says how it ended."""
    return await gestures.kill(desk, caller, SessionId(id), job)
