"""placet's end of the line to one half: bounded messages in, answers out, and calls in both directions.

Whatever comes is hostile until it was looked at: too long, too much, no JSON, no object, nested too deep, an answer
to nothing. Each of these breaks the line with one sentence.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from placet.approval.outcome import ASKER_GONE
from placet.cordis.host.errors import HalfRaised, LineBroken, Refusal
from placet.cordis.host.limits import LONGEST_LINE, Bucket, Limits, Share
from placet.kernel.signal import AbortSignal
from placet.session.codec import dumps, lossless
from placet.session.errors import NotLossless

_READ = 1 << 16
_AT_ONCE = 8 << 10
"""Bytes of a message that are parsed without leaving the event loop."""
_PIECE, _MOMENT = 4 << 10, 0.002
"""What comes in smaller pieces than this is read after a moment only: a message byte by byte costs as a whole one."""
_UNREAD = 80 << 20
"""Bytes that may wait for a half that does not read: more than the longest answers to all that may be under way."""
_SHARE = Share(0.25)
"""What all halves of this process may take of its time with what they say."""

_PLAIN = (type(None), bool, int, float)
"""What takes no time to write."""

Message = dict[str, Any]
Serve = Callable[[str, Message, AbortSignal], Awaitable[Any]]
Hear = Callable[[str, Message], None]


class Line:
    """Calls the half, serves its calls by `serve`, and tells its notices to `hear`.

    The constructor starts nothing; `run` works until the line breaks.
    """

    def __init__(self, line: socket.socket, limits: Limits, serve: Serve, hear: Hear) -> None:
        self._line, self._limits, self._serve, self._hear = line, limits, serve, hear
        self._loop = asyncio.get_running_loop()
        now = time.monotonic()
        self._messages, self._bytes = Bucket(limits.messages, now), Bucket(limits.bytes, now)
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._serving: dict[int, AbortSignal] = {}
        self._unsent: deque[bytes] = deque()
        self._unread = 0
        self._something, self._room = asyncio.Event(), asyncio.Event()
        self._closed = False

    async def run(self) -> None:
        """Hear and send until the line breaks; raises `LineBroken` then, and fails what waits for an answer."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._send_all)
                try:
                    await self._hear_all(group)
                finally:
                    self.close()  # before the group waits for what is being done for the half
        finally:
            self.close()

    def close(self) -> None:
        """Fail what waits, and stop what is being done for the half."""
        self._closed = True
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(LineBroken("the half ended before it answered"))
        for signal in list(self._serving.values()):
            signal.abort(ASKER_GONE)

    async def call(self, method: str, params: Message, seconds: float, *, bounded: bool = True) -> Any:
        """Call the half. Raises `HalfRaised`, `LineBroken`, `TimeoutError`, and `Refusal` where too many wait."""
        if self._closed:
            raise LineBroken("the half has ended")
        if bounded and len(self._waiting) >= self._limits.pending:
            raise Refusal("busy", f"{self._limits.pending} calls of this plugin wait for an answer already")
        self._number += 1
        number = self._number
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[number] = answer
        try:
            self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            with anyio.fail_after(seconds):
                return await answer
        except (TimeoutError, anyio.get_cancelled_exc_class()):
            self.tell("cancel", {"id": number})
            raise
        finally:
            del self._waiting[number]
            answer.cancel()

    def tell(self, method: str, params: Message) -> None:
        """Tell the half something that needs no answer."""
        with suppress(Refusal):
            self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Message) -> None:
        """Put a message on the line. Raises `Refusal` for one that is too long."""
        self._put(_written(message))

    def _put(self, text: bytes) -> None:
        self._unsent.append(text + b"\n")
        self._unread += len(text)
        if self._unread > _UNREAD:
            self._room.set()
        self._something.set()

    async def _send_all(self) -> None:
        try:
            while True:
                while self._unsent:
                    message = self._unsent.popleft()
                    await self._loop.sock_sendall(self._line, message)
                    self._unread -= len(message) - 1
                    self._room.set()
                self._something.clear()
                await self._something.wait()
        except OSError:
            pass  # one that is gone is found out by who reads
        finally:
            self._unread = 0
            self._room.set()

    async def _heard_again(self) -> None:
        """Who does not read what it is told is not heard: its wishes would fill the memory with answers."""
        while self._unread > LONGEST_LINE:
            if self._unread > _UNREAD:
                raise LineBroken("it does not read what it is told")
            self._room.clear()
            await self._room.wait()

    async def _hear_all(self, group: TaskGroup) -> None:
        heard, looked_at = bytearray(), 0
        while True:
            await self._heard_again()
            try:
                data = await self._loop.sock_recv(self._line, _READ)
            except OSError:
                data = b""
            if not data:
                raise LineBroken("it closed its line to placet")
            if not self._bytes.take(len(data), time.monotonic()):
                raise LineBroken(f"it sent more than {int(self._limits.bytes[0]) >> 20} MiB a second to placet")
            heard += data
            while (end := heard.find(b"\n", looked_at)) >= 0:
                if end >= LONGEST_LINE:
                    raise LineBroken(f"it sent a message of more than {LONGEST_LINE} bytes")
                text = bytes(heard[:end])
                del heard[: end + 1]
                looked_at = 0
                message, spent = await _parsed(text)
                self._take(message, group)
                await asyncio.sleep(_SHARE.pause(spent, time.monotonic()))
            looked_at = len(heard)
            if looked_at >= LONGEST_LINE:
                raise LineBroken(f"it sent a message of more than {LONGEST_LINE} bytes")
            if looked_at and len(data) < _PIECE:
                await asyncio.sleep(_MOMENT)

    def _take(self, message: Message, group: TaskGroup) -> None:
        if not self._messages.take(1, time.monotonic()):
            raise LineBroken(f"it sent more than {int(self._limits.messages[0])} messages a second to placet")
        number, method, params = message.get("id"), message.get("method"), message.get("params")
        if method is None:
            self._answered(number, message)
            return
        if not isinstance(method, str) or not isinstance(params, dict):
            raise LineBroken("it sent placet something that is no message")
        if number is None:
            if method == "cancel":
                asked = params.get("id")
                signal = self._serving.get(asked) if isinstance(asked, int) else None
                if signal is not None:
                    signal.abort(ASKER_GONE)
            else:
                self._hear(method, params)
        elif not isinstance(number, int) or number in self._serving:
            raise LineBroken("it sent placet a call without a number of its own")
        elif len(self._serving) >= self._limits.pending:
            raise LineBroken(f"it had more than {self._limits.pending} calls under way at once")
        else:
            self._serving[number] = AbortSignal()
            group.start_soon(self._served, number, method, params)

    def _answered(self, number: Any, message: Message) -> None:
        answer = self._waiting.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return  # to a call that was given up
        error = message.get("error")
        if isinstance(error, dict):
            answer.set_exception(HalfRaised(error))
        elif "result" in message:
            answer.set_result(message["result"])
        else:
            raise LineBroken("it sent placet an answer that is none")

    async def _served(self, number: int, method: str, params: Message) -> None:
        answer: Message
        try:
            answer = {"result": await self._serve(method, params, self._serving[number])}
        except Refusal as refusal:
            answer = {"error": {"code": refusal.code, "message": refusal.text}}
        except BaseException:
            del self._serving[number]
            raise
        try:
            text = await _written_fairly({"jsonrpc": "2.0", "id": number, **answer})
        except Refusal as refusal:
            error = {"code": refusal.code, "message": refusal.text}
            text = _written({"jsonrpc": "2.0", "id": number, "error": error})
        finally:
            del self._serving[number]
        self._put(text)


