"""One turn in one process: order of events, claims, steer and inject, failures, bounds, stop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.agent import gestures, mailbox
from placet.agent.errors import ModelError, UnknownModel
from placet.agent.mailbox import Source
from placet.agent.model import AssistantTurn, ToolReturn, UserTurn
from placet.agent.transcript import TRANSCRIPT
from placet.kernel.signal import AbortSignal
from placet.session.event import Draft
from placet.session.fold import folded
from placet.session.ids import SessionId, new_message_id
from placet.session.store import Appended, Refused
from placet.session.stores.sqlite import SqliteStore
from placet.testing.faults import StoreWrapper
from placet.testing.models import Fail, Say, ScriptedModel, call
from tests.agent.house import BY, Trace, house

pytestmark = pytest.mark.anyio


async def test_f6_the_events_of_a_turn_stand_in_their_order(tmp_path: Path) -> None:
    model = ScriptedModel([Say("I do.", (call("trace", line="a"),)), Say("Done.")])
    async with house(tmp_path, model) as home:
        await home.send("do it")
        await home.work()
        types = (await home.types())[4:]
    assert types == [
        "agent/inbox", "turn/start",
        "step/start", "user/message", "agent/inbox", "user/message", "assistant/message",
        "tool/call", "tool/started", "tool/result", "step/end",
        "step/start", "assistant/message", "step/end", "turn/end",
    ]  # fmt: skip
    assert home.ran() == ["a"]


async def test_f19_what_the_model_was_sent_can_be_rebuilt_from_the_log(tmp_path: Path) -> None:
    model = ScriptedModel([Say("I begin.", (call("trace", line="a"), call("trace", line="b"))), Say("Done.")])
    async with house(tmp_path, model) as home:
        await home.send("go")
        await home.work()
        log = await home.store.read(home.session)
    assert len(model.requests) == 2
    for step, request in enumerate(model.requests, start=1):
        [answer] = [event.seq for event in log if event.key == f"assistant:1.{step}"]
        assert folded(TRANSCRIPT, [event for event in log if event.seq < answer]).messages() == request.messages


async def test_f7_turns_are_counted_on_and_steps_begin_anew(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        for _ in range(2):
            await home.send()
            await home.work()
        assert [event.data["turn"] for event in await home.of("turn/start")] == [1, 2]
        assert [(e.data["turn"], e.data["step"]) for e in await home.of("step/start")] == [(1, 1), (2, 1)]
        assert [event.data["reason"] for event in await home.of("turn/end")] == [{"kind": "completed"}] * 2


async def test_g7_claim_and_message_are_one_transaction(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        id = await home.send("once")
        await home.work()
        [take] = [e for e in await home.of("agent/inbox") if "take" in e.data]
        [message] = [e for e in await home.of("user/message") if e.data["id"] == id]
        assert take.data["take"] == [id] and message.seq == take.seq + 1


async def test_one_message_opens_one_turn_and_the_rest_waits_its_turn(tmp_path: Path) -> None:
    model = ScriptedModel([])
    async with house(tmp_path, model) as home:
        await home.send("first")
        await home.send("second")
        await home.work()
        assert len(await home.of("turn/end")) == 2
    assert UserTurn("second") not in model.requests[0].messages


async def test_g8_what_comes_after_the_claim_stays_for_a_later_boundary(tmp_path: Path) -> None:
    async def during() -> None:
        await home.send("later")

    model = ScriptedModel([Say("", (call("trace", line="a"),), during=during), Say("Done.")])
    async with house(tmp_path, model) as home:
        await home.send("first")
        await home.work()
        assert [event.data["turn"] for event in await home.of("turn/end")] == [1, 2]
    assert [UserTurn("later") in request.messages for request in model.requests] == [False, False, True]


async def test_g13_a_turn_whose_messages_were_taken_back_closes_without_a_request(tmp_path: Path) -> None:
    class TakesBack(StoreWrapper):
        async def append(self, session: SessionId, drafts: Sequence[Draft], **more: Any) -> Appended | Refused:
            answer = await super().append(session, drafts, **more)
            if drafts[0].type == "turn/start":
                ids = (await gestures.waiting(self.inner, session)).of_person()
                await self.inner.append(session, [mailbox.cancel(ids, "k", BY)])
            return answer

    model = ScriptedModel([])
    store = TakesBack(await SqliteStore.open(tmp_path / "placet.db"))
    async with house(tmp_path, model, store=store) as home:
        await home.send()
        await home.work()
        assert (await home.of("turn/end"))[0].data["reason"] == {"kind": "completed"}
        assert not model.requests and not await home.of("step/start")
    await store.aclose()


async def test_g9_sending_the_same_id_again_changes_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        id = new_message_id()
        for _ in range(2):
            assert await gestures.send_message(home.store, home.session, "hello", id, by=BY) == id
        await home.work()
        assert await gestures.send_message(home.store, home.session, "hello", id, by=BY) == id
        assert len(await home.of("turn/start")) == 1


async def test_g3_g12_a_steer_enters_at_the_next_step_of_the_same_turn(tmp_path: Path) -> None:
    async def during() -> None:
        await home.send("rather so", steer=True)

    model = ScriptedModel([Say("I begin.", during=during), Say("As you say.")])
    async with house(tmp_path, model) as home:
        await home.send()
        await home.work()
        assert len(await home.of("turn/start")) == 1
        assert [e.data["step"] for e in await home.of("step/start")] == [1, 2]
    assert model.requests[1].messages[-1] == UserTurn("rather so")


async def test_g3_a_steer_while_idle_opens_a_turn(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        await home.send("now", steer=True)
        await home.work()
        assert len(await home.of("turn/end")) == 1


async def test_g4_g15_an_inject_while_idle_wakes_nobody_and_enters_with_the_next_wake(tmp_path: Path) -> None:
    model = ScriptedModel([])
    async with house(tmp_path, model) as home:
        source = Source("plugin", "jobs")
        await gestures.inject(home.store, home.session, "a job ended", new_message_id(), source=source)
        await home.work()
        assert not await home.of("turn/start")
        await home.send("hello")
        await home.work()
    assert model.requests[0].messages[-2:] == (UserTurn("a job ended", "plugin"), UserTurn("hello"))


async def test_g5_an_inject_during_calls_comes_after_all_results(tmp_path: Path) -> None:
    async def during(line: str, signal: AbortSignal) -> None:
        source = Source("plugin", "jobs")
        await gestures.inject(home.store, home.session, f"beside {line}", new_message_id(), source=source)

    model = ScriptedModel([Say("", (call("trace", line="a"), call("trace", line="b")))])
    async with house(tmp_path, model, tools=[Trace(during)]) as home:
        await home.send()
        await home.work()
    kinds = [type(message) for message in model.requests[1].messages[-5:]]
    assert kinds == [AssistantTurn, ToolReturn, ToolReturn, UserTurn, UserTurn]


async def test_an_inject_alone_does_not_keep_a_turn_going(tmp_path: Path) -> None:
    async def during() -> None:
        await gestures.inject(home.store, home.session, "later", new_message_id(), source=Source("plugin", "p"))

    async with house(tmp_path, ScriptedModel([Say("Done.", during=during)])) as home:
        await home.send()
        await home.work()
        assert len(await home.of("step/start")) == 1


async def test_a_passing_failure_is_tried_again_and_each_attempt_is_logged(tmp_path: Path) -> None:
    busy = ModelError("the model is busy", passing=True)
    model = ScriptedModel([Fail(busy, "half a sen"), Fail(busy), Say("At last.")])
    async with house(tmp_path, model) as home:
        heard: list[tuple[str, bool]] = []
        home.kit.speech.deltas.subscribe(lambda delta: heard.append((delta.text, delta.whole)))
        await home.send()
        await home.work()
        assert [e.data["attempt"] for e in await home.of("model/failed")] == [1, 2]
        [message] = await home.of("assistant/message")
        assert message.data["text"] == "At last."
    assert ("", True) in heard, "who watches is told that the half sentence does not count"


async def test_a_lasting_failure_ends_the_turn_with_one_clear_error(tmp_path: Path) -> None:
    model = ScriptedModel([Fail(ModelError("deepseek:x answered 401: wrong key"))])
    async with house(tmp_path, model) as home:
        await home.send()
        await home.work()
        [end] = await home.of("turn/end")
        assert end.data["reason"] == {"kind": "error", "error": "deepseek:x answered 401: wrong key"}
        await home.send()
        await home.work()
        assert (await home.of("turn/end"))[1].data["reason"]["kind"] == "completed"


async def test_an_unknown_model_ends_the_turn_with_one_clear_error(tmp_path: Path) -> None:
    def unknown(name: str) -> ScriptedModel:
        raise UnknownModel(f"There is no model {name!r}.")

    async with house(tmp_path, ScriptedModel([])) as home:
        await gestures.set_model(home.store, home.session, "nope", BY, "k")
        object.__setattr__(home.kit, "models", unknown)
        await home.send()
        await home.work()
        [end] = await home.of("turn/end")
        assert end.data["reason"] == {"kind": "error", "error": "There is no model 'nope'."}


async def test_a_turn_that_does_not_end_by_itself_is_ended(tmp_path: Path) -> None:
    model = ScriptedModel([Say("", (call("trace", line=str(n)),)) for n in range(9)])
    async with house(tmp_path, model, most_steps=3) as home:
        await home.send()
        await home.work()
        [end] = await home.of("turn/end")
        assert end.data["reason"]["kind"] == "error" and "3 steps" in end.data["reason"]["error"]
        assert home.ran() == ["0", "1", "2"]


async def test_f8_a_reply_cut_by_its_length_ends_the_turn_as_max_tokens(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("So fa", cut=True)])) as home:
        await home.send()
        await home.work()
        [end] = await home.of("turn/end")
        assert end.data["reason"] == {"kind": "max-tokens"}


async def test_equal_call_ids_are_two_calls_and_results_stand_in_order(tmp_path: Path) -> None:
    first_may_end = anyio.Event()

    async def before(line: str, signal: AbortSignal) -> None:
        if line == "a":
            await first_may_end.wait()
        else:
            first_may_end.set()

    model = ScriptedModel([Say("", (call("trace", "same", line="a"), call("trace", "same", line="b")))])
    async with house(tmp_path, model, tools=[Trace(before)]) as home:
        await home.send()
        await home.work()
        assert [e.data["position"] for e in await home.of("tool/result")] == [1, 0], "as they come"
    returns = [message for message in model.requests[1].messages if isinstance(message, ToolReturn)]
    assert [message.text for message in returns] == ["traced a", "traced b"], "the transcript is ordered"


async def test_broken_arguments_and_unknown_tools_are_results_not_crashes(tmp_path: Path) -> None:
    broken = type(call("trace"))("i", "trace", '{"line": "a"')
    model = ScriptedModel([Say("", (broken, call("nothing", line="b")))])
    async with house(tmp_path, model) as home:
        await home.send()
        await home.work()
        codes = {position: event.data["code"] for position, event in (await home.results()).items()}
        assert codes == {0: "INVALID_ARGUMENTS", 1: "UNKNOWN_TOOL"}
        assert home.ran() == []


async def test_text_deltas_are_told_as_they_come_and_kept_until_the_message_is_logged(tmp_path: Path) -> None:
    seen: list[str | None] = []

    async def during() -> None:
        partial = home.kit.speech.partial(home.session)
        seen.append(partial.text if partial else None)

    async with house(tmp_path, ScriptedModel([Say("one two three", during=during)])) as home:
        heard: list[str] = []
        home.kit.speech.deltas.subscribe(lambda delta: heard.append(delta.text))
        await home.send()
        await home.work()
        assert home.kit.speech.partial(home.session) is None
    assert heard == ["one ", "two ", "three"] and seen == ["one two three"]
