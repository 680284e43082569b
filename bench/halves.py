"""How long it takes from `run` to running, beside a bare `python -I -S` that answers one line.

After a define, after each start, and while a request for consent is read, an interpreter waits for the next run of the
session: for two minutes, in four sessions at most. "Cold" is a run that finds none.
"""

from __future__ import annotations

import asyncio
import gc
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from bench.ratio import Timing, print_count, print_ratio, print_timing
from placet.approval.dispatcher import Dispatcher
from placet.approval.outcome import Policy
from placet.approval.responder import Responders
from placet.approval.subject import CallKey
from placet.cordis.answers import Receipt
from placet.cordis.definition import Definition, Package
from placet.cordis.host import Halves, host_halves
from placet.cordis.running.activation import NEXT
from placet.cordis.service import Cordis
from placet.kernel.clock import SYSTEM_CLOCK
from placet.kernel.signal import AbortSignal
from placet.sandbox import Backend, Bubblewrap, Landlock, Sandbox, SandboxMode, Selection, Workdir
from placet.sandbox.linux import awaited
from placet.session import Draft, Lease, SessionId, SessionLog, keys, new_id
from placet.session.stores.sqlite import SqliteStore
from placet.tools import Pipeline, Registry
from placet.tools.tool import CallContext
from placet.tools.turns import Turns

ROUNDS = 40
BY = {"kind": "person", "name": "owner", "channel": "page"}
SOURCE = """
async def apply(ctx):
    async def greet(args):
        return f"Hello {args['name']}"

    name = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    harness.tool("greet", "Greet somebody by name.", name, greet)
    harness.handle("greet", greet)
"""
ANSWER = "import sys; print(sys.stdin.readline())"


@dataclass(frozen=True, slots=True)
class _Places:
    state: Path

    @property
    def config_file(self) -> Path:
        return self.state / "config.toml"


class _NoChecks:
    async def complaint(self, call: CallContext, definition: Definition) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class _World:
    cordis: Cordis
    halves: Halves
    session: SessionId
    package: Package

    async def run(self) -> None:
        """Run the package as a person does in the panel; it is up when this returns."""
        package = self.package
        done = await self.cordis.run(self.session, package.plugin, package.id, "run", by=BY, policy=Policy.ASK)
        assert isinstance(done, Receipt) and done.status == "running", done

    async def stop(self) -> None:
        await self.cordis.stop(self.session, self.package.plugin, by=BY, told=False)

    async def alone(self) -> None:
        """Let nothing wait for the next run."""
        await self.halves.discard(self.session)

    async def define(self) -> None:
        """What a define does for the next run; an agent takes longer between the two."""
        await self.halves.prepare(self.session, SandboxMode.WORKSPACE_WRITE)
        await self.moment()

    async def moment(self) -> None:
        """The time that a person takes between a start and the next one: an interpreter waits at its end."""
        await asyncio.sleep(NEXT)
        with anyio.fail_after(30):
            while not self._one_waits():  # noqa: ASYNC110 - it says so on a line that belongs to the next run
                await asyncio.sleep(0.02)

    def _one_waits(self) -> bool:
        lines = [one.line for one in self.halves.spares.waiting()]
        return bool(select.select(lines, [], [], 0)[0])


@asynccontextmanager
async def _world(folder: Path, backend: Callable[[Path], Backend]) -> AsyncIterator[_World]:
    state, workspace = folder / "state", folder / "workspace"
    state.mkdir(mode=0o700)
    workspace.mkdir()
    place = Workdir.of(workspace)
    sandbox = Sandbox(_Places(state), Selection([backend(state)], {}))
    store = await SqliteStore.open(folder / "placet.db", clock=SYSTEM_CLOCK)
    session = SessionId(new_id("s", SYSTEM_CLOCK))
    created = {"v": 1, "cwd": str(workspace), "cwdId": place.id, "title": None, "gitRoots": [], "by": BY}
    await store.append(session, [Draft("session/created", created, keys.created())])
    lease = await store.acquire(session, "bench", lambda _: False)
    assert isinstance(lease, Lease)
    await store.append(session, [Draft("turn/start", {"turn": 1}, keys.turn(1))], lease=lease)
    pipeline = Pipeline(Registry(), Dispatcher(store, Responders(()), SYSTEM_CLOCK), SYSTEM_CLOCK)
    halves = host_halves(sandbox, store, pipeline, Turns())
    cordis = Cordis(store, halves, _NoChecks())
    async with halves.serving(), cordis.serving():
        call = CallContext(
            key=CallKey(1, 1, 0), session=session, cwd=workspace, workdir=place, mode=SandboxMode.WORKSPACE_WRITE,
            policy=Policy.ASK, escalated=False, signal=AbortSignal(), log=await SessionLog.open(store, session),
            lease=lease,
        )  # fmt: skip
        package = await cordis.define(call, Definition("Greeter", "Greets.", host=SOURCE, prefix="greet"))
        assert isinstance(package, Package), package
        yield _World(cordis, halves, session, package)
    await sandbox.aclose()
    await store.aclose()


async def _bare() -> None:
    with awaited.hidden():
        words = [sys.executable, "-I", "-S", "-c", ANSWER]
        done = subprocess.run(words, input=b"hello\n", capture_output=True, check=True)
    assert done.stdout.startswith(b"hello")


async def _timed(what: Callable[[], Awaitable[None]]) -> float:
    gc.collect(0)
    began = time.perf_counter()
    await what()
    return time.perf_counter() - began


async def _measure(name: str, world: _World) -> None:
    ways = ("bare python -I -S", f"{name}, after a define", f"{name}, again", f"{name}, cold")
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(ROUNDS + 3):
        times = [await _timed(_bare)]
        await world.define()
        times.append(await _timed(world.run))
        await world.moment()
        await world.stop()
        times.append(await _timed(world.run))
        await world.stop()
        await world.alone()
        times.append(await _timed(world.run))
        await world.stop()
        await world.alone()
        if number >= 3:
            for way, seconds in zip(ways, times, strict=True):
                taken[way].append(seconds)
    base, first, again, cold = (Timing(label, tuple(sorted(values))) for label, values in taken.items())
    for timing in (base, first, again, cold):
        print_timing(timing)
    print_ratio(f"{name}: run to running, after a define", first, base, aim=3.0)
    print_ratio(f"{name}: run to running, again", again, base, aim=3.0)
    print_ratio(f"{name}: run to running, cold", cold, base)


async def main() -> None:
    kinds: dict[str, Callable[[Path], Backend]] = {"bubblewrap": Bubblewrap, "landlock": Landlock}
    for name, backend in kinds.items():
        folder = Path(tempfile.mkdtemp(prefix="placet-bench-", dir=Path.home()))
        try:
            found = backend(folder).probe()
            if not found.usable:
                print(f"  {name} is not measured: {found.why}")
                continue
            async with _world(folder, backend) as world:
                await _measure(name, world)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print_count("descriptors open at the end", len(os.listdir("/proc/self/fd")), "descriptors")


if __name__ == "__main__":
    sys.exit(anyio.run(main))
