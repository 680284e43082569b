"""Text of models, logs and names made harmless for a terminal: what hides, turns or moves is shown as a mark.

The page has the same function (`ui/src/text/visible.ts`); both fold the same fixtures in the tests.
"""

import unicodedata

_NAMES = {
    0x00: "NUL",
    0x07: "BEL",
    0x08: "BS",
    0x09: "TAB",
    0x0D: "CR",
    0x1B: "ESC",
    0x7F: "DEL",
    0xA0: "NBSP",
    0xAD: "SHY",
    0x034F: "CGJ",
    0x061C: "ALM",
    0x115F: "FILLER",
    0x1160: "FILLER",
    0x200B: "ZWSP",
    0x200C: "ZWNJ",
    0x200D: "ZWJ",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LS",
    0x2029: "PS",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2060: "WJ",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0x2800: "BLANK",
    0x3164: "FILLER",
    0xFEFF: "BOM",
    0xFFA0: "FILLER",
}
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str) -> str:
    """The text with a mark `‹NAME›` or `‹U+XXXX›` for each character that a reader could not see; newlines stay.

    Control, format, surrogate, private and unassigned characters, blanks other than the space, invisible letters and
    combining marks are marked, so that nothing printed can move the cursor, turn the text or paint over another line.
    """
    return "".join(character if _plain(character) else _mark(character) for character in text)


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
    if code < 0xA1 or code in _NAMES:
        return False
    category = unicodedata.category(character)
    if category in _HIDDEN_CATEGORIES or category.startswith("M"):
        return False
    return category != "Zs"


def _mark(character: str) -> str:
    code = ord(character)
    return f"‹{_NAMES.get(code) or f'U+{code:04X}'}›"
