"""kill -9 after each event of one turn with two parallel asks; then another process takes over, by the recovery table.

The rows of the table are the parameters: what is found after the kill has to be that row, and what the takeover makes
of it has to be what the row says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from placet.agent import gestures
from placet.agent.found import FOUND, Found
from placet.agent.recovery import CALLS, TURNS, CallFate, TurnFate, plan
from placet.approval.inbox import Inbox
from placet.kernel.clock import SYSTEM_CLOCK
from placet.session.catalogue import misfits
from placet.session.event import Event
from placet.session.fold import folded
from placet.session.log import SessionLog
from placet.session.stores.sqlite import SqliteStore
from tests.agent.house import BY, House, kit_on, new_session
from tests.scenarios.process import NOTE, ByLine, crashed, model

pytestmark = pytest.mark.anyio

RESULT, STARTED = "tool/result", "tool/started, no tool/result"
ASKED = "asked under ask, no decided"
GRANTED, DENIED = "decided allowed-once, no tool/started", "decided otherwise, no tool/result"
CALLED, NOT_CALLED = "tool/call only", "not even tool/call"
STOPPED = "turn/abort, no tool/started"
HAS_CALLS, NO_CALLS = "the last message has calls", "the last message has no calls"
SPEAKING, BEGUN = "step/start without assistant/message", "turn/start and nothing after it"
ABORT = "turn/abort"


@dataclass(frozen=True)
class Case:
    """Where the process dies, and the rows that fit what is left: of the turn, and of the calls `a` and `b`.

    Where the two calls race for the log, each pair that can come of it is listed.
    """

    after: str
    turn: str
    calls: tuple[tuple[str, str], ...] = ()


CASES = (
    Case("turn/start", BEGUN),
    Case("step/start", SPEAKING),
    Case("agent/inbox", SPEAKING),
    Case("user/message", SPEAKING),
    Case("assistant/message", HAS_CALLS, ((NOT_CALLED, NOT_CALLED),)),
    Case("tool/call", HAS_CALLS, ((CALLED, CALLED),)),
    Case("approval/asked", HAS_CALLS, ((ASKED, CALLED), (CALLED, ASKED), (ASKED, ASKED))),
    Case("approval/asked:2", HAS_CALLS, ((ASKED, ASKED), (GRANTED, ASKED))),
    Case("approval/decided", HAS_CALLS, ((GRANTED, CALLED), (GRANTED, ASKED))),
    Case("tool/started", HAS_CALLS, ((STARTED, CALLED), (STARTED, ASKED))),
    Case("tool/result", HAS_CALLS, ((RESULT, CALLED), (RESULT, ASKED))),
    Case("approval/decided:2", HAS_CALLS, ((RESULT, DENIED),)),
    Case("tool/result:2", HAS_CALLS, ((RESULT, RESULT),)),
    Case("step/end", HAS_CALLS, ((RESULT, RESULT),)),
    Case("step/start:2", SPEAKING),
    Case("assistant/message:2", NO_CALLS),
)


async def killed(tmp_path: Path, after: str) -> House:
    """A session whose turn was cut off by a kill, and a house that has not touched it yet."""
    database, cwd = tmp_path / "placet.db", tmp_path / "workspace"
    cwd.mkdir()
    store = await SqliteStore.open(database)
    session = await new_session(store, cwd)
    home = House(store, Inbox(store, SYSTEM_CLOCK), kit_on(store, model(), responders=[ByLine(store)]), session, cwd)
    await home.send()
    crashed(database, session, after)
    return home


async def left(home: House) -> Found:
    return folded(FOUND, await home.log())


def rows(found: Found) -> list[str]:
    return [next(row.found for row in CALLS if row.fits(found, call)) for call in found.calls]


async def check(home: House, before: list[Event]) -> None:
    """What holds at the end of every takeover: nothing was rewritten, pairs are pairs, one result per call, one end."""
    log = await home.log()
    assert log[: len(before)] == before
    assert [misfits(event.type, event.data, event.key) for event in log] == [[]] * len(log)
    steps = [(event.data["turn"], event.data["step"]) for event in log if event.type == "step/start"]
    assert steps == [(event.data["turn"], event.data["step"]) for event in log if event.type == "step/end"]
    asked = [event.data["id"] for event in log if event.type == "approval/asked"]
    assert sorted(asked) == sorted(event.data["id"] for event in log if event.type == "approval/decided")
    wanted = {
        (e.data["step"], call["position"]) for e in log if e.type == "assistant/message" for call in e.data["calls"]
    }
    assert sorted(wanted) == sorted((e.data["step"], e.data["position"]) for e in log if e.type == "tool/result")
    assert len([event for event in log if event.type == "turn/end"]) == len([e for e in log if e.type == "turn/start"])
    assert not (await home.inbox.open()).total


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.after)
async def test_f10_the_takeover_does_what_the_row_says(tmp_path: Path, case: Case) -> None:
    home = await killed(tmp_path, case.after)
    try:
        found, before = await left(home), await home.log()
        assert found.open and next(row.found for row in TURNS if row.fits(found, None)) == case.turn
        assert tuple(rows(found)) in (case.calls or ((),))
        fates = [fate for _, fate in plan(found).calls]
        await home.work()
        await check(home, before)
        await _as_the_rows_say(home, fates, plan(found).turn)
    finally:
        await home.store.aclose()


async def _as_the_rows_say(home: House, fates: list[CallFate], turn: TurnFate) -> None:
    results = await home.results()
    ordinary = {0: None, 1: "APPROVAL_REJECTED"}
    for position, fate in enumerate(fates):
        expected = ordinary[position] if fate in (CallFate.KEPT, CallFate.GOES_ON) else fate.value
        assert results[position].data["code"] == expected
        if fate is CallFate.GOES_ON and position == 1:
            assert NOTE in results[1].data["text"]
    ran = ["a"] if fates and fates[0] in (CallFate.KEPT, CallFate.GOES_ON) else []
    if fates:
        assert home.ran() == ran or fates[0] is CallFate.UNKNOWN
    end = (await home.of("turn/end"))[0]
    assert end.data["reason"]["kind"] == {TurnFate.GOES_ON: "completed"}.get(turn, turn.value)


@pytest.mark.parametrize(
    "after",
    [
        "turn/start",
        "assistant/message",
        "tool/call",
        "approval/asked:2",
        "approval/decided",
        "tool/started",
        "tool/result",
    ],
)
async def test_a13_a_stop_while_nobody_lives_is_durable_and_nothing_is_rearmed(tmp_path: Path, after: str) -> None:
    home = await killed(tmp_path, after)
    try:
        assert await gestures.stop(home.store, home.session, "k", BY) == gestures.Stopped(1)
        before, asked = await home.log(), len(await home.of("approval/asked"))
        fates = [fate for _, fate in plan(await left(home)).calls]
        await home.work()
        await check(home, before)
        assert len(await home.of("approval/asked")) == asked
        results = await home.results()
        for position, fate in enumerate(fates):
            assert fate is CallFate.KEPT or results[position].data["code"] == fate.value
            assert fate in (CallFate.KEPT, CallFate.STOPPED, CallFate.UNKNOWN)
        [end] = await home.of("turn/end")
        assert end.data["reason"] == {"kind": "aborted", "reason": "user"}
        cancelled = [e for e in (await home.log())[len(before) :] if e.type == "approval/decided"]
        assert {event.data["outcome"] for event in cancelled} <= {"cancelled"}
    finally:
        await home.store.aclose()


async def test_after_turn_end_there_is_nothing_to_recover(tmp_path: Path) -> None:
    home = await killed(tmp_path, "turn/end")
    try:
        before = await home.log()
        await home.work()
        assert await home.log() == before
    finally:
        await home.store.aclose()


async def test_f9_a_message_that_was_not_claimed_stays_queued_and_opens_the_next_turn(tmp_path: Path) -> None:
    home = await killed(tmp_path, "turn/start")
    try:
        await home.work()
        ends = [event.data["reason"]["kind"] for event in await home.of("turn/end")]
        assert ends == ["interrupted", "completed"] and home.ran() == ["a"]
    finally:
        await home.store.aclose()


async def test_a_call_that_started_is_never_run_again_by_itself(tmp_path: Path) -> None:
    home = await killed(tmp_path, "tool/started")
    try:
        ran = home.ran()
        await home.work()
        assert home.ran() == ran == []
        assert "unknown" in (await home.results())[0].data["text"]
    finally:
        await home.store.aclose()


async def test_a_second_kill_during_the_takeover_changes_nothing_about_the_end(tmp_path: Path) -> None:
    home = await killed(tmp_path, "tool/call")
    try:
        crashed(tmp_path / "placet.db", home.session, "tool/result")
        names = rows(await left(home))
        assert names == [RESULT, CALLED]
        await home.work()
        assert {e.data["code"] for e in (await home.results()).values()} == {"TOOL_NOT_STARTED"}
        assert home.ran() == []
    finally:
        await home.store.aclose()


async def test_f12_loading_to_read_never_appends(tmp_path: Path) -> None:
    home = await killed(tmp_path, "approval/asked:2")
    try:
        before = await home.store.head()
        await SessionLog.open(home.store, home.session)
        assert (await home.inbox.open()).total == len((await left(home)).undecided) > 0
        assert await home.store.head() == before
    finally:
        await home.store.aclose()
