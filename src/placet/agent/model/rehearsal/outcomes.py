"""How the rehearsal reads the messages that tell what became of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RUN = re.compile(r"([a-z]{3,6}-[0-9]{1,18})/(pkg-[0-9]{1,18}) \(run-[0-9]{1,18}\)")
_WORDS = {"completed": "running", "rejected": "rejected", "declined": "rejected", "failed": "failed"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which package it was, what became of it, and the message as it came."""

    plugin: str
    package: str
    status: str
    text: str


def outcome_of(text: str) -> Outcome | None:
    """Read a message about a run; None for any other message. Only its first line counts."""
    line = text.split("\n", 1)[0][:500]
    found = _RUN.search(line)
    status = next((status for word, status in _WORDS.items() if word in line), None)
    return None if found is None or status is None else Outcome(found[1], found[2], status, text)
