"""The table of verbs. Each lives in a file of its own, which is imported only when it is called."""

import os
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime

import cyclopts

from placet.app.errors import Refused
from placet.app.places import Places
from placet.app.program import program
from placet.cli import process
from placet.cli.output import warn

USAGE = 2
"""The exit code of a word that was not understood."""


def build(words: Sequence[str] = ()) -> cyclopts.App:
    """The whole command line; nothing but names and one line of help for each verb is loaded.

    `words` is what will be asked: the verb that they name is loaded, and its help is its own, whole docstring.
    """
    app = cyclopts.App(
        name="placet",
        help="A concrete human decision behind every action of an AI agent that reaches your environment.",
        version=_version,
        default_parameter=cyclopts.Parameter(negative=()),
        help_format="markdown",
        print_error=False,
        exit_on_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for verb, line in _VERBS:
        _add(app, f"placet.cli.{verb}:{verb}", line, asked=list(words[:1]) == [verb])
    for name, help_line, verbs in _GROUPS:
        group = cyclopts.App(name=name, help=help_line)
        for verb, line in verbs:
            _add(group, f"placet.cli.{name}:{verb}", line, asked=list(words[:2]) == [name, _typed(verb)])
        app.command(group)
    return app


def _add(app: cyclopts.App, path: str, line: str, *, asked: bool) -> None:
    name = _typed(path.partition(":")[2])
    if asked:
        app.command(path, name=name)
    else:
        app.command(path, name=name, help=line)


_VERBS = (
    ("web", "Start the server and the page."),
    ("run", "Do one task without a page; the exit code tells how it ended."),
    ("link", "Print another one-time link to the page."),
    ("doctor", "Say which sandbox this machine has and what it means."),
    ("sandbox", "Run one command confined."),
)
_GROUPS = (
    (
        "inbox",
        "The open asks of all sessions: list, show, allow, reject.",
        (
            ("list_", "List the open asks, oldest first."),
            ("show", "Show one ask whole."),
            ("allow", "Show one ask whole and allow it once."),
            ("reject", "Reject one ask."),
        ),
    ),
    (
        "session",
        "Sessions: new, list, preset, jobs, end-job, move-away.",
        (
            ("new", "Start a session in a folder with a message."),
            ("list_", "List the sessions."),
            ("preset", "Switch a session's preset."),
            ("jobs", "List what runs in the background."),
            ("end_job", "End a command that runs in the background."),
            ("move_away", "Move away what a command has made and other programs would run."),
        ),
    ),
    (
        "browsers",
        "The browsers that are signed in: list, sign-out.",
        (
            ("list_", "List the browsers that are signed in."),
            ("sign_out", "Sign a browser out for good."),
        ),
    ),
    (
        "log",
        "The logs of sessions, read from the store itself: show, export, verify.",
        (
            ("show", "Show a session's log for reading."),
            ("export", "Print a session's log as JSON lines."),
            ("verify", "Check the whole store."),
        ),
    ),
)


def _typed(verb: str) -> str:
    """The word for the function of that name, as it is typed."""
    return verb.rstrip("_").replace("_", "-")


def run(arguments: Sequence[str], *, umask: int) -> int:
    """Carry out one command line and return its exit code; a person's mistake gives one line, never a traceback."""
    process.UMASK = umask
    try:
        result = build(arguments)(list(arguments))
        return result if isinstance(result, int) else 0
    except cyclopts.CycloptsError as error:
        warn(f"{_mistake(error)} See: {' '.join([program(), *_verb(arguments)])} --help")
        return USAGE
    except Refused as error:
        warn(error.line())
        return error.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has gone, which is their right
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        return _unforeseen(error)


def _mistake(error: cyclopts.CycloptsError) -> str:
    """What is wrong with a command line, as one sentence or two."""
    match error:
        case cyclopts.UnusedCliTokensError(unused_tokens=[first, *_]):
            return f"There is one word too many: {first!r}."
        case cyclopts.MissingArgumentError(argument=cyclopts.Argument(name=name)):
            return f"{name} needs a value." if name.startswith("-") else f"{name} is missing."
    return " ".join(str(error).split())


def _verb(words: Sequence[str]) -> list[str]:
    """The part of a command line that names a verb, whose help says more than the general one."""
    if words[:1] and words[0] in dict(_VERBS):
        return [words[0]]
    for name, _, verbs in _GROUPS:
        if list(words[:1]) == [name]:
            return [name, *(word for word in words[1:2] if word in {_typed(verb) for verb, _ in verbs})]
    return []


def _unforeseen(error: Exception) -> int:
    inner: BaseException = error
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    if isinstance(inner, Refused):
        warn(inner.line())
        return inner.code
    warn(_known(inner) or _unexpected(error, inner))
    return 1


def _known(error: BaseException) -> str | None:
    from placet.app.storage import refusal
    from placet.session.errors import StoreError

    return refusal(error, Places.find(os.environ)).line() if isinstance(error, StoreError) else None


def _unexpected(error: Exception, inner: BaseException) -> str:
    kind = f"{type(inner).__name__}: {str(inner)[:200]}"
    try:
        places = Places.find(os.environ)
        places.prepare()
        path = places.logs / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.txt"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("".join(traceback.format_exception(error)))
    except (OSError, Refused):
        return f"Something unexpected happened ({kind}). Nothing could be written about it."
    return f"Something unexpected happened ({kind}). The details are in {path}."


def _version() -> str:
    from placet import __version__

    return __version__
