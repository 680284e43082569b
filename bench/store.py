"""What durability costs: an ask against bare commits, a short log against a long one, many producers against one."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path

from bench.ratio import print_count, print_ratio, print_timing, side_by_side
from placet.approval import CallKey, Dispatcher, Outcome, Responders, Subject, build
from placet.kernel import SYSTEM_CLOCK, AbortSignal
from placet.session import AskId, Draft, Lease, SessionId, SessionLog, keys
from placet.session.stores.sqlite import SqliteStore
from placet.testing.facts import fact, new_session, note, yes
from placet.testing.responders import ScriptedResponder

SHORT, LONG = 10, 100_000
ROUNDS = 300
PRODUCERS, EACH = 32, 200
PAYLOAD = "x" * 300


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as folder:
        await asks(Path(folder))
        await producers(Path(folder) / "producers.db")


async def asks(folder: Path) -> None:
    """One ask, both events durable, beside two bare commits of the same database library."""
    names = {length: f"ask to outcome, log of {length:,}" for length in (SHORT, LONG)}
    bare = "two bare durable commits"
    stores = {length: await SqliteStore.open(folder / f"{length}.db") for length in (SHORT, LONG)}
    ways: dict[str, Callable[[], Awaitable[object]]] = {bare: two_commits(folder / "bare.db")}
    for length, store in stores.items():
        ways[f"two appends, log of {length:,}"] = two_appends(store, await filled(store, length))
        ways[names[length]] = await asking(store, await filled(store, length))
    times = await side_by_side(ways, rounds=ROUNDS)
    for timing in times.values():
        print_timing(timing)
    print_ratio("an ask over two bare commits", times[names[SHORT]], times[bare], aim=2.0)
    print_ratio(f"log of {LONG:,} over log of {SHORT}", times[names[LONG]], times[names[SHORT]], aim=1.1)
    for store in stores.values():
        await store.aclose()


def two_commits(path: Path) -> Callable[[], Awaitable[object]]:
    """The floor: the library alone, one row and one synced commit, twice."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE row(n INTEGER PRIMARY KEY, text TEXT)")

    async def run() -> None:
        for _ in range(2):
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO row(text) VALUES(?)", (PAYLOAD,))
            db.execute("COMMIT")

    return run


def two_appends(store: SqliteStore, session: SessionId) -> Callable[[], Awaitable[object]]:
    """The store alone: an opener, then its closer under conditions."""
    numbers = count()

    async def run() -> None:
        n = next(numbers)
        await store.append(session, [fact(f"asked:{n}", text=PAYLOAD)], absent=["abort:1"])
        await store.append(session, [fact(f"decided:{n}", text=PAYLOAD)], present=[f"asked:{n}"], absent=["abort:1"])

    return run


async def asking(store: SqliteStore, session: SessionId) -> Callable[[], Awaitable[object]]:
    """The whole dispatcher with a responder that answers at once."""
    lease = await store.acquire(session, "bench", yes)
    assert isinstance(lease, Lease)
    await store.append(session, [Draft("turn/start", {"turn": 1}, keys.turn(1))], lease=lease)
    log = await SessionLog.open(store, session)
    responders = Responders(("script",))
    responders.register(ScriptedResponder(Outcome.ALLOWED_ONCE))
    dispatcher = Dispatcher(store, responders, SYSTEM_CLOCK)
    positions = count()

    async def run() -> None:
        call = CallKey(1, 1, next(positions))
        await dispatcher.request(
            log, lease, 1, lambda ask: subject(ask, session, call), call_id=None, reason=None, signal=AbortSignal()
        )

    return run


def subject(ask: AskId, session: SessionId, call: CallKey) -> Subject:
    return build(
        ask=ask,
        session=session,
        agent="bench",
        call=call,
        tool="bash",
        tool_digest="0" * 64,
        arguments='{"command":"true"}',
        cwd="/somewhere",
        cwd_id="1:2",
        from_mode="workspace-write",
        to_mode="danger-full-access",
    )


async def filled(store: SqliteStore, length: int) -> SessionId:
    """A session whose log has that many events."""
    session = await new_session(store)
    for start in range(1, length, 500):
        await store.append(session, [note(str(n), PAYLOAD) for n in range(start, min(start + 500, length))])
    return session


async def producers(path: Path) -> None:
    """Many tasks that append at once: their events share commits."""
    async with await SqliteStore.open(path) as store:
        sessions = [await new_session(store) for _ in range(PRODUCERS)]

        async def produce(session: SessionId) -> None:
            for n in range(EACH):
                await store.append(session, [note(str(n), PAYLOAD)])

        commits, began = store.commits, time.perf_counter()
        await asyncio.gather(*(produce(session) for session in sessions))
        taken, used = time.perf_counter() - began, store.commits - commits
    total = PRODUCERS * EACH
    print_count(f"{PRODUCERS} producers: durable events", total / taken, "per second")
    print_count(f"{PRODUCERS} producers: commits", used / taken, "per second")
    print_count(f"{PRODUCERS} producers: events", total / used, "per commit")


if __name__ == "__main__":
    asyncio.run(main())
