"""The stream of one connection: the log's own events in commit order, and what the models are saying meanwhile.

Nothing is queued for a connection. It reads the log from its own cursor, and the text from what the crew holds, at the
pace at which the other end takes it; so a slow reader costs nothing and misses nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import anyio

from placet.agent.speech import Delta, Partial
from placet.kernel.scope import Scope
from placet.session.ids import HOUSE, SessionId
from placet.web.desk import Desk
from placet.web.views.sessions import wire_event
from placet.web.wire import Hello, TextDelta, Wire

OF_THE_HOUSE = frozenset({"page/revoked", "session/removed"})  # what every screen should know at once
CHUNK = 100
PING = 15.0  # seconds without a frame after which one says that the server lives
BREATH = 0.03  # seconds in which text gathers, so that a fast model does not make a frame per letter


class Stream:
    """One connection's place in the log and in the texts that are being said."""

    def __init__(self, desk: Desk, cursor: int, key: str | None = None) -> None:
        self._desk = desk
        self._key = key
        self._cursor = cursor
        self._told: dict[SessionId, tuple[int, int, int]] = {}  # turn, step, how many characters were sent
        self._talking: set[SessionId] = set(desk.summaries.speaking())
        self._dropped: dict[SessionId, Delta] = {}
        self._wake = anyio.Event()
        self._log_moved = True

    async def frames(self) -> AsyncGenerator[bytes]:
        """Yield frames until the server closes or the browser is signed out; the reader may leave at any time."""
        undo = Scope("stream")
        self._desk.streams += 1
        undo.add("count", self._leave)
        undo.add("log", self._desk.news.subscribe(self._moved))
        undo.add("texts", self._desk.services.crew.deltas.subscribe(self._heard))
        try:
            yield _frame("hello", Hello(cursor=str(self._cursor), instance=self._desk.instance))
            due = anyio.current_time() + PING
            while self._may_read():
                self._wake = anyio.Event()
                async for frame in self._news():
                    yield frame
                    due = anyio.current_time() + PING
                if anyio.current_time() >= due:  # whatever woke it: news that held nothing for this reader is silence
                    yield b": ping\n\n"
                    due = anyio.current_time() + PING
                await self._woken(due)
        finally:
            undo.close()

    def _may_read(self) -> bool:
        """Whether the server goes on and the reader's key still counts; a terminal has no key."""
        return not self._desk.closing.is_set() and (self._key is None or self._desk.keyring.get(self._key) is not None)

    def _leave(self) -> None:
        self._desk.streams -= 1

    async def _woken(self, due: float) -> None:
        """Wait for news of the log, for more text, or until a sign of life is due."""
        with anyio.move_on_at(due):
            await self._wake.wait()
        if not self._log_moved:
            await anyio.sleep(BREATH)

    def _moved(self, _: None) -> None:
        self._log_moved = True
        self._wake.set()

    def _heard(self, delta: Delta) -> None:
        if delta.whole:  # what was said does not count any more
            self._told.pop(delta.session, None)
            self._dropped[delta.session] = delta
        self._talking.add(delta.session)
        self._wake.set()

    async def _news(self) -> AsyncGenerator[bytes]:
        async for frame in self._log():
            yield frame
        for frame in self._texts():
            yield frame

    async def _log(self) -> AsyncGenerator[bytes]:
        while self._log_moved:
            self._log_moved = False
            for event in (events := await self._desk.services.store.feed(self._cursor, limit=CHUNK)):
                self._cursor = event.pos
                if event.session != HOUSE or event.type in OF_THE_HOUSE:
                    yield _frame("log", wire_event(event), id=str(event.pos))
            self._log_moved |= len(events) == CHUNK

    def _texts(self) -> list[bytes]:
        talking, self._talking = self._talking, set()
        return [frame for session in talking if (frame := self._text(session)) is not None]

    def _text(self, session: SessionId) -> bytes | None:
        said, dropped = self._desk.services.crew.partial(session), self._dropped.pop(session, None)
        if said is None:
            self._told.pop(session, None)
            return None if dropped is None else _delta(session, dropped, dropped.text, whole=True)
        turn, step, sent = self._told.get(session, (0, 0, 0))
        whole = (turn, step) != (said.turn, said.step) or sent > len(said.text)
        text = said.text if whole else said.text[sent:]
        self._told[session] = (said.turn, said.step, len(said.text))
        if not text and not whole:
            return None
        return _delta(session, said, text, whole=whole)


def _delta(session: SessionId, said: Partial | Delta, text: str, *, whole: bool) -> bytes:
    return _frame("delta", TextDelta(session=session, turn=said.turn, step=said.step, text=text, whole=whole))


def _frame(kind: str, data: Wire, *, id: str | None = None) -> bytes:
    text = json.dumps(data.model_dump(), separators=(",", ":"))  # ASCII, so whatever a text holds, it is one line
    head = f"id: {id}\n" if id is not None else ""
    return f"{head}event: {kind}\ndata: {text}\n\n".encode()
