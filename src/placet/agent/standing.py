"""What stands in a session's log about the session itself, as far as the agent works with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from placet.session.event import Event


@dataclass(frozen=True, slots=True)
class Standing:
    """The session's folder, which never changes, and the model that later steps ask (None: the default one)."""

    cwd: Path = Path("/")
    model: str | None = None


class StandingFold:
    """Reads `session/created` and `session/model`."""

    def start(self) -> Standing:
        return Standing()

    def step(self, state: Standing, event: Event) -> Standing:
        match event.type:
            case "session/created":
                return replace(state, cwd=Path(event.data["cwd"]))
            case "session/model":
                return replace(state, model=event.data["model"])
        return state


STANDING = StandingFold()
