"""The calls of one message (contract B21, B22; model `calls`)."""

from __future__ import annotations

from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from placet.approval import Answer, Ask, Outcome
from placet.session import LeaseLost
from placet.testing.responders import Holds, Passes, ScriptedResponder, says
from placet.tools import CallContext, ToolOutput
from tests.tools.world import Probe, ToolWorld

pytestmark = pytest.mark.anyio

ALLOW, REJECT = Outcome.ALLOWED_ONCE, Outcome.REJECTED
WIDER = {"sandbox_permissions": "danger-full-access", "justification": "because"}


async def test_b21_parallel_calls_run_beside_each_other_ten_at_most(tools: ToolWorld, probe: Probe) -> None:
    running, most = 0, 0
    together = anyio.Event()

    async def body(args: object, call: CallContext) -> ToolOutput:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 10:
            together.set()
        await together.wait()
        running -= 1
        return ToolOutput("done")

    probe._body = body
    results = await tools.batch(*(tools.make(what=str(n)) for n in range(13)))
    assert most == 10
    assert [r.data["code"] for r in results] == [None] * 13


async def test_b21_an_exclusive_call_is_a_barrier(tools: ToolWorld, probe: Probe) -> None:
    seen: list[str] = []

    async def body(args: dict[str, str], call: CallContext) -> ToolOutput:
        seen.append(f"+{args['what']}")
        await anyio.lowlevel.checkpoint()
        seen.append(f"-{args['what']}")
        return ToolOutput("done")

    probe._body = body
    probe.parallel = lambda args: args["what"] != "x"  # type: ignore[method-assign]
    await tools.batch(*(tools.make(what=what) for what in "abxcd"))
    assert set(seen[:4]) == {"+a", "-a", "+b", "-b"}
    assert seen[4:6] == ["+x", "-x"]
    assert set(seen[6:]) == {"+c", "-c", "+d", "-d"}


