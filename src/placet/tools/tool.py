"""What a tool is: a name, a schema, and a body that gets nothing but the checked value of the logged arguments."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from placet.approval.outcome import Policy
from placet.approval.subject import CallKey, CoveredFile
from placet.kernel.signal import AbortSignal
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Workdir
from placet.session.codec import canonical
from placet.session.event import Event
from placet.session.ids import SessionId
from placet.session.log import SessionLog
from placet.session.store import Lease
from placet.tools.codes import Unused

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of the model. `arguments` is the escaped text, exactly as the log holds it; `call_id` is only data."""

    turn: int
    step: int
    position: int
    call_id: str
    name: str
    arguments: str

    @property
    def key(self) -> CallKey:
        """Return the server's own name of the call."""
        return CallKey(self.turn, self.step, self.position)


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What the log already holds about a call; all None for one that is new."""

    called: Event | None = None
    asked: Event | None = None
    decided: Event | None = None
    started: Event | None = None
    result: Event | None = None


NO_FACTS = CallFacts()


@dataclass(frozen=True, slots=True)
class RunContext:
    """What all calls of one turn share. `signal` is the view of the turn's stop; `agent` the model's name."""

    log: SessionLog
    lease: Lease
    turn: int
    signal: AbortSignal
    session: SessionId
    cwd: Path
    agent: str


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a body may know about its call.

    `escalated` means that a person granted the mode for this call only; `files` are those that were signed with it.
    """

    key: CallKey
    session: SessionId
    cwd: Path
    workdir: Workdir
    mode: SandboxMode
    policy: Policy
    escalated: bool
    signal: AbortSignal
    log: SessionLog
    lease: Lease
    files: tuple[CoveredFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call came to: text for the model, a lossless value for programs, and what the page keeps beside it."""

    text: str
    value: Any = None
    is_error: bool = False
    code: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stakes:
    """A call's wish for a mode, and the model's reason for it."""

    to_mode: SandboxMode
    reason: str


class Tool(Protocol):
    """The port of a tool. Subclass it to inherit the quiet answers of what is optional."""

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        ...

    @property
    def description(self) -> str:
        """What the model reads about it."""
        ...

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        ...

    @property
    def noun(self) -> str:
        """What a call of it is called where it is refused."""
        return "command"

    @property
    def package(self) -> str | None:
        """The package that it belongs to, for a tool of a plugin."""
        return None

    def check(self, args: Arguments) -> str | None:
        """Return what is wrong with the arguments, or None. It runs before anybody is asked."""
        ...

    def workdir(self, args: Arguments) -> str | None:
        """Return the folder that the call names, relative to the session's; None for the session's own."""
        return None

    def stakes(self, args: Arguments) -> Stakes | None:
        """Return the mode that the call wishes for; None where it is content with the session's."""
        return None

    def parallel(self, args: Arguments) -> bool:
        """Whether the call may run beside others of its message; anything but True makes it a barrier."""
        return False

    async def covers(self, args: Arguments, call: CallContext) -> tuple[CoveredFile, ...]:
        """Return the files whose content is to be signed together with the call; it is about to be asked about.

        A `SandboxError` or `SubjectTooLarge` ends the call before anybody is asked.
        """
        return ()

    def keep(
        self, args: Arguments, files: tuple[CoveredFile, ...], call: CallContext
    ) -> AbstractAsyncContextManager[Unused | None]:
        """Keep the signed files as they are until the block ends; yields why they are not what was signed, or None."""
        return nullcontext(Unused.FILE_CHANGED if files else None)

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Do it. The mode of `call` is binding; a raised exception becomes an error result."""
        ...


def definition_digest(tool: Tool) -> str:
    """Return the SHA-256 over name, schema and package: what a person's yes to this tool was about."""
    return sha256(canonical({"name": tool.name, "parameters": tool.parameters, "package": tool.package})).hexdigest()
