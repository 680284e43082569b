"""While a turn is open, a half's calls are calls of that turn: asks, guards, the log, the stop, recovery."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from placet.agent.found import FOUND
from placet.agent.recovery import AskFate, CallFate, plan
from placet.agent.transcript import TRANSCRIPT
from placet.approval import Outcome
from placet.cordis.host import HostFailed, InvokeFailed
from placet.cordis.host.half import Half
from placet.session import SessionId, SessionLog
from placet.session.verify import check
from placet.tools import definition_digest
from tests.cordis.host.house import HostHouse

pytestmark = pytest.mark.anyio

WIDER = "sandbox_permissions='danger-full-access', justification='it has to'"
DOES = """
async def apply(ctx):
    async def do(args):
        try:
            return await eval(args, {"ctx": ctx})
        except Exception as failure:
            return [type(failure).__name__, getattr(failure, "code", None), str(failure)]
    harness.handle("do", do)
    harness.tool("act", "Does it.", {"type": "object", "properties": {"code": {"type": "string"}}},
                 lambda args: do(args["code"]))
"""


async def test_a_call_in_an_open_turn_is_a_call_of_that_turn_at_a_position_of_the_servers_own(host: HostHouse) -> None:
    host.open_turn()
    half = await host.start(DOES)
    assert (await half.invoke("do", "ctx.shell.run('echo hi')"))["stdout"]["text"] == "hi\n"
    assert (await half.invoke("do", "ctx.files.write('a', 'x')"))["created"] is True
    calls = await host.events("tool/call", "tool/started", "tool/result")
    assert [event.type for event in calls] == ["tool/call", "tool/started", "tool/result"] * 2
    assert [event.data["position"] for event in calls] == [1000] * 3 + [1001] * 3
    assert [event.data["name"] for event in calls if event.type == "tool/call"] == ["bash", "write_file"]
    assert await host.events("cordis/called") == []
    assert check(await host.events()) == []


async def test_what_a_plugin_called_is_no_word_of_the_model(host: HostHouse) -> None:
    host.open_turn()
    half = await host.start(DOES)
    await half.invoke("do", "ctx.shell.run('echo hi')")
    log = await SessionLog.open(host.store, host.session)
    assert log.see(TRANSCRIPT).messages() == ()
    assert log.see(FOUND).calls == () and log.see(FOUND).of_plugins == ()


async def test_a_wish_to_widen_asks_a_person_who_reads_whose_wish_it_is(host: HostHouse) -> None:
    script = host.tools.answers(Outcome.ALLOWED_ONCE)
    host.wire()
    host.open_turn()
    async with host.halves.serving():
        half = await host.start(DOES)
        ran = await half.invoke("do", f"ctx.shell.run('cat /proc/self/status | grep Seccomp:', {WIDER})")
        assert "Seccomp:\t0" in ran["stdout"]["text"]
    [ask] = script.asks
    assert ask.subject.agent == "plugin demo-1 of rehearsal"
    assert (ask.subject.call.position, ask.subject.to_mode) == (1000, "danger-full-access")


async def test_a_no_is_a_no_for_a_plugin_too(host: HostHouse) -> None:
    host.open_turn()
    half = await host.start(DOES)
    kind, code, _ = await half.invoke("do", f"ctx.shell.run('id', {WIDER})")
    assert (kind, code) == ("ServiceError", "APPROVAL_REJECTED")
    assert (await half.invoke("do", f"ctx.shell.run('id', {WIDER})"))[1] == "ALREADY_REJECTED"


@asynccontextmanager
async def asking(host: HostHouse) -> AsyncIterator[tuple[Half, TaskGroup, list[Any]]]:
    """A half whose wish is on a card now."""
    host.tools.with_chain(host.tools.world.inbox.responder())
    host.wire()
    host.open_turn()
    answers: list[Any] = []
    async with host.halves.serving():
        half = await host.start(DOES)

        async def call() -> None:
            try:
                answers.append(await half.invoke("do", f"ctx.shell.run('id', {WIDER})"))
            except InvokeFailed as failed:
                answers.append(failed)

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            while not await host.events("approval/asked"):
                await anyio.lowlevel.checkpoint()
            yield half, group, answers


async def test_the_stop_cancels_a_plugins_ask(host: HostHouse) -> None:
    async with asking(host) as (_, _, answers):
        await host.tools.world.stop()
        await host.until(lambda: answers)
        assert answers[0][1] == "ABORTED_BEFORE_DISPATCH"
    [decided] = await host.events("approval/decided")
    assert (decided.data["outcome"], decided.data["detail"]) == ("cancelled", "stopped")


async def test_after_the_stop_nothing_of_a_plugin_runs_until_the_turn_has_ended(host: HostHouse) -> None:
    host.open_turn()
    half = await host.start(DOES)
    await host.tools.world.stop()
    assert (await half.invoke("do", "ctx.shell.run('touch late')"))[1] == "turn-stopped"
    assert not (host.folder / "late").exists()
    await host.turns.leave(host.session, host.tools.world.dispatcher)
    assert (await half.invoke("do", "ctx.shell.run('touch late')"))["exitCode"] == 0


async def test_a_half_that_ends_takes_its_ask_with_it(host: HostHouse) -> None:
    async with asking(host) as (half, _, _):
        await half.end()
    [decided] = await host.events("approval/decided")
    assert (decided.data["outcome"], decided.data["detail"]) == ("cancelled", "asker-gone")
    assert len(await host.events("tool/result")) == 1


async def test_a_turn_that_ends_cancels_what_a_plugin_asks_and_has_a_result_of_each_call(host: HostHouse) -> None:
    async with asking(host) as (_, _, answers):
        await host.turns.leave(host.session, host.tools.world.dispatcher)
        await host.until(lambda: answers)
    [decided] = await host.events("approval/decided")
    assert (decided.data["outcome"], decided.data["detail"]) == ("cancelled", "asker-gone")
    await host.tools.world.end()
    assert check(await host.events()) == []


async def test_a_turn_waits_at_its_end_for_a_command_of_a_plugin_that_runs(host: HostHouse) -> None:
    host.open_turn()
    half = await host.start(DOES)
    async with anyio.create_task_group() as group:
        group.start_soon(half.invoke, "do", "ctx.shell.run('while [ ! -e go ]; do sleep 0.05; done; echo done')")
        await host.until(lambda: (host.folder / "go").parent.exists() and host.turns._open[host.session].calls)
        while not await host.events("tool/started"):
            await anyio.lowlevel.checkpoint()
        group.start_soon(host.turns.leave, host.session, host.tools.world.dispatcher)
        while host.turns.open(host.session):
            await anyio.lowlevel.checkpoint()
        outside = await half.invoke("do", "ctx.shell.run('echo outside; touch go')")
        assert outside["stdout"]["text"] == "outside\n"
    results = await host.events("tool/result")
    assert [event.data["value"]["stdout"]["text"] for event in results] == ["done\n"]
    assert [event.data["service"] for event in await host.events("cordis/called")] == ["shell.run"]


async def test_recovery_finds_a_plugins_call_and_ends_it_its_ask_is_asker_gone(host: HostHouse) -> None:
    async with asking(host):
        log = await SessionLog.open(host.store, host.session)
        found = log.see(FOUND)
        assert [(call.step, call.position) for call in found.of_plugins] == [(1, 1000)]
        todo = plan(found)
        assert [fate for _, fate in todo.asks] == [AskFate.ASKER_GONE]
        assert [fate for _, fate in todo.of_plugins] == [CallFate.NOT_STARTED]
        assert todo.calls == ()
        await host.tools.world.stop()
        stopped = plan((await SessionLog.open(host.store, host.session)).see(FOUND))
        assert [fate for _, fate in stopped.asks] in ([AskFate.STOPPED], [])


async def test_a_command_of_a_plugin_that_had_started_has_an_unknown_outcome(host: HostHouse) -> None:
    host.open_turn()
    half = await host.start(DOES)
    async with anyio.create_task_group() as group:
        group.start_soon(half.invoke, "do", "ctx.shell.run('while [ ! -e go ]; do sleep 0.05; done')")
        while not await host.events("tool/started"):
            await anyio.lowlevel.checkpoint()
        found = (await SessionLog.open(host.store, host.session)).see(FOUND)
        assert [fate for _, fate in plan(found).of_plugins] == [CallFate.UNKNOWN]
        (host.folder / "go").touch()


# ---- a plugin's own tools ----


async def test_k7_a_tool_of_a_plugin_goes_through_the_pipeline_and_calls_back_into_it(host: HostHouse) -> None:
    host.open_turn()
    await host.start(DOES)
    result = await host.tools.call("demo-1.act", code="ctx.shell.run('echo inner')")
    assert result.data["isError"] is False
    assert result.data["value"]["stdout"]["text"] == "inner\n"
    assert result.data["meta"] == {"plugin": "demo-1", "package": "pkg-1", "run": "run-1"}
    positions = [event.data["position"] for event in await host.events("tool/result")]
    assert sorted(positions) == [0, 1000]


async def test_k7_a_tool_is_seen_in_its_session_only_and_is_another_one_with_another_package(host: HostHouse) -> None:
    half = await host.start(DOES)
    tool = host.tools.registry.get("demo-1.act", host.session)
    assert tool is not None and tool.package == "pkg-1"
    assert host.tools.registry.get("demo-1.act") is None
    assert host.tools.registry.get("demo-1.act", SessionId("s-other")) is None
    one = definition_digest(tool)
    await half.end()
    result = await host.tools.call("demo-1.act", code="1")
    assert result.data["code"] == "UNKNOWN_TOOL"
    await host.start(DOES)
    other = host.tools.registry.get("demo-1.act", host.session)
    assert other is not None and definition_digest(other) != one


async def test_plg_01_after_an_update_the_tool_of_the_new_version_answers(host: HostHouse) -> None:
    def version(number: int) -> str:
        return f"async def apply(ctx):\n    harness.tool('get', 'Gets.', {{'type': 'object'}}, lambda args: {number})"

    for number in (1, 2, 1):
        half = await host.start(version(number))
        assert (await host.tools.call("demo-1.get")).data["value"] == number
        await half.end()


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("'bash tool', 'd', {'type': 'object'}", "must be made of a-z, 0-9 and _"),
        ("'a', '', {'type': 'object'}", "needs a description"),
        ("'a', 'd', {'type': 'object', 'properties': {'x': {'type': 'text'}}}", ".properties.x.type is 'text'"),
        ("'a', 'd', {'type': 'object', 'properties': {'x': {'pattern': '.*'}}}", "x.pattern is not supported"),
        ("'a', 'd', {'type': 'object', 'required': ['y']}", "parameters.required names 'y'"),
        ("'a', 'd', {'type': 'array'}", "parameters.type must be 'object'"),
        ("'a', 'd', 5", "parameters must be a JSON Schema object"),
    ],
)  # fmt: skip
async def test_k7_a_schema_that_cannot_be_is_refused_with_its_path(host: HostHouse, tool: str, said: str) -> None:
    with pytest.raises(HostFailed) as failed:
        await host.start(f"async def apply(ctx):\n    harness.tool({tool}, lambda args: 1)")
    assert said in failed.value.message


async def test_k7_arguments_that_do_not_fit_never_reach_the_plugin(host: HostHouse) -> None:
    await host.start(
        """
        SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "minLength": 1},
                  "days": {"type": "integer", "minimum": 1}}, "required": ["city"], "additionalProperties": False}
        async def apply(ctx):
            harness.tool("weather", "Tells it.", SCHEMA, lambda args: f"sunny in {args['city']}")
        """
    )
    for args, said in (
        ({}, "arguments.city is missing"),
        ({"city": 5}, "arguments.city must be of type string"),
        ({"city": "x", "days": 0}, "arguments.days must be at least 1"),
        ({"city": "x", "hours": 1}, "arguments.hours is not known"),
        ({"city": "x", "sandbox_permissions": "danger-full-access"}, "arguments.sandbox_permissions is not known"),
    ):
        result = await host.tools.call("demo-1.weather", **args)
        assert result.data["code"] == "INVALID_ARGUMENTS" and said in result.data["text"]
    good = await host.tools.call("demo-1.weather", city="Rome")
    assert (good.data["text"], good.data["value"]) == ("sunny in Rome", "sunny in Rome")


async def test_a_tool_that_fails_or_dies_is_an_error_result(host: HostHouse) -> None:
    half = await host.start(
        """
        import os
        async def apply(ctx):
            async def fail(args):
                raise ValueError("no")
            harness.tool("fail", "Fails.", {"type": "object"}, fail)
            harness.tool("die", "Dies.", {"type": "object"}, lambda args: os._exit(1))
            harness.tool("odd", "Is odd.", {"type": "object"}, lambda args: {1})
        """
    )
    failed = await host.tools.call("demo-1.fail")
    assert failed.data["code"] == "PLUGIN_FAILED" and "ValueError: no" in failed.data["text"]
    assert "which JSON cannot hold" in (await host.tools.call("demo-1.odd")).data["text"]
    died = await host.tools.call("demo-1.die")
    assert died.data["code"] == "PLUGIN_FAILED" and "not running any more" in died.data["text"]
    await host.end_of(half)
    assert (await host.tools.call("demo-1.fail")).data["code"] == "UNKNOWN_TOOL"


async def test_the_stop_ends_a_call_of_a_plugins_tool(host: HostHouse) -> None:
    await host.start(
        "import asyncio\nasync def apply(ctx):\n    harness.tool('wait', 'W.', {'type': 'object'},"
        " lambda args: asyncio.Event().wait())"
    )
    async with anyio.create_task_group() as group:

        async def call() -> None:
            result = await host.tools.call("demo-1.wait")
            assert result.data["code"] == "ABORTED"

        group.start_soon(call)
        while not await host.events("tool/started"):
            await anyio.lowlevel.checkpoint()
        await host.tools.world.stop()


async def test_positions_of_plugins_go_on_where_an_earlier_worker_left_them(host: HostHouse) -> None:
    host.open_turn()
    half = await host.start(DOES)
    for _ in range(2):
        await half.invoke("do", "ctx.files.list()")
    host.turns.drop(host.session)
    await host.tools.world.log.catch_up()
    host.open_turn()
    await half.invoke("do", "ctx.files.list()")
    positions = [event.data["position"] for event in await host.events("tool/call")]
    assert positions == [1000, 1001, 1002]


async def test_a_signed_script_is_not_started_while_a_half_that_can_write_lives_in_the_workspace(
    host: HostHouse,
) -> None:
    (host.folder / "s.sh").write_text("echo ran")
    host.tools.answers(Outcome.ALLOWED_ONCE)
    half = await host.start(DOES)
    wish = {"sandbox_permissions": "danger-full-access", "justification": "please"}
    result = await host.tools.call("bash", command="bash s.sh", description="d", **wish)
    assert (result.data["code"], result.data["meta"]["reason"]) == ("TOOL_NOT_STARTED", "jobs-running")
    await half.end()
    result = await host.tools.call("bash", command="bash s.sh", description="e", **wish)
    assert result.data["value"]["stdout"]["text"] == "ran\n"
