"""Failures that are no ordinary ones: each is told to who asked, at once, and the half goes on or ends in order."""

from __future__ import annotations

import logging

import anyio
import pytest

from placet.cordis.host import InvokeFailed
from placet.cordis.vocabulary import InvokeFailure, Phase
from tests.cordis.host.house import HostHouse

pytestmark = pytest.mark.anyio

ODD = """
import asyncio
class Own(BaseException):
    pass
class Mute(Exception):
    def __str__(self):
        raise ValueError("nothing to say")
class Coded(Exception):
    code = {"not": object()}
class Number(Exception):
    code = 7
class False_(SyntaxError):
    filename, lineno, offset = harness._half._file, "three", []
def fail(name):
    if name == "cancelled":
        raise asyncio.CancelledError
    raise {"interrupt": KeyboardInterrupt, "exit": GeneratorExit, "own": Own, "mute": Mute, "coded": Coded,
           "number": Number, "syntax": False_}[name]()
"""
WAYS = {
    "interrupt": "KeyboardInterrupt", "exit": "GeneratorExit", "own": "Own", "cancelled": "the call was cancelled",
    "mute": "Mute: it does not say what happened", "coded": "Coded", "number": "Number", "syntax": "False_",
}  # fmt: skip


async def test_a_method_that_fails_in_an_odd_way_is_answered_and_the_half_goes_on(host: HostHouse) -> None:
    half = await host.start(ODD + 'async def apply(ctx):\n    harness.handle("fail", fail)\n')
    for name, said in WAYS.items():
        with pytest.raises(InvokeFailed) as failed, anyio.fail_after(15):
            await half.invoke("fail", name)
        assert (failed.value.code, failed.value.message) == (InvokeFailure.HANDLER_ERROR, said)
    assert host.ended == [] and not half.ending


@pytest.mark.parametrize("name", WAYS)
async def test_k16_an_apply_that_fails_in_an_odd_way_says_so_at_once(host: HostHouse, name: str) -> None:
    failure = await host.fails(f"{ODD}async def apply(ctx):\n    ctx.effect(lambda: print)\n    fail({name!r})\n")
    said = "CancelledError" if name == "cancelled" else WAYS[name]
    assert (failure.phase, failure.message) == (Phase.HOST_APPLY, said)


async def test_an_undo_that_fails_in_an_odd_way_keeps_no_other_from_running(
    host: HostHouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "placet.plugin")
    undos = "".join(f"    ctx.effect(lambda: lambda: fail({name!r}))\n" for name in WAYS)
    last = '    ctx.effect(lambda: lambda: print("the last one ran"))\n'
    half = await host.start(f"{ODD}async def apply(ctx):\n{last}{undos}")
    await half.end()
    assert [record.message for record in caplog.records][-1] == "[cordis:demo-1] the last one ran"
    assert len(host.diagnosed) == len(WAYS) and host.ended == []


async def test_what_a_timer_raises_is_told_and_ends_nothing(host: HostHouse) -> None:
    timers = "".join(f"    ctx.timer.after(0.05, lambda: fail({name!r}))\n" for name in WAYS)
    half = await host.start(f"{ODD}async def apply(ctx):\n{timers}    harness.handle('here', lambda args: 1)\n")
    await host.until(lambda: len(host.diagnosed) == len(WAYS))
    assert await half.invoke("here", None) == 1
