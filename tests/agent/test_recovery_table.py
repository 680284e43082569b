"""The recovery table as a pure function: each row of the design, and the order in which rows are read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from placet.agent.found import FOUND, Found
from placet.agent.recovery import ASKS, CALLS, TEXTS, TURNS, AskFate, CallFate, TurnFate, plan
from placet.session.event import Event
from placet.session.fold import folded
from placet.session.ids import SessionId

Fact = tuple[str, dict[str, Any], str]
WHERE = {"turn": 1, "step": 1, "position": 0}


def found(*facts: Fact) -> Found:
    events = [Event(SessionId("s"), seq, seq, kind, data, key, seq) for seq, (kind, data, key) in enumerate(facts)]
    return folded(FOUND, events)


def asked(policy: str = "ask", **call: int) -> Fact:
    return "approval/asked", {"id": "a-1", "policy": policy, "call": {**WHERE, **call}}, "asked:a-1"


def decided(outcome: str) -> Fact:
    return "approval/decided", {"id": "a-1", "outcome": outcome}, "decided:a-1"


TURN: Fact = ("turn/start", {"turn": 1}, "turn:1")
STEP: Fact = ("step/start", {"turn": 1, "step": 1}, "step:1.1")
STEP_END: Fact = ("step/end", {"turn": 1, "step": 1}, "step-end:1.1")
WANTED = {"position": 0, "id": "x", "name": "bash", "arguments": "{}"}
SAID: Fact = ("assistant/message", {"turn": 1, "step": 1, "calls": [WANTED]}, "assistant:1.1")
PLAIN: Fact = ("assistant/message", {"turn": 1, "step": 1, "calls": []}, "assistant:1.1")
CALL: Fact = ("tool/call", WHERE, "call:1.1.0")
STARTED: Fact = ("tool/started", WHERE, "started:1.1.0")
RESULT: Fact = ("tool/result", WHERE, "result:1.1.0")
ABORT: Fact = ("turn/abort", {"turn": 1, "reason": "user"}, "abort:1")

OPEN = (TURN, STEP, SAID)


@pytest.mark.parametrize(
    ("facts", "row", "fate"),
    [
        ((CALL, STARTED, RESULT), "tool/result", CallFate.KEPT),
        ((CALL, STARTED), "tool/started, no tool/result", CallFate.UNKNOWN),
        ((CALL, STARTED, ABORT), "tool/started, no tool/result", CallFate.UNKNOWN),
        ((CALL, asked(), decided("allowed-once"), STARTED), "tool/started, no tool/result", CallFate.UNKNOWN),
        ((CALL, ABORT), "turn/abort, no tool/started", CallFate.STOPPED),
        ((CALL, asked(), ABORT), "turn/abort, no tool/started", CallFate.STOPPED),
        ((CALL, asked(), decided("allowed-once"), ABORT), "turn/abort, no tool/started", CallFate.STOPPED),
        ((CALL, asked()), "asked under ask, no decided", CallFate.GOES_ON),
        ((CALL, asked("never")), "asked under never, no decided", CallFate.GOES_ON),
        ((CALL, asked(), decided("allowed-once")), "decided allowed-once, no tool/started", CallFate.GOES_ON),
        ((CALL, asked(), decided("rejected")), "decided otherwise, no tool/result", CallFate.GOES_ON),
        ((CALL, asked(), decided("cancelled")), "decided otherwise, no tool/result", CallFate.GOES_ON),
        ((CALL, asked(), decided("unavailable")), "decided otherwise, no tool/result", CallFate.GOES_ON),
        ((CALL,), "tool/call only", CallFate.NOT_STARTED),
        ((), "not even tool/call", CallFate.NOT_STARTED),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_the_row_of_a_call(facts: tuple[Fact, ...], row: str, fate: CallFate) -> None:
    state = found(*OPEN, *facts)
    [(call, planned)] = plan(state).calls
    assert planned is fate
    assert next(r.found for r in CALLS if r.fits(state, call)) == row


@pytest.mark.parametrize(
    ("facts", "fate"),
    [
        ((CALL, asked()), AskFate.KEPT),
        ((CALL, asked(), ABORT), AskFate.STOPPED),
        ((CALL, STARTED, asked()), AskFate.ASKER_GONE),
        ((CALL, asked(position=7)), AskFate.ASKER_GONE),
        ((CALL, asked(turn=9)), AskFate.ASKER_GONE),
        ((CALL, STARTED, asked(), ABORT), AskFate.STOPPED),
    ],
    ids=["waits", "stopped", "inside a body", "no such call", "another turn", "inside a body, stopped"],
)
def test_the_row_of_an_open_ask(facts: tuple[Fact, ...], fate: AskFate) -> None:
    [(_, planned)] = plan(found(*OPEN, *facts)).asks
    assert planned is fate


@pytest.mark.parametrize(
    ("facts", "row", "fate"),
    [
        ((TURN,), "turn/start and nothing after it", TurnFate.INTERRUPTED),
        ((TURN, ABORT), "turn/abort", TurnFate.ABORTED),
        ((TURN, STEP), "step/start without assistant/message", TurnFate.INTERRUPTED),
        ((TURN, STEP, ABORT), "turn/abort", TurnFate.ABORTED),
        ((TURN, STEP, PLAIN), "the last message has no calls", TurnFate.COMPLETED),
        ((TURN, STEP, PLAIN, STEP_END), "the last message has no calls", TurnFate.COMPLETED),
        ((*OPEN, CALL), "the last message has calls", TurnFate.GOES_ON),
        ((*OPEN, CALL, STARTED, RESULT), "the last message has calls", TurnFate.GOES_ON),
        ((*OPEN, CALL, STARTED, RESULT, STEP_END), "the last message has calls", TurnFate.GOES_ON),
        ((*OPEN, ABORT), "turn/abort", TurnFate.ABORTED),
    ],
)
def test_the_row_of_the_turn(facts: tuple[Fact, ...], row: str, fate: TurnFate) -> None:
    state = found(*facts)
    assert plan(state).turn is fate
    assert next(r.found for r in TURNS if r.fits(state, None)) == row


def test_every_row_is_reached_by_the_cases_above() -> None:
    def names(test: Any) -> set[str]:
        [mark] = [mark for mark in test.pytestmark if mark.name == "parametrize"]
        return {case[1] for case in mark.args[1]}

    assert names(test_the_row_of_a_call) == {row.found for row in CALLS}
    assert names(test_the_row_of_the_turn) == {row.found for row in TURNS}
    assert {row.then for row in ASKS} == set(AskFate)


def test_outcome_unknown_is_said_only_where_started_is_there() -> None:
    for facts in ((), (CALL,), (CALL, asked()), (CALL, asked(), decided("rejected")), (CALL, ABORT)):
        [(_, fate)] = plan(found(*OPEN, *facts)).calls
        assert fate is not CallFate.UNKNOWN
        [(_, fate)] = plan(found(*OPEN, *facts, STARTED)).calls
        assert fate is CallFate.UNKNOWN


def test_o15_never_started_and_outcome_unknown_are_told_apart() -> None:
    assert "did not run" in TEXTS[CallFate.NOT_STARTED] and "unknown" in TEXTS[CallFate.UNKNOWN]
    assert "before you try it again" in TEXTS[CallFate.UNKNOWN]


def test_parallel_calls_are_judged_one_by_one_although_their_ids_are_equal() -> None:
    said = replace_calls(SAID, [WANTED, {**WANTED, "position": 1}])
    second = {**WHERE, "position": 1}
    state = found(TURN, STEP, said, ("tool/call", second, "call:1.1.1"), ("tool/started", second, "started:1.1.1"))
    assert [fate for _, fate in plan(state).calls] == [CallFate.NOT_STARTED, CallFate.UNKNOWN]


def test_a_closed_turn_leaves_nothing_to_recover() -> None:
    state = found(*OPEN, CALL, ("turn/end", {"turn": 1, "reason": {}}, "end:1"))
    assert not state.open and state.turn == 1 and state.calls == () and state.asks == ()


def replace_calls(fact: Fact, calls: list[dict[str, Any]]) -> Fact:
    kind, data, key = fact
    return kind, {**data, "calls": calls}, key


def test_the_state_of_an_older_step_is_forgotten_when_the_next_begins() -> None:
    later = found(*OPEN, CALL, STARTED, RESULT, ("step/start", {"turn": 1, "step": 2}, "step:1.2"))
    assert later == replace(Found(turn=1, open=True), step=2, step_open=True)
