"""Several processes on one file, and processes that die: nothing acknowledged is lost, nothing is written twice."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from placet.session import SessionId, StoreLocked
from placet.session.stores.sqlite import SqliteStore
from placet.session.verify import verify
from placet.testing.faults import CRASH_AFTER
from placet.testing.stores import appended, fact, new_session, note
from tests.session.processes import ROOT

pytestmark = pytest.mark.anyio

SOAK = os.environ.get("PLACET_SOAK") == "1"


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **more}


def run(name: str, *arguments: object, **more: str) -> subprocess.Popen[str]:
    """One of the programs of `processes.py`."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.session.processes", name, *map(str, arguments)],
        cwd=ROOT,
        env=environment(**more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def start_together(*processes: subprocess.Popen[str]) -> None:
    """Let processes that say `ready` begin at the same time."""
    for process in processes:
        assert line(process) == "ready"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


async def test_aud_05_two_processes_write_one_log_and_no_event_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"
    async with await SqliteStore.open(path) as store:
        shared, ours, theirs = [await new_session(store) for _ in range(3)]
        with run("write", path, "one", 500, shared, ours) as one, run("write", path, "two", 500, shared, theirs) as two:
            start_together(one, two)
            assert (await asyncio.to_thread(one.wait, 120), await asyncio.to_thread(two.wait, 120)) == (0, 0)
        assert [event.seq for event in await store.read(shared)] == list(range(1001))
        assert len(await store.read(ours)) == len(await store.read(theirs)) == 501
        assert len({event.pos for event in await store.feed(0, limit=10_000)}) == 2003
        assert (await verify(store)).well


async def test_aud_05_the_check_names_an_event_that_somebody_took_away(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "placet.db"
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
        await store.append(session, [note(str(n)) for n in range(10)])
        db = sqlite3.connect(path)
        db.execute("DELETE FROM event WHERE seq = 4")
        db.commit()
        db.close()
        report = await verify(store)
        assert [(found.where, found.what) for found in report.findings] == [
            (f"session {session}, seq 4", "the record is missing")
        ]


async def test_processes_that_open_a_new_store_at_once_all_get_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "placet.db"
    processes = [run("begin", path) for _ in range(5)]
    start_together(*processes)
    said = [await asyncio.to_thread(process.communicate, None, 60) for process in processes]
    assert [process.returncode for process in processes] == [0] * 5
    async with await SqliteStore.open(path) as store:
        assert {head.id for head in await store.sessions()} == {out.strip() for out, _ in said}
        assert (await verify(store)).well


async def test_of_two_processes_that_decide_each_ask_is_decided_by_one(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
        await store.append(session, [fact(f"asked:{n}") for n in range(100)])
        with run("decide", path, session, "one", 100) as one, run("decide", path, session, "two", 100) as two:
            start_together(one, two)
            said = await asyncio.gather(*(asyncio.to_thread(process.communicate, None, 120) for process in (one, two)))
        won = {name: {int(word) for word in out.split()} for name, (out, _) in zip(("one", "two"), said, strict=True)}
        assert won["one"] | won["two"] == set(range(100)) and not won["one"] & won["two"]
        for n in range(100):
            decided = await store.lookup(session, f"decided:{n}")
            assert decided is not None and n in won[decided.data["by"]]
        assert await store.unpaired("asked:", "decided:") == []


async def test_a_bell_rings_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / ("deep" * 30) / "placet.db"  # deeper than a socket address can be long
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
        with run("listen", path) as listener:
            assert await asyncio.to_thread(line, listener) == "ready"
            (event,) = appended(await store.append(session, [note("1")]))
            began = time.monotonic()
            assert await asyncio.to_thread(line, listener) == str(event.pos)
            assert time.monotonic() - began < 30  # its own timeout would be 60 s
            assert listener.wait(30) == 0
        assert list((path.parent / "bells").iterdir()) == []


async def test_the_socket_of_a_dead_process_is_cleared_away(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
        with run("listen", path) as listener:
            assert await asyncio.to_thread(line, listener) == "ready"
            listener.kill()
        assert len(list((path.parent / "bells").iterdir())) == 1
        async with store.doorbell() as bell:
            await store.append(session, [note("1")])
            await bell.wait(30)
        while len(list((path.parent / "bells").iterdir())) > 1:  # noqa: ASYNC110 - the writer rings after it has answered
            await asyncio.sleep(0.01)


async def test_ses_05_kill_9_loses_no_acknowledged_event(tmp_path: Path) -> None:
    """200 deaths in the long run, 20 here; each at another moment of a stream of commits."""
    path = tmp_path / "placet.db"
    dice = random.Random(5)
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
    acknowledged: set[str] = set()
    for round_ in range(200 if SOAK else 20):
        with run("acknowledge", path, f"r{round_}", session) as process:
            acknowledged.add(await asyncio.to_thread(line, process))
            await asyncio.sleep(dice.random() * 0.05)
            process.kill()
            assert process.stdout is not None
            acknowledged |= set(process.stdout.read().split("\n")[:-1])
    async with await SqliteStore.open(path) as store:
        events = await store.read(SessionId(session))
        assert [event.seq for event in events] == list(range(len(events)))
        there = {event.key for event in events}
        assert {f"notice:{key}" for key in acknowledged} <= there
        assert all(f"pair:{key.removeprefix('notice:')}" in there for key in there if key.startswith("notice:"))
        assert (await verify(store)).well
        appended(await store.append(session, [note("after")]))


def test_a_disk_that_is_really_full_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """On a file system of 2 MiB, in a mount namespace of its own."""
    private = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mount = 'mount -t tmpfs -o size=2m none "$0" && exec "$@"'
    if subprocess.run([*private, mount, tmp_path, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine lets nobody make a mount namespace")
    command = [*private, mount, tmp_path, sys.executable, "-m", "tests.session.processes", "fill", tmp_path]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split() == ["StoreFull", "True", "True"], done.stderr


async def test_a_lock_that_a_reader_takes_on_the_shared_memory_fails_closed_and_passes(tmp_path: Path) -> None:
    """A process that may only read can still lock the byte that writers need (SQLite, WAL locking protocol)."""
    path = tmp_path / "placet.db"
    code = f"""
import fcntl
shared = open({str(path) + "-shm"!r}, "rb")
fcntl.lockf(shared, fcntl.LOCK_SH, 1, 120)
print("ready", flush=True)
input()
"""
    async with await SqliteStore.open(path, wait=0.2) as store:
        session = await new_session(store)
        with subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert await asyncio.to_thread(line, other) == "ready"
            with pytest.raises(StoreLocked):
                await store.append(session, [note("1")])
            assert len(await store.read(session)) == 1
            other.kill()
        appended(await store.append(session, [note("1")]))


@pytest.mark.parametrize(
    ("after", "there"), [("notice", 1), ("test/fact", 1), ("notice:2", 2), ("test/fact:3", 3), ("never/seen", 3)]
)
async def test_a_process_can_be_made_to_die_right_after_a_fact(tmp_path: Path, after: str, there: int) -> None:
    path = tmp_path / "placet.db"
    async with await SqliteStore.open(path) as store:
        session = await new_session(store)
        with run("crash", path, session, **{CRASH_AFTER: after}) as process:
            out, _ = await asyncio.to_thread(process.communicate, None, 60)
        assert (out, process.returncode) == (("alive\n", 0) if after == "never/seen" else ("", -9))
        assert len(await store.read(session)) == 1 + 2 * there
