"""Halves that behave badly: each has a defined end with one clear line, and an ask meanwhile takes its usual time."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from placet.approval import Outcome
from placet.cordis.host import Cause, InvokeFailed
from placet.cordis.vocabulary import Phase
from placet.sandbox import Bounds
from tests.cordis.host.house import QUICK, HostHouse, below, host_house

pytestmark = pytest.mark.anyio

RAW = """
import os, asyncio
LINE = min(int(one) for one in os.listdir("/proc/self/fd") if int(one) > 2 and os.path.exists(f"/proc/self/fd/{one}")
           and os.readlink(f"/proc/self/fd/{one}").startswith("socket:"))
def raw(data):
    os.set_blocking(LINE, True)
    os.write(LINE, data)
async def apply(ctx):
    harness.handle("bad", bad)
"""
"""Reaches around its SDK to the line itself."""


async def bad(house: HostHouse, body: str) -> str:
    """Start a half, let it do something bad, and return the one line of its end."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    half = await house.start(f"{RAW}\nasync def bad(args):\n{lines}\n")
    with pytest.raises(InvokeFailed):
        await half.invoke("bad", None)
    ended = await house.end_of(half)
    assert (ended.cause, ended.phase, len(house.ended)) == (Cause.GUARD, Phase.GUARD, 1)
    assert ended.message.startswith("placet ended the plugin: ") and "\n" not in ended.message
    return ended.message.removeprefix("placet ended the plugin: ")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raw(b'this is no JSON\\n')", "it sent placet something that is no JSON"),
        ("raw(b'[1, 2]\\n')", "it sent placet something that is no message"),
        ("raw(b'[' * 100000 + b']' * 100000 + b'\\n')", "it sent placet something that is no JSON"),
        ('raw(b\'{"method": 5, "params": {}}\\n\')', "it sent placet something that is no message"),
        ('raw(b\'{"a": 1, "id": NaN}\\n\')', "it sent placet something that is no JSON"),
        ("raw(b'x' * (1 << 20))\nraw(b'y' * 100)", "it sent a message of more than 1048576 bytes"),
        ('raw(b\'{"method":"x","params":{}}\\n\' * 5000)', "it sent more than 300 messages a second"),
        ("os.close(LINE)\nawait asyncio.Event().wait()", "it closed its line to placet"),
        ("while True: pass", "it did not answer for 3 seconds: its code blocks"),
    ],
)
async def test_a_half_that_breaks_the_rules_is_ended_with_one_line(each: HostHouse, body: str, said: str) -> None:
    assert said in await bad(each, body)


async def test_a_flood_of_calls_at_once_is_ended(host: HostHouse) -> None:
    body = """
for number in range(200):
    raw(b'{"id":%d,"method":"shell.run","params":{"command":"sleep 5"}}\\n' % (1000 + number))
await asyncio.Event().wait()
"""
    assert "it had more than 64 calls under way at once" in await bad(host, body)


async def test_a_flood_of_prints_is_ended_and_its_log_is_short(
    host: HostHouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "placet.plugin")
    said = await bad(host, "while True:\n    print('x' * 1000)\n    await asyncio.sleep(0)")
    assert "it printed more than 256 KiB a second" in said
    assert len(caplog.records) < 2_000
    assert any("lines were dropped" in record.getMessage() for record in caplog.records)


