"""A small streaming chat server on loopback that can fail in every way a test needs.

It speaks the OpenAI dialect and, under `/v1/messages`, as much of the Anthropic one as a test of the way there needs.

    async with OpenAIServer([Answer("hello")]) as server:
        ... base URL: server.address

Each request takes the next answer; when none is left, the last one is given again. Requests are kept in
`server.requests`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from placet.agent.model.port import ModelCall
from placet.agent.model.script import words


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply, and how it goes wrong.

    `status` other than 200 sends an error body. `cut_after` drops the connection after so many chunks. `endless`
    sends text for ever. `hang` sends the first chunk and then nothing more. `garbage` sends a line that is not JSON.
    """

    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    finish: str | None = None
    status: int = 200
    retry_after: str | None = None
    cut_after: int | None = None
    endless: bool = False
    hang: bool = False
    garbage: bool = False


class OpenAIServer:
    """Serves scripted answers under `/v1/chat/completions` while its context is open."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.address = ""
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> OpenAIServer:
        self._closing = asyncio.Event()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        self._closing.set()
        for writer in tuple(self._writers):
            writer.transport.abort()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        if task := asyncio.current_task():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        try:
            while await self._answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client went away, which is one of the things that tests try
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head.split("\r\n")[1:])}
        body = json.loads(await reader.readexactly(int(fields.get("content-length", "0"))))
        self.requests.append(body)
        self.keys.append(fields.get("x-api-key") or fields.get("authorization", "").removeprefix("Bearer "))
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if answer.status != 200:
            await self._refuse(writer, answer)
            return True
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        sent = 0
        anthropic = head.split(" ", 2)[1].startswith("/v1/messages")
        dialect = _anthropic if anthropic else self._lines
        async for line in dialect(answer, str(body.get("model", ""))):
            if answer.cut_after is not None and sent >= answer.cut_after:
                writer.transport.abort()
                return False
            named = f"event: {json.loads(line)['type']}\n" if anthropic else ""
            data = f"{named}data: {line}\n\n".encode()
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()
            sent += 1
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _refuse(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        error = {"message": f"scripted failure {answer.status}", "type": "server_error"}
        data = json.dumps({"error": error}).encode()
        lines = [f"HTTP/1.1 {answer.status} Scripted", "content-type: application/json", f"content-length: {len(data)}"]
        if answer.retry_after:
            lines.append(f"retry-after: {answer.retry_after}")
        writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        await writer.drain()

    async def _lines(self, answer: Answer, model: str) -> AsyncIterator[str]:
        def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return json.dumps(
                {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}
            )

        yield chunk({"role": "assistant", "content": ""})
        for word in words(answer.text):
            yield chunk({"content": word})
        if answer.hang:
            await self._closing.wait()
        while answer.endless:
            yield chunk({"content": "on and on " * 2000})
        if answer.garbage:
            yield '{"id": "chat-1", "choices": [{'
        for index, call in enumerate(answer.calls):
            yield chunk(
                {
                    "tool_calls": [
                        {
                            "index": index,
                            "id": call.id,
                            "type": "function",
                            "function": {"name": call.name, "arguments": ""},
                        }
                    ]
                }
            )
            half = len(call.arguments) // 2
            for piece in (call.arguments[:half], call.arguments[half:]):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield chunk({}, answer.finish or ("tool_calls" if answer.calls else "stop"))
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        yield json.dumps(
            {
                "id": "chat-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": model,
                "choices": [],
                "usage": usage,
            }
        )
        yield "[DONE]"


async def _anthropic(answer: Answer, model: str) -> AsyncIterator[str]:
    """A reply in the other dialect, without its faults."""

    def event(type: str, **more: Any) -> str:
        return json.dumps({"type": type, **more})

    message = {"id": "msg-1", "type": "message", "role": "assistant", "model": model, "content": []}
    usage = {"input_tokens": 10, "output_tokens": 1}
    yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for word in words(answer.text):
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield event("content_block_stop", index=0)
    for index, call in enumerate(answer.calls, 1):
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield event("content_block_start", index=index, content_block=block)
        yield event(
            "content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": call.arguments}
        )
        yield event("content_block_stop", index=index)
    stop = {"stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": 5})
    yield event("message_stop")
