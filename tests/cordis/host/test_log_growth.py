"""How much a half can put into its session's log: a burst, and then so much a second; the rest is refused."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from placet.cordis.host.limits import Bucket, Limits
from tests.cordis.host.house import QUICK, HostHouse, host_house

pytestmark = pytest.mark.anyio

RATE, BURST = 2_000.0, 40_000.0
WRITES = """
async def apply(ctx):
    async def write(args):
        codes = []
        for number in range(args["times"]):
            try:
                await ctx.files.write(f"file-{number}", "x" * args["size"])
                codes.append(None)
            except harness.ServiceError as failure:
                codes.append(failure.code)
        return codes
    async def web(args):
        try:
            await ctx.web.get("http://127.0.0.1:1/" + "x" * 1_900)
        except harness.ServiceError as failure:
            return failure.code
    async def read(args):
        return (await ctx.files.read("file-0"))["lines"]
    harness.handle("write", write)
    harness.handle("web", web)
    harness.handle("read", read)
"""


@pytest.fixture
async def small(tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[HostHouse]:
    """Halves with little room in the log."""
    async with host_house(tmp_path, "bubblewrap", replace(QUICK, logged=(RATE, BURST))) as house:
        yield house


async def size_of_log(house: HostHouse) -> int:
    return sum(len(event.data["arguments"]) for event in await house.events("cordis/called"))


async def test_a_half_outside_of_a_turn_cannot_fill_the_log(small: HostHouse, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "placet.plugin")
    half = await small.start(WRITES)
    began = time.monotonic()
    codes = await half.invoke("write", {"times": 20, "size": 9_000})
    spent = time.monotonic() - began
    done = codes.count(None)
    assert set(codes) == {None, "too-much-logged"} and codes[:4] == [None] * 4
    assert 9_000 * done <= await size_of_log(small) <= BURST + RATE * (spent + 1)
    assert len(await small.events("cordis/called")) == done
    assert await half.invoke("read", None) == 1  # looking puts nothing into the log
    assert not half.ending and small.ended == []
    [told] = [record.message for record in caplog.records if "placet refuses some calls" in record.message]
    assert told.startswith("[cordis:demo-1] [placet refuses some calls: ") and "a second in the long run" in told


async def test_what_is_fetched_from_the_web_counts_too(small: HostHouse) -> None:
    half = await small.start(WRITES)
    said = [await half.invoke("web", None) for _ in range(40)]
    assert said[:10] == ["unreachable"] * 10
    assert "too-much-logged" in said


async def test_in_a_turn_calls_and_their_results_count(small: HostHouse) -> None:
    (small.folder / "file-0").write_text("\n".join("y" * 90 for _ in range(300)))
    small.open_turn()
    half = await small.start(WRITES)
    codes: list[Any] = [await half.invoke("read", None) for _ in range(2)]
    assert codes == [300, 300]
    assert set(await half.invoke("write", {"times": 2, "size": 10})) == {"too-much-logged"}
    texts = [event.data["text"] for event in await small.events("tool/result")]
    assert sum(map(len, texts)) > BURST


async def test_ordinary_use_never_meets_the_bound(host: HostHouse) -> None:
    half = await host.start(WRITES)
    for _ in range(15):
        assert await half.invoke("write", {"times": 10, "size": 20_000}) == [None] * 10


def test_there_is_room_again_after_a_while() -> None:
    rate, burst = Limits().logged
    bucket = Bucket((rate, burst), 0.0)
    assert bucket.take(burst, 0.0) and not bucket.take(1_000, 0.0)
    seconds = bucket.wait(0.0, 1_000)
    assert bucket.take(1_000, seconds + 0.001)
    bucket.owe(burst, 100.0)
    assert not bucket.take(1, 100.0) and bucket.take(1, 100.0 + bucket.wait(100.0) + 0.001)
    assert rate * 86_400 < 3 << 30  # a day of the worst there can be
