"""define, run, stop and undefine, as an agent calls them: through the pipeline, with real halves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.cordis.tools import SECTION
from placet.cordis.vocabulary import RunId
from placet.testing.models import Say, ScriptedModel
from tests.cordis.tools.house import House, house, value_of

pytestmark = pytest.mark.anyio

HOST = """\
inject = ["files"]

async def apply(ctx):
    async def count(args):
        return len((await ctx.files.list())["entries"])

    harness.tool("count", "Counts.", {"type": "object", "properties": {}}, count)
    harness.handle("count", count)
"""
CLIENT = 'return { apply(ctx) { ctx.get("slots"); } };'
BROKEN = "async def apply(ctx):\n    await ctx.file.list()\n"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as home:
        yield home


async def test_h3_o12_define_gives_the_ids_and_runs_nothing(home: House) -> None:
    result = await home.define(HOST, CLIENT)
    assert value_of(result) == {
        "pluginId": "tally-1",
        "packageId": "pkg-1",
        "name": "Tally",
        "purpose": "Counts.",
        "hasHostHalf": True,
        "hasClientHalf": True,
    }
    assert result.data["meta"] == {"pluginId": "tally-1", "packageId": "pkg-1"}
    assert "does not run yet" in result.data["text"]
    assert await home.of("cordis/requested") == [] and await home.of("approval/asked") == []


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"plugin": {"kind": "new", "idPrefix": "ab"}}, "3 to 6 lowercase letters"),
        ({"plugin": {"kind": "existing", "pluginId": "tally-9"}}, "tally-9"),
        ({"name": " "}, "the name is empty"),
        ({"purpose": ""}, "the purpose is empty"),
        ({"code": {}}, "there is no code"),
        ({"code": {"host": " "}}, "the host half is empty"),
        ({"code": {"host": "async def apply(ctx:\n    pass"}}, "line 1"),
        ({"code": {"host": "# " + "x" * (512 * 1024)}}, "524288 are allowed"),
    ],
)
async def test_h4_a_refused_define_says_what_is_wrong_and_uses_up_no_number(
    home: House, wish: dict[str, Any], says: str
) -> None:
    refused = await home.define(HOST, **wish)
    assert refused.data["isError"] and says in refused.data["text"]
    assert value_of(await home.define(HOST))["pluginId"] == "tally-1"


async def test_a_define_of_another_shape_never_reaches_the_plugins(home: House) -> None:
    refused = await home.call("cordis_define", plugin={"kind": "new"}, name="x", purpose="y", code={})
    assert refused.data["code"] == "INVALID_ARGUMENTS"


async def test_i6_a_host_only_package_runs_inside_of_the_call_and_gives_the_agent_its_tool(home: House) -> None:
    await home.define(HOST)
    result = await home.run("tally-1", "pkg-1")
    assert value_of(result) == {
        "ok": True,
        "status": "running",
        "pluginId": "tally-1",
        "packageId": "pkg-1",
        "pluginRunId": "run-1",
        "mode": "run",
        "waitingFor": [],
        "currentPackageId": "pkg-1",
        "host": {"status": "running", "provides": [], "waitingFor": []},
        "client": {"status": "absent", "waitingFor": []},
    }
    assert result.data["meta"] == {"pluginId": "tally-1", "packageId": "pkg-1", "pluginRunId": "run-1"}
    counted = await home.call("tally-1.count")
    assert counted.data["value"] == 3 and counted.data["meta"]["plugin"] == "tally-1"
    assert await home.of("approval/asked") == []


async def test_i8_a_package_for_the_page_returns_the_founding_receipt_at_once(home: House) -> None:
    await home.define(HOST, CLIENT)
    result = await home.run("tally-1", "pkg-1")
    assert value_of(result) == {
        "ok": True,
        "status": "awaiting-approval",
        "pluginId": "tally-1",
        "packageId": "pkg-1",
        "pluginRunId": "run-1",
        "mode": "run",
        "waitingFor": [],
        "nextPackageId": "pkg-1",
    }
    assert "awaits the user's approval" in result.data["text"] and not result.data["isError"]
    assert await home.of("cordis/started") == []


async def test_j3_i24_after_a_consent_the_outcome_wakes_the_agent_and_the_same_package_starts_without_a_card(
    home: House,
) -> None:
    await home.define(HOST, CLIENT)
    await home.run("tally-1", "pkg-1")
    await home.answer("run-1", "package")
    await home.wait_for("cordis/ready", run="run-1")
    assert await home.placet.cordis.verdict(RunId("run-1"), ok=True, page="p")
    await home.work(ScriptedModel([Say("good")]))
    assert any("pkg-1 of plugin tally-1" in text and "is running" in text for text in await home.heard())
    again = await home.run("tally-1", "pkg-1")
    assert value_of(again)["status"] == "starting" and "no success yet" in again.data["text"]


async def test_i21_after_a_decline_the_agent_hears_it_with_the_note(home: House) -> None:
    await home.define(HOST, CLIENT)
    await home.run("tally-1", "pkg-1")
    await home.answer("run-1", None, feedback="Not on a Friday.")
    await home.work(ScriptedModel([Say("I see")]))
    (told,) = await home.heard()
    assert "declined" in told and "Not on a Friday." in told and "Do not ask for it again" in told


async def test_i7_a_host_half_that_fails_is_a_refusal_with_its_reason_and_its_message(home: House) -> None:
    await home.define(BROKEN)
    result = await home.run("tally-1", "pkg-1")
    assert result.data["isError"] and result.data["code"] == "host-half-failed"
    assert "ctx.file is not there" in result.data["text"]
    assert result.data["meta"] == {
        "pluginId": "tally-1",
        "packageId": "pkg-1",
        "pluginRunId": "run-1",
        "reason": "host-half-failed",
    }


@pytest.mark.parametrize(
    ("plugin", "package", "mode", "reason"),
    [
        ("tally-9", "pkg-1", "run", "plugin-missing"),
        ("tally-1", "pkg-9", "run", "package-missing"),
        ("tally-1", "pkg-1", "update", "invalid-mode"),
        ("tally-1", "pkg-1", "restart", "invalid-mode"),
    ],
)
async def test_i1_what_cannot_be_run_is_refused_with_the_word_of_the_contract(
    home: House, plugin: str, package: str, mode: str, reason: str
) -> None:
    await home.define(HOST)
    result = await home.run(plugin, package, mode)
    assert result.data["code"] == reason and result.data["isError"]
    assert await home.of("cordis/requested") == []


async def test_i3_a_second_run_while_one_waits_is_refused_and_told_to_wait_for_the_message(home: House) -> None:
    await home.define(HOST, CLIENT)
    await home.run("tally-1", "pkg-1")
    result = await home.run("tally-1", "pkg-1")
    assert result.data["code"] == "transition-in-flight" and "message" in result.data["text"]


async def test_j11_under_never_a_package_for_the_page_is_refused_at_once(tmp_path: Path) -> None:
    async with house(tmp_path, preset="danger-full-access") as home:
        await home.define(HOST, CLIENT)
        result = await home.run("tally-1", "pkg-1")
        assert result.data["code"] == "rejected" and "never asks" in result.data["text"]


async def test_i26_i27_stop_keeps_the_packages_and_an_idle_plugin_is_stopped_already(home: House) -> None:
    await home.define(HOST)
    await home.run("tally-1", "pkg-1")
    stopped = await home.call("cordis_stop", pluginId="tally-1")
    assert value_of(stopped) == {"pluginId": "tally-1"} and "is stopped" in stopped.data["text"]
    assert (await home.call("tally-1.count")).data["code"] == "UNKNOWN_TOOL"
    again = await home.call("cordis_stop", pluginId="tally-1")
    assert value_of(again) == {"pluginId": "tally-1"} and "is not running" in again.data["text"]
    assert value_of(await home.run("tally-1", "pkg-1"))["status"] == "running"


async def test_h10_undefine_stops_and_forgets(home: House) -> None:
    await home.define(HOST)
    await home.run("tally-1", "pkg-1")
    gone = await home.call("cordis_undefine", pluginId="tally-1")
    assert value_of(gone) == {"pluginId": "tally-1", "wasRunning": True}
    assert (await home.run("tally-1", "pkg-1")).data["code"] == "plugin-missing"
    assert (await home.call("cordis_undefine", pluginId="tally-1")).data["code"] == "plugin-missing"


async def test_h11_another_sessions_plugin_is_missing_for_every_tool(home: House) -> None:
    await home.define(HOST)
    other = await home.new_session()
    for result in (
        await home.run("tally-1", "pkg-1", session=other),
        await home.call("cordis_stop", other, pluginId="tally-1"),
        await home.call("cordis_undefine", other, pluginId="tally-1"),
        await home.call("cordis_inspect_self", other, pluginId="tally-1"),
    ):
        assert result.data["code"] == "plugin-missing", result.data
    assert value_of(await home.run("tally-1", "pkg-1"))["status"] == "running"


async def test_o9_o13_the_model_reads_the_section_and_what_the_person_refers_to(home: House) -> None:
    await home.define(HOST)
    model = ScriptedModel([Say("yes")])
    await home.send("make @tally-1 and @tally-7 faster")
    await home.work(model)
    (request,) = model.requests
    assert SECTION in request.instructions
    known, unknown = (await home.heard())[-2:]
    assert '"pluginId": "tally-1"' in known and "async def apply" not in known
    assert "@tally-7" in unknown and "no such plugin" in unknown
