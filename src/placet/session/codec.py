"""Text and JSON into the log and back: escaped form, canonical form, and the check that nothing is lost."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import rfc8785

from .errors import NotLossless
from .event import FrozenDict, FrozenList

MAX_DEPTH = 100
MAX_INT = 2**53 - 1

_SPECIAL = re.compile("[\\\\\x00\ud800-\udfff\u2028\u2029]")
_ESCAPE = re.compile(r"\\(\\|u0000|ud[89a-f][0-9a-f]{2}|u202[89])?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def escape(text: str) -> str:
    r"""The escaped form, one for store, digest and page: injective, and free of what UTF-8 or a page cannot carry.

    A backslash becomes two; NUL, lone surrogates, U+2028 and U+2029 become ``\uXXXX`` in lower hex; all else stays.
    """
    return _SPECIAL.sub(lambda m: "\\\\" if m[0] == "\\" else f"\\u{ord(m[0]):04x}", text)


def unescape(text: str) -> str:
    """The original of an escaped text. Raises ValueError for a text that `escape` never makes."""

    def original(match: re.Match[str]) -> str:
        code = match[1]
        if code is None:
            raise ValueError(f"no escaped text: lone backslash at {match.start()}")
        return "\\" if code == "\\" else chr(int(code[1:], 16))

    plain = _ESCAPE.sub(original, text)
    if escape(plain) != text:
        raise ValueError("no escaped text: a character that must be escaped stands bare")
    return plain


def lossless(value: Any, path: str = "$") -> None:
    """Raise NotLossless(path) unless the value comes back from JSON, in Python and in JavaScript, as it is (F2).

    That rules out NaN, infinities, -0.0, integers beyond 2^53 - 1, keys that are no text, anything but the JSON types,
    a surrogate pair held as two characters, and nesting beyond 100 levels (so also cycles).
    """
    _check(value, (None, path), 0)


_Path = tuple[Any, str | int]
"""Where a value stands: the path of what holds it, and its key or place there. A text is made of it only on failure."""


def _check(value: Any, path: _Path, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise NotLossless(_told(path)[:200], f"nested deeper than {MAX_DEPTH} levels")
    match value:
        case None | bool():
            return
        case str():
            _check_text(value, path)
        case int():
            if not -MAX_INT <= value <= MAX_INT:
                raise NotLossless(_told(path), "an integer beyond 2^53 - 1")
        case float():
            if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
                raise NotLossless(_told(path), f"{value} is no JSON number")
        case list():
            for index, item in enumerate(value):
                _check(item, (path, index), depth + 1)
        case dict():
            for name, item in value.items():
                if not isinstance(name, str):
                    raise NotLossless(_told(path), f"a key that is no text: {name!r:.80}")
                _check_text(name, path)
                _check(item, (path, name), depth + 1)
        case _:
            raise NotLossless(_told(path), f"{type(value).__name__} is no JSON type")


def _check_text(text: str, path: _Path) -> None:
    if not text.isascii() and _SPLIT_PAIR.search(text):
        raise NotLossless(_told(path), "a surrogate pair held as two characters")


def _told(path: _Path) -> str:
    """The path as a text."""
    within, at = path
    if within is None:
        return str(at)
    return f"{_told(within)}[{at}]" if isinstance(at, int) else f"{_told(within)}.{at}"


def dumps(value: Any) -> str:
    """Compact JSON that every UTF-8 channel carries: lone surrogates are written as JSON escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text if text.isascii() else _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def loads(text: str | bytes) -> Any:
    """The frozen value of a JSON text. Raises ValueError for broken JSON, equal keys in one object and NaN."""
    try:
        return _frozen(_DECODER.decode(text if isinstance(text, str) else text.decode()))
    except RecursionError:
        raise ValueError("nested too deep") from None


def freeze(value: Any) -> Any:
    """A deep-frozen snapshot of a lossless value: later changes of the original have no effect on it (F1)."""
    match value:
        case dict() | Mapping():
            return FrozenDict((name, freeze(item)) for name, item in value.items())
        case list():
            return FrozenList(freeze(item) for item in value)
        case _:
            return value


def canonical(value: Any) -> bytes:
    """The RFC 8785 form. Raises NotLossless where there is none (lone surrogates must be escaped before)."""
    lossless(value)
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise NotLossless("$", f"no canonical form: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> FrozenDict:
    found = FrozenDict([(name, _frozen(item) if isinstance(item, list) else item) for name, item in pairs])
    if len(found) != len(pairs):
        raise ValueError("equal keys in one object")
    return found


def _frozen(value: Any) -> Any:
    return FrozenList(map(_frozen, value)) if isinstance(value, list) else value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)
