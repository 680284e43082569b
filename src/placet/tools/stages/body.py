"""The body: started with no await after the last look at the stop, and turned into a result whatever happens."""

from __future__ import annotations

import logging
from dataclasses import replace

from placet.sandbox.errors import SandboxError, SandboxUnavailable, Stopped
from placet.session.errors import SessionError
from placet.tools import texts
from placet.tools.codes import Code
from placet.tools.stages.hooks import Body, Stages
from placet.tools.stages.result import Ended, error, notice, stopped
from placet.tools.tool import Tool, ToolOutput

logger = logging.getLogger(__name__)


async def run_body(stages: Stages, tool: Tool, body: Body) -> Ended:
    """Run a body inside its wrappers. Only the session's own errors go through; the rest are results.

    A stop that came before the body gives `ABORTED_BEFORE_DISPATCH`; one that came while it ran lets it settle, and
    replaces only a success (B13).
    """
    signal = body.context.signal
    if signal.aborted:
        return stopped()

    async def end(inner: Body) -> ToolOutput:
        return await tool.run(inner.request.args, inner.context)

    try:
        output = await stages.around(body, end)
    except SessionError:
        raise
    except Stopped:
        return stopped()
    except SandboxUnavailable as failure:
        return _unavailable(failure)
    except SandboxError as failure:
        return Ended(error(failure.code, _line(failure)))
    except Exception as failure:
        logger.exception("tool %s failed", tool.name)
        return Ended(error(Code.TOOL_FAILED, f"the tool failed: {failure}", meta={"class": type(failure).__name__}))
    wrong = _not_an_output(output)
    if wrong is not None:
        return wrong
    if signal.aborted and not output.is_error:
        output = replace(error(Code.ABORTED, texts.ABORTED), value=output.value, meta=output.meta)
    return Ended(output)


def _not_an_output(output: object) -> Ended | None:
    if isinstance(output, ToolOutput):
        return None
    return Ended(error(Code.INVALID_TOOL_OUTPUT, f"the tool returned {type(output).__name__}, not a tool output"))


def _unavailable(failure: SandboxUnavailable) -> Ended:
    """Tell the model, and the person once per session: nothing can confine commands here (D9)."""
    told = notice("error", "sandbox-unavailable", _line(failure), key="sandbox-unavailable")
    return Ended(error(failure.code, f"{_line(failure)} The command did not run."), beside=(told,))


def _line(failure: SandboxError) -> str:
    if failure.hint is None:
        return failure.why
    return f"{failure.why}. {failure.hint[:1].upper()}{failure.hint[1:].removesuffix('.')}."
