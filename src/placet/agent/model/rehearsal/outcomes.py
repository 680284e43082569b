"""How the rehearsal reads the messages that tell what became of a run (`placet.cordis.messages` writes them)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RUN = re.compile(
    r"(?P<declined>The user declined )?(?P<package>pkg-[0-9]{1,18}) of plugin (?P<plugin>[a-z]{3,6}-[0-9]{1,18})"
    r" \(.{1,200}\), run-[0-9]{1,18},?(?P<state> is running| is up| failed)?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which package it was, what became of it, and the message as it came."""

    plugin: str
    package: str
    status: str
    text: str


def outcome_of(text: str) -> Outcome | None:
    """Read a message about a run that the agent had asked for; None for any other message."""
    found = _RUN.match(text)
    if found is None:
        return None
    if found["declined"]:
        status = "rejected"
    elif found["state"] is None:
        return None
    else:
        status = "failed" if found["state"] == " failed" else "running"
    return Outcome(found["plugin"], found["package"], status, text)
