"""The browsers that are signed in."""

from typing import Annotated

from fastapi import APIRouter, Body, Path

from placet.web.desk import DeskDep
from placet.web.gestures import browsers
from placet.web.rights import Right, needs
from placet.web.security.caller import CallerDep
from placet.web.wire import Empty
from placet.web.wire_link import Browsers

router = APIRouter(tags=["link"])

KeyId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@router.get("/api/pages", dependencies=[needs(Right.READ)])
async def pages(desk: DeskDep, caller: CallerDep) -> Browsers:
    """List the browsers that are signed in."""
    return await browsers.listed(desk, caller)


@router.post("/api/pages/{key_id}/revoke", status_code=204, dependencies=[needs(Right.ADMINISTER)])
async def revoke(desk: DeskDep, caller: CallerDep, key_id: KeyId, body: Annotated[Empty, Body()]) -> None:
    """Sign a browser out: its key counts no more, and its open pages stop."""
    await browsers.sign_out(desk, caller, key_id)
