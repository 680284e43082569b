"""One session as a screen opens it: the newest events first, older ones by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from placet.cordis.events import DEFINED
from placet.session.event import Event
from placet.session.ids import SessionId
from placet.web.desk import Desk
from placet.web.views import asks, jobs
from placet.web.views.permissions import permissions
from placet.web.wire import PartialText, WireEvent
from placet.web.wire_session import EventPage, SessionView

NEWEST = 200
HALVES = ("host", "client")


def wire_event(event: Event) -> WireEvent:
    """Return an event as it travels."""
    return WireEvent(
        session=event.session,
        seq=event.seq,
        time=event.time,
        type=event.type,
        key=event.key,
        data=_without_code(event.data) if event.type == DEFINED else dict(event.data),
        cursor=str(event.pos),
    )


def _without_code(defined: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of a package: how many bytes its halves have in the log, never what they say (H13)."""
    told = {name: value for name, value in defined.items() if name not in HALVES}
    return told | {f"{half}Bytes": _size(defined.get(half)) for half in HALVES}


def _size(code: str | None) -> int | None:
    return None if code is None else len(code.encode("utf-8", "surrogatepass"))


async def view(desk: Desk, session: SessionId) -> SessionView:
    """Return a session with its newest events; a stream from `cursor` on brings the rest. Raises UnknownSession."""
    cursor = await desk.services.store.head()
    await desk.summaries.line(session)
    page = await older(desk, session, before=None, limit=NEWEST)
    line = await desk.summaries.line(session)  # after the events: what they say of the permissions is in it
    return SessionView(
        summary=await desk.summaries.of(session),
        permissions=permissions(line.permissions),
        events=page.events,
        before=page.before,
        partial=partial(desk, session),
        asks=await asks.of_session(desk, session),
        jobs=await jobs.running(desk, session),
        cursor=str(cursor),
    )


async def older(desk: Desk, session: SessionId, *, before: int | None, limit: int) -> EventPage:
    """Return at most `limit` events before a sequence number, the newest of them, in ascending order."""
    events = await desk.services.store.read(session, before=before, limit=limit, newest=True)
    first = events[0].seq if events else 0
    return EventPage(events=[wire_event(event) for event in events], before=first or None)


def partial(desk: Desk, session: SessionId) -> PartialText | None:
    """Return what the model has said so far in the step that is going on."""
    said = desk.services.crew.partial(session)
    return None if said is None else PartialText(turn=said.turn, step=said.step, text=said.text)
