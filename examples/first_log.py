"""Step 1: a log. Two writers want to decide the same thing; the store lets exactly one of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio

from placet.session import Draft, Refused, new_session_id
from placet.session.keys import created
from placet.session.stores.sqlite import SqliteStore

BY = {"kind": "person", "name": "owner", "channel": "example"}
CREATED = {"v": 1, "cwd": "/srv/project", "cwdId": "1:2", "title": None, "gitRoots": [], "by": BY}


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with await SqliteStore.open(Path(folder) / "placet.db") as store:
            session = new_session_id()
            await store.append(session, [Draft("session/created", CREATED, created())])

            # Both drafts have the same key, and a key is unique in its session: that is the whole protocol.
            for title in ("first", "second"):
                draft = Draft("session/renamed", {"title": title, "by": BY}, "renamed:same-gesture")
                answer = await store.append(session, [draft])
                if isinstance(answer, Refused) and answer.event is not None:
                    print(f"{title}: refused ({answer.why}), the log already says {answer.event.data['title']!r}")
                else:
                    print(f"{title}: durable")

            for event in await store.read(session):
                print(event.seq, event.type, event.key)


if __name__ == "__main__":
    anyio.run(main)
