"""Services between the plugins of one session: waiting, waking, unwinding (contract K14)."""

from __future__ import annotations

import anyio
import pytest

from placet.cordis.host import Cause, HostFailed, InvokeFailed
from placet.cordis.vocabulary import HalfStatus, Phase
from tests.cordis.host.house import HostHouse

pytestmark = pytest.mark.anyio

PROVIDES = """
class Weather:
    async def at(self, city, *, days=1):
        return {"city": city, "days": days}
    def boom(self):
        raise ValueError("storm")
    def _hidden(self):
        return 1
async def apply(ctx):
    ctx.provide("weather", Weather())
"""
CONSUMES = """
inject = ["weather"]
async def apply(ctx):
    print("applied")
    ctx.effect(lambda: lambda: print("unwound"))
    async def ask(args):
        try:
            return await eval(args, {"ctx": ctx})
        except Exception as failure:
            return [getattr(failure, "code", None), str(failure)]
    harness.handle("ask", ask)
"""


async def test_k14_a_consumer_waits_wakes_unwinds_and_comes_back(each: HostHouse) -> None:
    consumer = await each.start(CONSUMES, plugin="user-2")
    assert (consumer.status, consumer.waiting_for, consumer.handlers) == (HalfStatus.WAITING, ("weather",), ())
    provider = await each.start(PROVIDES)
    assert provider.provides == ("weather",)
    await each.until(lambda: consumer.status is HalfStatus.RUNNING)
    assert await consumer.invoke("ask", "ctx.weather.at('Rome', days=3)") == {"city": "Rome", "days": 3}
    await provider.end()
    await each.until(lambda: consumer.status is HalfStatus.WAITING)
    assert (consumer.waiting_for, consumer.handlers) == (("weather",), ())
    again = await each.start(PROVIDES)
    await each.until(lambda: consumer.status is HalfStatus.RUNNING)
    assert await consumer.invoke("ask", "ctx.get('weather').at('Oslo')") == {"city": "Oslo", "days": 1}
    assert again.provides == ("weather",) and not each.ended


async def test_k14_what_a_service_cannot_do_is_told_to_the_caller_alone(host: HostHouse) -> None:
    provider = await host.start(PROVIDES)
    consumer = await host.start(CONSUMES, plugin="user-2")
    code, text = await consumer.invoke("ask", "ctx.weather.boom()")
    assert code == "service-error" and "weather.boom failed: ValueError: storm" in text
    code, text = await consumer.invoke("ask", "ctx.weather.nothing()")
    assert code == "no-method" and "it has: at, boom" in text
    assert (await consumer.invoke("ask", "ctx.weather._hidden()"))[0] is None
    assert "of type set" in (await consumer.invoke("ask", "ctx.weather.at({1})"))[1]
    assert await consumer.invoke("ask", "ctx.weather.at('x')") == {"city": "x", "days": 1}
    assert provider.status is HalfStatus.RUNNING


async def test_k14_plugins_that_call_each_other_in_a_circle_are_told_so_at_once(host: HostHouse) -> None:
    def source(mine: str, other: str) -> str:
        return f"""
class Service:
    async def turn(self):
        return await asyncio.create_task(call())
async def call():
    return await context.get({other!r}).turn()
async def apply(ctx):
    global context
    context = ctx
    await ctx.provide({mine!r}, Service())
    async def ask(args):
        try:
            await call()
        except Exception as failure:
            return str(failure)
    harness.handle("ask", ask)
import asyncio
"""

    first = await host.start(source("ping", "pong"), plugin="one-1")
    await host.start(source("pong", "ping"), plugin="two-2")
    with anyio.fail_after(30):
        said = await first.invoke("ask", None)
    assert said.count(".turn failed") == 16
    assert "plugins call each other in a circle" in said


async def test_k14_a_name_belongs_to_one_plugin(host: HostHouse) -> None:
    await host.start(PROVIDES)
    failure = await fails_beside(host)
    assert "the service 'weather' is provided by demo-1 already" in failure
    consumer = await host.start(CONSUMES, plugin="user-3")
    assert consumer.status is HalfStatus.RUNNING


async def fails_beside(host: HostHouse) -> str:
    with pytest.raises(HostFailed) as failed:
        await host.start(PROVIDES, plugin="other-2")
    return failed.value.message


async def test_k14_a_provider_that_dies_is_as_gone_as_one_that_is_stopped(host: HostHouse) -> None:
    provider = await host.start(PROVIDES + "    import os\n    harness.handle('die', lambda args: os._exit(1))\n")
    consumer = await host.start(CONSUMES, plugin="user-2")
    with pytest.raises(InvokeFailed):
        await provider.invoke("die", None)
    await host.end_of(provider)
    await host.until(lambda: consumer.status is HalfStatus.WAITING)
    await host.until(lambda: host.changes)


async def test_a_half_whose_second_apply_fails_is_told_as_failed(host: HostHouse) -> None:
    source = """
    inject = ["weather"]
    times = []
    async def apply(ctx):
        times.append(1)
        if len(times) > 1:
            raise ValueError("only once")
    """
    provider = await host.start(PROVIDES)
    consumer = await host.start(source, plugin="user-2")
    await provider.end()
    await host.until(lambda: consumer.status is HalfStatus.WAITING)
    await host.start(PROVIDES)
    ended = await host.end_of(consumer)
    assert (ended.cause, ended.phase) == (Cause.FAILED, Phase.HOST_APPLY)
    assert ended.message == "ValueError: only once" and ended.line == 7
