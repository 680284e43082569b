"""The page of all commands: the very help texts that they print."""

from __future__ import annotations

import io
from collections.abc import Iterator

import cyclopts
from rich.console import Console

from placet.cli.report import COMPLETED, FAILED, NOT_GRANTED, STOPPED
from placet.cli.verbs import USAGE, build
from tools.reference.markdown import heading

INTRODUCTION = f"""
Every command says this about itself with `--help`. `placet web` is the server; `session`, `inbox` and `link` talk to a
running server over its socket; `log` reads the store; `run` works alone. Errors are one line: what, why, what to do.

| exit code | meaning |
|---|---|
| {COMPLETED} | done |
| {FAILED} | it failed; `doctor` found no sandbox, `log verify` a fault, or a list had to leave something out |
| {USAGE} | the command line or the configuration is wrong, and nothing was done |
| {NOT_GRANTED} | only `run`: the task is complete, but at least one ask was not granted |
| {STOPPED} | stopped, with Ctrl-C for instance |

`placet sandbox` ends with the exit code of its command, and with 128 and the signal's number where a signal ended it.
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
