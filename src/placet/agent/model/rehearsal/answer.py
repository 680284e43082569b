"""What the rehearsal is about to say and call, and how it reads what it called before."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from placet.agent.model.port import ModelCall


@dataclass(slots=True)
class Answer:
    """What the rehearsal will say and call."""

    sentences: list[str] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)

    def run(self, command: str, **more: str | bool) -> None:
        """Call for a command; `more` are arguments beside it."""
        self.call("bash", command=command, description=f"Run {in_short(command)}", **more)

    def call(self, tool: str, **arguments: Any) -> None:
        """Call a tool."""
        self.calls.append(ModelCall(f"r{len(self.calls) + 1}", tool, json.dumps(arguments, ensure_ascii=False)))

    def say(self, sentence: str) -> None:
        """Say something more."""
        self.sentences.append(sentence)


def arguments_of(call: ModelCall) -> dict[str, Any]:
    """The arguments of an earlier call."""
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def in_short(command: str) -> str:
    """The first line of a text, short enough for a sentence."""
    line = command.splitlines()[0] if command else command
    return line if len(line) <= 80 else f"{line[:79]}…"
