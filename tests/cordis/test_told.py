"""What the agent is told, and how a plugin stands in one word: ids, errors, what runs, what to do next."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.cordis.answers import RunRefused
from placet.cordis.vocabulary import AttemptStatus, Phase, PluginId, RunRefusal
from placet.kernel.signal import AbortSignal
from tests.cordis.world import AGENT, CLIENT, PANEL, CordisWorld, cordis_world

pytestmark = pytest.mark.anyio
CLOCK = PluginId("clock-1")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[CordisWorld]:
    async with cordis_world(tmp_path) as world:
        yield world


async def test_o14_a_failure_names_plugin_package_and_run_keeps_the_error_and_says_what_runs_and_what_to_do(
    world: CordisWorld,
) -> None:
    await world.up(await world.define("ok", CLIENT))
    bad = await world.define("fails", CLIENT, plugin="clock-1")
    run = await world.asked(bad, "update")
    await world.consent(run)
    await world.until(run, AttemptStatus.FAILED)
    text = (await world.told())[-1]["text"]
    for part in ("clock-1", "(Clock)", "pkg-2", run, "NameError: name 'x' is not defined", "line 2, in apply"):
        assert part in text
    assert "Nothing of this plugin runs. The current package is pkg-1" in text and "Next package: pkg-2" in text
    assert (
        "define a corrected package of the same plugin (clock-1)" in text and "consent to this package is kept" in text
    )


async def test_i24_success_is_steered_and_names_what_is_current(world: CordisWorld) -> None:
    await world.up(await world.define("ok", CLIENT))
    (told,) = await world.told()
    assert (told["wake"], told["target"]) == (True, "next-step")
    assert told["source"] == {"kind": "plugin", "name": "clock-1"}
    assert "is running. Current package: pkg-1." in told["text"]


async def test_i24_a_decline_says_not_to_ask_again_and_carries_the_note(world: CordisWorld) -> None:
    await world.decline(await world.asked(await world.define("ok", CLIENT)), "make it smaller")
    text = (await world.told())[-1]["text"]
    assert "The user's note: make it smaller" in text and "Do not ask for it again unless the user wants it." in text


async def test_i25_an_outcome_is_kept_for_an_agent_that_is_not_live(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world:
        await world.append("turn/end", {"turn": 1, "reason": {"kind": "completed"}}, "end:1")
        async with world.process("one"):
            await world.up(await world.define("ok", CLIENT))
        assert [event.data["put"]["source"]["name"] for event in await world.store.unpaired("put:", "message:")] == [
            "clock-1"
        ] * len(await world.told())


async def test_i29_what_a_person_does_in_the_panel_is_told_without_waking(world: CordisWorld) -> None:
    package = await world.define("ok")
    await world.cordis.run(world.session, package.plugin, package.id, "run", by=PANEL, key="k")
    await world.cordis.stop(world.session, CLOCK, by=PANEL, told=True)
    await world.cordis.undefine(world.session, CLOCK, by=PANEL, told=True)
    told = await world.told()
    assert [put["wake"] for put in told] == [False, False, False]
    starts = ["The user started", "The user stopped", "The user removed"]
    assert [put["text"].startswith(start) for put, start in zip(told, starts, strict=True)] == [True] * 3


async def test_what_the_agent_did_itself_is_not_told_to_it_again(world: CordisWorld) -> None:
    await world.run(await world.define("ok"))
    await world.cordis.stop(world.session, CLOCK, by=AGENT, told=False)
    await world.cordis.undefine(world.session, CLOCK, by=AGENT, told=False)
    assert await world.told() == []


async def test_i4_a_call_that_was_stopped_already_is_refused_and_arms_nothing(world: CordisWorld) -> None:
    package, signal = await world.define("ok", CLIENT), AbortSignal()
    signal.abort("user")
    refused = await world.run(package, call=world.call(signal=signal))
    assert isinstance(refused, RunRefused) and refused.reason is RunRefusal.CANCELLED
    assert (await world.cordis.requests()).total == 0


async def test_i4_a_stop_that_the_store_has_counts_before_the_signal_does(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    await world.append("turn/abort", {"turn": 1, "reason": "user", "by": PANEL}, "abort:1")
    refused = await world.run(package)
    assert isinstance(refused, RunRefused) and refused.reason is RunRefusal.CANCELLED
    assert (await world.cordis.requests()).total == 0


async def test_i11_the_server_drives_in_one_order_and_the_page_only_loads(world: CordisWorld) -> None:
    await world.up(await world.define("ok", CLIENT))
    assert (await world.types())[1:] == [
        "cordis/requested", "cordis/consented", "cordis/started", "cordis/ready", "cordis/settled",
    ]  # fmt: skip


async def test_i23_an_attempt_that_needed_no_question_is_recorded_as_failed_when_it_failed(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    await world.up(package)
    again = await world.run(package)
    await world.until(again.run, AttemptStatus.CLIENT_PENDING)
    assert await world.cordis.verdict(again.run, ok=False, phase=Phase.CLIENT_LOAD, message="no")
    assert (await world.until_event(f"settled:{again.run}")).data["status"] == "failed"
    assert (await world.plugin()).state == "failed"


async def test_n14_a_plugin_stands_as_what_runs_of_it_else_as_what_became_of_it(world: CordisWorld) -> None:
    async def state() -> str:
        return (await world.plugin()).state

    package = await world.define("ok", CLIENT)
    assert await state() == "defined"
    run = await world.asked(package)
    assert await state() == "awaiting-approval"
    await world.decline(run)
    assert await state() == "rejected"
    run = await world.asked(package)
    await world.cordis.stop(world.session, CLOCK, by=AGENT, told=False)
    assert await state() == "cancelled"
    run = await world.asked(package)
    await world.consent(run)
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    assert await state() == "client-pending"
    await world.cordis.verdict(run, ok=True, waiting_for=["theme"])
    assert await state() == "waiting"
    bad = await world.define("ok two", CLIENT, plugin="clock-1")
    await world.decline(await world.asked(bad, "update"))
    assert await state() == "waiting"
    await world.cordis.stop(world.session, CLOCK, by=AGENT, told=False)
    assert await state() == "stopped"


async def test_h2_h1_what_was_defined_is_there_after_a_restart_with_its_consents_and_its_order(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world:
        async with world.process("one"):
            one = await world.define("ok", CLIENT)
            await world.define("ok two", plugin="clock-1")
            run = await world.asked(one)
            await world.consent(run, "future")
            await world.until(run, AttemptStatus.CLIENT_PENDING)
        async with world.process("two") as cordis:
            plugin = await world.plugin()
            assert [package.id for package in plugin.packages] == ["pkg-1", "pkg-2"]
            assert (plugin.consented, plugin.future, plugin.active) == ({"pkg-1"}, True, None)
            code = await cordis.code(plugin, plugin.packages[1])
            assert code is not None and code.plain_host == "ok two"
            assert (await world.define(plugin="clock-1")).id == "pkg-3"


async def test_h8_define_moves_no_pointer_and_is_told_to_every_screen_as_one_event(world: CordisWorld) -> None:
    before = await world.store.head()
    await world.define("ok", CLIENT)
    assert [event.type for event in await world.store.feed(before)] == ["cordis/defined"]
    plugin = await world.plugin()
    assert (plugin.current, plugin.next, plugin.latest) == (None, None, None)


async def test_h15_the_end_of_the_process_ends_every_half(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world:
        async with world.process("one"):
            halves = world.halves
            for prefix in ("one", "two", "three"):
                await world.run(await world.define("ok", prefix=prefix))
            assert len(halves.living) == 3
        assert halves.living == {}
        details = [e.data["detail"] for e in await world.store.read(world.session) if e.type == "cordis/stopped"]
        assert details == ["restart"] * 3


async def test_j1_j2_consent_is_needed_for_a_client_half_that_nobody_has_allowed(world: CordisWorld) -> None:
    both, host, client = (
        await world.define("ok", CLIENT),
        await world.define("ok", plugin="clock-1"),
        await world.define(None, CLIENT, plugin="clock-1"),
    )
    plugin = await world.plugin()
    assert [plugin.needs_consent(package) for package in (both, host, client)] == [True, False, True]
    await world.consent(await world.asked(both), "package")
    plugin = await world.plugin()
    assert [plugin.needs_consent(package) for package in (both, host, client)] == [False, False, True]


async def test_i13_a_start_that_does_not_belong_to_the_newest_attempt_does_nothing(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    plugin = await world.plugin()
    stale = plugin.attempt(run)
    assert stale is not None
    await world.decline(run)
    live = world.cordis._activation.take(plugin, stale)
    await live.up.wait()
    assert world.halves.started == [] and "cordis/started" not in await world.types()
