"""What a caller is told: receipts and refusals. All are values; `message` is one text for whoever asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from placet.cordis import events as log
from placet.cordis.attempt import Attempt
from placet.cordis.registry import Plugin
from placet.cordis.vocabulary import (
    InvokeFailure,
    Mode,
    PackageId,
    PluginId,
    ReceiptStatus,
    RunId,
    RunRefusal,
    Width,
)
from placet.session.event import Event


@dataclass(frozen=True, slots=True)
class DefineRefused:
    """Nothing was defined, and no number was used up."""

    message: str


@dataclass(frozen=True, slots=True)
class RunRefused:
    """Nothing runs by this call; `run` is set where an attempt was made and failed."""

    reason: RunRefusal
    message: str
    run: RunId | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """A run that was accepted; `status` is what it is when the call returns."""

    status: ReceiptStatus
    plugin: PluginId
    package: PackageId
    run: RunId
    mode: Mode
    current: PackageId | None
    next: PackageId | None
    attempt: Attempt

    @classmethod
    def of(cls, status: ReceiptStatus, plugin: Plugin, attempt: Attempt) -> Receipt:
        """Write the receipt of an attempt as its plugin stands."""
        return cls(status, plugin.id, attempt.package, attempt.run, attempt.mode, plugin.current, plugin.next, attempt)

    def json(self) -> dict[str, Any]:
        """Return the founding text's receipt; absent pointers are left out, a finished run tells both halves."""
        told: dict[str, Any] = {
            "ok": True,
            "status": self.status.value,
            "pluginId": self.plugin,
            "packageId": self.package,
            "pluginRunId": self.run,
            "mode": self.mode.value,
            "waitingFor": list(self.attempt.waiting_for),
        }
        if self.current is not None:
            told["currentPackageId"] = self.current
        if self.next is not None:
            told["nextPackageId"] = self.next
        if self.attempt.status.succeeded:
            offer = self.attempt.offer
            told["host"] = {
                "status": self.attempt.host.value,
                "provides": list(offer.provides),
                "waitingFor": list(offer.waiting_for),
            }
            told["client"] = {
                "status": self.attempt.client.value,
                "waitingFor": list(self.attempt.client_waiting_for),
            }
        return told


@dataclass(frozen=True, slots=True)
class Stopped:
    """Nothing of the plugin runs or waits any more; `was_running` is false where nothing did."""

    plugin: PluginId
    was_running: bool


@dataclass(frozen=True, slots=True)
class StopRefused:
    """Nothing was stopped or removed."""

    reason: Literal["plugin-missing", "not-running", "elsewhere"]
    message: str


@dataclass(frozen=True, slots=True)
class Decision:
    """How a request for consent was settled; `who` and `channel` are None where nobody answered it."""

    outcome: Literal["consented", "declined", "cancelled"]
    time: int
    width: Width | None = None
    detail: str | None = None
    who: Mapping[str, Any] | None = None
    channel: str | None = None
    evidence: str | None = None
    strength: str | None = None
    digest: str | None = None
    feedback: str | None = None

    @classmethod
    def of(cls, event: Event) -> Decision:
        """Read `cordis/consented`, `cordis/declined` or the `cordis/settled` of a request that nobody answered."""
        data = event.data
        if event.type == log.SETTLED:
            by = data["by"]
            return cls("cancelled", event.time, detail=data["detail"], who=by, channel=(by or {}).get("channel"))
        return cls(
            "consented" if event.type == log.CONSENTED else "declined",
            event.time,
            width=Width(data["width"]) if event.type == log.CONSENTED else None,
            who=data["who"],
            channel=data["channel"],
            evidence=data["evidence"],
            strength=data["strength"],
            digest=data["digest"],
            feedback=data.get("feedback"),
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """This answer is the decision in the log. The same key again brings the same receipt."""

    run: RunId
    outcome: Literal["consented", "declined"]
    width: Width | None
    time: int
    who: Mapping[str, Any]
    channel: str
    strength: str

    @classmethod
    def of(cls, event: Event) -> Answered:
        """Write the receipt of a decision."""
        decision = Decision.of(event)
        assert decision.outcome != "cancelled" and decision.who is not None
        return cls(
            RunId(event.data["run"]),
            decision.outcome,
            decision.width,
            event.time,
            decision.who,
            decision.channel or "",
            decision.strength or "",
        )


@dataclass(frozen=True, slots=True)
class NotPending:
    """The answer came too late; `decision` is the one that counts."""

    decision: Decision | None


@dataclass(frozen=True, slots=True)
class BadResponse:
    """The answer cannot be one of this request, which stays as it is."""

    why: str


@dataclass(frozen=True, slots=True)
class InvokeRefused:
    """The call has no value."""

    code: InvokeFailure
    message: str


@dataclass(frozen=True, slots=True)
class SourceRefused:
    """The source is not handed out: the run is not the active one, or has no client half."""

    message: str
