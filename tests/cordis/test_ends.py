"""Ends: stop, removal, narrowing, archive, the death of a half, and of the process itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from placet.cordis.answers import NotPending, Receipt, RunRefused, Stopped, StopRefused
from placet.cordis.host.port import Cause
from placet.cordis.vocabulary import AttemptStatus, PluginId, RunId
from placet.sandbox.mode import SandboxMode
from tests.cordis.world import AGENT, CLIENT, PANEL, CordisWorld, cordis_world

pytestmark = pytest.mark.anyio
CLOCK = PluginId("clock-1")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[CordisWorld]:
    async with cordis_world(tmp_path) as world:
        yield world


async def test_i26_stop_ends_a_run_and_keeps_packages_consents_and_pointers(world: CordisWorld) -> None:
    run = await world.up(await world.define("ok", CLIENT))
    assert await world.cordis.stop(world.session, CLOCK, by=PANEL, told=True) == Stopped(CLOCK, True)
    plugin = await world.plugin()
    assert (plugin.current, plugin.consented, plugin.state) == ("pkg-1", {"pkg-1"}, "stopped")
    assert world.halves.living == {} and plugin.active is None
    event = await world.until_event(f"run-stopped:{run}")
    assert (event.data["status"], event.data["detail"], event.data["by"]) == ("stopped", "stopped", PANEL)
    told = (await world.told())[-1]
    assert not told["wake"] and "The user stopped" in told["text"]


async def test_i26_stop_withdraws_a_request_and_the_old_version_too(world: CordisWorld) -> None:
    first = (await world.run(await world.define())).run
    run = await world.asked(await world.define("ok", CLIENT, plugin="clock-1"), "update")
    assert await world.cordis.stop(world.session, CLOCK, by=AGENT, told=False) == Stopped(CLOCK, True)
    assert (await world.attempt(run)).status is AttemptStatus.CANCELLED
    await world.until_event(f"run-stopped:{first}")
    assert world.halves.living == {} and await world.told() == []
    late = await world.consent(run)
    assert isinstance(late, NotPending) and late.decision is not None and late.decision.outcome == "cancelled"


async def test_i27_an_idle_plugin_is_stopped_already(world: CordisWorld) -> None:
    await world.define()
    before = await world.store.head()
    assert await world.cordis.stop(world.session, CLOCK, by=AGENT, told=False) == Stopped(CLOCK, False)
    assert await world.store.head() == before


async def test_i26_stop_ends_a_start_that_is_under_way(world: CordisWorld) -> None:
    world.halves.gate = anyio.Event()
    run = await world.asked(await world.define("hangs", CLIENT))
    await world.consent(run)
    await world.halves.entered.wait()
    assert await world.cordis.stop(world.session, CLOCK, by=PANEL, told=True) == Stopped(CLOCK, True)
    attempt = await world.attempt(run)
    assert (attempt.status, attempt.detail) == ("stopped", "stopped")
    assert world.halves.living == {}


async def test_h10_undefine_withdraws_stops_and_forgets(world: CordisWorld) -> None:
    await world.run(await world.define())
    run = await world.asked(await world.define("ok", CLIENT, plugin="clock-1"), "update")
    assert await world.cordis.undefine(world.session, CLOCK, by=PANEL, told=True) == Stopped(CLOCK, True)
    assert await world.cordis.plugins() == [] and world.halves.living == {}
    assert (await world.types())[-3:] == ["cordis/settled", "cordis/stopped", "cordis/undefined"]
    late = await world.consent(run)
    assert isinstance(late, NotPending) and late.decision is not None and late.decision.detail == "undefined"
    told = (await world.told())[-1]
    assert not told["wake"] and "removed the plugin clock-1" in told["text"]
    again = await world.cordis.undefine(world.session, CLOCK, by=AGENT, told=False)
    assert isinstance(again, StopRefused) and again.reason == "plugin-missing"


async def test_h10_undefine_of_what_never_ran_says_so(world: CordisWorld) -> None:
    await world.define()
    assert await world.cordis.undefine(world.session, CLOCK, by=AGENT, told=False) == Stopped(CLOCK, False)


async def test_while_a_plugin_is_being_ended_a_run_is_refused(world: CordisWorld) -> None:
    package = await world.define()
    receipt = await world.run(package)
    half, gate, entered = world.halves.living[receipt.run], anyio.Event(), anyio.Event()
    end = half.end

    async def slow() -> None:
        entered.set()
        await gate.wait()
        await end()

    half.end = slow  # type: ignore[method-assign]
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: world.cordis.undefine(world.session, CLOCK, by=AGENT, told=False))
        await entered.wait()
        refused = await world.run(package)
        assert isinstance(refused, RunRefused) and refused.reason == "transition-in-flight"
        gate.set()
    assert await world.cordis.plugins() == []


@pytest.mark.parametrize(("cause", "detail"), [(Cause.CRASHED, "crashed"), (Cause.GUARD, "guard")])
async def test_the_death_of_a_running_half_ends_the_run_and_wakes_the_agent(
    world: CordisWorld, cause: Cause, detail: str
) -> None:
    receipt = await world.run(await world.define())
    world.halves.living[receipt.run].die(cause, "killed by signal 9")
    event = await world.until_event(f"run-stopped:{receipt.run}")
    assert (event.data["status"], event.data["detail"]) == ("failed", detail)
    attempt = await world.attempt(receipt.run)
    assert attempt.status is AttemptStatus.FAILED and attempt.fault is not None
    (told,) = await world.told()
    assert told["wake"] and "killed by signal 9" in told["text"] and "cordis_define" in told["text"]


async def test_the_death_of_a_half_settles_a_client_pending_run(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    await world.consent(run)
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    world.halves.living[run].die()
    attempt = await world.until(run, AttemptStatus.FAILED)
    assert attempt.detail == "crashed"
    assert not await world.cordis.verdict(run, ok=True)
    assert (await world.plugin()).active is None


async def test_narrowing_ends_what_runs_with_more(world: CordisWorld) -> None:
    await world.mode(SandboxMode.DANGER_FULL_ACCESS)
    wide = (await world.run(await world.define())).run
    await world.mode(SandboxMode.WORKSPACE_WRITE)
    event = await world.until_event(f"run-stopped:{wide}")
    assert event.data["detail"] == "narrowed" and world.halves.living == {}
    assert world.session in world.halves.discarded  # what waited for a start had the wider mode
    narrow = (await world.run((await world.plugin()).newest)).run
    assert (await world.cordis.wider(world.session, SandboxMode.READ_ONLY))[0].run == narrow
    await world.mode(SandboxMode.DANGER_FULL_ACCESS)
    assert (await world.attempt(narrow)).status is AttemptStatus.RUNNING
    assert world.halves.living[narrow].facts.mode is SandboxMode.WORKSPACE_WRITE


async def test_narrowing_ends_a_start_that_is_under_way(world: CordisWorld) -> None:
    await world.mode(SandboxMode.DANGER_FULL_ACCESS)
    run = await world.asked(await world.define("ok", CLIENT))
    await world.consent(run)
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    await world.mode(SandboxMode.READ_ONLY)
    attempt = await world.until(run, AttemptStatus.STOPPED)
    assert attempt.detail == "narrowed" and world.halves.living == {}


async def test_putting_the_session_away_ends_runs_and_withdraws_requests(world: CordisWorld) -> None:
    run = (await world.run(await world.define())).run
    asked = await world.asked(await world.define("ok", CLIENT, plugin="clock-1"), "update")
    await world.append("session/archived", {"archived": True, "by": PANEL}, "archived:1")
    event = await world.until_event(f"run-stopped:{run}")
    assert event.data["detail"] == "archived"
    assert (await world.until(asked, AttemptStatus.CANCELLED)).detail == "archived"
    withdrawn = await world.until_event(f"settled:{asked}")
    assert withdrawn.seq < event.seq  # no yes can come between: it would start what nobody ends
    assert world.session in world.halves.discarded
    refused = await world.run((await world.plugin()).newest, "update")
    assert isinstance(refused, RunRefused) and "put away" in refused.message


async def test_deleting_the_session_ends_its_runs_and_forgets_its_plugins(world: CordisWorld) -> None:
    from placet.session import HOUSE, Draft

    await world.run(await world.define())
    await world.store.remove(world.session)
    gone = Draft("session/removed", {"session": world.session, "by": PANEL}, f"removed:{world.session}")
    await world.store.append(HOUSE, [gone])
    with anyio.fail_after(30):
        while world.halves.living or world.session not in world.halves.discarded:  # noqa: ASYNC110 - it has no log
            await anyio.sleep(0.01)
    assert await world.cordis.plugins() == []


async def test_a_restart_settles_what_was_under_way_and_starts_nothing_by_itself(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world:
        async with world.process("one"):
            running = (await world.run(await world.define(prefix="runs"))).run
            pending = await world.asked(await world.define("ok", CLIENT, prefix="waits"))
            client = await world.asked(await world.define("ok", CLIENT, prefix="loads"))
            await world.consent(client)
            await world.until(client, AttemptStatus.CLIENT_PENDING)
            await world.append("notice", {"level": "info", "code": "x", "text": "y"}, "notice:before")
        async with world.process("two"):
            stopped = await world.until(running, AttemptStatus.STOPPED)
            failed = await world.until(client, AttemptStatus.FAILED)
            assert (stopped.detail, failed.detail) == ("restart", "restart")
            assert (await world.attempt(pending)).awaits
            assert world.halves.started == []
            told = {put["text"].split(",")[1].strip(): put["wake"] for put in await world.told()}
            assert told == {str(running): False, str(client): True}
            await world.consent(pending)
            await world.until(pending, AttemptStatus.CLIENT_PENDING)


async def test_a_process_that_was_killed_is_settled_by_the_next_one(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world, anyio.create_task_group() as group:
        up = anyio.Event()
        runs: list[RunId] = []

        async def first() -> None:
            async with world.process("one") as cordis:
                cordis._activation.close = forever  # type: ignore[method-assign]  # it dies without a word
                runs.append((await world.run(await world.define())).run)
                up.set()
                await anyio.sleep_forever()

        async def forever() -> None:
            return

        group.start_soon(first)
        await up.wait()
        async with world.process("two") as cordis:
            alive = await cordis.stop(world.session, CLOCK, by=AGENT, told=False)
            assert isinstance(alive, StopRefused) and alive.reason == "elsewhere"
            other = await world.run(await world.define(plugin="clock-1"), "update")
            assert isinstance(other, RunRefused) and other.reason == "transition-in-flight"
            world.dead.add("one")
            receipt = await world.run((await world.plugin()).newest, "update")  # nobody has looked around yet
            assert isinstance(receipt, Receipt)
            stopped = await world.until_event(f"run-stopped:{runs[0]}")
            assert (stopped.data["status"], stopped.data["detail"]) == ("stopped", "restart")
            group.cancel_scope.cancel()


async def test_what_a_person_consented_to_is_driven_by_the_process_that_took_the_consent(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world:
        async with world.process("one"):
            run = await world.asked(await world.define("ok", CLIENT))
        async with world.process("two"):
            await world.consent(run)
            attempt = await world.until(run, AttemptStatus.CLIENT_PENDING)
            assert attempt.holder == "two" and list(world.halves.living) == [run]
