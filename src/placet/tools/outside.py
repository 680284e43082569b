"""A tool's body outside of any turn, for what lives beside the agent: never wider than the session's mode in force.

Nobody can be asked outside of a turn, so whatever would need a person is refused. The stages have their say as in a
turn: pre-execute, guards, around.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from placet.approval.outcome import Policy
from placet.approval.subject import CallKey
from placet.kernel.signal import AbortSignal
from placet.permission.escalation import Verdict, judge
from placet.sandbox.mode import ModeFold
from placet.session.lease import holder
from placet.session.log import SessionLog
from placet.session.store import Lease
from placet.tools.codes import Code
from placet.tools.pipeline import Pipeline
from placet.tools.stages.body import run_body
from placet.tools.stages.checks import Checked, check
from placet.tools.stages.hooks import Allow, Body, Deny
from placet.tools.stages.result import Ended, error, sound
from placet.tools.tool import CallContext, RunContext, ToolCall, ToolOutput

NO_TURN = (
    "this needs a person's yes, and nobody can be asked now: no turn of the agent is open. Do without it, or ask while"
    " the agent is at work (in a tool of yours, say)"
)


async def run_outside(
    pipeline: Pipeline,
    call: ToolCall,
    run: RunContext,
    *,
    modes: ModeFold,
    before: Callable[[], Awaitable[None]],
) -> ToolOutput:
    """Run a call outside of a turn; `before` is awaited right before its body, and may raise to keep it from running.

    `run.lease` and `run.turn` are not used: nothing is appended here.
    """
    checked = check(pipeline.registry, call, run)
    if isinstance(checked, Ended):
        return checked.output
    refused = await _refused(pipeline, checked, run, modes)
    if refused is not None:
        return refused
    await before()
    await run.log.catch_up()
    context = CallContext(
        key=CallKey(call.turn, call.step, call.position),
        session=run.session,
        cwd=run.cwd,
        workdir=checked.workdir,
        mode=run.log.see(modes),
        policy=Policy.NEVER,
        escalated=False,
        signal=run.signal,
        log=run.log,
        lease=run.lease,
    )
    ended = await run_body(pipeline.stages, checked.tool, Body(checked.request, context))
    return sound(ended.output)


async def _refused(pipeline: Pipeline, checked: Checked, run: RunContext, modes: ModeFold) -> ToolOutput | None:
    """What speaks against the call, or None."""
    try:
        decision: object = await pipeline.stages.pre(checked.request)
        denied = pipeline.stages.denied(checked.request)
    except Exception as failure:  # a stage that fails denies, as it does in a turn (B9)
        return error(Code.DENIED, f"a stage failed, so the call did not run: {failure}")
    if isinstance(decision, Deny):
        return error(Code.DENIED, decision.reason)
    if denied is not None:
        return error(Code.DENIED, denied)
    await run.log.catch_up()
    stakes = checked.tool.stakes(checked.request.args)
    wider = stakes is not None and judge(run.log.see(modes), stakes.to_mode) is not Verdict.RUNS
    return error(Code.APPROVAL_UNAVAILABLE, NO_TURN) if wider or not isinstance(decision, Allow) else None


def beside(log: SessionLog, signal: AbortSignal) -> RunContext:
    """What calls outside of a turn share: the turn is none, and the lease is nobody's."""
    cwd = Path(log.events[0].data["cwd"])
    return RunContext(log, Lease(log.session, holder(), 0), 0, signal, log.session, cwd, "")
