"""One worker per session, for whoever wakes it, and nothing lost between two workers."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from placet.agent import gestures
from placet.agent.crew import Crew
from placet.agent.errors import MessageIdTaken
from placet.agent.worker import Worker
from placet.session.errors import UnknownSession
from placet.session.ids import MessageId, SessionId, new_message_id
from placet.testing.models import Say, ScriptedModel, call
from tests.agent.house import BY, House, house, new_session, until

pytestmark = pytest.mark.anyio


async def test_f21_messages_that_wait_at_the_start_are_worked_on(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        await home.send()
        async with home.crew():
            await home.wait_for("turn/end")


async def test_cancelled_messages_wake_nobody_at_the_start(tmp_path: Path) -> None:
    model = ScriptedModel([])
    async with house(tmp_path, model) as home:
        from placet.agent import mailbox

        id = await home.send()
        await home.store.append(home.session, [mailbox.cancel([id], "k", BY)])
        async with home.crew():
            await anyio.sleep(0.2)
        assert not model.requests and not await home.of("turn/start")


async def test_a_message_sent_while_the_worker_is_leaving_is_not_lost(tmp_path: Path) -> None:
    """The crew sees it while the session still has its worker; that one looks again after giving the session back."""
    async with house(tmp_path, ScriptedModel([])) as home:
        release = home.store.release

        async def late(lease: object) -> None:
            if len(await home.of("turn/end")) == 1 and len(await home.of("agent/inbox")) == 2:
                await home.send("just now")
            await release(lease)  # type: ignore[arg-type]

        home.store.release = late  # type: ignore[method-assign]
        await home.send()
        await home.work()
        assert len(await home.of("turn/end")) == 2


async def test_a_message_that_the_worker_took_itself_does_not_start_another_worker(tmp_path: Path) -> None:
    async def during() -> None:
        await home.send("beside", steer=True)

    async with house(tmp_path, ScriptedModel([Say("I begin.", during=during), Say("Done.")])) as home:
        acquire, taken = home.store.acquire, []

        async def counted(session: SessionId, *more: object) -> object:
            taken.append(session)
            return await acquire(session, *more)  # type: ignore[arg-type]

        home.store.acquire = counted  # type: ignore[method-assign, assignment]
        async with home.crew() as crew:
            await home.send()
            await home.wait_for("turn/end")
            await until(lambda: not crew.working)
        assert len(taken) == 1


async def test_many_sessions_are_worked_on_side_by_side(tmp_path: Path) -> None:
    together = anyio.Event()
    speaking: set[int] = set()

    async def during() -> None:
        speaking.add(len(speaking))
        if len(speaking) == 3:
            together.set()
        await together.wait()

    model = ScriptedModel([Say("one", during=during)] * 3)
    async with house(tmp_path, model) as home, home.crew() as crew:
        sessions = [home.session, await new_session(home.store, home.cwd), await new_session(home.store, home.cwd)]
        for session in sessions:
            await gestures.send_message(home.store, session, "go", new_message_id(), by=BY)
        for session in sessions:
            await home.wait_for("turn/end", session=session)
        await until(lambda: not crew.working)


async def test_a_session_that_is_deleted_in_mid_turn_ends_its_worker_only(tmp_path: Path) -> None:
    gone = anyio.Event()

    async def during() -> None:
        await home.store.remove(home.session)
        gone.set()

    async with house(tmp_path, ScriptedModel([Say("x", during=during), Say("y")])) as home, home.crew() as crew:
        await home.send()
        await gone.wait()
        await until(lambda: not crew.working)
        other = await new_session(home.store, home.cwd)
        await gestures.send_message(home.store, other, "go", new_message_id(), by=BY)
        await home.wait_for("turn/end", session=other)


async def test_a_worker_that_fails_is_followed_by_another(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("", (call("trace", line="a"),))])) as home:
        work, failed = Worker.work, []

        async def once(self: Worker, lease: object) -> object:
            if not failed:
                failed.append(1)
                raise RuntimeError("a fault of ours")
            return await work(self, lease)  # type: ignore[arg-type]

        Worker.work = once  # type: ignore[method-assign, assignment]
        try:
            async with home.crew():
                await home.send()
                await home.wait_for("turn/end")
        finally:
            Worker.work = work  # type: ignore[method-assign]
        assert home.ran() == ["a"]


async def test_partial_and_deltas_are_those_of_the_kit(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        crew = Crew(home.kit)
        home.kit.speech.begin(home.session, 1, 2)
        home.kit.speech.add(home.session, "so far")
        partial = crew.partial(home.session)
        assert partial is not None and (partial.turn, partial.step, partial.text) == (1, 2, "so far")
        assert crew.deltas is home.kit.speech.deltas and crew.partial(SessionId("s-other")) is None


# ---- gestures ----


async def test_gestures_on_a_session_that_does_not_exist_are_refused(tmp_path: Path) -> None:
    nobody = SessionId("s-nobody")
    async with house(tmp_path, ScriptedModel([])) as home:
        for gesture in (
            gestures.send_message(home.store, nobody, "x", new_message_id(), by=BY),
            gestures.rename(home.store, nobody, "x", BY, "k"),
            gestures.archive(home.store, nobody, BY, "k"),
            gestures.set_model(home.store, nobody, "rehearsal", BY, "k"),
        ):
            with pytest.raises(UnknownSession):
                await gesture
        assert await gestures.stop(home.store, nobody, "k", BY) == gestures.NotRunning()


async def test_a_message_id_is_not_taken_over_by_another_text(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        await gestures.send_message(home.store, home.session, "one", MessageId("m-1"), by=BY)
        with pytest.raises(MessageIdTaken):
            await gestures.send_message(home.store, home.session, "two", MessageId("m-1"), by=BY)


async def test_gestures_are_recorded_once_per_key_with_who_did_them(tmp_path: Path) -> None:
    async def twice(home: House) -> None:
        for _ in range(2):
            await gestures.rename(home.store, home.session, "Title", BY, "k")
            await gestures.archive(home.store, home.session, BY, "k")
            await gestures.set_model(home.store, home.session, "rehearsal", BY, "k")

    async with house(tmp_path, ScriptedModel([])) as home:
        await twice(home)
        events = (await home.log())[4:]
        assert [event.type for event in events] == ["session/renamed", "session/archived", "session/model"]
        assert all(event.data["by"] == BY for event in events)


async def test_the_model_of_the_session_answers_from_the_next_step_on(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        asked: list[str] = []
        named = home.kit.models

        def models(name: str) -> object:
            asked.append(name)
            return named(name)

        object.__setattr__(home.kit, "models", models)
        await home.send()
        await home.work()
        await gestures.set_model(home.store, home.session, "another", BY, "k")
        await home.send()
        await home.work()
        assert asked == ["scripted", "another"]
        assert [e.data["model"] for e in await home.of("assistant/message")] == ["scripted", "another"]
