"""The page of what a host half can use: its services, events and names, its traps, and its bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from placet.cordis.definition import LARGEST, PACKAGES, PLUGINS
from placet.cordis.host.inside import main, traps, web
from placet.cordis.host.limits import LONGEST_LINE, Limits
from placet.cordis.host.services.heard import HEARD
from placet.cordis.host.services.schema import WORDS
from placet.cordis.host.spares import AT_ONCE, IDLE
from placet.cordis.inspect.catalogue import Catalogue, Entry, catalogue
from placet.cordis.inspect.provider import Platform
from placet.tools.turns import PATIENCE
from tools.reference.markdown import code, heading, table

INTRODUCTION = f"""
The host half of a plugin is a module of Python with `async def apply(ctx)`. It runs in a process of its own
(`python -I -S`), under the sandbox of its session, in the mode that was in force when it started, and without any
secret in its environment. What it does to files, to the shell and to its session goes through the services below, so
that the same pipeline, sandbox and questions to a person apply as for the agent's own calls.

So that a start takes no longer than it must, an interpreter that holds no code yet waits for the next one after a
definition, after a start, and while somebody reads a request for consent: for {IDLE:.0f} seconds, under the same
sandbox, in {AT_ONCE} sessions at most. It ends when the mode changes, the session is put away or placet ends.

Every registration returns its undo; when the plugin stops, all of them run, the newest first, and the process is
killed with everything that it has started. Awaiting a registration waits until placet has accepted it; a refused one
makes `apply` fail. See also [write a plugin](../how-to/write-a-plugin.md).
"""
IN_A_TURN = f"""
While the agent's turn is open in the same process, a call of a service is a call of that turn: it is in the log as the
agent's calls are, it may wish for a wider mode and then a person is asked ("plugin NAME of MODEL"), and the stop ends
it. A turn waits at its end {PATIENCE:.0f} seconds at most for a command of a plugin that runs, and cancels what a
plugin asks.

Outside of a turn nobody can be asked: a wish for a wider mode is refused, and what changes something (`shell.run`,
`files.write`, `files.edit`) or leaves for the web (`web.get`, `web.post`) is written into the log as `cordis/called`
before it acts.

A half never decides anything, and reaches no preset, mode, policy, consent or other session. Events are told after the
fact. A tool of a plugin is called `PLUGIN.TOOL`, is there for its own session only, and cannot wish for a wider mode.
"""
TRAPS = """
These raise an error that names the service to use. They are advice and no boundary: the boundary is the sandbox that
the process runs in.
"""


def page() -> str:
    """Return docs/reference/host-half.md."""
    book = catalogue(Platform.HOST)
    parts = [
        heading("The host half of a plugin", INTRODUCTION),
        "## In a turn and outside of one\n" + IN_A_TURN,
        "## Names\n\n" + "\n".join(_entries(book, book.builtins)),
        "## Services\n\nThey are there without `inject`; naming them is fine.\n\n"
        + "\n".join(_entries(book, {f"ctx.{name}": entry for name, entry in book.services.items()})),
        "## Events\n\nFor `ctx.on` and `ctx.once`; of the plugin's own session only.\n\n" + _events(book),
        "## Types\n\n" + table(("type", "is"), ((code(name), code(text)) for name, text in book.types.items())),
        "## Parameters of a tool\n\n" + _words(),
        "## Traps\n" + TRAPS + "\n" + table(("what", "advice"), _traps()),
        "## Bounds\n\n" + table(("bound", "how much", "beyond it"), _bounds(Limits())),
    ]
    return "\n".join(parts)


def _entries(book: Catalogue, entries: Mapping[str, Entry]) -> Iterator[str]:
    for name, entry in entries.items():
        text = f"### {code(name)}\n\n{entry.summary}\n\n```\n{entry.contract}\n```\n"
        yield text if entry.example is None else f"{text}\n```python\n{entry.example}\n```\n"


def _events(book: Catalogue) -> str:
    rows = ((code(name), entry.summary, ", ".join(map(code, HEARD[name]))) for name, entry in book.events.items())
    return table(("event", "meaning", "fields beside type, seq, time"), rows)


def _words() -> str:
    words = ", ".join(map(code, sorted(WORDS)))
    return (
        f"JSON Schema of an object with these words: {words}. Another word is refused when the tool is registered,"
        " with the path to it.\n"
    )


def _traps() -> Iterator[tuple[str, str]]:
    advice: dict[str, list[str]] = {}
    for name, text in traps.MODULES.items():
        advice.setdefault(text, []).append(f"import {name}")
    for module, members in traps.MEMBERS.items():
        for name, text in members.items():
            if not name.startswith(("exec", "spawn", "posix")):
                advice.setdefault(text, []).append(f"{module}.{name}")
    for name, text in traps.NAMES.items():
        advice.setdefault(text, []).append(name)
    advice.setdefault(traps.FILES, []).append("open(..., 'w')")
    return ((", ".join(map(code, names)), text) for text, names in advice.items())


def _bounds(limits: Limits) -> Iterator[tuple[str, str, str]]:
    killed = "the plugin is ended, with one line that says so"
    error = "an error for whoever called"
    yield "both halves together", f"{LARGEST >> 10} KiB", "the definition is refused"
    yield "plugins of a session, packages of a plugin", f"{PLUGINS}, {PACKAGES}", "the definition is refused"
    yield "load and `apply` as a whole", f"{limits.start:g} s", "the start fails"
    yield "one call of a method or a tool", f"{limits.answer:g} s", error
    yield "no answer to a ping", f"{limits.silence:g} s", killed
    yield "all undos at the stop", f"{limits.stop:g} s", "it is killed without the rest"
    yield "one message to or from placet", f"{LONGEST_LINE >> 20} MiB", f"{killed}; too long an answer is an error"
    yield "messages to placet", f"{limits.messages[0]:g} a second, {limits.messages[1]:g} at once", killed
    yield "bytes to placet", f"{int(limits.bytes[0]) >> 20} MiB a second, {int(limits.bytes[1]) >> 20} at once", killed
    yield "calls under way at once", f"{limits.pending} in each direction", f"{killed}; from placet: {error}"
    yield (
        "what is printed",
        f"{int(limits.printed[0]) >> 10} KiB a second, {int(limits.printed[1]) >> 20} MiB at once",
        killed,
    )
    yield (
        "lines in the log",
        f"{limits.printed_lines[0]:g} a second, {limits.printed_lines[1]:g} at once",
        "lines are dropped and counted",
    )
    yield (
        "bytes that calls put into the session's log",
        f"{int(limits.logged[0]) >> 10} KiB a second, {int(limits.logged[1]) >> 20} MiB at once",
        "further calls that are logged are refused (`too-much-logged`)",
    )
    yield (
        "memory",
        f"{main.MEMORY >> 20} MiB of address space, {limits.share.memory >> 20} MiB with all it started",
        f"MemoryError; {killed}",
    )
    yield "processes", f"{limits.share.processes}", killed
    yield "one file", f"{main.FILE >> 20} MiB", "the system refuses the write"
    yield "one answer of the web", f"{web.LARGEST >> 20} MiB, {web.LONGEST:g} s", error
    yield "tools, services", f"{limits.tools}, {limits.services}", "the registration is refused"
