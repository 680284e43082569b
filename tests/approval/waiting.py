"""Asks that wait in the background while a test does something else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from placet.approval import Decision
from tests.approval.world import World


class Waiting:
    """An ask that waits for people; `decision` is there once it was decided."""

    decision: Decision | None = None


@asynccontextmanager
async def waiting(world: World, **more: object) -> AsyncIterator[Waiting]:
    """Ask in the background; at the end the ask has to be decided."""
    found = Waiting()
    world.chain(world.inbox.responder())

    async def ask() -> None:
        found.decision = await world.decide(**more)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            yield found


@asynccontextmanager
async def shutdown(world: World) -> AsyncIterator[None]:
    """Ask in the background; at the end the worker is gone."""
    world.chain(world.inbox.responder())
    async with anyio.create_task_group() as group:
        group.start_soon(world.request)
        yield
        group.cancel_scope.cancel()
