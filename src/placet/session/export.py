"""A log as JSON lines: what `placet log export` prints, what golden logs hold, and how such a file is read again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .codec import dumps, loads
from .errors import StoreDamaged
from .event import Event
from .ids import SessionId

_FIELDS: dict[str, type] = {
    "session": str,
    "seq": int,
    "time": int,
    "type": str,
    "key": str,
    "data": dict,
    "cursor": str,
}


def line(event: Event) -> str:
    """One event as one line of JSON in the shape of the wire, without the line feed."""
    return dumps(wire(event))


def wire(event: Event) -> dict[str, Any]:
    """An event as every screen gets it; the cursor is the store's position."""
    return {
        "session": event.session,
        "seq": event.seq,
        "time": event.time,
        "type": event.type,
        "key": event.key,
        "data": event.data,
        "cursor": str(event.pos),
    }


def lines(events: Iterable[Event]) -> str:
    """Events as JSON lines, each ended by a line feed."""
    return "".join(f"{line(event)}\n" for event in events)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file of JSON lines holds. `dropped` says what was left out at its end, or is None."""

    events: tuple[Event, ...]
    dropped: str | None


def parse(content: bytes) -> Parsed:
    """Read JSON lines again. A half-written end (a cut line, a run of NUL bytes) is dropped and told.

    Raises StoreDamaged with the number of the line if one before the last is damaged, or if one is missing.
    """
    body = content.rstrip(b"\0")
    rows = body.split(b"\n")
    tail = rows.pop()
    events: list[Event] = []
    heads: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        try:
            event = _event(row)
        except ValueError as error:
            if number == len(rows) and not tail:
                return Parsed(tuple(events), f"line {number} was dropped: {error}")
            raise StoreDamaged(f"line {number}", str(error)) from error
        expected = heads.get(event.session, event.seq) if not heads or event.session in heads else 0
        if event.seq != expected:
            raise StoreDamaged(f"line {number}", f"seq {event.seq} of {event.session} stands where {expected} belongs")
        heads[event.session] = event.seq + 1
        events.append(event)
    cut = len(content) - len(body) + len(tail)
    return Parsed(tuple(events), f"{cut} bytes of a half-written last record were dropped" if cut else None)


def _event(row: bytes) -> Event:
    value: Any = loads(row)
    if not isinstance(value, dict) or set(value) != set(_FIELDS):
        raise ValueError("it is no event")
    for name, kind in _FIELDS.items():
        if not isinstance(value[name], kind):
            raise ValueError(f"{name} is no {kind.__name__}")
    session, pos = SessionId(value["session"]), int(value["cursor"])
    return Event(session, value["seq"], value["time"], value["type"], value["data"], value["key"], pos)
