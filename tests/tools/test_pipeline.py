"""One call from `tool/call` to `tool/result` (contract B, design 8)."""

from __future__ import annotations

import anyio
import pytest

from placet.approval import Outcome
from placet.kernel.chain import CallNext
from placet.sandbox.mode import SandboxMode
from placet.testing.faults import Fault, FaultyStore
from placet.testing.responders import Holds, says
from placet.tools import (
    AskFirst,
    Body,
    CallContext,
    Finished,
    Pipeline,
    Request,
    ToolOutput,
)
from placet.tools.stages.hooks import PostDecision, PreDecision
from tests.tools.world import Probe, ToolWorld

pytestmark = pytest.mark.anyio

ALLOW, REJECT, FULL = Outcome.ALLOWED_ONCE, Outcome.REJECTED, "danger-full-access"
WIDER = {"sandbox_permissions": FULL, "justification": "the user asked for it"}


async def test_d4_a_call_that_needs_nobody_runs_once_in_the_sessions_mode(tools: ToolWorld, probe: Probe) -> None:
    result = await tools.call(what="this")
    assert (result.data["text"], result.data["isError"], result.data["value"]) == ("did this", False, {"did": "this"})
    ((args, context),) = probe.runs
    assert (args, context.mode, context.escalated) == ({"what": "this"}, SandboxMode.WORKSPACE_WRITE, False)
    (started,) = await tools.world.events("tool/started")
    assert (started.data["ask"], started.data["digest"], started.data["mode"]) == (None, None, "workspace-write")


async def test_b1_the_stages_come_in_their_order(tools: ToolWorld) -> None:
    seen: list[str] = []

    async def pre(request: Request, call_next: CallNext[PreDecision]) -> PreDecision:
        seen.append("pre")
        return await call_next()

    def guard(request: Request) -> None:
        seen.append("guard")

    async def around(body: Body, call_next: CallNext[ToolOutput]) -> ToolOutput:
        seen.append("around")
        output = await call_next()
        seen.append("after body")
        return output

    async def post(finished: Finished, call_next: CallNext[PostDecision]) -> PostDecision:
        seen.append("post")
        return await call_next()

    tools.stages.on_pre(pre)
    tools.stages.on_guard(guard)
    tools.stages.on_around(around)
    tools.stages.on_post(post)
    tools.stages.results.subscribe(lambda _: seen.append("result"))
    tools.answers(lambda ask: seen.append("ask") or says(ALLOW))
    await tools.call(what="this", **WIDER)
    assert seen == ["pre", "ask", "guard", "around", "after body", "post", "result"]
    assert [e.type for e in await tools.world.events()][2:] == [
        "tool/call",
        "approval/asked",
        "approval/decided",
        "tool/started",
        "tool/result",
    ]


async def test_b2_the_three_refusals_have_distinct_texts_and_nothing_runs(tools: ToolWorld, probe: Probe) -> None:
    texts, codes = [], []
    for n, outcome in enumerate((REJECT, Outcome.CANCELLED, Outcome.UNAVAILABLE)):
        tools.answers(outcome)
        result = await tools.call(what=f"this {n}", **WIDER)
        assert result.data["isError"] and result.data["text"].startswith("Error: ")
        texts.append(result.data["text"])
        codes.append(result.data["code"])
    assert len(set(texts)) == 3
    assert codes == ["APPROVAL_REJECTED", "APPROVAL_CANCELLED", "APPROVAL_UNAVAILABLE"]
    assert "rejected" in texts[0] and "cancelled" in texts[1] and "no decision" in texts[2]
    assert not any("the user" in text for text in texts[1:])
    assert probe.runs == []
    assert await tools.world.events("tool/started") == []


async def test_b2_a_listener_that_asks_gets_the_call_run_in_its_own_mode(tools: ToolWorld, probe: Probe) -> None:
    async def pre(request: Request, call_next: CallNext[PreDecision]) -> PreDecision:
        return AskFirst("the rules of this house")

    tools.stages.on_pre(pre)
    tools.answers(ALLOW)
    await tools.call(what="this")
    (asked,) = await tools.world.events("approval/asked")
    assert asked.data["reason"] == "the rules of this house"
    assert (asked.data["subject"]["fromMode"], asked.data["subject"]["toMode"]) == ("workspace-write", None)
    ((_, context),) = probe.runs
    assert (context.mode, context.escalated) == (SandboxMode.WORKSPACE_WRITE, False)


async def test_b3_without_an_approval_service_an_ask_is_a_denial(tools: ToolWorld, probe: Probe) -> None:
    tools.pipeline = Pipeline(tools.registry, None, tools.world.clock, stages=tools.stages)
    result = await tools.call(what="this", **WIDER)
    assert (result.data["code"], result.data["isError"], probe.runs) == ("APPROVAL_UNAVAILABLE", True, [])


