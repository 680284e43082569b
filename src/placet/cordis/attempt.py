"""One try to run a package, and what went wrong in a run later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from placet.cordis.definition import Package
from placet.cordis.events import Fault, Offer, RunIds
from placet.cordis.vocabulary import AttemptStatus, Half, HalfStatus, Mode, PackageId, Phase, PluginId, RunId
from placet.session.event import Event

_FAILED_HALF: Mapping[Phase, Half] = {
    Phase.HOST_LOAD: Half.HOST,
    Phase.HOST_APPLY: Half.HOST,
    Phase.CLIENT_LOAD: Half.CLIENT,
    Phase.CLIENT_APPLY: Half.CLIENT,
    Phase.CLIENT_RENDER: Half.CLIENT,
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to run a package; `run` is its id. Times are epoch ms."""

    run: RunId
    plugin: PluginId
    package: PackageId
    mode: Mode
    status: AttemptStatus
    host: HalfStatus
    client: HalfStatus
    digest: str
    call: str | None
    by: Mapping[str, Any]
    holder: str
    requested_at: int
    deadline: int | None
    needs_consent: bool
    key: str | None = None
    consented: bool = False
    started_at: int | None = None
    sandbox: str | None = None
    """The sandbox mode of the host half, once it was started."""
    offer: Offer = field(default_factory=Offer)
    client_waiting_for: tuple[str, ...] = ()
    phase: Phase | None = None
    fault: Fault | None = None
    detail: str | None = None
    feedback: str | None = None
    ended_at: int | None = None

    @classmethod
    def of(cls, event: Event, package: Package) -> Attempt:
        """Read `cordis/requested`."""
        data = event.data
        needs = bool(data["needsConsent"])
        return cls(
            run=RunId(data["run"]),
            plugin=package.plugin,
            package=package.id,
            mode=Mode(data["mode"]),
            status=AttemptStatus.AWAITING_APPROVAL if needs else AttemptStatus.STARTING_HOST,
            host=HalfStatus.PENDING if package.has_host else HalfStatus.ABSENT,
            client=HalfStatus.PENDING if package.has_client else HalfStatus.ABSENT,
            digest=data["digest"],
            call=data["call"],
            by=data["by"],
            holder=data["holder"],
            requested_at=event.time,
            deadline=data["deadline"],
            needs_consent=needs,
            key=data.get("key"),
        )

    @property
    def ids(self) -> RunIds:
        """The ids that its events carry."""
        return RunIds(self.run, self.plugin, self.package)

    @property
    def awaits(self) -> bool:
        """Whether it waits for a person."""
        return self.status is AttemptStatus.AWAITING_APPROVAL

    @property
    def agents(self) -> bool:
        """Whether the agent asked for it: its outcome wakes the agent."""
        return self.call is not None

    @property
    def may_start(self) -> bool:
        """Whether its host half may be started now, by its holder."""
        return self.status is AttemptStatus.STARTING_HOST and self.started_at is None

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """Every service that either half waits for."""
        return tuple(dict.fromkeys((*self.offer.waiting_for, *self.client_waiting_for)))

    @property
    def success(self) -> AttemptStatus:
        """What success is called as things stand (I19)."""
        return AttemptStatus.WAITING if self.waiting_for else AttemptStatus.RUNNING

    def halves_after(self, phase: Phase | None, status: AttemptStatus) -> dict[str, HalfStatus]:
        """Return how both halves stand once the attempt is over with this status, in this phase."""
        broken = None if phase is None or status is not AttemptStatus.FAILED else _FAILED_HALF.get(phase)

        def after(half: Half, before: HalfStatus) -> HalfStatus:
            if before is HalfStatus.ABSENT:
                return before
            return HalfStatus.FAILED if broken is half else HalfStatus.STOPPED

        return {"host": after(Half.HOST, self.host), "client": after(Half.CLIENT, self.client)}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A failure in a run that had succeeded."""

    run: RunId
    half: Half
    phase: Phase
    slot: str | None
    message: str
    stack: str | None
    at: int

    @classmethod
    def of(cls, event: Event) -> Diagnosis:
        """Read `cordis/diagnosed`."""
        data = event.data
        return cls(
            RunId(data["run"]),
            Half(data["half"]),
            Phase(data["phase"]),
            data["slot"],
            data["message"],
            data["stack"],
            event.time,
        )
