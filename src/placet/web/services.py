"""What the page and its API need from the rooms below; the composition fills it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from placet.agent.creation import Workspaces
from placet.agent.speech import Delta, Partial
from placet.approval.inbox import Inbox
from placet.cordis.service import Cordis
from placet.kernel.bus import Bus
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.permission.knobs import Knobs
from placet.session.ids import SessionId
from placet.session.store import Store
from placet.tools.jobs import Jobs
from placet.web.security.loopback import Address, objection


class Crew(Protocol):
    """Who runs the sessions; the page only listens to what is being said."""

    @property
    def deltas(self) -> Bus[Delta]:
        """News of what models say."""
        ...

    def partial(self, session: SessionId) -> Partial | None:
        """What a model has said so far in a step that is not logged yet."""
        ...


Objection = Callable[[Address, Address, Path], str | None]
"""Why a decision over a TCP connection does not count: from the client's end, our end and the state directory."""

Level = Literal["info", "warn", "error"]


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
    home: Path
    suggested_cwd: Path
    person: str = "owner"
    account: str | None = None
    sandbox: Mapping[str, Any] = field(default_factory=dict)  # what doctor says; `chosen` names the backend
    notices: Sequence[tuple[Level, str, str]] = ()  # level, code, text
    host_names: Sequence[str] = ()  # names besides the loopback ones that may be served
    weak_socket_answers: bool = True  # whether the socket may answer after a command ran with full access

    @property
    def rehearsal(self) -> bool:
        """Whether the model in use is not a real one."""
        return not any(entry.real for entry in self.models if entry.name == self.model)


@dataclass(frozen=True, slots=True)
class Services:
    """The parts that the page and its API stand on."""

    store: Store
    inbox: Inbox
    crew: Crew
    workspaces: Workspaces
    knobs: Knobs
    jobs: Jobs
    cordis: Cordis
    installation: Installation
    state: Path
    clock: Clock = SYSTEM_CLOCK
    objection: Objection = objection
    static: Path = Path(__file__).parent / "static"
