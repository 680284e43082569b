"""Names of tools on the way to a vendor and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.agent.model import AssistantTurn, ModelCall, ModelRequest, Reply, ToolReturn, ToolSpec, UserTurn
from placet.agent.model.names import Names, wire_name
from placet.agent.model.vendor import VendorModel
from placet.testing.openai_server import Answer, OpenAIServer

TAKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")
NAMES = st.one_of(
    st.text(max_size=80), st.text("ab.-_", max_size=12), st.from_regex(r"[a-z]{3,6}-[0-9]{1,4}\.[a-z_-]{1,40}")
)


@pytest.mark.parametrize("name", ["bash", "cordis_define", "a-b", "job_output"])
def test_a_name_that_vendors_take_travels_as_it_is(name: str) -> None:
    assert wire_name(name) == name


def test_k7_the_tool_of_a_plugin_travels_with_two_hyphens_for_its_dot() -> None:
    assert wire_name("tally-1.count") == "tally-1--count"


@given(names=st.sets(NAMES, max_size=8))
def test_names_of_any_kind_are_taken_by_vendors_and_come_back(names: set[str]) -> None:
    there = Names(names)
    assert all(TAKEN.fullmatch(wire_name(name)) for name in names)
    assert {there.own_name(wire_name(name)) for name in names} == names


@given(name=NAMES, other=NAMES)
def test_two_names_never_meet(name: str, other: str) -> None:
    assert (wire_name(name) == wire_name(other)) == (name == other)


def test_a_name_that_nobody_named_before_is_read_as_what_it_stands_for() -> None:
    assert Names(()).own_name("gone-7--count") == "gone-7.count"


@pytest.mark.anyio
async def test_k7_a_model_calls_the_tool_of_a_plugin_by_its_own_name() -> None:
    tool = ToolSpec("tally-1.count", "Counts.", {"type": "object", "properties": {}})
    earlier = AssistantTurn("", (ModelCall("call_1_1_0", "tally-1.count", "{}"),))
    history = (UserTurn("count"), earlier, ToolReturn("call_1_1_0", "tally-1.count", "3"), UserTurn("again"))
    answer = Answer("", (ModelCall("c1", "tally-1--count", "{}"),))
    async with OpenAIServer([answer]) as server:
        environment = {"OPENAI_API_KEY": "sk-nothing", "OPENAI_BASE_URL": server.address}
        model = VendorModel("openai", "some-model", environment=environment)
        replies = [
            piece async for piece in model.stream(ModelRequest("", history, (tool,))) if isinstance(piece, Reply)
        ]
    assert [call.name for call in replies[0].calls] == ["tally-1.count"]
    sent = server.requests[0]
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["tally-1--count"]
    said = next(message for message in sent["messages"] if message["role"] == "assistant")
    assert [call["function"]["name"] for call in said["tool_calls"]] == ["tally-1--count"]
