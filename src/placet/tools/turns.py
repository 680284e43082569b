"""The open turns of this process, and the calls in them that are not the model's but a plugin's.

Such a call goes through the same pipeline as the model's calls do. It stands in no message: its position is the
server's own, from `FIRST_OF_PLUGINS` on. The turn ends only after them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import anyio

from placet.approval.dispatcher import Dispatcher
from placet.approval.open_asks import OPEN_ASKS
from placet.approval.outcome import ASKER_GONE
from placet.kernel.signal import AbortSignal
from placet.session.ids import SessionId
from placet.session.turn import FIRST_OF_PLUGINS, TURNS
from placet.tools.tool import RunContext

PATIENCE = 30.0
"""Seconds that a turn waits at its end for a plugin's call that has started; it is aborted then."""

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Admitted:
    """A place in an open turn for one call of a plugin."""

    run: RunContext
    step: int
    position: int


@dataclass(slots=True)
class _Open:
    run: RunContext
    position: int
    calls: dict[Place, AbortSignal] = field(default_factory=dict)
    idle: anyio.Event = field(default_factory=anyio.Event)
    closing: bool = False


class Turns:
    """The open turns by session. Workers enter and leave them; plugins' calls are admitted to them."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._open: dict[SessionId, _Open] = {}
        self._patience = patience

    def enter(self, run: RunContext) -> None:
        """Open a turn to plugins' calls; once more for the same turn: from now on with this context."""
        found = self._open.get(run.session)
        if found is not None and found.run.turn == run.turn:
            found.run = run
        else:
            self._open[run.session] = _Open(run, _next_position(run))

    def open(self, session: SessionId) -> bool:
        """Whether a call would be admitted now."""
        found = self._open.get(session)
        return found is not None and not found.closing and not found.run.signal.aborted

    def stopped(self, session: SessionId) -> bool:
        """Whether the session's open turn was stopped and has not ended yet."""
        found = self._open.get(session)
        return found is not None and found.run.signal.aborted

    @contextmanager
    def admitted(self, session: SessionId, signal: AbortSignal) -> Iterator[Admitted | None]:
        """Have a place in the session's open turn until the block ends; None where none is open in this process.

        `signal` is the caller's own; the call hears of it, of the turn's stop, and of the turn's end.
        """
        found = self._open.get(session)
        if found is None or not self.open(session):
            yield None
            return
        place = max(1, found.run.log.see(TURNS).step), found.position
        found.position += 1
        ending = AbortSignal()
        stop = AbortSignal.any(found.run.signal, signal, ending)
        found.calls[place] = ending
        try:
            yield Admitted(replace(found.run, signal=stop), *place)
        finally:
            stop.detach()
            del found.calls[place]
            if not found.calls:
                found.idle.set()

    async def leave(self, session: SessionId, dispatcher: Dispatcher) -> None:
        """Let plugins' calls come to their end before the turn does: asks are cancelled, what has started may finish.

        Nothing is admitted any more. Returns when each has its result.
        """
        found = self._open.get(session)
        if found is None:
            return
        found.closing = True
        if found.calls:
            await self._settle(found, dispatcher)
        self._open.pop(session, None)

    def drop(self, session: SessionId) -> None:
        """Forget a turn whose worker is gone; its calls can write nothing any more."""
        found = self._open.pop(session, None)
        if found is not None:
            found.closing = True
            for ending in list(found.calls.values()):
                ending.abort(ASKER_GONE)

    async def _settle(self, found: _Open, dispatcher: Dispatcher) -> None:
        found.idle = anyio.Event()
        log = found.run.log
        await log.catch_up()
        for asked in log.see(OPEN_ASKS).values() if not found.run.signal.aborted else ():
            call = asked.data["call"]
            if call["turn"] == found.run.turn and (call["step"], call["position"]) in found.calls:
                await dispatcher.cancel(log, found.run.lease, asked, detail=ASKER_GONE)
        with anyio.move_on_after(self._patience):
            await _idle(found)
            return
        for ending in list(found.calls.values()):
            ending.abort(ASKER_GONE)
        await _idle(found)


async def _idle(found: _Open) -> None:
    while found.calls:
        found.idle = anyio.Event()
        await found.idle.wait()


def _next_position(run: RunContext) -> int:
    """The first position that no call of this turn has; an earlier worker may have used some."""
    used = [FIRST_OF_PLUGINS - 1]
    for event in reversed(run.log.events):
        if event.type == "turn/start":
            break
        if event.type == "tool/call" and event.data["turn"] == run.turn:
            used.append(event.data["position"])
    return max(used) + 1
