"""`placet log`: the logs as they lie in the store; needs no server and changes nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from placet.app.program import program
from placet.cli import output, process
from placet.cli.output import fail, say, say_json

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
    """Show a session's log for reading: one short line for each event; `export` has the events whole."""
    from placet.cli.story import Story

    story = Story()

    async def work() -> None:
        async with _store() as store:
            async for event in _events(store, session):
                output.show(story.line(event))

    _run(work)
    return 0


def verify(file: Annotated[str | None, Parameter(help="An exported log (JSON lines) instead.")] = None, /) -> int:
    """Check every log of the store, or one exported file: order, known types, one decision for each ask, digests."""
    problems, checked = _of_file(file) if file is not None else _of_store()
    for problem in problems:
        say(problem)
    say(f"{checked} events checked, {len(problems)} problem{'' if len(problems) == 1 else 's'}.")
    return 1 if problems else 0


def _of_file(name: str) -> tuple[list[str], int]:
    from pathlib import Path

    from placet.session.errors import StoreDamaged
    from placet.session.export import parse
    from placet.session.verify import LogCheck

    try:
        parsed = parse(Path(name).read_bytes())
    except OSError as error:
        fail(f"{name} cannot be read", why=error.strerror or str(error), code=2)
    except StoreDamaged as error:
        return [f"{error.where}: {error.why}"], 0
    problems = [] if parsed.dropped is None else [parsed.dropped]
    checks: dict[str, LogCheck] = {}
    digests: dict[str, _Digests] = {}
    for event in parsed.events:
        check = checks.setdefault(event.session, LogCheck())
        check.take([event])
        problems += digests.setdefault(event.session, _Digests()).faults(event)
    found = [f"{found.where}: {found.what}" for check in checks.values() for found in check.findings]
    return found + problems, len(parsed.events)


def _of_store() -> tuple[list[str], int]:
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
                    digests = _Digests()
                    async for event in _events(store, head.id):
                        problems.extend(digests.faults(event))

    _run(work)
    return problems, checked


def as_json(event: "Event") -> dict[str, Any]:
    """An event in the shape of the wire."""
    from placet.session.export import wire

    return wire(event)


class _Digests:
    """Follows one log: asks whose digest is not that of their subject, and decisions about other bytes than asked."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}

    def faults(self, event: "Event") -> "list[str]":
        from placet.approval.errors import SubjectInvalid
        from placet.approval.subject import Subject
        from placet.session.catalogue import misfits

        place = f"session {event.session}, seq {event.seq}"
        if misfits(event.type, event.data, event.key):
            return []  # the other check has said so
        if event.type == "approval/asked":
            self._asked[event.data["id"]] = event.data["digest"]
            try:
                signed = Subject.of(event.data["subject"]).digest
            except SubjectInvalid as error:
                return [f"{place}: {error}"]
            return [f"{place}: the digest is not that of the subject"] if signed != event.data["digest"] else []
        if event.type == "approval/decided" and event.data["digest"] != self._asked.get(event.data["id"]):
            return [f"{place}: decides other bytes than {event.data['id']} asked about"]
        return []


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
