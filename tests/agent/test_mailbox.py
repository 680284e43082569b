"""The mailbox is a fold: puts, takes and cancels by message id."""

from __future__ import annotations

import itertools

from placet.agent import mailbox
from placet.agent.mailbox import MAILBOX, Mailbox, Source, Target
from placet.session.event import Draft, Event
from placet.session.fold import folded
from placet.session.ids import MessageId, SessionId

BY = {"kind": "person", "name": "owner", "channel": "page"}
PLUGIN = Source("plugin", "approval")


def box(*drafts: Draft) -> Mailbox:
    numbers = itertools.count()
    events = [Event(SessionId("s"), n := next(numbers), 0, d.type, dict(d.data), d.key, n) for d in drafts]
    return folded(MAILBOX, events)


def follow_up(id: str) -> Draft:
    return mailbox.put(MessageId(id), f"text of {id}", target=Target.NEXT_TURN, wake=True, by=BY)


def steer(id: str) -> Draft:
    return mailbox.put(MessageId(id), f"text of {id}", target=Target.NEXT_STEP, wake=True, by=BY)


def inject(id: str) -> Draft:
    return mailbox.inject(MessageId(id), f"text of {id}", source=PLUGIN)


def ids(messages: tuple[mailbox.Queued, ...]) -> list[str]:
    return [message.id for message in messages]


def test_g2_follow_up_and_steer_wake_inject_does_not() -> None:
    assert box(follow_up("a")).wakes and not box(follow_up("a")).steers
    assert box(steer("a")).wakes and box(steer("a")).steers
    assert not box(inject("a")).wakes and not box(inject("a")).steers


def test_g6_a_turn_claims_all_step_messages_and_one_turn_message() -> None:
    state = box(follow_up("t1"), inject("i"), follow_up("t2"), steer("s"))
    assert ids(state.claim(opening=True)) == ["i", "s", "t1"]
    assert ids(state.claim(opening=False)) == ["i", "s"]


def test_g1_messages_leave_by_their_id_never_by_position() -> None:
    state = box(follow_up("a"), follow_up("b"), *mailbox.take(1, 1, box(follow_up("b")).waiting))
    assert ids(state.waiting) == ["a"]


def test_g7_claim_and_message_are_drafts_of_one_append() -> None:
    drafts = mailbox.take(3, 2, box(steer("a"), inject("b")).waiting)
    assert [draft.key for draft in drafts] == ["take:3.2", "message:a", "message:b"]
    assert drafts[2].data["source"] == {"kind": "plugin", "name": "approval"}
    assert mailbox.take(3, 2, []) == []


def test_a_cancel_of_what_was_taken_already_changes_nothing() -> None:
    waiting = box(follow_up("a")).waiting
    state = box(follow_up("a"), *mailbox.take(1, 1, waiting), mailbox.cancel([MessageId("a")], "k", BY))
    assert state == Mailbox()


def test_a_stop_takes_back_only_the_persons_own_messages() -> None:
    assert box(follow_up("mine"), inject("outcome"), steer("too")).of_person() == ("mine", "too")
