"""A real store and a session in an open turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.testing.clock import ManualClock
from tests.approval.world import World, a_store, new_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Return a session with an open turn."""
    clock = ManualClock()
    async with a_store(tmp_path, clock) as store:
        yield await new_world(store, clock)
