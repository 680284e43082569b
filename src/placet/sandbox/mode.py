"""What a command may write: the second of the two knobs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from placet.session.event import Event


class SandboxMode(StrEnum):
    """How far a command's file effects reach."""

    READ_ONLY = "read-only"
    WORKSPACE_WRITE = "workspace-write"
    DANGER_FULL_ACCESS = "danger-full-access"

    @property
    def confines(self) -> bool:
        """Whether a backend is needed to run a command in this mode."""
        return self is not SandboxMode.DANGER_FULL_ACCESS


@dataclass(frozen=True, slots=True)
class ModeFold:
    """The mode that a session is in: that of its last `sandbox/mode` event, else the default (contract D4, D7)."""

    default: SandboxMode = SandboxMode.WORKSPACE_WRITE

    def start(self) -> SandboxMode:
        return self.default

    def step(self, state: SandboxMode, event: Event) -> SandboxMode:
        return SandboxMode(event.data["mode"]) if event.type == "sandbox/mode" else state
