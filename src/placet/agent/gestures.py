"""What people do to a session. None of it needs the lease, and all of it works while no worker lives.

Each gesture carries a key made by the client, so that sending it again changes nothing and gets the same answer. `by`
is `{"kind", "name", "channel"}`: who did it, and how they came in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from placet.agent import mailbox
from placet.agent.context import switch_text
from placet.agent.errors import MessageIdTaken
from placet.agent.mailbox import Target
from placet.approval.outcome import Policy
from placet.permission.knobs import Change, Knobs
from placet.sandbox.mode import SandboxMode
from placet.session import keys
from placet.session.errors import UnknownSession
from placet.session.event import Draft, Event
from placet.session.ids import MessageId, SessionId, new_message_id
from placet.session.store import Appended, Refused, Store

By = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stopped:
    """The stop is durable: nothing of this turn may ask or start any more."""

    turn: int


@dataclass(frozen=True, slots=True)
class NotRunning:
    """There is no open turn that could be stopped."""


async def send_message(
    store: Store, session: SessionId, text: str, id: MessageId, *, steer: bool = False, by: By
) -> MessageId:
    """Queue a person's message and wake the agent; with `steer` it goes into the turn that runs.

    The same id again is the same message. Raises `MessageIdTaken` where the id belongs to another text.
    """
    target = Target.NEXT_STEP if steer else Target.NEXT_TURN
    there = await once(store, session, [mailbox.put(id, text, target=target, wake=True, by=by)])
    if there is not None and there.data.get("put", {}).get("text") != text:
        raise MessageIdTaken(f"The message id {id} belongs to another text; use a new one.")
    return id


async def inject(store: Store, session: SessionId, text: str, id: MessageId, *, source: mailbox.Source) -> MessageId:
    """Queue a message that waits for the next wake (G4)."""
    await once(store, session, [mailbox.inject(id, text, source=source)])
    return id


async def stop(store: Store, session: SessionId, key: str, by: By, *, reason: str = "user") -> Stopped | NotRunning:
    """Stop the open turn for good, and take back the person's own queued messages; outcomes stay in the mailbox (A13).

    Returned only after the stop is durable. A turn that is stopped already gives the same answer again.
    """
    while (turn := await open_turn(store, session)) is not None:
        drafts = await stop_of(store, session, turn, key, by, reason=reason)
        match await store.append(session, drafts, present=[keys.turn(turn)], absent=[keys.end(turn)]):
            case Appended() | Refused(why="duplicate"):
                return Stopped(turn)
            case Refused(key="created"):
                raise UnknownSession(session)
            case Refused():
                continue  # the turn ended in between: look again
    return NotRunning()


async def stop_of(
    store: Store, session: SessionId, turn: int, key: str, by: By, *, reason: str = "user"
) -> list[Draft]:
    """Draft the stop of a turn, which takes back what the person has queued; the stop itself comes first."""
    drafts = [Draft("turn/abort", {"turn": turn, "reason": reason, "by": dict(by)}, keys.abort(turn))]
    if queued := (await waiting(store, session)).of_person():
        drafts.append(mailbox.cancel(queued, f"{turn}:{key}", by))
    return drafts


async def select_preset(knobs: Knobs, session: SessionId, preset: str, *, by: By, key: str) -> Change:
    """Select a preset, and tell the model in the same append if that changes the policy (A19, E10)."""
    return await knobs.select(session, preset, by=dict(by), key=key, also=policy_notice)


async def turn_knobs(
    knobs: Knobs,
    session: SessionId,
    *,
    mode: SandboxMode | None = None,
    policy: Policy | None = None,
    by: By,
    key: str,
) -> Change:
    """Set the mode, the policy or both, and tell the model in the same append if that changes the policy."""
    return await knobs.turn(session, mode=mode, policy=policy, by=dict(by), key=key, also=policy_notice)


def policy_notice(change: Change) -> list[Draft]:
    """The message that tells the model of another policy; it waits for the next wake."""
    if change.policy is None:
        return []
    return [mailbox.inject(new_message_id(), switch_text(*change.policy), source=mailbox.Source("plugin", "approval"))]


async def rename(store: Store, session: SessionId, title: str, by: By, key: str) -> None:
    """Give the session another title."""
    await once(
        store, session, [Draft("session/renamed", {"title": title, "by": dict(by)}, keys.client("renamed", key))]
    )


async def archive(store: Store, session: SessionId, by: By, key: str, *, archived: bool = True) -> None:
    """Put the session away, or take it out again."""
    data = {"archived": archived, "by": dict(by)}
    await once(store, session, [Draft("session/archived", data, keys.client("archived", key))])


async def set_model(store: Store, session: SessionId, model: str, by: By, key: str) -> None:
    """Let later steps ask another model. Whether the name is known is checked by who calls: `model_named`."""
    await once(store, session, [Draft("session/model", {"model": model, "by": dict(by)}, keys.client("model", key))])


async def once(store: Store, session: SessionId, drafts: Sequence[Draft]) -> Event | None:
    """Append drafts of a person; if one of them is there already, return that event. An unknown session raises."""
    match await store.append(session, drafts):
        case Appended():
            return None
        case Refused(why="duplicate", event=event) if event is not None:
            return event
        case Refused():
            raise UnknownSession(session)


async def open_turn(store: Store, session: SessionId) -> int | None:
    """The number of the turn that is open now, read from the store."""
    turns = [event for event in await store.unpaired("turn:", "end:") if event.session == session]
    return int(turns[-1].data["turn"]) if turns else None


async def waiting(store: Store, session: SessionId) -> mailbox.Mailbox:
    """The mailbox of a session, read from the store."""
    state, after = mailbox.MAILBOX.start(), 0
    while events := await store.feed(after, types={mailbox.INBOX}, session=session):
        for event in events:
            state = mailbox.MAILBOX.step(state, event)
        after = events[-1].pos
    return state
