"""Widening the sandbox for one call: which modes are wider, and when nobody is asked at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from placet.approval.events import ASKED, DECIDED
from placet.approval.outcome import Outcome, WhoKind
from placet.permission.likeness import likeness
from placet.sandbox.mode import SandboxMode
from placet.session.event import Event

WIDER_MODES: dict[SandboxMode, frozenset[SandboxMode]] = {
    SandboxMode.READ_ONLY: frozenset({SandboxMode.WORKSPACE_WRITE, SandboxMode.DANGER_FULL_ACCESS}),
    SandboxMode.WORKSPACE_WRITE: frozenset({SandboxMode.DANGER_FULL_ACCESS}),
    SandboxMode.DANGER_FULL_ACCESS: frozenset(),
}
"""To each mode the modes that are strictly wider."""

TARGETS = (SandboxMode.WORKSPACE_WRITE, SandboxMode.DANGER_FULL_ACCESS)
"""The modes that a call may request, never trimmed to the session's own mode (C11)."""

MAX_REJECTIONS = 3
"""After so many rejections in one turn every further widening of that turn is refused without asking."""


class Verdict(StrEnum):
    """What becomes of a request for a mode."""

    RUNS = "runs"
    """It is the mode in force: the call runs in it, nobody is asked."""
    NARROWER = "narrower"
    """It is narrower than the mode in force: an error, nobody is asked."""
    ASKS = "asks"
    """It is strictly wider: a person has to agree."""


def wider(current: SandboxMode, requested: SandboxMode) -> bool:
    """Whether the requested mode is strictly wider than the current one."""
    return requested in WIDER_MODES[current]


def judge(current: SandboxMode, requested: SandboxMode) -> Verdict:
    """Decide whether a request for a mode needs a person."""
    if requested is current:
        return Verdict.RUNS
    return Verdict.ASKS if wider(current, requested) else Verdict.NARROWER


@dataclass(frozen=True, slots=True)
class Rejections:
    """What was rejected in the turn: the calls by their likeness, and how many rejections there were."""

    rejected: frozenset[str] = frozenset()
    count: int = 0
    open: tuple[tuple[str, str], ...] = ()

    @property
    def exhausted(self) -> bool:
        """Whether no further widening of this turn is asked about."""
        return self.count >= MAX_REJECTIONS


class RejectionsFold:
    """The rejections of the current turn that somebody gave; one by the policy is no word of a person."""

    def start(self) -> Rejections:
        """Return none."""
        return Rejections()

    def step(self, state: Rejections, event: Event) -> Rejections:
        """Forget at a new turn, note an ask that widens, count its rejection."""
        match event.type:
            case "turn/start":
                return Rejections()
            case _ if event.type == ASKED and event.data["subject"]["toMode"] is not None:
                return replace(state, open=(*state.open, (event.data["id"], _likeness(event.data["subject"]))))
            case _ if event.type == DECIDED:
                return self._decided(state, event)
            case _:
                return state

    def _decided(self, state: Rejections, event: Event) -> Rejections:
        found = dict(state.open).get(event.data["id"])
        if found is None:
            return state
        rest = tuple(pair for pair in state.open if pair[0] != event.data["id"])
        if event.data["outcome"] != Outcome.REJECTED or event.data["who"]["kind"] == WhoKind.POLICY:
            return replace(state, open=rest)
        return Rejections(state.rejected | {found}, state.count + 1, rest)


REJECTIONS = RejectionsFold()


def _likeness(subject: dict[str, Any]) -> str:
    return likeness(subject["tool"], subject["arguments"], subject["cwd"], subject["toMode"])
