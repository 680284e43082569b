"""Requests for consent to a plugin's code: open ones of all sessions, the whole card, and the two answers."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from placet.web.desk import DeskDep
from placet.web.gestures import consent as gestures
from placet.web.rights import Channel, Right, needs
from placet.web.routes.plugins import Id
from placet.web.security.caller import CallerDep
from placet.web.views import consents as views
from placet.web.wire import BadResponseBody, ErrorBody
from placet.web.wire_plugin import Consent, ConsentAccepted, ConsentNotPending, Consents, ConsentView, Decline

router = APIRouter(tags=["consents"])

Run = Annotated[str, Path(pattern=r"^run-[0-9]{1,15}$")]

_NOES: dict[int | str, dict[str, Any]] = {
    409: {"model": ConsentNotPending | ErrorBody, "description": "It was settled before, or placet was started again"},
    422: {"model": BadResponseBody | ErrorBody, "description": "The answer does not fit, and the request stays open"},
}


@router.get("/api/consents", dependencies=[needs(Right.READ)])
async def consents(desk: DeskDep, cursor: Annotated[str | None, Query(max_length=32)] = None) -> Consents:
    """List open requests for consent of all sessions, oldest first, without the code."""
    return await views.open_page(desk, cursor)


@router.get("/api/consents/{run}", dependencies=[needs(Right.READ)])
async def consent_card(desk: DeskDep, run: Run) -> ConsentView:
    """Read one request, open or decided, with both halves of its package."""
    return await views.one(desk, run)


@router.post(
    "/api/plugins/{id}/consent",
    response_model=ConsentAccepted,
    dependencies=[needs(Right.ANSWER, Channel.PAGE)],
    responses=_NOES,
)
async def consent(desk: DeskDep, caller: CallerDep, id: Id, request: Consent) -> object:
    """Consent to a package's code. 200 is said only after the consent is durable, before anything starts."""
    return await gestures.consent(desk, caller, id, request)


@router.post(
    "/api/plugins/{id}/decline",
    response_model=ConsentAccepted,
    dependencies=[needs(Right.SEND)],
    responses=_NOES,
)
async def decline(desk: DeskDep, caller: CallerDep, id: Id, request: Decline) -> object:
    """Decline a package; nothing of it starts, and what ran before goes on."""
    return await gestures.decline(desk, caller, id, request)
