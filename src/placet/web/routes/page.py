"""The page's own files, and its shell for every address that the page itself draws."""

from fastapi import APIRouter
from starlette.responses import Response

from placet.web.desk import DeskDep
from placet.web.errors import NotFound
from placet.web.rights import Channel, Right, needs

router = APIRouter(include_in_schema=False)

NOT_THE_PAGE = ("api/", "openapi.json", "healthz", "assets/")


@router.get("/{path:path}", dependencies=[needs(Right.OPEN, Channel.PAGE)])
async def page(desk: DeskDep, path: str) -> Response:
    """Return a file of the page, else the empty shell; addresses of the API that do not exist are not the page's."""
    found = desk.page.file(path)
    if found is not None:
        return found
    if path.startswith(NOT_THE_PAGE) or "." in path.rpartition("/")[2]:
        raise NotFound("there is nothing here")
    return desk.page.shell()
