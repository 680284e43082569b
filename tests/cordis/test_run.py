"""Runs: the checks in their order, host-only and client-bearing packages, and every way in which an attempt can end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.cordis.answers import Receipt, RunRefused
from placet.cordis.vocabulary import AttemptStatus, HalfStatus, ReceiptStatus, RunRefusal
from tests.cordis.world import CLIENT, CordisWorld, cordis_world

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
