"""Who can answer an ask: small equals in a declared order, each answers or passes on.

No responder is a model. Whatever a responder does that is not an answer in the vocabulary (it raises, it returns
something else) counts as `unavailable`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from placet.approval.errors import UnknownResponder
from placet.approval.outcome import SYSTEM, Outcome, Policy, Who
from placet.approval.subject import Subject
from placet.kernel.chain import CallNext
from placet.session.event import Event
from placet.session.ids import AskId, SessionId


@dataclass(frozen=True, slots=True)
class Ask:
    """One open ask, as its `approval/asked` holds it. `asked_at` is epoch milliseconds."""

    id: AskId
    session: SessionId
    subject: Subject
    digest: str
    asked_at: int
    policy: Policy
    event: Event
    rearmed: bool = False

    @classmethod
    def of(cls, event: Event, *, rearmed: bool = False) -> Ask:
        """Read an ask out of its event; a subject of another shape raises `SubjectInvalid`."""
        data = event.data
        return cls(
            id=AskId(data["id"]),
            session=event.session,
            subject=Subject.of(data["subject"]),
            digest=data["digest"],
            asked_at=event.time,
            policy=Policy(data["policy"]),
            event=event,
            rearmed=rearmed,
        )

    @property
    def turn(self) -> int:
        """Return the turn that the ask belongs to."""
        return self.subject.call.turn


@dataclass(frozen=True, slots=True)
class Answer:
    """What a responder says; it becomes a decision only when its `approval/decided` is in the log."""

    outcome: Outcome
    who: Who
    channel: str
    evidence: str
    strength: str
    detail: str | None = None
    feedback: str | None = None


@dataclass(frozen=True, slots=True)
class InLog:
    """A responder's word that the decision is in the log; the dispatcher reads it there and believes only that."""


Reply = Answer | InLog


class Responder(Protocol):
    """One link of the chain."""

    @property
    def name(self) -> str:
        """The name under which the configuration places this responder."""
        ...

    async def answer(self, ask: Ask, call_next: CallNext[Reply]) -> Reply:
        """Answer the ask, or `return await call_next()` to pass it on. Cancelled when the turn is stopped."""
        ...


def unavailable(detail: str) -> Answer:
    """Return the answer of placet itself where nobody answered."""
    return Answer(Outcome.UNAVAILABLE, SYSTEM, channel="worker", evidence="no answer", strength="none", detail=detail)


class Responders:
    """The responders at hand, in the order that the configuration declares by their names."""

    def __init__(self, order: Sequence[str] = ("inbox",)) -> None:
        self._order = tuple(order)
        self._present: dict[str, Responder] = {}

    def register(self, responder: Responder) -> Callable[[], None]:
        """Give a responder its declared place; the returned undo takes it out for every later ask (A15)."""
        if responder.name not in self._order:
            raise UnknownResponder(responder.name, self._order)
        if responder.name in self._present:
            raise ValueError(f"two responders are called {responder.name!r}")
        self._present[responder.name] = responder

        def undo() -> None:
            if self._present.get(responder.name) is responder:
                del self._present[responder.name]

        return undo

    def configure(self, order: Sequence[str]) -> None:
        """Declare another order; it touches only asks that come later."""
        self._order = tuple(order)

    def chain(self) -> tuple[Responder, ...]:
        """Return the responders that a new ask meets, first to last."""
        return tuple(self._present[name] for name in self._order if name in self._present)


class Scoped:
    """A responder that sees only the asks of one session (A14)."""

    def __init__(self, session: SessionId, inner: Responder) -> None:
        self._session, self._inner = session, inner

    @property
    def name(self) -> str:
        """The inner responder's name."""
        return self._inner.name

    async def answer(self, ask: Ask, call_next: CallNext[Reply]) -> Reply:
        """Let the inner responder answer for its session, pass everything else on."""
        return await (self._inner.answer(ask, call_next) if ask.session == self._session else call_next())
