"""The text that a model is speaking right now. It is not in the log: whoever connects first gets the text so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from placet.kernel.bus import Bus
from placet.session.ids import SessionId


@dataclass(frozen=True, slots=True)
class Partial:
    """What was said of a step so far."""

    turn: int
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class Delta:
    """News of a step. If `whole` is set, `text` replaces all that was shown of it: an attempt failed."""

    session: SessionId
    turn: int
    step: int
    text: str
    whole: bool = False


@dataclass(slots=True)
class _Speaking:
    turn: int
    step: int
    pieces: list[str] = field(default_factory=list)


class Speech:
    """Tells the news to whoever listens on `deltas`, and keeps the text so far per session."""

    def __init__(self) -> None:
        self.deltas: Bus[Delta] = Bus("text deltas")
        self._speaking: dict[SessionId, _Speaking] = {}

    def partial(self, session: SessionId) -> Partial | None:
        """The text so far of a model that is speaking in this session in this process."""
        speaking = self._speaking.get(session)
        return None if speaking is None else Partial(speaking.turn, speaking.step, "".join(speaking.pieces))

    def begin(self, session: SessionId, turn: int, step: int) -> None:
        """A request begins: nothing was said yet."""
        self._speaking[session] = _Speaking(turn, step)

    def add(self, session: SessionId, text: str) -> None:
        """The model said more."""
        speaking = self._speaking[session]
        speaking.pieces.append(text)
        self.deltas.notify(Delta(session, speaking.turn, speaking.step, text))

    def end(self, session: SessionId) -> None:
        """What was said is in the log now."""
        self._speaking.pop(session, None)

    def drop(self, session: SessionId) -> None:
        """What was said does not count; who watches is told so."""
        speaking = self._speaking.pop(session, None)
        if speaking is not None and speaking.pieces:
            self.deltas.notify(Delta(session, speaking.turn, speaking.step, "", whole=True))
