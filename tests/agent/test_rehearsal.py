"""The rehearsal behaves like a careful agent, by the transcript alone."""

from __future__ import annotations

import json

import pytest

from placet.agent.context import sandbox_text
from placet.agent.model import AssistantTurn, ModelRequest, Reply, TextDelta, ToolReturn, UserTurn
from placet.agent.model.port import Message
from placet.agent.model.rehearsal import GREETING, Rehearsal, respond
from placet.agent.model.rehearsal.answer import Answer
from placet.agent.model.rehearsal.commands import denied_path, narrowest
from placet.sandbox.mode import SandboxMode
from placet.tools.bash.text import FINAL, HINT
from placet.tools.jobs.words import started as background

pytestmark = pytest.mark.anyio

RULES = UserTurn(f"[placet]\n- {sandbox_text(SandboxMode.WORKSPACE_WRITE, '/w')}", "plugin")
READ_ONLY = UserTurn(f"[placet]\n- {sandbox_text(SandboxMode.READ_ONLY, '/w')}", "plugin")
OFFER = HINT


def denied(path: str = "/home/x/note.txt", mode: str = "workspace-write", offer: str = OFFER) -> str:
    said = f"bash: line 1: {path}: Read-only file system"
    return f"[stderr]\n{said}\n[sandbox: file access denied under {mode} mode]\n{offer}\n[exit code: 1]"


def arguments(answer: Answer) -> list[dict[str, str]]:
    return [json.loads(call.arguments) for call in answer.calls]


def after(result: str, *, is_error: bool = False, before: tuple[Message, ...] = (RULES,), **more: str) -> Answer:
    """The answer to the result of `echo hi > ~/note.txt`; `more` are the call's arguments beside the command."""
    first = respond((*before, UserTurn("$ echo hi > ~/note.txt")))
    [call] = first.calls
    call = type(call)(call.id, call.name, json.dumps({**json.loads(call.arguments), **more}))
    told = AssistantTurn("", (call,))
    return respond((*before, UserTurn("$ echo hi > ~/note.txt"), told, ToolReturn(call.id, "bash", result, is_error)))


def test_a_dollar_line_runs_that_command() -> None:
    answer = respond((UserTurn("please\n $ echo hi > ~/note.txt"),))
    [call] = arguments(answer)
    assert call["command"] == "echo hi > ~/note.txt"
    assert set(call) == {"command", "description"}


def test_several_dollar_lines_become_parallel_calls() -> None:
    answer = respond((UserTurn("$ ls\n$ pwd\n$ date"),))
    assert [call["command"] for call in arguments(answer)] == ["ls", "pwd", "date"]
    assert len({call.id for call in answer.calls}) == 3


@pytest.mark.parametrize("text", ["hello", "what can you do?", "$", "$   "])
def test_other_text_gets_an_honest_reply(text: str) -> None:
    answer = respond((UserTurn(text),))
    assert answer.sentences == [GREETING] and not answer.calls
    assert "not a real model" in GREETING


def test_a_denial_makes_it_retry_the_exact_command_once_with_a_reason() -> None:
    [call] = arguments(after(denied()))
    assert call["command"] == "echo hi > ~/note.txt"
    assert call["sandbox_permissions"] == "danger-full-access"
    assert call["justification"].count(".") - call["justification"].count("note.txt") == 1
    assert "/home/x/note.txt" in call["justification"]


def test_a_denial_of_the_retry_is_not_tried_again() -> None:
    answer = after(denied(), sandbox_permissions="danger-full-access", justification="Because.")
    assert not answer.calls and "I leave it at that" in answer.sentences[0]


def test_without_an_offer_to_escalate_it_does_not_ask() -> None:
    assert not after(denied(offer="")).calls


def test_where_every_ask_is_rejected_it_shows_that_too() -> None:
    answer = after(denied(offer=FINAL))
    assert [call["command"] for call in arguments(answer)] == ["echo hi > ~/note.txt"]
    assert "ask all the same" in answer.sentences[0]


