"""A store that refuses, loses its answer or goes away; a lease that is lost; logs that another writer left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from placet.agent.worker import Worker
from placet.approval import events
from placet.approval.outcome import Policy
from placet.approval.subject import CallKey, build
from placet.session import keys
from placet.session.errors import LeaseLost, StoreGone
from placet.session.event import Draft
from placet.session.ids import AskId
from placet.session.store import Appended, Held
from placet.session.stores.sqlite import SqliteStore
from placet.testing.clock import ManualClock
from placet.testing.faults import Fault, FaultyStore
from placet.testing.models import Say, ScriptedModel, call
from placet.tools.tool import definition_digest
from tests.agent.house import House, house

pytestmark = pytest.mark.anyio

TYPES = (
    "turn/start", "step/start", "assistant/message", "tool/call", "approval/asked", "approval/decided", "tool/started",
    "tool/result", "step/end", "turn/end",
)  # fmt: skip


def one_call(**arguments: Any) -> ScriptedModel:
    return ScriptedModel([Say("", (call("trace", line="a", **arguments),)), Say("Done.")], by_transcript=True)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("fault", [Fault.REFUSE, Fault.LOSE_ACK])
async def test_a16_an_append_of_unknown_fate_is_looked_up_and_the_turn_goes_on(
    tmp_path: Path, kind: str, fault: Fault
) -> None:
    store = FaultyStore(await SqliteStore.open(tmp_path / "placet.db"))
    async with house(tmp_path, one_call(widen=True), store=store) as home, home.crew():
        store.plan(fault, kind)
        await home.send()
        asked = (await home.asks(1))["a"]
        if kind == "approval/decided" and fault is Fault.REFUSE:
            with pytest.raises(StoreGone):
                await home.answer(asked, "allowed-once")
        if kind == "approval/decided" and fault is Fault.LOSE_ACK:
            with pytest.raises(StoreGone):
                await home.answer(asked, "allowed-once")
            await home.wait_for("approval/decided")
        assert type(await home.answer(asked, "allowed-once")).__name__ == "Receipt"
        await home.wait_for("turn/end")
        assert home.ran() == ["a"] and not store.pending
        assert [e.data["code"] for e in await home.of("tool/result")] == [None]
    await store.aclose()


async def test_a_store_that_is_gone_ends_the_worker_which_says_nothing(tmp_path: Path) -> None:
    store = FaultyStore(await SqliteStore.open(tmp_path / "placet.db"))
    async with house(tmp_path, one_call(), store=store) as home:

        async def go_away() -> None:
            store.down = True

        model = ScriptedModel([Say("I speak.", (call("trace", line="a"),), during=go_away)])
        object.__setattr__(home.kit, "models", lambda name: model)
        await home.send()
        with pytest.raises(StoreGone), anyio.fail_after(60):
            await Worker(home.kit, home.session).run()
        store.down = False
        assert (await home.types())[-1] == "user/message" and home.ran() == []
        await home.work()
        [end] = await home.of("turn/end")
        assert end.data["reason"] == {"kind": "interrupted"}
    await store.aclose()


async def test_a_crew_outlives_a_store_that_is_gone_for_a_while(tmp_path: Path) -> None:
    store = FaultyStore(await SqliteStore.open(tmp_path / "placet.db"))
    async with house(tmp_path, one_call(), store=store) as home, home.crew():
        store.down = True
        await anyio.lowlevel.checkpoint()
        with pytest.raises(StoreGone):
            await home.send()
        store.down = False
        await home.send()
        await home.wait_for("turn/end")
        assert home.ran() == ["a"]
    await store.aclose()


async def test_a_worker_that_lost_its_lease_settles_nothing_and_drops_its_memory(tmp_path: Path) -> None:
    async def lose() -> None:
        await home.store.acquire(home.session, "another", lambda holder: False)

    model = ScriptedModel([Say("I speak.", (call("trace", line="a", widen=True),), during=lose)])
    async with house(tmp_path, model) as home:
        await home.send()
        before = None
        with pytest.raises(LeaseLost), anyio.fail_after(60):
            await Worker(home.kit, home.session).run()
        before = await home.types()
        assert before[-1] == "user/message", "not a word of what it had in memory"
        lease = await home.store.current_lease(home.session)
        assert lease is not None and lease.holder == "another", "nor does it give back what is not its own"


async def test_f12_a_session_that_a_living_process_has_is_left_alone(tmp_path: Path) -> None:
    code = "from placet.session.lease import holder; print(holder(), flush=True); input()"
    async with house(tmp_path, one_call()) as home:
        environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", code]
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            name = other.stdout.readline().decode().strip()
            await home.store.acquire(home.session, name, lambda holder: False)
            await home.send()
            assert await Worker(home.kit, home.session).run() == Held(name)
            assert not await home.of("turn/start")
            other.kill()
        await home.work()
        assert home.ran() == ["a"], "its process is dead now"


# ---- a log of another writer ----

WHERE = {"turn": 1, "step": 1, "position": 0}
ARGUMENTS = '{"line": "a", "widen": true}'


async def foreign(home: House, *drafts: Draft) -> None:
    """An open turn with one call, as another writer left it."""
    wanted = {"position": 0, "id": "x", "name": "trace", "arguments": ARGUMENTS}
    said = {"turn": 1, "step": 1, "model": "scripted", "text": "", "calls": [wanted]}
    begin = [
        Draft("turn/start", {"turn": 1}, keys.turn(1)),
        Draft("step/start", {"turn": 1, "step": 1}, keys.step(1, 1)),
        Draft("assistant/message", said, keys.assistant(1, 1)),
        Draft("tool/call", {**WHERE, "callId": "x", "name": "trace", "arguments": ARGUMENTS}, keys.call(1, 1, 0)),
    ]
    assert isinstance(await home.store.append(home.session, [*begin, *drafts]), Appended)


def asked_by(home: House, *, policy: str = "ask", position: int = 0) -> Draft:
    [tool] = home.kit.tools.tools()
    subject = build(
        ask=AskId(f"a-{position}"),
        session=home.session,
        agent="scripted",
        call=CallKey(1, 1, position),
        tool="trace",
        tool_digest=definition_digest(tool),
        arguments=ARGUMENTS,
        cwd=str(home.cwd),
        cwd_id=f"{home.cwd.stat().st_dev}:{home.cwd.stat().st_ino}",
        from_mode="workspace-write",
        to_mode="danger-full-access",
    )
    return events.asked(subject, call_id="x", reason=None, policy=Policy(policy), chain=["inbox"])


async def test_an_ask_under_never_without_a_decision_is_rejected_and_never_shown(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        await foreign(home, asked_by(home, policy="never"))
        assert not (await home.inbox.open()).asks
        await home.work()
        [decided] = await home.of("approval/decided")
        assert decided.data["outcome"] == "rejected" and decided.data["who"]["kind"] == "policy"
        assert home.ran() == []


async def test_an_ask_from_inside_a_call_that_has_started_is_cancelled_as_asker_gone(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        started = Draft(
            "tool/started", {**WHERE, "ask": None, "digest": None, "mode": "workspace-write"}, keys.started(1, 1, 0)
        )
        await foreign(home, started, asked_by(home))
        await home.work()
        [decided] = await home.of("approval/decided")
        assert (decided.data["outcome"], decided.data["detail"]) == ("cancelled", "asker-gone")
        assert (await home.results())[0].data["code"] == "TOOL_OUTCOME_UNKNOWN"
        assert home.ran() == []


async def test_an_ask_of_no_call_of_the_turn_is_cancelled_as_asker_gone(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        await foreign(home, asked_by(home, position=7))
        await home.work()
        [decided] = await home.of("approval/decided")
        assert (decided.data["outcome"], decided.data["detail"]) == ("cancelled", "asker-gone")


async def test_a_grant_older_than_ten_minutes_is_not_used_and_the_person_is_told(tmp_path: Path) -> None:
    clock = ManualClock()
    store = await SqliteStore.open(tmp_path / "placet.db", clock=clock)
    async with house(tmp_path, ScriptedModel([]), store=store, clock=clock) as home:
        await foreign(home, asked_by(home))
        [asked] = await home.of("approval/asked")
        await home.allow(asked)
        clock.tick(601)
        await home.work()
        result = (await home.results())[0]
        assert (result.data["code"], result.data["meta"]["reason"]) == ("TOOL_NOT_STARTED", "expired")
        [notice] = await home.of("notice")
        assert notice.data["code"] == "grant-unused:expired" and home.ran() == []
    await store.aclose()


async def test_a_rearmed_ask_keeps_its_id_and_its_logged_subject(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        await foreign(home, asked_by(home))
        before = (await home.inbox.open()).asks[0]
        async with home.crew():
            await anyio.sleep(0.2)
            [view] = (await home.inbox.open()).asks
            assert (view.id, view.digest) == (before.id, before.digest)
            [asked] = await home.of("approval/asked")
            await home.allow(asked)
            await home.wait_for("turn/end")
        assert home.ran() == ["a"] and len(await home.of("approval/asked")) == 1
