"""A digest is typed by a hand on a terminal that nothing else can draw on; a paste is nothing."""

import os
import sys
from collections.abc import Iterator

import pytest

from tests.cli.on_terminal import OnTerminal

PROGRAM = """
from placet.cli import terminal
assert terminal.is_terminal()
try:
    with terminal.exclusive():
        print("GOT", terminal.ask_typed(lambda: "the card", "type: ", 6))
except terminal.NotTyped:
    print("PASTED")
except terminal.GaveUp:
    print("GAVE UP")
"""


@pytest.fixture
def asked() -> Iterator[OnTerminal]:
    made = OnTerminal([sys.executable, "-c", PROGRAM], os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    yield made
    made.close()


def test_what_is_typed_is_taken(asked: OnTerminal) -> None:
    asked.until("type: ")
    asked.type("3fa9c2\r")
    assert "GOT 3fa9c2" in asked.end()[1]


def test_a_wrong_key_can_be_taken_back(asked: OnTerminal) -> None:
    asked.until("type: ")
    asked.type("3fb")
    asked.paste("\x7f")
    asked.until("\b \b")
    asked.type("a9c2\r")
    assert "GOT 3fa9c2" in asked.end()[1]


@pytest.mark.parametrize("text", ["3fa9c2", "3fa9c2\n", "\x1b[200~3fa9c2\n\x1b[201~"])
def test_attack_23_a_paste_is_refused_with_and_without_bracketed_paste_and_newline(
    asked: OnTerminal, text: str
) -> None:
    asked.until("type: ")
    asked.paste(text)
    assert "PASTED" in asked.end()[1]


def test_attack_23_what_was_pasted_before_the_card_was_drawn_is_thrown_away(asked: OnTerminal) -> None:
    asked.paste("3fa9c2\n")
    asked.until("type: ")
    asked.paste("\x04")
    shown = asked.end()[1]
    assert "GAVE UP" in shown and "GOT" not in shown


@pytest.mark.parametrize("key", ["\r", "\x03", "\x04"])
def test_no_answer_is_no_decision(asked: OnTerminal, key: str) -> None:
    asked.until("type: ")
    asked.paste(key)
    assert "GAVE UP" in asked.end()[1]


def test_attack_22_the_terminal_is_exclusive_while_the_card_is_up(asked: OnTerminal) -> None:
    asked.until("type: ")
    if os.geteuid() == 0:
        pytest.skip("root may open an exclusive terminal (TIOCEXCL in tty_ioctl(4))")
    with pytest.raises(OSError, match="busy"):
        os.open(asked.path, os.O_WRONLY | os.O_NOCTTY)
    asked.paste("\x03")
    asked.end()
