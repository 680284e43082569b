"""The plugins as the log tells them: packages, consents, pointers, the latest attempt and what runs. A pure fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from placet.cordis import events as log
from placet.cordis.attempt import Attempt, Diagnosis
from placet.cordis.definition import Package
from placet.cordis.vocabulary import (
    AttemptStatus,
    Detail,
    HalfStatus,
    PackageId,
    Phase,
    PluginId,
    RunId,
    SummaryState,
    Width,
)
from placet.session.event import Event
from placet.session.ids import SessionId

DIAGNOSES = 20
"""Failures of running plugins that are kept in memory, per plugin; the log has all."""

_STATES: Mapping[AttemptStatus, SummaryState] = {
    AttemptStatus.AWAITING_APPROVAL: SummaryState.AWAITING_APPROVAL,
    AttemptStatus.STARTING_HOST: SummaryState.CLIENT_PENDING,
    AttemptStatus.CLIENT_PENDING: SummaryState.CLIENT_PENDING,
    AttemptStatus.RUNNING: SummaryState.RUNNING,
    AttemptStatus.WAITING: SummaryState.WAITING,
    AttemptStatus.REJECTED: SummaryState.REJECTED,
    AttemptStatus.FAILED: SummaryState.FAILED,
    AttemptStatus.CANCELLED: SummaryState.CANCELLED,
    AttemptStatus.STOPPED: SummaryState.STOPPED,
}


@dataclass(frozen=True, slots=True)
class Consent:
    """A person's yes that still counts: to one package, or (`package` None) to the plugin's future ones."""

    package: PackageId | None
    width: Width
    digest: str
    who: Mapping[str, Any]
    channel: str
    at: int


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin of a session. `packages` are in the order in which they were defined."""

    id: PluginId
    session: SessionId
    packages: tuple[Package, ...] = ()
    current: PackageId | None = None
    next: PackageId | None = None
    latest: Attempt | None = None
    """The newest attempt, whatever became of it."""
    active: Attempt | None = None
    """The run whose host half the log holds to be alive; the same object as `latest` where it is that one."""
    consents: tuple[Consent, ...] = ()
    withdrawn: frozenset[PackageId] = frozenset()
    """Packages whose consent was taken back: they need one even where future ones are allowed."""
    consented_last: PackageId | None = None
    """The package that a person saw last and said yes to."""
    diagnoses: tuple[Diagnosis, ...] = ()
    outcome: AttemptStatus | None = None
    """What the last end of an attempt or a run was."""
    attempts: int = 0
    """How many attempts there were; the store gives the next one only to who has seen all of them."""

    @property
    def consented(self) -> frozenset[PackageId]:
        """The packages with a consent of their own (J1)."""
        return frozenset(consent.package for consent in self.consents if consent.package is not None)

    @property
    def future(self) -> bool:
        """Whether future packages are allowed (J1)."""
        return any(consent.package is None for consent in self.consents)

    @property
    def newest(self) -> Package:
        """The package that was defined last; a plugin has at least one."""
        return self.packages[-1]

    @property
    def name(self) -> str:
        """What people call it: the name of the current package, else of the newest one."""
        return (self.package(self.current) or self.newest).name

    @property
    def pending(self) -> Attempt | None:
        """The attempt that waits for a person."""
        return self.latest if self.latest is not None and self.latest.awaits else None

    @property
    def in_flight(self) -> Attempt | None:
        """The attempt that has no outcome yet."""
        return self.latest if self.latest is not None and self.latest.status.in_flight else None

    @property
    def state(self) -> SummaryState:
        """How the plugin stands: a refused or failed update leaves what runs in view (N14 and ours)."""
        latest = self.latest
        if latest is None:
            return SummaryState.DEFINED
        if self.active is not None and not latest.status.in_flight:
            return _STATES[self.active.status]
        return _STATES[latest.status if latest.status.in_flight else self.outcome or latest.status]

    def package(self, package: PackageId | None) -> Package | None:
        """Return one of its packages."""
        return next((one for one in self.packages if one.id == package), None)

    def attempt(self, run: RunId) -> Attempt | None:
        """Return the attempt with this id, if it is the latest or the active one."""
        return next((one for one in (self.latest, self.active) if one is not None and one.run == run), None)

    def runs(self, attempt: Attempt) -> bool:
        """Whether this attempt is the active run."""
        return self.active is not None and self.active.run == attempt.run

    def needs_consent(self, package: Package) -> bool:
        """Whether a person has to say yes before this package starts (J2); computed from what is stored."""
        if not package.has_client or package.id in self.consented:
            return False
        return not self.future or package.id in self.withdrawn


