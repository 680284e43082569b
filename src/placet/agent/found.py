"""An open turn as the log tells it, in the terms of the recovery table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from placet.session.event import Event
from placet.session.turn import FIRST_OF_PLUGINS

CallKey = tuple[int, int]
"""Step and position inside a turn."""


@dataclass(frozen=True, slots=True)
class FoundCall:
    """What the log holds about one call of the last message. `wanted` is its entry in that message."""

    step: int
    position: int
    wanted: Mapping[str, Any]
    called: Event | None = None
    asked: Event | None = None
    decided: Event | None = None
    started: Event | None = None
    result: Event | None = None


@dataclass(frozen=True, slots=True)
class FoundAsk:
    """An ask without a decision. `of_call`: a call of the last message made it, and has not started since."""

    event: Event
    of_call: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The last turn. `message` is that of the last step, if it has one; `calls` stand in the message's order.

    `of_plugins` are the calls without a result that plugins have made in the turn; they stand in no message.
    """

    turn: int = 0
    open: bool = False
    stopped: bool = False
    step: int = 0
    step_open: bool = False
    message: Event | None = None
    calls: tuple[FoundCall, ...] = ()
    of_plugins: tuple[FoundCall, ...] = ()
    undecided: tuple[Event, ...] = ()

    @property
    def asks(self) -> tuple[FoundAsk, ...]:
        """The asks without a decision, oldest first."""
        waiting = {call.asked.key for call in self.calls if call.asked is not None and call.started is None}
        return tuple(FoundAsk(event, event.key in waiting) for event in self.undecided)


class FoundFold:
    """Follows the open turn; of the turns before it nothing is kept but their number."""

    def start(self) -> Found:
        return Found()

    def step(self, state: Found, event: Event) -> Found:
        data = event.data
        if event.type == "turn/start":
            return Found(turn=data["turn"], open=True)
        if not state.open:
            return state
        match event.type:
            case "turn/abort" if data["turn"] == state.turn:
                return replace(state, stopped=True)
            case "turn/end" if data["turn"] == state.turn:
                return Found(turn=state.turn)
            case "step/start":
                return replace(state, step=data["step"], step_open=True, message=None, calls=())
            case "step/end":
                return replace(state, step_open=False)
            case "assistant/message":
                calls = tuple(FoundCall(data["step"], call["position"], call) for call in data["calls"])
                return replace(state, message=event, calls=calls)
            case "tool/call" | "tool/started" | "tool/result":
                if data["position"] >= FIRST_OF_PLUGINS:
                    return _of_plugin(state, event)
                field = {"tool/call": "called", "tool/started": "started", "tool/result": "result"}[event.type]
                return _with(state, (data["step"], data["position"]), field, event)
            case "approval/asked":
                return _asked(state, event)
            case "approval/decided":
                return _decided(state, event)
        return state


FOUND = FoundFold()


def _with(state: Found, key: CallKey, field: str, event: Any) -> Found:
    """The state with one more fact about a call; the first of its kind counts."""
    calls = tuple(
        replace(call, **{field: event}) if (call.step, call.position) == key and getattr(call, field) is None else call
        for call in state.calls
    )
    return replace(state, calls=calls)


def _of_plugin(state: Found, event: Event) -> Found:
    """The state with one more fact about a plugin's call; one that has its result is done with."""
    data = event.data
    key = data["step"], data["position"]
    others = tuple(call for call in state.of_plugins if (call.step, call.position) != key)
    match event.type:
        case "tool/call":
            wanted = {"id": data["callId"], "name": data["name"], "arguments": data["arguments"]}
            return replace(state, of_plugins=(*state.of_plugins, FoundCall(*key, wanted, called=event)))
        case "tool/started":
            own = next((call for call in state.of_plugins if (call.step, call.position) == key), None)
            return state if own is None else replace(state, of_plugins=(*others, replace(own, started=event)))
        case _:
            return replace(state, of_plugins=others)


def _asked(state: Found, event: Event) -> Found:
    call = event.data["call"]
    state = replace(state, undecided=(*state.undecided, event))
    return _with(state, (call["step"], call["position"]), "asked", event) if call["turn"] == state.turn else state


def _decided(state: Found, event: Event) -> Found:
    ask = event.data["id"]
    state = replace(state, undecided=tuple(asked for asked in state.undecided if asked.data["id"] != ask))
    calls = tuple(
        replace(call, decided=event) if call.asked is not None and call.asked.data["id"] == ask else call
        for call in state.calls
    )
    return replace(state, calls=calls)
