"""The page of what a client half can use: its services, events and names, the seats, the components and the tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from placet.cordis.inspect.catalogue import Catalogue, Component, Entry, catalogue
from placet.cordis.inspect.provider import Platform
from tools.reference.markdown import code, heading, table

INTRODUCTION = """
The client half of a plugin is plain JavaScript: the body of an async function that returns `{inject, apply(ctx)}`. A
person has read it and agreed to it before it starts. It runs in a worker, behind a guard, in a hidden frame: without
document, network, storage and focus. Its React tree is rebuilt in the page from the components below, each checked,
in seats that are bounded in size and stand under the name of the plugin.

`fetch`, timers, `require` and the like raise an error that names what to use instead. A half that loops, floods or
grows beyond its bounds is cut off within a second; its row in the plugins panel says so, and so does a message to the
agent. See also [write a plugin](../how-to/write-a-plugin.md) and [the host half](host-half.md).
"""


def page() -> str:
    """Return docs/reference/client-half.md."""
    book = catalogue(Platform.CLIENT)
    services = {f"ctx.{name}": entry for name, entry in book.services.items()}
    return "\n".join(
        [
            heading("The client half of a plugin", INTRODUCTION),
            "## Names\n\n" + "\n".join(_entries(book.builtins)),
            "## Services\n\n" + "\n".join(_entries(services)),
            "## Events\n\n" + table(("event", "meaning", "how"), _events(book)),
            "## Seats\n\n" + _seats(book),
            "## Components\n\nElements are made with `React.createElement`; a component is named by its text.\n\n"
            + "\n".join(_components(book.components)),
            "## Tokens\n\nFor `ctx.theme.overrideTokens`.\n\n"
            + table(
                ("token", "kind", "meaning"),
                ((code(name), token.type, token.summary) for name, token in book.tokens.items()),
            ),
            "## Types\n\n" + table(("type", "is"), ((code(name), code(text)) for name, text in book.types.items())),
        ]
    )


def _entries(entries: Mapping[str, Entry]) -> Iterator[str]:
    for name, entry in entries.items():
        text = f"### {code(name)}\n\n{entry.summary}\n\n```\n{entry.contract}\n```\n"
        yield text if entry.example is None else f"{text}\n```js\n{entry.example}\n```\n"


def _events(book: Catalogue) -> Iterator[tuple[str, str, str]]:
    return ((code(name), entry.summary, code(entry.contract)) for name, entry in book.events.items())


def _seats(book: Catalogue) -> str:
    rows = (
        (code(name), seat.summary, seat.kind, seat.scope, seat.contract.replace("\n", " "))
        for name, seat in book.seats.items()
    )
    return table(("seat", "where", "kind", "one per", "what a view gets"), rows)


def _components(components: Mapping[str, Component]) -> Iterator[str]:
    for name, component in components.items():
        props = table(("property", "type"), ((code(prop), code(kind)) for prop, kind in component.props.items()))
        yield f"### {code(name)}\n\n{component.summary}\n\n{props}\n```js\n{component.example}\n```\n"
