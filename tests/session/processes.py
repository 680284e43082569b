"""Programs that the tests run as processes of their own: `python -m tests.session.processes NAME ARGUMENT...`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from placet.session import SessionId, StoreError
from placet.session.stores.sqlite import SqliteStore
from placet.session.verify import verify
from placet.testing.faults import FaultyStore
from placet.testing.stores import appended, fact, new_session, note

ROOT = Path(__file__).resolve().parents[2]


async def write(path: str, name: str, count: str, *sessions: str) -> None:
    """Append `count` events to each of the sessions, all at once, when a line comes on standard input."""
    async with await SqliteStore.open(path) as store:
        say("ready")
        sys.stdin.readline()
        for n in range(int(count)):
            await asyncio.gather(*(store.append(SessionId(one), [note(f"{name}.{n}")]) for one in sessions))


async def begin(path: str) -> None:
    """Open the store when a line comes on standard input, and begin a session in it."""
    say("ready")
    sys.stdin.readline()
    async with await SqliteStore.open(path) as store:
        say(await new_session(store))


async def acknowledge(path: str, name: str, session: str) -> None:
    """Append for ever from four tasks, and print each key as soon as its append was acknowledged."""
    async with await SqliteStore.open(path) as store:

        async def append(task: int) -> None:
            n = 0
            while True:
                appended(
                    await store.append(
                        SessionId(session), [note(f"{name}.{task}.{n}"), fact(f"pair:{name}.{task}.{n}")]
                    )
                )
                say(f"{name}.{task}.{n}")
                n += 1

        await asyncio.gather(*(append(task) for task in range(4)))


async def decide(path: str, session: str, name: str, count: str) -> None:
    """Try to be the first to decide each of many asks; print what was won."""
    async with await SqliteStore.open(path) as store:
        say("ready")
        sys.stdin.readline()
        for n in range(int(count)):
            answer = await store.append(SessionId(session), [fact(f"decided:{n}", by=name)], present=[f"asked:{n}"])
            if hasattr(answer, "events"):
                say(str(n))


async def listen(path: str) -> None:
    """Wait for the bell, then print the newest position."""
    async with await SqliteStore.open(path) as store, store.doorbell() as bell:
        head = await store.head()
        say("ready")
        while await store.head() == head:
            await bell.wait(60)
        say(str(await store.head()))


async def fill(folder: str) -> None:
    """Append until the disk is full, make room, go on; print what happened."""
    spare = Path(folder) / "spare"
    spare.write_bytes(bytes(512 * 1024))
    async with await SqliteStore.open(Path(folder) / "placet.db") as store:
        session = await new_session(store)
        acknowledged = 0
        try:
            while True:
                appended(await store.append(session, [note(str(acknowledged), "x" * 20_000)]))
                acknowledged += 1
        except StoreError as error:
            say(type(error).__name__)
        say(str(len(await store.read(session)) == acknowledged + 1))
        spare.unlink()
        appended(await store.append(session, [note("after")]))
        say(str((await verify(store)).well))


async def crash(path: str, session: str) -> None:
    """Append a few types of events; the environment says after which one this process dies."""
    store = FaultyStore(await SqliteStore.open(path))
    for n in range(3):
        await store.append(SessionId(session), [note(str(n)), fact(f"fact:{n}")])
    say("alive")


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


if __name__ == "__main__":
    asyncio.run(globals()[sys.argv[1]](*sys.argv[2:]))
