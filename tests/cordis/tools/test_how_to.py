"""The code on the page `write-a-plugin.md` is defined, runs, and answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from placet.cordis.vocabulary import PluginId, RunId
from tests.cordis.tools.house import house, value_of

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "write-a-plugin.md"


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return str(found)


async def test_the_plugin_of_the_page_finds_what_is_left_to_do(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        defined = await home.define(block("python"), block("js"), name="To do")
        assert value_of(defined)["hasHostHalf"] and value_of(defined)["hasClientHalf"]
        await home.run("tally-1", "pkg-1")
        await home.answer("run-1", "package")
        await home.wait_for("cordis/ready", run="run-1")
        found = await home.placet.cordis.invoke(PluginId("tally-1"), RunId("run-1"), "todos", None)
        assert found == ["a.md: # TODO write", "c.txt: TODO read"]
        await home.placet.cordis.verdict(RunId("run-1"), ok=True, page="p")
        assert (await home.call("tally-1.todos")).data["value"] == found
