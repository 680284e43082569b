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
    """Of the open turn: what is called, how the last run of each action was denied, and which of them are jobs.

    Of all turns: the unknown.
    """

    called: Called = field(default_factory=lambda: _NONE)
    denied: Mapping[str, Denied] = field(default_factory=lambda: _NONE)
    jobs: Mapping[str, tuple[CallKey, str]] = field(default_factory=lambda: _NONE)
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
            case "job/ended" if event.data["job"] in state.jobs:
                key, action = state.jobs[event.data["job"]]
                return replace(state, denied=_with(state.denied, action, event.data.get("denied"), event, key))
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
        state = replace(state, called=called, unknown=unknown)
        cwd, value = event.data["meta"].get("cwd"), event.data["value"]
        if not isinstance(cwd, str) or not isinstance(value, dict):
            return state
        action = likeness(name, arguments, cwd)
        if value.get("kind") == "background":  # how it ran is known when it ends
            return replace(state, jobs={**state.jobs, str(value.get("jobId")): (key, action)})
        sandbox = value.get("sandbox")
        denial = sandbox if isinstance(sandbox, dict) and sandbox.get("denied") is True else None
        return replace(state, denied=_with(state.denied, action, denial, event, key))


def _with(
    known: Mapping[str, Denied], action: str, denial: Mapping[str, Any] | None, event: Event, key: CallKey
) -> Mapping[str, Denied]:
    """Return the denials with that of the last run of an action, or without one if it was not denied."""
    rest = {other: one for other, one in known.items() if other != action}
    if denial is not None:
        path = denial.get("path")
        rest[action] = Denied(path if isinstance(path, str) else None, event.time, key)
    return rest


RUNS = RunsFold()
