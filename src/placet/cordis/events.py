"""The `cordis/*` events and their keys; the only place that builds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from placet.approval.outcome import Who
from placet.cordis.vocabulary import (
    AttemptStatus,
    Detail,
    Half,
    Mode,
    PackageId,
    Phase,
    PluginId,
    RunId,
    Width,
)
from placet.sandbox.mode import SandboxMode
from placet.session import keys
from placet.session.codec import escape
from placet.session.event import Draft

By = Mapping[str, Any]

DEFINED, REQUESTED, CONSENTED, DECLINED = "cordis/defined", "cordis/requested", "cordis/consented", "cordis/declined"
STARTED, READY, CHANGED, SETTLED = "cordis/started", "cordis/ready", "cordis/changed", "cordis/settled"
STOPPED, DIAGNOSED, REVOKED, UNDEFINED = "cordis/stopped", "cordis/diagnosed", "cordis/revoked", "cordis/undefined"
CALLED = "cordis/called"
TYPES = frozenset(
    {DEFINED, REQUESTED, CONSENTED, DECLINED, STARTED, READY, CHANGED, SETTLED, STOPPED, DIAGNOSED, REVOKED, UNDEFINED}
)
"""What the fold of plugins follows: every event of the family but `cordis/called`."""


def defined_key(call: str) -> str:
    """Return the key of the package that a call defined."""
    return f"defined:{call}"


requested_key, settled_key = keys.requested, keys.settled


def consented_key(run: RunId) -> str:
    """Return the key of the one yes to an attempt."""
    return f"consented:{run}"


def started_key(run: RunId) -> str:
    """Return the key of the one start of an attempt."""
    return f"run-started:{run}"


def ready_key(run: RunId) -> str:
    """Return the key of the moment in which the host half was up."""
    return f"run-ready:{run}"


def stopped_key(run: RunId) -> str:
    """Return the key of the end of a run that had settled as running or waiting."""
    return f"run-stopped:{run}"


def undefined_key(plugin: PluginId) -> str:
    """Return the key of a plugin's removal."""
    return f"undefined:{plugin}"


def revoked_key(key: str) -> str:
    """Return the key of a consent taken back; `key` is the client's own."""
    return keys.client("revoked", key)


def called_key(run: RunId, n: int) -> str:
    """Return the key of the n-th changing call of a run outside of a turn."""
    return f"cordis-called:{run}.{n}"


