"""What the two halves can use, as two files tell it: one for the host side, one for the client side.

The files are data, because both sides read them: Python to answer the agent, and the tests of the code that they
describe, in Python and in the page, to see that nothing is promised that is not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from placet.cordis.inspect.provider import Platform

_FILES = {Platform.HOST: "placet.cordis.host", Platform.CLIENT: "placet.cordis.client"}


class Part(BaseModel):
    """What all parts of a catalogue are: frozen, and nothing that is not said here."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Entry(Part):
    """One thing that plugin code can use; `types` names the types that its contract speaks of."""

    summary: str
    contract: str
    types: tuple[str, ...] = Field(default=(), strict=False)
    example: str | None = None


class Seat(Entry):
    """A place in the page. `scope` says whether there is one for the page or one per session."""

    kind: Literal["single", "list", "keyed", "chain"]
    scope: Literal["root", "session"]
    risk: Literal["none", "shadows-shipped-ui"]


class Component(Part):
    """A component of the page that a client half names by its text."""

    summary: str
    props: Mapping[str, str]
    example: str


class Token(Part):
    """A design token that a plugin may give another value."""

    summary: str
    type: str


class Catalogue(Part):
    """One side's file. The host side has no seats, components and tokens."""

    types: Mapping[str, str]
    services: Mapping[str, Entry]
    events: Mapping[str, Entry]
    builtins: Mapping[str, Entry]
    seats: Mapping[str, Seat] = Field(default_factory=dict)
    components: Mapping[str, Component] = Field(default_factory=dict)
    tokens: Mapping[str, Token] = Field(default_factory=dict)

    def types_of(self, entry: Entry) -> dict[str, str]:
        """Return the types that an entry speaks of, and those that these speak of in turn, and no other."""
        found: dict[str, str] = {}
        open_ones = list(entry.types)
        while open_ones:
            name = open_ones.pop(0)
            if name not in found:
                found[name] = self.types[name]
                open_ones += [other for other in self.types if other in _names(self.types[name])]
        return found


def _names(text: str) -> frozenset[str]:
    return frozenset("".join(character if character.isalnum() else " " for character in text).split())


@cache
def catalogue(platform: Platform) -> Catalogue:
    """Read one side's file."""
    text = files(_FILES[platform]).joinpath("catalogue.json").read_text("utf-8")
    return Catalogue.model_validate(json.loads(text))
