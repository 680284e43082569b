"""What the agent sees of the house and of its own plugins, and that looking changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.testing.models import Say, ScriptedModel, call
from tests.cordis.tools.house import House, house, value_of
from tests.cordis.tools.test_acting import BROKEN, CLIENT, HOST

pytestmark = pytest.mark.anyio


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as home:
        yield home


async def state(home: House) -> str:
    listed = value_of(await home.call("cordis_inspect_self"))
    return str(listed["plugins"][0]["state"])


async def test_n2_n9_the_list_and_the_client_side_are_answered_while_no_page_is_open(home: House) -> None:
    providers = value_of(await home.call("cordis_inspect_list"))["providers"]
    assert [each["id"] for each in providers if each["platform"] == "host"] == ["Service", "Event", "Builtin", "Tool"]
    assert {each["platform"] for each in providers} == {"host", "client"}
    answer = value_of(
        await home.call("cordis_inspect_query", platform="client", provider="Slots", method="listSubTree")
    )
    assert {"platform", "provider", "method", "data"} == set(answer) and answer["data"]["slots"]


async def test_n6_the_tools_of_a_running_plugin_are_among_those_that_the_agent_can_call(home: House) -> None:
    async def tools() -> dict[str, str | None]:
        asked = await home.call("cordis_inspect_query", platform="host", provider="Tool", method="listTools")
        return {each["name"]: each.get("package") for each in value_of(asked)["data"]["tools"]}

    await home.define(HOST)
    assert "bash" in await tools() and "tally-1.count" not in await tools()
    await home.run("tally-1", "pkg-1")
    assert (await tools())["tally-1.count"] is not None


async def test_n4_a_service_of_another_plugin_is_listed_while_that_runs(home: House) -> None:
    async def keys() -> list[str]:
        asked = await home.call("cordis_inspect_query", platform="host", provider="Service", method="listService")
        return [each["key"] for each in value_of(asked)["data"]["entries"]]

    await home.define('async def apply(ctx):\n    ctx.provide("clock", {"now": lambda: 1})\n')
    assert "clock" not in await keys()
    await home.run("tally-1", "pkg-1")
    assert "clock" in await keys()


@pytest.mark.parametrize(
    ("provider", "method", "reason"),
    [("Nothing", "list", "provider-missing"), ("Service", "list", "method-missing")],
)
async def test_n11_what_nobody_can_answer_is_an_error_at_once(
    home: House, provider: str, method: str, reason: str
) -> None:
    result = await home.call("cordis_inspect_query", platform="host", provider=provider, method=method)
    assert result.data["isError"] and result.data["code"] == reason


async def test_n8_an_input_that_does_not_fit_is_an_error_that_says_why(home: House) -> None:
    result = await home.call(
        "cordis_inspect_query", platform="host", provider="Event", method="listEvents", input={"event": 1}
    )
    assert result.data["code"] == "invalid-input" and "event" in result.data["text"]


async def test_n12_a_package_needs_its_plugin_and_code_is_shown_for_both_ids_only(home: House) -> None:
    await home.define(HOST, CLIENT)
    assert (await home.call("cordis_inspect_self", packageId="pkg-1")).data["code"] == "INVALID_ARGUMENTS"
    listed = await home.call("cordis_inspect_self")
    one = await home.call("cordis_inspect_self", pluginId="tally-1")
    assert "async def apply" not in listed.data["text"] + one.data["text"]
    assert value_of(listed) == {
        "mode": "plugins",
        "plugins": [{"pluginId": "tally-1", "name": "Tally", "packageCount": 1, "state": "defined"}],
    }
    (package,) = value_of(one)["packages"]
    assert package == {
        "packageId": "pkg-1",
        "name": "Tally",
        "purpose": "Counts.",
        "hasHostHalf": True,
        "hasClientHalf": True,
        "isCurrent": False,
        "isNext": False,
    }
    both = value_of(await home.call("cordis_inspect_self", pluginId="tally-1", packageId="pkg-1"))
    assert both["mode"] == "package" and both["code"] == {"host": HOST, "client": CLIENT}
    assert both["runtime"]["state"] == "defined" and both["runtime"]["host"]["status"] == "stopped"
    missing = await home.call("cordis_inspect_self", pluginId="tally-1", packageId="pkg-2")
    assert missing.data["code"] == "package-missing"


async def test_n12_the_code_is_given_back_as_it_was_written(home: House) -> None:
    host = 'async def apply(ctx):\n    ctx.log("\\\\ \\u2028 é 看")\n'
    await home.define(host)
    both = value_of(await home.call("cordis_inspect_self", pluginId="tally-1", packageId="pkg-1"))
    assert both["code"] == {"host": host}


async def test_n13_looking_appends_nothing_about_plugins(home: House) -> None:
    await home.define(HOST, CLIENT)
    await home.run("tally-1", "pkg-1")
    before = await home.placet.cordis.plugins(home.session)
    for given in ({}, {"pluginId": "tally-1"}, {"pluginId": "tally-1", "packageId": "pkg-1"}):
        await home.call("cordis_inspect_self", **given)
    assert await home.placet.cordis.plugins(home.session) == before


async def test_n14_the_state_is_the_real_one_at_every_turn_of_events(home: House) -> None:
    await home.define(HOST, CLIENT)
    assert await state(home) == "defined"
    await home.run("tally-1", "pkg-1")
    assert await state(home) == "awaiting-approval"
    pending = value_of(await home.call("cordis_inspect_self"))["plugins"][0]["pendingApproval"]
    assert pending == {"pluginRunId": "run-1", "packageId": "pkg-1", "mode": "run"}
    await home.call("cordis_stop", pluginId="tally-1")
    assert await state(home) == "cancelled"
    await home.run("tally-1", "pkg-1")
    await home.answer("run-2", None)
    assert await state(home) == "rejected"
    await home.define(HOST, again="tally-1")
    await home.run("tally-1", "pkg-2")
    assert await state(home) == "running"
    await home.run("tally-1", "pkg-1", "update")
    await home.answer("run-4", None)
    assert await state(home) == "running"
    one = value_of(await home.call("cordis_inspect_self", pluginId="tally-1"))
    assert one["currentPackageId"] == "pkg-2" and one["nextPackageId"] == "pkg-1"
    assert one["latestRun"]["status"] == "rejected" and one["activeRun"]["packageId"] == "pkg-2"
    await home.run("tally-1", "pkg-2")
    await home.call("cordis_stop", pluginId="tally-1")
    assert await state(home) == "stopped"


async def test_n14_a_failure_is_shown_with_its_phase_and_message(home: House) -> None:
    await home.define(BROKEN)
    await home.run("tally-1", "pkg-1")
    assert await state(home) == "failed"
    both = value_of(await home.call("cordis_inspect_self", pluginId="tally-1", packageId="pkg-1"))
    host = both["runtime"]["host"]
    assert host["status"] == "failed" and host["error"]["phase"] == "host-apply"
    assert "ctx.file is not there" in host["error"]["message"]


async def test_every_agent_is_offered_the_seven_tools(home: House) -> None:
    model = ScriptedModel([Say("hm")])
    await home.send("look")
    await home.work(model)
    names = [tool.name for tool in model.requests[0].tools]
    assert [name for name in names if name.startswith("cordis_")] == [
        "cordis_inspect_list",
        "cordis_inspect_query",
        "cordis_inspect_self",
        "cordis_define",
        "cordis_run",
        "cordis_stop",
        "cordis_undefine",
    ]


async def test_b23_the_tool_of_a_plugin_is_offered_with_the_next_request_and_gone_after_the_stop(home: House) -> None:
    await home.define(HOST)
    arguments = {"pluginId": "tally-1", "packageId": "pkg-1"}
    steps = [
        Say("", (call("cordis_run", **arguments, mode="run"),)),
        Say("", (call("tally-1.count"),)),
        Say("", (call("cordis_stop", pluginId="tally-1"),)),
        Say("done"),
    ]
    model = ScriptedModel(steps)
    await home.send("go")
    await home.work(model)
    offered = ["tally-1.count" in [tool.name for tool in request.tools] for request in model.requests]
    assert offered == [False, True, True, False]
    assert not any(event.data["isError"] for event in await home.of("tool/result"))
