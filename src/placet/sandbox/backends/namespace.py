"""A running bubblewrap, and everything in the namespace below it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from contextlib import suppress

import anyio
from anyio import to_thread

from placet.kernel.scope import Scope
from placet.sandbox.backend import Exit
from placet.sandbox.execution.child import ended, exit_of, reaped, signal_name
from placet.sandbox.linux import processes

from .look import MOVED

_FATAL = frozenset(range(1, 32)) - {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
_GONE_SECONDS = 5.0


class NamespaceProcess:
    """One bwrap with the pid namespace below it: when bwrap dies, all of it does."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        status: int,
        told: int | None,
        scope: Scope,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._popen, self._status, self._told, self._scope = popen, status, told, scope
        self._pidfd = os.pidfd_open(popen.pid)
        self._facts: dict[str, int] = {}
        self._unread = self._looked = b""
        self._init: int | None = None
        self._loop = loop
        os.set_blocking(status, False)
        loop.call_soon_threadsafe(loop.add_reader, status, self._read_status)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def root(self) -> int:
        return self._popen.pid

    async def wait(self) -> Exit:
        await ended(self._pidfd)
        code = reaped(self._popen)
        self._read_status()
        self._looked += b"" if self._told is None else available(self._told)
        if self._looked.startswith(MOVED):
            return Exit(None, moved=True)
        if "exit-code" not in self._facts:
            return Exit(None, broken=True) if code >= 0 else exit_of(code)
        inner = self._facts["exit-code"]
        # bwrap tells a death by signal as shells do, as 128 and the number.
        return Exit(None, signal_name(inner - 128)) if inner - 128 in _FATAL else Exit(inner)

    def terminate(self) -> None:
        init = self._facts.get("child-pid")
        inside = processes.descendants([init]) if init is not None else []
        for seen in inside:
            processes.send(seen, signal.SIGTERM)
        if not inside:
            self._kill()  # the command has not started yet

    def count(self) -> int:
        inside = self._facts.get("child-pid")
        return 0 if inside is None else processes.count_seen_by(inside)

    def kill(self) -> None:
        with suppress(OSError):  # the namespace dies with its first process
            if self._init is not None:
                signal.pidfd_send_signal(self._init, signal.SIGKILL)

    async def clear(self) -> None:
        with anyio.CancelScope(shield=True):
            try:
                if self._popen.returncode is None:
                    await to_thread.run_sync(self._kill)
                    await ended(self._pidfd)
                    reaped(self._popen)
                self._read_status()
                await self._namespace_gone()
            finally:
                self._close()

    def _kill(self) -> None:
        """Kill bwrap and what is below it: in the first moment of its life its child does not die with it yet."""
        below = processes.freeze(self.pid)
        self._popen.kill()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_GONE_SECONDS)  # only then is what was below it left to us, to be taken away
        for seen in below:
            processes.send(seen, signal.SIGKILL)
        processes.await_end(below, _GONE_SECONDS)

    async def _namespace_gone(self) -> None:
        """Wait for the first process of the namespace; the kernel lets it end only after all others in it."""
        if self._init is None:
            return
        with anyio.move_on_after(_GONE_SECONDS):
            await ended(self._init)
        processes.reap_handle(self._init)

    def _read_status(self) -> None:
        """Take the lines of bwrap's status channel as they come; a handle on the namespace is taken at once."""
        if self._status < 0:
            return
        data = available(self._status)
        if not data:
            self._loop.remove_reader(self._status)
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            with suppress(ValueError):
                self._facts |= json.loads(line)
        if self._init is None and "child-pid" in self._facts:
            with suppress(OSError):
                self._init = os.pidfd_open(self._facts["child-pid"])

    def _close(self) -> None:
        self._loop.remove_reader(self._status)
        for descriptor in (self._status, self._told, self._pidfd, self._init):
            if descriptor is not None:
                os.close(descriptor)
        self._status, self._told, self._init = -1, None, None
        self._scope.close()


def take_away(status: bytes) -> None:
    """Wait for the namespace of a bwrap that has ended, and reap its first process if it was left to us."""
    for line in status.splitlines():
        with suppress(ValueError):
            seen = processes.look(json.loads(line).get("child-pid", 0))
            if seen is not None:
                processes.await_end([seen], _GONE_SECONDS)


def available(descriptor: int) -> bytes:
    """What can be read from a pipe without waiting."""
    os.set_blocking(descriptor, False)
    with suppress(BlockingIOError):
        return os.read(descriptor, 1 << 16)
    return b""
