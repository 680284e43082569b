"""Clock, undo, chain, notices and signals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from placet.kernel import AbortSignal, Bus, Chain, Scope, SystemClock
from placet.testing.clock import ManualClock

pytestmark = pytest.mark.anyio


def test_undo_runs_in_reverse_and_once() -> None:
    done: list[str] = []
    with Scope("test") as scope:
        scope.add("first", lambda: done.append("first"))
        scope.add("second", lambda: done.append("second"))
        assert scope.labels() == ("first", "second")
    scope.close()
    assert done == ["second", "first"]


def test_an_undo_that_fails_is_logged_and_the_others_run(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []
    scope = Scope("test")
    scope.add("good", lambda: done.append("good"))
    scope.add("bad", lambda: 1 / 0)
    scope.close()
    assert done == ["good"]
    assert "'bad'" in caplog.text


def test_what_is_added_to_a_closed_scope_is_undone_at_once() -> None:
    scope = Scope("test")
    scope.close()
    done: list[str] = []
    scope.add("late", lambda: done.append("late"))
    assert scope.closed and done == ["late"]


async def test_a_link_answers_or_passes_on_and_the_end_always_answers() -> None:
    seen: list[str] = []

    def link(name: str, answers_to: str) -> Callable[[str, Callable[[], Awaitable[str]]], Awaitable[str]]:
        async def answer(question: str, call_next: Callable[[], Awaitable[str]]) -> str:
            seen.append(name)
            return name if question == answers_to else await call_next()

        return answer

    async def final(question: str) -> str:
        return "nobody"

    chain = Chain([link("one", "1"), link("two", "2")], final)
    assert [await chain("2"), await chain("1"), await chain("3")] == ["two", "one", "nobody"]
    assert seen == ["one", "two", "one", "one", "two"]
    assert await Chain[str, str]([], final)("x") == "nobody"


def test_f17_a_listener_that_fails_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    bus: Bus[int] = Bus("test")
    heard: list[int] = []
    bus.subscribe(lambda notice: 1 / 0)
    undo = bus.subscribe(heard.append)
    bus.notify(1)
    undo()
    undo()
    bus.notify(2)
    assert heard == [1] and len(bus) == 1
    assert any(record.levelno == logging.ERROR for record in caplog.records)


async def test_the_first_reason_of_an_abort_sticks() -> None:
    signal = AbortSignal()
    assert not signal.aborted and signal.reason is None
    signal.abort("user")
    signal.abort("shutdown")
    assert signal.aborted and await signal.wait() == "user"


async def test_who_waits_for_an_abort_is_woken() -> None:
    signal = AbortSignal()
    waiting = asyncio.create_task(signal.wait())
    await asyncio.sleep(0)
    signal.abort("user")
    assert await asyncio.wait_for(waiting, 10) == "user"


async def test_a_signal_made_of_others_follows_each_of_them() -> None:
    one, two = AbortSignal(), AbortSignal()
    both = AbortSignal.any(one, two)
    two.abort("user")
    assert both.reason == "user" and not one.aborted
    assert AbortSignal.any(two).aborted
    later = AbortSignal.any(one)
    later.detach()
    one.abort("user")
    assert not later.aborted


def test_a_listener_added_after_the_abort_is_told_at_once() -> None:
    signal = AbortSignal()
    signal.abort("user")
    told: list[str] = []
    signal.on_abort(told.append)()
    assert told == ["user"]


async def test_the_manual_clock_wakes_sleepers_in_the_order_of_their_times() -> None:
    clock = ManualClock(now=1000)
    woken: list[tuple[str, int]] = []

    async def sleep(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now()))

    tasks = [asyncio.create_task(sleep(name, seconds)) for name, seconds in (("late", 2), ("soon", 1), ("never", 9))]
    await clock.wait_for_sleeper(3)
    await clock.advance(0.5)
    assert woken == []
    await clock.advance(2)
    assert [name for name, _ in woken] == ["soon", "late"]
    assert (clock.now(), clock.monotonic(), clock.sleeping) == (3500, 2.5, 1)
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert clock.sleeping == 0


async def test_the_system_clock_tells_milliseconds() -> None:
    clock = SystemClock()
    before, start = clock.now(), clock.monotonic()
    await clock.sleep(0.01)
    assert clock.now() >= before > 1_600_000_000_000
    assert clock.monotonic() > start
