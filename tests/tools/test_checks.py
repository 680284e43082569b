"""What never reaches a person: unknown tools, arguments that do not fit, what is too large to show (B10, B12)."""

from __future__ import annotations

import pytest

from placet.approval import Outcome
from tests.tools.world import Probe, ToolWorld

pytestmark = pytest.mark.anyio

ALLOW, REJECT, FULL = Outcome.ALLOWED_ONCE, Outcome.REJECTED, "danger-full-access"
WIDER = {"sandbox_permissions": FULL, "justification": "the user asked for it"}


async def test_b10_an_unknown_tool_never_reaches_a_person(tools: ToolWorld) -> None:
    responder = tools.answers(ALLOW)
    result = await tools.call("sudo", what="this", **WIDER)
    assert (result.data["code"], responder.asks) == ("UNKNOWN_TOOL", [])
    assert "probe" in result.data["text"]


@pytest.mark.parametrize(
    ("arguments", "says_why"),
    [
        ('{"what": 1}', "what must be text"),
        ("{}", "what must be text"),
        ("[]", "one JSON object"),
        ('"x"', "one JSON object"),
        ("{", "not JSON"),
        ("", "not JSON"),
        ('{"what":"a","what":"b"}', "'what' stands twice"),
        ('{"what":"a","x":{"y":1,"y":2}}', "'y' stands twice"),
        ('{"what":"a","n":NaN}', "NaN"),
        ('{"what":"a","n":1e999}', "too large"),
        ('{"what":"a","n":' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deep"),
    ],
    ids=["type", "missing", "list", "text", "broken", "empty", "twice", "twice-deep", "nan", "huge", "deep"],
)
async def test_b12_arguments_that_fail_never_reach_a_person(
    tools: ToolWorld, probe: Probe, arguments: str, says_why: str
) -> None:
    responder = tools.answers(ALLOW)
    result = await tools.call(arguments=arguments)
    assert result.data["code"] == "INVALID_ARGUMENTS"
    assert says_why in result.data["text"]
    assert (probe.runs, responder.asks) == ([], [])


async def test_b11_two_to_the_sixty_reaches_the_body_exactly(tools: ToolWorld, probe: Probe) -> None:
    tools.answers(ALLOW)
    await tools.call(arguments='{"what":"this","n":1152921504606846977,"sandbox_permissions":"danger-full-access"}')
    ((args, _),) = probe.runs
    assert args["n"] == 2**60 + 1
    (asked,) = await tools.world.events("approval/asked")
    assert "1152921504606846977" in asked.data["subject"]["arguments"]


async def test_a_lone_surrogate_is_signed_escaped_and_run_as_it_came(tools: ToolWorld, probe: Probe) -> None:
    tools.answers(ALLOW)
    raw = '{"what":"\ud800 \\\\ \u2028","sandbox_permissions":"danger-full-access"}'
    await tools.call(arguments=raw)
    ((args, _),) = probe.runs
    assert args["what"] == "\ud800 \\ \u2028"
    (asked,) = await tools.world.events("approval/asked")
    assert "\\ud800 \\\\\\\\ \\u2028" in asked.data["subject"]["arguments"]


async def test_an_argument_named_api_token_is_shown_whole(tools: ToolWorld) -> None:
    await tools.call(what="this", api_token="hunter2", **WIDER)
    (asked,) = await tools.world.events("approval/asked")
    assert "hunter2" in asked.data["subject"]["arguments"]


async def test_what_is_too_large_to_show_is_never_asked(tools: ToolWorld, probe: Probe) -> None:
    responder = tools.answers(ALLOW)
    result = await tools.call(what="x" * (1 << 20), **WIDER)
    assert (result.data["code"], responder.asks, probe.runs) == ("TOO_LARGE_TO_SHOW", [], [])
    assert (await tools.call(what="x" * (1 << 20))).data["isError"] is False


async def test_a_folder_that_is_not_there_is_an_error_before_asking(tools: ToolWorld) -> None:
    responder = tools.answers(ALLOW)
    result = await tools.call(what="this", workdir="nowhere", **WIDER)
    assert (result.data["code"], responder.asks) == ("WORKDIR_UNUSABLE", [])


async def test_argument_text_without_end_is_not_even_parsed(tools: ToolWorld, probe: Probe) -> None:
    result = await tools.call(what="x" * (3 << 20))
    assert (result.data["code"], probe.runs) == ("TOO_LARGE_TO_SHOW", [])
    assert "the limit is" in result.data["text"]
