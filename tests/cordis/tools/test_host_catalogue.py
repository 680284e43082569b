"""The catalogue of the host side promises what is there, and leaves nothing out. Its examples run."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from placet.cordis.host.inside import services, web
from placet.cordis.host.inside.context import BUILT_IN, Context, Harness
from placet.cordis.host.services.heard import HEARD
from placet.cordis.inspect.catalogue import Entry, catalogue
from placet.cordis.inspect.provider import Platform
from tests.cordis.tools.house import house, value_of

pytestmark = pytest.mark.anyio

BOOK = catalogue(Platform.HOST)
SERVICES: dict[str, type] = {
    "files": services.Files,
    "shell": services.Shell,
    "web": web.Web,
    "timer": services.Timer,
    "tools": services.Tools,
    "sessions": services.Sessions,
}
INTERNAL = {"ready", "keep", "spawn", "guarded"}
"""What other modules of the half's program use of its context."""
SIGNATURE = re.compile(r"(async )?\b([a-z_]+)\(([^)]*)\) -> ")


def promised(text: str) -> dict[str, tuple[bool, list[str]]]:
    """The methods of a contract: whether they are async, and their parameters."""
    return {
        name: (
            bool(is_async),
            [part.split("=")[0].strip() for part in given.split(",") if part.strip() not in ("", "*")],
        )
        for is_async, name, given in SIGNATURE.findall(text)
    }


def there(kind: type) -> dict[str, tuple[bool, list[str]]]:
    """The public methods of a class, in the same form."""
    methods = {name: each for name, each in vars(kind).items() if inspect.isfunction(each) and not name.startswith("_")}
    return {
        name: (
            inspect.iscoroutinefunction(method),
            ["*values" if part == "values" else part for part in list(inspect.signature(method).parameters)[1:]],
        )
        for name, method in methods.items()
        if name not in INTERNAL
    }


def test_n3_every_service_is_listed_with_its_methods_and_their_parameters() -> None:
    assert set(BOOK.services) == set(BUILT_IN) == set(SERVICES)
    for name, kind in SERVICES.items():
        assert promised(BOOK.services[name].contract) == there(kind), name
    assert promised(BOOK.types["Session"]) == there(services.Session)


def test_n3_every_event_that_a_half_can_hear_is_listed_with_its_fields() -> None:
    assert set(BOOK.events) == set(HEARD)
    for name, fields in HEARD.items():
        assert BOOK.events[name].contract == f"fn({{{', '.join(('type', 'seq', 'time', *fields))}}})"


def test_n3_context_and_harness_are_listed_with_their_methods() -> None:
    assert promised(BOOK.builtins["ctx"].contract) == there(Context)
    assert promised(BOOK.builtins["harness"].contract) == there(Harness)


EXAMPLES: list[tuple[str, Entry]] = [
    (name, entry) for part in (BOOK.services, BOOK.builtins) for name, entry in part.items() if entry.example
]


@pytest.mark.parametrize(("name", "entry"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
async def test_n4_each_example_is_a_plugin_that_runs(name: str, entry: Entry, tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        await home.define(entry.example)
        result = await home.run("tally-1", "pkg-1")
        facts: dict[str, Any] = value_of(result)
        assert facts["status"] == "running", name
