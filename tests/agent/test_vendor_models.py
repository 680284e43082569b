"""Real model classes against a small server on loopback that can fail in every way."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping

import anyio
import pytest

from placet.agent.errors import ModelError, UnknownModel
from placet.agent.model import (
    AssistantTurn,
    ModelCall,
    ModelRequest,
    Reply,
    TextDelta,
    ToolReturn,
    ToolSpec,
    UserTurn,
    default_model,
    model_named,
    offers,
)
from placet.agent.model.library import LARGEST_REPLY
from placet.agent.model.retry import Retries
from placet.agent.model.vendor import VendorModel
from placet.testing.openai_server import Answer, OpenAIServer

pytestmark = pytest.mark.anyio

BASH = ToolSpec("bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})
HELLO = ModelRequest("Be brief.", (UserTurn("hi"),), (BASH,))
KEY = "sk-this-is-a-secret-key"
VENDORS = ("openai", "deepseek")


def model(server: OpenAIServer, vendor: str = "openai") -> VendorModel:
    names = {"OPENAI_API_KEY": KEY, "DEEPSEEK_API_KEY": KEY}
    addresses = {"OPENAI_BASE_URL": server.address, "DEEPSEEK_BASE_URL": server.address}
    return VendorModel(vendor, "some-model", environment={**names, **addresses})


async def answered(model: VendorModel, request: ModelRequest = HELLO) -> tuple[str, Reply]:
    """What was streamed as text, and the reply."""
    text, reply = "", None
    async for piece in model.stream(request):
        if isinstance(piece, TextDelta):
            text += piece.text
        elif isinstance(piece, Reply):
            reply = piece
    assert reply is not None
    return text, reply


@pytest.mark.parametrize("vendor", VENDORS)
async def test_text_is_streamed_from_the_first_word_on(vendor: str) -> None:
    async with OpenAIServer([Answer("hello big world")]) as server:
        text, reply = await answered(model(server, vendor))
    assert (text, reply.text, reply.stop) == ("hello big world", "hello big world", "end")
    assert reply.usage == {"input": 10, "output": 5}


async def test_broken_json_arguments_are_kept_as_text() -> None:
    async with OpenAIServer([Answer("", (ModelCall("c1", "bash", '{"command": "a"'),))]) as server:
        _, reply = await answered(model(server))
    assert [call.arguments for call in reply.calls] == ['{"command": "a"']


async def test_calls_with_equal_ids_stay_two_calls() -> None:
    calls = (ModelCall("same", "bash", '{"command":"a"}'), ModelCall("same", "bash", '{"command":"b"}'))
    async with OpenAIServer([Answer("", calls)]) as server:
        _, reply = await answered(model(server))
    assert reply.calls == calls


async def test_anthropic_models_speak_their_own_dialect_through_the_same_port() -> None:
    said = ModelCall("toolu_1", "bash", '{"command": "ls"}')
    async with OpenAIServer([Answer("I look.", (said,))]) as server:
        address = server.address.removesuffix("/v1")
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": address}
        text, reply = await answered(VendorModel("anthropic", "claude-x", environment=environment))
        assert server.keys == [KEY] and server.requests[0]["tools"][0]["name"] == "bash"
    assert (text, reply.text, reply.calls, reply.stop) == ("I look.", "I look.", (said,), "end")


async def test_a_reply_that_was_cut_by_its_length_says_so() -> None:
    async with OpenAIServer([Answer("so far", finish="length")]) as server:
        _, reply = await answered(model(server))
    assert reply.stop == "max-tokens"


@pytest.mark.parametrize(
    ("answer", "passing"),
    [
        (Answer(status=500), True),
        (Answer(status=503), True),
        (Answer(status=429, retry_after="7"), True),
        (Answer("a b c d", cut_after=2), True),
        (Answer(status=401), False),
        (Answer(status=400), False),
        (Answer("x", garbage=True), False),
    ],
    ids=["500", "503", "429", "cut", "401", "400", "garbage"],
)
async def test_a_failure_is_one_line_that_says_whether_it_may_pass(answer: Answer, passing: bool) -> None:
    async with OpenAIServer([answer]) as server:
        with pytest.raises(ModelError) as caught:
            await answered(model(server))
        assert len(server.requests) == 1, "the library must not try again by itself"
    assert caught.value.passing is passing
    assert "\n" not in str(caught.value) and str(caught.value).startswith("openai:some-model ")
    assert caught.value.after == (7.0 if answer.retry_after else None)


async def test_nobody_listening_at_the_address_is_a_failure_that_may_pass() -> None:
    async with OpenAIServer([Answer()]) as server:
        pass
    with pytest.raises(ModelError) as caught:
        await answered(model(server))
    assert caught.value.passing


async def test_an_endless_stream_is_cut_off() -> None:
    async with OpenAIServer([Answer(endless=True)]) as server:
        size = 0
        with pytest.raises(ModelError, match="more than 4 MiB"):
            async for piece in model(server).stream(HELLO):
                size += len(piece.text)
    assert size <= LARGEST_REPLY


async def test_a_request_that_hangs_can_be_cancelled() -> None:
    async with OpenAIServer([Answer("first", hang=True)]) as server:
        heard = []
        with anyio.CancelScope() as scope:
            async for piece in model(server).stream(HELLO):
                heard.append(piece)
                scope.cancel()
    assert heard == [TextDelta("first")]


async def test_the_key_goes_to_the_vendor_and_into_no_error() -> None:
    async with OpenAIServer([Answer(status=401)]) as server:
        with pytest.raises(ModelError) as caught:
            await answered(model(server))
        assert server.keys == [KEY]
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_the_history_goes_out_under_the_servers_call_ids_in_order(vendor: str) -> None:
    calls = (ModelCall("call_1_1_0", "bash", '{"broken'), ModelCall("call_1_1_1", "bash", '{"command":"x"}'))
    messages = (
        UserTurn("do it"),
        AssistantTurn("I do.", calls, "I thought."),
        ToolReturn("call_1_1_0", "bash", "Error: no JSON", is_error=True),
        ToolReturn("call_1_1_1", "bash", "fine"),
        UserTurn("and?"),
        AssistantTurn(""),
    )
    async with OpenAIServer([Answer("ok")]) as server:
        await answered(model(server, vendor), ModelRequest("Be brief.", messages, (BASH,)))
        [body] = server.requests
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool", "tool", "user"]
    sent = body["messages"][2]
    assert [call["id"] for call in sent["tool_calls"]] == ["call_1_1_0", "call_1_1_1"]
    assert "I thought." not in sent["content"]
    assert ("I thought." in str(sent)) is (vendor == "deepseek")
    assert [message.get("tool_call_id") for message in body["messages"][3:5]] == ["call_1_1_0", "call_1_1_1"]
    assert body["tools"][0]["function"]["name"] == "bash"


async def test_lone_surrogates_in_the_history_do_not_stop_a_request() -> None:
    async with OpenAIServer([Answer("ok")]) as server:
        await answered(model(server), ModelRequest("", (UserTurn("half \ud83d pair"),)))
        assert server.requests[0]["messages"][-1]["content"] == "half \ufffd pair"


@pytest.mark.parametrize(
    "name", ["", "gpt", "deepseek:", ":x", "nobody:x", "deepseek:deepseek-chat", "openai-compatible:x"]
)
def test_a_name_that_is_no_model_or_has_no_key_is_one_clear_line(name: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        model_named(name, environment={})
    assert "\n" not in str(caught.value)


def test_the_default_is_the_first_vendor_with_a_key_else_the_rehearsal() -> None:
    assert default_model({}) == "rehearsal"
    assert default_model({"ANTHROPIC_API_KEY": "k"}).startswith("anthropic:")
    assert default_model({"ANTHROPIC_API_KEY": "k", "DEEPSEEK_API_KEY": "k"}) == "deepseek:deepseek-chat"


@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": "k"}])
def test_the_page_is_offered_what_can_be_used(environment: Mapping[str, str]) -> None:
    offered = offers(environment)
    assert [offer.real for offer in offered] == [True] * len(environment) + [False]
    assert all(model_named(offer.name, environment=environment).real is offer.real for offer in offered)


def test_an_address_from_the_configuration_needs_no_key() -> None:
    model = model_named("openai-compatible:local", environment={}, address="http://127.0.0.1:9/v1")
    assert (model.name, model.real) == ("openai-compatible:local", True)


def test_importing_the_agent_does_not_import_a_vendors_library() -> None:
    rooms = "placet.agent.model, placet.agent.model.rehearsal, placet.agent.crew"
    code = f"import sys, {rooms}; print([m for m in ('pydantic_ai', 'openai', 'anthropic') if m in sys.modules])"
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_waits_between_attempts_double_with_jitter_and_heed_the_vendor() -> None:
    retries, chance = Retries(attempts=4, first=1.0, longest=3.0), random.Random(1)
    error = ModelError("busy", passing=True)
    waits = [retries.wait(error, attempt, chance) for attempt in (1, 2, 3, 4)]
    assert waits[3] is None
    assert [
        low <= (wait or 0) <= high for wait, (low, high) in zip(waits, [(0.5, 1), (1, 2), (1.5, 3)], strict=False)
    ] == [True] * 3
    assert retries.wait(ModelError("busy", passing=True, after=2.5), 1, chance) == 2.5
    assert retries.wait(ModelError("busy", passing=True, after=600), 1, chance) == 3.0
    assert retries.wait(ModelError("no key"), 1, chance) is None
