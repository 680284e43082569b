"""Asking when the store fails, the lease is lost, the worker is shut down or too much is asked (contract A16, A26)."""

from __future__ import annotations

import anyio
import pytest

from placet.approval import (
    NotAsked,
    Outcome,
    SubjectTooLarge,
)
from placet.session import LeaseLost, StoreGone
from placet.testing.faults import Fault, FaultyStore
from placet.testing.responders import Holds, Passes, ScriptedResponder, says
from tests.approval.world import World, new_world

pytestmark = pytest.mark.anyio

ALLOW, REJECT = Outcome.ALLOWED_ONCE, Outcome.REJECTED


@pytest.mark.parametrize("event", ["approval/asked", "approval/decided"])
async def test_a16_an_append_that_fails_once_is_tried_again(world: World, event: str) -> None:
    faulty = FaultyStore(world.store)
    world = await new_world(faulty, world.clock)
    world.chain(ScriptedResponder(ALLOW))
    faulty.plan(Fault.REFUSE, event)
    assert (await world.decide()).outcome is ALLOW
    assert len(await world.events("approval/asked", "approval/decided")) == 2


@pytest.mark.parametrize("event", ["approval/asked", "approval/decided"])
async def test_a16_an_append_without_acknowledgement_is_found_by_its_key(world: World, event: str) -> None:
    faulty = FaultyStore(world.store)
    world = await new_world(faulty, world.clock)
    world.chain(ScriptedResponder(ALLOW))
    faulty.plan(Fault.LOSE_ACK, event)
    assert (await world.decide()).outcome is ALLOW
    assert len(await world.events("approval/asked", "approval/decided")) == 2


@pytest.mark.parametrize("event", ["approval/asked", "approval/decided"])
async def test_a16_a_store_that_stays_away_ends_the_worker_and_no_outcome_is_returned(world: World, event: str) -> None:
    faulty = FaultyStore(world.store)
    world = await new_world(faulty, world.clock)
    world.chain(ScriptedResponder(ALLOW))
    faulty.plan(Fault.REFUSE, event)
    faulty.plan(Fault.REFUSE, event)
    with pytest.raises(StoreGone):
        await world.request()
    assert await world.events("approval/decided") == []


async def test_a_worker_without_the_lease_asks_and_settles_nothing(world: World) -> None:
    held = Holds(Passes())
    world.chain(ScriptedResponder(held))
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            with pytest.raises(LeaseLost):
                await world.request()

        group.start_soon(ask)
        await held.reached.wait()
        await world.reborn()
        held.released.set()
    assert await world.events("approval/decided") == []
    with pytest.raises(LeaseLost):
        await world.request()
    assert len(await world.events("approval/asked")) == 1


async def test_a26_shutdown_settles_nothing(world: World) -> None:
    held = Holds()
    world.chain(ScriptedResponder(held))
    async with anyio.create_task_group() as group:
        group.start_soon(world.request)
        await held.reached.wait()
        group.cancel_scope.cancel()
    assert await world.events("approval/decided") == []


async def test_a_subject_that_is_too_large_is_never_asked(world: World) -> None:
    with pytest.raises(SubjectTooLarge):
        await world.request(subject_of=lambda ask: world.subject(ask, arguments="x" * (1 << 20)))
    assert await world.events("approval/asked") == []


async def test_attack_30_above_the_limit_of_open_asks_nothing_is_asked(world: World) -> None:
    held = Holds(says(REJECT))
    world.chain(ScriptedResponder(held), max_open=3)
    results: list[object] = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            results.append(await world.request())
            if len(results) == 7:
                held.released.set()

        for _ in range(10):
            group.start_soon(ask)
    assert results.count(NotAsked("too-many")) == 7
    assert len(await world.events("approval/asked")) == 3
