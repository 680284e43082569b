"""Jobs as the log tells them: what is written when one starts and ends, and which of them are open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from placet.approval.subject import CallKey
from placet.kernel.clock import Clock
from placet.sandbox.mode import SandboxMode
from placet.session import keys
from placet.session.event import Draft, Event
from placet.session.ids import JobId, SessionId, new_message_id
from placet.session.store import Store

STARTED, ENDED = "job/started", "job/ended"
SOURCE = {"kind": "system", "name": "jobs"}


class Reason(StrEnum):
    """Why a job is over. Only an exit is the command's own doing."""

    EXITED = "exited"
    FAILED = "failed"
    """The sandbox could not start it, or broke."""
    KILLED = "killed"
    """The agent ended it."""
    STOPPED = "stopped"
    """A person ended it."""
    TURN_STOPPED = "turn-stopped"
    """A person stopped the turn that had started it."""
    NARROWED = "narrowed"
    """The session's mode became narrower than the job's."""
    ARCHIVED = "archived"
    DELETED = "deleted"
    SHUTDOWN = "shutdown"
    """The process that it lived in ended in order."""
    LOST = "lost"
    """The process that it lived in is gone; nobody saw the end."""

    @property
    def wakes(self) -> bool:
        """Whether the agent is woken to hear of it: only for what neither it nor a person did."""
        return self in (Reason.EXITED, Reason.FAILED)


@dataclass(frozen=True, slots=True)
class Started:
    """A job as `job/started` tells it; `command` and `cwd` stand in the escaped form."""

    id: JobId
    session: SessionId
    call: CallKey
    command: str
    mode: SandboxMode
    cwd: str
    holder: str
    time: int

    @classmethod
    def of(cls, event: Event) -> Started:
        """Read the event."""
        data = event.data
        return cls(
            JobId(data["job"]),
            event.session,
            CallKey.of(data["call"]),
            data["command"],
            SandboxMode(data["mode"]),
            data["cwd"],
            data["holder"],
            event.time,
        )

    def draft(self) -> Draft:
        """Draft the event."""
        data = {
            "job": self.id,
            "call": self.call.json(),
            "command": self.command,
            "mode": self.mode.value,
            "cwd": self.cwd,
            "holder": self.holder,
        }
        return Draft(STARTED, data, keys.job(self.id))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended. `denied` is the sandbox's evidence: with the path, where it is known."""

    reason: Reason
    exit_code: int | None = None
    signal: str | None = None
    by: Mapping[str, Any] | None = None
    error: str | None = None
    denied: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, event: Event) -> Ended:
        """Read the event."""
        data = event.data
        return cls(
            Reason(data["reason"]),
            data["exitCode"],
            data["signal"],
            data.get("by"),
            data.get("error"),
            data.get("denied"),
        )

    def draft(self, job: JobId) -> Draft:
        """Draft the event."""
        data: dict[str, Any] = {
            "job": job,
            "exitCode": self.exit_code,
            "signal": self.signal,
            "reason": self.reason.value,
        }
        more = {"by": self.by, "error": self.error, "denied": self.denied}
        data |= {
            name: value if isinstance(value, str) else dict(value) for name, value in more.items() if value is not None
        }
        return Draft(ENDED, data, keys.job_ended(job))


def message(text: str, clock: Clock, *, wake: bool) -> Draft:
    """Draft what the agent is told, for the append of the end: it wakes an idle agent, or waits for the next wake."""
    id = new_message_id(clock)
    put = {"id": id, "target": "next-step", "wake": wake, "text": text, "source": dict(SOURCE)}
    return Draft("agent/inbox", {"put": put}, keys.put(id))


@dataclass(frozen=True, slots=True)
class Known:
    """A job of a session, as far as its log goes."""

    started: Started
    ended: Ended | None = None


_NONE: Mapping[JobId, Known] = MappingProxyType({})


class JobsFold:
    """All jobs of a session, oldest first, by id."""

    def start(self) -> Mapping[JobId, Known]:
        """Return nothing."""
        return _NONE

    def step(self, state: Mapping[JobId, Known], event: Event) -> Mapping[JobId, Known]:
        """Take over a start or an end."""
        if event.type == STARTED:
            return {**state, JobId(event.data["job"]): Known(Started.of(event))}
        if event.type == ENDED and (known := state.get(JobId(event.data["job"]))) is not None:
            return {**state, known.started.id: replace(known, ended=Ended.of(event))}
        return state


class ArchivedFold:
    """Whether the session is put away."""

    def start(self) -> bool:
        """Return that it is not."""
        return False

    def step(self, state: bool, event: Event) -> bool:
        """Take over the last switch."""
        return bool(event.data["archived"]) if event.type == "session/archived" else state


JOBS, ARCHIVED = JobsFold(), ArchivedFold()


async def open_jobs(store: Store, session: SessionId | None = None) -> tuple[Started, ...]:
    """Every job without an end, of one session or of all, of whichever process; oldest first."""
    events = await store.unpaired(*keys.JOBS)
    return tuple(Started.of(event) for event in events if session is None or event.session == session)


async def jobs_of_workspace(store: Store, workspace: Path) -> tuple[Started, ...]:
    """Every job without an end whose session works in that folder, inside of it, or above it."""
    found = []
    for job in await open_jobs(store):
        created = await store.lookup(job.session, keys.created())
        if created is None:
            continue
        folder = Path(created.data["cwd"])
        if folder.is_relative_to(workspace) or workspace.is_relative_to(folder):
            found.append(job)
    return tuple(found)
