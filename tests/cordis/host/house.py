"""A session with real host halves: a real store, pipeline and sandbox, in an open turn that this process drives."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from placet.approval import Outcome
from placet.cordis.host import Diagnosis, Ended, Halves, HostFailed, Limits, RunFacts, host_halves
from placet.cordis.host.half import Half
from placet.cordis.vocabulary import PackageId, PluginId, RunId
from placet.sandbox import Backend, Bubblewrap, Landlock, Sandbox, SandboxMode, Selection
from placet.sandbox.linux import processes
from placet.session import Event
from placet.testing.backends import TestPlaces
from placet.tools import BashTool, Registry
from placet.tools.files import file_tools
from placet.tools.turns import Turns
from tests.tools.world import ToolWorld, tool_world

QUICK = Limits(start=20.0, stop=3.0, ping=0.1, silence=3.0, answer=20.0)
"""Bounds for tests: generous where a slow machine could fail them, short where a test waits for the bound itself."""


def below(root: int) -> list[int]:
    """The numbers of what is below a process."""
    return [seen.pid for seen in processes.descendants([root])]


class HostHouse:
    """Starts halves and notes what they tell. Without `turn` no turn is open in this process."""

    def __init__(self, tools: ToolWorld, sandbox: Sandbox, limits: Limits) -> None:
        self.tools, self.sandbox, self.store = tools, sandbox, tools.world.store
        self.session, self.folder = tools.world.session, tools.folder
        bash = BashTool(sandbox, confines=lambda: True)
        self.tools.registry = Registry([bash, *file_tools(sandbox, confines=lambda: True)])
        self.script = self.tools.answers(Outcome.REJECTED)
        self.turns = Turns()
        self.limits = limits
        self.ended: list[Ended] = []
        self.changes = 0
        self.diagnosed: list[Diagnosis] = []
        self.news = anyio.Event()
        self._numbers = itertools.count(1)
        self.wire()

    def wire(self) -> None:
        """Put the halves on the pipeline as it is now."""
        self.halves: Halves = host_halves(self.sandbox, self.store, self.tools.pipeline, self.turns, limits=self.limits)

    def open_turn(self) -> None:
        """Let this process drive turn 1."""
        self.turns.enter(self.tools.context)

    async def start(
        self, source: str, *, plugin: str = "demo-1", mode: SandboxMode = SandboxMode.WORKSPACE_WRITE
    ) -> Half:
        """Start a half; raises `HostFailed`."""
        number = next(self._numbers)
        ids = PluginId(plugin), PackageId(f"pkg-{number}"), RunId(f"run-{number}")
        facts = RunFacts(self.session, *ids, textwrap.dedent(source), mode)
        return await self.halves.start(
            facts, on_ended=self._ended, on_change=self._changed, on_diagnosed=self._diagnosed
        )

    async def fails(self, source: str, **more: Any) -> HostFailed:
        """Start a half that does not come up, and return why."""
        try:
            half = await self.start(source, **more)
        except HostFailed as failure:
            assert self.halves.living() == ()
            return failure
        raise AssertionError(f"it came up: {half.status}")

    async def end_of(self, half: Half) -> Ended:
        """Return how a half that nobody stops ended, once nothing of it is left."""
        with anyio.fail_after(60):
            await half.over.wait()
        assert not below(half.pid)
        return self.ended[-1]

    async def until(self, what: Any) -> None:
        """Return as soon as the test is true; it is looked at after each piece of news."""
        with anyio.fail_after(60):
            while not what():
                self.news = anyio.Event()
                with anyio.move_on_after(0.2):
                    await self.news.wait()

    async def events(self, *types: str) -> list[Event]:
        """Return the events of these types."""
        return await self.tools.world.events(*types)

    def _ended(self, ended: Ended) -> None:
        self.ended.append(ended)
        self.news.set()

    def _changed(self) -> None:
        self.changes += 1
        self.news.set()

    def _diagnosed(self, diagnosis: Diagnosis) -> None:
        self.diagnosed.append(diagnosis)
        self.news.set()


@asynccontextmanager
async def host_house(path: Path, backend: str, limits: Limits = QUICK) -> AsyncIterator[HostHouse]:
    """Open a session in a folder of the test, confined by that backend."""
    state = path / "state"
    state.mkdir(mode=0o700)
    made: Backend = Bubblewrap(state) if backend == "bubblewrap" else Landlock(state)
    sandbox = Sandbox(TestPlaces(state), Selection([made]))
    async with tool_world(path) as tools:
        house = HostHouse(tools, sandbox, limits)
        async with house.halves.serving():
            yield house
        await sandbox.aclose()