@dataclass(frozen=True, slots=True)
class Plugins:
    """All plugins of one session, or of all, by id."""

    plugins: Mapping[PluginId, Plugin] = field(default_factory=lambda: MappingProxyType({}))
    runs: Mapping[RunId, PluginId] = field(default_factory=lambda: MappingProxyType({}))
    """The latest and the active attempts, and whose they are."""

    def of(self, session: SessionId) -> tuple[Plugin, ...]:
        """Return the plugins of a session."""
        return tuple(plugin for plugin in self.plugins.values() if plugin.session == session)

    def owned(self, session: SessionId, plugin: PluginId) -> Plugin | None:
        """Return a plugin of that session; another session's is as good as missing (H11)."""
        found = self.plugins.get(plugin)
        return found if found is not None and found.session == session else None

    def by_run(self, run: RunId) -> Plugin | None:
        """Return the plugin whose latest or active attempt this is."""
        found = self.runs.get(run)
        return None if found is None else self.plugins.get(found)


class PluginsFold:
    """All plugins of the logs that it is given, one log or many."""

    def start(self) -> Plugins:
        """Return none."""
        return Plugins()

    def step(self, state: Plugins, event: Event) -> Plugins:
        """Take over what an event says about a plugin."""
        if event.type == "session/removed":
            return _without(state, lambda plugin: plugin.session == event.data["session"])
        if event.type not in log.TYPES:
            return state
        id = PluginId(event.data["plugin"])
        if event.type == log.UNDEFINED:
            return _without(state, lambda plugin: plugin.id == id and plugin.session == event.session)
        before = state.plugins.get(id)
        if before is None:
            if event.type != log.DEFINED:
                return state
            before = Plugin(id, event.session)
        if before.session != event.session:
            return state  # only a log of another writer does that; ids are never used twice
        after = _STEPS[event.type](before, event)
        return state if after is before else _with(state, before, after)


def _with(state: Plugins, before: Plugin, after: Plugin) -> Plugins:
    plugins = MappingProxyType({**state.plugins, after.id: after})
    old, new = _runs_of(before), _runs_of(after)
    if old == new:
        return Plugins(plugins, state.runs)
    kept = {run: id for run, id in state.runs.items() if run not in old}
    return Plugins(plugins, MappingProxyType({**kept, **dict.fromkeys(new, after.id)}))


def _without(state: Plugins, gone: Any) -> Plugins:
    left = {plugin.id: plugin for plugin in state.plugins.values() if not gone(plugin)}
    if len(left) == len(state.plugins):
        return state
    runs = {run: id for run, id in state.runs.items() if id in left}
    return Plugins(MappingProxyType(left), MappingProxyType(runs))


def _runs_of(plugin: Plugin) -> tuple[RunId, ...]:
    return tuple(attempt.run for attempt in (plugin.latest, plugin.active) if attempt is not None)


def _change(plugin: Plugin, run: str, **change: Any) -> Plugin:
    """Change an attempt wherever the plugin has it."""
    latest, active = plugin.latest, plugin.active
    new_latest = replace(latest, **change) if latest is not None and latest.run == run else latest
    if active is not None and active.run == run:
        active = new_latest if latest is not None and latest.run == run else replace(active, **change)
    if new_latest is latest and active is plugin.active:
        return plugin
    return replace(plugin, latest=new_latest, active=active)


def _defined(plugin: Plugin, event: Event) -> Plugin:
    data = event.data
    package = Package(
        PackageId(data["package"]),
        plugin.id,
        data["name"],
        data["purpose"],
        has_host=data["host"] is not None or bool(data.get("hostBytes")),
        has_client=data["client"] is not None or bool(data.get("clientBytes")),
        digest=data["digest"],
        seq=event.seq,
        defined_at=event.time,
        call=data["call"],
    )
    return replace(plugin, packages=(*plugin.packages, package))


def _requested(plugin: Plugin, event: Event) -> Plugin:
    package = plugin.package(PackageId(event.data["package"]))
    if package is None:
        return plugin
    return replace(plugin, latest=Attempt.of(event, package), next=package.id, attempts=plugin.attempts + 1)


def _consented(plugin: Plugin, event: Event) -> Plugin:
    data = event.data
    package, width = PackageId(data["package"]), Width(data["width"])
    consents = [one for one in plugin.consents if one.package != package]
    consents.append(Consent(package, width, data["digest"], data["who"], data["channel"], event.time))
    if width is Width.FUTURE and not plugin.future:
        consents.append(Consent(None, width, data["digest"], data["who"], data["channel"], event.time))
    changed = replace(plugin, consents=tuple(consents), withdrawn=plugin.withdrawn - {package}, consented_last=package)
    return _change(changed, data["run"], status=AttemptStatus.STARTING_HOST, holder=data["holder"], consented=True)


