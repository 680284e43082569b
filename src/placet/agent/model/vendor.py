"""Real models, through pydantic-ai's low-level request interface.

Keys come from the server's environment only; they are in no request of ours, no log line and no error text.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from placet.agent.errors import ModelError
from placet.agent.model.library import pieces
from placet.agent.model.port import ModelRequest, Piece

if TYPE_CHECKING:
    from pydantic_ai.models import Model as LibraryModel

ERROR_LENGTH = 300
SENDS_REASONING_BACK = frozenset({"deepseek"})
SECRET_NAMES = ("_KEY", "_TOKEN", "_SECRET")
TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2"})


@dataclass(frozen=True, slots=True)
class Vendor:
    """Where a vendor's key and address come from, and which model is meant when none is named.

    `most_tokens` bounds a reply where the library's own bound is too small for a call with a file in it.
    """

    label: str
    key: str
    address: str
    model: str
    most_tokens: int | None = None
    default_address: str | None = None


VENDORS: Mapping[str, Vendor] = {
    "deepseek": Vendor(
        "DeepSeek", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "deepseek-chat", default_address="https://api.deepseek.com"
    ),
    "openai": Vendor("OpenAI", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-5-mini"),
    "anthropic": Vendor(
        "Anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-sonnet-4-5", most_tokens=16_384
    ),
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
        known = VENDORS.get(self._vendor)
        try:
            async with AsyncExitStack() as stack:
                model, client = await anyio.to_thread.run_sync(self._open)
                if client is not None:
                    stack.push_async_callback(client.close)
                back = self._vendor in SENDS_REASONING_BACK
                most = None if known is None else known.most_tokens
                async for piece in pieces(model, request, reasoning=back, most_tokens=most):
                    yield piece
        except ModelError:
            raise
        except Exception as error:  # the libraries raise a hundred classes; the loop knows one
            raise self._error(error) from error

    def _open(self) -> tuple[LibraryModel, Any]:
        """The library's model and the client that it uses, for one request. The first time this takes seconds."""
        known = VENDORS.get(self._vendor)
        if known is None:
            from pydantic_ai.models import infer_model

            return infer_model(self.name), None
        address = self._address or self._environment.get(known.address)
        key = self._environment.get(known.key) or ("none" if address else None)
        if key is None:
            raise ModelError(no_key(self.name, known))
        if self._vendor == "anthropic":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            other = AsyncAnthropic(api_key=key, base_url=address, max_retries=0)
            return AnthropicModel(self._model, provider=AnthropicProvider(anthropic_client=other)), other
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.deepseek import DeepSeekProvider
        from pydantic_ai.providers.openai import OpenAIProvider

        make = DeepSeekProvider if self._vendor == "deepseek" else OpenAIProvider
        client = AsyncOpenAI(api_key=key, base_url=address or known.default_address, max_retries=0)
        return OpenAIChatModel(self._model, provider=make(openai_client=client)), client

    def _error(self, error: Exception) -> ModelError:
        """One line that says what happened, whether it may pass, and none of our secrets."""
        from pydantic_ai import exceptions as kinds

        passing = isinstance(
            error,
            kinds.ModelRateLimitError
            | kinds.ModelUnavailableError
            | kinds.ModelServerError
            | kinds.ModelConnectionError
            | OSError
            | TimeoutError,
        )
        passing = passing or type(error).__module__.partition(".")[0] in TRANSPORTS
        status = getattr(error, "status_code", None)
        what = f"answered {status}" if status else "did not answer, or broke off" if passing else "failed"
        text = _message(error)
        for name, value in self._environment.items():
            if len(value) >= 8 and name.endswith(SECRET_NAMES):
                text = text.replace(value, "***")
        after = getattr(error, "retry_after", None)
        return ModelError(f"{self.name} {what}: {text[:ERROR_LENGTH]}", passing=passing, after=after)


def no_key(name: str, vendor: Vendor) -> str:
    """Say where a key is missing."""
    return f"{name} has no key: set {vendor.key} in the server's environment and start placet again."


def _message(error: Exception) -> str:
    """The vendor's own sentence, in one line; else what the library says."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    said = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(said or error).split()) or type(error).__name__
