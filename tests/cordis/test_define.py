"""Define: everything is looked at before any number is used, and what is recorded never changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.cordis.answers import DefineRefused
from placet.cordis.definition import LARGEST, Code, Definition
from placet.cordis.running import defining
from placet.cordis.vocabulary import PluginId
from placet.session import Lease, SessionLog
from placet.testing.facts import new_session, yes
from tests.cordis.world import CLIENT, PANEL, CordisWorld, cordis_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[CordisWorld]:
    async with cordis_world(tmp_path) as world:
        yield world


async def refused(world: CordisWorld, **more: object) -> str:
    """Return why a definition is refused, after making sure that it left no trace."""
    given = {"name": "Clock", "purpose": "Show the time.", "host": "ok", "client": None, "prefix": "clock", **more}
    before = await world.store.head()
    answer = await world.cordis.define(world.call(), Definition(**given))  # type: ignore[arg-type]
    assert isinstance(answer, DefineRefused), answer
    assert await world.store.head() == before
    return answer.message


async def test_h3_name_and_purpose_are_trimmed_and_nothing_runs(world: CordisWorld) -> None:
    package = await world.define(name="  Clock ", purpose="\nShow the time.  ", prefix=" clock ")
    assert (package.id, package.plugin, package.name, package.purpose) == (
        "pkg-1", "clock-1", "Clock", "Show the time.",
    )  # fmt: skip
    assert (package.has_host, package.has_client) == (True, False)
    assert world.halves.started == []
    assert await world.types() == ["cordis/defined"]
    assert (await world.plugin()).state == "defined"


@pytest.mark.parametrize("prefix", ["ab", "abcdefg", "Clock", "clo1k", "clöck", "", "cl-ck", "clock\nx"])
async def test_h5_a_prefix_that_is_not_three_to_six_lowercase_letters_is_refused(
    world: CordisWorld, prefix: str
) -> None:
    assert "prefix" in await refused(world, prefix=prefix)


async def test_h3_an_empty_name_purpose_or_half_is_refused(world: CordisWorld) -> None:
    assert "name is empty" in await refused(world, name=" \n")
    assert "purpose is empty" in await refused(world, purpose="\t")
    assert "no code" in await refused(world, host=None)
    assert "host half is empty" in await refused(world, host="  \n")
    assert "client half is empty" in await refused(world, client="")


async def test_a_name_or_purpose_without_end_is_refused(world: CordisWorld) -> None:
    assert "120 are allowed" in await refused(world, name="x" * 121)
    assert "2000 are allowed" in await refused(world, purpose="x" * 2001)


async def test_both_halves_together_may_have_512_kibibytes(world: CordisWorld) -> None:
    half = "#" + "é" * (LARGEST // 4 - 1)
    await world.define(half, "#" + "x" * (LARGEST - len(half.encode()) - 1))
    assert "524288 are allowed" in await refused(world, host=half, client="#" + "x" * (LARGEST - len(half.encode())))


async def test_h4_a_refused_define_consumes_no_number(world: CordisWorld) -> None:
    await refused(world, host="syntax")
    await refused(world, prefix="x")
    assert (await world.define()).id == "pkg-1"
    await refused(world, host="syntax", prefix=None, plugin=PluginId("clock-1"))
    second = await world.define(plugin="clock-1")
    assert (second.plugin, second.id) == ("clock-1", "pkg-2")
    third = await world.define(prefix="other")
    assert (third.plugin, third.id) == ("other-2", "pkg-3")


async def test_h4_a_session_has_so_many_plugins_and_a_plugin_so_many_packages(
    world: CordisWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(defining, "PLUGINS", 2)
    monkeypatch.setattr(defining, "PACKAGES", 3)
    await world.define()
    await world.define(prefix="other")
    assert "give its pluginId), or remove one" in await refused(world, prefix="third")
    await world.define(plugin="clock-1")
    await world.define(plugin="clock-1")
    said = await refused(world, prefix=None, plugin=PluginId("clock-1"))
    assert said.startswith("clock-1 has 3 packages already: run one of these")
    await world.cordis.undefine(world.session, PluginId("other-2"), by=PANEL, told=False)
    third = await world.define(prefix="third")
    assert (third.plugin, third.id) == ("third-3", "pkg-5")


async def test_h6_h11_another_sessions_plugin_is_as_missing_as_none(world: CordisWorld) -> None:
    await world.define()
    other = await new_session(world.store)
    lease = await world.store.acquire(other, "worker", yes)
    assert isinstance(lease, Lease)
    world.session, world.lease, world.log = other, lease, await SessionLog.open(world.store, other)
    foreign = await refused(world, prefix=None, plugin=PluginId("clock-1"))
    missing = await refused(world, prefix=None, plugin=PluginId("clock-9"))
    assert foreign.replace("clock-1", "X") == missing.replace("clock-9", "X")
    run = await world.cordis.run(other, PluginId("clock-1"), package="pkg-1", mode="run", by={}, call=world.call())  # type: ignore[arg-type]
    assert run.reason == "plugin-missing"  # type: ignore[union-attr]
    stop = await world.cordis.stop(other, PluginId("clock-1"), by={}, told=False)
    assert stop.reason == "plugin-missing"  # type: ignore[union-attr]


async def test_h7_every_define_adds_a_package_and_no_earlier_one_changes(world: CordisWorld) -> None:
    first = await world.define("ok one")
    second = await world.define("ok two", CLIENT, plugin="clock-1")
    plugin = await world.plugin()
    assert [package.id for package in plugin.packages] == [first.id, second.id]
    code = await world.cordis.code(plugin, first)
    assert code is not None and code.plain_host == "ok one"
    assert (plugin.current, plugin.next) == (None, None)


async def test_code_is_kept_as_it_was_written_whatever_is_in_it(world: CordisWorld) -> None:
    host, client = "ok # \\ \x00 \ud800 \u2028 é", "return {} // \u2029\\u2029"
    package = await world.define(host, client)
    code = await world.cordis.code(await world.plugin(), package)
    assert code is not None
    assert (code.plain_host, code.plain_client) == (host, client)
    assert package.digest == Code.of(host, client).digest == code.digest


async def test_the_same_call_defines_once(world: CordisWorld) -> None:
    call, definition = world.call(), Definition("Clock", "Show.", "ok", None, prefix="clock")
    first = await world.cordis.define(call, definition)
    assert await world.cordis.define(call, definition) == first
    assert (await world.define()).id == "pkg-2"


async def test_h10_a_plugin_that_was_removed_takes_no_more_packages(world: CordisWorld) -> None:
    await world.define()
    await world.cordis.undefine(world.session, PluginId("clock-1"), by={"kind": "agent", "name": "a"}, told=False)
    assert "no plugin clock-1" in await refused(world, prefix=None, plugin=PluginId("clock-1"))
    assert (await world.define()).plugin == "clock-2"