async def _written_fairly(message: Message) -> bytes:
    """Write an answer outside of the event loop, and leave the others their part of the time. Raises `Refusal`."""
    if isinstance(message.get("result"), _PLAIN):
        return _written(message)
    text, spent = await to_thread.run_sync(_timed, message)
    await asyncio.sleep(_SHARE.pause(spent, time.monotonic()))
    return text


def _timed(message: Message) -> tuple[bytes, float]:
    began = time.thread_time()
    return _written(message), time.thread_time() - began


def _written(message: Message) -> bytes:
    """The message as it goes over the line. Raises `Refusal` for one that is too long."""
    text = dumps(message).encode()
    if len(text) >= LONGEST_LINE:
        raise Refusal("too-large", f"the message has {len(text)} bytes; the limit is {LONGEST_LINE - 1}")
    return text


async def _parsed(text: bytes) -> tuple[Message, float]:
    return _parse(text) if len(text) <= _AT_ONCE else await to_thread.run_sync(_parse, text)


def _parse(text: bytes) -> tuple[Message, float]:
    """Return the message, and the seconds that it took. Raises `LineBroken` for what is none."""
    began = time.thread_time()
    try:
        value = json.loads(text)
        lossless(value)
    except (ValueError, RecursionError, NotLossless) as failure:
        raise LineBroken("it sent placet something that is no JSON that can be kept") from failure
    if not isinstance(value, dict):
        raise LineBroken("it sent placet something that is no message")
    return value, time.thread_time() - began
