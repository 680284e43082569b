"""One session followed as it grows, and appends whose fate is unknown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from placet.session import (
    HOUSE,
    BadDraft,
    Event,
    Lease,
    SessionId,
    SessionLog,
    StoreGone,
    StoreLocked,
    UnknownEvent,
    UnknownSession,
)
from placet.session.stores.sqlite import SqliteStore
from placet.testing.faults import Fault, FaultyStore
from placet.testing.stores import appended, fact, new_session, note, refused

pytestmark = pytest.mark.anyio


@dataclass
class Count:
    """A fold that counts its steps."""

    steps: int = 0

    def start(self) -> int:
        return 0

    def step(self, state: int, event: Event) -> int:
        self.steps += 1
        return state + 1


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[FaultyStore]:
    async with await SqliteStore.open(tmp_path / "placet.db") as inner:
        yield FaultyStore(inner)


@pytest.fixture
async def session(store: FaultyStore) -> SessionId:
    return await new_session(store)


async def test_a_session_that_is_not_there_cannot_be_opened(store: FaultyStore) -> None:
    with pytest.raises(UnknownSession):
        await SessionLog.open(store, SessionId("s-none"))
    assert (await SessionLog.open(store, HOUSE)).seq == -1


async def test_reading_a_log_never_appends(store: FaultyStore, session: SessionId) -> None:
    before = await store.head()
    log = await SessionLog.open(store, session)
    await log.catch_up()
    assert await store.head() == before


async def test_a_log_follows_what_others_append(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    count = Count()
    assert log.see(count) == 1
    await store.append(session, [note("1"), note("2")])
    assert log.see(count) == 1
    assert [event.key for event in await log.catch_up()] == ["notice:1", "notice:2"]
    assert log.see(count) == 3
    assert await log.catch_up() == []


async def test_every_event_is_folded_once(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    count = Count()
    for n in range(20):
        await log.append([note(str(n))])
        assert log.see(count) == n + 2
        log.see(count)
    assert count.steps == 21


async def test_an_append_applies_what_others_appended_before_it(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    await store.append(session, [note("theirs")])
    await log.append([note("mine")])
    assert [event.key for event in log.events] == ["created", "notice:theirs", "notice:mine"]


async def test_parallel_tasks_may_share_a_log(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    count = Count()

    async def work(name: str) -> None:
        for n in range(20):
            await log.append([note(f"{name}.{n}")])
            await store.append(session, [note(f"{name}.{n}.aside")])
            await log.catch_up()
            log.see(count)

    await asyncio.gather(*(work(str(n)) for n in range(5)))
    await log.catch_up()
    assert [event.seq for event in log.events] == list(range(201))
    assert log.see(count) == count.steps == 201


async def test_a_refused_append_leaves_the_log_as_it_was(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    assert refused(await log.append([note("1")], present=["notice:0"])).key == "notice:0"
    assert log.seq == 0


async def test_a16_a_lost_acknowledgement_is_found_again_by_its_key(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    store.plan(Fault.LOSE_ACK, "notice")
    events = appended(await log.append([note("1"), note("2")]))
    assert [event.key for event in events] == ["notice:1", "notice:2"]
    assert [event.seq for event in await store.read(session)] == [0, 1, 2]
    assert log.seq == 2


async def test_a16_an_append_that_failed_is_tried_once_more(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    store.plan(Fault.REFUSE, "notice")
    appended(await log.append([note("1")]))
    assert [event.seq for event in await store.read(session)] == [0, 1]


async def test_a16_a_second_failure_ends_it(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    store.plan(Fault.REFUSE, "notice")
    store.plan(Fault.REFUSE, "notice")
    with pytest.raises(StoreGone):
        await log.append([note("1")])
    assert log.seq == 0 and store.pending == 0


async def test_a16_a_store_that_does_not_answer_gives_no_outcome(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    store.down = True
    with pytest.raises(StoreGone):
        await log.append([note("1")])
    store.down = False
    appended(await log.append([note("1")]))


async def test_a16_conditions_hold_for_the_second_try_too(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    await store.append(session, [fact("abort:1")])
    store.plan(Fault.REFUSE, "notice")
    assert refused(await log.append([note("1")], absent=["abort:1"])).why == "absent"


async def test_a16_another_ones_fact_under_the_key_is_not_taken_for_ours(
    store: FaultyStore, session: SessionId
) -> None:
    log = await SessionLog.open(store, session)
    await store.append(session, [fact("decided:1", by="them")])
    store.plan(Fault.REFUSE, "test/fact")
    answer = refused(await log.append([fact("decided:1", by="me")]))
    assert answer.event is not None and answer.event.data["by"] == "them"


async def test_a_second_try_that_was_committed_unseen_counts_as_ours(store: FaultyStore, session: SessionId) -> None:
    """The first try fails, the second is committed and not acknowledged: nobody knows, so nothing is returned."""
    log = await SessionLog.open(store, session)
    store.plan(Fault.REFUSE, "test/fact")
    store.plan(Fault.LOSE_ACK, "test/fact")
    with pytest.raises(StoreGone):
        await log.append([fact("decided:1", by="me")])
    assert [event.key for event in await log.catch_up()] == ["decided:1"]


async def test_a_stale_lease_is_refused_even_if_the_append_was_in_doubt(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    old = await store.acquire(session, "one", lambda holder: True)
    await store.acquire(session, "two", lambda holder: False)
    assert isinstance(old, Lease)
    store.plan(Fault.REFUSE, "notice")
    assert refused(await log.append([note("1")], lease=old)).why == "lease"


async def test_the_callers_own_fault_is_not_tried_again(store: FaultyStore, session: SessionId) -> None:
    log = await SessionLog.open(store, session)
    with pytest.raises(BadDraft):
        await log.append([fact("fact:1", value=float("nan"))])
    assert store.appended == ["session/created"]


async def test_f16_unknown_types_refuse_the_load_and_are_named(tmp_path: Path) -> None:
    async with await SqliteStore.open(tmp_path / "placet.db") as store:
        session = await new_session(store)
        await store.append(session, [fact("fact:1")])
        assert (await SessionLog.open(store, session)).seq == 1  # it says of itself that it may be skipped
        await store.append(session, [fact("fact:2"), fact("fact:3")])
    _as_of_a_later_version(tmp_path / "placet.db", {"fact:2": "later/thing", "fact:3": "later/other"})
    async with await SqliteStore.open(tmp_path / "placet.db") as store:
        with pytest.raises(UnknownEvent, match="later version") as refusal:
            await SessionLog.open(store, session)
        assert refusal.value.names == ("later/other", "later/thing")
        assert len(await store.read(session)) == 4  # who only shows or exports it still can


async def test_a_locked_store_is_a_store_that_is_gone_for_now(tmp_path: Path) -> None:
    import sqlite3

    async with await SqliteStore.open(tmp_path / "placet.db", wait=0.05) as store:
        session = await new_session(store)
        log = await SessionLog.open(store, session)
        other = sqlite3.connect(tmp_path / "placet.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked, match="another process"):
            await log.append([note("1")])
        assert (await store.read(session))[-1].seq == 0  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        appended(await log.append([note("1")]))


def _as_of_a_later_version(path: Path, types: dict[str, str]) -> None:
    """Write events as a later placet would, checksums included."""
    import sqlite3

    from placet.session.stores.rows import checksum

    db = sqlite3.connect(path)
    for key, kind in types.items():
        session, seq, time = db.execute("SELECT session, seq, time FROM event WHERE key = ?", (key,)).fetchone()
        total = checksum(session, seq, time, kind, key, "{}")
        db.execute("UPDATE event SET type = ?, data = '{}', sum = ? WHERE key = ?", (kind, total, key))
    db.commit()
    db.close()
