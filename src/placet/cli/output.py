"""What the verbs print: results on stdout, one-line errors on stderr, everything foreign through `visible`."""

import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from placet.app.errors import Refused
from placet.cli.visible import visible, visible_line


def say(text: str = "") -> None:
    """Print text to stdout; what models, logs or names could have put in it is shown by marks."""
    print(visible(text), flush=True)


def show(text: str) -> None:
    """Print text that `visible` has been through already, such as a card."""
    print(text, flush=True)


def tell(text: str, width: int = 79) -> None:
    """Print a sentence to stdout in lines that break between words; where a word is longer, it stays whole."""
    for line in textwrap.wrap(visible_line(text), width, break_long_words=False, break_on_hyphens=False):
        print(line, flush=True)


def warn(text: str) -> None:
    """Print one line to stderr."""
    print(f"placet: {visible_line(text)}", file=sys.stderr, flush=True)


def told(notices: Sequence[Mapping[str, Any]]) -> int:
    """Print what a list had to leave out, a line each to stderr; the exit code of the list."""
    for notice in notices:
        warn(notice["text"])
    return 1 if notices else 0


def say_json(value: Mapping[str, object]) -> None:
    """Print one JSON object on one line; characters beyond ASCII are escaped by JSON itself, so nothing is lost."""
    print(json.dumps(value, separators=(",", ":")), flush=True)


def fail(what: str, *, why: str = "", hint: str = "", code: int = 1) -> NoReturn:
    """End the verb with one line and an exit code."""
    raise Refused(what, why=why, hint=hint, code=code)