@pytest.fixture(params=["bubblewrap", "landlock"])
async def small(request: pytest.FixtureRequest, tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[HostHouse]:
    """A session whose halves may have little, under each backend in turn."""
    limits = replace(QUICK, share=Bounds(processes=8, memory=200 << 20))
    async with host_house(tmp_path, request.param, limits) as house:
        yield house


async def test_memory_without_end_is_an_error_of_the_half_or_its_end(small: HostHouse) -> None:
    body = "kept = []\nwhile True:\n    kept.append(b'x' * (8 << 20))\n    await asyncio.sleep(0.005)"
    assert "it had more than 200 MiB of memory" in await bad(small, body)


async def test_one_huge_allocation_is_an_error_and_ends_nothing(host: HostHouse) -> None:
    half = await host.start("async def apply(ctx):\n    harness.handle('big', lambda args: len(bytearray(4 << 30)))")
    with pytest.raises(InvokeFailed) as raised:
        await half.invoke("big", None)
    assert raised.value.message.startswith("MemoryError")
    assert not host.ended


async def test_forks_without_end_are_ended_with_all_of_them(small: HostHouse) -> None:
    half = await small.start(
        """
        import asyncio, posix, signal
        async def apply(ctx):
            async def bad(args):
                for _ in range(40):
                    if posix.fork() == 0:
                        signal.pause()
                await asyncio.Event().wait()
            harness.handle("bad", bad)
        """
    )
    try:
        await half.invoke("bad", None)
    except InvokeFailed as failed:  # an ordinary user may not even fork once
        if "BlockingIOError" in failed.message:
            return
    ended = await small.end_of(half)
    assert "it had more than 8 processes at once" in ended.message
    assert below(half.pid) == []


async def test_k2_a_start_that_does_not_return_is_ended_by_its_bound(tmp_path: Path, needs_bubblewrap: str) -> None:
    async with host_house(tmp_path, "bubblewrap", replace(QUICK, start=2.0)) as house:
        waits = await house.fails("import asyncio\nasync def apply(ctx):\n    await asyncio.Event().wait()")
        assert waits.phase is Phase.HOST_APPLY
        assert "apply(ctx) did not return within 2 seconds" in waits.message
        spins = await house.fails("while True: pass")
        assert spins.phase is Phase.HOST_LOAD
        assert "its code did not load within 2 seconds" in spins.message


async def test_a_start_waits_for_a_run_that_has_the_workspace_alone_and_says_so(
    tmp_path: Path, needs_bubblewrap: str
) -> None:
    async with host_house(tmp_path, "bubblewrap", replace(QUICK, start=2.0)) as house:
        with house.sandbox.alone(house.folder):
            failure = await house.fails("async def apply(ctx): pass")
        assert "a signed script has the workspace to itself now" in failure.message
        assert (await house.start("async def apply(ctx): pass")).status == "running"


async def test_calls_that_never_return_are_bounded_in_number_and_end_with_the_half(host: HostHouse) -> None:
    half = await host.start(
        "import asyncio\nasync def apply(ctx):\n    harness.handle('never', lambda args: asyncio.Event().wait())"
    )
    failed: list[InvokeFailed] = []

    async def call() -> None:
        try:
            await half.invoke("never", None)
        except InvokeFailed as failure:
            failed.append(failure)

    async with anyio.create_task_group() as group:
        for _ in range(host.limits.pending + 1):
            group.start_soon(call)
        await host.until(lambda: failed)
        assert "calls of this plugin wait for an answer already" in failed[0].message
        await half.end()
    assert len(failed) == host.limits.pending + 1
    assert failed[-1].message == "the plugin is not running any more"


async def test_changes_of_what_is_offered_are_told_together_and_a_flood_of_them_is_ended(host: HostHouse) -> None:
    half = await host.start(
        """
        import asyncio
        async def apply(ctx):
            async def many(args):
                for number in range(100):
                    harness.handle(f"m{number}", print)
            async def flood(args):
                while True:
                    harness._half.handlers["x"] = print
                    harness._half.tell_handlers()
                    await asyncio.sleep(0.05)
                    harness._half.handlers.pop("x")
                    harness._half.tell_handlers()
                    await asyncio.sleep(0.05)
            harness.handle("many", many)
            harness.handle("flood", flood)
        """
    )
    await half.invoke("many", None)
    await host.until(lambda: len(half.handlers) == 102 and host.changes)
    assert host.changes <= 3
    with pytest.raises(InvokeFailed):
        await half.invoke("flood", None)
    assert "it changed what it offers more than 30 times at once" in (await host.end_of(half)).message
    assert host.changes <= 60


async def test_a_flood_of_failures_is_told_a_few_times(host: HostHouse) -> None:
    half = await host.start(
        """
        async def apply(ctx):
            numbers = iter(range(1000))
            def fail():
                raise ValueError(next(numbers))
            for _ in range(60):
                ctx.timer.after(0.05, fail)
            harness.handle("left", lambda args: next(numbers))
        """
    )
    await host.until(lambda: len(host.diagnosed) == 10)
    assert await half.invoke("left", None) >= 10
    assert len(host.diagnosed) == 10


async def test_an_ask_takes_its_usual_time_while_halves_misbehave(host: HostHouse) -> None:
    host.open_turn()
    wider = {"sandbox_permissions": "danger-full-access", "justification": "because"}

    async def ask() -> float:
        began = time.monotonic()
        result = await host.tools.call("bash", command=f"echo {began}", description="d", **wider)
        assert result.data["isError"] is False, result.data["text"]
        return time.monotonic() - began

    host.tools.answers(Outcome.ALLOWED_ONCE)
    usual = max([await ask() for _ in range(5)])
    for number, body in enumerate(MISDEEDS):
        await host.start(f"import asyncio\nasync def apply(ctx):\n{body}", plugin=f"demo-{number + 1}")
    worst = max([await ask() for _ in range(10)])
    assert worst < usual * 5 + 1.0


MISDEEDS = (
    """
    async def run():
        while True:
            print("x" * 1000)
            await asyncio.sleep(0.001)
    ctx.timer.after(0.1, run)
    """,
    """
    async def run():
        while True:
            harness._half.line.tell("handlers", {"names": ["x" * 1000] * 100})
            await asyncio.sleep(0)
    ctx.timer.after(0.1, run)
    """,
    """
    def run():
        while True:
            pass
    ctx.timer.after(0.1, run)
    """,
)
