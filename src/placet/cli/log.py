"""`placet log`: the logs as they lie in the store; needs no server and changes nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from placet.app.program import program
from placet.cli import output, process
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
                output.show(_line(event))

    _run(work)
    return 0


def verify() -> int:
    """Check every log of the store: order, known types, one decision for each ask, digests recomputed."""
    from placet.session import verify as built_in
    from placet.session.errors import StoreDamaged

    problems: list[str] = []
    checked = 0

    async def work() -> None:
        nonlocal checked
        async with _store() as store:
            report = await built_in.verify(store)
            checked = report.events
            problems.extend(f"{found.where}: {found.what}" for found in report.findings)
            for head in await store.sessions():
                with suppress(StoreDamaged):  # the check above has said where
                    problems.extend([problem async for problem in _digests(store, head.id)])

    _run(work)
    for problem in problems:
        say(problem)
    say(f"{checked} events checked, {len(problems)} problems.")
    return 1 if problems else 0


def as_json(event: "Event") -> dict[str, Any]:
    """An event in the shape of the wire."""
    from placet.session.export import wire

    return wire(event)


def _line(event: "Event") -> str:
    import json

    moment = datetime.fromtimestamp(event.time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    data = visible_line(json.dumps(event.data, ensure_ascii=False, separators=(", ", ": ")))
    return f"{event.seq:>5}  {moment}  {event.type:<18} {data}"


async def _digests(store: "Store", session: "SessionId") -> "AsyncIterator[str]":
    """Asks whose digest is not that of their subject, and decisions about other bytes than were asked about."""
    from placet.approval.errors import SubjectInvalid
    from placet.approval.subject import Subject
    from placet.session.catalogue import misfits

    asked: dict[str, str] = {}
    async for event in _events(store, session):
        place = f"session {session}, seq {event.seq}"
        if misfits(event.type, event.data, event.key):
            continue  # the check above has said so
        if event.type == "approval/asked":
            asked[event.data["id"]] = event.data["digest"]
            try:
                signed = Subject.of(event.data["subject"]).digest
            except SubjectInvalid as error:
                yield f"{place}: {error}"
                continue
            if signed != event.data["digest"]:
                yield f"{place}: the digest is not that of the subject"
        if event.type == "approval/decided" and event.data["digest"] != asked.get(event.data["id"]):
            yield f"{place}: decides other bytes than {event.data['id']} asked about"


@asynccontextmanager
async def _store() -> "AsyncIterator[Store]":
    from placet.app.storage import open_store

    places = process.places()
    if not places.database.exists():
        fail(
            f"There is no store at {places.database}",
            hint=f"Start a session first, with {program()} web or {program()} run",
        )
    store = await open_store(places)
    try:
        yield store
    finally:
        await store.aclose()


async def _events(store: "Store", session: "str | SessionId") -> "AsyncIterator[Event]":
    from placet.session.ids import SessionId

    after, name = -1, SessionId(str(session))
    while True:
        page = await store.read(name, after=after, limit=_PAGE) if name.isascii() else []  # as every id is
        if not page and after == -1:
            fail(f"There is no session {session}", hint=f"See: {program()} session list")
        for event in page:
            yield event
        if len(page) < _PAGE:
            return
        after = page[-1].seq


def _run(work: Any) -> None:
    import anyio

    anyio.run(work)
