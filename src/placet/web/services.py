"""What the page and its API need from the rooms below; the composition fills it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from placet.kernel.bus import Bus
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.session.ids import SessionId


class Partial(Protocol):
    """What the model has said so far in a step that is not logged yet."""

    @property
    def turn(self) -> int: ...
    @property
    def step(self) -> int: ...
    @property
    def text(self) -> str: ...


class Crew(Protocol):
    """Who runs the sessions; the page only listens to what is being said."""

    deltas: Bus[Any]  # of notices that have a `session`

    def partial(self, session: SessionId) -> Partial | None: ...


class Workspaces(Protocol):
    """What the sandbox says about folders and about itself."""

    def check_workspace(self, path: Path) -> Any: ...  # WorkspaceFacts | WorkspaceRefused
    async def probe_write(self, session: SessionId, cwd: Path) -> Any: ...  # None | WorkspaceRefused


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model that a person can pick; `real` is false for one that only rehearses."""

    name: str
    label: str
    real: bool


@dataclass(frozen=True, slots=True)
class Installation:
    """The facts of this installation that screens show."""

    version: str
    model: str
    models: Sequence[ModelEntry]
    default_preset: str
    default_policy: str
    home: Path
    suggested_cwd: Path
    person: str = "owner"
    account: str | None = None
    sandbox: Mapping[str, Any] = field(default_factory=dict)  # what doctor says
    notices: Sequence[tuple[str, str, str]] = ()  # level, code, text
    host_names: Sequence[str] = ()  # names besides the loopback ones that may be served
    socket_may_answer: bool = True

    @property
    def rehearsal(self) -> bool:
        """Whether the model in use is not a real one."""
        return not any(entry.real for entry in self.models if entry.name == self.model)


@dataclass(frozen=True, slots=True)
class Services:
    """The parts that the page and its API stand on."""

    store: Any  # session.store.Store
    inbox: Any  # approval.inbox.Inbox
    crew: Crew
    workspaces: Workspaces
    installation: Installation
    state: Path
    holder: str  # how this process is named in leases
    clock: Clock = SYSTEM_CLOCK
    static: Path = Path(__file__).parent / "static"
