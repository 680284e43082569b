"""Nothing that a model or a log holds can move the cursor, turn the text, or hide."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.cli.characters import BLANK, NAMES
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" + "\u00a0" * 2000 + "; rm x", "a‹NBSP ×2000›; rm x"),
        ("\u3000" * 8 + "b", "‹IDSP ×8›b"),
        ("\u3000" * 7, "‹IDSP›" * 7),
        ("a" + "\u00a0 \t" * 500 + "\u2003b", "a‹BLANKS ×1501›b"),
        ("\u2800" * 9 + "\n" + "\u3164" * 9, "‹BRAILLE ×9›\n‹HF ×9›"),
    ],
)
def test_ui_05_a_run_of_blanks_is_one_mark_with_their_number(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_page_and_terminal_count_the_same_blanks() -> None:
    page = (Path(__file__).parents[2] / "ui" / "src" / "text" / "visible.ts").read_text(encoding="utf-8")
    blank = BLANK.encode("ascii", "backslashreplace").decode().replace("\\xa0", "\\u00a0")
    assert f"/[{blank}]+(?:[ \\t]+[{blank}]+)*/y" in page


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
