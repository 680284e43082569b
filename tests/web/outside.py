"""A server and visitors in processes of their own, for what only real processes can show."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from placet.session.stores.sqlite import SqliteStore
from tests.web.rig import House, Voices, services_over

ROOT = Path(__file__).resolve().parents[2]
_PATHS = (str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", ""))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, _PATHS))}


async def visit_from(before: list[str], how: str, wish: dict[str, Any]) -> list[dict[str, Any]]:
    """Let a visitor ask, started by a command that goes before it; returns status and body of each answer."""
    command = [*before, sys.executable, "-m", "tests.web.visitor", how, json.dumps(wish)]
    with anyio.fail_after(60):
        done = await anyio.run_process(command, check=False, env=ENVIRONMENT, cwd=ROOT, stdin=subprocess.DEVNULL)
    assert done.stdout, done.stderr.decode()
    return [dict(json.loads(line)) for line in done.stdout.splitlines()]


@dataclass
class Outside:
    """A running server process: what it said at its start, and its lines since."""

    process: Process
    facts: dict[str, Any]
    lines: Lines
    folder: Path

    @property
    def secret(self) -> str:
        return str(self.facts["link"]).partition("#link=")[2]

    async def visit(self, how: str, **wish: Any) -> dict[str, Any]:
        """Let a process of that kind ask one thing; returns status and body."""
        return (await self.run(how, **wish))[0]

    async def run(self, how: str, **wish: Any) -> list[dict[str, Any]]:
        """Let a process of that kind ask; returns status and body of each answer."""
        wish = {"state": str(self.folder / "state"), **wish}
        return await visit_from([], how, wish)

    async def visit_socket(self, how: str, verb: str, path: str, body: Any = None) -> dict[str, Any]:
        """One request over the socket."""
        return (await self.visit_often(how, (verb, path, body)))[0]

    async def visit_often(self, how: str, *requests: tuple[str, str, Any]) -> list[dict[str, Any]]:
        """Several requests of one process over the socket."""
        return await self.run(how, socket=self.facts["socket"], requests=requests)

    async def visit_page(self, how: str, path: str, body: Any, *, secret: str | None = None) -> dict[str, Any]:
        """The same as a page that is linked first."""
        return await self.visit(how, url=self.facts["url"], secret=secret or self.secret, path=path, body=body)

    @asynccontextmanager
    async def store(self) -> AsyncIterator[House]:
        """The same store in this process, to put asks there and to look at the log."""
        async with await SqliteStore.open(self.folder / "state" / "placet.db") as store:
            services = services_over(store, self.folder / "state", Voices())
            yield House(services, None, store, services.crew)  # type: ignore[arg-type]

    async def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Signal the server and return its exit code."""
        self.process.send_signal(how)
        return await self.process.wait()


class Lines:
    """The lines of JSON that a process prints."""

    def __init__(self, stream: TextReceiveStream) -> None:
        self._stream = stream
        self._rest = ""

    async def next(self) -> dict[str, Any]:
        """Return the next line."""
        while "\n" not in self._rest:
            self._rest += await self._stream.receive()
        line, _, self._rest = self._rest.partition("\n")
        return dict(json.loads(line))


@asynccontextmanager
async def server(folder: Path, *, port: int = 0, **installation: Any) -> AsyncIterator[Outside]:
    """A server in a process of its own; leaving ends it."""
    command = [sys.executable, "-m", "tests.web.process", str(folder), str(port), json.dumps(installation)]
    async with await anyio.open_process(command, env=ENVIRONMENT, cwd=ROOT, stderr=None) as process:
        assert process.stdout is not None
        lines = Lines(TextReceiveStream(process.stdout))
        try:
            with anyio.fail_after(60):
                facts = await lines.next()
            yield Outside(process, facts, lines, folder)
        finally:
            if process.returncode is None:
                process.kill()
