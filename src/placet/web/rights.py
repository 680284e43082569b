"""Which right each verb needs, and over which channels it may come: one declaration per route, one generated table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.routing import APIRoute, iter_route_contexts

from placet.web.errors import Forbidden, UnlistedRoute


class Right(StrEnum):
    """What a person may do here. Whatever widens counts as answering."""

    OPEN = "open"  # needs no right: says nothing and changes nothing that is not public
    READ = "read"
    SEND = "send"
    ANSWER = "answer"
    ADMINISTER = "administer"


class Channel(StrEnum):
    """How a request came in."""

    PAGE = "page"
    SOCKET = "socket"


BOTH = frozenset(Channel)
OWNER = frozenset(Right)


@dataclass(frozen=True, slots=True)
class Needs:
    """The declaration of one route; as a dependency it also refuses who lacks the right or came another way."""

    right: Right
    channels: frozenset[Channel] = BOTH
    narrowing: Right | None = None  # what suffices for the part of the verb that only stops, rejects or narrows

    async def __call__(self, request: Request) -> None:
        caller = request.scope["state"]["caller"]
        if caller.channel not in self.channels:
            raise Forbidden(f"this cannot be asked over the {caller.channel}", code="wrong-channel")
        if not {self.right, self.narrowing} & (caller.rights | {Right.OPEN}):
            raise Forbidden(f"this needs the right to {self.right}", code="no-right")


def needs(right: Right, *channels: Channel, narrowing: Right | None = None) -> Any:
    """Declare what a route needs; goes into its `dependencies`."""
    return Depends(Needs(right, frozenset(channels) or BOTH, narrowing))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table verb x right x channel."""

    verb: str
    path: str
    needs: Needs


def table(app: FastAPI) -> list[Row]:
    """Return what every route of the app needs; raises UnlistedRoute for one that declares nothing or too much."""
    return sorted(_rows(app), key=lambda row: (row.path, row.verb))


def _rows(app: FastAPI) -> Iterator[Row]:
    for route in iter_route_contexts(app.routes):
        declared = [d for d in _declared(route.original_route) if isinstance(d, Needs)]
        verbs = sorted(route.methods or {"?"})
        if len(declared) != 1:
            raise UnlistedRoute(f"{'/'.join(verbs)} {route.path} declares {len(declared)} rights, not one")
        yield from (Row(verb, route.path or "?", declared[0]) for verb in verbs)


def _declared(route: object) -> Iterable[object]:
    if not isinstance(route, APIRoute):
        return ()
    return (declared.dependency for declared in route.dependencies)
