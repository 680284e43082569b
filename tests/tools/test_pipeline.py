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
    Accept,
    Allow,
    AskFirst,
    Block,
    Body,
    CallContext,
    Deny,
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


async def test_a_call_that_needs_nobody_runs_once_in_the_sessions_mode(tools: ToolWorld, probe: Probe) -> None:
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


async def test_b7_a_denial_skips_guards_and_body_and_still_meets_post_execute(tools: ToolWorld, probe: Probe) -> None:
    seen: list[str] = []

    async def deny(request: Request, call_next: CallNext[PreDecision]) -> PreDecision:
        return Deny("not on a Monday")

    async def post(finished: Finished, call_next: CallNext[PostDecision]) -> PostDecision:
        seen.append(finished.output.text)
        return await call_next()

    tools.stages.on_pre(deny)
    tools.stages.on_guard(lambda request: seen.append("guard"))
    tools.stages.on_post(post)
    result = await tools.call(what="this")
    assert (result.data["code"], result.data["text"]) == ("DENIED", "Error: not on a Monday")
    assert (seen, probe.runs) == (["Error: not on a Monday"], [])


async def test_b8_a_guard_denies_after_a_yes_and_the_person_is_told(tools: ToolWorld, probe: Probe) -> None:
    tools.stages.on_guard(lambda request: "mine", session=tools.world.session)
    tools.stages.on_guard(lambda request: "everybody's")
    tools.answers(ALLOW)
    result = await tools.call(what="this", **WIDER)
    assert (result.data["text"], probe.runs) == ("Error: everybody's", [])
    (notice,) = await tools.world.events("notice")
    (asked,) = await tools.world.events("approval/asked")
    assert (notice.data["code"], notice.data["ask"]) == ("grant-unused:guard", asked.data["id"])


async def test_b8_a_guard_of_another_session_says_nothing(tools: ToolWorld, probe: Probe) -> None:
    undo = tools.stages.on_guard(lambda request: "no", session="s-other")  # type: ignore[arg-type]
    await tools.call(what="this")
    undo()
    assert len(probe.runs) == 1


@pytest.mark.parametrize("where", ["pre", "guard"])
async def test_b9_a_stage_that_raises_is_an_error_past_post_execute_and_nothing_runs(
    tools: ToolWorld, probe: Probe, where: str
) -> None:
    seen: list[Finished] = []

    async def pre(request: Request, call_next: CallNext[PreDecision]) -> PreDecision:
        raise ValueError("broken")

    def guard(request: Request) -> None:
        raise ValueError("broken")

    async def post(finished: Finished, call_next: CallNext[PostDecision]) -> PostDecision:
        seen.append(finished)
        return await call_next()

    if where == "pre":
        tools.stages.on_pre(pre)
    else:
        tools.stages.on_guard(guard)
    tools.stages.on_post(post)
    result = await tools.call(what="this")
    assert (result.data["isError"], result.data["meta"], probe.runs, seen) == (
        True,
        {"class": "ValueError"},
        [],
        [],
    )


async def test_b9_a_pre_execute_stage_that_returns_rubbish_denies(tools: ToolWorld, probe: Probe) -> None:
    async def pre(request: Request, call_next: CallNext[PreDecision]) -> PreDecision:
        return True  # type: ignore[return-value]

    tools.stages.on_pre(pre)
    assert (await tools.call(what="this")).data["code"] == "DENIED"
    assert probe.runs == []


async def test_b10_an_unknown_tool_never_reaches_a_person(tools: ToolWorld) -> None:
    responder = tools.answers(ALLOW)
    result = await tools.call("sudo", what="this", **WIDER)
    assert (result.data["code"], responder.asks) == ("UNKNOWN_TOOL", [])
    assert "probe" in result.data["text"]


