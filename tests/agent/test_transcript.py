"""What the model reads is a fold of three event types; results stand in the order of the calls."""

from __future__ import annotations

from typing import Any

from placet.agent.model import AssistantTurn, ModelCall, ToolReturn, UserTurn
from placet.agent.model.port import Message
from placet.agent.transcript import NO_RESULT, TRANSCRIPT
from placet.session.codec import escape
from placet.session.event import Event
from placet.session.fold import folded
from placet.session.ids import SessionId


def events(*facts: tuple[str, dict[str, Any]]) -> list[Event]:
    return [Event(SessionId("s"), seq, 0, kind, data, f"k{seq}", seq) for seq, (kind, data) in enumerate(facts)]


def messages(*facts: tuple[str, dict[str, Any]]) -> tuple[Message, ...]:
    return folded(TRANSCRIPT, events(*facts)).messages()


def user(text: str, kind: str = "user", name: str | None = None) -> tuple[str, dict[str, Any]]:
    source = {"kind": kind} if name is None else {"kind": kind, "name": name}
    return "user/message", {"id": text, "text": text, "source": source, "turn": 1}


def said(step: int, text: str, *arguments: str, **more: Any) -> tuple[str, dict[str, Any]]:
    calls = [{"position": i, "id": "same", "name": "bash", "arguments": escape(a)} for i, a in enumerate(arguments)]
    return "assistant/message", {"turn": 1, "step": step, "model": "m", "text": text, "calls": calls, **more}


def result(step: int, position: int, text: str) -> tuple[str, dict[str, Any]]:
    where = {"turn": 1, "step": step, "position": position}
    return "tool/result", {
        **where,
        "name": "bash",
        "text": text,
        "isError": False,
        "code": None,
        "value": None,
        "meta": {},
    }


def test_b21_results_stand_in_the_order_of_the_calls_whenever_they_came() -> None:
    found = messages(user("go"), said(1, "", "a", "b"), result(1, 1, "late first"), result(1, 0, "early last"))
    assert [m.text for m in found if isinstance(m, ToolReturn)] == ["early last", "late first"]


def test_calls_with_equal_ids_get_the_servers_own_names() -> None:
    found = messages(said(2, "", "a", "b"), result(2, 0, "A"), result(2, 1, "B"))
    assert found == (
        AssistantTurn("", (ModelCall("call_1_2_0", "bash", "a"), ModelCall("call_1_2_1", "bash", "b"))),
        ToolReturn("call_1_2_0", "bash", "A"),
        ToolReturn("call_1_2_1", "bash", "B"),
    )


def test_arguments_come_back_as_the_vendor_sent_them() -> None:
    text = '{"command": "printf \'a\\\\b\x00\u2028\'"'
    [turn] = messages(said(1, "", text))[:1]
    assert isinstance(turn, AssistantTurn) and turn.calls[0].arguments == text


def test_a20_e12_asks_and_everything_else_that_is_log_only_never_enter() -> None:
    silent = [
        ("approval/asked", {}),
        ("approval/decided", {}),
        ("approval/policy", {}),
        ("permission/preset", {}),
        ("sandbox/mode", {}),
        ("tool/started", {}),
        ("notice", {}),
    ]
    assert messages(user("go"), *silent) == (UserTurn("go"),)


def test_a_call_without_a_result_is_told_as_such() -> None:
    found = messages(said(1, "", "a"), user("next"))
    assert found[1] == ToolReturn("call_1_1_0", "bash", NO_RESULT, is_error=True)


def test_f20_an_interrupted_message_keeps_its_text_and_says_so() -> None:
    [turn] = messages(said(1, "I was", interrupted=True))
    assert isinstance(turn, AssistantTurn)
    assert turn.text.startswith("I was") and "interrupted" in turn.text


def test_g14_the_last_statement_of_the_rules_is_remembered() -> None:
    state = folded(
        TRANSCRIPT, events(user("old", "plugin", "context"), user("new", "plugin", "context"), user("x", "plugin", "y"))
    )
    assert state.context == "new"


def test_f4_folding_piece_by_piece_gives_what_folding_at_once_gives() -> None:
    facts = [user("go"), said(1, "t", "a", "b"), result(1, 1, "B"), user("steer"), result(1, 0, "A"), said(2, "done")]
    state = TRANSCRIPT.start()
    for event in events(*facts):
        state = TRANSCRIPT.step(state, event)
    assert state.messages() == messages(*facts)
    assert [type(m).__name__ for m in state.messages()] == [
        "UserTurn", "AssistantTurn", "ToolReturn", "ToolReturn", "UserTurn", "AssistantTurn"
    ]  # fmt: skip