async def test_b5_the_ask_names_tool_call_id_and_reason(tools: ToolWorld) -> None:
    await tools.call(what="this", **WIDER)
    (asked,) = await tools.world.events("approval/asked")
    assert asked.data["toolName"] == "probe"
    assert asked.data["callId"] == "call_0"
    assert asked.data["reason"] == f"escalate sandbox to {FULL}: the user asked for it"
    assert asked.data["call"] == {"turn": 1, "step": 1, "position": 0}


async def test_b6_a_stop_while_the_ask_is_open_is_not_called_a_cancelled_ask(tools: ToolWorld, probe: Probe) -> None:
    held = Holds()
    tools.answers(held)
    call = tools.make(what="this", **WIDER)
    async with anyio.create_task_group() as group:
        group.start_soon(tools.bring, call)
        await held.reached.wait()
        await tools.world.stop()
    assert (await tools.result(call)).data["code"] == "ABORTED_BEFORE_DISPATCH"
    assert probe.runs == []


async def test_b13_a_stop_before_the_body_gives_aborted_before_dispatch(tools: ToolWorld, probe: Probe) -> None:
    await tools.world.stop()
    result = await tools.call(what="this")
    assert (result.data["code"], probe.runs) == ("ABORTED_BEFORE_DISPATCH", [])
    assert len(await tools.world.events("tool/call")) == 1
    assert await tools.world.events("tool/started") == []


async def test_b13_a_stop_in_the_log_that_the_worker_has_not_heard_of_refuses_tool_started(
    tools: ToolWorld, probe: Probe
) -> None:
    call = tools.make(what="this")
    context = tools.context
    tools.world.signal = type(context.signal)()
    await tools.world.stop()
    await tools.pipeline.run(call, context)
    assert not context.signal.aborted
    assert (await tools.result(call)).data["code"] == "ABORTED_BEFORE_DISPATCH"
    assert probe.runs == []


@pytest.mark.parametrize(("fails", "code"), [(False, "ABORTED"), (True, None)])
async def test_b13_a_stop_during_the_body_replaces_only_a_success(tools: ToolWorld, fails: bool, code: str) -> None:
    async def body(args: object, call: CallContext) -> ToolOutput:
        await tools.world.stop()
        return ToolOutput("Error: mine" if fails else "fine", is_error=fails)

    tools.registry.get("probe")._body = body  # type: ignore[union-attr]
    result = await tools.call(what="this")
    assert (result.data["code"], result.data["isError"]) == (code, True)
    assert ("mine" in result.data["text"]) is fails


async def test_b15_a_value_that_json_would_not_give_back_is_invalid_output(tools: ToolWorld) -> None:
    for value in (float("nan"), 2**60, {1: 2}, object(), {"a": (1, 2)}):
        tools.tool._body = lambda args, call, value=value: ToolOutput("x", value)  # type: ignore[attr-defined]
        result = await tools.call(what="this")
        assert (result.data["code"], result.data["value"]) == ("INVALID_TOOL_OUTPUT", None)


async def test_b15_a_body_that_returns_something_else_is_invalid_output(tools: ToolWorld) -> None:
    tools.tool._body = lambda args, call: "done"  # type: ignore[attr-defined]
    assert (await tools.call(what="this")).data["code"] == "INVALID_TOOL_OUTPUT"


async def test_b16_a_body_that_raises_is_an_error_result_with_its_class_beside_it(tools: ToolWorld) -> None:
    def body(args: object, call: object) -> None:
        raise KeyError("lost")

    tools.tool._body = body  # type: ignore[attr-defined]
    result = await tools.call(what="this")
    assert result.data["text"].startswith("Error: ")
    assert (result.data["code"], result.data["meta"]["class"]) == ("TOOL_FAILED", "KeyError")


@pytest.mark.parametrize("event", ["tool/call", "tool/started", "tool/result"])
@pytest.mark.parametrize("fault", [Fault.REFUSE, Fault.LOSE_ACK])
async def test_a16_a_fault_of_the_store_never_runs_a_body_twice(
    tools: ToolWorld, probe: Probe, event: str, fault: Fault
) -> None:
    faulty = FaultyStore(tools.world.store)
    tools.world.log.store = faulty
    faulty.plan(fault, event)
    assert (await tools.call(what="this")).data["text"] == "did this"
    assert len(probe.runs) == 1
    assert [e.type for e in await tools.world.events("tool/call", "tool/started", "tool/result")] == [
        "tool/call",
        "tool/started",
        "tool/result",
    ]