def _declined(plugin: Plugin, event: Event) -> Plugin:
    data = event.data
    attempt = plugin.attempt(RunId(data["run"]))
    if attempt is None:
        return plugin
    change = {"status": AttemptStatus.REJECTED, "phase": Phase.APPROVAL, "feedback": data["feedback"]}
    halves = attempt.halves_after(Phase.APPROVAL, AttemptStatus.REJECTED)
    changed = _change(plugin, attempt.run, **change, **halves, ended_at=event.time)
    return replace(changed, outcome=AttemptStatus.REJECTED)


def _started(plugin: Plugin, event: Event) -> Plugin:
    data = event.data
    return _change(
        plugin, data["run"], status=AttemptStatus.STARTING_HOST, started_at=event.time, sandbox=data["mode"],
        holder=data["holder"],
    )  # fmt: skip


def _ready(plugin: Plugin, event: Event) -> Plugin:
    changed = _change(plugin, event.data["run"], status=AttemptStatus.CLIENT_PENDING, **_offered(plugin, event))
    latest = changed.latest
    if latest is None or latest.run != event.data["run"]:
        return changed
    return replace(changed, active=latest)


def _offered(plugin: Plugin, event: Event) -> dict[str, Any]:
    offer = log.Offer.of(event.data)
    attempt = plugin.attempt(RunId(event.data["run"]))
    if attempt is None or attempt.host is HalfStatus.ABSENT:
        return {"offer": offer}
    return {"offer": offer, "host": HalfStatus.WAITING if offer.waiting_for else HalfStatus.RUNNING}


def _changed(plugin: Plugin, event: Event) -> Plugin:
    after = _change(plugin, event.data["run"], **_offered(plugin, event))
    attempt = after.attempt(RunId(event.data["run"]))
    if attempt is None or not attempt.status.succeeded:
        return after
    return _change(after, attempt.run, status=attempt.success)


def _settled(plugin: Plugin, event: Event) -> Plugin:
    data = event.data
    run, status = data["run"], AttemptStatus(data["status"])
    waits = tuple(data.get("waitingFor", ()))
    change: dict[str, Any] = {
        "status": status,
        "detail": data["detail"],
        "phase": None if data["phase"] is None else Phase(data["phase"]),
        "fault": log.Fault.of(data["error"]),
        "ended_at": event.time,
    }
    attempt = plugin.attempt(RunId(run))
    if attempt is None:
        return plugin
    if status.succeeded:
        client = HalfStatus.WAITING if waits else HalfStatus.RUNNING
        change["client"] = HalfStatus.ABSENT if attempt.client is HalfStatus.ABSENT else client
        change["client_waiting_for"] = waits
        changed = _change(plugin, run, **change)
        return replace(changed, current=attempt.package, next=None, outcome=status)
    changed = _change(plugin, run, **change, **attempt.halves_after(change["phase"], status))
    active = None if plugin.runs(attempt) else changed.active
    return replace(changed, active=active, outcome=status)


def _stopped(plugin: Plugin, event: Event) -> Plugin:
    data = event.data
    attempt = plugin.attempt(RunId(data["run"]))
    if attempt is None:
        return plugin
    status = AttemptStatus(data["status"])
    fault = log.Fault.of(data["error"])
    died = Phase.HOST_APPLY if data["detail"] == Detail.CRASHED else None
    changed = _change(
        plugin, data["run"], status=status, detail=data["detail"], fault=fault, ended_at=event.time,
        phase=None, **attempt.halves_after(died, status),
    )  # fmt: skip
    return replace(changed, active=None if plugin.runs(attempt) else changed.active, outcome=status)


def _diagnosed(plugin: Plugin, event: Event) -> Plugin:
    one = Diagnosis.of(event)
    changed = replace(plugin, diagnoses=(*plugin.diagnoses, one)[-DIAGNOSES:])
    if one.phase is not Phase.CLIENT_RENDER:
        return changed
    failed = {"status": AttemptStatus.FAILED, "client": HalfStatus.FAILED, "phase": one.phase}
    return _change(changed, one.run, **failed, fault=log.Fault(one.message, one.stack))


def _revoked(plugin: Plugin, event: Event) -> Plugin:
    package = event.data["package"]
    consents = tuple(
        one
        for one in plugin.consents
        if not (one.package is None and event.data["future"]) and not (package is not None and one.package == package)
    )
    withdrawn = plugin.withdrawn if package is None else plugin.withdrawn | {PackageId(package)}
    return replace(plugin, consents=consents, withdrawn=withdrawn)


_STEPS = {
    log.DEFINED: _defined,
    log.REQUESTED: _requested,
    log.CONSENTED: _consented,
    log.DECLINED: _declined,
    log.STARTED: _started,
    log.READY: _ready,
    log.CHANGED: _changed,
    log.SETTLED: _settled,
    log.STOPPED: _stopped,
    log.DIAGNOSED: _diagnosed,
    log.REVOKED: _revoked,
}

PLUGINS = PluginsFold()
"""The one instance to give to `SessionLog.see`."""
