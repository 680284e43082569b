"""The jobs of one process: started under the turn that wants them, ended by whatever ends them, told in the log.

A job is in the log before its process is there, and its end is one append with the message that tells the agent. What
people do to a session (stop, narrow, put away, delete) is read from the log, so that it counts whoever did it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.kernel.groups import unwrapped
from placet.permission.escalation import wider
from placet.sandbox.errors import SandboxError, Stopped
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.sandbox.process import Command, Run
from placet.sandbox.service import Sandbox
from placet.session import keys
from placet.session.codec import escape
from placet.session.errors import LeaseLost, StoreDamaged, StoreError
from placet.session.event import Draft, Event
from placet.session.fold import folded
from placet.session.ids import JobId, SessionId, new_job_id
from placet.session.lease import alive, holder
from placet.session.store import Appended, Bell, Refused, Store
from placet.tools.appearances import begun, job_notices
from placet.tools.jobs import words
from placet.tools.jobs.errors import JobRefused
from placet.tools.jobs.job import By, Job
from placet.tools.jobs.record import ARCHIVED, Ended, Reason, Started, message, open_jobs
from placet.tools.tool import CallContext

logger = logging.getLogger(__name__)

AT_ONCE = 16
"""Jobs that one session may have running."""
KEPT = 16
"""Jobs of one session whose output is kept after their end."""
LOOK_AGAIN = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
FOLLOWED = frozenset({"turn/abort", "session/archived", "sandbox/mode"})


class Jobs:
    """Starts and ends jobs; works inside of `serving`."""

    def __init__(
        self,
        sandbox: Sandbox,
        store: Store,
        clock: Clock = SYSTEM_CLOCK,
        *,
        modes: ModeFold = ModeFold(),  # noqa: B008 - a frozen value
    ) -> None:
        self._sandbox, self._store, self._clock, self._modes = sandbox, store, clock, modes
        self._jobs: dict[JobId, Job] = {}
        self._doubted: set[JobId] = set()
        self._damaged: set[SessionId] = set()
        self._group: TaskGroup | None = None
        self._cursor: int | None = None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Let jobs run inside of the block; at its end all of them are ended, and it returns when none lives."""
        with unwrapped():
            async with anyio.create_task_group() as group:
                self._group = group
                group.start_soon(self._follow)
                try:
                    yield
                finally:
                    self._group = None
                    with anyio.CancelScope(shield=True):
                        await self._end(self.living(), Reason.SHUTDOWN)
                    group.cancel_scope.cancel()

    # ---- what there is ----

    def get(self, session: SessionId, job: str) -> Job | None:
        """Return a job of that session in this process: one that lives, or whose output is still there."""
        found = self._jobs.get(JobId(job))
        return found if found is not None and found.started.session == session else None

    def living(self, session: SessionId | None = None) -> tuple[Job, ...]:
        """Return the jobs of this process that are not over, of one session or of all, oldest first."""
        return tuple(
            job
            for job in self._jobs.values()
            if not job.over.is_set() and (session is None or job.started.session == session)
        )

    # ---- start ----

    async def start(self, call: CallContext, script: str, command: Command) -> Job:
        """Register a job and start its command; return once the process is there.

        Raises `JobRefused`, `Stopped` where the turn was stopped first, `LeaseLost`, `StoreError` and what the sandbox
        raises. Nothing runs then.
        """
        if call.signal.aborted:
            raise Stopped("The call was stopped before it started")
        self._admit(call)
        job = Job(self._started(call, script))
        self._jobs[job.started.id] = job  # before it is in the log: nobody takes it for lost
        try:
            await self._overtaken(call, job, await self._register(call, job))
        except BaseException:
            del self._jobs[job.started.id]
            self._doubted.add(job.started.id)  # where the log holds it after all, its end is written later
            raise
        if call.signal.aborted:
            job.end(Reason.TURN_STOPPED)
        group = self._group
        if group is None:
            job.end(Reason.SHUTDOWN)
            await self._settle(job, _aborted(job))
        else:
            wired = replace(command, timeout_ms=math.inf, signal=job.stop, on_start=job.begun.set, on_output=job.feed)
            group.start_soon(self._live, job, wired)
        await job.begun.wait()
        if job.failure is not None:
            raise job.failure
        return job

    def _admit(self, call: CallContext) -> None:
        if self._group is None:
            raise JobRefused("placet is ending, so no job can be started")
        if len(self.living(call.session)) >= AT_ONCE:
            raise JobRefused(f"{AT_ONCE} jobs of this session are running already; end one with job_kill first")
        if call.log.see(ARCHIVED):
            raise JobRefused("this session was put away, so no job can be started in it")

    def _started(self, call: CallContext, script: str) -> Started:
        cwd = escape(str(call.workdir.path))
        id = new_job_id(self._clock)
        return Started(id, call.session, call.key, escape(script), call.mode, cwd, holder(), self._clock.now())

    async def _register(self, call: CallContext, job: Job) -> Event:
        key = call.key
        outcome = await call.log.append(
            [job.started.draft()],
            present=[keys.started(key.turn, key.step, key.position)],
            absent=[keys.abort(key.turn), keys.end(key.turn)],
            lease=call.lease,
        )
        match outcome:
            case Appended(events):
                return events[0]
            case Refused("lease"):
                raise LeaseLost(call.session)
            case Refused(_, key=stood) if stood == keys.abort(key.turn):
                raise Stopped("The turn was stopped before the job started")
            case _:
                raise JobRefused("the log did not take the job, so it was not started")

    async def _overtaken(self, call: CallContext, job: Job, event: Event) -> None:
        """End a job whose mode was taken back between the start of its call and its own."""
        key = call.key
        started = await self._store.lookup(call.session, keys.started(key.turn, key.step, key.position))
        after = -1 if started is None else started.seq
        for earlier in await self._store.read(call.session, after=after, before=event.seq):
            await self._hear(earlier, [job])

    # ---- life and end ----

    async def _live(self, job: Job, command: Command) -> None:
        """Run the command to its end and write that down, also where this task is cancelled."""
        watch = None
        try:
            watch = await begun(self._sandbox.watches, command.profile)
            run = await self._sandbox.run(command)
            ended = _aborted(job) if run.exit_code is None and run.signal is None and run.aborted else _end(job, run)
            if not job.begun.is_set():
                job.failure = Stopped("The job was ended before its process was there")
        except anyio.get_cancelled_exc_class():
            job.end(Reason.SHUTDOWN)
            with anyio.CancelScope(shield=True):
                await self._settle(job, replace(_aborted(job), signal="SIGKILL"))
            raise
        except Exception as failure:
            if not isinstance(failure, SandboxError):
                logger.exception("job %s failed", job.started.id)
            job.failure = failure
            ended = Ended(Reason.FAILED, error=str(failure)[:500])
        await self._settle(job, ended, await job_notices(watch, job.started.id))

    async def _settle(self, job: Job, ended: Ended, beside: Sequence[Draft] = ()) -> None:
        """Write the end and the message that tells it in one append, until the store takes it or nothing is left."""
        try:
            silent = job.failure is not None  # the call's own result tells it
            told = [] if silent else [message(words.notice(job.started, ended), self._clock, wake=ended.reason.wakes)]
            pause = FIRST_PAUSE
            while True:
                try:
                    await self._store.append(
                        job.started.session,
                        [ended.draft(job.started.id), *told, *beside],
                        present=[keys.job(job.started.id)],
                    )
                    return  # refused means that somebody else has written it, or that the session is deleted
                except StoreError as error:
                    damaged = isinstance(error, StoreDamaged) and error.session == job.started.session
                    if self._group is None or damaged:
                        logger.warning("the end of job %s could not be written: %s", job.started.id, error)
                        return
                await self._clock.sleep(pause)
                pause = min(LONGEST_PAUSE, pause * 2)
        finally:
            job.ended = ended
            job.over.set()
            job.begun.set()
            job.wake()
            self._forget_old(job.started.session)

    def _forget_old(self, session: SessionId) -> None:
        over = [j for j in self._jobs.values() if j.started.session == session and j.over.is_set()]
        for job in over[:-KEPT]:
            del self._jobs[job.started.id]

    async def end(self, job: Job, reason: Reason, by: By | None = None) -> Ended:
        """End a job and return how it ended once that is in the log; a job that is over stays as it ended."""
        await self._end([job], reason, by)
        assert job.ended is not None
        return job.ended

    async def end_session(self, session: SessionId, reason: Reason, by: By | None = None) -> None:
        """End all jobs of a session; returns when none of them lives."""
        await self._end(self.living(session), reason, by)

    async def wider(self, session: SessionId, mode: SandboxMode) -> tuple[Started, ...]:
        """Return the open jobs of a session, of whichever process, that run in a wider mode than this one."""
        return tuple(job for job in await open_jobs(self._store, session) if wider(mode, job.mode))

    async def end_wider(self, session: SessionId, mode: SandboxMode, by: By | None = None) -> None:
        """End the jobs of this process that run in a wider mode than this one; returns when none of them lives."""
        await self._end([job for job in self.living(session) if wider(mode, job.started.mode)], Reason.NARROWED, by)

    async def _end(self, jobs: Iterable[Job], reason: Reason, by: By | None = None) -> None:
        jobs = tuple(jobs)
        for job in jobs:
            job.end(reason, by)
        for job in jobs:
            await job.over.wait()

    # ---- what the log says ----

    async def _follow(self) -> None:
        """Act on what people do to sessions, and write the end of jobs whose process is gone."""
        while True:
            try:
                async with self._store.doorbell() as bell:
                    await self._listen(bell)
            except StoreError as error:
                logger.warning("the store does not answer, trying again: %s", error)
                await self._clock.sleep(LONGEST_PAUSE)

    async def _listen(self, bell: Bell) -> None:
        if self._cursor is None:
            self._cursor = await self._store.head()
        looked = -math.inf
        while True:
            if self._clock.monotonic() - looked >= LOOK_AGAIN:
                looked = self._clock.monotonic()
                await self.close_lost()
            while events := await self._store.feed(self._cursor, types=FOLLOWED):
                for event in events:
                    await self._hear(event, self.living(event.session))
                self._cursor = events[-1].pos
            await bell.wait(LOOK_AGAIN)

    async def _hear(self, event: Event, jobs: Sequence[Job]) -> None:
        """End those of the jobs that an event ends; does not wait for it."""
        if not jobs:
            return
        data, by = event.data, event.data.get("by")
        ends: tuple[Reason, Callable[[Job], bool]] | None = None
        match event.type:
            case "turn/abort":
                ends = Reason.TURN_STOPPED, lambda job: job.started.call.turn == data["turn"]
            case "session/archived" if data["archived"]:
                ends = Reason.ARCHIVED, lambda job: True
            case "sandbox/mode" if await self._narrows(event):
                ends = Reason.NARROWED, lambda job: wider(SandboxMode(data["mode"]), job.started.mode)
        if ends is not None:
            reason, meant = ends
            for job in jobs:
                if meant(job):
                    job.end(reason, by)

    async def _narrows(self, event: Event) -> bool:
        """Whether the mode before this switch was wider."""
        switches = await self._store.feed(0, types={event.type}, session=event.session)
        before = folded(self._modes, [switch for switch in switches if switch.pos < event.pos])
        return wider(SandboxMode(event.data["mode"]), before)

    async def close_lost(self) -> None:
        """Write `lost` for open jobs whose process is gone, and end jobs whose session is."""
        for started in await open_jobs(self._store):
            if started.session in self._damaged:
                continue
            if started.id not in self._doubted and (started.id in self._jobs or alive(started.holder)):
                continue
            ended = Ended(Reason.LOST)
            told = message(words.notice(started, ended), self._clock, wake=False)
            drafts = [ended.draft(started.id), told]
            try:
                await self._store.append(started.session, drafts, present=[keys.job(started.id)])
            except StoreDamaged as error:
                if error.session != started.session:
                    raise
                self._damaged.add(started.session)  # one damaged log keeps nobody from the others
                logger.warning("the end of job %s could not be written: %s", started.id, error)
            self._doubted.discard(started.id)
        for session in {job.started.session for job in self.living()}:
            if await self._store.lookup(session, keys.created()) is None:
                for job in self.living(session):
                    job.end(Reason.DELETED)


def _end(job: Job, run: Run) -> Ended:
    """Return how a command ended: by itself, or because it was asked to."""
    facts = run.sandbox
    if facts.runner_failed is not None:
        return Ended(Reason.FAILED, error=f"the sandbox itself failed: {facts.runner_failed}"[:500])
    reason = Reason(job.stop.reason) if run.aborted and job.stop.reason is not None else Reason.EXITED
    denied = {"path": facts.path} if facts.denied else None
    by = job.by if run.aborted else None
    error = None if run.exceeded is None else f"placet ended it: it had {run.exceeded}"
    return Ended(reason, run.exit_code, run.signal, by, error=error, denied=denied)


def _aborted(job: Job) -> Ended:
    """Return the end of a job whose process never was, or was not seen to end."""
    return Ended(Reason(job.stop.reason or Reason.SHUTDOWN.value), by=job.by)
