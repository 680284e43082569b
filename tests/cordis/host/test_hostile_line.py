"""What a half says on its line by itself, past the program around it: the server goes on, and ends are told."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import pytest

from placet.cordis.host import Limits
from placet.cordis.host.half import Half
from tests.cordis.host.house import HostHouse, host_house

pytestmark = pytest.mark.anyio

RAW = """
import asyncio, json, os, select

def raw(value):
    data, fd = json.dumps(value, separators=(",", ":")).encode() + b"\\n", harness._half.line._fd
    while data:
        try:
            data = data[os.write(fd, data):]
        except BlockingIOError:
            select.select([], [fd], [], 1)

"""


async def beats(half: Half, seconds: float) -> float:
    """Return the longest pause of the event loop, until the time is over or the half is."""
    worst, last = 0.0, time.monotonic()
    end = last + seconds
    while last < end and not half.over.is_set():
        await anyio.sleep(0.01)
        now = time.monotonic()
        worst, last = max(worst, now - last), now
    return worst


@pytest.mark.parametrize(
    "value",
    ["[0] * 16_000", '{"k" * 16_000: [0] * 8_000}', "[0] * 500_000", '{"k" * 500_000: [0] * 250_000}'],
    ids=["many", "long-key", "large", "large-and-long-key"],
)
async def test_messages_that_are_slow_to_read_leave_the_server_its_time(host: HostHouse, value: str) -> None:
    half = await host.start(
        RAW
        + f"""
async def apply(ctx):
    async def go():
        while True:
            raw({{"method": "any", "params": {{"a": {value}}}}})
            await asyncio.sleep(0.01)
    ctx.timer.after(0.1, go)
"""
    )
    assert await beats(half, 3) < 3


async def test_many_large_answers_leave_the_server_its_time(host: HostHouse) -> None:
    half = await host.start(
        """
import asyncio

async def apply(ctx):
    fields = {str(number): {"type": "string", "description": "\u00e4" * 40} for number in range(180)}
    for number in range(28):
        await harness.tool(f"t{number}", "d", {"type": "object", "properties": fields}, lambda a: 1)

    async def go():
        while True:
            await asyncio.gather(*(ctx.tools.list() for _ in range(32)))
    ctx.timer.after(0.1, go)
"""
    )
    assert await beats(half, 3) < 1.5
    assert not half.over.is_set()


async def test_who_does_not_read_is_not_heard_and_its_answers_do_not_pile_up(
    tmp_path: Path, needs_bubblewrap: str
) -> None:
    async with host_house(tmp_path, "bubblewrap", Limits(ping=0.1, silence=4.0)) as host:
        half = await host.start(
            RAW
            + """
async def apply(ctx):
    fat = {"type": "object", "properties": {"a": {"type": "string", "description": "x" * 30_000}}}
    for number in range(28):
        await harness.tool(f"t{number}", "d", fat, lambda a: 1)

    def go():
        asyncio.get_running_loop().remove_reader(harness._half.line._fd)
        number = 1_000
        while True:
            for _ in range(20):
                number += 1
                raw({"id": number, "method": "tools.list", "params": {}})
            for guess in range(1, 200):
                raw({"id": guess, "result": None})
            select.select([], [], [], 1)
    ctx.timer.after(0.1, go)
"""
        )
        with anyio.fail_after(60):
            while not half.over.is_set():
                assert half._line._unread < 64 << 20
                await anyio.sleep(0.05)
        assert "it did not answer" in host.ended[-1].message


@pytest.mark.parametrize("number", ["[]", "{}", "None", '"1"', "1.5", "True"])
async def test_whatever_it_wants_to_cancel_it_lives_on(host: HostHouse, number: str) -> None:
    half = await host.start(
        RAW
        + f"""
async def apply(ctx):
    harness.handle("go", lambda args: raw({{"method": "cancel", "params": {{"id": {number}}}}}))
    harness.handle("here", lambda args: "here")
"""
    )
    await half.invoke("go", None)
    assert await half.invoke("here", None) == "here"
    assert host.ended == []


async def test_a_message_byte_by_byte_leaves_the_server_its_time(host: HostHouse) -> None:
    half = await host.start(
        RAW
        + """
async def apply(ctx):
    def go():
        fd = harness._half.line._fd
        os.set_blocking(fd, True)
        asyncio.get_running_loop().remove_reader(fd)
        os.write(fd, b'{"method":"x","params":{"a":"' + b"x" * 100_000)
        end = asyncio.get_running_loop().time() + 2
        while asyncio.get_running_loop().time() < end:
            for _ in range(100):
                os.write(fd, b"x")
            select.select([], [], [], 0.001)
        os.write(fd, b'"}}\\n{"method":"handlers","params":{"names":["done"]}}\\n')
        os.set_blocking(fd, False)
        asyncio.get_running_loop().add_reader(fd, harness._half.line._ready)
    ctx.timer.after(0.1, go)
"""
    )
    began = time.thread_time()
    await host.until(lambda: half.handlers == ("done",) or half.over.is_set())
    assert host.ended == [] and time.thread_time() - began < 1.5


async def test_who_never_reads_what_it_is_told_is_ended(host: HostHouse) -> None:
    half = await host.start(
        RAW
        + """
async def apply(ctx):
    def deaf(args):
        asyncio.get_running_loop().remove_reader(harness._half.line._fd)
        async def talk():
            while True:
                raw({"method": "any", "params": {}})
                await asyncio.sleep(0.02)
        asyncio.ensure_future(talk())
    harness.handle("deaf", deaf)
"""
    )
    await half.invoke("deaf", None)
    for _ in range(100):
        half.tell("event", {"type": "any", "text": "x" * 900_000})
    ended = await host.end_of(half)
    assert "it does not read what it is told" in ended.message


async def test_a_wish_that_is_none_is_refused_without_a_word_in_placets_own_log(
    host: HostHouse, caplog: pytest.LogCaptureFixture
) -> None:
    half = await host.start(
        RAW
        + """
async def apply(ctx):
    await ctx.provide("thing", {"do": lambda: 1})
    def go(args):
        methods = ("on", "service.call", "provide", "unprovide", "tool", "untool", "files.read", "files.write",
                   "shell.run", "web.get", "sessions.messages", "sessions.inject", "tools.list", "none", "")
        for number, method in enumerate(methods):
            for more, value in enumerate(([], {}, None, True, "\\ud800", 2**53 - 1)):
                words = dict.fromkeys(("event", "name", "method", "path", "content", "command", "limit", "text",
                                       "url", "methods", "description", "parameters", "args", "depth"), value)
                raw({"id": 1_000 + number * 10 + more, "method": method, "params": words})
        raw({"id": 1_900, "method": "service.call", "params": {"name": "thing", "method": [], "depth": 0}})
    harness.handle("go", go)
    harness.handle("here", lambda args: 1)
"""
    )
    await half.invoke("go", None)
    assert await half.invoke("here", None) == 1
    await half.end()
    assert [record.getMessage() for record in caplog.records if record.name.startswith("placet.cordis")] == []
