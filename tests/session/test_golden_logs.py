"""The golden logs: every event type as it is written to disk, and one whole turn. The page folds the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from placet.approval.subject import Subject
from placet.session import TURNS, Event, TurnState
from placet.session.catalogue import CATALOGUE, MODEL_VISIBLE, misfits
from placet.session.export import lines, parse
from placet.session.verify import check

LOGS = Path(__file__).resolve().parents[1] / "fixtures" / "logs"
FILES = sorted(LOGS.rglob("*.jsonl"))


def events(path: Path) -> tuple[Event, ...]:
    parsed = parse(path.read_bytes())
    assert parsed.dropped is None
    return parsed.events


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_log_is_written_again_byte_by_byte(path: Path) -> None:
    assert lines(events(path)).encode() == path.read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_log_passes_the_built_in_check(path: Path) -> None:
    assert check(events(path)) == []


@pytest.mark.parametrize("kind", CATALOGUE)
def test_every_event_type_stands_in_a_golden_log_and_follows_the_table(kind: str) -> None:
    found = [event for path in FILES for event in events(path) if event.type == kind]
    assert found, f"add a line of {kind} to tests/fixtures/logs/families"
    for event in found:
        assert misfits(event.type, event.data, event.key) == []


@pytest.mark.parametrize("kind", CATALOGUE)
def test_a_field_that_is_missing_is_a_misfit(kind: str) -> None:
    event = next(event for path in FILES for event in events(path) if event.type == kind)
    for field in CATALOGUE[kind].fields:
        if not field.optional:
            data = {name: value for name, value in event.data.items() if name != field.name}
            assert misfits(kind, data, event.key)


def test_f3_exactly_three_types_are_visible_to_the_model() -> None:
    assert {"user/message", "assistant/message", "tool/result"} == MODEL_VISIBLE


def test_the_digest_of_every_golden_ask_is_that_of_its_subject() -> None:
    asked = [event for path in FILES for event in events(path) if event.type == "approval/asked"]
    assert len(asked) >= 3
    for event in asked:
        assert Subject.of(event.data["subject"]).digest == event.data["digest"]


def test_the_whole_turn_folds_to_the_golden_states() -> None:
    golden = json.loads((LOGS / "whole-turn.states.json").read_text())
    state = TURNS.start()
    states = []
    for event in events(LOGS / "whole-turn.jsonl"):
        state = TURNS.step(state, event)
        states.append(summary(state))
    assert states == golden


def summary(state: TurnState) -> dict[str, Any]:
    """What Python and the page must agree on after each event."""
    calls = [
        {
            "step": facts.step,
            "position": facts.position,
            "called": facts.called is not None,
            "started": facts.started is not None,
            "result": facts.result is not None,
        }
        for _, facts in sorted(state.calls.items())
    ]
    return {
        "turn": state.number,
        "open": state.open,
        "aborted": state.aborted,
        "phase": state.phase.value,
        "step": state.step,
        "calls": calls,
    }
