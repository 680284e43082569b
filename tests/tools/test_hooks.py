"""Where others take part in a call: pre-execute, guards, post-execute, observers (contract B7 to B9, B17, B18)."""

from __future__ import annotations

import pytest

from placet.approval import Outcome
from placet.kernel.chain import CallNext
from placet.tools import (
    Accept,
    Allow,
    Block,
    Deny,
    Finished,
    Request,
)
from placet.tools.stages.hooks import PostDecision, PreDecision
from tests.tools.world import Probe, ToolWorld

pytestmark = pytest.mark.anyio

ALLOW, REJECT, FULL = Outcome.ALLOWED_ONCE, Outcome.REJECTED, "danger-full-access"
WIDER = {"sandbox_permissions": FULL, "justification": "the user asked for it"}


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


async def test_b18_f17_an_observer_that_fails_disturbs_nothing(tools: ToolWorld) -> None:
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


async def test_allow_is_what_a_silent_chain_says(tools: ToolWorld) -> None:
    request = Request(tools.make(what="this"), tools.world.session, {})
    assert await tools.stages.pre(request) == Allow()
