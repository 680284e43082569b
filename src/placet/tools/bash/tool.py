"""The `bash` tool: one fresh shell per call, confined as the session is, or wider once where a person agreed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from placet.sandbox.errors import SandboxUnavailable
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Profile, Workdir
from placet.sandbox.process import LONGEST_COMMAND, Command
from placet.sandbox.service import Sandbox
from placet.session.codec import escape
from placet.tools.bash import words
from placet.tools.bash.text import offers_escalation, rendered, value
from placet.tools.codes import Code
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


class BashTool(Tool):
    """Runs commands in a sandbox; `confines` says whether it confines on this machine, and may change its mind."""

    def __init__(self, sandbox: Sandbox, *, confines: Callable[[], bool]) -> None:
        self._sandbox, self._confines = sandbox, confines

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        return "bash"

    @property
    def description(self) -> str:
        """What the model reads; the part on more access only where there is any to ask for (O5, O6)."""
        return words.TOOL + (words.ESCALATION if self._confines() else "")

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema; the two fields of a wider mode only where a backend confines."""
        return _schema(_Confined if self._confines() else _Plain)

    def check(self, args: Arguments) -> str | None:
        """Return the first complaints about the arguments, in one line (C2, C12, C13)."""
        try:
            (_Confined if self._confines() else _Plain).model_validate(args)
        except ValidationError as failure:
            return "; ".join(_complaint(error) for error in failure.errors()[:3])
        if "sandbox_permissions" in args and "justification" not in args:
            return "sandbox_permissions needs a justification: one sentence that says why this command has to do more"
        if "justification" in args and "sandbox_permissions" not in args:
            return "justification stands alone: send it only together with sandbox_permissions"
        if "justification" in args and not args["justification"].strip():
            return "justification is blank: say in one sentence why this command has to do more"
        return None

    def workdir(self, args: Arguments) -> str | None:
        """Return the folder that the call names."""
        named: str | None = args.get("workdir")
        return named

    def stakes(self, args: Arguments) -> Stakes | None:
        """Return the wider mode that the call wishes for, with the model's words."""
        if "sandbox_permissions" not in args:
            return None
        return Stakes(SandboxMode(args["sandbox_permissions"]), args["justification"])

    def parallel(self, args: Arguments) -> bool:
        """Commands of one message run side by side; the description says so."""
        return True

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Run the command in the mode and folder that the call was given."""
        timeout = args.get("timeoutMs", DEFAULT_TIMEOUT)
        command = Command(
            profile=self._profile(call),
            script=args["command"],
            workdir=call.workdir,
            timeout_ms=timeout,
            signal=call.signal,
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

    def _profile(self, call: CallContext) -> Profile:
        """Return what this call may touch: the session's own folder, as it was when the session was created."""
        created = call.log.events[0].data
        device, _, inode = created["cwdId"].partition(":")
        workspace = Workdir(Path(created["cwd"]), int(device), int(inode))
        git_roots = [Path(root) for root in created["gitRoots"]]
        return self._sandbox.profile(call.session, workspace, call.mode, git_roots=git_roots, escalated=call.escalated)


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the model's JSON Schema without what a language model does not need."""
    schema = model.model_json_schema()
    fields = {
        name: {key: part for key, part in field.items() if key not in ("title", "default")}
        for name, field in schema["properties"].items()
    }
    return {
        "type": "object",
        "properties": fields,
        "required": schema["required"],
        "additionalProperties": False,
    }


def _complaint(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "arguments"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}"
