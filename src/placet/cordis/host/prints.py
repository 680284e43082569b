"""What a half prints, by whatever code: lines in placet's own log, each with the plugin's tag, within bounds."""

from __future__ import annotations

import asyncio
import logging
import os
import time

from placet.cordis.host.errors import LineBroken
from placet.cordis.host.limits import Bucket, Limits

logger = logging.getLogger("placet.plugin")

LONGEST = 2_000
_READ = 1 << 16


class Prints:
    """Reads a pipe until it is closed; `failed` becomes the error when too much is printed."""

    def __init__(self, descriptor: int, plugin: str, limits: Limits) -> None:
        self._fd, self._tag, self._limits = descriptor, f"[cordis:{plugin}]", limits
        now = time.monotonic()
        self._bytes, self._lines = Bucket(limits.printed, now), Bucket(limits.printed_lines, now)
        self._rest = b""
        self._dropped = 0
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(descriptor, self._ready)

    async def watch(self) -> None:
        """Wait for too much. Raises `LineBroken`."""
        await asyncio.shield(self._over)

    def say(self, text: str) -> None:
        """Put in a line of placet's own."""
        logger.info("%s [%s]", self._tag, text)

    def close(self) -> None:
        """Read what is there still, and stop."""
        while self._fd >= 0 and self._ready():
            pass
        self._let_go()
        self._over.cancel()
        if self._rest:
            self._log(self._rest)
        self._tell_dropped()

    def _ready(self) -> bool:
        """Take what can be read now; whether there may be more."""
        try:
            data = os.read(self._fd, _READ)
        except BlockingIOError:
            return False
        if not data:
            self._let_go()
            return False
        if not self._bytes.take(len(data), time.monotonic()):
            self._let_go()
            if not self._over.done():
                self._over.set_exception(LineBroken(f"it printed more than {_words(self._limits.printed[0])} a second"))
            return False
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._log(line)
        if len(self._rest) > LONGEST * 4:
            self._log(self._rest)
            self._rest = b""
        return True

    def _let_go(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._fd = -1

    def _log(self, line: bytes) -> None:
        if not self._lines.take(1, time.monotonic()):
            self._dropped += 1
            return
        self._tell_dropped()
        text = line[: LONGEST * 4].decode(errors="backslashreplace")[:LONGEST]
        shown = "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)
        logger.info("%s %s", self._tag, shown)

    def _tell_dropped(self) -> None:
        if self._dropped:
            logger.info("%s [%d lines were dropped: too many at once]", self._tag, self._dropped)
            self._dropped = 0


def _words(size: float) -> str:
    return f"{int(size) >> 10} KiB"
