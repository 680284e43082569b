"""The inbox: open asks of all sessions, one ask with its whole subject, and the decision."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from placet.session.ids import AskId
from placet.web.desk import DeskDep
from placet.web.gestures.decision import decide
from placet.web.rights import Right, needs
from placet.web.security.caller import CallerDep
from placet.web.views import asks as views
from placet.web.wire import Accepted, Answer, AskView, BadResponseBody, ErrorBody, NotPendingBody
from placet.web.wire_session import Asks

router = APIRouter(tags=["asks"])

Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$")]


@router.get("/api/asks", dependencies=[needs(Right.READ)])
async def asks(
    desk: DeskDep, state: Literal["open"] = "open", cursor: Annotated[str | None, Query(max_length=32)] = None
) -> Asks:
    """List open asks of all sessions, oldest first, page by page without end."""
    return await views.open_page(desk, cursor)


@router.get("/api/asks/{id}", dependencies=[needs(Right.READ)])
async def ask(desk: DeskDep, id: Id) -> AskView:
    """Read one ask, open or decided."""
    return await views.one(desk, AskId(id))


@router.post(
    "/api/asks/{id}/decision",
    response_model=Accepted,
    dependencies=[needs(Right.ANSWER, narrowing=Right.SEND)],
    responses={
        409: {"model": NotPendingBody | ErrorBody, "description": "It was decided before, or placet was started again"},
        422: {"model": BadResponseBody | ErrorBody, "description": "The answer does not fit the ask, which stays open"},
    },
)
async def decision(desk: DeskDep, caller: CallerDep, id: Id, request: Answer) -> object:
    """Answer an ask. 200 is said only after the decision is durable; the same key again brings the same receipt."""
    return await decide(desk, caller, AskId(id), request)
