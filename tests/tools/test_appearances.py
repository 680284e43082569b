"""What a call has made and other programs of the person run stands beside its result, and never in the way of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.cli.report import appeared
from placet.sandbox.mode import SandboxMode
from placet.sandbox.workspace.watch import Watches
from placet.tools import BashTool, ToolOutput
from placet.tools.appearances import Appearances
from tests.tools.test_bash import run, sandbox_at
from tests.tools.world import Probe, ToolWorld, tool_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def bash(tmp_path: Path) -> AsyncIterator[ToolWorld]:
    """A session whose commands run unconfined, and are watched."""
    sandbox = sandbox_at(tmp_path)
    async with tool_world(tmp_path, BashTool(sandbox, confines=lambda: True)) as world:
        await world.set_mode(SandboxMode.DANGER_FULL_ACCESS)
        world.stages.on_around(Appearances(sandbox.watches))
        yield world


async def test_11_the_result_names_what_other_programs_run(bash: ToolWorld) -> None:
    assert "appeared" not in (await run(bash, "echo x > harmless"))["meta"]
    result = await run(bash, "mkdir 'a b'; echo all: > 'a b/Makefile'; echo x > \"$(printf 'odd\\xff.pth')\"; exit 3")
    assert result["value"]["exitCode"] == 3
    assert result["meta"]["appeared"] == [
        {"path": "odd\\udcff.pth", "kind": "python", "why": "Python runs it at every start in that environment"},
        {"path": "a b/Makefile", "kind": "make", "why": "make runs it"},
    ]
    lines = appeared(result["meta"], "s-1")
    assert lines[0] == "Made or changed by this call: files that other programs of yours will run"
    assert lines[2] == "  a b/Makefile: make runs it"
    assert "placet session move-away s-1" in lines[-1]
    assert "Makefile" not in result["text"]


async def test_what_a_job_makes_meanwhile_stands_beside_a_later_call(tmp_path: Path) -> None:
    def body(args: dict[str, Any], _: object) -> ToolOutput:
        if args["what"] == "later":
            return ToolOutput("")
        return ToolOutput("", {"kind": "background", "jobId": "j-1"})

    async with tool_world(tmp_path, Probe(body)) as world:
        world.stages.on_around(Appearances(Watches()))
        assert "appeared" not in (await world.call(what="start")).data["meta"]
        (world.folder / ".envrc").write_text("id")
        later = await world.call(what="later")
        assert [one["path"] for one in later.data["meta"]["appeared"]] == [".envrc"]
        assert "appeared" not in (await world.call(what="later")).data["meta"]


async def test_a_look_that_fails_costs_the_result_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    async with tool_world(tmp_path) as world:
        watches = Watches()
        world.stages.on_around(Appearances(watches))
        monkeypatch.setattr("placet.sandbox.workspace.watch.findings", fails)
        assert (await world.call(what="x")).data["text"] == "did x"
        monkeypatch.setattr(watches, "begin", fails)
        assert (await world.call(what="x")).data["text"] == "did x"
