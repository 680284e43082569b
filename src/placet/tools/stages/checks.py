"""What is checked before anybody is asked: a known tool, arguments that fit, a folder that is there."""

from __future__ import annotations

from dataclasses import dataclass

from placet.approval.errors import SubjectInvalid
from placet.approval.subject import parse_arguments
from placet.sandbox.errors import SandboxError
from placet.sandbox.policy import Workdir
from placet.tools.codes import Code
from placet.tools.registry import Registry
from placet.tools.stages.hooks import Request
from placet.tools.stages.result import Ended, error
from placet.tools.tool import Arguments, RunContext, Tool, ToolCall, definition_digest

MAX_ARGUMENTS = 2 << 20
"""The most characters of argument text that are parsed at all."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A call that passed: the tool and its definition now, the one parsed value, and the resolved folder."""

    tool: Tool
    definition: str
    request: Request
    workdir: Workdir


def check(registry: Registry, call: ToolCall, run: RunContext) -> Checked | Ended:
    """Validate a call; an error result is final, no person ever sees it (B10, B12)."""
    tool = registry.get(call.name, run.session)
    if tool is None:
        known = ", ".join(tool.name for tool in registry.tools(run.session)) or "none"
        return Ended(error(Code.UNKNOWN_TOOL, f"there is no tool called {call.name!r}; the tools are: {known}"))
    size = len(call.arguments)
    if size > MAX_ARGUMENTS:
        why = f"the arguments have {size} characters; the limit is {MAX_ARGUMENTS}. Nobody was asked and nothing ran."
        return Ended(error(Code.TOO_LARGE_TO_SHOW, why))
    args = arguments_of(tool, call.arguments)
    if isinstance(args, str):
        return Ended(error(Code.INVALID_ARGUMENTS, args))
    try:
        workdir = Workdir.of(run.cwd / (tool.workdir(args) or ""))
    except SandboxError as failure:
        return Ended(error(failure.code, failure.why))
    return Checked(tool, definition_digest(tool), Request(call, run.session, args), workdir)


def arguments_of(tool: Tool, text: str) -> Arguments | str:
    """Parse and check argument text: the value, or one line that says what is wrong with it."""
    try:
        args = parse_arguments(text)
    except SubjectInvalid as failure:
        return str(failure)
    return tool.check(args) or args
