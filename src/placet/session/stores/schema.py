"""The SQLite file: its tables, its format number, how it is created, opened and guarded."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from placet.session.errors import StoreDamaged, StoreError, StoreFormat, StoreFull, StoreGone, StoreLocked

FORMAT = 2
APPLICATION = 0x706C6163
WAIT = 5.0
"""Seconds that a transaction waits for another process."""

_COUNTERS = "CREATE TABLE counter(name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID"

_TABLES = (
    """CREATE TABLE event(
        pos INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL,
        type TEXT NOT NULL, key TEXT NOT NULL, data TEXT NOT NULL, sum INTEGER NOT NULL,
        UNIQUE(session, seq), UNIQUE(key, session))""",
    """CREATE TABLE session(
        id TEXT PRIMARY KEY, head INTEGER NOT NULL, time INTEGER NOT NULL, pos INTEGER NOT NULL) WITHOUT ROWID""",
    "CREATE TABLE lease(session TEXT PRIMARY KEY, holder TEXT, epoch INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE pair(opener TEXT PRIMARY KEY, closer TEXT NOT NULL UNIQUE) WITHOUT ROWID",
    """CREATE TABLE unpaired(
        opener TEXT NOT NULL, pos INTEGER NOT NULL, session TEXT NOT NULL, rest TEXT NOT NULL,
        PRIMARY KEY(opener, pos)) WITHOUT ROWID""",
    "CREATE INDEX unpaired_key ON unpaired(session, rest, opener)",
    # `unpaired` is an index that SQLite keeps by these triggers: whoever appends, it cannot disagree with the log
    """CREATE TRIGGER opened AFTER INSERT ON event
        WHEN EXISTS (SELECT 1 FROM pair WHERE opener = substr(new.key, 1, instr(new.key, ':')))
        BEGIN INSERT INTO unpaired
            SELECT p.opener, new.pos, new.session, substr(new.key, length(p.opener) + 1) FROM pair p
            WHERE p.opener = substr(new.key, 1, instr(new.key, ':')) AND NOT EXISTS (
                SELECT 1 FROM event e WHERE e.session = new.session
                    AND e.key = p.closer || substr(new.key, length(p.opener) + 1)); END""",
    """CREATE TRIGGER closed AFTER INSERT ON event
        WHEN EXISTS (SELECT 1 FROM pair WHERE closer = substr(new.key, 1, instr(new.key, ':')))
        BEGIN DELETE FROM unpaired
            WHERE session = new.session AND rest = substr(new.key, instr(new.key, ':') + 1)
            AND opener = (SELECT opener FROM pair WHERE closer = substr(new.key, 1, instr(new.key, ':'))); END""",
    """CREATE TRIGGER removed AFTER DELETE ON event
        BEGIN DELETE FROM unpaired WHERE session = old.session AND pos = old.pos; END""",
    _COUNTERS,
)

_UPGRADES = {1: (_COUNTERS,)}
"""What makes a file of an older format one of the next."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection that speaks only autocommit, so that every transaction is ours."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=WAIT)
    db.text_factory = _text
    return db


