"""Who sent a request, how that is known, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request

from placet.web.rights import Channel, Right


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of one request, established before any route sees it.

    `name` is the person's name; `evidence` says what was seen (a key id, a process), `strength` what it is worth.
    """

    channel: Channel
    rights: frozenset[Right] = frozenset()
    name: str = ""
    account: str | None = None
    key_id: str | None = None
    evidence: str = ""
    strength: str = ""
    addresses: tuple[tuple[str, int], tuple[str, int]] | None = field(default=None, repr=False)  # client end, our end

    @property
    def by(self) -> Mapping[str, Any]:
        """The `by` of events that people cause."""
        return {"kind": "person", "name": self.name, "channel": str(self.channel)}


def caller_of(request: Request) -> Caller:
    """Return who sent the request; the guard has put it there."""
    caller = request.scope["state"]["caller"]
    assert isinstance(caller, Caller)
    return caller


CallerDep = Annotated[Caller, Depends(caller_of)]
