"""The built-in check of what a log says."""

from __future__ import annotations

from typing import Any

from placet.session import Event, SessionId
from placet.session.verify import check
from placet.testing.stores import created

BY = {"kind": "person", "name": "owner", "channel": "page"}


def log(*events: tuple[str, str, dict[str, Any]]) -> list[Event]:
    first = created()
    rows = [(first.type, first.key, dict(first.data)), *events]
    return [Event(SessionId("s-1"), n, n, kind, data, key, n + 1) for n, (kind, key, data) in enumerate(rows)]


def faults(*events: tuple[str, str, dict[str, Any]]) -> list[str]:
    return [found.what for found in check(log(*events))]


START = ("turn/start", "turn:1", {"turn": 1})
END = ("turn/end", "end:1", {"turn": 1, "reason": {"kind": "completed"}})
ASKED = (
    "approval/asked",
    "asked:a-1",
    {
        "id": "a-1",
        "toolName": "bash",
        "call": {"turn": 1, "step": 1, "position": 1},
        "subject": {},
        "digest": "00",
        "policy": "ask",
        "chain": ["inbox"],
    },
)
DECIDED = (
    "approval/decided",
    "decided:a-1",
    {
        "id": "a-1",
        "outcome": "rejected",
        "detail": None,
        "who": {"kind": "person", "name": "owner"},
        "channel": "page",
        "evidence": "page",
        "strength": "page-key",
        "digest": "00",
        "feedback": None,
        "key": None,
        "asked": 5,
    },
)
PLACE = {"turn": 1, "step": 1, "position": 1}
CALL = ("tool/call", "call:1.1.1", {**PLACE, "callId": "x", "name": "bash", "arguments": "{}"})
STARTED = ("tool/started", "started:1.1.1", {**PLACE, "ask": None, "digest": None, "mode": "read-only"})


def test_a_well_made_log_has_no_findings() -> None:
    assert faults(START, ASKED, DECIDED, END) == []


def test_what_is_open_at_the_end_is_not_wrong() -> None:
    assert faults(START, CALL, ASKED) == faults(START, CALL, STARTED) == []


def test_a22_an_ask_belongs_into_an_open_turn() -> None:
    assert faults(ASKED) == ["approval/asked: asked outside an open turn"]
    assert "asked outside an open turn" in faults(START, END, ASKED)[0]


def test_a22_a_decision_needs_its_ask() -> None:
    assert "never asked" in faults(START, DECIDED)[0]


def test_a22_at_the_end_of_a_turn_every_ask_is_decided_and_every_call_has_its_result() -> None:
    (undecided,) = faults(START, ASKED, END)
    assert "a-1 has no decision" in undecided
    (unanswered,) = faults(START, CALL, END)
    assert "call 1.1.1 has no result" in unanswered


def test_a_call_that_started_was_taken_up_before() -> None:
    assert "not there" in faults(START, STARTED)[0]


def test_f7_turns_are_counted_and_never_overlap() -> None:
    assert "follows turn 0" in faults(("turn/start", "turn:2", {"turn": 2}))[0]
    assert "has not ended" in faults(START, ("turn/start", "turn:2", {"turn": 2}))[0]
    assert "not open" in faults(END)[0]


def test_fields_that_the_table_does_not_know_are_found() -> None:
    assert faults(("turn/start", "turn:1", {"turn": 1, "extra": 2})) == ["turn/start: extra is not in the table"]
    assert faults(("turn/start", "turn:1", {}))[0] == "turn/start: turn is missing"
    assert faults(("turn/start", "turn:1", {"turn": None}))[0] == "turn/start: turn is null"
    assert faults(("turn/start", "turn:1", {"turn": True}))[0] == "turn/start: turn is no integer"


def test_a_key_that_does_not_follow_the_table_is_found() -> None:
    assert "does not follow" in faults(("turn/start", "turn:7", {"turn": 1}))[0]


def test_an_unknown_type_is_found_unless_it_may_be_skipped() -> None:
    assert faults(("later/thing", "k", {})) == ["later/thing: later/thing is not in the table"]
    assert faults(("later/thing", "k", {"ignorable": True})) == []


def test_a_gap_and_an_equal_key_are_found() -> None:
    events = log(START, END)
    assert "it should be seq 1" in [found.what.removeprefix("turn/end: ") for found in check([events[0], events[2]])]
    assert any("there twice" in found.what for found in check([*events, events[1]]))


IDS = {"run": "run-1", "plugin": "clock-1", "package": "pkg-1"}
REQUESTED = (
    "cordis/requested",
    "requested:run-1",
    {
        **IDS,
        "mode": "run",
        "needsConsent": True,
        "digest": "00",
        "call": None,
        "by": BY,
        "holder": "1",
        "deadline": None,
    },
)
RUN_STARTED = ("cordis/started", "run-started:run-1", {**IDS, "mode": "read-only", "holder": "1"})


def test_a_run_starts_only_after_somebody_has_agreed_to_it() -> None:
    assert "to which nobody agreed" in faults(REQUESTED, RUN_STARTED)[0]
    assert "never requested" in faults(RUN_STARTED)[0]
    free = (REQUESTED[0], REQUESTED[1], {**REQUESTED[2], "needsConsent": False})
    assert faults(free, RUN_STARTED) == []


def test_code_that_is_not_what_its_digest_says_is_found() -> None:
    data = {"plugin": "clock-1", "package": "pkg-1", "name": "n", "purpose": "p", "host": "evil", "client": None}
    found = faults(("cordis/defined", "defined:1.1.0", {**data, "digest": "0" * 64, "call": "1.1.0"}))
    assert found == ["cordis/defined: the code of pkg-1 is not what its digest says"]
