"""A confined Python that lives as long as it is wanted: a line to it, what it prints, and its end."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from .backend import Exit, Launch, Process
from .execution.bounds import own_memory
from .execution.interpreter import interpreter, own
from .linux import processes
from .policy import Profile

EVERY = 0.25
"""Seconds between two looks at what it has."""
_PROLOGUE = """
import os, sys
line = os.dup(1)
os.dup2(2, 1)
def take(size):
    data = b""
    while len(data) < size:
        part = os.read(line, size - len(data))
        if not part: os._exit(0)
        data += part
    return data
"""
Spawn = Callable[[Launch], Awaitable[Process]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one companion with everything that it starts may have at once: processes, and bytes of memory."""

    processes: int = 16
    memory: int = 1 << 30


class Companion:
    """A started one. `line` and `printed` do not block; whoever reads them stops doing so before `end`.

    Inside, the line is a descriptor of its own: what is printed, by C code too, goes to `printed` and never into it.
    `native` says that it is the Python that runs placet, so that it takes compiled code.
    """

    def __init__(self, process: Process, line: socket.socket, printed: int, *, native: bool) -> None:
        self._process = process
        self.line, self.printed, self.native = line, printed, native
        self._exit: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self._waiting: asyncio.Task[None] | None = None
        self._ended = False

    @classmethod
    async def start(
        cls, spawn: Spawn, profile: Profile, program: str, env: Mapping[str, str], umask: int = -1
    ) -> Companion:
        """Start one in the workspace, confined by `spawn`. Raises what that raises; nothing is left then.

        The program finds `line`, a descriptor, and `take(size)`, which reads from it.
        """
        ours, theirs = socket.socketpair()
        printed, printed_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(printed_in, True)
        try:
            python = interpreter(profile)
            argv = (python, "-I", "-S", "-X", "utf8", "-c", _PROLOGUE + program)
            launch = Launch(profile, argv, env, profile.workspace, theirs.fileno(), printed_in, umask)
            process = await spawn(launch)
        except BaseException:
            ours.close()
            os.close(printed)
            raise
        finally:
            theirs.close()
            os.close(printed_in)
        ours.setblocking(False)
        return cls(process, ours, printed, native=Path(python) == own())

    @property
    def pid(self) -> int:
        """The process under which everything of it is found."""
        return self._process.root

    async def wait(self) -> Exit:
        """Return when its first process has ended; what that left behind may still be alive."""
        if self._waiting is None and not self._ended:
            self._waiting = asyncio.get_running_loop().create_task(self._await_exit())
        return await asyncio.shield(self._exit)

    async def _await_exit(self) -> None:
        """Several may wait for the end, and the process is waited for once; who is killed first ends by that."""
        try:
            ended = await self._process.wait()
        except asyncio.CancelledError:
            ended = Exit(None, "SIGKILL")
        self._exit.set_result(ended)

    async def exceeded(self, share: Share) -> str:
        """Return when it has more than its share of something, and say of what."""
        while True:
            await anyio.sleep(EVERY)
            found = await to_thread.run_sync(_exceeded, self._process.root, share)
            if found is not None:
                return found

    async def send(self, data: bytes) -> None:
        """Send bytes as they are. Raises `ConnectionError` if it is gone."""
        await asyncio.get_running_loop().sock_sendall(self.line, data)

    async def end(self) -> None:
        """Kill it with everything that it has started, and return when nothing of it is left."""
        if self._ended:
            return
        self._ended = True
        self.line.close()
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait([self._waiting])
        if not self._exit.done():
            self._exit.set_result(Exit(None, "SIGKILL"))
        try:
            await self._process.clear()
        finally:
            os.close(self.printed)


def _exceeded(root: int, share: Share) -> str | None:
    tree = processes.below(root)
    if len(tree) > share.processes:
        return f"more than {share.processes} processes at once"
    used = sum(own_memory(pid) for pid in tree)
    return f"more than {share.memory >> 20} MiB of memory" if used > share.memory else None
