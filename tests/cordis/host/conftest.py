"""Sessions with real host halves, on each backend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.sandbox import Landlock
from tests.conftest import missing
from tests.cordis.host.house import HostHouse, host_house


@pytest.fixture
async def host(tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[HostHouse]:
    """A session under bubblewrap."""
    async with host_house(tmp_path, "bubblewrap") as house:
        yield house


@pytest.fixture(params=["bubblewrap", "landlock"])
async def each(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[HostHouse]:
    """A session under each backend in turn."""
    if request.param == "bubblewrap":
        request.getfixturevalue("needs_bubblewrap")
    elif not (found := Landlock(tmp_path).probe()).usable:
        missing("landlock", found.why)
    async with host_house(tmp_path, request.param) as house:
        yield house
