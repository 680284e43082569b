"""What pages may say and get: the first word on the exact active run, and its source, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.cordis.answers import InvokeRefused, SourceRefused
from placet.cordis.host.port import Diagnosis
from placet.cordis.vocabulary import AttemptStatus, HalfStatus, Phase, PluginId, RunId
from tests.cordis.world import AGENT, CLIENT, CordisWorld, cordis_world

pytestmark = pytest.mark.anyio
CLOCK = PluginId("clock-1")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[CordisWorld]:
    async with cordis_world(tmp_path) as world:
        yield world


async def pending(world: CordisWorld, host: str | None = "ok", mode: str = "run", **more: str) -> RunId:
    """Bring a run to the point where a page may load its client half."""
    run = await world.asked(await world.define(host, CLIENT, **more), mode)
    await world.consent(run)
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    return run


async def test_i17_a_verdict_on_another_run_is_not_accepted_and_the_run_stays_pending(world: CordisWorld) -> None:
    run = await pending(world)
    assert not await world.cordis.verdict(RunId("run-9"), ok=True)
    assert (await world.attempt(run)).status is AttemptStatus.CLIENT_PENDING


async def test_i18_the_first_accepted_verdict_wins(world: CordisWorld) -> None:
    run = await pending(world)
    assert await world.cordis.verdict(run, ok=True, page="one")
    assert not await world.cordis.verdict(run, ok=False, message="too late", page="two")
    assert (await world.attempt(run)).status is AttemptStatus.RUNNING
    settled = await world.until_event(f"settled:{run}")
    assert settled.data["page"] == "one"


async def test_a_verdict_on_what_waits_for_a_person_or_was_declined_is_not_accepted(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    assert not await world.cordis.verdict(run, ok=True)
    await world.decline(run)
    assert not await world.cordis.verdict(run, ok=True)
    assert (await world.attempt(run)).status is AttemptStatus.REJECTED


async def test_i22_a_client_half_that_fails_ends_the_attempt_and_its_host_half(world: CordisWorld) -> None:
    run = await pending(world)
    said = {"phase": Phase.CLIENT_APPLY, "message": "x is not defined", "stack": "at apply:2"}
    assert await world.cordis.verdict(run, ok=False, page="p", **said)  # type: ignore[arg-type]
    attempt = await world.attempt(run)
    assert (attempt.status, attempt.phase, attempt.client) == ("failed", "client-apply", "failed")
    assert world.halves.living == {} and (await world.plugin()).active is None
    (told,) = await world.told()
    assert told["wake"] and "x is not defined\nat apply:2" in told["text"] and "consent to this package" in told["text"]


async def test_i16_source_is_handed_out_for_the_exact_active_run_only(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", "return {} // \u2028"))
    assert isinstance(await world.cordis.source(CLOCK, run), SourceRefused)
    await world.consent(run)
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    assert await world.cordis.source(CLOCK, run) == "return {} // \u2028"
    assert isinstance(await world.cordis.source(CLOCK, RunId("run-2")), SourceRefused)
    assert isinstance(await world.cordis.source(PluginId("clock-2"), run), SourceRefused)
    await world.cordis.verdict(run, ok=True)
    assert await world.cordis.source(CLOCK, run) == "return {} // \u2028"
    await world.cordis.stop(world.session, CLOCK, by=AGENT, told=False)
    assert isinstance(await world.cordis.source(CLOCK, run), SourceRefused)


async def test_i16_a_package_without_client_half_has_no_source_to_hand_out(world: CordisWorld) -> None:
    run = (await world.run(await world.define())).run
    assert isinstance(await world.cordis.source(CLOCK, run), SourceRefused)


async def test_i30_a_render_failure_marks_the_run_failed_which_goes_on_and_wakes_the_agent_once(
    world: CordisWorld,
) -> None:
    run = await world.up(await world.define("ok", CLIENT))
    before = len(await world.told())
    for message in ("first", "first", "second"):
        report = {"phase": Phase.CLIENT_RENDER, "slot": "shell.overlay", "message": message}
        assert await world.cordis.report(run, **report)  # type: ignore[arg-type]
    attempt = await world.attempt(run)
    assert (attempt.status, attempt.client, attempt.phase) == ("failed", HalfStatus.FAILED, Phase.CLIENT_RENDER)
    assert attempt.fault is not None and attempt.fault.message == "second"
    plugin = await world.plugin()
    assert plugin.active is not None and list(world.halves.living) == [run]
    assert [one.message for one in plugin.diagnoses] == ["first", "second"]
    told = (await world.told())[before:]
    assert len(told) == 1 and told[0]["wake"] and "shell.overlay" in told[0]["text"]
    again = await world.run(plugin.packages[0])
    await world.until(again.run, AttemptStatus.CLIENT_PENDING)
    await world.cordis.verdict(again.run, ok=True)
    assert (await world.plugin()).state == "running"


async def test_i31_a_failing_handler_wakes_the_agent_once_per_distinct_text(world: CordisWorld) -> None:
    run = (await world.run(await world.define("handles:now"))).run
    for _ in range(3):
        answer = await world.cordis.invoke(CLOCK, run, "boom", None)
        assert isinstance(answer, InvokeRefused) and answer.code == "handler-error"
    (told,) = await world.told()
    assert told["wake"] and "boom failed" in told["text"]
    assert (await world.attempt(run)).status is AttemptStatus.RUNNING


async def test_a_flood_of_distinct_failures_is_bounded(world: CordisWorld) -> None:
    run = await world.up(await world.define("ok", CLIENT))
    for n in range(40):
        report = {"phase": Phase.CLIENT_APPLY, "message": f"{n} " + "x" * 10_000, "stack": "y" * 20_000}
        assert await world.cordis.report(run, **report)  # type: ignore[arg-type]
    events = [e for e in await world.store.read(world.session) if e.type == "cordis/diagnosed"]
    assert len(events) == 20
    assert all(len(e.data["message"]) == 4_000 and len(e.data["stack"]) == 8_000 for e in events)


async def test_a_client_half_that_was_cut_off_ends_the_run(world: CordisWorld) -> None:
    run = await world.up(await world.define("ok", CLIENT))
    assert await world.cordis.report(run, phase=Phase.GUARD, message="no sign of life for a second")
    event = await world.until_event(f"run-stopped:{run}")
    assert (event.data["status"], event.data["detail"]) == ("failed", "guard")
    assert world.halves.living == {}
    assert not await world.cordis.report(run, phase=Phase.GUARD, message="again")
    assert (await world.told())[-1]["wake"]


async def test_i32_invoke_has_its_order_of_refusals(world: CordisWorld) -> None:
    async def code(plugin: str, run: str, method: str = "now") -> str:
        answer = await world.cordis.invoke(PluginId(plugin), RunId(run), method, None)
        assert isinstance(answer, InvokeRefused)
        return answer.code

    await world.define("handles:now")
    assert await code("clock-9", "run-1") == "plugin-not-running"
    assert await code("clock-1", "run-1") == "plugin-not-running"
    run = (await world.run((await world.plugin()).packages[0])).run
    assert await code("clock-1", "run-9", "nothing") == "stale-run"
    assert await code("clock-1", run, "nothing") == "method-not-found"
    assert await code("clock-1", run, "boom") == "handler-error"
    assert await world.cordis.invoke(CLOCK, run, "now", [1]) == {"method": "now", "args": [1]}


async def test_h12_invoke_needs_the_right_ids_and_no_session(world: CordisWorld) -> None:
    run = await world.up(await world.define("handles:now", CLIENT))
    assert await world.cordis.invoke(CLOCK, run, "now", None) == {"method": "now", "args": None}


async def test_what_a_half_says_went_wrong_in_it_is_written_down(world: CordisWorld) -> None:
    run = (await world.run(await world.define())).run
    await world.cordis._activation.diagnosed(run, Diagnosis("timer", "boom", "a stack"))
    plugin = await world.plugin()
    assert [(one.half, one.message) for one in plugin.diagnoses] == [("host", "timer: boom")]
    assert (await world.told())[-1]["wake"]


async def test_h13_what_plugins_are_listed_with_holds_no_source(world: CordisWorld) -> None:
    await world.define("SECRETSOURCE", "SECRETSOURCE")
    await world.asked((await world.plugin()).packages[0])
    assert "SECRETSOURCE" not in repr(await world.cordis.plugins())
    assert "SECRETSOURCE" not in repr(await world.cordis.requests())
