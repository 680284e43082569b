"""Faults that other systems really had, tried through the tools of the agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.cordis.vocabulary import Phase, PluginId, RunId
from placet.testing.models import Say, ScriptedModel
from tests.cordis.tools.house import House, house, value_of

pytestmark = pytest.mark.anyio

CLIENT = "return { apply() {} };"


def version(number: int, *more: str) -> str:
    """A host half whose tool and whose method both tell its number; `more` are lines of `apply` behind it."""
    lines = "".join(f"    {line}\n" for line in more)
    return f"""\
async def apply(ctx):
    async def number(args):
        return {number}

    harness.tool("number", "Tells the version.", {{"type": "object", "properties": {{}}}}, number)
    harness.handle("number", number)
{lines}"""


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as home:
        yield home


async def agreed(home: House, run: str) -> None:
    await home.answer(run, "package")
    await home.wait_for("cordis/ready", run=run)


async def up(home: House, run: str) -> None:
    """Be the page in which the client half has come up; the agent reads of it."""
    assert await home.placet.cordis.verdict(RunId(run), ok=True, page="p")
    await home.work(ScriptedModel([Say("good")]))


async def told(home: House, run: str) -> tuple[Any, Any, Any]:
    """What tool, method and status say about the version."""
    by_tool = (await home.call("tally-1.number")).data["value"]
    by_method = await home.placet.cordis.invoke(PluginId("tally-1"), RunId(run), "number", None)
    seen = value_of(await home.call("cordis_inspect_self", pluginId="tally-1"))
    return by_tool, by_method, (seen["currentPackageId"], seen["activeRun"]["packageId"])


async def test_plg_01_tool_method_and_status_tell_the_same_version_after_every_step(home: House) -> None:
    await home.define(version(1), CLIENT)
    await home.define(version(2), CLIENT, again="tally-1")
    await home.run("tally-1", "pkg-1")
    await agreed(home, "run-1")
    await up(home, "run-1")
    assert await told(home, "run-1") == (1, 1, ("pkg-1", "pkg-1"))
    await home.run("tally-1", "pkg-2", "update")
    assert await told(home, "run-1") == (1, 1, ("pkg-1", "pkg-1"))
    await agreed(home, "run-2")
    await up(home, "run-2")
    assert await told(home, "run-2") == (2, 2, ("pkg-2", "pkg-2"))
    await home.call("cordis_stop", pluginId="tally-1")
    assert (await home.call("tally-1.number")).data["code"] == "UNKNOWN_TOOL"
    await home.run("tally-1", "pkg-1", "update")
    await home.wait_for("cordis/ready", run="run-3")
    await up(home, "run-3")
    assert await told(home, "run-3") == (1, 1, ("pkg-1", "pkg-1"))


@pytest.mark.parametrize(
    "wrong",
    ['raise ValueError("not today")', "import asyncio; await asyncio.sleep(3600)", "harness.tool(1, 2, 3, 4)"],
    ids=["raises", "hangs", "registers half"],
)
async def test_plg_07_a_new_version_that_does_not_start_leaves_no_mix_and_its_consent_is_kept(
    home: House, wrong: str
) -> None:
    await home.define(version(1), CLIENT)
    await home.run("tally-1", "pkg-1")
    await agreed(home, "run-1")
    await up(home, "run-1")
    await home.define(version(2, wrong), CLIENT, again="tally-1")
    await home.run("tally-1", "pkg-2", "update")
    await home.answer("run-2", "package")
    await home.wait_for("cordis/settled", run="run-2", status="failed")
    await home.work(ScriptedModel([Say("oh")]))
    heard = (await home.heard())[-1]
    assert "pkg-2 of plugin tally-1" in heard and "failed" in heard and "same plugin" in heard
    seen = value_of(await home.call("cordis_inspect_self", pluginId="tally-1"))
    assert seen["state"] == "failed" and "activeRun" not in seen and seen["latestRun"]["packageId"] == "pkg-2"
    assert (await home.call("tally-1.number")).data["code"] == "UNKNOWN_TOOL"
    assert value_of(await home.run("tally-1", "pkg-2", "update"))["status"] == "starting"
    await home.wait_for("cordis/settled", run="run-3", status="failed")
    assert value_of(await home.run("tally-1", "pkg-1"))["status"] == "starting"
    await home.wait_for("cordis/ready", run="run-4")


async def test_plg_07_a_browser_half_that_throws_ends_its_host_half_too(home: House) -> None:
    await home.define(version(1), CLIENT)
    await home.run("tally-1", "pkg-1")
    await agreed(home, "run-1")
    accepted = await home.placet.cordis.verdict(
        RunId("run-1"), ok=False, phase=Phase.CLIENT_APPLY, message="x is not defined", stack="at apply", page="p"
    )
    assert accepted
    await home.work(ScriptedModel([Say("oh")]))
    assert "x is not defined" in (await home.heard())[-1]
    assert (await home.call("tally-1.number")).data["code"] == "UNKNOWN_TOOL"
    seen = value_of(await home.call("cordis_inspect_self", pluginId="tally-1", packageId="pkg-1"))
    assert seen["runtime"]["client"]["error"]["message"] == "x is not defined"
    assert seen["runtime"]["host"]["status"] == "stopped"
