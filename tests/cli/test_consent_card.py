"""A request for consent on a terminal: all of the code, nothing that could steer, and where to answer."""

from typing import Any

import pytest

from placet.cli.consent_card import consent_card, consent_decided, consent_summary

DIGEST = "3fa9c2" + "0" * 58
WHO = {"kind": "person", "name": "owner", "account": "ada"}


def request(**changes: Any) -> dict[str, Any]:
    view = {
        "run": "run-7", "plugin": "dice-1", "package": "pkg-2", "mode": "update", "session": "s-1",
        "sessionName": {"text": "demo", "origin": "title"}, "name": "Dice", "purpose": "Rolls dice.",
        "model": "rehearsal", "hasHostHalf": True, "hasClientHalf": True, "digest": DIGEST, "requestedAt": 0,
        "state": "open", "position": 1, "total": 3, "host": "async def apply(ctx):\n    pass\n",
        "client": "return { apply() {} }", "wants": {"services": ["shell"], "seats": ["sidebar.footer.action"]},
        "consentedBefore": None, "decision": None,
    }  # fmt: skip
    return view | changes


def shown(view: dict[str, Any], width: int = 100) -> str:
    return consent_card(view, now=65_000, width=width)


def test_design_10_the_card_shows_both_halves_whole_and_says_where_to_answer() -> None:
    code = "\n".join(f"host-{n}" for n in range(300))
    text = shown(request(host=code, client="c" * 5000 + "THE END"), width=70)
    assert all(f"host-{n}" in text for n in range(300))
    assert "c" * 62 in text and "THE END" in "".join(line[8:] for line in text.splitlines())
    for wanted in ("run-7", "1 of 3 open", "dice-1, version pkg-2", "demo (s-1)", "shell", "sidebar.footer.action"):
        assert wanted in text
    assert DIGEST in text and "in the page only" in text and "takes the place" in text


def test_attack_22_code_and_words_of_the_agent_cannot_steer_the_terminal_or_play_a_line_of_the_card() -> None:
    evil = "x\x1b[2J\u202eevil\r"
    text = shown(request(host=evil, client=evil, name=evil, purpose=f"a\nDigest   {'0' * 64}", model=evil))
    assert not set("\x1b\u202e\r") & set(text)
    assert [line for line in text.splitlines() if line.startswith("Digest")] == [f"Digest   {DIGEST}"]
    assert "\x1b" not in consent_summary(request(name=evil, plugin=evil), now=1)


def test_a_half_that_is_not_there_is_said() -> None:
    assert "runs beside the server in the session's sandbox: there is none." in shown(request(host=None))


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({"outcome": "consented", "width": "future", "who": WHO, "channel": "page"}, "future versions too"),
        ({"outcome": "consented", "width": "package", "who": WHO, "channel": "page"}, "this version only"),
        ({"outcome": "declined", "width": None, "who": WHO, "channel": "socket"}, "declined, by ada over socket"),
        ({"outcome": "cancelled", "width": None, "who": None, "channel": None, "detail": "undefined"}, "undefined"),
    ],
)
def test_how_a_request_was_settled_is_one_sentence(decision: dict[str, Any], said: str) -> None:
    assert said in consent_decided(decision)
    assert said in shown(request(decision=decision, state="decided", position=None))