@pytest.mark.parametrize("answer", [1, "yes", None, ValueError()])
async def test_b21_anything_but_true_is_exclusive(tools: ToolWorld, probe: Probe, answer: object) -> None:
    def parallel(args: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    probe.parallel = parallel  # type: ignore[method-assign,assignment]
    assert not tools.pipeline.parallel(tools.make(what="this"), tools.world.session)
    assert not tools.pipeline.parallel(tools.make(arguments="{"), tools.world.session)
    assert not tools.pipeline.parallel(tools.make("nothing"), tools.world.session)


async def test_all_calls_of_a_message_are_logged_in_one_append_and_in_order(tools: ToolWorld) -> None:
    await tools.batch(*(tools.make(what=str(n)) for n in range(4)))
    calls = await tools.world.events("tool/call")
    assert [e.data["position"] for e in calls] == [0, 1, 2, 3]
    assert calls[-1].seq - calls[0].seq == 3


async def test_results_are_written_as_they_come(tools: ToolWorld, probe: Probe) -> None:
    """The second call has its result while the first still waits for a person (model rule `as_they_come`)."""
    held = Holds(says(REJECT))
    tools.answers(held)
    first, second = tools.make(what="first", **WIDER), tools.make(what="second")
    async with anyio.create_task_group() as group:
        group.start_soon(tools.batch, first, second)
        async with tools.world.store.doorbell() as bell:
            while not (results := await tools.world.events("tool/result")):
                await bell.wait(5)
        assert [e.data["position"] for e in results] == [1]
        held.released.set()
    assert (await tools.result(first)).data["code"] == "APPROVAL_REJECTED"


async def test_equal_call_ids_and_equal_arguments_are_two_calls(tools: ToolWorld, probe: Probe) -> None:
    """Events are keyed by turn, step and position, never by the model's id (model rule `position_key`)."""
    first, second = tools.make(what="this", **WIDER), tools.make(what="this", **WIDER)
    twin = replace(second, call_id=first.call_id)

    def by_position(ask: Ask) -> Answer:
        return says(ALLOW if ask.subject.call.position == 0 else REJECT)

    tools.answers(by_position)
    results = await tools.batch(first, twin)
    assert [r.data["code"] for r in results] == [None, "APPROVAL_REJECTED"]
    assert [context.key.position for _, context in probe.runs] == [0]


async def test_apr_10_four_asks_at_once_get_their_own_answers(tools: ToolWorld, probe: Probe) -> None:
    world = tools.world
    tools.with_chain(world.inbox.responder())
    calls = [tools.make(what=f"command {n}", **WIDER) for n in range(4)]
    async with anyio.create_task_group() as group:
        group.start_soon(tools.batch, *calls)
        async with world.store.doorbell() as bell:
            while len(asks := await world.store.unpaired("asked:", "decided:")) < 4:
                await bell.wait(5)
        for asked in sorted(asks, key=lambda e: -e.data["call"]["position"]):
            even = asked.data["call"]["position"] % 2 == 0
            await world.answer(asked, "allowed-once" if even else "rejected", key=asked.data["id"])
    codes = [(await tools.result(call)).data["code"] for call in calls]
    assert codes == [None, "APPROVAL_REJECTED", None, "APPROVAL_REJECTED"]
    assert sorted(args["what"] for args, _ in probe.runs) == ["command 0", "command 2"]


async def test_apr_19_a_rejection_does_not_touch_the_sibling_calls(tools: ToolWorld, probe: Probe) -> None:
    tools.answers(lambda ask: says(REJECT if ask.subject.call.position == 0 else ALLOW))
    results = await tools.batch(*(tools.make(what=str(n), **WIDER) for n in range(3)))
    assert [r.data["code"] for r in results] == ["APPROVAL_REJECTED", None, None]
    assert len(probe.runs) == 2


async def test_apr_19_b22_a_stop_ends_all_calls_and_none_asks_any_more(tools: ToolWorld, probe: Probe) -> None:
    held = Holds()
    tools.answers(held)
    probe.parallel = lambda args: args["what"] == "0"  # type: ignore[method-assign]
    calls = [tools.make(what=str(n), **WIDER) for n in range(3)]
    async with anyio.create_task_group() as group:
        group.start_soon(tools.batch, *calls)
        await held.reached.wait()
        await tools.world.stop()
    assert [(await tools.result(c)).data["code"] for c in calls] == ["ABORTED_BEFORE_DISPATCH"] * 3
    assert len(await tools.world.events("approval/asked")) == 1
    assert [e.data["outcome"] for e in await tools.world.events("approval/decided")] == ["cancelled"]
    assert probe.runs == []


async def test_b22_what_has_started_settles_and_keeps_what_it_came_to(tools: ToolWorld, probe: Probe) -> None:
    started = anyio.Event()

    async def body(args: dict[str, str], call: CallContext) -> ToolOutput:
        started.set()
        await call.signal.wait()
        return ToolOutput("Error: half done", is_error=True, code="HALF")

    probe._body = body
    probe.parallel = lambda args: False  # type: ignore[method-assign]
    calls = [tools.make(what=str(n)) for n in range(2)]
    async with anyio.create_task_group() as group:
        group.start_soon(tools.batch, *calls)
        await started.wait()
        await tools.world.stop()
    assert [(await tools.result(c)).data["code"] for c in calls] == ["HALF", "ABORTED_BEFORE_DISPATCH"]


async def test_a_lost_lease_ends_the_whole_batch_with_one_bare_exception(tools: ToolWorld, probe: Probe) -> None:
    held = Holds(Passes())
    tools.with_chain(ScriptedResponder(held))
    calls = [tools.make(what=str(n), **WIDER) for n in range(3)]
    async with anyio.create_task_group() as group:

        async def run() -> None:
            with pytest.raises(LeaseLost):
                await tools.batch(*calls)

        group.start_soon(run)
        await held.reached.wait()
        await tools.reborn()
        held.released.set()
    assert probe.runs == []
    assert await tools.world.events("tool/result") == []


async def test_a_batch_goes_on_from_what_the_log_holds(tools: ToolWorld, probe: Probe) -> None:
    held = Holds()
    tools.answers(held)
    calls = [tools.make(what="done"), tools.make(what="asks", **WIDER), tools.make(what="asks too", **WIDER)]
    async with anyio.create_task_group() as group:
        group.start_soon(tools.batch, *calls)
        async with tools.world.store.doorbell() as bell:
            while len(await tools.world.events("approval/asked", "tool/result")) < 3:
                await bell.wait(5)
        group.cancel_scope.cancel()
    worker = await tools.reborn()
    worker.answers(ALLOW)
    facts = {(call.step, call.position): await tools.facts(call) for call in calls}
    await worker.batch(*calls, facts=facts)
    assert [args["what"] for args, _ in probe.runs].count("done") == 1
    assert len(probe.runs) == 3
    assert len(await tools.world.events("approval/asked")) == 2
    assert len(await tools.world.events("tool/result")) == 3