@pytest.mark.parametrize(
    ("arguments", "says_why"),
    [
        ('{"what": 1}', "what must be text"),
        ("{}", "what must be text"),
        ("[]", "one JSON object"),
        ('"x"', "one JSON object"),
        ("{", "not JSON"),
        ("", "not JSON"),
        ('{"what":"a","what":"b"}', "'what' stands twice"),
        ('{"what":"a","x":{"y":1,"y":2}}', "'y' stands twice"),
        ('{"what":"a","n":NaN}', "NaN"),
        ('{"what":"a","n":1e999}', "too large"),
        ('{"what":"a","n":' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deep"),
    ],
    ids=["type", "missing", "list", "text", "broken", "empty", "twice", "twice-deep", "nan", "huge", "deep"],
)
async def test_b12_arguments_that_fail_never_reach_a_person(
    tools: ToolWorld, probe: Probe, arguments: str, says_why: str
) -> None:
    responder = tools.answers(ALLOW)
    result = await tools.call(arguments=arguments)
    assert result.data["code"] == "INVALID_ARGUMENTS"
    assert says_why in result.data["text"]
    assert (probe.runs, responder.asks) == ([], [])


async def test_two_to_the_sixty_reaches_the_body_exactly(tools: ToolWorld, probe: Probe) -> None:
    tools.answers(ALLOW)
    await tools.call(arguments='{"what":"this","n":1152921504606846977,"sandbox_permissions":"danger-full-access"}')
    ((args, _),) = probe.runs
    assert args["n"] == 2**60 + 1
    (asked,) = await tools.world.events("approval/asked")
    assert "1152921504606846977" in asked.data["subject"]["arguments"]


async def test_a_lone_surrogate_is_signed_escaped_and_run_as_it_came(tools: ToolWorld, probe: Probe) -> None:
    tools.answers(ALLOW)
    raw = '{"what":"\ud800 \\\\ \u2028","sandbox_permissions":"danger-full-access"}'
    await tools.call(arguments=raw)
    ((args, _),) = probe.runs
    assert args["what"] == "\ud800 \\ \u2028"
    (asked,) = await tools.world.events("approval/asked")
    assert "\\ud800 \\\\\\\\ \\u2028" in asked.data["subject"]["arguments"]


async def test_an_argument_named_api_token_is_shown_whole(tools: ToolWorld) -> None:
    await tools.call(what="this", api_token="hunter2", **WIDER)
    (asked,) = await tools.world.events("approval/asked")
    assert "hunter2" in asked.data["subject"]["arguments"]


async def test_what_is_too_large_to_show_is_never_asked(tools: ToolWorld, probe: Probe) -> None:
    responder = tools.answers(ALLOW)
    result = await tools.call(what="x" * (1 << 20), **WIDER)
    assert (result.data["code"], responder.asks, probe.runs) == ("TOO_LARGE_TO_SHOW", [], [])
    assert (await tools.call(what="x" * (1 << 20))).data["isError"] is False


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


@pytest.mark.parametrize(
    ("decision", "text", "value", "is_error"),
    [
        (Accept(), "did this", {"did": "this"}, False),
        (Accept(text="shorter"), "shorter", {"did": "this"}, False),
        (Accept(value={"n": 1}), "did this", {"n": 1}, False),
        (Block("look again"), "Error: look again", None, True),
    ],
    ids=["as it is", "text", "value", "block"],
)
async def test_b17_post_execute_replaces_or_blocks(
    tools: ToolWorld, decision: PostDecision, text: str, value: object, is_error: bool
) -> None:
    async def post(finished: Finished, call_next: CallNext[PostDecision]) -> PostDecision:
        return decision

    tools.stages.on_post(post)
    result = await tools.call(what="this")
    assert (result.data["text"], result.data["value"], result.data["isError"]) == (text, value, is_error)


async def test_b17_post_execute_cannot_replace_both(tools: ToolWorld) -> None:
    async def post(finished: Finished, call_next: CallNext[PostDecision]) -> PostDecision:
        return Accept("a", "b")

    tools.stages.on_post(post)
    assert (await tools.call(what="this")).data["code"] == "INVALID_TOOL_OUTPUT"


async def test_b17_a_context_waits_in_the_mailbox_and_wakes_nobody(tools: ToolWorld) -> None:
    async def post(finished: Finished, call_next: CallNext[PostDecision]) -> PostDecision:
        return Accept(contexts=("mind the gap",))

    tools.stages.on_post(post)
    await tools.call(what="this")
    (put,) = await tools.world.events("agent/inbox")
    assert put.data["put"]["text"] == "mind the gap"
    assert (put.data["put"]["target"], put.data["put"]["wake"]) == ("next-step", False)


async def test_b18_an_observer_that_fails_disturbs_nothing(tools: ToolWorld) -> None:
    def observer(finished: Finished) -> None:
        raise ValueError("broken")

    tools.stages.results.subscribe(observer)
    assert (await tools.call(what="this")).data["text"] == "did this"


async def test_a_hook_is_gone_after_its_undo(tools: ToolWorld, probe: Probe) -> None:
    async def deny(request: Request, call_next: CallNext[PreDecision]) -> PreDecision:
        return Deny("no")

    undo = tools.stages.on_pre(deny)
    assert (await tools.call(what="this")).data["code"] == "DENIED"
    undo()
    assert (await tools.call(what="this")).data["code"] is None


async def test_a_folder_that_is_not_there_is_an_error_before_asking(tools: ToolWorld) -> None:
    responder = tools.answers(ALLOW)
    result = await tools.call(what="this", workdir="nowhere", **WIDER)
    assert (result.data["code"], responder.asks) == ("WORKDIR_UNUSABLE", [])


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


async def test_allow_is_what_a_silent_chain_says(tools: ToolWorld) -> None:
    request = Request(tools.make(what="this"), tools.world.session, {})
    assert await tools.stages.pre(request) == Allow()
