"""The page's own files, its hidden frame for halves, and its shell for every address that the page itself draws."""

import secrets

from fastapi import APIRouter
from starlette.responses import Response

from placet.web.desk import DeskDep
from placet.web.errors import NotFound
from placet.web.rights import Channel, Right, needs
from placet.web.security.headers import FRAME

router = APIRouter(include_in_schema=False)

NOT_THE_PAGE = ("api/", "openapi.json", "healthz", "assets/")


@router.get(FRAME, dependencies=[needs(Right.OPEN, Channel.PAGE)])
async def half_frame(desk: DeskDep) -> Response:
    """Return the empty frame in which the browser halves of plugins run, with a nonce that is used once."""
    return desk.page.frame(secrets.token_urlsafe(18))


@router.get("/{path:path}", dependencies=[needs(Right.OPEN, Channel.PAGE)])
async def page(desk: DeskDep, path: str) -> Response:
    """Return a file of the page, else the empty shell; addresses of the API that do not exist are not the page's."""
    found = desk.page.file(path)
    if found is not None:
        return found
    if path.startswith(NOT_THE_PAGE) or "." in path.rpartition("/")[2]:
        raise NotFound("there is nothing here")
    return desk.page.shell()
