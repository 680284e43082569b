"""Nothing that a model or a log holds can move the cursor, turn the text, or hide."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.cli.characters import NAMES
from placet.cli.visible import hidden_count, visible, visible_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ASCII, and newlines\nstay", "plain ASCII, and newlines\nstay"),
        ("\x1b]52;c;cm0=\x07", "‹ESC›]52;c;cm0=‹BEL›"),
        ("a\rb", "a‹CR›b"),
        ("a\tb", "a‹TAB›b"),
        ("abc\u202e123", "abc‹RLO›123"),
        ("a\u200bb", "a‹ZWSP›b"),
        ("a\u00a0b", "a‹NBSP›b"),
        ("\ud800", "‹U+D800›"),
        ("a\u0300\u0300", "a‹U+0300›‹U+0300›"),
        ("\u3164\u2800", "‹HF›‹BRAILLE›"),
        ("\u2003", "‹EMSP›"),
        ("\x9b31m", "‹CSI›31m"),
        ("\U000e0041", "‹TAG A›"),
        ("a\ufe0f", "a‹VS›"),
        ("日本語 ünï", "日本語 ünï"),
    ],
)
def test_what_hides_or_turns_is_marked(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_no_text_can_hold_a_false_mark() -> None:
    assert visible("‹ESC›") == "‹U+2039›ESC‹U+203A›"


def test_in_a_line_newlines_are_marked_too() -> None:
    assert visible_line("a\nb") == "a‹LF›b"


def test_hidden_characters_are_counted() -> None:
    assert hidden_count("a\u200b\u202eb\n") == 2


def test_page_and_terminal_use_the_same_names() -> None:
    table = Path(__file__).parents[2] / "ui" / "src" / "text" / "characters.ts"
    rows = re.findall(r"^\s*`?([0-9a-f]+) (\S+) \S", table.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {int(code, 16): short for code, short in rows} == NAMES


@given(st.text(alphabet=st.characters()))
def test_nothing_shown_is_a_control_or_format_character(text: str) -> None:
    shown = visible(text)
    assert all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown)
    shown.encode()
