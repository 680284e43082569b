"""One run of this process, for as long as anything of it may live."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from placet.cordis.events import RunIds
from placet.cordis.host.port import Ended, HostHalf
from placet.sandbox.mode import SandboxMode
from placet.session.ids import SessionId


@dataclass(slots=True, eq=False)
class Live:
    """A run of this process while anything of it may live. `quiet` means that a call's result tells the outcome."""

    ids: RunIds
    session: SessionId
    mode: SandboxMode
    quiet: bool = False
    half: HostHalf | None = None
    ending: bool = False
    changes: int = 0
    looking: bool = False
    changing: anyio.Lock = field(default_factory=anyio.Lock)
    noticed: Ended | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    up: anyio.Event = field(default_factory=anyio.Event)
    """Set once the start is over, one way or the other."""
