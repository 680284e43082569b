"""The stream of one connection: the log's own events in commit order, and what the models are saying meanwhile.

Nothing is queued for a connection. It reads the log from its own cursor, and the text from what the crew holds, at the
pace at which the other end takes it; so a slow reader costs nothing and misses nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from placet.session.ids import HOUSE, SessionId
from placet.web.desk import Desk
from placet.web.wire import Hello, TextDelta, Wire

from .sessions import wire_event

CHUNK = 100
PING = 15.0  # seconds


class Stream:
    """One connection's place in the log and in the texts that are being said."""

    def __init__(self, desk: Desk, cursor: int) -> None:
        self._desk = desk
        self._cursor = cursor
        self._told: dict[SessionId, tuple[int, int, int]] = {}  # turn, step, how many characters were sent
        self._talking: set[SessionId] = set(desk.summaries.speaking())

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield frames until the server closes; the reader may leave at any time."""
        yield _frame("hello", Hello(cursor=str(self._cursor), instance=self._desk.instance))
        undo = self._desk.services.crew.deltas.subscribe(self._heard)
        try:
            while not self._desk.closing.is_set():
                seen = self._desk.pulse.count
                news = [frame async for frame in self._log()]
                news += self._texts()
                for frame in news:
                    yield frame
                if not news and not await self._desk.pulse.after(seen, PING):
                    yield b": ping\n\n"
        finally:
            undo()

    def _heard(self, delta: Any) -> None:
        self._talking.add(delta.session)
        self._desk.pulse.beat()

    async def _log(self) -> AsyncIterator[bytes]:
        for event in await self._desk.services.store.feed(self._cursor, limit=CHUNK):
            self._cursor = event.pos
            if event.session != HOUSE:
                yield _frame("log", wire_event(event), id=str(event.pos))

    def _texts(self) -> list[bytes]:
        talking, self._talking = self._talking, set()
        return [frame for session in talking if (frame := self._text(session)) is not None]

    def _text(self, session: SessionId) -> bytes | None:
        said = self._desk.services.crew.partial(session)
        if said is None:
            self._told.pop(session, None)
            return None
        turn, step, sent = self._told.get(session, (0, 0, 0))
        whole = (turn, step) != (said.turn, said.step) or sent > len(said.text)
        text = said.text if whole else said.text[sent:]
        self._told[session] = (said.turn, said.step, len(said.text))
        if not text and not whole:
            return None
        return _frame("delta", TextDelta(session=session, turn=said.turn, step=said.step, text=text, whole=whole))


def _frame(kind: str, data: Wire, *, id: str | None = None) -> bytes:
    text = json.dumps(
        data.model_dump(), separators=(",", ":")
    )  # ASCII: whatever stands in a text, the frame is one line
    head = f"id: {id}\n" if id is not None else ""
    return f"{head}event: {kind}\ndata: {text}\n\n".encode()
