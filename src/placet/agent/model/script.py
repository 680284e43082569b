"""`script:FILE`: a model that follows a written list of steps, one per request.

The file is a JSON list of `{"text", "calls": [{"name", "arguments", "id"?}]}`. `arguments` is an object, or a string
that is sent as it stands (so that broken JSON can be tried). Which step comes next is read from the request alone: as
many steps are behind us as the transcript has assistant messages. So a script goes on after a crash, in any process.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from placet.agent.errors import BadScript
from placet.agent.model.port import AssistantTurn, ModelCall, ModelRequest, Piece, Reply, TextDelta

CLOSING = "That was the last step of the script."
LARGEST_FILE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Step:
    """What the model says in one request."""

    text: str
    calls: tuple[ModelCall, ...]


class ScriptModel:
    """Plays steps in order; after the last one it closes with a plain text."""

    real = False

    def __init__(self, name: str, steps: tuple[Step, ...]) -> None:
        self.name = name
        self.steps = steps

    @classmethod
    def load(cls, path: str) -> ScriptModel:
        """Read the steps of a file. A file that is missing, too large or malformed is a `BadScript` of one line."""
        try:
            with Path(path).open("rb") as file:
                raw = file.read(LARGEST_FILE + 1)
        except OSError as error:
            raise BadScript(f"The script {path!r} cannot be read: {error.strerror}.") from error
        if len(raw) > LARGEST_FILE:
            raise BadScript(f"The script {path!r} is larger than {LARGEST_FILE // 1024 // 1024} MiB.")
        try:
            steps = json.loads(raw)
        except ValueError as error:
            raise BadScript(f"The script {path!r} is not JSON: {error}.") from error
        if not isinstance(steps, list):
            raise BadScript(f"The script {path!r} must be a JSON list of steps.")
        return cls(f"script:{path}", tuple(_step(path, index, step) for index, step in enumerate(steps)))

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """Yield the text of the step word by word, then the reply."""
        done = sum(isinstance(message, AssistantTurn) for message in request.messages)
        step = self.steps[done] if done < len(self.steps) else Step(CLOSING, ())
        for word in words(step.text):
            yield TextDelta(word)
        yield Reply(step.text, step.calls)


def words(text: str) -> list[str]:
    """Cut a text into small pieces that give the text again when joined."""
    pieces = text.split(" ")
    return [f"{piece} " for piece in pieces[:-1]] + [piece for piece in pieces[-1:] if piece]


def _step(path: str, index: int, step: Any) -> Step:
    where = f"Step {index + 1} of the script {path!r}"
    if not isinstance(step, dict) or not set(step) <= {"text", "calls"}:
        raise BadScript(f'{where} must be an object with "text" and "calls".')
    text, calls = step.get("text", ""), step.get("calls", [])
    if not isinstance(text, str) or not isinstance(calls, list):
        raise BadScript(f'{where}: "text" must be a string and "calls" a list.')
    return Step(text, tuple(_call(where, index, position, call) for position, call in enumerate(calls)))


def _call(where: str, index: int, position: int, call: Any) -> ModelCall:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise BadScript(f'{where}: call {position + 1} must be an object with a "name".')
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ModelCall(str(call.get("id", f"s{index + 1}c{position + 1}")), call["name"], text)
