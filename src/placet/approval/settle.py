"""The one way in which an ask is settled: a single conditional append that everybody competes for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from placet.approval.events import asked_key, decided, decided_key
from placet.approval.outcome import Decision, WhoKind
from placet.approval.responder import Answer, Ask
from placet.session import keys
from placet.session.errors import LeaseLost
from placet.session.event import Draft, Event
from placet.session.store import Appended, Lease, Refused


class Append(Protocol):
    """The append of one session: a worker's log, or the store itself for what people do."""

    async def __call__(
        self,
        drafts: Sequence[Draft],
        *,
        present: Collection[str] = (),
        absent: Collection[str] = (),
        lease: Lease | None = None,
    ) -> Appended | Refused:
        """Append all or nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Won:
    """This answer is the decision in the log."""

    event: Event


@dataclass(frozen=True, slots=True)
class Lost:
    """Another answer was first; `event` is the decision that counts."""

    event: Event


@dataclass(frozen=True, slots=True)
class Barred:
    """No answer can count: the turn is stopped or over, or there is no such ask. `event` is what stood in the way."""

    why: Literal["stopped", "ended", "not-asked"]
    event: Event | None


Settled = Won | Lost | Barred


def undated(answer: Answer, *, digest: str, waited: int, key: str | None = None) -> Decision:
    """Return the decision that an answer would be; its time is the store's to say."""
    return Decision(
        outcome=answer.outcome,
        detail=answer.detail,
        who=answer.who,
        channel=answer.channel,
        evidence=answer.evidence,
        strength=answer.strength,
        time=0,
        digest=digest,
        feedback=answer.feedback,
        key=key,
        waited=max(0, waited),
    )


async def settle(
    append: Append,
    ask: Ask,
    answer: Answer,
    *,
    now: int,
    lease: Lease | None = None,
    key: str | None = None,
    stopping: bool = False,
    also: Sequence[Draft] = (),
) -> Settled:
    """Try to make an answer the decision of an ask; who loses learns who won.

    What is in `also` is in the log with the decision, or not at all: a stop with its rejection.

    Only the stop and recovery may pass `stopping`, for `cancelled`: everything else is refused in a stopped turn. A
    person's answer needs no lease; every other one carries it, and raises `LeaseLost` when it is no longer current.
    """
    absent = [decided_key(ask.id), keys.end(ask.turn)] + ([] if stopping else [keys.abort(ask.turn)])
    outcome = await append(
        [decided(ask.id, undated(answer, digest=ask.digest, waited=now - ask.asked_at, key=key)), *also],
        present=[asked_key(ask.id)],
        absent=absent,
        lease=None if answer.who.kind is WhoKind.PERSON else lease,
    )
    match outcome:
        case Appended(events):
            return Won(events[0])
        case Refused("lease"):
            raise LeaseLost(ask.session)
        case Refused(_, key=stood, event=event) if stood == decided_key(ask.id):
            assert event is not None
            return Lost(event)
        case Refused(_, key=stood, event=event) if stood == keys.abort(ask.turn):
            return Barred("stopped", event)
        case Refused(_, key=stood, event=event) if stood == keys.end(ask.turn):
            return Barred("ended", event)
        case _:
            return Barred("not-asked", None)
