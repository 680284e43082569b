"""What people do to background jobs: end one, and know which ones a narrower mode would end."""

from __future__ import annotations

from placet.cordis.attempt import Attempt
from placet.permission.escalation import wider
from placet.permission.preset import Permissions
from placet.session.ids import SessionId
from placet.tools.jobs import Reason
from placet.web.desk import Desk
from placet.web.errors import Conflict, JobsRunning
from placet.web.security.caller import Caller
from placet.web.views import jobs as views
from placet.web.wire import JobName
from placet.web.wire_session import JobView


async def kill(desk: Desk, caller: Caller, session: SessionId, job: str) -> JobView:
    """End a job with everything that it has started, and return how it ended; one that is over stays as it is.

    Raises NotFound, and Conflict for a job that lives in another process.
    """
    shown = await views.find(desk, session, job)
    if shown.state == "ended":
        return shown
    here = desk.services.jobs.get(session, job)
    if here is None:
        raise Conflict(
            "this job lives in another placet process",
            code="job-elsewhere",
            hint="End that process, or narrow the session's mode, which ends it too.",
        )
    await desk.services.jobs.end(here, Reason.STOPPED, caller.by)
    return await views.find(desk, session, job)


async def named_first(desk: Desk, session: SessionId, before: Permissions, after: Permissions) -> None:
    """Raise JobsRunning with the jobs and the runs of plugins that a switch would end, if there are any."""
    if wider(after.mode, before.mode):
        jobs = [views.name(job) for job in await desk.services.jobs.wider(session, after.mode)]
        runs = [_name(run) for run in await desk.services.cordis.wider(session, after.mode)]
        if jobs or runs:
            raise JobsRunning([*jobs, *runs])


async def end_wider(desk: Desk, caller: Caller, session: SessionId, before: Permissions, after: Permissions) -> None:
    """End the jobs and host halves that run in a wider mode than the narrower one that is in force now."""
    if wider(after.mode, before.mode):
        await desk.services.jobs.end_wider(session, after.mode, caller.by)
        await desk.services.cordis.end_wider(session, after.mode, caller.by)


def _name(run: Attempt) -> JobName:
    return JobName(job=run.run, command=f"plugin {run.plugin}", mode=run.sandbox or "")
