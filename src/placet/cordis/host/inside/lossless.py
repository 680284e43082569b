"""What may cross the line: JSON that comes back as it was, in Python and in JavaScript (contract K19)."""

from __future__ import annotations

import math
from typing import Any

DEPTH = 64
LARGEST_INT = 2**53 - 1
ADVICE = "return a plain value: dict with text keys, list, str, int, float, bool or None"


class NotLossless(ValueError):
    """A value that JSON would not give back as it was; the message says where and why."""


def check(value: Any, path: str = "$", depth: int = 0) -> None:
    """Raise `NotLossless` unless the value is lossless JSON."""
    if depth > DEPTH:
        raise NotLossless(f"{path[:80]} is nested deeper than {DEPTH} levels, or holds itself; {ADVICE}")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return
    if kind is int:
        if abs(value) > LARGEST_INT:
            raise NotLossless(f"{path} is an integer beyond 2^53 - 1; send it as text")
    elif kind is float:
        if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
            raise NotLossless(f"{path} is {value}, which JSON cannot hold; send None or a text")
    elif kind is list:
        for index, item in enumerate(value):
            check(item, f"{path}[{index}]", depth + 1)
    elif kind is dict:
        for name, item in value.items():
            if type(name) is not str:
                raise NotLossless(f"{path} has the key {name!r:.40}, which is no text; {ADVICE}")
            check(item, f"{path}.{name}", depth + 1)
    else:
        raise NotLossless(f"{path} is of type {kind.__name__}, which JSON cannot hold; {ADVICE}")
