"""A session with a pipeline and a probe."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.sandbox.mode import SandboxMode
from tests.tools.jobs import JobWorld, job_world
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


@pytest.fixture
async def jobs(tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[JobWorld]:
    async with job_world(tmp_path) as made:
        yield made


@pytest.fixture
async def full_jobs(tmp_path: Path) -> AsyncIterator[JobWorld]:
    """Return a world in full access, so that the processes of jobs can be seen."""
    async with job_world(tmp_path) as made:
        await made.tools.set_mode(SandboxMode.DANGER_FULL_ACCESS)
        yield made
