"""The responder that waits for people: wake-ups, deadlines, and asks that outlive their worker (contract A26)."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from placet.approval import (
    Ask,
    Decision,
    Inbox,
    NotPending,
    Outcome,
    Receipt,
    Responder,
)
from placet.approval.outcome import WhoKind
from placet.session import SessionId
from placet.testing.clock import ManualClock
from placet.testing.responders import ChoosyResponderContract, ResponderContract, ScriptedResponder, an_ask
from tests.approval.waiting import shutdown, waiting
from tests.approval.world import ADA, BOB, World, a_store, new_world

pytestmark = pytest.mark.anyio

ALLOW, REJECT = Outcome.ALLOWED_ONCE, Outcome.REJECTED


async def test_a26_an_open_ask_outlives_its_worker_and_is_re_armed_with_the_same_id(world: World) -> None:
    async with shutdown(world):
        asked = await world.open_ask()
    assert (await world.inbox.open()).asks[0].id == asked.data["id"]
    worker = await world.reborn()
    worker.chain(worker.inbox.responder())
    decisions: list[Decision] = []
    async with anyio.create_task_group() as group:

        async def resume() -> None:
            decisions.append(await worker.dispatcher.resume(worker.log, worker.lease, asked, signal=worker.signal))

        group.start_soon(resume)
        with anyio.fail_after(60):
            while not (await worker.inbox.open()).asks[0].rearmed:
                await anyio.lowlevel.checkpoint()
        await worker.answer(asked)
    assert decisions[0].outcome is ALLOW
    assert len(await world.events("approval/asked")) == 1


async def test_an_answer_while_no_worker_lives_counts(world: World) -> None:
    async with shutdown(world):
        asked = await world.open_ask()
    assert isinstance(await world.answer(asked), Receipt)
    worker = await world.reborn()
    worker.chain(ScriptedResponder(REJECT))
    decision = await worker.dispatcher.resume(worker.log, worker.lease, asked, signal=worker.signal)
    assert decision.outcome is ALLOW


async def test_recovery_cancels_an_ask_whose_asker_is_gone(world: World) -> None:
    async with shutdown(world):
        asked = await world.open_ask()
    worker = await world.reborn()
    decision = await worker.dispatcher.cancel(worker.log, worker.lease, asked, detail="asker-gone")
    assert (decision.outcome, decision.detail) == (Outcome.CANCELLED, "asker-gone")
    assert (await worker.dispatcher.cancel(worker.log, worker.lease, asked, detail="again")) == decision


async def test_an_answer_from_another_process_wakes_the_waiting_worker(world: World, tmp_path: Path) -> None:
    async with a_store(tmp_path, world.clock) as other:
        elsewhere = Inbox(other, world.clock)
        async with waiting(world) as ask:
            asked = await world.open_ask()
            mine, world.inbox = world.inbox, elsewhere
            await world.answer(asked)
            world.inbox = mine
    assert ask.decision is not None and ask.decision.outcome is ALLOW


async def test_a_waiting_worker_reads_again_by_itself_when_the_doorbell_is_lost(tmp_path: Path) -> None:
    clock = ManualClock()
    async with a_store(tmp_path, clock) as store:
        world = await new_world(store, clock)
        world.inbox = Inbox(store, clock, reread=0.05)
        store._bells.ring = lambda: None  # type: ignore[method-assign]
        store._threads.writer._ring = lambda: None
        async with waiting(world) as ask:
            while not (found := await store.unpaired("asked:", "decided:")):
                await anyio.lowlevel.checkpoint()
            other = Inbox(store, clock)
            world.inbox, _ = other, world.inbox
            await world.answer(found[0])
        assert ask.decision is not None and ask.decision.outcome is ALLOW


async def test_apr_12_a_deadline_gives_unavailable_expired_never_rejected(world: World) -> None:
    world.inbox = Inbox(world.store, world.clock, deadline=60)
    async with waiting(world) as ask:
        asked = await world.open_ask()
        await world.clock.wait_for_sleeper()
        await world.clock.advance(61)
    assert ask.decision is not None
    assert (ask.decision.outcome, ask.decision.detail) == (Outcome.UNAVAILABLE, "expired")
    assert ask.decision.who.kind is WhoKind.SYSTEM
    late = await world.answer(asked)
    assert isinstance(late, NotPending)


async def test_a_deadline_counts_from_the_ask_also_after_a_restart(world: World) -> None:
    async with shutdown(world):
        asked = await world.open_ask()
    await world.clock.advance(61)
    worker = await world.reborn()
    worker.inbox = Inbox(worker.store, worker.clock, deadline=60)
    worker.chain(worker.inbox.responder())
    decision = await worker.dispatcher.resume(worker.log, worker.lease, asked, signal=worker.signal)
    assert decision.detail == "expired"


async def test_an_inbox_passes_on_what_it_does_not_serve(world: World) -> None:
    inbox = Inbox(world.store, world.clock, serves=lambda session: session == SessionId("s-other"))
    world.chain(inbox.responder(), ScriptedResponder(REJECT))
    assert (await world.decide()).outcome is REJECT


class TestTheInboxIsAResponder(ChoosyResponderContract):
    """The inbox keeps the contract of every responder."""

    @pytest.fixture
    def responder(self, world: World) -> Responder:
        return Inbox(world.store, world.clock, serves=lambda session: session == SessionId("s-test")).responder()

    @pytest.fixture
    def not_served(self) -> Ask:
        return an_ask(SessionId("s-other"))


class TestAScriptIsAResponder(ResponderContract):
    """So does the scripted one."""

    @pytest.fixture
    def responder(self) -> Responder:
        return ScriptedResponder(ALLOW)


async def test_aud_01_after_a_restart_settled_asks_stay_settled(tmp_path: Path) -> None:
    clock = ManualClock()
    async with a_store(tmp_path, clock) as store:
        world = await new_world(store, clock)
        async with waiting(world):
            allowed = await world.open_ask()
            await world.answer(allowed)
        async with waiting(world):
            rejected = await world.open_ask()
            await world.answer(rejected, "rejected")
    async with a_store(tmp_path, clock) as store:
        inbox = Inbox(store, clock)
        assert (await inbox.open()).total == 0
        for asked, outcome in ((allowed, "rejected"), (rejected, "allowed-once")):
            world.inbox = inbox
            late = await world.answer(asked, outcome, key="later", who=BOB)
            assert isinstance(late, NotPending) and late.decision is not None and late.decision.who == ADA
        pairs = [e for e in await store.read(world.session) if e.type in ("approval/asked", "approval/decided")]
        assert [e.data["id"] for e in pairs] == [allowed.data["id"]] * 2 + [rejected.data["id"]] * 2
