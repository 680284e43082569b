"""The long run: turns that are killed again and again, at any event, until one worker gets through."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from placet.agent import gestures
from placet.agent.found import FOUND
from placet.approval.inbox import Inbox
from placet.kernel.clock import SYSTEM_CLOCK
from placet.session.fold import folded
from placet.session.stores.sqlite import SqliteStore
from tests.agent.house import BY, House, kit_on, new_session
from tests.scenarios.process import ByLine, model, started

pytestmark = [pytest.mark.anyio, pytest.mark.soak]

TYPES = (
    "turn/start", "step/start", "assistant/message", "tool/call", "approval/asked", "approval/asked:2",
    "approval/decided", "tool/started", "tool/result", "step/end", "turn/end",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
async def test_kills_in_a_row_never_lose_or_double_anything(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    database, cwd = tmp_path / "placet.db", tmp_path / "workspace"
    cwd.mkdir()
    store = await SqliteStore.open(database)
    try:
        session = await new_session(store, cwd)
        home = House(
            store, Inbox(store, SYSTEM_CLOCK), kit_on(store, model(), responders=[ByLine(store)]), session, cwd
        )
        await home.send()
        for _ in range(chance.randint(1, 6)):
            with started(database, "turn", session, crash_after=chance.choice(TYPES)) as process:
                assert process.wait(timeout=120) in (0, -signal.SIGKILL)
            if chance.random() < 0.2 and folded(FOUND, await home.log()).open:
                await gestures.stop(store, session, str(chance.random()), BY)
        await home.work()
        await _holds(home)
    finally:
        await store.aclose()


async def _holds(home: House) -> None:
    log = await home.log()
    keys = {event.key for event in log}
    assert len(keys) == len(log) and [event.seq for event in log] == list(range(len(log)))
    opened, ended = ({k.partition(":")[2] for k in keys if k.startswith(kind)} for kind in ("turn:", "end:"))
    assert opened == ended
    asked, decided = ({k.partition(":")[2] for k in keys if k.startswith(kind)} for kind in ("asked:", "decided:"))
    assert asked == decided
    calls, results = ({k.partition(":")[2] for k in keys if k.startswith(kind)} for kind in ("call:", "result:"))
    assert calls == results
    ran, begun = home.ran(), [event for event in log if event.type == "tool/started"]
    assert len(ran) <= len(begun) and set(ran) <= {"a"}
    for event in log:
        if event.type == "tool/result" and event.data["code"] == "TOOL_OUTCOME_UNKNOWN":
            assert event.key.replace("result:", "started:") in keys
        if event.type == "tool/result" and event.data["code"] in ("TOOL_NOT_STARTED", "ABORTED_BEFORE_DISPATCH"):
            assert event.key.replace("result:", "started:") not in keys
    assert not (await home.inbox.open()).total
