"""Rows of the event table and what proves that they are whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from placet.session.catalogue import lacks
from placet.session.codec import loads
from placet.session.errors import StoreDamaged
from placet.session.event import Event
from placet.session.ids import SessionId

COLUMNS = "pos, session, seq, time, type, key, data, sum"

Row = tuple[int, str, int, int, str, str, str, int]


def checksum(session: str, seq: int, time: int, kind: str, key: str, data: str) -> int:
    """CRC-32 over everything in a row but its position: it finds damage, not malice."""
    return crc32("\n".join((session, str(seq), str(time), kind, key, data)).encode())


def place(session: Any, seq: Any) -> str:
    """How a damaged place is named."""
    return f"session {session}, seq {seq}"


def event_of(row: Row) -> Event:
    """The event of a row. Raises StoreDamaged with the place if the row is not as it was written."""
    pos, session, seq, time, kind, key, data, total = row
    try:
        whole = checksum(session, seq, time, kind, key, data) == total
        value: Mapping[str, Any] = loads(data) if whole else {}
    except (ValueError, TypeError) as error:
        raise StoreDamaged(place(session, seq), f"the record is unreadable ({error})", session=session) from error
    if not whole:
        raise StoreDamaged(place(session, seq), "the record does not match its checksum", session=session)
    if lacking := lacks(kind, value):
        raise StoreDamaged(place(session, seq), f"the record is no {kind} ({lacking[0]})", session=session)
    return Event(SessionId(session), seq, time, kind, value, key, pos)


def contiguous(session: str, events: list[Event], first: int | None, last: int | None) -> list[Event]:
    """The events, if no sequence number is missing. `first` and `last` are known ends, where the caller knows them."""
    expected = first if first is not None else events[0].seq if events else None
    for event in events:
        if event.seq != expected:
            raise StoreDamaged(
                place(session, expected),
                f"the record is missing; the next one there is seq {event.seq}",
                session=session,
            )
        expected = event.seq + 1
    if last is not None and expected is not None and expected != last + 1:
        raise StoreDamaged(
            place(session, expected), f"the record is missing; the log should go on to seq {last}", session=session
        )
    return events
