"""Text of models, logs and names made harmless for a terminal: what hides, turns or moves is shown as a mark.

The page does the same with more colours (`ui/src/text/visible.ts`); both use the same names.
"""

import re
import unicodedata
from collections.abc import Iterator

from placet.cli.characters import BLANK, NAMES

_TAB = "TAB"
_OF_MARKS = "‹›"
"""What marks are made of is itself marked, so that no text can hold a false one."""
_BLANK_RUN = 8
"""From so many blanks on a run of them is one mark with their number, so that nothing is pushed out of sight."""
_BLANKS = re.compile(f"[{BLANK}]+(?:[ \\t]+[{BLANK}]+)*")
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str) -> str:
    """The text with a mark `‹NAME›` or `‹U+XXXX›` for each character that a reader could not see; newlines stay.

    Control, format, surrogate, private and unassigned characters, blanks other than the space, invisible letters and
    combining marks are marked, so that nothing printed can move the cursor, turn the text or paint over another line.
    A long run of blanks other than the space is one mark with their number, `‹NBSP ×2000›`.
    """
    return "".join(_shown(text))


def _shown(text: str) -> Iterator[str]:
    at = 0
    for run in _BLANKS.finditer(text):
        if len(run[0]) >= _BLANK_RUN:
            yield from (character if _plain(character) else _mark(character) for character in text[at : run.start()])
            name = NAMES[ord(run[0][0])] if len(set(run[0])) == 1 else "BLANKS"
            yield f"‹{name} ×{len(run[0])}›"
            at = run.end()
    yield from (character if _plain(character) else _mark(character) for character in text[at:])


def visible_line(text: str) -> str:
    """Like `visible`, for a place that is one line: newlines are marked too."""
    return visible(text).replace("\n", "‹LF›")


def hidden_count(text: str) -> int:
    """How many characters of the text `visible` would mark."""
    return sum(not _plain(character) for character in text)


def _plain(character: str) -> bool:
    if character == "\n" or " " <= character <= "~":
        return True
    code = ord(character)
    if code < 0xA1 or code in NAMES or character in _OF_MARKS:
        return False
    category = unicodedata.category(character)
    if category in _HIDDEN_CATEGORIES or category.startswith("M"):
        return False
    return category != "Zs"


def _mark(character: str) -> str:
    code = ord(character)
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return "‹VS›"
    if 0xE0020 < code < 0xE007F:
        return f"‹TAG {chr(code - 0xE0000)}›"
    return f"‹{_TAB if character == chr(9) else NAMES.get(code) or f'U+{code:04X}'}›"
