"""Turns as the log tells them: which one is open, how far it came, and what is known of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from .event import Event

CallKey = tuple[int, int]
"""Step and position; with the turn it is the server's name of a call."""

FIRST_OF_PLUGINS = 1_000
"""The first position of calls that plugins make in a turn; those of a message are counted from 0 and stay below."""


class Phase(StrEnum):
    """Where the last turn stands."""

    NONE = "none"
    """No turn was ever begun, or the last one has ended."""
    STARTED = "started"
    """`turn/start` and nothing after it but, perhaps, claimed messages."""
    SPEAKING = "speaking"
    """`step/start` without `assistant/message`."""
    CALLING = "calling"
    """The last message has calls, and at least one has no result."""
    ANSWERED = "answered"
    """The last message has calls, and all have results."""
    SAID = "said"
    """The last message has no calls."""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What the log holds about one call. `requested` is its entry in the assistant's message."""

    step: int
    position: int
    requested: Mapping[str, Any] | None = None
    called: Event | None = None
    started: Event | None = None
    result: Event | None = None


_NO_CALLS: Mapping[CallKey, CallFacts] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TurnState:
    """The last turn. `calls` holds those of the last step that spoke, and older ones that still have no result."""

    number: int = 0
    open: bool = False
    aborted: bool = False
    phase: Phase = Phase.NONE
    step: int = 0
    step_open: bool = False
    claimed: int = 0
    calls: Mapping[CallKey, CallFacts] = field(default_factory=lambda: _NO_CALLS)
    start: Event | None = None
    abort: Event | None = None
    end: Event | None = None
    message: Event | None = None

    @property
    def missing(self) -> tuple[CallFacts, ...]:
        """The calls without a result, in the order of the message."""
        return tuple(facts for _, facts in sorted(self.calls.items()) if facts.result is None)


class _Turns:
    """The fold of turns. Events of a turn that is not the open one change nothing."""

    def start(self) -> TurnState:
        return TurnState()

    def step(self, state: TurnState, event: Event) -> TurnState:
        if event.type == "turn/start":
            return TurnState(number=event.data["turn"], open=True, phase=Phase.STARTED, start=event)
        if not state.open or event.data.get("turn") != state.number:
            return state
        match event.type:
            case "turn/abort":
                return replace(state, aborted=True, abort=event)
            case "turn/end":
                return replace(state, open=False, phase=Phase.NONE, step_open=False, end=event)
            case "user/message":
                return replace(state, claimed=state.claimed + 1)
            case "step/start":
                return replace(state, phase=Phase.SPEAKING, step=event.data["step"], step_open=True)
            case "step/end":
                return replace(state, step_open=False)
            case "assistant/message":
                return self._spoken(state, event)
            case "tool/call":
                return self._known(state, event, "called")
            case "tool/started":
                return self._known(state, event, "started")
            case "tool/result":
                return self._known(state, event, "result")
            case _:
                return state

    def _spoken(self, state: TurnState, event: Event) -> TurnState:
        step = event.data["step"]
        calls = {key: facts for key, facts in state.calls.items() if facts.result is None}
        for request in event.data["calls"]:
            calls[step, request["position"]] = CallFacts(step, request["position"], requested=request)
        return replace(state, phase=_phase(event, calls), calls=MappingProxyType(calls), message=event)

    def _known(self, state: TurnState, event: Event, name: str) -> TurnState:
        key = (event.data["step"], event.data["position"])
        facts = state.calls.get(key, CallFacts(*key))
        change: dict[str, Any] = {name: event}
        calls = MappingProxyType({**state.calls, key: replace(facts, **change)})
        phase = _phase(state.message, calls) if state.phase in (Phase.CALLING, Phase.ANSWERED) else state.phase
        return replace(state, calls=calls, phase=phase)


def _phase(message: Event | None, calls: Mapping[CallKey, CallFacts]) -> Phase:
    if any(facts.result is None for facts in calls.values()):
        return Phase.CALLING
    return Phase.ANSWERED if message is not None and message.data["calls"] else Phase.SAID


TURNS = _Turns()
"""The one instance to give to `SessionLog.see`."""

TurnFold = TURNS
