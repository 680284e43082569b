"""What goes wrong between placet and a half, and whose fault it is."""

from __future__ import annotations

from typing import Any


class LineBroken(Exception):
    """The half broke the rules of its line, or closed it; it cannot be used any more. One line says how."""


class Refusal(Exception):
    """A half's wish that is not fulfilled. `code` is the word for programs; the text says what to do instead."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class HalfRaised(Exception):
    """The half's own code raised, or did not answer as it should."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(str(error.get("message", "")))
        self.code = str(error.get("code", "handler-error"))
        self.message = str(error.get("message", "it failed without a word"))[:2_000]
        stack, line = error.get("stack"), error.get("line")
        self.stack = stack[:4_000] if isinstance(stack, str) else None
        self.line = line if isinstance(line, int) else None
