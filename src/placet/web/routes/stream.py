"""The one stream of a browser: events of all sessions, and text while it is being said."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from placet.web.desk import DeskDep
from placet.web.rights import Right, needs
from placet.web.views.stream import Stream

router = APIRouter(tags=["stream"])

_FRAMES = (
    "Frames `hello` (Hello), `log` (WireEvent, its id is the cursor), `delta` (TextDelta), and a comment as a ping."
)


@router.get(
    "/api/stream",
    dependencies=[needs(Right.READ)],
    response_class=StreamingResponse,
    responses={200: {"description": _FRAMES, "content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream(
    desk: DeskDep, after: Annotated[str | None, Query(pattern=r"^[0-9]{1,15}$")] = None
) -> StreamingResponse:
    """Follow the log from a cursor on; without one, from now on."""
    head = await desk.services.store.head()
    await desk.summaries.catch_up()
    cursor = head if after is None else min(int(after), head)
    return StreamingResponse(Stream(desk, cursor).frames(), media_type="text/event-stream")
