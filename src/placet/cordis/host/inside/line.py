"""The line to placet: one JSON object per line, requests and answers in both directions."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

from .failures import ServiceError, code_of
from .lossless import check

LONGEST = 1 << 20
AT_ONCE = 32
"""Calls that are under way at once; further ones wait here."""
LINE_GONE = 83
"""The exit code of a half whose line is gone: there is nobody left to speak to."""
RATE, BURST = 100.0, 300.0
"""Messages in a second, and how many may come at once before that counts."""

Serve = Callable[[str, dict[str, Any]], Awaitable[Any]]
Failed = Callable[[BaseException], dict[str, Any]]


class Line:
    """Sends and hears. `serve` answers what placet asks, `failed` words what went wrong with that."""

    def __init__(self, descriptor: int, serve: Serve, failed: Failed) -> None:
        self._fd, self._serve, self._failed = descriptor, serve, failed
        self._loop = asyncio.get_running_loop()
        self._heard, self._unsent = bytearray(), bytearray()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._number = 0
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._left, self._filled = BURST, self._loop.time()
        self.own: set[asyncio.Task[Any]] = set()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._ready)

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        """Ask placet and return its answer. Raises `ServiceError`, and `NotLossless` for what cannot be sent."""
        check(params)
        async with self._turns:
            await self._pace()
            self._number += 1
            number = self._number
            answer = self._waiting[number] = self._loop.create_future()
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            try:
                return await answer
            except asyncio.CancelledError:
                self.tell("cancel", {"id": number})
                raise
            finally:
                del self._waiting[number]

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Tell placet something that needs no answer."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def spare(self) -> bool:
        """Take one message from what may be sent now; False where there is none left."""
        now = self._loop.time()
        self._left = min(BURST, self._left + (now - self._filled) * RATE)
        self._filled = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    async def _pace(self) -> None:
        while not self.spare():  # noqa: ASYNC110 - time passes, nothing else happens
            await asyncio.sleep((1 - self._left) / RATE)

    def _send(self, message: dict[str, Any]) -> None:
        text = json.dumps(message, separators=(",", ":")).encode()
        if len(text) >= LONGEST:
            raise ServiceError("too-large", f"a message has {len(text)} bytes; the limit is {LONGEST - 1}")
        self._unsent += text + b"\n"
        self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._fd, self._unsent)]
        except BlockingIOError:
            self._loop.add_writer(self._fd, self._flush)
            return
        except OSError:
            os._exit(LINE_GONE)
        self._loop.remove_writer(self._fd)

    def _ready(self) -> None:
        try:
            data = os.read(self._fd, 1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            os._exit(LINE_GONE)
        self._heard += data
        while (end := self._heard.find(b"\n")) >= 0:
            message = json.loads(self._heard[:end])
            del self._heard[: end + 1]
            self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if "method" not in message:
            answer = self._waiting.get(number) if isinstance(number, int) else None
            if answer is not None and not answer.done():
                if "error" in message:
                    answer.set_exception(ServiceError(message["error"]["code"], message["error"]["message"]))
                else:
                    answer.set_result(message["result"])
            return
        if message["method"] == "cancel":
            asked = self._asked.get(message["params"]["id"])
            if asked is not None:
                asked.cancel()
            return
        task = self._loop.create_task(self._answer(number, message["method"], message["params"]))
        self.own.add(task)
        task.add_done_callback(self.own.discard)
        if number is not None:
            self._asked[number] = task
            task.add_done_callback(lambda _: self._asked.pop(number, None))

    async def _answer(self, number: int | None, method: str, params: dict[str, Any]) -> None:
        try:
            result = await self._serve(method, params)
            if number is None:
                return
            check(result)
            self._send({"jsonrpc": "2.0", "id": number, "result": result})
        except asyncio.CancelledError:
            self._fail(number, {"code": "cancelled", "message": "the call was cancelled"})
        except BaseException as failure:
            self._fail(number, {"code": code_of(failure), **self._failed(failure)})

    def _fail(self, number: int | None, error: dict[str, Any]) -> None:
        if number is not None:
            self._send({"jsonrpc": "2.0", "id": number, "error": error})
