"""What is wrong with a store: records that are missing or changed, and the tail of a write that never ended."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from placet.session.errors import StoreDamaged
from placet.session.store import Finding

from .queries import slow_unpaired
from .rows import COLUMNS, event_of, place

_READ_WHOLE = 64 << 20
"""Bytes up to which a first look reads every page of the file."""
_WAL_HEADER = 32
_FRAME_HEADER = 24


def damage(db: sqlite3.Connection) -> list[Finding]:
    """Everything that is wrong, in the order in which it was found. Reads the whole file."""
    found: list[Finding] = []
    try:
        for look in (_pages, _records, _heads, _pairs):
            found += look(db)
    except sqlite3.DatabaseError as error:
        found.append(Finding("the file", str(error)))
    return found


def first_look(db: sqlite3.Connection, path: Path) -> list[StoreDamaged]:
    """Sessions whose log, or whose open asks, would be shown wrong; does not read what the logs say.

    Raises StoreDamaged if pages of the file are damaged, which a large file tells only when they are read.
    """
    if path.stat().st_size <= _READ_WHOLE:
        for (said,) in db.execute("PRAGMA quick_check(1)"):
            if said != "ok":
                raise StoreDamaged(str(path), " ".join(str(said).split()))
    found = [
        StoreDamaged(finding.where, finding.what, session=session)
        for session in _all_sessions(db)
        if (finding := _ending(db, session)) is not None
    ]
    for pos in _misindexed(db, "asked:", "decided:"):
        session, seq = db.execute("SELECT session, seq FROM event WHERE pos = ?", (pos,)).fetchone() or (None, None)
        where = f"position {pos}" if session is None else place(session, seq)
        found.append(StoreDamaged(where, "the index of open asks disagrees with the log", session=session))
    return found


def _all_sessions(db: sqlite3.Connection) -> list[str]:
    """Every session of which there is a record or a head, found by the index in as many steps as there are."""
    found = {name for (name,) in db.execute("SELECT id FROM session")}
    at: str | None = db.execute("SELECT min(session) FROM event").fetchone()[0]
    while at is not None:
        found.add(at)
        at = db.execute("SELECT min(session) FROM event WHERE session > ?", (at,)).fetchone()[0]
    return sorted(found)


def _ending(db: sqlite3.Connection, session: str) -> Finding | None:
    """A log that is shorter, or longer, than what was committed, or that does not begin."""
    first, last = (
        db.execute(f"SELECT {which}(seq) FROM event WHERE session = ?", (session,)).fetchone()[0]
        for which in ("min", "max")
    )
    row = db.execute("SELECT head FROM session WHERE id = ?", (session,)).fetchone()
    head, there = -1 if row is None else row[0], -1 if last is None else last
    if there < head:
        return Finding(place(session, there + 1), f"the log ends here, but it went on to seq {head}")
    if there > head:
        return Finding(place(session, head + 1), "the record stands behind the end of its log")
    return Finding(place(session, 0), "the record is missing") if first else None


def _misindexed(db: sqlite3.Connection, opener: str, closer: str) -> list[int]:
    """Positions of which the index of a pair does not say what the log says."""
    indexed = {pos for (pos,) in db.execute("SELECT pos FROM unpaired WHERE opener = ?", (opener,))}
    return sorted(indexed ^ {row[0] for row in slow_unpaired(db, opener, closer)})


def _pages(db: sqlite3.Connection) -> Iterator[Finding]:
    for (said,) in db.execute("PRAGMA integrity_check(50)"):
        if said != "ok":
            yield Finding("the file", str(said))


def _records(db: sqlite3.Connection) -> Iterator[Finding]:
    """Gaps and changed records, session by session."""
    at: tuple[str | None, int] = (None, 0)
    for row in db.execute(f"SELECT {COLUMNS} FROM event ORDER BY session, seq"):
        session, seq = row[1], row[2]
        expected = at[1] if at[0] == session else 0
        for missing in range(expected, min(seq, expected + 20)):
            yield Finding(place(session, missing), "the record is missing")
        if seq > expected + 20:
            yield Finding(place(session, f"{expected + 20} to {seq - 1}"), "the records are missing")
        try:
            event_of(row)
        except StoreDamaged as error:
            yield Finding(error.where, error.why)
        at = (session, seq + 1)


def _heads(db: sqlite3.Connection) -> Iterator[Finding]:
    """Logs that are shorter, or longer, than what was committed."""
    rows = db.execute(
        """SELECT s.id, s.head, max(e.seq) FROM session s LEFT JOIN event e ON e.session = s.id GROUP BY s.id
           UNION ALL SELECT e.session, -1, max(e.seq) FROM event e
               WHERE e.session NOT IN (SELECT id FROM session) GROUP BY e.session"""
    )
    for session, head, last in rows:
        there = -1 if last is None else last
        if there < head:
            yield Finding(place(session, there + 1), f"the log ends here, but it went on to seq {head}")
        elif there > head:
            yield Finding(place(session, head + 1), "the record stands behind the end of its log")


def _pairs(db: sqlite3.Connection) -> Iterator[Finding]:
    """Pairs whose index does not say what the log says."""
    for opener, closer in db.execute("SELECT opener, closer FROM pair").fetchall():
        for pos in _misindexed(db, opener, closer)[:20]:
            yield Finding(f"position {pos}", f"the index of open {opener}... disagrees with the log")


def torn_tail(db: sqlite3.Connection, path: Path) -> str | None:
    """What lies behind the last commit in the write-ahead log, or None.

    A process that dies in the middle of a commit leaves it, and SQLite rightly reads nothing of it. So does a file that
    was cut. What a living process is just writing looks the same for a moment, so a find is looked at twice.
    """
    found = _behind_commits(db, path)
    if found is None:
        return None
    time.sleep(0.02)
    if _behind_commits(db, path) != found:
        return None
    return f"a write that never ended was dropped: {found[1]} bytes behind the last commit in {path}-wal"


def _behind_commits(db: sqlite3.Connection, path: Path) -> tuple[int, int] | None:
    """Where the committed frames end and how many bytes follow that are no leftovers of an earlier round.

    The SQLite file format, section 4.1: a frame is of the current round if its salt is that of the header.
    """
    committed = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    try:
        with Path(f"{path}-wal").open("rb") as wal:
            header = wal.read(_WAL_HEADER)
            size = wal.seek(0, os.SEEK_END)
            frame = _FRAME_HEADER + int.from_bytes(header[8:12], "big")
            end = _WAL_HEADER + committed * frame
            wal.seek(end)
            next_frame = wal.read(_FRAME_HEADER)
    except OSError:  # there is no write-ahead log
        return None
    if committed < 0 or len(header) < _WAL_HEADER or size <= end:
        return None
    return (end, size - end) if (size - _WAL_HEADER) % frame or next_frame[8:16] == header[16:24] else None
