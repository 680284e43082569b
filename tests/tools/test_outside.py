"""A call that no agent makes: what lives beside the agent calls a tool while no turn is open (contract B)."""

from __future__ import annotations

import pytest

from placet.approval import Outcome
from placet.kernel.chain import CallNext
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.tools import AskFirst, Request
from placet.tools.outside import NO_TURN, beside, run_outside
from placet.tools.stages.hooks import PreDecision
from placet.tools.tool import ToolOutput
from tests.tools.world import Probe, ToolWorld

pytestmark = pytest.mark.anyio

WIDER = {"sandbox_permissions": "danger-full-access", "justification": "the user asked for it"}


async def outside(tools: ToolWorld, **args: str) -> ToolOutput:
    """Make the call as a plugin does between two turns."""
    world = tools.world

    async def before() -> None:
        return

    call = tools.make(turn=0, **args)
    return await run_outside(tools.pipeline, call, beside(world.log, world.signal), modes=ModeFold(), before=before)


@pytest.mark.parametrize("why", ["it wishes for a wider mode", "a stage wants a person to be asked"])
async def test_b4_a_call_without_an_agent_is_refused_without_asking(tools: ToolWorld, probe: Probe, why: str) -> None:
    async def ask_first(request: Request, call_next: CallNext[PreDecision]) -> PreDecision:
        return AskFirst("this one needs a yes")

    responder = tools.answers(Outcome.ALLOWED_ONCE)
    await tools.world.end()
    wider = why.startswith("it wishes")
    if not wider:
        tools.stages.on_pre(ask_first)
    before = await tools.world.events()
    output = await outside(tools, what="this", **(WIDER if wider else {}))
    assert (output.is_error, output.code) == (True, "APPROVAL_UNAVAILABLE")
    assert NO_TURN in output.text
    assert (probe.runs, responder.asks) == ([], [])
    assert await tools.world.events() == before


async def test_b4_what_needs_nobody_runs_and_never_wider_than_the_session(tools: ToolWorld, probe: Probe) -> None:
    await tools.world.end()
    output = await outside(tools, what="this")
    assert output == ToolOutput("did this", {"did": "this"})
    ((_, context),) = probe.runs
    assert (context.mode, context.escalated) == (SandboxMode.WORKSPACE_WRITE, False)
    assert await tools.world.events("approval/asked") == []
