"""Models for tests: steps written down in the test, played in order, with pauses and failures."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from placet.agent.errors import ModelError
from placet.agent.model.port import AssistantTurn, ModelCall, ModelRequest, Piece, Reply, TextDelta
from placet.agent.model.script import CLOSING, words


@dataclass(frozen=True, slots=True)
class Say:
    """One reply. `during` is awaited after the text was streamed and before the reply is complete."""

    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    during: Callable[[], Awaitable[object]] | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """A failure, after some text."""

    error: ModelError
    text: str = ""


def call(name: str, id: str = "x", **arguments: Any) -> ModelCall:
    """A call with arguments as a model would write them."""
    return ModelCall(id, name, json.dumps(arguments))


class ScriptedModel:
    """Plays steps; requests are kept in `requests`.

    The place in the script is the number of requests so far or, with `by_transcript`, that of the assistant messages in
    the transcript: then it goes on after a crash, as `script:FILE` does.
    """

    real = False

    def __init__(self, steps: Sequence[Say | Fail], *, name: str = "scripted", by_transcript: bool = False) -> None:
        self.name = name
        self.steps = list(steps)
        self.requests: list[ModelRequest] = []
        self._by_transcript = by_transcript

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """Yield the next step; after the last one a plain closing text."""
        done = len(self.requests)
        if self._by_transcript:
            done = sum(isinstance(message, AssistantTurn) for message in request.messages)
        self.requests.append(request)
        step = self.steps[done] if done < len(self.steps) else Say(CLOSING)
        for word in words(step.text):
            yield TextDelta(word)
        if isinstance(step, Fail):
            raise step.error
        if step.during is not None:
            await step.during()
        yield Reply(step.text, step.calls, "max-tokens" if step.cut else "end")
