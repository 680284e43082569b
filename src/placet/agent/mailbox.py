"""The agent's durable queue of messages: a fold of `agent/inbox` events, never a list of its own (contract group G).

Two lists in order: messages for the next turn and messages for the next step. A steer goes to the next step and wakes
the agent; an inject goes there too and waits for the next wake. A message is taken out of the queue and written as
`user/message` in one append, so it is in exactly one of the two places at any moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from placet.session import keys
from placet.session.event import Draft, Event
from placet.session.ids import MessageId

INBOX = "agent/inbox"


class Target(StrEnum):
    """Where a message waits."""

    NEXT_TURN = "next-turn"
    NEXT_STEP = "next-step"


@dataclass(frozen=True, slots=True)
class Source:
    """Who wrote a message: a person ("user"), a plugin or the system, with a name where there are several."""

    kind: str
    name: str | None = None

    def json(self) -> dict[str, Any]:
        return {"kind": self.kind} if self.name is None else {"kind": self.kind, "name": self.name}


PERSON = Source("user")


@dataclass(frozen=True, slots=True)
class Queued:
    """One message that waits."""

    id: MessageId
    target: Target
    wake: bool
    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class Mailbox:
    """What waits now, oldest first."""

    waiting: tuple[Queued, ...] = ()

    @property
    def wakes(self) -> bool:
        """Whether something waits that opens a turn."""
        return any(message.wake for message in self.waiting)

    @property
    def steers(self) -> bool:
        """Whether something waits that keeps a running turn going."""
        return any(message.wake and message.target is Target.NEXT_STEP for message in self.waiting)

    def claim(self, *, opening: bool) -> tuple[Queued, ...]:
        """What the next step takes: all that waits for a step and, where a turn opens, one message for a turn (G6)."""
        steps = tuple(message for message in self.waiting if message.target is Target.NEXT_STEP)
        turns = tuple(message for message in self.waiting if message.target is Target.NEXT_TURN)
        return steps + turns[:1] if opening else steps

    def of_person(self) -> tuple[MessageId, ...]:
        """The ids of the person's own messages: the only ones that a stop takes back."""
        return tuple(message.id for message in self.waiting if message.source.kind == PERSON.kind)


class MailboxFold:
    """Follows puts, takes and cancels by message id; an id that is not waiting (any more) is passed over."""

    def start(self) -> Mailbox:
        return Mailbox()

    def step(self, state: Mailbox, event: Event) -> Mailbox:
        if event.type != INBOX:
            return state
        if (message := event.data.get("put")) is not None:
            return replace(state, waiting=(*state.waiting, _queued(message)))
        gone = set(event.data.get("take") or event.data.get("cancel") or ())
        return replace(state, waiting=tuple(message for message in state.waiting if message.id not in gone))


MAILBOX = MailboxFold()


def put(
    id: MessageId,
    text: str,
    *,
    target: Target,
    wake: bool,
    source: Source = PERSON,
    by: Mapping[str, Any] | None = None,
) -> Draft:
    """The event that queues a message. Its key is the message's id, so that sending it again changes nothing."""
    message: dict[str, Any] = {"id": id, "target": target.value, "wake": wake, "text": text, "source": source.json()}
    if by is not None:
        message["by"] = dict(by)
    return Draft(INBOX, {"put": message}, keys.put(id))


def inject(id: MessageId, text: str, *, source: Source, by: Mapping[str, Any] | None = None) -> Draft:
    """The event that queues a message without waking: it goes in with whatever wakes the agent next (G4)."""
    return put(id, text, target=Target.NEXT_STEP, wake=False, source=source, by=by)


def take(turn: int, step: int, messages: Iterable[Queued]) -> list[Draft]:
    """The events that move messages from the queue into the conversation, for one append."""
    messages = tuple(messages)
    if not messages:
        return []
    return [
        Draft(INBOX, {"take": [message.id for message in messages]}, keys.take(turn, step)),
        *(said(message.id, message.text, message.source, turn) for message in messages),
    ]


def said(id: MessageId, text: str, source: Source, turn: int) -> Draft:
    """A message of the conversation in the user's role."""
    data = {"id": id, "text": text, "source": source.json(), "turn": turn}
    return Draft("user/message", data, keys.message(id))


def cancel(ids: Iterable[MessageId], key: str, by: Mapping[str, Any]) -> Draft:
    """The event that takes messages back before they were read."""
    return Draft(INBOX, {"cancel": list(ids), "by": dict(by)}, keys.client("cancel", key))


def _queued(message: Mapping[str, Any]) -> Queued:
    source = message["source"]
    return Queued(
        MessageId(message["id"]),
        Target(message["target"]),
        message["wake"],
        message["text"],
        Source(source["kind"], source.get("name")),
    )
