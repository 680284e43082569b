"""The open asks of all sessions, read from the log: what every screen shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from placet.approval.errors import SubjectInvalid
from placet.approval.outcome import Decision, Policy
from placet.approval.subject import Subject, parse_arguments
from placet.session import keys
from placet.session.event import Event
from placet.session.ids import AskId, SessionId
from placet.session.store import Store

FULL_ACCESS = "danger-full-access"


@dataclass(frozen=True, slots=True)
class AskView:
    """One ask as a screen shows it. `reason` is the model's own words, taken out of the signed arguments."""

    id: AskId
    session: SessionId
    agent: str
    tool: str
    reason: str | None
    subject: dict[str, Any]
    digest: str
    asked_at: int
    state: Literal["open", "decided"]
    decision: Decision | None
    position: int
    total: int
    rearmed: bool
    earlier_run: bool
    full_access: bool
    script_covered: bool
    cursor: int

    def json(self) -> dict[str, Any]:
        """Return the view as the wire tells it; the name of the session is added above."""
        return {
            "id": self.id,
            "session": self.session,
            "agent": self.agent,
            "tool": self.tool,
            "reason": self.reason,
            "subject": self.subject,
            "digest": self.digest,
            "askedAt": self.asked_at,
            "state": self.state,
            "decision": None if self.decision is None else self.decision.json(),
            "position": self.position,
            "total": self.total,
            "rearmed": self.rearmed,
            "earlierRun": self.earlier_run,
            "fullAccess": self.full_access,
            "scriptCovered": self.script_covered,
        }


@dataclass(frozen=True, slots=True)
class Page:
    """Some open asks, oldest first; `total` counts all of them, `next` is the cursor of the following page."""

    asks: tuple[AskView, ...]
    total: int
    next: int | None


def view(event: Event, *, decision: Decision | None, position: int, total: int, rearmed: bool) -> AskView:
    """Show one `approval/asked`."""
    subject = Subject.of(event.data["subject"])
    return AskView(
        id=subject.ask,
        session=event.session,
        agent=subject.agent,
        tool=subject.tool,
        reason=words(subject),
        subject=event.data["subject"],
        digest=event.data["digest"],
        asked_at=event.time,
        state="open" if decision is None else "decided",
        decision=decision,
        position=position,
        total=total,
        rearmed=rearmed,
        earlier_run=event.data.get("earlierRun") is True,
        full_access=subject.mode == FULL_ACCESS,
        script_covered=bool(subject.files),
        cursor=event.pos,
    )


def words(subject: Subject) -> str | None:
    """Return the model's reason, as plain text, from the bytes that are signed; None where it gave none."""
    try:
        reason = parse_arguments(subject.arguments).get("justification")
    except SubjectInvalid:
        return None
    return reason if isinstance(reason, str) else None


async def open_asks(store: Store) -> list[Event]:
    """Return the asks that a person can answer now, oldest first, over all sessions.

    Not among them: those asked under `never`, those of a turn that is stopped or over, and those whose subject this
    version cannot show whole.
    """
    waiting = [event for event in await store.unpaired("asked:", "decided:") if _showable(event)]
    if not waiting:
        return []
    closed = await _closed_turns(store, {(event.session, _turn(event)) for event in waiting})
    return [event for event in waiting if (event.session, _turn(event)) not in closed]


def _showable(event: Event) -> bool:
    try:
        Subject.of(event.data["subject"])
    except (SubjectInvalid, KeyError, TypeError):
        return False
    return bool(event.data["policy"] != Policy.NEVER)


async def _closed_turns(store: Store, turns: Iterable[tuple[SessionId, int]]) -> set[tuple[SessionId, int]]:
    closed = set()
    for session, turn in turns:
        if await store.lookup(session, keys.abort(turn)) or await store.lookup(session, keys.end(turn)):
            closed.add((session, turn))
    return closed


def _turn(event: Event) -> int:
    turn: int = event.data["call"]["turn"]
    return turn
