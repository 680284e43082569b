"""One helper process and the line to it."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from placet.sandbox.backend import Exit, Launch, Process
from placet.sandbox.errors import HelperFailed, SandboxUnavailable
from placet.sandbox.execution.interpreter import interpreter
from placet.sandbox.policy import Profile, Workdir

from .requests import Message

LARGEST = 8 << 20
"""Bytes of one message at most, in either direction."""
_HEAD = struct.Struct("=I")
_SAID = 4_096
_NAMES = ("fence", "reading", "writing", "looking", "scripts", "serving")
_BEGIN = """
import json, os, struct, sys, types
def take(size):
    data = b""
    while len(data) < size:
        part = os.read(1, size - len(data))
        if not part: sys.exit()
        data += part
    return data
package = types.ModuleType("inside")
package.__path__ = []
sys.modules["inside"] = package
for name, source in json.loads(take(struct.unpack("=I", take(4))[0])):
    module = types.ModuleType("inside." + name)
    module.__package__ = "inside"
    sys.modules["inside." + name] = module
    setattr(package, name, module)
    exec(compile(source, name + ".py", "exec"), module.__dict__)
package.serving.serve()
"""

Spawn = Callable[[Launch], Awaitable[Process]]


class Helper:
    """A started helper. It answers one request at a time; after an error it can only be ended."""

    def __init__(self, process: Process, line: socket.socket, said: int) -> None:
        self._process, self._line, self._said = process, line, said
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def start(cls, spawn: Spawn, profile: Profile, folder: Workdir, env: Mapping[str, str], umask: int) -> Helper:
        """Start one in the workspace, confined by `spawn`. Raises what that raises; nothing is left then."""
        ours, theirs = socket.socketpair()
        said, said_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        argv = (interpreter(profile), "-I", "-S", "-X", "utf8", "-c", _BEGIN)
        launch = Launch(profile, argv, env, folder, theirs.fileno(), said_in, umask)
        try:
            process = await spawn(launch)
        except BaseException:
            ours.close()
            os.close(said)
            raise
        finally:
            theirs.close()
            os.close(said_in)
        ours.setblocking(False)
        helper = cls(process, ours, said)
        try:
            await helper._send(_program())
        except BaseException:
            await helper.end()
            raise
        return helper

    async def ask(self, message: Message) -> dict[str, Any]:
        """Send a request and wait for its answer. Raises `HelperFailed`, or `SandboxUnavailable` if that broke."""
        text = json.dumps(message.words).encode()
        if len(text) > LARGEST:
            raise HelperFailed(f"The request has {len(text)} bytes; the limit is {LARGEST}")
        try:
            await self._send(text)
            if message.handed is not None:
                socket.send_fds(self._line, [b"+"], [message.handed])
            head = await self._exactly(_HEAD.size)
            answer = await self._exactly(min(_HEAD.unpack(head)[0], LARGEST + 1)) if head else b""
        except ConnectionError:
            answer = b""
        if not answer:
            raise self._broken(await self._process.wait())
        try:
            value = json.loads(answer)
        except (ValueError, RecursionError) as failure:
            raise HelperFailed("The helper gave no valid answer") from failure
        if not isinstance(value, dict):
            raise HelperFailed("The helper gave no valid answer")
        return value

    async def end(self) -> None:
        """Kill it, and return when nothing of it is left."""
        self._line.close()
        try:
            await self._process.clear()
        finally:
            os.close(self._said)

    async def _send(self, text: bytes) -> None:
        with suppress(ConnectionError):  # a helper that is gone is found out at its answer
            await self._loop.sock_sendall(self._line, _HEAD.pack(len(text)) + text)

    async def _exactly(self, size: int) -> bytes:
        """That many bytes; none if the helper is gone."""
        taken = bytearray()
        while len(taken) < size:
            part = await self._loop.sock_recv(self._line, min(size - len(taken), 1 << 20))
            if not part:
                return b""
            taken += part
        return bytes(taken)

    def _broken(self, ended: Exit) -> HelperFailed | SandboxUnavailable:
        said = b""
        with suppress(OSError):
            said = os.read(self._said, _SAID)
        lines = said.decode(errors="replace").strip().splitlines()
        last = lines[-1][:300] if lines else "it said nothing"
        if ended.broken:
            return SandboxUnavailable(f"The sandbox itself failed: {last}")
        if ended.signal in ("SIGXCPU", "SIGKILL"):
            return HelperFailed("The helper used more processor time or memory than it may, and was ended")
        return HelperFailed(f"The helper ended: {ended.signal or last}")


@functools.cache
def _program() -> bytes:
    folder = Path(__file__).parent / "inside"
    return json.dumps([[name, (folder / f"{name}.py").read_text(encoding="utf-8")] for name in _NAMES]).encode()
