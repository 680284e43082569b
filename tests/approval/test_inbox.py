"""The inbox: a view of the log, the answers of people, the responder that waits for them (contract A25 to A27)."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from placet.approval import (
    BadResponse,
    Inbox,
    NotPending,
    Outcome,
    Receipt,
)
from placet.approval.outcome import Who, WhoKind
from placet.session import AskId, StoreGone
from placet.session.stores.sqlite import SqliteStore
from placet.testing.clock import ManualClock
from placet.testing.faults import Fault, FaultyStore
from tests.approval.waiting import shutdown, waiting
from tests.approval.world import ADA, BOB, World, a_store, new_world

pytestmark = pytest.mark.anyio

ALLOW, REJECT = Outcome.ALLOWED_ONCE, Outcome.REJECTED


async def test_an_open_ask_is_shown_with_its_whole_subject(world: World) -> None:
    async with waiting(world):
        asked = await world.open_ask()
        page = await world.inbox.open()
        (view,) = page.asks
        assert (view.id, view.subject, view.digest) == (asked.data["id"], asked.data["subject"], asked.data["digest"])
        assert (view.position, view.total, page.total, page.next, view.state) == (1, 1, 1, None, "open")
        assert (view.full_access, view.rearmed, view.script_covered) == (True, False, False)
        assert await world.inbox.get(view.id) == view
        await world.answer(asked)
    assert (await world.inbox.open()).total == 0
    decided = await world.inbox.get(asked.data["id"])
    assert decided is not None and decided.decision is not None
    assert (decided.state, decided.decision.outcome, decided.position) == ("decided", ALLOW, 0)


async def test_an_answer_is_the_decision_and_comes_with_a_receipt(world: World) -> None:
    async with waiting(world) as ask:
        asked = await world.open_ask()
        receipt = await world.answer(asked)
    assert ask.decision is not None
    assert receipt == Receipt(asked.data["id"], ALLOW, ask.decision.time, ADA, "page", "page-key")
    (decided,) = await world.events("approval/decided")
    assert (decided.data["key"], decided.data["strength"], decided.data["digest"]) == (
        "k-1",
        "page-key",
        asked.data["digest"],
    )


async def test_a_note_reaches_the_decision(world: World) -> None:
    async with waiting(world) as ask:
        await world.answer(await world.open_ask(), "rejected", feedback="use /tmp")
    assert ask.decision is not None and ask.decision.feedback == "use /tmp"


async def test_the_same_key_again_gets_the_same_receipt(world: World) -> None:
    async with waiting(world):
        asked = await world.open_ask()
        first = await world.answer(asked)
        assert await world.answer(asked) == first
    assert await world.answer(asked) == first
    assert len(await world.events("approval/decided")) == 1
    assert await world.events("approval/refused") == []


async def test_the_loser_is_told_who_decided_what_and_the_log_notes_it(world: World) -> None:
    async with waiting(world):
        asked = await world.open_ask()
        await world.answer(asked, "rejected")
        lost = await world.answer(asked, "allowed-once", who=BOB, key="k-2")
    assert isinstance(lost, NotPending) and lost.decision is not None
    assert (lost.decision.outcome, lost.decision.who) == (REJECT, ADA)
    (refused,) = await world.events("approval/refused")
    assert (refused.data["who"]["name"], refused.data["why"], refused.data["outcome"]) == (
        "Bob",
        "decided",
        "allowed-once",
    )


async def test_another_persons_equal_key_is_another_answer(world: World) -> None:
    async with waiting(world):
        asked = await world.open_ask()
        await world.answer(asked)
        assert isinstance(await world.answer(asked, who=BOB), NotPending)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"digest": "0" * 64}, "digest"),
        ({"digest": ""}, "digest"),
        ({"outcome": "cancelled"}, "only allowed-once or rejected"),
        ({"outcome": "unavailable"}, "only allowed-once or rejected"),
        ({"outcome": "ALLOWED-ONCE"}, "only allowed-once or rejected"),
        ({"key": ""}, "key"),
        ({"key": "x" * 201}, "key"),
        ({"feedback": "but only once"}, "only with a rejection"),
        ({"outcome": "rejected", "feedback": "x" * 5000}, "more than"),
    ],
)
async def test_a27_an_answer_that_cannot_be_one_is_refused_and_the_ask_stays_open(
    world: World, change: dict[str, str], why: str
) -> None:
    async with waiting(world) as ask:
        asked = await world.open_ask()
        answer = await world.answer(asked, **change)
        assert isinstance(answer, BadResponse) and why in answer.why
        assert (await world.inbox.open()).total == 1
        assert len(await world.events("approval/refused")) == 1
        await world.answer(asked)
    assert ask.decision is not None and ask.decision.outcome is ALLOW


async def test_a27_an_id_that_no_log_holds_is_a_bad_response(world: World) -> None:
    answer = await world.inbox.answer(
        AskId("a-nothing"),
        outcome="allowed-once",
        digest="0" * 64,
        key="k",
        who=ADA,
        channel="page",
        evidence="signature",
        strength="page-key",
    )
    assert answer == BadResponse("there is no ask with this id")


async def test_attack_30_ten_thousand_wrong_answers_leave_one_note_a_minute(world: World) -> None:
    async with waiting(world):
        asked = await world.open_ask()
        for _ in range(50):
            await world.answer(asked, digest="0" * 64)
        assert len(await world.events("approval/refused")) == 1
        await world.clock.advance(60)
        await world.answer(asked, digest="0" * 64)
        await world.answer(asked, digest="0" * 64, key="k-2")
        assert len(await world.events("approval/refused")) == 3
        await world.answer(asked)


async def test_apr_06_of_twenty_answers_at_once_one_wins(world: World, tmp_path: Path) -> None:
    """Ten allow, ten reject, from two processes' stores on one file."""
    other = await SqliteStore.open(tmp_path / "placet.db", clock=world.clock)
    answers: list[object] = []
    async with waiting(world) as ask:
        asked = await world.open_ask()

        async def send(n: int) -> None:
            inbox = world.inbox if n % 4 < 2 else Inbox(other, world.clock)
            outcome = "allowed-once" if n % 2 else "rejected"
            answers.append(
                await inbox.answer(
                    asked.data["id"],
                    outcome=outcome,
                    digest=asked.data["digest"],
                    key=f"k-{n}",
                    who=ADA,
                    channel="page",
                    evidence="signature",
                    strength="page-key",
                )
            )

        async with anyio.create_task_group() as group:
            for n in range(20):
                group.start_soon(send, n)
    await other.aclose()
    (receipt,) = [a for a in answers if isinstance(a, Receipt)]
    assert ask.decision is not None and ask.decision.outcome is receipt.outcome
    losers = [a for a in answers if isinstance(a, NotPending)]
    assert len(losers) == 19
    assert {a.decision.outcome for a in losers if a.decision} == {receipt.outcome}
    assert len(await world.events("approval/decided")) == 1


