"""One line per session, kept in step with the log: reading a list never reads a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import anyio

from placet.agent.mailbox import INBOX
from placet.approval.events import ASKED, DECIDED
from placet.approval.outcome import Policy
from placet.cordis import events as cordis
from placet.permission.preset import TYPES as KNOBS
from placet.permission.preset import PermissionFold, Permissions, preset_named
from placet.session.errors import UnknownSession
from placet.session.event import Event
from placet.session.ids import HOUSE, SessionId
from placet.session.store import SessionHead
from placet.web.security import keyring
from placet.web.security.keyring import Keyring
from placet.web.services import Services
from placet.web.views.naming import name_of, shortened
from placet.web.wire import SessionName, Summary

TURNS = frozenset({"turn/start", "turn/end"})
PLAIN = frozenset({"session/created", "session/renamed", "session/archived", "session/model", INBOX})
FOLLOWED = PLAIN | TURNS | KNOBS | keyring.TYPES
WAITING = frozenset({ASKED, DECIDED, cordis.REQUESTED, cordis.CONSENTED, cordis.DECLINED, cordis.SETTLED})
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Line:
    """What the log says about one session, as far as a list shows it."""

    cwd: str
    created_at: int
    title: str | None
    permissions: Permissions
    first: str | None = None  # the person's first message, shortened to a name
    model: str | None = None
    archived: bool = False
    turn: int | None = None
    interrupted: bool = False
    asks: frozenset[str] = field(default_factory=frozenset)
    consents: frozenset[str] = field(default_factory=frozenset)  # runs that wait for a person
    seq: int = -1

    @property
    def name(self) -> SessionName:
        """What the session is called."""
        return name_of(self.title, self.first, self.cwd)


class Summaries:
    """The lines of all sessions, and the linked pages, from one pass over the log that goes on where it stopped."""

    def __init__(self, services: Services, keyring: Keyring) -> None:
        self._services = services
        self._keyring = keyring
        self._lines: dict[SessionId, Line] = {}
        self._cursor = 0
        default = preset_named(services.installation.default_preset)
        self._fold = PermissionFold(default.mode, default.policy)
        self._one_at_a_time = anyio.Lock()

    async def load(self) -> None:
        """Read what the store holds: everything small, and of asks and requests for consent only those that are open.

        Looks for damage first that would be shown as a shorter list. Raises StoreDamaged if all of the store has it.
        """
        store = self._services.store
        await store.damaged(look=True)
        async with self._one_at_a_time:
            await self._read(FOLLOWED)
            # what was asked or decided since the cursor comes again with the next pass, and changes nothing twice
            for event in await store.unpaired("asked:", "decided:"):
                self._step(event)
            for event in await store.unpaired("requested:", "settled:"):
                if await store.lookup(event.session, cordis.consented_key(event.data["run"])) is None:
                    self._step(event)

    async def catch_up(self) -> None:
        """Take everything into account that was committed before this call."""
        async with self._one_at_a_time:
            await self._read(FOLLOWED | WAITING)

    async def all(self) -> list[Summary]:
        """Return the summaries of all sessions, the one with the newest event first."""
        await self.catch_up()
        heads = await self._services.store.sessions()
        self._forget_others({head.id for head in heads})
        damaged = await self._services.store.damaged()
        return [_summary(head, self._lines[head.id]) for head in heads if head.id in self._lines.keys() - damaged]

    async def of(self, session: SessionId) -> Summary:
        """Return the summary of one session; raises UnknownSession."""
        line = await self.line(session)
        newest = await self._services.store.read(session, newest=True, limit=1)
        if not newest:
            self._lines.pop(session, None)
            raise UnknownSession(session)
        return _summary(SessionHead(session, newest[0].seq, newest[0].time, newest[0].pos), line)

    async def line(self, session: SessionId) -> Line:
        """Return what is known of one session; raises UnknownSession, and StoreDamaged if its log is known to be."""
        await self.catch_up()
        if (damage := (await self._services.store.damaged()).get(session)) is not None:
            raise damage
        if session not in self._lines:
            raise UnknownSession(session)
        return self._lines[session]

    def name(self, session: SessionId, cwd: str) -> SessionName:
        """Return what a session is called, as far as it was read; `cwd` is its folder."""
        line = self._lines.get(session)
        return name_of(None, None, cwd) if line is None else line.name

    def model(self, session: SessionId) -> str:
        """Return the model that a session asks, as far as it was read."""
        line = self._lines.get(session)
        return (None if line is None else line.model) or self._services.installation.model

    def speaking(self) -> list[SessionId]:
        """Return the sessions with an open turn."""
        return [session for session, line in self._lines.items() if line.turn is not None]

    def forget(self, session: SessionId) -> None:
        """Drop a session whose log was removed."""
        self._lines.pop(session, None)

    async def _read(self, types: frozenset[str]) -> None:
        head = await self._services.store.head()
        while self._cursor < head:
            events = await self._services.store.feed(self._cursor, limit=CHUNK, types=types)
            for event in events:
                self._step(event)
                self._cursor = event.pos
            if len(events) < CHUNK:
                self._cursor = max(self._cursor, head)  # what lies between is of no interest, so it is not read again

    def _step(self, event: Event) -> None:
        if event.session == HOUSE:
            self._keyring.step(event)
        elif event.type == "session/created":
            self._lines[event.session] = self._created(event)
        elif (line := self._lines.get(event.session)) is not None and event.seq > -1:
            self._lines[event.session] = self._stepped(line, event)

    def _created(self, event: Event) -> Line:
        return Line(event.data["cwd"], event.time, event.data["title"], self._fold.start())

    def _stepped(self, line: Line, event: Event) -> Line:
        data: Mapping[str, Any] = event.data
        match event.type:
            case "session/renamed":
                return replace(line, title=event.data["title"] or None)
            case "session/archived":
                return replace(line, archived=event.data["archived"])
            case "session/model":
                return replace(line, model=event.data["model"])
            case "agent/inbox":
                return line if line.first is not None else replace(line, first=_said(data))
            case "turn/start":
                return replace(line, turn=event.data["turn"], interrupted=False)
            case "turn/end":
                reason = event.data["reason"].get("kind")
                return replace(line, turn=None, interrupted=reason == "interrupted")
            case "approval/asked" if data["policy"] != Policy.NEVER:
                return replace(line, asks=line.asks | {event.data["id"]})
            case "approval/decided":
                return replace(line, asks=line.asks - {event.data["id"]})
            case cordis.REQUESTED if data["needsConsent"]:
                return replace(line, consents=line.consents | {event.data["run"]})
            case cordis.CONSENTED | cordis.DECLINED | cordis.SETTLED:
                return replace(line, consents=line.consents - {event.data["run"]})
            case _:
                return replace(line, permissions=self._fold.step(line.permissions, event))

    def _forget_others(self, there: set[SessionId]) -> None:
        for session in self._lines.keys() - there:
            del self._lines[session]


def _summary(head: SessionHead, line: Line) -> Summary:
    return Summary(
        id=head.id,
        title=line.title,
        name=line.name,
        cwd=line.cwd,
        created_at=line.created_at,
        last_time=head.time,
        status=_status(line),
        open_asks=len(line.asks) + len(line.consents),
        open_consents=len(line.consents),
        preset=line.permissions.current,
        mode=line.permissions.mode,
        policy=line.permissions.policy,
        model=line.model,
        archived=line.archived,
        turn=line.turn,
    )


def _said(data: Mapping[str, Any]) -> str | None:
    put = data.get("put")
    return shortened(put["text"]) or None if put and put["source"]["kind"] == "user" else None


def _status(line: Line) -> Literal["idle", "running", "waiting", "interrupted"]:
    if line.asks or line.consents:
        return "waiting"
    if line.turn is not None:
        return "running"
    return "interrupted" if line.interrupted else "idle"