def connect_writer(path: Path) -> sqlite3.Connection:
    """A connection whose commits are on the disk when they return, and that leaves the waiting to `retried`."""
    db = connect(path)
    speak_wal(db, path)
    db.execute("PRAGMA synchronous=FULL")
    db.execute("PRAGMA secure_delete=ON")
    db.execute("PRAGMA busy_timeout=0")
    return db


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write."""
    db = connect(path)
    db.execute("PRAGMA query_only=ON")
    return db


def speak_wal(db: sqlite3.Connection, path: Path) -> None:
    """Let the file keep a write-ahead log: readers never wait for the writer."""
    modes: list[str] = []
    retried(lambda: modes.append(db.execute("PRAGMA journal_mode=WAL").fetchone()[0]), path)
    if modes != ["wal"]:
        raise StoreGone(f"the file system of {path} cannot share memory between processes: use a local disk")


def _text(value: bytes) -> str:
    """Text of a column; bytes that are no UTF-8 come through, so that the checksum finds their record."""
    return value.decode("utf-8", "surrogateescape")


def retried(attempt: Callable[[], object], path: Path, wait: float = WAIT) -> None:
    """Call until the file is not locked, with jittered pauses. Raises StoreLocked when the wait is over."""
    deadline = time.monotonic() + wait
    pause = 0.0005
    while True:
        try:
            attempt()
            return
        except sqlite3.OperationalError as error:
            if not _busy(error):
                raise
            if time.monotonic() >= deadline:
                raise StoreLocked(
                    f"{path} was locked by another process for {wait:g} s; nothing was written"
                ) from error
        time.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(pause * 2, 0.01)


def prepare_file(path: Path) -> None:
    """Create the directory as 0700 and the file as 0600 before SQLite opens it."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            _create(path)
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise StoreGone(f"cannot open the store {path}: {error.strerror}") from error


def _create(path: Path) -> None:
    """Make an empty file without opening it: closing a file drops all locks that this process has on it (fcntl(2))."""
    try:
        os.mknod(path, 0o600 | stat.S_IFREG)
    except FileExistsError:
        raise
    except OSError:  # macOS keeps mknod for root, some file systems lack it; nobody can have this file open yet
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def check_format(db: sqlite3.Connection, path: Path, pairs: Sequence[tuple[str, str]]) -> None:
    """Make a new or an older file a store of this format, or refuse a file of another one."""
    retried(lambda: db.execute("BEGIN IMMEDIATE"), path)
    try:
        version, application = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")
        )
        empty = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
        if empty and version == 0:
            for statement in _TABLES:
                db.execute(statement)
            db.execute(f"PRAGMA user_version={FORMAT}")
            db.execute(f"PRAGMA application_id={APPLICATION}")
        elif application != APPLICATION:
            raise StoreFormat(f"{path} is a database, but not a store of placet: move it away")
        elif version > FORMAT:
            raise StoreFormat(
                f"{path} has store format {version}, written by a later placet; this one knows {FORMAT}: update placet"
            )
        elif version < FORMAT:
            _upgrade(db, path, version)
        for opener, closer in pairs:
            _add_pair(db, opener, closer)
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _upgrade(db: sqlite3.Connection, path: Path, version: int) -> None:
    """Make an older file one of this format, in the transaction that looks at it."""
    for older in range(version, FORMAT):
        if older not in _UPGRADES:
            raise StoreFormat(
                f"{path} has store format {version}, older than {FORMAT}, which this placet needs: convert it first"
            )
        for statement in _UPGRADES[older]:
            db.execute(statement)
    db.execute(f"PRAGMA user_version={FORMAT}")


def _add_pair(db: sqlite3.Connection, opener: str, closer: str) -> None:
    """Index a pair of key prefixes from now on, and for what is there already."""
    if db.execute("INSERT OR IGNORE INTO pair VALUES(?, ?)", (opener, closer)).rowcount:
        db.execute(
            """INSERT INTO unpaired SELECT ?1, e.pos, e.session, substr(e.key, length(?1) + 1) FROM event e
               WHERE e.key >= ?1 AND e.key < ?2 AND NOT EXISTS (
                   SELECT 1 FROM event c
                   WHERE c.session = e.session AND c.key = ?3 || substr(e.key, length(?1) + 1))""",
            (opener, after_prefix(opener), closer),
        )


def after_prefix(prefix: str) -> str:
    """The smallest text that sorts after everything with this prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """The error of this room that says what an SQLite error means for the caller."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if _busy(error):
        return StoreLocked(f"{path} is locked by another process; nothing was written")
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"no space left for {path}; nothing was written: free some and try again")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT):
        return StoreDamaged(str(path), str(error))
    return StoreGone(f"the store {path} does not answer: {error}")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Let errors of SQLite leave as errors of this room."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(error, path) from error
