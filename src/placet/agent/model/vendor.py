"""Real models, through pydantic-ai's low-level request interface.

The vendors' libraries take seconds to import, so they are imported with the first request, in a thread. Keys come from
the server's environment only; they are in no request of ours, no log line and no error text.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from placet.agent.errors import ModelError
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

if TYPE_CHECKING:
    from pydantic_ai import messages as wire
    from pydantic_ai.models import Model as LibraryModel
    from pydantic_ai.models import ModelRequestParameters

LARGEST_REPLY = 4 * 1024 * 1024
SECONDS_BETWEEN_CHUNKS = 120.0
ERROR_LENGTH = 300
SENDS_REASONING_BACK = frozenset({"deepseek"})


@dataclass(frozen=True, slots=True)
class Vendor:
    """Where a vendor's key and address come from, and which model is meant when none is named."""

    label: str
    key: str
    address: str
    model: str


VENDORS: Mapping[str, Vendor] = {
    "deepseek": Vendor("DeepSeek", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "deepseek-chat"),
    "openai": Vendor("OpenAI", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-5-mini"),
    "anthropic": Vendor("Anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-sonnet-4-5"),
}


class VendorModel:
    """One named model of a vendor. Each request opens its own connection and closes it at the end."""

    real = True

    def __init__(
        self,
        vendor: str,
        model: str,
        *,
        name: str | None = None,
        environment: Mapping[str, str] | None = None,
        address: str | None = None,
    ) -> None:
        self.name = name or f"{vendor}:{model}"
        self._vendor = vendor
        self._model = model
        self._environment = os.environ if environment is None else environment
        self._address = address

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """Send the request and yield what comes back. Every failure is one `ModelError`."""
        library = await anyio.to_thread.run_sync(_load)
        try:
            async with AsyncExitStack() as stack:
                model = await self._open(stack)
                history = history_of(request, reasoning=self._vendor in SENDS_REASONING_BACK)
                async for piece in _pieces(model, history, _tools(request)):
                    yield piece
        except ModelError:
            raise
        except (
            Exception
        ) as error:  # the libraries raise a hundred classes: all become one line that names none of our secrets
            raise self._error(library, error) from error

    async def _open(self, stack: AsyncExitStack) -> LibraryModel:
        known = VENDORS.get(self._vendor)
        if known is None:
            from pydantic_ai.models import infer_model

            return infer_model(self.name)
        address = self._address or self._environment.get(known.address)
        key = self._environment.get(known.key) or ("none" if address else None)
        if key is None:
            raise ModelError(
                f"{self.name} has no key: set {known.key} in the server's environment and start placet again."
            )
        if self._vendor == "anthropic":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            anthropic = await stack.enter_async_context(AsyncAnthropic(api_key=key, base_url=address, max_retries=0))
            return AnthropicModel(self._model, provider=AnthropicProvider(anthropic_client=anthropic))
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.deepseek import DeepSeekProvider
        from pydantic_ai.providers.openai import OpenAIProvider

        if self._vendor == "deepseek":
            address = address or "https://api.deepseek.com"
        openai = await stack.enter_async_context(AsyncOpenAI(api_key=key, base_url=address, max_retries=0))
        make = DeepSeekProvider if self._vendor == "deepseek" else OpenAIProvider
        return OpenAIChatModel(self._model, provider=make(openai_client=openai))

    def _error(self, library: ModuleType, error: Exception) -> ModelError:
        kinds = library.exceptions
        passing = isinstance(
            error,
            (
                kinds.ModelRateLimitError,
                kinds.ModelUnavailableError,
                kinds.ModelServerError,
                kinds.ModelConnectionError,
                OSError,
                TimeoutError,
            ),
        ) or type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "httpcore", "httpcore2")
        status = getattr(error, "status_code", None)
        what = f"answered {status}" if status else "did not answer, or broke off" if passing else "failed"
        text = _message(error)
        for name, value in self._environment.items():
            if len(value) >= 8 and name.endswith(("_KEY", "_TOKEN", "_SECRET")):
                text = text.replace(value, "***")
        after = getattr(error, "retry_after", None)
        return ModelError(f"{self.name} {what}: {text[:ERROR_LENGTH]}", passing=passing, after=after)


def _message(error: Exception) -> str:
    """The vendor's own sentence, in one line; else what the library says."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    said = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(said or error).split()) or type(error).__name__


def _load() -> ModuleType:
    """Import what every request needs; slow only the first time."""
    import pydantic_ai
    import pydantic_ai.direct
    import pydantic_ai.exceptions

    return pydantic_ai


async def _pieces(
    model: LibraryModel, history: list[wire.ModelMessage], tools: ModelRequestParameters
) -> AsyncIterator[Piece]:
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import (
        PartDeltaEvent,
        PartStartEvent,
        TextPart,
        TextPartDelta,
        ThinkingPart,
        ThinkingPartDelta,
    )
    from pydantic_ai.settings import ModelSettings

    size = 0
    settings = ModelSettings(timeout=SECONDS_BETWEEN_CHUNKS)
    async with model_request_stream(model, history, model_request_parameters=tools, model_settings=settings) as stream:
        async for event in stream:
            piece: Piece | None = None
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    piece = TextDelta(text)
                case (
                    PartStartEvent(part=ThinkingPart(content=text))
                    | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text)))
                ):
                    piece = ReasoningDelta(text)
                case _:
                    text = str(getattr(getattr(event, "delta", None), "args_delta", None) or "")
            size += len(text)
            if size > LARGEST_REPLY:
                limit = f"{LARGEST_REPLY // 1024 // 1024} MiB"
                raise ModelError(f"{model.model_name} sent more than {limit} in one reply; it was cut off.")
            if piece is not None and text:
                yield piece
        yield _reply(stream.get())


def _reply(response: wire.ModelResponse) -> Reply:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    finish = response.finish_reason or (response.provider_details or {}).get("finish_reason")
    if finish is None:
        raise ModelError(f"{response.model_name or 'The model'} broke off in the middle of its reply.", passing=True)
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    reasoning = "".join(part.content for part in response.parts if isinstance(part, ThinkingPart))
    calls = tuple(
        ModelCall(part.tool_call_id, part.tool_name, _arguments(part))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    usage = {"input": response.usage.input_tokens, "output": response.usage.output_tokens}
    return Reply(text, calls, "max-tokens" if finish == "length" else "end", usage, reasoning=reasoning or None)


def _arguments(part: wire.ToolCallPart) -> str:
    """The argument text as the vendor sent it; where a library gives only an object, its canonical JSON text."""
    if isinstance(part.args, str) or part.args is None:
        return part.args or ""
    from placet.session.codec import canonical

    return canonical(part.args).decode()


def _tools(request: ModelRequest) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters), strict=False
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
                asked.append(wire.ToolReturnPart(tool_name=name, content=_sendable(text), tool_call_id=call_id))
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
        wire.ToolCallPart(_sendable(call.name), _sendable(call.arguments), tool_call_id=call.id) for call in turn.calls
    ]
    return parts


def _sendable(text: str) -> str:
    """The text with what UTF-8 cannot carry (lone surrogates) replaced by its mark."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
