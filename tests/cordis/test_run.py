"""Runs: the checks in their order, host-only and client-bearing packages, and every way in which an attempt can end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from placet.approval.outcome import Policy
from placet.cordis.answers import Answered, NotPending, Receipt, RunRefused, Stopped
from placet.cordis.vocabulary import AttemptStatus, HalfStatus, ReceiptStatus, RunRefusal
from placet.kernel.signal import AbortSignal
from placet.tools.tool import CallContext
from tests.cordis.world import AGENT, CLIENT, PANEL, CordisWorld, cordis_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[CordisWorld]:
    async with cordis_world(tmp_path) as world:
        yield world


async def test_i6_a_host_only_package_is_up_when_the_call_returns_and_asks_nobody(world: CordisWorld) -> None:
    package = await world.define("provides:clock handles:now")
    receipt = await world.run(package)
    assert isinstance(receipt, Receipt)
    assert receipt.json() == {
        "ok": True,
        "status": "running",
        "pluginId": "clock-1",
        "packageId": "pkg-1",
        "pluginRunId": "run-1",
        "mode": "run",
        "waitingFor": [],
        "currentPackageId": "pkg-1",
        "host": {"status": "running", "provides": ["clock"], "waitingFor": []},
        "client": {"status": "absent", "waitingFor": []},
    }
    assert await world.types() == [
        "cordis/defined", "cordis/requested", "cordis/started", "cordis/ready", "cordis/settled",
    ]  # fmt: skip
    assert await world.told() == []
    assert list(world.halves.living) == ["run-1"]


async def test_i8_a_client_bearing_package_waits_for_a_person_and_the_call_returns_at_once(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    receipt = await world.run(package)
    assert isinstance(receipt, Receipt) and receipt.status is ReceiptStatus.AWAITING_APPROVAL
    assert receipt.json() == {
        "ok": True,
        "status": "awaiting-approval",
        "pluginId": "clock-1",
        "packageId": "pkg-1",
        "pluginRunId": "run-1",
        "mode": "run",
        "waitingFor": [],
        "nextPackageId": "pkg-1",
    }
    assert world.halves.started == []


async def test_i12_consent_starts_the_host_half_and_a_verdict_makes_it_run(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    run = await world.asked(package)
    await world.consent(run)
    attempt = await world.until(run, AttemptStatus.CLIENT_PENDING)
    assert (attempt.host, attempt.client) == (HalfStatus.RUNNING, HalfStatus.PENDING)
    assert await world.cordis.verdict(run, ok=True, page="p")
    plugin = await world.plugin()
    assert (plugin.current, plugin.next, plugin.state) == ("pkg-1", None, "running")
    (told,) = await world.told()
    assert told["wake"] and "run-1" in told["text"] and "Current package: pkg-1" in told["text"]


async def test_i7_a_host_half_that_fails_refuses_the_call_and_keeps_the_pointers(world: CordisWorld) -> None:
    package = await world.define("fails")
    refused = await world.run(package)
    assert isinstance(refused, RunRefused) and refused.reason is RunRefusal.HOST_HALF_FAILED
    assert "NameError" in refused.message and "line 2, in apply" in refused.message
    plugin = await world.plugin()
    assert (plugin.current, plugin.next) == (None, "pkg-1")
    assert plugin.latest is not None and plugin.latest.status is AttemptStatus.FAILED
    assert plugin.latest.host is HalfStatus.FAILED
    assert world.halves.living == {}
    assert await world.told() == []


async def refusal(world: CordisWorld, **more: Any) -> RunRefused:
    """Run something that is refused, and make sure that nothing was written."""
    given = {"plugin": "clock-1", "package": "pkg-1", "mode": "run", "by": AGENT, "call": world.call(), **more}
    before = await world.store.head()
    answer = await world.cordis.run(world.session, **given)
    assert isinstance(answer, RunRefused), answer
    assert await world.store.head() == before
    return answer


def stopped_call(world: CordisWorld) -> CallContext:
    signal = AbortSignal()
    signal.abort("user")
    return world.call(signal=signal)


async def test_i1_the_checks_have_their_order(world: CordisWorld) -> None:
    world.halves.gate = anyio.Event()
    stopped = stopped_call(world)
    assert (await refusal(world, call=stopped)).reason is RunRefusal.PLUGIN_MISSING
    slow = await world.define("hangs")
    await world.define("ok", CLIENT, plugin="clock-1")
    assert (await refusal(world, package="pkg-9", mode="x", call=stopped)).reason is RunRefusal.PACKAGE_MISSING
    assert (await refusal(world, mode="update", call=stopped)).reason is RunRefusal.INVALID_MODE
    assert (await refusal(world, call=stopped)).reason is RunRefusal.CANCELLED
    async with anyio.create_task_group() as group:
        group.start_soon(world.run, slow)
        await world.halves.entered.wait()
        assert (await refusal(world, call=stopped)).reason is RunRefusal.TRANSITION_IN_FLIGHT
        world.halves.gate.set()
    await world.asked((await world.plugin()).packages[1], "update")
    assert (await refusal(world, call=stopped)).reason is RunRefusal.CANCELLED
    assert (await refusal(world)).reason is RunRefusal.TRANSITION_IN_FLIGHT


async def test_i2_the_mode_follows_from_what_is_current_and_a_wrong_one_names_the_right_one(
    world: CordisWorld,
) -> None:
    one, two = await world.define(), await world.define(plugin="clock-1")
    assert "Use mode 'run'" in (await refusal(world, mode="update")).message
    await world.run(one)
    assert "Use mode 'run'" in (await refusal(world, mode="update")).message
    assert "Use mode 'update'" in (await refusal(world, package="pkg-2", mode="run")).message
    assert "Use mode" in (await refusal(world, mode="RUN")).message
    assert isinstance(await world.run(two, "update"), Receipt)


async def test_i3_a_second_run_is_refused_while_one_waits_for_a_person_and_is_told_to_wait(
    world: CordisWorld,
) -> None:
    package = await world.define("ok", CLIENT)
    await world.asked(package)
    refused = await refusal(world)
    assert refused.reason is RunRefusal.TRANSITION_IN_FLIGHT and "Wait for the message" in refused.message


async def test_i5_every_accepted_run_has_a_new_id_and_moves_the_next_pointer(world: CordisWorld) -> None:
    one, two = await world.define(), await world.define("ok", CLIENT, plugin="clock-1")
    assert (await world.run(one)).run == "run-1"
    run = await world.asked(two, "update")
    plugin = await world.plugin()
    assert (run, plugin.next, plugin.current) == ("run-2", "pkg-2", "pkg-1")
    assert plugin.latest is not None and plugin.latest.run == run
    other = await world.define(prefix="other")
    assert (await world.run(other)).run == "run-3"


async def test_i9_the_request_outlives_the_turn(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    run = await world.asked(package)
    await world.append("turn/abort", {"turn": 1, "reason": "user", "by": PANEL}, "abort:1")
    await world.append("turn/end", {"turn": 1, "reason": {"kind": "aborted"}}, "end:1")
    assert isinstance(await world.consent(run), Answered)
    await world.until(run, AttemptStatus.CLIENT_PENDING)


async def test_i10_a_request_waits_without_limit_and_a_deadline_makes_it_cancelled(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, deadline=0.2) as world:
        run = await world.asked(await world.define("ok", CLIENT))
        attempt = await world.until(run, AttemptStatus.CANCELLED)
        assert attempt.detail == "expired"
        assert isinstance(await world.consent(run), NotPending)
        assert world.halves.started == []
        (told,) = await world.told()
        assert told["wake"] and "nobody decided" in told["text"]


async def test_i14_a_new_run_ends_the_old_one_first_and_a_failed_update_does_not_bring_it_back(
    world: CordisWorld,
) -> None:
    one, bad = await world.define(), await world.define("fails", plugin="clock-1")
    first = (await world.run(one)).run
    assert (await world.run(bad, "update")).reason is RunRefusal.HOST_HALF_FAILED
    plugin = await world.plugin()
    assert plugin.active is None and (plugin.current, plugin.next) == ("pkg-1", "pkg-2")
    stopped = await world.until_event(f"run-stopped:{first}")
    assert stopped.data["detail"] == "replaced"
    assert world.halves.most == {"clock-1": 1}


async def test_i19_success_moves_the_pointers_and_clears_the_error(world: CordisWorld) -> None:
    bad, good = await world.define("fails"), await world.define(plugin="clock-1")
    await world.run(bad)
    await world.run(good)
    plugin = await world.plugin()
    assert (plugin.current, plugin.next, plugin.state) == ("pkg-2", None, "running")
    assert plugin.latest is not None and plugin.latest.fault is None


async def test_i20_a_half_that_waits_for_a_service_counts_as_success_and_wakes(world: CordisWorld) -> None:
    receipt = await world.run(await world.define("waits:weather handles:now"))
    assert (receipt.status, receipt.json()["waitingFor"]) == (ReceiptStatus.WAITING, ["weather"])
    world.halves.living[receipt.run].wake()
    attempt = await world.until(receipt.run, AttemptStatus.RUNNING)
    assert attempt.offer.handlers == ("now",) and attempt.waiting_for == ()


async def test_a_half_that_changes_its_mind_without_end_is_written_down_a_few_times_a_second(
    world: CordisWorld,
) -> None:
    run = (await world.run(await world.define("waits:weather"))).run
    half = world.halves.living[run]
    for n in range(200):
        half.waiting_for = (f"weather-{n}",)
        half._changed()
        await anyio.lowlevel.checkpoint()
    half.wake()
    attempt = await world.until(run, AttemptStatus.RUNNING)
    assert attempt.waiting_for == ()
    assert (await world.types()).count("cordis/changed") < 10


async def test_i20_a_client_half_that_waits_makes_the_run_wait(world: CordisWorld) -> None:
    run = await world.up(await world.define("ok", CLIENT), waiting_for=["theme"])
    attempt = await world.attempt(run)
    assert (attempt.status, attempt.waiting_for, attempt.client) == ("waiting", ("theme",), "waiting")
    assert "waits for: theme" in (await world.told())[-1]["text"]


async def test_i28_running_the_current_package_again_restarts_it_and_rolls_back_a_failed_update(
    world: CordisWorld,
) -> None:
    one, bad = await world.define(), await world.define("fails", plugin="clock-1")
    await world.run(one)
    await world.run(bad, "update")
    again = await world.run(one)
    plugin = await world.plugin()
    assert (again.run, plugin.current, plugin.next, plugin.state) == ("run-3", "pkg-1", None, "running")


async def test_a_client_only_package_needs_no_process(world: CordisWorld) -> None:
    run = await world.up(await world.define(None, CLIENT))
    attempt = await world.attempt(run)
    assert (attempt.status, attempt.host, attempt.client) == ("running", "absent", "running")
    assert world.halves.started == []
    stopped = await world.cordis.stop(world.session, attempt.plugin, by=AGENT, told=False)
    assert stopped == Stopped(attempt.plugin, True)


async def test_j11_under_never_what_needs_a_person_is_refused_at_once_and_host_only_still_runs(
    world: CordisWorld,
) -> None:
    await world.define("ok", CLIENT)
    refused = await refusal(world, policy=Policy.NEVER)
    assert refused.reason is RunRefusal.REJECTED and "never asks anybody" in refused.message
    await world.append("approval/policy", {"policy": "never", "by": PANEL}, "policy:1")
    assert (await refusal(world)).reason is RunRefusal.REJECTED
    host_only = await world.define(plugin="clock-1")
    assert isinstance(await world.run(host_only), Receipt)


async def test_a_stop_of_the_turn_cancels_the_start_that_its_call_waits_for(world: CordisWorld) -> None:
    world.halves.gate = anyio.Event()
    package, signal, answers = await world.define("hangs"), AbortSignal(), []

    async def run() -> None:
        answers.append(await world.run(package, call=world.call(signal=signal)))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await world.halves.entered.wait()
        signal.abort("user")
    (answer,) = answers
    assert answer.reason is RunRefusal.CANCELLED
    assert (await world.attempt("run-1")).detail == "turn-stopped"
    assert world.halves.living == {} and await world.told() == []


async def test_i29_a_panel_run_is_told_without_waking_and_its_key_makes_a_repetition_harmless(
    world: CordisWorld,
) -> None:
    package = await world.define()
    first = await world.cordis.run(world.session, package.plugin, package.id, "run", by=PANEL, key="k")
    again = await world.cordis.run(world.session, package.plugin, package.id, "run", by=PANEL, key="k")
    assert isinstance(first, Receipt) and isinstance(again, Receipt) and first.run == again.run
    (told,) = await world.told()
    assert not told["wake"] and told["text"].startswith("The user started pkg-1 from the plugins panel.")
    assert told["source"] == {"kind": "plugin", "name": "clock-1"}
