"""Linking a browser: the page's public key against the one-time secret of a link."""

from typing import Annotated

from fastapi import APIRouter, Body

from placet.web.desk import DeskDep
from placet.web.errors import Unacceptable
from placet.web.gestures.linking import new_link, redeem
from placet.web.rights import Channel, Right, needs
from placet.web.security.caller import CallerDep
from placet.web.wire import Empty
from placet.web.wire_link import Linked, LinkRequest, NewLink

router = APIRouter(tags=["link"])


@router.post("/api/link", dependencies=[needs(Right.OPEN, Channel.PAGE)])
async def link(desk: DeskDep, caller: CallerDep, request: LinkRequest) -> Linked:
    """Register the page's key. A link is good for one key and two minutes; a GET never touches it."""
    if (request.secret is None) == (request.code is None):
        raise Unacceptable("send the link's secret or its code", code="bad-link")
    page = await redeem(desk, caller, request)
    return Linked(key_id=page, server_key=desk.server_key.public, instance=desk.instance)


@router.post("/api/links", dependencies=[needs(Right.ADMINISTER, Channel.SOCKET)])
async def links(desk: DeskDep, body: Annotated[Empty, Body()]) -> NewLink:
    """Make another one-time link, for the terminal that asked."""
    return new_link(desk)
