"""Faults that other systems really had, tried on whole turns; the ids are those of the collection of cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from placet.agent import gestures
from placet.agent.model.vendor import VendorModel
from placet.approval.inbox import NotPending
from placet.approval.outcome import Policy
from placet.approval.responder import Ask, Reply
from placet.kernel.chain import CallNext
from placet.permission.knobs import Knobs
from placet.testing.models import Say, ScriptedModel, call
from placet.testing.openai_server import Answer, OpenAIServer
from tests.agent.house import BY, house

pytestmark = pytest.mark.anyio

WIDE = Say("", (call("trace", line="a", widen=True),))


async def test_aud_01_settled_asks_are_no_open_ones_after_a_restart(tmp_path: Path) -> None:
    step = Say("", (call("trace", "1", line="yes", widen=True), call("trace", "2", line="no", widen=True)))
    async with house(tmp_path, ScriptedModel([step])) as home:
        async with home.crew():
            await home.send()
            asked = await home.asks(2)
            await home.allow(asked["yes"])
            await home.reject(asked["no"])
            await home.wait_for("turn/end")
        async with home.crew():
            assert not (await home.inbox.open()).asks
            for event, outcome in ((asked["yes"], "allowed-once"), (asked["no"], "rejected")):
                answer = await home.answer(event, "rejected" if outcome == "allowed-once" else "allowed-once")
                assert isinstance(answer, NotPending) and answer.decision is not None
                assert answer.decision.outcome == outcome and answer.decision.who.name == "owner"


async def test_aud_02_the_log_alone_tells_free_approved_rejected_and_refused_calls_apart(tmp_path: Path) -> None:
    calls = tuple(call("trace", line, line=line, widen=line != "free") for line in ("free", "approved", "rejected"))
    async with house(tmp_path, ScriptedModel([Say("", calls), Say("Done."), WIDE])) as home, home.crew():
        await home.send()
        asked = await home.asks(2)
        await home.allow(asked["approved"])
        await home.reject(asked["rejected"])
        await home.wait_for("turn/end")
        await gestures.turn_knobs(Knobs(home.store), home.session, policy=Policy.NEVER, by=BY, key="k")
        await home.send()
        await home.wait_for("turn/end", 2)
        decided = {event.data["id"]: event.data for event in await home.of("approval/decided")}
        asks = {event.data["id"]: event.data for event in await home.of("approval/asked")}
        assert decided.keys() == asks.keys()
        told = {
            (data["call"]["turn"], data["call"]["position"]): (decided[id]["outcome"], decided[id]["who"]["kind"])
            for id, data in asks.items()
        }
        assert told == {
            (1, 1): ("allowed-once", "person"),
            (1, 2): ("rejected", "person"),
            (2, 0): ("rejected", "policy"),
        }
        grants = {e.data["position"]: e.data["ask"] for e in await home.of("tool/started")}
        assert grants == {0: None, 1: asked["approved"].data["id"]}


async def test_pol_01_under_never_nothing_is_dispatched_and_the_run_ends(tmp_path: Path) -> None:
    class Loud:
        name = "loud"
        asked = 0

        async def answer(self, ask: Ask, call_next: CallNext[Reply]) -> Reply:
            self.asked += 1
            return await call_next()

    loud = Loud()
    steps = [WIDE, Say("", (call("trace", line="free"),)), WIDE]
    async with house(tmp_path, ScriptedModel(steps), responders=[loud]) as home:
        await gestures.turn_knobs(Knobs(home.store), home.session, policy=Policy.NEVER, by=BY, key="k")
        await home.send()
        await home.work()
        decided = await home.of("approval/decided")
        assert [(e.data["outcome"], e.data["detail"]) for e in decided] == [("rejected", "policy-never")] * 2
        assert all(
            after.seq == asked.seq + 1 for asked, after in zip(await home.of("approval/asked"), decided, strict=True)
        )
        assert loud.asked == 0 and home.ran() == ["free"]
        assert (await home.of("turn/end"))[0].data["reason"] == {"kind": "completed"}


@pytest.mark.parametrize("preset", ["danger-full-access", "read-only"])
async def test_pol_06_no_switch_answers_an_open_card(tmp_path: Path, preset: str) -> None:
    async with house(tmp_path, ScriptedModel([WIDE])) as home, home.crew():
        await home.send()
        asked = (await home.asks(1))["a"]
        knobs = Knobs(home.store)
        await gestures.select_preset(knobs, home.session, preset, by=BY, key="1")
        await gestures.turn_knobs(knobs, home.session, policy=Policy.NEVER, by=BY, key="2")
        [view] = (await home.inbox.open()).asks
        assert view.id == asked.data["id"] and view.digest == asked.data["digest"]
        await home.reject(asked)
        await home.wait_for("turn/end")
        [decided] = await home.of("approval/decided")
        assert (decided.data["outcome"], decided.data["who"]["kind"]) == ("rejected", "person") and home.ran() == []


async def test_esc_08_a_stubborn_model_does_not_show_twenty_cards(tmp_path: Path) -> None:
    steps = [Say("", (call("trace", str(n), line="a" if n % 2 else f"a{n}", widen=True),)) for n in range(20)]
    async with house(tmp_path, ScriptedModel(steps)) as home, home.crew():
        await home.send()
        for count in range(1, 4):
            await home.reject((await home.wait_for("approval/asked", count))[-1], "no means no")
        await home.wait_for("turn/end")
        assert len(await home.of("approval/asked")) == 3 and home.ran() == []
        texts = [event.data["text"] for event in await home.of("tool/result")]
        assert len(texts) == 20 and sum("no means no" in text for text in texts) == 3


async def test_a_vendors_hiccups_equal_ids_and_broken_arguments_end_in_a_whole_turn(tmp_path: Path) -> None:
    wild = (
        call("trace", "same", line="a"),
        call("trace", "same", line="b"),
        type(call("x"))("same", "trace", '{"line"'),
    )
    answers = [Answer(status=500), Answer("Two words", cut_after=2), Answer("I do.", wild), Answer("Done.")]
    async with OpenAIServer(answers) as server:
        environment = {"OPENAI_API_KEY": "sk-a-secret", "OPENAI_BASE_URL": server.address}
        model = VendorModel("openai", "some-model", environment=environment)
        async with house(tmp_path, model) as home:
            await home.send("go")
            await home.work()
            assert len(await home.of("model/failed")) == 2
            codes = {position: event.data["code"] for position, event in (await home.results()).items()}
            assert codes == {0: None, 1: None, 2: "INVALID_ARGUMENTS"} and sorted(home.ran()) == ["a", "b"]
            assert [e.data["text"] for e in await home.of("assistant/message")] == ["I do.", "Done."]
            assert (await home.of("turn/end"))[0].data["reason"] == {"kind": "completed"}
            assert "sk-a-secret" not in str(await home.log())
        sent = server.requests[-1]["messages"]
    assert [m["tool_call_id"] for m in sent if m["role"] == "tool"] == ["call_1_1_0", "call_1_1_1", "call_1_1_2"]
