"""What the agent is told where a person names a plugin."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.cordis.definition import Package
from placet.cordis.registry import Plugin
from placet.cordis.tools.reference import References, named
from placet.cordis.vocabulary import PackageId, PluginId
from placet.session.ids import SessionId

pytestmark = pytest.mark.anyio

HERE, ELSEWHERE = SessionId("s-here"), SessionId("s-elsewhere")


def plugin(**more: object) -> Plugin:
    id = PluginId("tally-1")
    packages = tuple(
        Package(PackageId(f"pkg-{number}"), id, f"Tally {number}", "Counts.", True, False, "d", number, 1, "1.1.0")
        for number in (1, 2, 3)
    )
    return Plugin(id, HERE, packages, **more)  # type: ignore[arg-type]


async def told(text: str, *plugins: Plugin) -> list[str]:
    async def own(session: SessionId) -> Iterable[Plugin]:
        return [one for one in plugins if one.session == session]

    return list(await References(own)(HERE, [text]))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("make @tally-1 blue", ["tally-1"]),
        ("@tally-1, and @files-22.", ["tally-1", "files-22"]),
        ("(@tally-1) @tally-1", ["tally-1"]),
        ("看@tally-1。", ["tally-1"]),
        ("tally-1", []),
        ("@tally", []),
        ("@tally-1x @tally-1-2 @tally-1_", []),
        ("me@tally-1", []),
        ("@to-1 @toolong-1 @Tally-1", []),
    ],
)
def test_o13_whole_words_of_an_at_sign_and_an_id_are_references_each_once(text: str, ids: list[str]) -> None:
    assert named([text]) == ids


@given(st.lists(st.text("@abc-12 _.é"), max_size=4))
def test_o13_any_text_can_be_read(texts: list[str]) -> None:
    assert all(f"@{id}" in text for id in named(texts) for text in [" ".join(texts)])


async def test_o13_h14_the_agent_hears_the_state_the_base_and_what_to_do_but_no_code() -> None:
    (text,) = await told("make @tally-1 blue", plugin(current=PackageId("pkg-1")))
    facts = json.loads(text.split("\n")[1])
    assert facts["pluginId"] == "tally-1" and facts["currentPackageId"] == "pkg-1" and facts["state"] == "defined"
    assert facts["basePackage"]["packageId"] == "pkg-1"
    assert "code" not in facts and "nextPackageId" not in facts
    for words in ("cordis_inspect_self", "same plugin", '"run" or "update"', "Never make another plugin"):
        assert words in text


@pytest.mark.parametrize(
    ("pointers", "base"),
    [
        ({"current": PackageId("pkg-1"), "next": PackageId("pkg-2")}, "pkg-2"),
        ({"current": PackageId("pkg-1")}, "pkg-1"),
        ({}, "pkg-3"),
    ],
)
async def test_h14_the_base_is_the_next_package_else_the_current_else_the_last(
    pointers: dict[str, object], base: str
) -> None:
    (text,) = await told("@tally-1", plugin(**pointers))
    assert json.loads(text.split("\n")[1])["basePackage"]["packageId"] == base


async def test_o13_h6_a_plugin_that_is_gone_or_of_another_session_is_unavailable_and_the_user_is_to_hear_it() -> None:
    other = Plugin(PluginId("tally-1"), ELSEWHERE, plugin().packages)
    (text,) = await told("@tally-1", other)
    assert "no such plugin" in text and "Tell the user" in text and "Do not make another plugin" in text
    assert await told("@tally-1") == [text]


async def test_o13_a_message_that_names_nothing_brings_nothing() -> None:
    assert await told("hello", plugin()) == []
