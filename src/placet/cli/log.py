"""`placet log`: the logs as they lie in the store; needs no server and changes nothing."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from placet.cli import process
from placet.cli.output import fail, say, say_json
from placet.cli.visible import visible_line

if TYPE_CHECKING:
    from placet.session.event import Event
    from placet.session.ids import SessionId
    from placet.session.store import Store

_PAGE = 500


def export(session: str, /) -> int:
    """Print a session's log as JSON lines, whole and in order."""

    async def work() -> None:
        async with _store() as store:
            async for event in _events(store, session):
                say_json(as_json(event))

    _run(work)
    return 0


def show(session: str, /) -> int:
    """Show a session's log for reading, one line for each event."""

    async def work() -> None:
        async with _store() as store:
            async for event in _events(store, session):
                say(_line(event))

    _run(work)
    return 0


def verify() -> int:
    """Check every log of the store: order, known types, one decision for each ask, digests recomputed."""
    from placet.session.errors import StoreDamaged

    problems: list[str] = []
    checked = 0

    async def work() -> None:
        nonlocal checked
        async with _store() as store:
            for head in await store.sessions():
                try:
                    events = [event async for event in _events(store, head.id)]
                except StoreDamaged as damage:
                    problems.append(str(damage))
                    continue
                checked += len(events)
                problems.extend(f"{head.id}: {problem}" for problem in _problems(events))

    _run(work)
    for problem in problems:
        say(problem)
    say(f"{checked} events checked, {len(problems)} problems.")
    return 1 if problems else 0


def as_json(event: "Event") -> dict[str, Any]:
    """An event in the shape of the wire."""
    return {
        "session": event.session,
        "seq": event.seq,
        "time": event.time,
        "type": event.type,
        "key": event.key,
        "data": event.data,
        "cursor": str(event.pos),
    }


def _line(event: "Event") -> str:
    import json

    moment = datetime.fromtimestamp(event.time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    data = visible_line(json.dumps(event.data, ensure_ascii=False, separators=(", ", ": ")))
    return f"{event.seq:>5}  {moment}  {event.type:<18} {data}"


def _problems(events: "list[Event]") -> Iterator[str]:
    from placet.approval.subject import Subject
    from placet.session.catalogue import known

    asked: dict[str, str] = {}
    decided: set[str] = set()
    for number, event in enumerate(events):
        if event.seq != number:
            yield f"event {number} is missing, {event.seq} follows"
            return
        if not known(event.type, event.data):
            yield f"event {number} has the type {event.type}, which this version does not know"
        if event.type == "approval/asked":
            asked[event.data["id"]] = event.data["digest"]
            if Subject.of(event.data["subject"]).digest != event.data["digest"]:
                yield f"event {number}: the digest is not that of the subject"
        if event.type == "approval/decided":
            ask = event.data["id"]
            if ask not in asked or ask in decided:
                yield f"event {number} decides {ask}, which is not open"
            elif event.data["digest"] != asked[ask]:
                yield f"event {number} decides other bytes than {ask} asked about"
            decided.add(ask)


@asynccontextmanager
async def _store() -> "AsyncIterator[Store]":
    from placet.app.storage import open_store

    places = process.places()
    if not places.database.exists():
        fail(f"There is no store at {places.database}", hint="Start a session first, with placet web or placet run")
    store = await open_store(places)
    try:
        yield store
    finally:
        await store.aclose()


async def _events(store: "Store", session: "str | SessionId") -> "AsyncIterator[Event]":
    from placet.session.ids import SessionId

    after, name = -1, SessionId(str(session))
    while True:
        page = await store.read(name, after=after, limit=_PAGE)
        if not page and after == -1:
            fail(f"There is no session {visible_line(str(session))}", hint="See: placet session list")
        for event in page:
            yield event
        if len(page) < _PAGE:
            return
        after = page[-1].seq


def _run(work: Any) -> None:
    import anyio

    anyio.run(work)