async def test_apr_02_an_answer_after_the_stop_is_refused_and_nothing_is_decided_twice(world: World) -> None:
    async with waiting(world) as ask:
        asked = await world.open_ask()
        await world.stop()
    assert ask.decision is not None and ask.decision.outcome is Outcome.CANCELLED
    late = await world.answer(asked)
    assert isinstance(late, NotPending) and late.decision == ask.decision
    assert late.decision is not None and late.decision.stopped_by == "Ada"
    view = await world.inbox.get(asked.data["id"])
    assert view is not None and view.decision is not None and view.decision.stopped_by == "Ada"
    assert len(await world.events("approval/decided")) == 1


async def test_apr_02_an_answer_between_the_stop_and_its_cancelled_is_refused(world: World) -> None:
    """No worker lives: the stop is in the log, nobody has settled the ask yet."""
    async with shutdown(world):
        asked = await world.open_ask()
    await world.stop()
    assert await world.answer(asked) == NotPending(None, "stopped")
    assert (await world.inbox.open()).total == 0
    assert await world.events("approval/decided") == []


async def test_an_ask_of_an_ended_turn_is_not_shown_and_not_answered(world: World) -> None:
    async with shutdown(world):
        asked = await world.open_ask()
    await world.end()
    assert (await world.inbox.open()).total == 0
    assert await world.answer(asked) == NotPending(None, "ended")


async def test_pol_02_what_was_asked_under_never_is_never_shown(world: World) -> None:
    await world.switch("never")
    world.chain(world.inbox.responder())
    await world.decide()
    assert (await world.inbox.open()).total == 0


async def test_asks_are_paged_oldest_first_and_counted_from_the_log(tmp_path: Path) -> None:
    clock = ManualClock()
    async with a_store(tmp_path, clock) as store:
        worlds = [await new_world(store, clock) for _ in range(3)]
        inbox = Inbox(store, clock)
        async with anyio.create_task_group() as group:
            for world in worlds:
                world.chain(inbox.responder())
                for _ in range(3):
                    group.start_soon(world.request)
            async with store.doorbell() as bell:
                while len(await store.unpaired("asked:", "decided:")) < 9:
                    await bell.wait(5)
            seen, after = [], None
            while True:
                page = await inbox.open(after=after, limit=4)
                seen += page.asks
                assert page.total == 9
                if (after := page.next) is None:
                    break
            assert [view.position for view in seen] == list(range(1, 10))
            assert [view.cursor for view in seen] == sorted(view.cursor for view in seen)
            group.cancel_scope.cancel()


async def test_an_answer_that_the_store_cannot_take_is_not_recorded_and_can_be_sent_again(world: World) -> None:
    faulty = FaultyStore(world.store)
    world = await new_world(faulty, world.clock)
    async with waiting(world):
        asked = await world.open_ask()
        faulty.plan(Fault.REFUSE, "approval/decided")
        with pytest.raises(StoreGone):
            await world.answer(asked)
        faulty.plan(Fault.LOSE_ACK, "approval/decided")
        with pytest.raises(StoreGone):
            await world.answer(asked)
        assert isinstance(await world.answer(asked), Receipt)
    assert len(await world.events("approval/decided")) == 1


async def test_a_model_is_no_kind_of_decider() -> None:
    assert {kind.value for kind in WhoKind} == {"person", "policy", "rule", "system"}
    with pytest.raises(ValueError, match="model"):
        Who.of({"kind": "model", "name": "adviser"})
