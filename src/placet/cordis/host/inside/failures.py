"""What went wrong in a plugin's code, as its author can use it: the message, the lines of its own that led there."""

from __future__ import annotations

import asyncio
import traceback
from typing import Any

MESSAGE, STACK, CODE = 2_000, 4_000, 80


class ServiceError(Exception):
    """A service did not do what was asked. `code` is the word for programs, the text says what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def cancelled(failure: BaseException) -> bool:
    """Whether the task that runs the code is to end; all else, also a cancellation of its own, is a failure of it."""
    task = asyncio.current_task()
    return isinstance(failure, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def code_of(failure: BaseException) -> str:
    """Return the word for programs that a failure carries, as those of services do."""
    code = getattr(failure, "code", None)
    return code[:CODE] if type(code) is str and code else "handler-error"


def told(failure: BaseException, file: str, source: str) -> dict[str, Any]:
    """Return message, stack and line of a failure, with the plugin's own lines only."""
    try:
        return _told(failure, file, source)
    except Exception:  # it is made to look like what it is not
        return {"message": type(failure).__name__, "stack": None, "line": None}


def _told(failure: BaseException, file: str, source: str) -> dict[str, Any]:
    lines = source.splitlines()
    if isinstance(failure, SyntaxError) and failure.filename == file:
        return _syntax(failure, lines)
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if frame.filename == file]
    shown = [f"line {frame.lineno}, in {frame.name}: {_text(lines, frame.lineno)}" for frame in frames]
    text = _words(failure)
    message = f"{type(failure).__name__}: {text}" if text else type(failure).__name__
    if isinstance(failure, SystemExit):
        message = "the code called sys.exit; return instead, and let placet stop the plugin"
    cause = failure.__cause__
    if cause is not None:
        shown.append(f"caused by {type(cause).__name__}: {_words(cause)}")
    return {
        "message": message[:MESSAGE],
        "stack": "\n".join([*shown, message])[:STACK] if shown else None,
        "line": frames[-1].lineno if frames else None,
    }


def _words(failure: BaseException) -> str:
    try:
        return str(failure)[:MESSAGE]
    except BaseException:  # a text of its own that fails
        return "it does not say what happened"


def _syntax(failure: SyntaxError, lines: list[str]) -> dict[str, Any]:
    number = failure.lineno or 0
    caret = " " * max(0, (failure.offset or 1) - 1) + "^"
    text = lines[number - 1] if 0 < number <= len(lines) else ""
    message = f"{type(failure).__name__} in line {number}: {failure.msg}"
    return {"message": message[:MESSAGE], "stack": f"{text[:500]}\n{caret[:500]}", "line": number or None}


def _text(lines: list[str], number: int | None) -> str:
    return lines[number - 1].strip()[:200] if number is not None and 0 < number <= len(lines) else "?"
