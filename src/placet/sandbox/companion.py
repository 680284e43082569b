"""A confined Python that lives as long as it is wanted: a line to it, what it prints, and its end."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from .backend import Exit, Launch, Process
from .execution.allowance import Allowance
from .execution.interpreter import interpreter, own
from .linux import processes
from .policy import Profile

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
_TIE = "import ctypes\nctypes.CDLL(None).prctl(1, 9, 0, 0, 0)\n"
Spawn = Callable[[Launch], Awaitable[Process]]


class Companion:
    """A started one. `line` and `printed` do not block; whoever reads them stops doing so before `end`.

    Inside, the line is a descriptor of its own: what is printed, by C code too, goes to `printed` and never into it.
    `native` says that it is the Python that runs placet, so that it takes compiled code.
    """

    def __init__(
        self, process: Process, line: socket.socket, printed: int, allowance: Allowance, *, native: bool
    ) -> None:
        self._process, self._allowance = process, allowance
        self.line, self.printed, self.native = line, printed, native
        self._exit: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self._waiting: asyncio.Task[None] | None = None
        self._ended = False

    @classmethod
    async def start(
        cls,
        spawn: Spawn,
        profile: Profile,
        program: str,
        env: Mapping[str, str],
        allowance: Allowance,
        umask: int = -1,
    ) -> Companion:
        """Start one in the workspace, confined by `spawn`. Raises what that raises; nothing is left then.

        The program finds `line`, a descriptor, and `take(size)`, which reads from it. What nothing confines is at least
        ended with the thread that has started it, however the server ends (PR_SET_PDEATHSIG).
        """
        ours, theirs = socket.socketpair()
        printed, printed_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(printed_in, True)
        try:
            python = interpreter(profile)
            tie = "" if profile.mode.confines else _TIE
            argv = (python, "-I", "-S", "-X", "utf8", "-c", tie + _PROLOGUE + program)
            launch = Launch(
                profile, argv, env, profile.workspace, theirs.fileno(), printed_in, umask, allowance=allowance
            )
            process = await spawn(launch)
            processes.first_to_end(process.pid)
        except BaseException:
            ours.close()
            os.close(printed)
            await allowance.close()
            raise
        finally:
            theirs.close()
            os.close(printed_in)
        ours.setblocking(False)
        return cls(process, ours, printed, allowance, native=Path(python) == own())

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

    async def exceeded(self) -> str:
        """Return when it has had more than its bounds and was killed for that, and say of what."""
        return await self._allowance.passed(self._process)

    def refused(self) -> str | None:
        """What the kernel has refused it or has ended it for, in words; None where there is no such thing."""
        return self._allowance.refused()

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
            await self._allowance.close()
