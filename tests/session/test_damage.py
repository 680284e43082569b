"""One damaged log keeps nobody from the others, and damage is never a shorter list."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from placet.session.errors import StoreDamaged
from placet.session.ids import HOUSE, SessionId
from placet.session.store import Held
from placet.session.stores.sqlite import SqliteStore
from placet.testing.facts import fact, new_session

pytestmark = pytest.mark.anyio

ASKED = ("asked:", "decided:")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "placet.db"


async def two(path: Path) -> tuple[SessionId, SessionId]:
    """Two sessions with an open ask each."""
    async with await SqliteStore.open(path) as store:
        first, second = await new_session(store), await new_session(store)
        for number, session in enumerate((first, second)):
            for turn in range(3):
                await store.append(session, [fact(f"note:{turn}", text="words")])
            await store.append(session, [fact(f"asked:a-{number}", text="words")])
    return first, second


def edit(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def change(path: Path, session: SessionId, seq: int) -> None:
    edit(path, f"UPDATE event SET data = replace(data, 'words', 'wordS') WHERE session = '{session}' AND seq = {seq}")


async def test_f11_a_damaged_ask_of_one_session_leaves_those_of_others_in_reach(path: Path) -> None:
    first, second = await two(path)
    change(path, first, 4)
    async with await SqliteStore.open(path) as store:
        assert [event.session for event in await store.unpaired(*ASKED)] == [second]
        assert {name: error.where for name, error in (await store.damaged()).items()} == {
            first: f"session {first}, seq 4"
        }
        assert {event.session for event in await store.feed(0)} == {second}


async def test_f11_nothing_is_appended_to_a_damaged_log_and_nobody_takes_it_over(path: Path) -> None:
    first, second = await two(path)
    change(path, first, 4)
    async with await SqliteStore.open(path) as store:
        await store.unpaired(*ASKED)
        with pytest.raises(StoreDamaged, match="seq 4"):
            await store.append(first, [fact("more")])
        with pytest.raises(StoreDamaged, match="seq 4"):
            await store.acquire(first, "somebody", lambda holder: False)
        assert not isinstance(await store.acquire(second, "somebody", lambda holder: False), Held)
        await store.append(second, [fact("more")])


async def test_a_page_of_the_feed_is_full_although_a_damaged_log_was_left_out(path: Path) -> None:
    first, second = await two(path)
    change(path, first, 1)
    async with await SqliteStore.open(path) as store:
        assert [event.session for event in await store.feed(0, limit=3)] == [second] * 3


async def test_a_damaged_session_can_be_removed(path: Path) -> None:
    first, second = await two(path)
    change(path, first, 4)
    async with await SqliteStore.open(path) as store:
        await store.unpaired(*ASKED)
        await store.remove(first)
        assert await store.damaged(look=True) == {}
        assert [head.id for head in await store.sessions()] == [second]


async def test_f11_damage_of_the_house_is_that_of_the_whole_store(path: Path) -> None:
    await two(path)
    async with await SqliteStore.open(path) as store:
        await store.append(HOUSE, [fact("house", text="words")])
    change(path, HOUSE, 0)
    async with await SqliteStore.open(path) as store:
        for _ in range(2):
            with pytest.raises(StoreDamaged, match="session house, seq 0"):
                await store.feed(0)
        with pytest.raises(StoreDamaged, match="session house, seq 0"):
            await store.unpaired(*ASKED)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM unpaired WHERE opener = 'asked:'", "the index of open asks disagrees with the log"),
        ("DELETE FROM session WHERE id = '{first}'", "the record stands behind the end of its log"),
        ("DELETE FROM event WHERE session = '{first}' AND seq = 4", "the log ends here, but it went on to seq 4"),
        ("DELETE FROM event WHERE session = '{first}' AND seq = 0", "the record is missing"),
    ],
)
async def test_a_first_look_finds_what_a_list_would_silently_leave_out(path: Path, statement: str, said: str) -> None:
    first, _ = await two(path)
    edit(path, statement.format(first=first))
    async with await SqliteStore.open(path) as store:
        assert (await store.damaged(look=True))[first].why == said


@pytest.mark.parametrize("page", range(1, 12))
async def test_a_page_of_zeros_is_never_a_shorter_list(path: Path, page: int) -> None:
    sessions = await two(path)
    edit(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    start = page * 4096
    if start >= len(content):
        pytest.skip("the file is shorter")
    content[start : start + 4096] = bytes(4096)
    path.write_bytes(content)
    try:
        async with await SqliteStore.open(path) as store:
            await store.damaged(look=True)
            assert {head.id for head in await store.sessions()} == set(sessions)
            assert len(await store.unpaired(*ASKED)) == 2
    except StoreDamaged as refusal:
        assert "\n" not in str(refusal)


async def test_a_damaged_file_is_told_by_everything_that_is_asked_later(path: Path) -> None:
    await two(path)
    edit(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    async with await SqliteStore.open(path) as store:
        content = bytearray(path.read_bytes())
        for start in range(4096, len(content), 4096):
            content[start : start + 64] = b"\xee" * 64
        path.write_bytes(content)
        with pytest.raises(StoreDamaged):
            await store.feed(0)
        with pytest.raises(StoreDamaged):
            await store.damaged()
        with pytest.raises(StoreDamaged):
            await store.sessions()
