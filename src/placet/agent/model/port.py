"""The one shape in which the loop talks to any model: a request goes in, text deltas and one reply come out.

A model is stateless: everything it may know is in the request, which is derived from the log alone. So a model can be
asked again after a crash, in another process, and by another worker.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

PERSON = "user"


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A message in the user's role. `source` is "user" for a person, else the kind of writer ("plugin", "system")."""

    text: str
    source: str = PERSON


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One tool call as the model sent it: `arguments` is its raw text, which may be broken JSON; `id` is only data."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """What the model said earlier, with its calls in order. The calls' ids are the server's, never the model's."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class ToolReturn:
    """The result of one call, as the model reads it."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


Message = UserTurn | AssistantTurn | ToolReturn


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call; `parameters` is JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything a model is given for one step."""

    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next piece of the model's reasoning, where a vendor shows it."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole answer of one request; always the last thing that a stream yields."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    stop: Literal["end", "max-tokens"] = "end"
    usage: Mapping[str, int] | None = None
    reasoning: str | None = field(default=None, kw_only=True)


Piece = TextDelta | ReasoningDelta | Reply


class Model(Protocol):
    """Something that answers a request. A failure is a `ModelError`; so is a stream without a `Reply` at its end."""

    @property
    def name(self) -> str:
        """The name by which a session chooses this model; it is what the card calls the agent."""
        ...

    @property
    def real(self) -> bool:
        """False for the built-in ones that only follow rules."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """Answer the request: deltas as they come, then exactly one `Reply`."""
        ...
