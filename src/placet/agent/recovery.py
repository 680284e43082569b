"""What a worker does with an open turn that it finds: the recovery table of the design, as data.

Only the holder of the lease recovers, after taking it and before anything else. Three small tables are read from the
top, and the first row that fits counts. `CALLS` says what becomes of each call without a result, `ASKS` which open
asks are cancelled, `TURNS` what becomes of the turn after that. "Outcome unknown" is said only where `tool/started`
is there, "not started" only where it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from placet.agent.found import Found, FoundAsk, FoundCall
from placet.approval.outcome import Outcome, Policy, grants
from placet.tools import texts

A = TypeVar("A")
F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Row(Generic[F, A]):
    """One row: what is found, the test for it, and what happens."""

    found: str
    fits: Callable[[Found, F], bool]
    then: A


class CallFate(StrEnum):
    """What becomes of a call."""

    KEPT = "its result stands"
    STOPPED = "ABORTED_BEFORE_DISPATCH"
    UNKNOWN = "TOOL_OUTCOME_UNKNOWN"
    NOT_STARTED = "TOOL_NOT_STARTED"
    GOES_ON = "goes on in the pipeline from what the log holds"


class AskFate(StrEnum):
    """Why an open ask is decided `cancelled`, or that it is left to its call."""

    STOPPED = "stopped"
    ASKER_GONE = "asker-gone"
    KEPT = "kept"


class TurnFate(StrEnum):
    """How the turn ends, or that it goes on with its next step."""

    ABORTED = "aborted"
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"
    GOES_ON = "goes on"


def _asked_under(policy: Policy) -> Callable[[Found, FoundCall], bool]:
    return lambda turn, call: call.asked is not None and call.decided is None and call.asked.data["policy"] == policy


def _decided(*, granted: bool) -> Callable[[Found, FoundCall], bool]:
    return lambda turn, call: call.decided is not None and grants(Outcome(call.decided.data["outcome"])) is granted


CALLS: tuple[Row[FoundCall, CallFate], ...] = (
    Row("tool/result", lambda turn, call: call.result is not None, CallFate.KEPT),
    Row("tool/started, no tool/result", lambda turn, call: call.started is not None, CallFate.UNKNOWN),
    Row("turn/abort, no tool/started", lambda turn, call: turn.stopped, CallFate.STOPPED),
    Row("asked under ask, no decided", _asked_under(Policy.ASK), CallFate.GOES_ON),
    Row("asked under never, no decided", _asked_under(Policy.NEVER), CallFate.GOES_ON),
    Row("decided allowed-once, no tool/started", _decided(granted=True), CallFate.GOES_ON),
    Row("decided otherwise, no tool/result", _decided(granted=False), CallFate.GOES_ON),
    Row("tool/call only", lambda turn, call: call.called is not None, CallFate.NOT_STARTED),
    Row("not even tool/call", lambda turn, call: True, CallFate.NOT_STARTED),
)
"""Calls of the last message. The pipeline re-arms, rejects, consumes the grant or writes the text of the outcome."""

OF_PLUGINS: tuple[Row[FoundCall, CallFate], ...] = (
    Row("tool/started, no tool/result", lambda turn, call: call.started is not None, CallFate.UNKNOWN),
    Row("turn/abort, no tool/started", lambda turn, call: turn.stopped, CallFate.STOPPED),
    Row("tool/call only, or asked", lambda turn, call: True, CallFate.NOT_STARTED),
)
"""Calls of plugins. Who made them is gone, so none of them goes on; their asks are cancelled as `asker-gone`."""

ASKS: tuple[Row[FoundAsk, AskFate], ...] = (
    Row("turn/abort", lambda turn, ask: turn.stopped, AskFate.STOPPED),
    Row("asked by no call, or by one that has started", lambda turn, ask: not ask.of_call, AskFate.ASKER_GONE),
    Row("asked by a call that waits", lambda turn, ask: True, AskFate.KEPT),
)
"""Asks without a decision."""

TURNS: tuple[Row[None, TurnFate], ...] = (
    Row("turn/abort", lambda turn, _: turn.stopped, TurnFate.ABORTED),
    Row("turn/start and nothing after it", lambda turn, _: turn.step == 0, TurnFate.INTERRUPTED),
    Row("step/start without assistant/message", lambda turn, _: turn.message is None, TurnFate.INTERRUPTED),
    Row("the last message has no calls", lambda turn, _: not turn.calls, TurnFate.COMPLETED),
    Row("the last message has calls", lambda turn, _: True, TurnFate.GOES_ON),
)
"""The turn, once every call has its result."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What recovery will do with the turn that it found, in this order."""

    asks: tuple[tuple[FoundAsk, AskFate], ...]
    calls: tuple[tuple[FoundCall, CallFate], ...]
    of_plugins: tuple[tuple[FoundCall, CallFate], ...]
    turn: TurnFate


def plan(found: Found) -> Plan:
    """Read the tables for an open turn."""
    return Plan(
        tuple((ask, _first(ASKS, found, ask)) for ask in found.asks),
        tuple((call, _first(CALLS, found, call)) for call in found.calls),
        tuple((call, _first(OF_PLUGINS, found, call)) for call in found.of_plugins),
        _first(TURNS, found, None),
    )


def _first(rows: tuple[Row[F, A], ...], found: Found, what: F) -> A:
    return next(row.then for row in rows if row.fits(found, what))


TEXTS = {
    CallFate.STOPPED: texts.ABORTED_BEFORE_DISPATCH,
    CallFate.UNKNOWN: texts.UNKNOWN_OUTCOME,
    CallFate.NOT_STARTED: (
        "placet was interrupted before this call started; it did not run. Send it again if it is still needed."
    ),
}
"""What the model reads where recovery writes the result (contract O15)."""
