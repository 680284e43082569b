"""Whatever a half registers is undone, in reverse, whatever fails meanwhile; case PLG-02."""

from __future__ import annotations

import logging

import pytest

from placet.cordis.host import InvokeFailed
from placet.session import Draft, keys
from tests.cordis.host.house import HostHouse

pytestmark = pytest.mark.anyio


async def test_undos_run_in_reverse_and_one_that_fails_keeps_no_other(
    host: HostHouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "placet.plugin")
    half = await host.start(
        """
        def undo(name):
            def run():
                print("undo", name)
                if name == "second":
                    raise ValueError("broken")
            return run
        async def apply(ctx):
            for name in ("first", "second", "third"):
                ctx.effect(lambda name=name: undo(name))
        """
    )
    await half.end()
    told = [record.getMessage() for record in caplog.records]
    assert [line.rpartition(" ")[2] for line in told if "undo" in line and "failed" not in line] == [
        "third", "second", "first",
    ]  # fmt: skip
    assert any("effect failed" in line for line in told)


async def test_an_undo_that_never_returns_does_not_keep_the_half_alive(host: HostHouse) -> None:
    half = await host.start(
        "async def apply(ctx):\n    def undo():\n        while True: pass\n    ctx.effect(lambda: undo)"
    )
    await half.end()
    assert host.halves.living() == ()


async def test_a_registration_can_be_taken_back_by_itself(host: HostHouse) -> None:
    half = await host.start(
        """
        async def apply(ctx):
            undo = harness.handle("a", lambda args: 1)
            tool = await harness.tool("t", "A tool.", {"type": "object"}, lambda args: 1)
            harness.handle("drop", lambda args: (undo(), tool(), None)[2])
        """
    )
    assert list(half.handlers) == ["a", "drop"]
    assert host.tools.registry.get("demo-1.t", host.session) is not None
    await half.invoke("drop", None)
    await host.until(lambda: list(half.handlers) == ["drop"])
    await host.until(lambda: host.tools.registry.get("demo-1.t", host.session) is None)
    with pytest.raises(InvokeFailed):
        await half.invoke("a", None)


LISTENS = """
import asyncio
count = {"event": 0, "timer": 0}
async def apply(ctx):
    def heard(event):
        count["event"] += 1
    ctx.on("session/renamed", heard)
    ctx.timer.every(0.05, lambda: count.__setitem__("timer", count["timer"] + 1))
    harness.tool("count", "Counts.", {"type": "object", "properties": {}}, lambda args: count)
    harness.handle("count", lambda args: count)
"""


async def test_k17_plg_02_after_twenty_reloads_one_event_is_heard_once_and_after_the_stop_nothing_is_left(
    host: HostHouse,
) -> None:
    half = await host.start(LISTENS)
    for _ in range(20):
        await half.end()
        assert host.tools.registry.tools(host.session) == host.tools.registry.tools()
        half = await host.start(LISTENS)
        assert len(host.tools.registry.tools(host.session)) == len(host.tools.registry.tools()) + 1
    data = {"title": "new", "by": {"kind": "person", "name": "Ada", "channel": "page"}}
    await host.store.append(host.session, [Draft("session/renamed", data, keys.client("renamed", "k"))])
    counted: dict[str, int] = {}

    async def count() -> bool:
        counted.update(await half.invoke("count", None))
        return counted["event"] > 0 and counted["timer"] > 2

    while not await count():
        pass
    assert counted["event"] == 1
    assert len(host.halves.living()) == 1
    await half.end()
    assert host.halves.living() == ()
    assert host.tools.registry.tools(host.session) == host.tools.registry.tools()
    desk = host.halves._offices
    assert not desk._kept and not desk._offers._halves and not desk._calling._logs  # type: ignore[attr-defined]


async def test_plg_07_a_new_version_that_fails_halfway_leaves_nothing_of_itself(host: HostHouse) -> None:
    one = await host.start(LISTENS)
    await one.end()
    failure = await host.fails(
        """
        async def apply(ctx):
            await harness.tool("first", "First.", {"type": "object"}, lambda args: 1)
            ctx.provide("thing", {"get": lambda: 1})
            await harness.tool("second", "Second.", {"type": "text"}, lambda args: 1)
        """
    )
    assert "parameters.type must be 'object'" in failure.message
    assert failure.line == 5
    assert host.tools.registry.tools(host.session) == host.tools.registry.tools()
    again = await host.start(LISTENS)
    assert again.provides == ()


async def test_what_fails_in_a_listener_or_timer_is_told_and_ends_nothing(host: HostHouse) -> None:
    half = await host.start(
        """
        async def apply(ctx):
            async def late():
                raise KeyError("no such thing")
            ctx.timer.after(0.05, late)
        """
    )
    await host.until(lambda: host.diagnosed)
    [diagnosis] = host.diagnosed
    assert diagnosis.label == "timer.after" and diagnosis.message == "KeyError: 'no such thing'"
    assert diagnosis.stack is not None and "line 4, in late" in diagnosis.stack
    assert host.halves.living() == (half,)


async def test_once_hears_once_and_notices_come_in_order(host: HostHouse) -> None:
    half = await host.start(
        """
        heard = []
        async def apply(ctx):
            ctx.once("session/renamed", lambda event: heard.append(["once", event["title"]]))
            async def slow(event):
                await ctx.timer.sleep(0.01)
                heard.append(["on", event["title"]])
            ctx.on("session/renamed", slow)
            harness.handle("heard", lambda args: heard)
        """
    )
    by = {"kind": "person", "name": "Ada", "channel": "page"}
    for title in ("a", "b", "c"):
        draft = Draft("session/renamed", {"title": title, "by": by}, keys.client("renamed", title))
        await host.store.append(host.session, [draft])
    heard: list[list[str]] = []
    while len(heard) < 4:
        heard = await half.invoke("heard", None)
    assert [title for kind, title in heard if kind == "on"] == ["a", "b", "c"]
    assert [title for kind, title in heard if kind == "once"] == ["a"]
