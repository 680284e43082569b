"""The rehearsal's tour against the real thing: its code is defined, runs, and does what it says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.agent.model.rehearsal import Rehearsal
from placet.cordis.vocabulary import PluginId, RunId
from tests.cordis.tools.house import House, house

pytestmark = pytest.mark.anyio


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as home:
        yield home


async def rehearse(home: House, text: str | None = None) -> str:
    """Say something to the rehearsal, or let it hear what has come meanwhile; returns its last words."""
    if text is not None:
        await home.send(text)
    await home.work(Rehearsal(pace=0))
    return str((await home.of("assistant/message"))[-1].data["text"])


async def agreed(home: House, run: str, width: str = "package") -> None:
    """Consent, and be the page that loads the client half."""
    await home.answer(run, width)
    await home.wait_for("cordis/ready", run=run)
    assert await home.placet.cordis.verdict(RunId(run), ok=True, page="p")


async def errors(home: House) -> list[str]:
    return [event.data["text"] for event in await home.of("tool/result") if event.data["isError"]]


async def test_the_tour_ends_at_the_card_with_a_tool_that_worked(home: House) -> None:
    last = await rehearse(home, "plugin")
    assert await errors(home) == []
    assert "`files-2/pkg-2` has code for your page, so it waits for you" in last
    (counted,) = [event for event in await home.of("tool/result") if event.data["name"] == "tally-1.count"]
    assert counted.data["value"] == {".md": 2, ".txt": 1}
    assert [event.data["plugin"] for event in await home.of("cordis/started")] == ["tally-1"]


async def test_after_a_consent_the_view_has_its_number_and_an_update_takes_its_place(home: House) -> None:
    await rehearse(home, "plugin")
    await agreed(home, "run-2")
    assert "runs" in await rehearse(home)
    assert await home.placet.cordis.invoke(PluginId("files-2"), RunId("run-2"), "count", None) == 3
    assert "waits for you" in await rehearse(home, "plugin update")
    await agreed(home, "run-3", "future")
    await rehearse(home)
    (plugin,) = [one for one in await home.placet.cordis.plugins(home.session) if one.id == "files-2"]
    assert plugin.current == "pkg-3" and plugin.future
    assert await home.placet.cordis.invoke(PluginId("files-2"), RunId("run-3"), "count", None) == 3
    assert "without a card" in await rehearse(home, "plugin update")
    assert await errors(home) == []


async def test_after_a_decline_the_rehearsal_leaves_it_at_that(home: House) -> None:
    await rehearse(home, "plugin")
    await home.answer("run-2", None, feedback="No.")
    assert "do not ask again" in await rehearse(home)
    assert len(await home.of("cordis/requested")) == 2


async def test_o14_a_version_with_a_slip_is_repaired_and_the_new_bytes_get_a_card_of_their_own(home: House) -> None:
    assert "waits for you" in await rehearse(home, "plugin broken")
    await home.answer("run-1", "package")
    await home.wait_for("cordis/settled", run="run-1", status="failed")
    assert "waits for you" in await rehearse(home)
    (plugin,) = await home.placet.cordis.plugins(home.session)
    assert [package.id for package in plugin.packages] == ["pkg-1", "pkg-2"]
    await agreed(home, "run-2")
    assert "runs" in await rehearse(home)


async def test_under_never_the_tour_says_why_its_view_does_not_come(tmp_path: Path) -> None:
    async with house(tmp_path, preset="danger-full-access") as home:
        last = await rehearse(home, "plugin")
        assert "did not go through" in last and "never asks" in last
