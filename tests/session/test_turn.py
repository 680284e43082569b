"""Turns as the log tells them."""

from __future__ import annotations

from typing import Any

from placet.session import TURNS, CallFacts, Event, Phase, SessionId, TurnState, folded


def log(*events: tuple[str, dict[str, Any]]) -> list[Event]:
    return [Event(SessionId("s-1"), n, 1000 + n, kind, data, f"k:{n}", n + 1) for n, (kind, data) in enumerate(events)]


def start(turn: int) -> tuple[str, dict[str, Any]]:
    return "turn/start", {"turn": turn}


def end(turn: int, kind: str = "completed") -> tuple[str, dict[str, Any]]:
    return "turn/end", {"turn": turn, "reason": {"kind": kind}}


def step(turn: int, step: int) -> tuple[str, dict[str, Any]]:
    return "step/start", {"turn": turn, "step": step}


def said(turn: int, step: int, *positions: int) -> tuple[str, dict[str, Any]]:
    calls = [{"position": n, "id": "x", "name": "bash", "arguments": "{}"} for n in positions]
    return "assistant/message", {"turn": turn, "step": step, "model": "m", "text": "", "calls": calls}


def call(kind: str, turn: int, step: int, position: int) -> tuple[str, dict[str, Any]]:
    return f"tool/{kind}", {"turn": turn, "step": step, "position": position}


def state(*events: tuple[str, dict[str, Any]]) -> TurnState:
    return folded(TURNS, log(*events))


def test_an_empty_log_has_no_turn() -> None:
    assert state() == TurnState()
    assert not state().open and state().phase is Phase.NONE


def test_a_turn_is_open_from_its_start_to_its_end() -> None:
    assert state(start(1)).open and state(start(1)).phase is Phase.STARTED
    closed = state(start(1), end(1))
    assert (closed.open, closed.number, closed.phase) == (False, 1, Phase.NONE)
    assert closed.end is not None and closed.end.data["reason"]["kind"] == "completed"


def test_f7_the_number_goes_on_with_the_next_turn() -> None:
    again = state(start(1), step(1, 1), said(1, 1, 1), end(1), start(2))
    assert (again.number, again.open, again.step, again.calls) == (2, True, 0, {})


def test_a_stop_is_seen_until_the_next_turn() -> None:
    stopped = state(start(1), ("turn/abort", {"turn": 1, "reason": "user"}))
    assert stopped.open and stopped.aborted and stopped.abort is not None
    assert not state(start(1), ("turn/abort", {"turn": 1, "reason": "user"}), end(1, "aborted"), start(2)).aborted


def test_the_phases_of_a_step() -> None:
    events = [start(1), ("user/message", {"turn": 1, "id": "m"})]
    assert (state(*events).phase, state(*events).claimed) == (Phase.STARTED, 1)
    events.append(step(1, 1))
    assert state(*events).phase is Phase.SPEAKING and state(*events).step_open
    events.append(said(1, 1, 1, 2))
    assert state(*events).phase is Phase.CALLING
    events += [call("call", 1, 1, 1), call("started", 1, 1, 1), call("result", 1, 1, 1)]
    assert state(*events).phase is Phase.CALLING
    events.append(call("result", 1, 1, 2))
    assert state(*events).phase is Phase.ANSWERED
    events.append(("step/end", {"turn": 1, "step": 1}))
    assert state(*events).phase is Phase.ANSWERED and not state(*events).step_open
    events += [step(1, 2), said(1, 2)]
    assert state(*events).phase is Phase.SAID and state(*events).step == 2


def test_what_is_known_of_each_call() -> None:
    events = log(
        start(1), step(1, 1), said(1, 1, 1, 2), call("call", 1, 1, 2), call("started", 1, 1, 2), call("result", 1, 1, 2)
    )
    calls = folded(TURNS, events).calls
    requests = events[2].data["calls"]
    assert calls == {
        (1, 1): CallFacts(1, 1, requested=requests[0]),
        (1, 2): CallFacts(1, 2, requests[1], called=events[3], started=events[4], result=events[5]),
    }
    assert folded(TURNS, events).missing == (calls[1, 1],)


def test_a_call_of_an_older_step_stays_as_long_as_it_has_no_result() -> None:
    events = [start(1), step(1, 1), said(1, 1, 1, 2), call("result", 1, 1, 2), step(1, 2), said(1, 2, 1)]
    assert set(state(*events).calls) == {(1, 1), (2, 1)}


def test_a_call_that_the_message_does_not_name_is_kept_too() -> None:
    events = [start(1), step(1, 1), said(1, 1), call("call", 1, 1, 7)]
    assert state(*events).calls[1, 7].requested is None
    assert state(*events).phase is Phase.SAID
    assert [facts.position for facts in state(*events).missing] == [7]


def test_f13_events_of_another_turn_and_of_other_rooms_change_nothing() -> None:
    before = state(start(1), end(1), start(2))
    after = state(start(1), end(1), start(2), call("result", 1, 1, 1), ("notice", {}), ("agent/inbox", {"take": []}))
    assert after == before


def test_a_step_changes_no_older_state() -> None:
    events = log(start(1), step(1, 1), said(1, 1, 1), call("call", 1, 1, 1))
    older = folded(TURNS, events[:3])
    calls = dict(older.calls)
    folded_on = TURNS.step(older, events[3])
    assert older.calls == calls and folded_on.calls != calls
