"""Two clients at the same instant, on two processes that share a store: one wins, the other is told."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.cordis.answers import Answered, NotPending
from placet.cordis.service import Cordis
from placet.cordis.vocabulary import AttemptStatus
from placet.session.stores.sqlite import SqliteStore
from tests.cordis.world import AGENT, CLIENT, PANEL, CordisWorld, Halves, cordis_world

pytestmark = pytest.mark.anyio
ROUNDS = 200 if os.environ.get("PLACET_SOAK") == "1" else 20


async def test_i15_of_two_clients_one_wins_the_other_is_told_and_declined_never_stands_beside_running_code(
    tmp_path: Path,
) -> None:
    chance = random.Random(7)
    async with cordis_world(tmp_path, serving=False) as world:
        path = world.store.path  # type: ignore[attr-defined]
        async with await SqliteStore.open(path) as other, world.process("one") as one:
            first = world.halves
            async with world.process("two", store=other, halves=Halves()) as two:
                for number in range(ROUNDS):
                    await _round(world, (one, two), (first, world.halves), chance, number)


async def _round(
    world: CordisWorld, clients: tuple[Cordis, Cordis], halves: tuple[Halves, Halves], chance: random.Random, n: int
) -> None:
    package = await world.define(f"ok {n}", CLIENT)
    run = await world.asked(package)
    said: list[Any] = []

    async def answer(cordis: Cordis, *, yes: bool) -> None:
        given = await world._answer(run, {})
        await anyio.sleep(chance.random() * 0.004)
        if yes:
            said.append(await cordis.consent(run, width="package", **given))
        else:
            said.append(await cordis.decline(run, **given))

    words = [(True, False), (False, True), (True, True), (False, False)][n % 4]
    async with anyio.create_task_group() as group:
        for cordis, yes in zip(clients, words, strict=True):
            group.start_soon(lambda cordis=cordis, yes=yes: answer(cordis, yes=yes))
    (winner,) = [one for one in said if isinstance(one, Answered)]
    (loser,) = [one for one in said if isinstance(one, NotPending)]
    assert loser.decision is not None and loser.decision.outcome == winner.outcome
    if winner.outcome == "declined":
        assert (await world.attempt(run)).status is AttemptStatus.REJECTED
        assert all(run not in one.started for one in halves)
    else:
        await world.until(run, AttemptStatus.CLIENT_PENDING)
        assert sum(run in one.living for one in halves) == 1
        driver = next(client for client, one in zip(clients, halves, strict=True) if run in one.living)
        await driver.undefine(world.session, package.plugin, by=AGENT, told=False)
        assert all(run not in one.living for one in halves)


async def test_a_consent_and_a_stop_at_the_same_instant_never_leave_a_stopped_attempt_running(tmp_path: Path) -> None:
    chance = random.Random(11)
    async with cordis_world(tmp_path) as world:
        for n in range(ROUNDS):
            package = await world.define(f"ok {n}", CLIENT)
            run = await world.asked(package)
            said: list[Any] = []

            async def consent(run: str = run, said: list[Any] = said) -> None:
                await anyio.sleep(chance.random() * 0.004)
                said.append(await world.consent(run))

            async with anyio.create_task_group() as group:
                group.start_soon(consent)
                await anyio.sleep(chance.random() * 0.004)
                await world.cordis.stop(world.session, package.plugin, by=PANEL, told=True)
            attempt = await world.attempt(run)
            assert attempt.status in (AttemptStatus.CANCELLED, AttemptStatus.STOPPED)
            assert isinstance(said[0], Answered) == (attempt.status is AttemptStatus.STOPPED)
            assert run not in world.halves.living
            await world.cordis.undefine(world.session, package.plugin, by=AGENT, told=False)
            assert world.halves.living == {}
