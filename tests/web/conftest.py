"""Fixtures of the web tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.rig import House, running


@pytest.fixture
async def house(tmp_path: Path, anyio_backend: str) -> AsyncIterator[House]:
    """A running server of this test's own."""
    async with running(tmp_path) as house:
        yield house


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> AsyncIterator[House]:
    """A running server for tests that leave nothing behind which another could notice."""
    async with running(tmp_path_factory.mktemp("shared")) as house:
        yield house
