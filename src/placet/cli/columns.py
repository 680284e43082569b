"""The parts that cards on a terminal are drawn with: fields, numbered code, and what would hide in it made visible."""

import re
import unicodedata

from placet.cli.visible import hidden_count, visible, visible_line
from placet.session.codec import unescape

_LABEL = 9
_GUTTER = 8
_WORD = re.compile("[^ ]* *")
_MANY_BLANKS = re.compile(" {16,}")
_EMPTY_RUN = 4


def waited(milliseconds: int) -> str:
    """A waiting time for reading: 12 s, 3 min, 2 h 5 min, 4 d."""
    seconds = max(0, milliseconds // 1000)
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} d"


def counted(text: str) -> str:
    """How much there is of a text, and how much of it cannot be seen."""
    rows = text.count("\n") + 1
    hidden = hidden_count(text)
    return f"{rows} {'line' if rows == 1 else 'lines'}, {len(text)} characters, {hidden} hidden"


def numbered(text: str, width: int) -> list[str]:
    """A text whole, with line numbers; what wraps is marked, and nothing is cut."""
    lines: list[str] = []
    empty = 0
    rows = visible(text).split("\n")
    for number, row in enumerate(rows, start=1):
        if row == "" and number < len(rows):
            empty += 1
            continue
        lines += _gap(number - empty, empty)
        empty = 0
        first, *rest = _pieces(blanks(row), max(20, width - _GUTTER))
        lines.append(f"{number:>5} | {first}")
        lines += [f"      > {piece}" for piece in rest]
    return lines


def _gap(start: int, count: int) -> list[str]:
    if count >= _EMPTY_RUN:
        return [f"{start:>5} | ‹{count} empty lines›"]
    return [f"{start + offset:>5} |" for offset in range(count)]


def blanks(row: str) -> str:
    """A row in which a long run of blanks is said, not drawn."""
    return _MANY_BLANKS.sub(lambda match: f"‹{len(match.group())} blanks›", row)


def _pieces(row: str, width: int) -> list[str]:
    width = max(20, width)
    pieces: list[str] = []
    start = used = 0
    for index, character in enumerate(row):
        size = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used + size > width:
            pieces.append(row[start:index])
            start, used = index, 0
        used += size
    return [*pieces, row[start:]]


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines that break after a blank, where there is one; all of them together are the text."""
    width = max(20, width)
    rows: list[str] = []
    row = ""
    for word in _WORD.findall(text):
        if row and _columns(row + word.rstrip(" ")) > width:
            rows.append(row)
            row = ""
        *whole, row = _pieces(row + word, width)
        rows += whole
    return [*rows, row]


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def foreign(text: str) -> list[str]:
    """Lines that name the letters which may look like another one."""
    found = sorted({character for character in text if ord(character) > 0x7E and character.isalpha()})
    if not found:
        return []
    names = [f"{character} U+{ord(character):04X} {unicodedata.name(character, '?')}" for character in found]
    lines = [f"  Not ASCII, may look like another letter: {name}" for name in names[:20]]
    return lines if len(names) <= 20 else [*lines, f"  and {len(names) - 20} more letters that are not ASCII"]


def original(text: str) -> str:
    """The original of a text of the log."""
    try:
        return unescape(text)
    except ValueError:  # no escaped text: it is shown as it is
        return text


def field(label: str, text: str, width: int) -> list[str]:
    """One fact of a card on as many lines as it needs, none of them broken by the text itself."""
    first, *rest = wrapped(blanks(visible_line(text)), width - _LABEL)
    return [f"{label:<{_LABEL}}{first}", *(" " * _LABEL + piece for piece in rest)]
