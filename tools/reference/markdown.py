"""Tables and headings of the generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOTE = "<!-- Made from the code by `make docs`. Do not edit. -->"


def heading(title: str, text: str) -> str:
    """Return the head of a generated page."""
    return f"{NOTE}\n\n# {title}\n\n{text.strip()}\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar inside a cell is escaped."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def code(text: object) -> str:
    """Return the text as code, or nothing for nothing."""
    return f"`{text}`" if str(text) else ""
