"""The three tools about jobs. They know jobs of their own session and nothing else: no ask, no turn, no other call."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from placet.kernel.signal import AbortSignal
from placet.session.ids import JobId
from placet.tools.jobs import words
from placet.tools.jobs.job import Job
from placet.tools.jobs.record import JOBS, Ended, Known, Reason
from placet.tools.jobs.service import Jobs
from placet.tools.schema import complaints, schema
from placet.tools.stages.result import error
from placet.tools.tool import Arguments, CallContext, Tool, ToolOutput

PIECE = 30_000
"""Bytes of output that one call returns at most."""
LISTED = 30
NO_SUCH_JOB = "NO_SUCH_JOB"


class _Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Named(_Nothing):
    jobId: Annotated[str, StringConstraints(min_length=1, max_length=64), Field(description=words.JOB_ID)]


class _Read(_Named):
    waitMs: Annotated[float, Field(ge=0, le=60_000, description=words.WAIT)] = 0


class _JobTool(Tool):
    """What the three have in common: a schema, and the service."""

    _model: type[BaseModel]

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema."""
        return schema(self._model)

    def check(self, args: Arguments) -> str | None:
        """Return the first complaints about the arguments."""
        try:
            self._model.model_validate(args)
        except ValidationError as failure:
            return complaints(failure)
        return None

    async def _known(self, args: Arguments, call: CallContext) -> Known | None:
        await call.log.catch_up()
        return call.log.see(JOBS).get(JobId(args["jobId"]))


class JobOutput(_JobTool):
    """Reads what a job wrote since the last reading."""

    name = "job_output"
    description = words.OUTPUT
    _model = _Read

    def parallel(self, args: Arguments) -> bool:
        """Reading disturbs nobody."""
        return True

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Return the next piece, waiting for one if that was wished."""
        known = await self._known(args, call)
        if known is None:
            return _no_job(args)
        job = self._jobs.get(call.session, args["jobId"])
        if job is None:
            text = "\n".join([words.OUTPUT_GONE, *words.marks(known.ended, known.started.mode)])
            return ToolOutput(text, {**_state(known.started.id, known.ended), "text": "", "droppedBytes": 0})
        if job.output.total <= job.told and args.get("waitMs"):
            await _wait(job, args["waitMs"] / 1000, call.signal)
        piece = job.output.read(job.told, PIECE, final=job.over.is_set())
        job.told = piece.end
        parts = [f"[... {piece.dropped} bytes dropped here ...]"] if piece.dropped else []
        parts.append(piece.text.rstrip("\n") or "(no new output)")
        if piece.more:
            parts.append(f"[{piece.more} more bytes: read again]")
        text = "\n".join([*parts, *words.marks(job.ended, job.started.mode)])
        value = {**_state(job.started.id, job.ended), "text": piece.text, "droppedBytes": piece.dropped}
        return ToolOutput(text, value)


class JobList(_JobTool):
    """Lists the jobs of the session."""

    name = "job_list"
    description = words.LIST
    _model = _Nothing

    def parallel(self, args: Arguments) -> bool:
        """Looking disturbs nobody."""
        return True

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Return every job that runs, and the newest of the others."""
        await call.log.catch_up()
        known = list(call.log.see(JOBS).values())
        over = [job for job in known if job.ended is not None][-LISTED:]
        shown = [job for job in known if job.ended is None or job in over]
        lines = [words.line(job.started, job.ended) for job in shown]
        jobs = [
            {
                **_state(job.started.id, job.ended),
                "command": job.started.command,
                "mode": job.started.mode.value,
                "startedAt": job.started.time,
            }
            for job in shown
        ]
        return ToolOutput("\n".join(lines) or "(no jobs)", {"jobs": jobs})


class JobKill(_JobTool):
    """Ends a job."""

    name = "job_kill"
    description = words.KILL
    _model = _Named

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """End it, and return how it ended."""
        known = await self._known(args, call)
        if known is None:
            return _no_job(args)
        job = self._jobs.get(call.session, args["jobId"])
        if job is not None:
            ended: Ended | None = await self._jobs.end(job, Reason.KILLED)
        else:
            ended = known.ended
        return ToolOutput(words.state(ended), _state(known.started.id, ended))


def job_tools(jobs: Jobs) -> tuple[Tool, ...]:
    """Return the tools over a service."""
    return JobOutput(jobs), JobList(jobs), JobKill(jobs)


async def _wait(job: Job, seconds: float, signal: AbortSignal) -> None:
    """Wait for news of the job, for that long at most, and no longer than the turn is wanted."""
    with anyio.move_on_after(seconds) as scope:
        undo = signal.on_abort(lambda _: scope.cancel())
        try:
            await job.news()
        finally:
            undo()


def _state(job: JobId, ended: Ended | None) -> dict[str, Any]:
    if ended is None:
        return {"jobId": job, "state": "running", "exitCode": None, "signal": None, "reason": None}
    return {
        "jobId": job,
        "state": "ended",
        "exitCode": ended.exit_code,
        "signal": ended.signal,
        "reason": ended.reason.value,
    }


def _no_job(args: Arguments) -> ToolOutput:
    return error(NO_SUCH_JOB, words.NO_JOB.format(job=args["jobId"]))
