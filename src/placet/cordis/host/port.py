"""What the rest of Cordis knows of host halves: facts in, a running half or a failure out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from placet.cordis.vocabulary import HalfStatus, InvokeFailure, PackageId, Phase, PluginId, RunId
from placet.sandbox.mode import SandboxMode
from placet.session.ids import SessionId


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is to be started: the exact source, for which run, in which mode."""

    session: SessionId
    plugin: PluginId
    package: PackageId
    run: RunId
    source: str
    mode: SandboxMode


class Cause(StrEnum):
    """Why a half that nobody stopped is over."""

    CRASHED = "crashed"
    """Its process ended."""
    GUARD = "guard"
    """It went over a bound and was killed."""
    FAILED = "failed"
    """What it injects came back, and its `apply` failed this time."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a half that nobody stopped; nothing of it is left when this is told. `message` is one line."""

    cause: Cause
    phase: Phase
    message: str
    stack: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Something that failed in a half and ended nothing: a listener, a timer, an undo."""

    label: str
    message: str
    stack: str | None = None


class HostFailed(Exception):
    """A half did not come up, by its own fault or the sandbox's; nothing of it is left."""

    def __init__(self, phase: Phase, message: str, stack: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.phase, self.message, self.stack, self.line = phase, message, stack, line


class InvokeFailed(Exception):
    """A method has no value, for one of the contract's reasons (I32)."""

    def __init__(self, code: InvokeFailure, message: str, stack: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.stack = code, message, stack


class HostHalf(Protocol):
    """A half that is up: running, or waiting for a service."""

    @property
    def status(self) -> HalfStatus: ...

    @property
    def provides(self) -> tuple[str, ...]: ...

    @property
    def waiting_for(self) -> tuple[str, ...]: ...

    @property
    def handlers(self) -> tuple[str, ...]: ...

    @property
    def pid(self) -> int: ...

    async def invoke(self, method: str, args: Any) -> Any:
        """Call a method that it handles; lossless JSON both ways. Raises `InvokeFailed`."""
        ...

    async def end(self) -> None:
        """Undo and kill it; return when nothing of it is left: process, tools, listeners, provided names."""
        ...


class HostHalves(Protocol):
    """Starts halves."""

    async def start(
        self,
        facts: RunFacts,
        *,
        on_ended: Callable[[Ended], None],
        on_change: Callable[[], None] = lambda: None,
        on_diagnosed: Callable[[Diagnosis], None] = lambda _: None,
    ) -> HostHalf:
        """Start a half and return once it runs or waits; raises `HostFailed`, within the bound of the start.

        `on_change` tells that status, provides, waiting_for or handlers are others now; `on_ended` tells, once, an end
        that nobody asked for by `end`.
        """
        ...

    async def prepare(self, session: SessionId, mode: SandboxMode, *, after: float = 0.0) -> None:
        """Have an interpreter wait for the next half of a session, from some seconds on. Never raises.

        It costs nothing to be wrong.
        """
        ...

    async def discard(self, session: SessionId) -> None:
        """End the interpreter that waits for a half of a session."""
        ...
