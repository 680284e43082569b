"""While a card is open: what the agent can do about it (nothing), and what people can do beside it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from placet.agent import gestures
from placet.agent.mailbox import Source
from placet.agent.model import ToolReturn, UserTurn
from placet.permission.knobs import Knobs
from placet.session.ids import new_message_id
from placet.testing.models import Say, ScriptedModel, call
from tests.agent.house import BY, Trace, house

pytestmark = pytest.mark.anyio


async def test_apr_16_messages_that_come_while_a_card_is_open_wait_and_run_nothing(tmp_path: Path) -> None:
    model = ScriptedModel([Say("", (call("trace", line="a", widen=True),)), Say("Next.")])
    async with house(tmp_path, model) as home, home.crew():
        await home.send("do it")
        asked = (await home.asks(1))["a"]
        await home.send("and another thing")
        await gestures.inject(
            home.store, home.session, "a job ended", new_message_id(), source=Source("plugin", "jobs")
        )
        await anyio.sleep(0.1)
        assert not await home.of("approval/decided") and home.ran() == []
        assert len(model.requests) == 1
        await home.allow(asked)
        await home.wait_for("turn/end", 2)
        assert home.ran() == ["a"]
    second = model.requests[1].messages
    assert isinstance(second[-2], ToolReturn) and second[-1] == UserTurn("a job ended", "plugin")
    assert model.requests[2].messages[-1] == UserTurn("and another thing")


async def test_apr_01_nothing_that_the_model_calls_ends_an_open_ask_and_a_stop_is_no_refusal(tmp_path: Path) -> None:
    polls = tuple(call("trace", str(n), line=f"poll {n}") for n in range(3))
    unknown = (call("kill_job", id="k", ask="all"), call("approval_cancel", id="c", outcome="rejected"))
    model = ScriptedModel([Say("", (*unknown, call("trace", line="a", widen=True), *polls))])
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        await home.asks(1)
        await home.wait_for("tool/result", 5)
        await anyio.sleep(0.1)
        assert not await home.of("approval/decided") and len(model.requests) == 1
        await gestures.stop(home.store, home.session, "k", BY)
        await home.wait_for("turn/end")
        [decided] = await home.of("approval/decided")
        assert decided.data["outcome"] == "cancelled"
        text = (await home.results())[2].data["text"]
        assert not any(word in text.lower() for word in ("reject", "refus", "denied", "declin"))


async def test_a_policy_switch_answers_no_open_card_and_voids_none(tmp_path: Path) -> None:
    model = ScriptedModel(
        [Say("", (call("trace", line="a", widen=True),)), Say("", (call("trace", line="b", widen=True),))]
    )
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        asked = (await home.asks(1))["a"]
        await gestures.select_preset(Knobs(home.store), home.session, "danger-full-access", by=BY, key="k")
        await anyio.sleep(0.1)
        assert (await home.inbox.open()).total == 1
        await home.allow(asked)
        await home.wait_for("turn/end")
        assert home.ran()[0] == "a"


async def test_apr_13_once_is_once_and_the_same_call_asks_again(tmp_path: Path) -> None:
    step = Say("", (call("trace", line="a", widen=True),))
    async with house(tmp_path, ScriptedModel([step, step])) as home, home.crew():
        await home.send()
        await home.allow((await home.asks(1))["a"])
        second = (await home.wait_for("approval/asked", 2))[1]
        assert home.ran() == ["a"]
        await home.reject(second)
        await home.wait_for("turn/end")
        assert home.ran() == ["a"]


async def test_a25_apr_10_answers_in_reverse_order_reach_each_its_own_call(tmp_path: Path) -> None:
    calls = tuple(call("trace", "same", line=str(n), widen=True) for n in range(4))
    async with house(tmp_path, ScriptedModel([Say("", calls)])) as home, home.crew():
        await home.send()
        asked = await home.asks(4)
        for line in ("3", "2", "1", "0"):
            await (home.allow if line in "31" else home.reject)(asked[line])
        await home.wait_for("turn/end")
        codes = {position: event.data["code"] for position, event in (await home.results()).items()}
        assert codes == {0: "APPROVAL_REJECTED", 1: None, 2: "APPROVAL_REJECTED", 3: None}
        assert sorted(home.ran()) == ["1", "3"]


async def test_apr_08_nothing_runs_before_the_answer_and_once_after_it(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("", (call("trace", line="a", widen=True),))])) as home, home.crew():
        await home.send()
        asked = (await home.asks(1))["a"]
        assert home.ran() == []
        await home.allow(asked)
        await home.wait_for("turn/end")
        assert home.ran() == ["a"]


async def test_without_a_responder_an_ask_is_unavailable_and_the_turn_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel([Say("", (call("trace", line="a", widen=True),))])
    async with house(tmp_path, model, responders=[], tools=[Trace()]) as home:
        await home.send()
        await home.work()
        [decided] = await home.of("approval/decided")
        assert decided.data["outcome"] == "unavailable"
        assert (await home.of("turn/end"))[0].data["reason"] == {"kind": "completed"} and home.ran() == []
