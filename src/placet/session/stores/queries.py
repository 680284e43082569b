"""What the SQLite store asks its tables, one function per question. Each runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from placet.session.errors import StoreDamaged
from placet.session.event import Event
from placet.session.ids import HOUSE, SessionId
from placet.session.store import Lease, SessionHead

from .rows import COLUMNS, Row, contiguous, event_of
from .schema import after_prefix

_OF_EVENT = ", ".join(f"e.{name.strip()}" for name in COLUMNS.split(","))


def lookup(db: sqlite3.Connection, session: SessionId, key: str) -> Event | None:
    row = db.execute(f"SELECT {COLUMNS} FROM event WHERE key = ? AND session = ?", (key, session)).fetchone()
    return None if row is None else event_of(row)


def there(db: sqlite3.Connection, session: SessionId, key: str) -> bool:
    return db.execute("SELECT 1 FROM event WHERE key = ? AND session = ?", (key, session)).fetchone() is not None


def find(db: sqlite3.Connection, key: str) -> Event | None:
    row = db.execute(f"SELECT {COLUMNS} FROM event WHERE key = ? ORDER BY pos LIMIT 1", (key,)).fetchone()
    return None if row is None else event_of(row)


def insert(db: sqlite3.Connection, values: tuple[str, int, int, str, str, str, int]) -> int:
    """Add a row; its commit position."""
    cursor = db.execute(
        "INSERT INTO event(session, seq, time, type, key, data, sum) VALUES(?, ?, ?, ?, ?, ?, ?)", values
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def next_numbers(db: sqlite3.Connection, counters: Sequence[str]) -> dict[str, int]:
    """The number that comes next in each counter; none is used up yet."""
    found = dict(db.execute("SELECT name, last FROM counter"))
    return {name: found.get(name, 0) + 1 for name in counters}


def use_numbers(db: sqlite3.Connection, numbers: Mapping[str, int]) -> None:
    """Let these numbers never come again."""
    db.executemany(
        "INSERT INTO counter VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET last = ?2", list(numbers.items())
    )


def head_seq(db: sqlite3.Connection, session: SessionId) -> int | None:
    row = db.execute("SELECT head FROM session WHERE id = ?", (session,)).fetchone()
    return None if row is None else int(row[0])


def move_head(db: sqlite3.Connection, last: Event) -> None:
    db.execute(
        "INSERT INTO session VALUES(?1, ?2, ?3, ?4) ON CONFLICT(id) DO UPDATE SET head = ?2, time = ?3, pos = ?4",
        (last.session, last.seq, last.time, last.pos),
    )


def read(
    db: sqlite3.Connection, session: SessionId, after: int, before: int | None, limit: int | None, *, newest: bool
) -> list[Event]:
    """A stretch of a log. Raises StoreDamaged if a record of it is missing or not as it was written."""
    head = head_seq(db, session)
    end = -1 if head is None else head
    if before is not None:
        end = min(end, before - 1)
    first = after + 1
    if limit is not None:
        first, end = (max(first, end - limit + 1), end) if newest else (first, min(end, after + limit))
    rows = db.execute(
        f"SELECT {COLUMNS} FROM event WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq", (session, first, end)
    )
    events = [event_of(row) for row in rows]
    return contiguous(session, events, first, end if end >= first else None)


def feed(
    db: sqlite3.Connection, after: int, limit: int, types: tuple[str, ...] | None, session: SessionId | None
) -> list[Row]:
    where = "pos > ?"
    parameters: list[object] = [after]
    if types is not None:
        where += f" AND type IN ({', '.join('?' * len(types))})"
        parameters += types
    if session is not None:
        where += " AND +session = ?"  # the plus keeps SQLite on the order of commits
        parameters.append(session)
    return db.execute(
        f"SELECT {COLUMNS} FROM event WHERE {where} ORDER BY pos LIMIT ?", (*parameters, limit)
    ).fetchall()


def head(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT coalesce(max(pos), 0) FROM event").fetchone()[0])


def unpaired(db: sqlite3.Connection, opener: str, closer: str) -> list[Row]:
    """By the index where the pair has one, else by looking at every opener."""
    if not db.execute("SELECT 1 FROM pair WHERE opener = ? AND closer = ?", (opener, closer)).fetchone():
        return slow_unpaired(db, opener, closer)
    return db.execute(
        f"SELECT {_OF_EVENT} FROM unpaired u JOIN event e ON e.pos = u.pos WHERE u.opener = ? ORDER BY u.pos",
        (opener,),
    ).fetchall()


def of_many(db: sqlite3.Connection, rows: list[Row]) -> tuple[list[Event], list[StoreDamaged]]:
    """The events of rows from many sessions, and what is wrong with the others.

    Raises StoreDamaged where nobody can say which session a damaged record belongs to, and for the house.
    """
    events, damaged = [], []
    for row in rows:
        try:
            events.append(event_of(row))
        except StoreDamaged as error:
            if row[1] == HOUSE or not (row[1].isascii() and head_seq(db, SessionId(row[1])) is not None):
                error.session = None
                raise
            damaged.append(error)
    return events, damaged


def slow_unpaired(db: sqlite3.Connection, opener: str, closer: str) -> list[Row]:
    """The rows of openers without a closer, from the log alone."""
    rows = db.execute(
        f"""SELECT {_OF_EVENT} FROM event e WHERE e.key >= ?1 AND e.key < ?2 AND NOT EXISTS (
                SELECT 1 FROM event c
                WHERE c.session = e.session AND c.key = ?3 || substr(e.key, length(?1) + 1)) ORDER BY e.pos""",
        (opener, after_prefix(opener), closer),
    )
    return rows.fetchall()


def sessions(db: sqlite3.Connection) -> list[SessionHead]:
    rows = db.execute("SELECT id, head, time, pos FROM session WHERE id <> ? ORDER BY pos DESC", (HOUSE,))
    return [SessionHead(SessionId(name), seq, time, pos) for name, seq, time, pos in rows]


def lease_row(db: sqlite3.Connection, session: SessionId) -> tuple[str | None, int]:
    """Holder, if any, and epoch; epoch 0 before the first owner."""
    row = db.execute("SELECT holder, epoch FROM lease WHERE session = ?", (session,)).fetchone()
    return (None, 0) if row is None else (row[0], row[1])


def lease(db: sqlite3.Connection, session: SessionId) -> Lease | None:
    holder, epoch = lease_row(db, session)
    return None if holder is None else Lease(session, holder, epoch)


def take_over(db: sqlite3.Connection, found: tuple[str | None, int], taken: Lease) -> bool:
    """Write the new lease if the old one is still as it was found."""
    if lease_row(db, taken.session) != found:
        return False
    db.execute(
        "INSERT INTO lease VALUES(?1, ?2, ?3) ON CONFLICT(session) DO UPDATE SET holder = ?2, epoch = ?3",
        (taken.session, taken.holder, taken.epoch),
    )
    return True


def release(db: sqlite3.Connection, lease: Lease) -> None:
    db.execute(
        "UPDATE lease SET holder = NULL WHERE session = ? AND holder = ? AND epoch = ?",
        (lease.session, lease.holder, lease.epoch),
    )


def remove(db: sqlite3.Connection, session: SessionId) -> None:
    db.execute("DELETE FROM event WHERE session = ?", (session,))
    db.execute("DELETE FROM session WHERE id = ?", (session,))
    db.execute("UPDATE lease SET holder = NULL, epoch = epoch + 1 WHERE session = ?", (session,))
