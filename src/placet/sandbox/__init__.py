"""What a command can touch, how far that is enforced, and what was denied.

The face of the room is `Sandbox`: it makes the profile of a call, runs commands within it, and says whether a folder
may be a workspace.
"""

from __future__ import annotations

from pathlib import Path

from .backend import Backend, Enforcement, ProbeResult
from .backends.bubblewrap import Bubblewrap
from .backends.landlock import Landlock
from .backends.seatbelt import Seatbelt
from .companion import Companion
from .detached import start_detached
from .errors import InvalidCommand, SandboxError, SandboxUnavailable, StartFailed, WorkdirChanged, WorkdirUnusable
from .execution.bounds import Bounds
from .execution.output import Captured
from .hardening import harden
from .mode import ModeFold, SandboxMode
from .policy import Network, Profile, Workdir
from .process import Command, Facts, Run
from .selection import Selection
from .service import Sandbox, Settings, WorkspaceSettings
from .workspace.check import WorkspaceFacts, WorkspaceRefused

__all__ = [
    "Backend",
    "Bounds",
    "Bubblewrap",
    "Captured",
    "Command",
    "Companion",
    "Enforcement",
    "Facts",
    "InvalidCommand",
    "Landlock",
    "ModeFold",
    "Network",
    "ProbeResult",
    "Profile",
    "Run",
    "Sandbox",
    "SandboxError",
    "SandboxMode",
    "SandboxUnavailable",
    "Seatbelt",
    "Selection",
    "Settings",
    "StartFailed",
    "Workdir",
    "WorkdirChanged",
    "WorkdirUnusable",
    "WorkspaceFacts",
    "WorkspaceRefused",
    "WorkspaceSettings",
    "backends",
    "harden",
    "start_detached",
]


def backends(state: Path) -> tuple[Backend, ...]:
    """The backends of this system, in the order of preference."""
    return (Bubblewrap(state), Landlock(state), Seatbelt())
