"""What is known to be damaged while a store is open: the whole file, or single sessions, which are then left alone.

A session whose log is damaged keeps nobody else from theirs: what reads over all sessions leaves its events out.
Nothing is appended to it any more, and nobody can take it over.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from placet.session.errors import StoreDamaged
from placet.session.event import Event
from placet.session.ids import HOUSE, SessionId

from .queries import of_many
from .rows import Row


class Condition:
    """Remembers damage from the moment in which it is met until the store is opened anew."""

    def __init__(self) -> None:
        self._file: StoreDamaged | None = None
        self._sessions: dict[SessionId, StoreDamaged] = {}

    @property
    def sessions(self) -> Mapping[SessionId, StoreDamaged]:
        """The sessions with a damaged log, each with the damage that was met first."""
        return dict(self._sessions)

    def admit(self, session: SessionId | None = None) -> None:
        """Raise the damage of the file, or that of the session, if there is any."""
        known = self._file or (None if session is None else self._sessions.get(session))
        if known is not None:
            raise StoreDamaged(known.where, known.why, session=known.session)

    def note(self, error: StoreDamaged) -> None:
        """Remember damage; where no single session has it, or the house, the whole file has it."""
        if error.session is None or error.session == HOUSE:
            self._file = self._file or error
        else:
            self._sessions.setdefault(SessionId(error.session), error)

    def forget(self, session: SessionId) -> None:
        """A session was removed, and its damage with it."""
        self._sessions.pop(session, None)

    def whole(self, db: sqlite3.Connection, rows: Iterable[Row]) -> list[Event]:
        """The events of rows from many sessions, but for those of damaged ones; what is met on the way is noted."""
        events, damaged = of_many(db, [row for row in rows if row[1] not in self._sessions])
        for error in damaged:
            self.note(error)
        return [event for event in events if event.session not in self._sessions]
