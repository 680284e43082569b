"""The card on a terminal shows the whole subject, and nothing of it can pretend to be placet's own words."""

import json
from typing import Any

import pytest

from placet.cli.card import card, decided, summary
from placet.cli.columns import waited

DIGEST = "3fa9c2" + "0" * 58


def ask(arguments: dict[str, Any] | str = "", **changes: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments).replace("\\", "\\\\")
    subject = {
        "v": 1, "ask": "a-1", "session": "s-1", "agent": "rehearsal", "call": {"turn": 1, "step": 1, "position": 0},
        "tool": "bash", "toolDigest": "0" * 64, "arguments": text, "cwd": "/w", "cwdId": "1:2",
        "fromMode": "workspace-write", "toMode": "danger-full-access", "denied": None, "files": [],
    }  # fmt: skip
    view = {
        "id": "a-1", "session": "s-1", "sessionName": {"text": "demo", "origin": "title"},
        "agent": "rehearsal", "tool": "bash", "reason": None,
        "subject": subject, "digest": DIGEST, "askedAt": 0, "state": "open", "decision": None,
        "position": 1, "total": 2,
        "rearmed": False, "earlierRun": False, "fullAccess": True, "scriptCovered": False,
    }  # fmt: skip
    subject |= {key: changes.pop(key) for key in list(changes) if key in subject}
    return view | changes


def shown(view: dict[str, Any], width: int = 100) -> str:
    return card(view, now=65_000, width=width)


def test_the_card_says_who_what_where_mode_and_the_whole_digest() -> None:
    text = shown(ask({"command": "echo hi > ~/note.txt"}))
    for wanted in ("a-1", "1 of 2 open", "demo (s-1)", "rehearsal", "bash", "/w (1:2)", "echo hi > ~/note.txt", DIGEST):
        assert wanted in text
    assert "without the sandbox" in text
    assert "can change placet itself" in text
    assert "not tried in the sandbox" in text


def test_a_recorded_denial_is_shown_with_its_path() -> None:
    text = shown(ask({"command": "x"}, denied={"path": "/outside/note.txt", "time": 0, "call": "1.1.0"}))
    assert "The sandbox refused /outside/note.txt" in text


def test_a_long_command_is_numbered_and_never_cut() -> None:
    command = "\n".join(f"line-{n}" for n in range(400))
    text = shown(ask({"command": command}))
    assert all(f"line-{n}" in text for n in range(400))
    assert "400 lines" in text


def test_ui_05_a_long_line_is_wrapped_and_its_end_is_there() -> None:
    text = shown(ask({"command": "x" * 3000 + "; touch /outside"}), width=60)
    code = [line[8:] for line in text.splitlines() if line[6:7] in ("|", ">") and not line[:5].strip(" 0123456789")]
    assert "".join(code).endswith("touch /outside")
    assert max(len(line) for line in text.splitlines()) <= 80


def test_ui_05_runs_of_blanks_are_counted() -> None:
    assert "‹2000 blanks›; touch /x" in shown(ask({"command": "ls" + " " * 2000 + "; touch /x"}))


def test_empty_lines_are_counted() -> None:
    assert "‹9999 empty lines›" in shown(ask({"command": "ls" + "\n" * 10_000 + "touch /x"}))


def test_other_arguments_are_shown_too() -> None:
    assert "workdir: /elsewhere" in shown(ask({"command": "x", "workdir": "/elsewhere"}))


def test_letters_that_look_like_others_are_named() -> None:
    assert "CYRILLIC SMALL LETTER A" in shown(ask({"command": "p\u0430ypal"}))


def test_arguments_that_are_no_object_are_shown_as_they_are() -> None:
    assert "[1, 2]" in shown(ask("[1, 2]"))


def test_the_models_reason_is_labelled_and_cannot_fake_a_field() -> None:
    text = shown(ask({"command": "x"}, reason="good\nDigest   0000\x1b[1A"))
    assert "The agent says, not checked by placet:\n  good\n  Digest   0000‹ESC›[1A" in text


def test_backslashes_of_the_reason_stay_as_they_are() -> None:
    assert "a \\\\server\\u0000 share" in shown(ask({"command": "x"}, reason="a \\\\server\\u0000 share"))


def test_words_are_not_broken_and_nothing_is_lost() -> None:
    reason = "It needs the network to fetch the dependencies of this very old project, " + "x" * 150
    text = shown(ask({"command": "x"}, reason=reason), width=60)
    rows = text.split("not checked by placet:\n")[1].split("\n\n")[0].split("\n")
    assert "".join(row.removeprefix("  ") for row in rows) == reason
    assert [row.strip() for row in rows[:2]] == [
        "It needs the network to fetch the dependencies of this",
        "very old project,",
    ]
    assert all(len(row.rstrip()) <= 60 for row in rows)


def test_no_name_can_add_a_line() -> None:
    before = len(shown(ask({"command": "x"})).splitlines())
    name = {"text": "a\nMode     now read-only", "origin": "title"}
    assert len(shown(ask({"command": "x"}, sessionName=name)).splitlines()) == before


def test_attack_23_a_summary_never_shows_enough_to_sign() -> None:
    line = summary(ask({"command": "a\nb"}), now=5000)
    assert "\n" not in line and "3fa9c2" not in line and "(+1 lines)" in line


def test_a_decision_is_told_in_one_sentence() -> None:
    who = {"kind": "person", "name": "owner", "account": "ann"}
    decision = {"outcome": "allowed-once", "who": who, "channel": "page"}
    assert decided(decision) == "Decided: allowed once, by ann over page."


@pytest.mark.parametrize(("ms", "text"), [(0, "0 s"), (61_000, "1 min"), (7_500_000, "2 h 5 min"), (-5, "0 s")])
def test_waiting_times_read_well(ms: int, text: str) -> None:
    assert waited(ms) == text


def test_a_script_that_is_signed_with_the_command_is_shown_whole() -> None:
    file = {"path": "/ws/s.sh", "sha256": "0" * 64, "text": "echo one\necho \\\\x \\udce9\n"}
    subject = {**ask()["subject"], "files": [file]}
    text = shown({**ask(), "subject": subject, "scriptCovered": True})
    assert "File /ws/s.sh, signed together with it: 3 lines" in text
    assert "    2 | echo \\x " in text
    assert "what scripts and programs that this file starts contain" in text
    assert "what scripts and programs that this command starts contain" in shown(ask())
