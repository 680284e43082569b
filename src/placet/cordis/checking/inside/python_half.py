"""Whether a host half can be read: compiled, never run."""

from __future__ import annotations

import warnings

NAME = "host half"

LIKELY = (
    ("await' outside", "the module's own lines are not asynchronous: await only inside of `async def apply(ctx)`"),
    ("'return' outside", "a host half is a module: put the code into `async def apply(ctx)`"),
    ("expected an indented block", "the line after a colon has to be indented"),
    ("unindent does not match", "the lines of one block need the same indentation"),
    ("inconsistent use of tabs", "use spaces only"),
    ("unexpected indent", "this line is indented further than its block"),
    ("was never closed", "a bracket is open: look for the one that closes it"),
    ("unterminated", "a text has no closing quote; one of several lines needs three quotes"),
    ("invalid character", "replace typographic quotes and dashes by plain ones"),
    ("null byte", "the code holds a NUL character: remove it"),
)
FOREIGN = ("const ", "let ", "function", "=>", "//", "var ", "};", "===", "export ", "null", "undefined")


def check(text: str) -> dict[str, object] | None:
    """Return what is wrong as a mapping (message, line, column, source, likely), or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, NAME, "exec", dont_inherit=True)
    except SyntaxError as error:
        return found(text, error.msg or "invalid syntax", error.lineno, error.offset)
    except (ValueError, OverflowError) as error:
        return found(text, str(error) or "it cannot be read", None, None)
    except (RecursionError, MemoryError):
        return found(text, "it is nested too deep to be read", None, None)
    return None


def found(text: str, message: str, line: int | None, column: int | None) -> dict[str, object]:
    lines = text.split("\n")
    source = lines[line - 1].rstrip("\r") if line and line <= len(lines) else None
    return {"message": message, "line": line, "column": column, "source": source, "likely": likely(message, source)}


def likely(message: str, source: str | None) -> str | None:
    """Say what the mistake probably is, or None."""
    line = (source or "").strip()
    if line.startswith("```"):
        return "leave out the marks around the code"
    unclear = any(part in message for part in ("invalid syntax", "invalid decimal", "invalid character"))
    if unclear and any(word in line for word in FOREIGN):
        return "this looks like JavaScript: the host half is Python, the client half is JavaScript"
    for part, hint in LIKELY:
        if part in message:
            return hint
    return None
