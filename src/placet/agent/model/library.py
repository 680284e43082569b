"""What is known of pydantic-ai: how a request is written in its terms, and how its stream is read.

Importing it takes seconds, so nothing is imported before the first request, and then in a thread (`vendor`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from placet.agent.errors import ModelError
from placet.agent.model.names import Names, wire_name
from placet.agent.model.port import (
    AssistantTurn,
    ModelCall,
    ModelRequest,
    Piece,
    ReasoningDelta,
    Reply,
    TextDelta,
    ToolReturn,
    UserTurn,
)
from placet.session.codec import canonical

if TYPE_CHECKING:
    from pydantic_ai import messages as wire
    from pydantic_ai.models import Model as LibraryModel
    from pydantic_ai.models import ModelRequestParameters

LARGEST_REPLY = 4 * 1024 * 1024
SECONDS_BETWEEN_CHUNKS = 120.0


async def pieces(
    model: LibraryModel, request: ModelRequest, *, reasoning: bool, most_tokens: int | None
) -> AsyncIterator[Piece]:
    """Send a request and yield what comes back: deltas, then the reply. The first text is in the start of its part."""
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.settings import ModelSettings

    settings = ModelSettings(timeout=SECONDS_BETWEEN_CHUNKS)
    if most_tokens is not None:
        settings["max_tokens"] = most_tokens
    history, tools, size = history_of(request, reasoning=reasoning), _tools(request), 0
    async with model_request_stream(model, history, model_request_parameters=tools, model_settings=settings) as stream:
        async for event in stream:
            piece, length = _heard(event)
            size += length
            if size > LARGEST_REPLY:
                limit = f"{LARGEST_REPLY // 1024 // 1024} MiB"
                raise ModelError(f"{model.model_name} sent more than {limit} in one reply; it was cut off.")
            if piece is not None:
                yield piece
        yield _reply(stream.get(), Names.of(request))


def _heard(event: Any) -> tuple[Piece | None, int]:
    """What one event of the stream says, and how much of the bound it takes."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent

    kind: str
    match event:
        case PartStartEvent(part=part):
            kind, text, arguments = part.part_kind, getattr(part, "content", None), getattr(part, "args", None)
        case PartDeltaEvent(delta=delta):
            kind, text = delta.part_delta_kind, getattr(delta, "content_delta", None)
            arguments = getattr(delta, "args_delta", None)
        case _:
            return None, 0
    if not isinstance(text, str) or not text:
        return None, len(str(arguments or ""))
    match kind:
        case "text":
            return TextDelta(text), len(text)
        case "thinking":
            return ReasoningDelta(text), len(text)
        case _:
            return None, len(text)


def _reply(response: wire.ModelResponse, names: Names) -> Reply:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    finish = response.finish_reason or (response.provider_details or {}).get("finish_reason")
    if finish is None:
        raise ModelError(f"{response.model_name or 'The model'} broke off in the middle of its reply.", passing=True)
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    reasoning = "".join(part.content for part in response.parts if isinstance(part, ThinkingPart))
    calls = tuple(
        ModelCall(part.tool_call_id, names.own_name(part.tool_name), _arguments(part))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    usage = {"input": response.usage.input_tokens, "output": response.usage.output_tokens}
    return Reply(text, calls, "max-tokens" if finish == "length" else "end", usage, reasoning=reasoning or None)


def _arguments(part: wire.ToolCallPart) -> str:
    """The argument text as the vendor sent it; where a library gives only an object, its canonical JSON text."""
    if isinstance(part.args, str) or part.args is None:
        return part.args or ""
    return canonical(part.args).decode()


def _tools(request: ModelRequest) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(
            name=wire_name(tool.name),
            description=tool.description,
            parameters_json_schema=dict(tool.parameters),
            strict=False,
        )
        for tool in request.tools
    ]
    return ModelRequestParameters(function_tools=tools, allow_text_output=True)


def history_of(request: ModelRequest, *, reasoning: bool = False) -> list[wire.ModelMessage]:
    """The library's form of a request: neighbouring user messages and tool results share one message, in order.

    Earlier reasoning is sent back only where a vendor wants it; elsewhere it would turn into visible text.
    """
    from pydantic_ai import messages as wire

    history: list[wire.ModelMessage] = []
    asked: list[wire.ModelRequestPart] = []

    def flush() -> None:
        if asked:
            history.append(wire.ModelRequest(parts=list(asked), instructions=request.instructions))
            asked.clear()

    for message in request.messages:
        match message:
            case UserTurn(text=text):
                asked.append(wire.UserPromptPart(_sendable(text)))
            case ToolReturn(call_id=call_id, name=name, text=text):
                part = wire.ToolReturnPart(tool_name=wire_name(name), content=_sendable(text), tool_call_id=call_id)
                asked.append(part)
            case AssistantTurn():
                if parts := _said(message, wire, reasoning=reasoning):
                    flush()
                    history.append(wire.ModelResponse(parts=parts))
    flush()
    return history


def _said(turn: AssistantTurn, wire: Any, *, reasoning: bool) -> list[Any]:
    parts: list[Any] = [wire.ThinkingPart(turn.reasoning)] if reasoning and turn.reasoning else []
    if turn.text:
        parts.append(wire.TextPart(_sendable(turn.text)))
    parts += [
        wire.ToolCallPart(wire_name(call.name), _sendable(call.arguments), tool_call_id=call.id) for call in turn.calls
    ]
    return parts


def _sendable(text: str) -> str:
    """The text with what UTF-8 cannot carry (lone surrogates) replaced by its mark."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
