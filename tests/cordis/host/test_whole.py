"""A host half in the whole placet: defined and run by the agent, asking a person, and a server that is killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.app.composition import open_placet
from placet.app.config import load
from placet.approval.outcome import Who, WhoKind
from placet.sandbox.linux import processes
from placet.session.ids import SessionId
from placet.session.verify import verify
from tests.cordis.tools.house import House, house, value_of

pytestmark = pytest.mark.anyio

ASKS = """
async def apply(ctx):
    async def wider(args):
        ran = await ctx.shell.run("grep Seccomp: /proc/self/status",
                                  sandbox_permissions="danger-full-access", justification="The plugin has to look.")
        return ran["stdout"]["text"].strip()
    harness.tool("wider", "Looks outside.", {"type": "object", "properties": {}}, wider)
"""
FAILS_LATER = """
async def apply(ctx):
    async def late():
        raise KeyError("no such thing")
    ctx.timer.every(0.2, late)
"""
ADA = Who(WhoKind.PERSON, "Ada", "ada")


async def answered(home: House, outcome: str) -> dict[str, Any]:
    """Answer the one open ask as a person does; returns what it was."""
    asked = await home.wait_for("approval/asked")
    said = await home.placet.inbox.answer(
        asked.data["id"], outcome=outcome, digest=asked.data["digest"], key="k", who=ADA, channel="page",
        evidence="signature", strength="page-key",
    )  # fmt: skip
    assert said is not None
    return dict(asked.data["subject"])


async def test_the_agents_own_plugin_asks_a_person_through_its_tool(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ids = value_of(await home.define(host=ASKS))
        ran = value_of(await home.run(ids["pluginId"], ids["packageId"]))
        assert (ran["status"], ran["host"]["status"]) == ("running", "running")
        subject: dict[str, Any] = {}

        async def answer() -> None:
            subject.update(await answered(home, "allowed-once"))

        async with anyio.create_task_group() as group:
            group.start_soon(answer)
            result = await home.call(f"{ids['pluginId']}.wider")
        assert (result.data["isError"], result.data["value"]) == (False, "Seccomp:\t0"), result.data["text"]
        assert subject["agent"].startswith(f"plugin {ids['pluginId']} of ")
        assert (subject["tool"], subject["toMode"], subject["call"]["position"]) == (
            "bash", "danger-full-access", 1000,
        )  # fmt: skip
        assert (await verify(home.placet.store)).well
        stopped = await home.call("cordis_stop", pluginId=ids["pluginId"])
        assert not stopped.data["isError"]
        assert home.placet.halves.living() == ()
        gone = await home.call(f"{ids['pluginId']}.wider")
        assert gone.data["code"] == "UNKNOWN_TOOL"


SERVER = """
import sys
from pathlib import Path
import anyio
from tests.cordis.tools.house import house, value_of
from tests.cordis.host.test_life import pythons
from tests.cordis.host.test_whole import ASKS
async def main():
    async with house(Path(sys.argv[1])) as home:
        ids = value_of(await home.define(host=ASKS))
        value_of(await home.run(ids["pluginId"], ids["packageId"]))
        [half] = home.placet.halves.living()
        async with anyio.create_task_group() as group:
            group.start_soon(home.call, ids["pluginId"] + ".wider")
            await home.wait_for("approval/asked")
            print(home.session, *pythons(half.pid), flush=True)
            await anyio.sleep_forever()
anyio.run(main)
"""


async def test_a_server_killed_while_a_plugins_card_is_open_recovers_by_the_table(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        words = (await anyio.to_thread.run_sync(server.stdout.readline)).split()
        session, pid = SessionId(words[0]), int(words[1])
        half = processes.look(pid)
        assert half is not None
        server.kill()
    environ = {"PLACET_HOME": str(tmp_path / "home"), "HOME": str(tmp_path / "account")}
    async with open_placet(load(environ, {}), kind="web") as placet:
        home = House(placet, session, tmp_path / "workspace")
        async with anyio.create_task_group() as group:
            group.start_soon(placet.crew.run)
            decided = await home.wait_for("approval/decided")
            assert (decided.data["outcome"], decided.data["detail"]) == ("cancelled", "asker-gone")
            await home.wait_for("turn/end", turn=3)
            await home.wait_for("cordis/stopped", detail="restart")
            group.cancel_scope.cancel()
        results = {
            event.data["position"]: event.data["code"]
            for event in await home.of("tool/result")
            if event.data["turn"] == 3
        }
        assert results == {0: "TOOL_OUTCOME_UNKNOWN", 1000: "TOOL_NOT_STARTED"}
        assert (await verify(placet.store)).well
        assert placet.halves.living() == ()
    assert processes.gone(half)


async def test_i31_what_fails_in_a_running_half_reaches_the_log_and_the_agent_once(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ids = value_of(await home.define(host=FAILS_LATER))
        ran = value_of(await home.run(ids["pluginId"], ids["packageId"]))
        told = await home.wait_for("cordis/diagnosed")
        assert (told.data["run"], told.data["phase"]) == (ran["pluginRunId"], "handler")
        assert "KeyError: 'no such thing'" in told.data["message"]
        assert len(home.placet.halves.living()) == 1
