"""The closed vocabulary of a decision, and the one function that tests for a yes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from placet.session.event import JSON, Event


class Outcome(StrEnum):
    """How an ask can end. Silence is never the first of them."""

    ALLOWED_ONCE = "allowed-once"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    UNAVAILABLE = "unavailable"


PERSON_OUTCOMES = frozenset({Outcome.ALLOWED_ONCE, Outcome.REJECTED})
"""The only outcomes that a person can send."""


def grants(outcome: Outcome) -> bool:
    """Whether an outcome lets the action happen: the only test for a yes in the whole program."""
    return outcome is Outcome.ALLOWED_ONCE


STOPPED = "stopped"
"""The detail of an ask that ended because a person stopped its turn."""
ASKER_GONE = "asker-gone"
"""The detail of an ask that ended because whoever asked is gone."""


class Policy(StrEnum):
    """Who decides: a person is asked, or everything that would need one is refused."""

    ASK = "ask"
    NEVER = "never"


class WhoKind(StrEnum):
    """What kind of decider stands behind a decision. There is no model among them."""

    PERSON = "person"
    POLICY = "policy"
    RULE = "rule"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Who:
    """The decider: its kind, its name and, for people, the account of the system that they used."""

    kind: WhoKind
    name: str
    account: str | None = None

    def json(self) -> dict[str, JSON]:
        """Return the form that the log and the wire use; an unknown account is left out."""
        told: dict[str, JSON] = {"kind": self.kind.value, "name": self.name}
        if self.account is not None:
            told["account"] = self.account
        return told

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Who:
        """Read back what `json` wrote."""
        return cls(WhoKind(data["kind"]), data["name"], data.get("account"))


SYSTEM = Who(WhoKind.SYSTEM, "placet")


@dataclass(frozen=True, slots=True)
class Decision:
    """One settled ask, exactly as the log holds it. `time` is in epoch ms, `waited` in ms since the ask."""

    outcome: Outcome
    detail: str | None
    who: Who
    channel: str
    evidence: str
    strength: str
    time: int
    digest: str
    feedback: str | None = None
    key: str | None = None
    waited: int = 0
    stopped_by: str | None = field(default=None, compare=False)
    """Who stopped the turn, where that ended the ask; the stop itself has it, the decision in the log does not."""

    @classmethod
    def of(cls, event: Event, *, stop: Event | None = None) -> Decision:
        """Read the decision out of an `approval/decided` event; `stop` is the `turn/abort` of its turn, if any."""
        data: Mapping[str, Any] = event.data
        return cls(
            outcome=Outcome(data["outcome"]),
            detail=data["detail"],
            who=Who.of(data["who"]),
            channel=data["channel"],
            evidence=data["evidence"],
            strength=data["strength"],
            time=event.time,
            digest=data["digest"],
            feedback=data["feedback"],
            key=data["key"],
            waited=data["asked"],
            stopped_by=stop.data["by"]["name"] if stop is not None and data["detail"] == STOPPED else None,
        )

    def json(self) -> dict[str, JSON]:
        """Return the decision as the wire tells it."""
        return {
            "outcome": self.outcome.value,
            "detail": self.detail,
            "who": self.who.json(),
            "channel": self.channel,
            "evidence": self.evidence,
            "strength": self.strength,
            "time": self.time,
            "digest": self.digest,
            "feedback": self.feedback,
            "stoppedBy": self.stopped_by,
        }