def diagnosed_key(run: RunId, text: str) -> str:
    """Return a key that lets each distinct text of a run into the log once."""
    return f"diagnosed:{run}:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong, in the words of whoever noticed. Texts are bounded where they come in."""

    message: str
    stack: str | None = None
    line: int | None = None

    def json(self) -> dict[str, Any]:
        """Return the form that log and wire use."""
        return {"message": self.message, "stack": self.stack, "line": self.line}

    @classmethod
    def of(cls, data: Mapping[str, Any] | None) -> Fault | None:
        """Read back what `json` wrote."""
        return None if data is None else cls(data["message"], data.get("stack"), data.get("line"))


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers for a person's decision: who, how they came in, on which evidence, and the client's own key."""

    who: Who
    channel: str
    evidence: str
    strength: str
    key: str

    def json(self) -> dict[str, Any]:
        """Return the fields that every decision carries."""
        return {
            "who": self.who.json(),
            "channel": self.channel,
            "evidence": self.evidence,
            "strength": self.strength,
            "key": self.key,
        }


@dataclass(frozen=True, slots=True)
class RunIds:
    """Which attempt an event is about."""

    run: RunId
    plugin: PluginId
    package: PackageId

    def json(self) -> dict[str, Any]:
        """Return the three ids."""
        return {"run": self.run, "plugin": self.plugin, "package": self.package}


def requested(
    ids: RunIds,
    *,
    mode: Mode,
    needs_consent: bool,
    digest: str,
    call: str | None,
    by: By,
    holder: str,
    deadline: int | None,
    key: str | None,
) -> Draft:
    """Draft `cordis/requested`; `deadline` is in epoch ms, `key` the client's own for a person's gesture."""
    data: dict[str, Any] = {
        **ids.json(),
        "mode": mode.value,
        "needsConsent": needs_consent,
        "digest": digest,
        "call": call,
        "by": dict(by),
        "holder": holder,
        "deadline": deadline,
    }
    if key is not None:
        data["key"] = key
    return Draft(REQUESTED, data, requested_key(ids.run))


def consented(ids: RunIds, *, width: Width, digest: str, answering: Answering, holder: str) -> Draft:
    """Draft `cordis/consented`."""
    data = {**ids.json(), "width": width.value, "digest": digest, **answering.json(), "holder": holder}
    return Draft(CONSENTED, data, consented_key(ids.run))


def declined(ids: RunIds, *, digest: str, answering: Answering, feedback: str | None) -> Draft:
    """Draft `cordis/declined`."""
    data = {**ids.json(), "digest": digest, **answering.json(), "feedback": feedback}
    return Draft(DECLINED, data, settled_key(ids.run))


def started(ids: RunIds, *, mode: SandboxMode, holder: str) -> Draft:
    """Draft `cordis/started`: whoever gets it into the log starts the host half."""
    return Draft(STARTED, {**ids.json(), "mode": mode.value, "holder": holder}, started_key(ids.run))


@dataclass(frozen=True, slots=True)
class Offer:
    """What a host half offers, and what it waits for."""

    provides: tuple[str, ...] = ()
    waiting_for: tuple[str, ...] = ()
    handlers: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the form that log and wire use."""
        return {
            "provides": list(self.provides),
            "waitingFor": list(self.waiting_for),
            "handlers": list(self.handlers),
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Offer:
        """Read back what `json` wrote."""
        return cls(tuple(data["provides"]), tuple(data["waitingFor"]), tuple(data["handlers"]))


def ready(ids: RunIds, offer: Offer) -> Draft:
    """Draft `cordis/ready`."""
    return Draft(READY, {"run": ids.run, "plugin": ids.plugin, **offer.json()}, ready_key(ids.run))


def changed(ids: RunIds, offer: Offer, number: int) -> Draft:
    """Draft `cordis/changed`, the `number`-th of its run."""
    data = {"run": ids.run, "plugin": ids.plugin, **offer.json()}
    return Draft(CHANGED, data, f"run-changed:{ids.run}:{number}")


def settled(
    ids: RunIds,
    status: AttemptStatus,
    *,
    detail: Detail | None = None,
    phase: Phase | None = None,
    fault: Fault | None = None,
    by: By | None = None,
    page: str | None = None,
    waiting_for: Sequence[str] = (),
) -> Draft:
    """Draft `cordis/settled`, the one outcome of an attempt; `waiting_for` is what a client half waits for."""
    data: dict[str, Any] = {
        **ids.json(),
        "status": status.value,
        "detail": None if detail is None else detail.value,
        "phase": None if phase is None else phase.value,
        "error": None if fault is None else fault.json(),
        "by": None if by is None else dict(by),
        "page": page,
    }
    if waiting_for:
        data["waitingFor"] = list(waiting_for)
    return Draft(SETTLED, data, settled_key(ids.run))


def stopped(
    ids: RunIds, *, status: AttemptStatus, detail: Detail, by: By | None = None, fault: Fault | None = None
) -> Draft:
    """Draft `cordis/stopped`: nothing of the run lives any more."""
    data = {
        "run": ids.run,
        "plugin": ids.plugin,
        "status": status.value,
        "detail": detail.value,
        "by": None if by is None else dict(by),
        "error": None if fault is None else fault.json(),
    }
    return Draft(STOPPED, data, stopped_key(ids.run))


def diagnosed(ids: RunIds, *, half: Half, phase: Phase, slot: str | None, fault: Fault) -> Draft:
    """Draft `cordis/diagnosed`: something failed in a run that goes on."""
    data = {
        "run": ids.run,
        "plugin": ids.plugin,
        "half": half.value,
        "phase": phase.value,
        "slot": slot,
        "message": fault.message,
        "stack": fault.stack,
    }
    return Draft(DIAGNOSED, data, diagnosed_key(ids.run, f"{half}:{phase}:{fault.message}"))


def revoked(plugin: PluginId, *, package: PackageId | None, future: bool, answering: Answering) -> Draft:
    """Draft `cordis/revoked`: the next start asks."""
    data = {"plugin": plugin, "package": package, "future": future, **answering.json()}
    return Draft(REVOKED, data, revoked_key(answering.key))


def undefined(plugin: PluginId, *, was_running: bool, by: By) -> Draft:
    """Draft `cordis/undefined`: the plugin is gone for good."""
    return Draft(UNDEFINED, {"plugin": plugin, "wasRunning": was_running, "by": dict(by)}, undefined_key(plugin))


def called(run: RunId, plugin: PluginId, *, n: int, service: str, arguments: Any) -> Draft:
    """Draft `cordis/called`: a half is about to change something outside of an open turn."""
    data = {"run": run, "plugin": plugin, "n": n, "service": service, "arguments": arguments}
    return Draft(CALLED, data, called_key(run, n))


def told(plugin: PluginId, text: str, message: str, *, wake: bool) -> Draft:
    """Draft what the agent hears of a plugin, for the append of what it tells; `message` is a new message id.

    It wakes an idle agent (steer), or waits for the next wake (inject).
    """
    put = {
        "id": message,
        "target": "next-step",
        "wake": wake,
        "text": text,
        "source": {"kind": "plugin", "name": escape(plugin)},
    }
    return Draft("agent/inbox", {"put": put}, keys.put(message))
