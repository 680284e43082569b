"""The `bash` tool: one fresh shell per call, confined as the session is, or wider once where a person agreed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from placet.approval.subject import CoveredFile
from placet.sandbox.errors import SandboxUnavailable
from placet.sandbox.process import LONGEST_COMMAND, Command
from placet.sandbox.service import Sandbox
from placet.session.codec import escape
from placet.tools.bash import words
from placet.tools.bash.script import captured, covered, kept
from placet.tools.bash.text import rendered, value
from placet.tools.codes import Code, Unused
from placet.tools.escalation import offers_escalation, profile_of, unpaired, wished
from placet.tools.jobs import JobRefused, Jobs
from placet.tools.jobs.words import started
from placet.tools.schema import complaints, schema
from placet.tools.stages.result import error
from placet.tools.tool import Arguments, CallContext, Stakes, Tool, ToolOutput

DEFAULT_TIMEOUT, MAX_TIMEOUT = 120_000, 600_000
"""Milliseconds that a command gets, and the most that it can ask for (C7)."""


class _Plain(BaseModel):
    """The arguments where nothing confines, so that nothing could be widened."""

    model_config = ConfigDict(extra="forbid", strict=True)

    command: Annotated[str, Field(description=words.COMMAND)]
    description: Annotated[str, Field(description=words.DESCRIPTION_FIELD)]
    timeoutMs: Annotated[float, Field(gt=0, le=MAX_TIMEOUT, description=words.TIMEOUT)] = DEFAULT_TIMEOUT
    workdir: Annotated[str, Field(description=words.WORKDIR)] = "."

    @field_validator("*")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        if isinstance(given, str):
            if "\0" in given:
                raise ValueError("it holds a NUL character; remove it")
            if any("\ud800" <= character <= "\udfff" for character in given):
                raise ValueError("it holds half a character (a lone surrogate); send whole characters")
        return given

    @field_validator("command", "description")
    @classmethod
    def _said(cls, given: str) -> str:
        if not given.strip():
            raise ValueError("it is blank")
        if len(given.encode("utf-8", "replace")) > LONGEST_COMMAND:
            raise ValueError(f"it has more than {LONGEST_COMMAND} bytes; write it to a file and run the file")
        return given


class _Confined(_Plain):
    """The arguments where a backend confines: a wider mode can be requested for one call (C11)."""

    sandbox_permissions: Annotated[
        Literal["workspace-write", "danger-full-access"], Field(description=words.PERMISSIONS)
    ] = "workspace-write"
    justification: Annotated[str, Field(description=words.JUSTIFICATION)] = ""


class _Background(BaseModel):
    """The argument that there is where commands can run in the background."""

    run_in_background: Annotated[bool, Field(description=words.IN_BACKGROUND)] = False


class _PlainOrJob(_Plain, _Background):
    """Nothing confines; jobs."""


class _ConfinedOrJob(_Confined, _Background):
    """A backend confines; jobs."""


class BashTool(Tool):
    """Runs commands in a sandbox; `confines` says whether it confines on this machine, and may change its mind.

    Without `jobs` nothing runs in the background.
    """

    def __init__(self, sandbox: Sandbox, *, confines: Callable[[], bool], jobs: Jobs | None = None) -> None:
        self._sandbox, self._confines, self._jobs = sandbox, confines, jobs

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        return "bash"

    @property
    def description(self) -> str:
        """What the model reads; the part on more access only where there is any to ask for (O5, O6)."""
        return words.TOOL + self._of_jobs() + (words.ESCALATION if self._confines() else "")

    def _of_jobs(self) -> str:
        return words.NO_BACKGROUND if self._jobs is None else words.BACKGROUND

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema; the two fields of a wider mode only where a backend confines."""
        return schema(self._model())

    def _model(self) -> type[BaseModel]:
        if self._jobs is None:
            return _Confined if self._confines() else _Plain
        return _ConfinedOrJob if self._confines() else _PlainOrJob

    def check(self, args: Arguments) -> str | None:
        """Return the first complaints about the arguments, in one line (C2, C10, C12, C13)."""
        if "run_in_background" in args and self._jobs is None:
            return "run_in_background is not available here: nothing can run in the background; leave it out"
        try:
            self._model().model_validate(args)
        except ValidationError as failure:
            return complaints(failure)
        if args.get("run_in_background") and "timeoutMs" in args:
            return "timeoutMs does not go with run_in_background: a job has no time limit; end it with job_kill"
        return unpaired(args, self.noun)

    def workdir(self, args: Arguments) -> str | None:
        """Return the folder that the call names."""
        named: str | None = args.get("workdir")
        return named

    def stakes(self, args: Arguments) -> Stakes | None:
        """Return the wider mode that the call wishes for, with the model's words."""
        return wished(args)

    def parallel(self, args: Arguments) -> bool:
        """Commands of one message run side by side; the description says so."""
        return True

    async def covers(self, args: Arguments, call: CallContext) -> tuple[CoveredFile, ...]:
        """Return the script that the command runs, in the background as well."""
        return await captured(self._sandbox, args["command"], call) if self._confines() else ()

    def keep(
        self, args: Arguments, files: tuple[CoveredFile, ...], call: CallContext
    ) -> AbstractAsyncContextManager[Unused | None]:
        """Have the workspace alone while a signed script runs, or until it runs on as a job."""
        return kept(self._sandbox, args["command"], files, call) if files else nullcontext(None)

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Run the command in the mode and folder that the call was given, or start it as a job in them."""
        if args.get("run_in_background") and self._jobs is not None:
            return await self._start(self._jobs, args["command"], call)
        timeout = args.get("timeoutMs", DEFAULT_TIMEOUT)
        command = Command(
            profile=profile_of(self._sandbox, call),
            script=args["command"],
            workdir=call.workdir,
            timeout_ms=timeout,
            signal=call.signal,
            covered=covered(call.files),
        )
        done = await self._sandbox.run(command)
        if done.sandbox.runner_failed is not None:
            raise SandboxUnavailable(f"The sandbox itself failed: {done.sandbox.runner_failed}")
        offers = offers_escalation(call.mode, call.policy, confines=self._confines())
        text = rendered(done, timeout_ms=timeout, offers=offers)
        meta = {"cwd": escape(str(call.workdir.path)), "durationMs": done.duration_ms}
        if done.aborted:
            text = f"Error: {words.ABORTED}\n{text}"
        code = Code.ABORTED.value if done.aborted else None
        return ToolOutput(text, value(done, timeout_ms=timeout), is_error=done.aborted, code=code, meta=meta)

    async def _start(self, jobs: Jobs, script: str, call: CallContext) -> ToolOutput:
        """Start the command as a job, and return its id at once (C10, C19)."""
        profile = profile_of(self._sandbox, call)
        command = Command(profile=profile, script=script, workdir=call.workdir, covered=covered(call.files), lasts=True)
        try:
            job = await jobs.start(call, script, command)
        except JobRefused as refusal:
            return error(refusal.code, f"{refusal}. The command did not run.")
        meta = {"cwd": escape(str(call.workdir.path))}
        return ToolOutput(started(job.started.id), {"kind": "background", "jobId": job.started.id}, meta=meta)
