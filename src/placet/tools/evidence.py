"""What the log knows about earlier runs of the same action: a recorded denial, or an outcome nobody knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from placet.approval.subject import CallKey, Denied
from placet.permission.likeness import likeness
from placet.session.event import Event
from placet.tools.codes import Code

Called = Mapping[CallKey, tuple[str, str]]
_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Runs:
    """Of the open turn: what is called, and how the last run of each action was denied. Of all turns: the unknown."""

    called: Called = field(default_factory=lambda: _NONE)
    denied: Mapping[str, Denied] = field(default_factory=lambda: _NONE)
    unknown: frozenset[str] = frozenset()

    def denial(self, tool: str, arguments: str, cwd: str) -> Denied | None:
        """Return the denial of this action: the last equal call of the turn, in the same folder, was denied."""
        return self.denied.get(likeness(tool, arguments, cwd))

    def ran_unknown(self, tool: str, arguments: str) -> bool:
        """Whether an equal call of this session started and nobody knows how it ended."""
        return likeness(tool, arguments) in self.unknown


class RunsFold:
    """Follows calls and results; `meta.cwd` of a result is the resolved folder that the call ran in."""

    def start(self) -> Runs:
        """Return nothing."""
        return Runs()

    def step(self, state: Runs, event: Event) -> Runs:
        """Forget the turn at its start, note calls, judge results."""
        match event.type:
            case "turn/start":
                return Runs(unknown=state.unknown)
            case "tool/call":
                called = {**state.called, CallKey.of(event.data): (event.data["name"], event.data["arguments"])}
                return replace(state, called=called)
            case "tool/result":
                return self._result(state, event)
            case _:
                return state

    def _result(self, state: Runs, event: Event) -> Runs:
        key = CallKey.of(event.data)
        if key not in state.called:
            return state
        name, arguments = state.called[key]
        called = {other: value for other, value in state.called.items() if other != key}
        unknown = state.unknown
        if event.data["code"] == Code.TOOL_OUTCOME_UNKNOWN:
            unknown = unknown | {likeness(name, arguments)}
        return Runs(called, _denied(state.denied, event, key, name, arguments), unknown)


def _denied(known: Mapping[str, Denied], event: Event, key: CallKey, name: str, arguments: str) -> Mapping[str, Denied]:
    cwd, value = event.data["meta"].get("cwd"), event.data["value"]
    if not isinstance(cwd, str) or not isinstance(value, dict):
        return known
    action = likeness(name, arguments, cwd)
    rest = {other: denial for other, denial in known.items() if other != action}
    sandbox = value.get("sandbox")
    if isinstance(sandbox, dict) and sandbox.get("denied") is True:
        path = sandbox.get("path")
        rest[action] = Denied(path if isinstance(path, str) else None, event.time, key)
    return rest


RUNS = RunsFold()
