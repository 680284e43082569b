"""The page of all commands: the very help texts that they print."""

from __future__ import annotations

import io
from collections.abc import Iterator

import cyclopts
from rich.console import Console

from placet.cli.verbs import build
from tools.reference.markdown import heading

INTRODUCTION = """
Every command says this about itself with `--help`. `placet web` is the server; `session`, `inbox` and `link` talk to a
running server over its socket; `log` reads the store; `run` works alone. Errors are one line: what, why, what to do.
"""


def page() -> str:
    """Return docs/reference/commands.md."""
    parts = [heading("Commands", INTRODUCTION)]
    for words in verbs(build()):
        parts.append(f"## {' '.join(('placet', *words))}\n\n```text\n{help_of(words)}\n```\n")
    return "\n".join(parts)


def verbs(app: cyclopts.App, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and group, outermost first."""
    yield above
    for name in app:
        if not name.startswith("-"):
            yield from verbs(app[name], (*above, name))


def help_of(words: tuple[str, ...]) -> str:
    """Return the help text of one command, as a terminal of 100 columns shows it."""
    text = io.StringIO()
    console = Console(file=text, width=100, no_color=True, force_terminal=False)
    build(words).help_print(list(words), console=console)
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())
