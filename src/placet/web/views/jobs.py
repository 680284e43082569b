"""Background jobs as a screen shows them."""

from __future__ import annotations

from placet.session import keys
from placet.session.event import Event
from placet.session.ids import SessionId
from placet.tools.jobs import Ended, Started, open_jobs
from placet.web.desk import Desk
from placet.web.errors import NotFound
from placet.web.wire import CallKey, JobName
from placet.web.wire_session import JobOutput, JobView

PIECE = 64_000
"""Bytes of output in one answer."""


async def running(desk: Desk, session: SessionId) -> list[JobView]:
    """Return the jobs of a session that have not ended, oldest first."""
    return [view(job, None) for job in await open_jobs(desk.services.store, session)]


async def find(desk: Desk, session: SessionId, job: str) -> JobView:
    """Return a job of the session as it stands. Raises NotFound."""
    store = desk.services.store
    started = await store.lookup(session, keys.job(job))
    if started is None:
        raise NotFound("there is no such job in this session", code="unknown-job")
    ended: Event | None = await store.lookup(session, keys.job_ended(job))
    return view(Started.of(started), None if ended is None else Ended.of(ended))


async def output(desk: Desk, session: SessionId, job: str, after: int) -> JobOutput:
    """Return what a job has written from that byte on. Raises NotFound."""
    shown = await find(desk, session, job)
    kept = desk.services.jobs.get(session, job)
    if kept is None:
        return JobOutput(job=shown, kept=False, text="", start=after, end=after, dropped=0, more=0)
    piece = kept.output.read(after, PIECE, final=kept.over.is_set())
    return JobOutput(
        job=shown,
        kept=True,
        text=piece.text,
        start=piece.start,
        end=piece.end,
        dropped=piece.dropped,
        more=piece.more,
    )


def view(started: Started, ended: Ended | None) -> JobView:
    """Return a job as it travels."""
    return JobView(
        job=started.id,
        command=started.command,
        mode=started.mode.value,
        cwd=started.cwd,
        call=CallKey(turn=started.call.turn, step=started.call.step, position=started.call.position),
        started_at=started.time,
        state="running" if ended is None else "ended",
        exit_code=None if ended is None else ended.exit_code,
        signal=None if ended is None else ended.signal,
        reason=None if ended is None else ended.reason.value,
    )


def name(started: Started) -> JobName:
    """Return what tells a job from others."""
    return JobName(job=started.id, command=started.command, mode=started.mode.value)