def test_the_narrowest_mode_that_suffices_is_requested() -> None:
    [call] = arguments(after(denied("/w/sub/file", "read-only"), before=(READ_ONLY,)))
    assert call["sandbox_permissions"] == "workspace-write"
    assert narrowest("read-only", "file", "/w") == "workspace-write"
    assert narrowest("read-only", "/wider/file", "/w") == "danger-full-access"
    assert narrowest("read-only", "../file", "/w") == "danger-full-access"
    assert narrowest("read-only", None, "/w") == "danger-full-access"
    assert narrowest("workspace-write", "/w/file", "/w") == "danger-full-access"


ASKED = {"sandbox_permissions": "danger-full-access", "justification": "Because."}
REJECTED = "Error: the user rejected running this command once. It did not run. This is final for this command."


def test_a_rejection_is_acknowledged_with_the_note_and_not_repeated() -> None:
    answer = after(f"{REJECTED}\nThe user's note: write it to the\nworkspace", is_error=True, **ASKED)
    assert not answer.calls
    assert answer.sentences[0].startswith("You rejected `echo hi > ~/note.txt`")
    assert answer.sentences[0].endswith("I read your note: write it to the\nworkspace")


def test_a_rejection_without_a_note_invents_none() -> None:
    assert "note:" not in after(REJECTED, is_error=True, **ASKED).sentences[0]


def test_another_error_is_passed_on_and_is_not_called_a_refusal() -> None:
    answer = after("Error: no decision about it: nobody answered in time.", is_error=True, **ASKED)
    assert not answer.calls and "rejected" not in answer.sentences[0] and "nobody answered" in answer.sentences[0]


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("bash: line 1: /home/x/note.txt: Read-only file system", "/home/x/note.txt"),
        ("touch: cannot touch '/etc/x': Permission denied", "/etc/x"),
        ("touch: cannot touch ‘/etc/x’: Permission denied", "/etc/x"),
        ("first\nbash: line 2: ../up: Permission denied\nlast", "../up"),
        ("nothing of the kind", None),
        (": Permission denied", None),
        ("a" * 100_000 + ": Permission denied", "a" * 4096),
    ],
)
def test_the_denied_path_is_found_by_plain_search(said: str, path: str | None) -> None:
    assert denied_path(said) == path


def test_a_result_is_reported_with_its_end() -> None:
    assert after("hi\n[exit code: 0]").sentences == ["`echo hi > ~/note.txt` has run (exit code: 0)."]


def test_only_news_since_the_last_message_count() -> None:
    answer = respond((UserTurn("$ ls"), AssistantTurn("It ran."), UserTurn("[placet] rules", "plugin"), UserTurn("hi")))
    assert answer.sentences == [GREETING]


async def test_the_text_is_streamed_in_pieces_and_the_same_again_after_a_crash() -> None:
    request = ModelRequest("", (UserTurn("hello"),))
    first = [piece async for piece in Rehearsal(pace=0).stream(request)]
    assert len(first) > 20 and isinstance(first[-1], Reply)
    assert "".join(piece.text for piece in first if isinstance(piece, TextDelta)) == GREETING
    assert first == [piece async for piece in Rehearsal(pace=0).stream(request)]


def test_a_line_that_ends_with_an_ampersand_runs_in_the_background_and_its_end_is_told() -> None:
    answer = respond((UserTurn("$ npm run dev &"),))
    [call] = [json.loads(call.arguments) for call in answer.calls]
    assert call["command"] == "npm run dev" and call["run_in_background"] is True
    told = AssistantTurn("", tuple(answer.calls))
    started = ToolReturn(answer.calls[0].id, "bash", background("j-1"), False)
    [said] = respond((UserTurn("$ npm run dev &"), told, started)).sentences
    assert "runs in the background" in said
    over = UserTurn("Background job j-1 is over [ended, exit code: 1]. Command: npm run dev", "plugin")
    [said] = respond((UserTurn("$ npm run dev &"), told, started, AssistantTurn(said, ()), over)).sentences
    assert said.startswith("Background job j-1 is over [ended, exit code: 1]")
