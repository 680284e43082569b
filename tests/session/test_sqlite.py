"""The SQLite store beyond the contract: files, formats, damage, full disks, cost."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from placet.session import (
    Numbered,
    SessionId,
    SessionLog,
    StoreDamaged,
    StoreError,
    StoreFormat,
    StoreFull,
    StoreGone,
)
from placet.session.stores.sqlite import SqliteStore
from placet.session.verify import verify
from placet.testing.stores import appended, fact, new_session, note

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "placet.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    async with await SqliteStore.open(path) as store:
        yield store


def edit(path: Path, statement: str, *values: object) -> None:
    """Change the file behind the store's back."""
    db = sqlite3.connect(path)
    db.execute(statement, values)
    db.commit()
    db.close()


async def filled(path: Path, count: int = 50) -> SessionId:
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
        for n in range(count):
            await store.append(session, [note(str(n), "text " * 20)])
    return session


async def test_the_file_is_for_its_owner_only(store: SqliteStore, path: Path) -> None:
    await new_session(store)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for file in path.parent.glob("placet.db*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(list(path.parent.glob("placet.db*"))) == 3


async def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    await filled(path, 1)
    path.chmod(0o644)
    await filled(path, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_every_commit_is_synced(store: SqliteStore) -> None:
    synced, journal = await store._threads.write(
        lambda db: tuple(db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode"))
    )
    assert (synced, journal) == (2, "wal")


async def test_appends_that_wait_together_are_committed_together(store: SqliteStore) -> None:
    session = await new_session(store)
    before = store.commits
    await asyncio.gather(*(store.append(session, [note(str(n))]) for n in range(200)))
    assert store.commits - before < 100


async def test_f16_a_later_format_is_refused_and_the_direction_named(path: Path) -> None:
    await filled(path, 1)
    edit(path, "PRAGMA user_version=3")
    with pytest.raises(StoreFormat, match=r"later placet.*update placet"):
        await SqliteStore.open(path)


async def test_f16_an_older_format_is_refused_and_the_direction_named(path: Path) -> None:
    await filled(path, 1)
    edit(path, "PRAGMA user_version=0")
    with pytest.raises(StoreFormat, match=r"older.*convert"):
        await SqliteStore.open(path)


async def test_a_file_of_format_1_becomes_one_of_this_format_and_keeps_its_logs(path: Path) -> None:
    session = await filled(path, 3)
    edit(path, "DROP TABLE counter")
    edit(path, "PRAGMA user_version=1")
    async with await SqliteStore.open(path) as store:
        assert len(await store.read(session)) == 4
        numbered = Numbered(("plugin",), lambda numbers: [note("new", f"plugin {numbers['plugin']}")])
        (event,) = appended(await store.append(session, numbered))
        assert event.data["text"] == "plugin 1"
        assert await store.damage() == []
    async with await SqliteStore.open(path) as store:
        (event,) = appended(await store.append(session, Numbered(("plugin",), lambda n: [note("b", str(n["plugin"]))])))
        assert event.data["text"] == "2"


async def test_a_foreign_database_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    edit(path, "CREATE TABLE theirs(x)")
    before = path.read_bytes()
    with pytest.raises(StoreFormat, match="not a store of placet"):
        await SqliteStore.open(path)
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"these are notes of somebody" * 100)
    with pytest.raises(StoreDamaged):
        await SqliteStore.open(path)


async def test_a_place_that_cannot_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as refusal:
        await SqliteStore.open(tmp_path / "file" / "placet.db")
    assert "\n" not in str(refusal.value)


async def test_f11_a_changed_record_refuses_the_load_and_is_named(path: Path) -> None:
    session = await filled(path)
    edit(path, "UPDATE event SET data = replace(data, 'text', 'texT') WHERE seq = 20")
    async with await SqliteStore.open(path) as store:
        with pytest.raises(StoreDamaged) as refusal:
            await SessionLog.open(store, session)
        assert refusal.value.where == f"session {session}, seq 20"
        assert len(await store.read(session, after=20)) == 30
        assert [found.where for found in (await verify(store)).findings] == [f"session {session}, seq 20"]


async def test_f11_bytes_that_are_no_text_are_named_too(path: Path) -> None:
    session = await filled(path)
    edit(path, "UPDATE event SET data = CAST(x'ff00fe' AS TEXT) WHERE seq = 7")
    async with await SqliteStore.open(path) as store:
        with pytest.raises(StoreDamaged, match="seq 7"):
            await store.read(session)
        assert any("seq 7" in found.where for found in await store.damage())


async def test_f11_a_record_missing_in_the_middle_is_named(path: Path) -> None:
    session = await filled(path)
    edit(path, "DELETE FROM event WHERE seq = 20")
    async with await SqliteStore.open(path) as store:
        with pytest.raises(StoreDamaged, match="seq 20: the record is missing"):
            await SessionLog.open(store, session)
        assert not (await verify(store)).well


async def test_aud_05_a_record_missing_at_the_end_is_found(path: Path) -> None:
    session = await filled(path)
    edit(path, "DELETE FROM event WHERE seq = 50")
    async with await SqliteStore.open(path) as store:
        with pytest.raises(StoreDamaged, match="seq 50"):
            await SessionLog.open(store, session)
        assert [found.where for found in (await verify(store)).findings] == [f"session {session}, seq 50"]


async def test_a_page_of_zeros_in_the_middle_is_never_a_silent_shorter_history(path: Path) -> None:
    session = await filled(path, 400)
    content = bytearray(path.read_bytes())
    for page in range(3, len(content) // 4096 - 1):
        broken = bytearray(content)
        broken[page * 4096 : (page + 1) * 4096] = bytes(4096)
        path.write_bytes(broken)
        try:
            async with await SqliteStore.open(path) as store:
                events = await store.read(session)
                assert len(events) == 401 or not (await verify(store)).well
                assert not (await verify(store)).well or broken == content
        except StoreError:
            pass


async def test_a_file_cut_short_is_refused(path: Path) -> None:
    session = await filled(path, 400)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(StoreDamaged):
        async with await SqliteStore.open(path) as store:
            await store.read(session)


async def test_ses_05_a_log_cut_anywhere_loses_only_its_tail_and_says_so(path: Path, tmp_path: Path) -> None:
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
        for n in range(5):
            await store.append(session, [note(str(n))])
        whole = await store.read(session)
        shutil.copytree(path.parent, tmp_path / "copy")
    copy = tmp_path / "copy" / "placet.db"
    wal = (tmp_path / "copy" / "placet.db-wal").read_bytes()
    base = copy.read_bytes()
    reported = 0
    for cut in [*range(len(wal) - 1, len(wal) - 9000, -997), len(wal) - 4120]:
        for end in (wal[:cut], wal[:cut][:-512] + bytes(512)):
            for leftover in (tmp_path / "copy").glob("placet.db-*"):
                leftover.unlink()
            copy.write_bytes(base)
            (tmp_path / "copy" / "placet.db-wal").write_bytes(end)
            async with await SqliteStore.open(copy) as store:
                there = await store.read(session)
                assert there == whole[: len(there)] and len(there) >= 3
                reported += store.dropped is not None
                appended(await store.append(session, [note("after")]))
                assert (await verify(store)).well
            async with await SqliteStore.open(copy) as store:
                assert [event.key for event in await store.read(session)][-1] == "notice:after"
                assert store.dropped is None
    assert reported >= 10  # all but cuts at the very end of a commit, which leave no trace


async def test_a_store_that_was_closed_well_dropped_nothing(path: Path) -> None:
    await filled(path)
    async with await SqliteStore.open(path) as store, await SqliteStore.open(path) as other:
        await new_session(store)
        assert store.dropped is None and other.dropped is None


async def test_a_full_disk_takes_nothing_and_says_so(store: SqliteStore) -> None:
    session = await new_session(store)
    pages = await store._threads.write(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
    await store._threads.write(lambda db: db.execute(f"PRAGMA max_page_count={pages + 2}").fetchone())
    with pytest.raises(StoreFull, match="no space"):
        await store.append(session, [note("big", "x" * 100_000)])
    assert await store.lookup(session, "notice:big") is None
    await store._threads.write(lambda db: db.execute("PRAGMA max_page_count=100000").fetchone())
    appended(await store.append(session, [note("big", "x" * 100_000)]))
    assert (await verify(store)).well


async def test_a_file_removed_under_an_open_store_is_noticed(store: SqliteStore, path: Path) -> None:
    session = await new_session(store)
    path.rename(path.with_suffix(".moved"))
    with pytest.raises(StoreGone, match="removed or replaced"):
        await store.append(session, [note("1")])
    path.with_suffix(".moved").rename(path)
    appended(await store.append(session, [note("1")]))


async def test_a_closed_store_says_so(path: Path) -> None:
    store = await SqliteStore.open(path)
    await store.aclose()
    await store.aclose()
    with pytest.raises(StoreGone, match="closed"):
        await store.head()


async def test_an_index_of_pairs_is_made_for_what_is_there_already(path: Path) -> None:
    async with await SqliteStore.open(path, pairs=()) as store:
        session = await new_session(store)
        await store.append(session, [fact("asked:1"), fact("asked:2"), fact("decided:1")])
    async with await SqliteStore.open(path) as store:
        assert [event.key for event in await store.unpaired("asked:", "decided:")] == ["asked:2"]
        assert (await verify(store)).well


async def test_the_removed_text_is_overwritten(path: Path) -> None:
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
        await store.append(session, [note("1", "a very secret sentence")])
        await store.remove(session)
    assert b"very secret" not in path.read_bytes()


async def test_the_work_of_a_question_does_not_grow_with_the_log(path: Path) -> None:
    """Counted in steps of SQLite's virtual machine, not in time."""
    short, long = await _steps(path.with_name("short.db"), 10), await _steps(path.with_name("long.db"), 3000)
    assert {name: count for name, count in long.items() if count > short[name] * 1.5 + 20} == {}
    assert all(long.values())


async def _steps(path: Path, count: int) -> dict[str, int]:
    """What each question costs in a store with that many decided asks and one open one."""
    session = await filled(path, 1)
    async with await SqliteStore.open(path) as store:
        pairs = ([fact(f"asked:{n}"), fact(f"decided:{n}")] for n in range(count))
        await asyncio.gather(*(store.append(session, pair) for pair in pairs))
        await store.append(session, [fact("asked:open")])
        head, counted, found = await store.head(), await _count_steps(store), {}
        questions: dict[str, Callable[[], Awaitable[object]]] = {
            "unpaired": lambda: store.unpaired("asked:", "decided:"),
            "lookup": lambda: store.lookup(session, "asked:5"),
            "find": lambda: store.find("asked:5"),
            "feed": lambda: store.feed(head - 3, session=session),
            "newest": lambda: store.read(session, limit=5, newest=True),
            "append": lambda: store.append(
                session, [fact("asked:new"), fact("decided:new")], present=["created"], absent=["abort:1", "end:1"]
            ),
        }
        for name, ask in questions.items():
            counted.clear()
            await ask()
            found[name] = len(counted)
        return found


async def _count_steps(store: SqliteStore) -> list[int]:
    """Let every connection of the store report each step of its virtual machine."""
    counted: list[int] = []

    def watch(db: sqlite3.Connection) -> None:
        db.execute("SELECT 1 FROM event").fetchone()  # a new connection reads the schema first
        db.set_progress_handler(lambda: counted.append(1), 1)

    await store._threads.write(watch)
    both = threading.Barrier(2)  # so that each of the two readers takes one
    await asyncio.gather(*(store._threads.read(lambda db: (both.wait(30), watch(db))) for _ in range(2)))
    counted.clear()
    return counted


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("DELETE FROM event WHERE seq BETWEEN 3 AND 40", "seq 23 to 40: the records are missing"),
        ("UPDATE session SET head = 45", "seq 46: the record stands behind the end of its log"),
        ("DELETE FROM session", "seq 0: the record stands behind the end of its log"),
        ("DELETE FROM unpaired", "the index of open asked:... disagrees with the log"),
        ("UPDATE event SET data = 'x', sum = 0 WHERE seq = 5", "seq 5: the record does not match its checksum"),
    ],
)
async def test_the_built_in_check_finds(path: Path, statement: str, finding: str) -> None:
    session = await filled(path)
    async with await SqliteStore.open(path) as store:
        await store.append(session, [fact("asked:open")])
    edit(path, statement)
    async with await SqliteStore.open(path) as store:
        assert any(f"{found.where}: {found.what}".endswith(finding) for found in await store.damage())


async def test_a_bell_rings_in_its_own_process_even_where_no_socket_can_be_made(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / "bells").write_text("in the way")
    async with await SqliteStore.open(path) as store, store.doorbell() as bell:
        waiting = asyncio.create_task(bell.wait(60))
        await new_session(store)
        await asyncio.wait_for(waiting, 30)


async def test_a_store_that_cannot_be_reached_any_more_says_so_and_comes_back(path: Path) -> None:
    async with await SqliteStore.open(path) as store:  # its threads have not connected yet
        path.rename(path.with_suffix(".moved"))
        path.mkdir()
        with pytest.raises(StoreGone):
            await store.head()
        with pytest.raises(StoreGone):
            await new_session(store)
        path.rmdir()
        path.with_suffix(".moved").rename(path)
        await new_session(store)
        assert await store.head() == 1
