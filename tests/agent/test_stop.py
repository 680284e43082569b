"""The stop is a durable event that anybody can write, and the worker follows the store."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from placet.agent import gestures
from placet.agent.gestures import NotRunning, Stopped
from placet.agent.mailbox import Source
from placet.approval.answer import BadResponse, NotPending, Receipt
from placet.kernel.signal import AbortSignal
from placet.session.ids import new_message_id
from placet.testing.models import Say, ScriptedModel, call
from tests.agent.house import BY, Trace, house

pytestmark = pytest.mark.anyio


async def test_a_stop_without_an_open_turn_changes_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        before = await home.types()
        assert await gestures.stop(home.store, home.session, "k", BY) == NotRunning()
        assert await home.types() == before


async def test_f20_a_stop_in_mid_sentence_keeps_what_was_said(tmp_path: Path) -> None:
    spoken = anyio.Event()

    async def during() -> None:
        spoken.set()
        await anyio.sleep_forever()

    model = ScriptedModel([Say("I was about to", (call("trace", line="a"),), during=during)])
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        await spoken.wait()
        assert await gestures.stop(home.store, home.session, "k", BY) == Stopped(1)
        [end] = await home.wait_for("turn/end")
        assert end.data["reason"] == {"kind": "aborted", "reason": "user"}
        [message] = await home.of("assistant/message")
        assert (message.data["text"], message.data["interrupted"], message.data["calls"]) == (
            "I was about to",
            True,
            [],
        )
        assert not await home.of("tool/call") and home.ran() == []


async def test_apr_02_a_stop_cancels_the_ask_and_a_late_answer_is_told(tmp_path: Path) -> None:
    model = ScriptedModel([Say("", (call("trace", line="a", widen=True),))])
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        asked = (await home.asks(1))["a"]
        await gestures.stop(home.store, home.session, "k", BY)
        await home.wait_for("turn/end")
        answer = await home.answer(asked, "allowed-once")
        assert isinstance(answer, NotPending) and answer.decision is not None
        assert answer.decision.outcome == "cancelled"
        [decided] = await home.of("approval/decided")
        assert decided.data["outcome"] == "cancelled"
        assert home.ran() == []


async def test_apr_19_b_a_stop_while_the_first_is_open_runs_none_and_asks_nothing_more(tmp_path: Path) -> None:
    calls = tuple(call("trace", str(n), line=str(n), widen=True) for n in range(3))
    async with house(tmp_path, ScriptedModel([Say("", calls)])) as home, home.crew():
        await home.send()
        await home.wait_for("approval/asked")
        await gestures.stop(home.store, home.session, "k", BY)
        await home.wait_for("turn/end")
        asked = len(await home.of("approval/asked"))
        assert {e.data["outcome"] for e in await home.of("approval/decided")} == {"cancelled"}
        assert len(await home.of("approval/decided")) == asked
        codes = {event.data["code"] for event in await home.of("tool/result")}
        assert codes == {"ABORTED_BEFORE_DISPATCH"} and len(await home.results()) == 3
        [abort] = await home.of("turn/abort")
        assert all(event.seq < abort.seq for event in await home.of("approval/asked"))
        assert home.ran() == []


async def test_apr_19_a_a_rejection_lets_the_sibling_calls_run(tmp_path: Path) -> None:
    calls = tuple(call("trace", str(n), line=str(n), widen=True) for n in range(3))
    model = ScriptedModel([Say("", calls)])
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        asked = await home.asks(3)
        await home.reject(asked["0"], "not this one")
        await home.allow(asked["1"])
        await home.allow(asked["2"])
        await home.wait_for("turn/end")
        codes = {position: event.data["code"] for position, event in (await home.results()).items()}
        assert codes == {0: "APPROVAL_REJECTED", 1: None, 2: None}
        assert sorted(home.ran()) == ["1", "2"]
        assert "not this one" in (await home.results())[0].data["text"]


async def test_b22_started_calls_drain_and_calls_that_wait_get_a_logged_call_and_a_result(tmp_path: Path) -> None:
    runs = anyio.Event()

    async def before(line: str, signal: AbortSignal) -> None:
        runs.set()
        await signal.wait()

    calls = (call("trace", line="runs"), call("trace", line="waits", widen=True))
    async with house(tmp_path, ScriptedModel([Say("", calls)]), tools=[Trace(before)]) as home, home.crew():
        await home.send()
        await runs.wait()
        await home.asks(1)
        await gestures.stop(home.store, home.session, "k", BY)
        await home.wait_for("turn/end")
        codes = {position: event.data["code"] for position, event in (await home.results()).items()}
        assert codes == {0: "ABORTED", 1: "ABORTED_BEFORE_DISPATCH"}
        assert len(await home.of("tool/call")) == 2 and home.ran() == ["runs"]


async def test_g10_a_stop_takes_back_the_persons_own_messages_and_keeps_outcomes(tmp_path: Path) -> None:
    model = ScriptedModel([Say("", (call("trace", line="a", widen=True),)), Say("Next.")])
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        await home.asks(1)
        mine = await home.send("forget this")
        kept = new_message_id()
        await gestures.inject(home.store, home.session, "an outcome", kept, source=Source("plugin", "jobs"))
        await gestures.stop(home.store, home.session, "k", BY)
        await home.wait_for("turn/end")
        [cancel] = [e for e in await home.of("agent/inbox") if "cancel" in e.data]
        assert cancel.data["cancel"] == [mine]
        await home.send("hello again")
        await home.wait_for("turn/end", 2)
        said = [e.data["text"] for e in await home.of("user/message")]
        assert "an outcome" in said and "forget this" not in said


async def test_g11_a_message_sent_right_after_a_stop_opens_the_next_turn(tmp_path: Path) -> None:
    model = ScriptedModel([Say("", (call("trace", line="a", widen=True),)), Say("Next.")])
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        await home.asks(1)
        await gestures.stop(home.store, home.session, "k", BY)
        await home.send("after all")
        [first, second] = await home.wait_for("turn/end", 2)
        assert [end.data["reason"]["kind"] for end in (first, second)] == ["aborted", "completed"]
        [message] = [e for e in await home.of("user/message") if e.data["text"] == "after all"]
        assert message.data["turn"] == 2


async def test_stopping_twice_gives_the_same_answer_and_one_event(tmp_path: Path) -> None:
    model = ScriptedModel([Say("", (call("trace", line="a", widen=True),))])
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        await home.asks(1)
        first, second = [await gestures.stop(home.store, home.session, key, BY) for key in ("k1", "k2")]
        await home.wait_for("turn/end")
        assert isinstance(first, Stopped) and second in (first, NotRunning())
        assert len(await home.of("turn/abort")) == 1


async def test_a_rejection_with_a_stop_is_one_append_and_the_agent_takes_no_step_after_it(tmp_path: Path) -> None:
    calls = (call("trace", "1", line="a", widen=True), call("trace", "2", line="b", widen=True))
    model = ScriptedModel([Say("", calls), Say("one more step", (call("trace", "3", line="c"),)), Say("and one")])
    async with house(tmp_path, model) as home, home.crew():
        await home.send()
        asks = await home.asks(2)
        await home.send("for later")
        stop = await gestures.stop_of(home.store, home.session, 1, "k", BY)
        receipt = await home.answer(asks["a"], "rejected", "not now", stop=stop)
        assert isinstance(receipt, Receipt) and receipt.stopped
        assert await home.answer(asks["a"], "rejected", "not now", stop=stop) == receipt  # its answer was lost
        [end] = await home.wait_for("turn/end")
        assert end.data["reason"] == {"kind": "aborted", "reason": "user"}
        log = await home.log()
    [abort] = [event for event in log if event.type == "turn/abort"]
    decided = {event.data["id"]: event for event in log if event.type == "approval/decided"}
    rejected, other = decided[asks["a"].data["id"]], decided[asks["b"].data["id"]]
    assert (rejected.data["outcome"], rejected.seq) == ("rejected", abort.seq - 1)
    assert other.data["outcome"] == "cancelled"
    after = [event.type for event in log if event.seq > abort.seq]
    assert "step/start" not in after and "assistant/message" not in after and "tool/started" not in after
    assert home.ran() == [] and len([event for event in log if event.type == "turn/start"]) == 1


async def test_a_stop_that_was_first_bars_a_rejection_with_a_stop(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("", (call("trace", line="a", widen=True),))])) as home, home.crew():
        await home.send()
        asked = (await home.asks(1))["a"]
        stop = await gestures.stop_of(home.store, home.session, 1, "mine", BY)
        await gestures.stop(home.store, home.session, "other", BY)
        assert isinstance(await home.answer(asked, "rejected", stop=stop), NotPending)
        await home.wait_for("turn/end")
        assert len(await home.of("turn/abort")) == 1


async def test_a_stop_comes_only_with_a_rejection(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("", (call("trace", line="a", widen=True),))])) as home, home.crew():
        await home.send()
        asked = (await home.asks(1))["a"]
        stop = await gestures.stop_of(home.store, home.session, 1, "k", BY)
        assert isinstance(await home.answer(asked, "allowed-once", stop=stop), BadResponse)
        assert not await home.of("turn/abort") and home.ran() == []
