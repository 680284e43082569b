"""The one stream of a browser: events of all sessions, and text while it is being said."""

from contextlib import aclosing
from typing import Annotated

import anyio
from fastapi import APIRouter, Query
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from placet.web.desk import DeskDep
from placet.web.errors import TooMany
from placet.web.rights import Right, needs
from placet.web.security.caller import CallerDep
from placet.web.views.stream import Stream

router = APIRouter(tags=["stream"])

MOST = 64  # open streams of one server; a browser has one

_FRAMES = (
    "Frames `hello` (Hello), `log` (WireEvent, its id is the cursor), `delta` (TextDelta), and a comment as a ping."
)


class StreamResponse(Response):
    """Sends the frames until the reader leaves or the server closes; nothing of it outlives the request."""

    media_type = "text/event-stream"

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send while listening for the reader's leaving."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send, send, tasks.cancel_scope)
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

    async def _send(self, send: Send, scope: anyio.CancelScope) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with aclosing(self._stream.frames()) as frames:
            async for frame in frames:
                await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        scope.cancel()


@router.get(
    "/api/stream",
    dependencies=[needs(Right.READ)],
    status_code=200,
    response_class=StreamResponse,
    responses={200: {"description": _FRAMES, "content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream(
    desk: DeskDep, caller: CallerDep, after: Annotated[str | None, Query(pattern=r"^[0-9]{1,15}$")] = None
) -> StreamResponse:
    """Follow the log from a cursor on; without one, from now on."""
    if desk.streams >= MOST:
        raise TooMany("too many streams are open", hint="Close some of placet's tabs.")
    head = await desk.services.store.head()
    await desk.summaries.catch_up()
    return StreamResponse(Stream(desk, head if after is None else min(int(after), head), caller.key_id))
