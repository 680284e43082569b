"""The doorbell: an event inside the process, a datagram between processes. It carries nothing and may get lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path


class LocalBell:
    """One waiter of this process."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()

    async def wait(self, timeout: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._rung.wait()
        self._rung.clear()

    def ring(self) -> None:
        """Wake the waiter, from any thread."""
        with contextlib.suppress(RuntimeError):  # its loop is closed, so nobody waits
            self._loop.call_soon_threadsafe(self._rung.set)


class Bells:
    """All bells of one store in this process, and the sockets of the other processes beside it.

    A process that wants to hear makes one datagram socket in the directory and removes it at its end; one that is
    found dead is removed by who rings. Without a usable directory the timeout of `wait` stands in for the bell.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._bells: set[LocalBell] = set()
        self._lock = threading.Lock()
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._socket: socket.socket | None = None
        self._folder: int | None = None
        self._voice: socket.socket | None = None
        self._closed = False

    @asynccontextmanager
    async def bell(self) -> AsyncIterator[LocalBell]:
        """A bell that rings from now on."""
        bell = LocalBell()
        with self._lock:
            self._listen()
            self._bells.add(bell)
        try:
            yield bell
        finally:
            with self._lock:
                self._bells.discard(bell)

    def ring(self) -> None:
        """Wake every bell of this process and of the others. Never raises and never waits."""
        self._ring_here()
        with contextlib.suppress(OSError):  # no directory, no other process that hears
            for name in os.listdir(self._directory):
                if name != self._name:
                    self._ring_there(name)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    os.unlink(self._directory / self._name)
                with contextlib.suppress(OSError):  # wakes the listening thread, which then closes the socket
                    self._socket.shutdown(socket.SHUT_RDWR)
            if self._voice is not None:
                self._voice.close()
            self._voice = None
            if self._folder is not None:
                os.close(self._folder)
                self._folder = None

    def _ring_here(self) -> None:
        for bell in tuple(self._bells):
            bell.ring()

    def _ring_there(self, name: str) -> None:
        if self._voice is None:
            self._voice = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            self._voice.sendto(b"", self._address(name))
        except ConnectionRefusedError:  # its owner is dead
            with contextlib.suppress(OSError):
                os.unlink(self._directory / name)
        except OSError:  # full, gone, or no permission: the other one reads again by itself after its timeout
            pass

    def _address(self, name: str) -> str:
        """A path that fits into a socket address, however deep the directory lies."""
        if self._folder is None:
            self._folder = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        short = f"/proc/self/fd/{self._folder}/{name}"
        return short if os.path.isdir(f"/proc/self/fd/{self._folder}") else str(self._directory / name)

    def _listen(self) -> None:
        if self._socket is not None or self._closed:
            return
        ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            ear.bind(self._address(self._name))
        except OSError:  # the timeout of `wait` stands in for the bell
            ear.close()
            return
        self._socket = ear
        threading.Thread(target=self._hear, args=(ear,), name="placet-doorbell", daemon=True).start()

    def _hear(self, ear: socket.socket) -> None:
        with ear:
            while not self._closed:
                try:
                    ear.recv(1)
                except OSError:
                    return
                self._ring_here()
