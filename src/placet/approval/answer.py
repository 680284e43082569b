"""What a person who answers is told: a receipt, who was first, or why the answer cannot count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from placet.approval.outcome import Decision, Outcome, Who
from placet.session.event import Event
from placet.session.ids import AskId

MAX_FEEDBACK = 4000
"""The most characters that a person's note may have."""
MAX_KEY = 200
"""The most characters that a client's key may have."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that this answer is the decision in the log. The same key again brings the same receipt."""

    ask: AskId
    outcome: Outcome
    time: int
    who: Who
    channel: str
    strength: str
    stopped: bool = False

    @classmethod
    def of(cls, event: Event, *, stopped: bool = False) -> Receipt:
        """Write the receipt of an `approval/decided`; `stopped` says that its turn was stopped in the same append."""
        decision = Decision.of(event)
        return cls(
            AskId(event.data["id"]),
            decision.outcome,
            decision.time,
            decision.who,
            decision.channel,
            decision.strength,
            stopped,
        )

    def json(self) -> dict[str, Any]:
        """Return the receipt as the wire tells it."""
        return {
            "ask": self.ask,
            "outcome": self.outcome.value,
            "time": self.time,
            "who": self.who.json(),
            "channel": self.channel,
            "strength": self.strength,
            "stopped": self.stopped,
        }


@dataclass(frozen=True, slots=True)
class NotPending:
    """The answer came too late. `decision` is the one that counts; it is None while a stop is on its way to the log."""

    decision: Decision | None
    why: Literal["decided", "stopped", "ended"] = "decided"


@dataclass(frozen=True, slots=True)
class BadResponse:
    """The answer cannot be one of this ask, which stays as it is. `why` is one line for whoever sent it."""

    why: str
