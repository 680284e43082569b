"""The port that every way of confining a process implements, and the facts it reports about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from placet.kernel.signal import AbortSignal

from .linux.watching import Tried
from .policy import Profile, Workdir


class Enforcement(StrEnum):
    """How much of a profile a backend enforces."""

    FULL = "full"
    PARTIAL = "partial"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a functional probe found: whether the backend confines here, and why not in one line."""

    usable: bool
    why: str = ""
    hint: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Covered:
    """A file that was signed together with a command: for its run these bytes are all that the path shows."""

    path: Path
    content: bytes


class Allowed(Protocol):
    """What a process may have, as far as it is for a backend to have it take that on."""

    @property
    def tasks(self) -> int:
        """How many processes and threads the kernel is to grant, where it can count them for the process alone."""
        ...

    @property
    def group(self) -> tuple[int, int] | None:
        """Descriptors: who writes `0` in the first joins the control group, in the second goes back to placet's."""
        ...


@dataclass(frozen=True, slots=True)
class Launch:
    """One process to start: what, with which environment, where, the descriptors for its output, and what stops it.

    `watch` asks a backend that can do it to see what the process tries to change, for the diagnosis of a failure.
    """

    profile: Profile
    argv: tuple[str, ...]
    env: Mapping[str, str]
    workdir: Workdir
    stdout: int
    stderr: int
    umask: int = -1
    signal: AbortSignal | None = None
    covered: tuple[Covered, ...] = ()
    allowance: Allowed | None = None
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended; `broken` if the sandbox failed before the command ran, `moved` if its directory changed.

    `tried` is what it tried to change, where that was watched. `lost` says in words what had to hold it and is gone.
    """

    code: int | None
    signal: str | None = None
    broken: bool = False
    moved: bool = False
    tried: tuple[Tried, ...] = ()
    lost: str | None = None


class Process(Protocol):
    """A started process with everything that it starts."""

    @property
    def pid(self) -> int: ...

    @property
    def root(self) -> int:
        """The process under which everything is found that it has started and left behind."""
        ...

    async def wait(self) -> Exit:
        """Return as soon as the started process has ended; what it left behind may still be alive."""
        ...

    def terminate(self) -> None:
        """Ask everything in the tree to end (SIGTERM)."""
        ...

    def count(self) -> int:
        """How many processes are in the tree, as quickly as can be told."""
        ...

    def kill(self) -> None:
        """Kill at once what can be killed in one step, from any thread; `clear` still has to follow."""
        ...

    async def clear(self) -> None:
        """Kill whatever of the tree is alive, and return when nothing of it is, zombies included."""
        ...


class Backend(Protocol):
    """A way to confine a process."""

    @property
    def name(self) -> str: ...

    @property
    def enforcement(self) -> Enforcement: ...

    @property
    def not_governed(self) -> tuple[str, ...]:
        """What this backend does not hold, one plain sentence each, for the screen."""
        ...

    @property
    def phrases(self) -> tuple[str, ...]:
        """The system's error texts (lower case) that a denial by this backend produces."""
        ...

    @property
    def private(self) -> tuple[Path, ...]:
        """Folders of the machine that a command sees as writable ones of its own instead."""
        ...

    @property
    def protects(self) -> bool:
        """Whether it can keep parts of a writable folder read-only."""
        ...

    @property
    def counts_tasks(self) -> bool:
        """Whether the kernel bounds the processes and threads of each command alone, without a control group."""
        ...

    def probe(self) -> ProbeResult:
        """Try for real: a write inside must work, a write outside must fail. Blocks for some milliseconds."""
        ...

    async def spawn(self, launch: Launch) -> Process:
        """Start the process confined.

        Raises `Stopped`, `StartFailed`, `WorkdirUnusable` or `WorkdirChanged`; nothing ran then.
        """
        ...

    def sweep(self) -> None:
        """Remove what commands of a killed server left behind in workspaces."""
        ...
