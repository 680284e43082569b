"""A session with a pipeline and a probe."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.world import Probe, ToolWorld, tool_world


@pytest.fixture
async def tools(tmp_path: Path) -> AsyncIterator[ToolWorld]:
    """Return a session whose only tool is a `Probe`."""
    async with tool_world(tmp_path) as world:
        yield world


@pytest.fixture
def probe(tools: ToolWorld) -> Probe:
    """Return the probe of that session."""
    assert isinstance(tools.tool, Probe)
    return tools.tool
