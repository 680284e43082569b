"""The threads that talk to SQLite: one that writes with group commit, a few that read."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from placet.session.errors import StoreGone, StoreRemoved

from .schema import WAIT, connect_reader, connect_writer, retried, store_error

logger = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], Any]

MAX_BATCH = 256


class Job:
    """One piece of work and the future of the task that waits for it."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.outcome: Any = None
        self.error: BaseException | None = None

    def deliver(self) -> None:
        """Hand outcome or error to the waiting task; one that was cancelled meanwhile does not mind."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.outcome)


def settle(jobs: Sequence[Job]) -> None:
    """Let the loops of these jobs deliver them, with one wake-up per loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, mine in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits
            loop.call_soon_threadsafe(_deliver, mine)


def _deliver(jobs: list[Job]) -> None:
    for job in jobs:
        job.deliver()


class Worker:
    """A thread with a connection of its own and a queue of jobs."""

    def __init__(
        self, path: Path, name: str, jobs: queue.SimpleQueue[Job | None], connect: Callable[[Path], sqlite3.Connection]
    ) -> None:
        self._path = path
        self._jobs = jobs
        self._connect = connect
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        db: sqlite3.Connection | None = None
        try:
            while (job := self._jobs.get()) is not None:
                if db is None:
                    db = self._connected(job)
                if db is not None:
                    self._serve(db, job)
        finally:
            if db is not None:
                db.close()

    def _connected(self, job: Job) -> sqlite3.Connection | None:
        try:
            return self._connect(self._path)
        except Exception as error:  # the waiting task gets it; the next job tries again
            job.error = store_error(error, self._path) if isinstance(error, sqlite3.Error) else error
            settle([job])
            return None

    def _serve(self, db: sqlite3.Connection, job: Job) -> None:
        raise NotImplementedError


class Reader(Worker):
    """Runs every job in a transaction of its own, so that it sees one state of the store."""

    def _serve(self, db: sqlite3.Connection, job: Job) -> None:
        if not job.future.cancelled():
            try:
                db.execute("BEGIN")
                job.outcome = job.work(db)
            except sqlite3.Error as error:
                job.error = store_error(error, self._path)
            except Exception as error:  # the waiting task gets it
                job.error = error
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
        settle([job])


class Writer(Worker):
    """Commits what waits in its queue at one go; a savepoint per job keeps one that fails from undoing the others.

    A job is settled only after COMMIT has returned, which with `synchronous=FULL` is after the sync of the disk.
    """

    def __init__(
        self, path: Path, name: str, jobs: queue.SimpleQueue[Job | None], committed: Callable[[], None], wait: float
    ) -> None:
        self._committed = committed
        self._wait = wait
        self._file = _identity(path)
        self.commits = 0
        super().__init__(path, name, jobs, connect_writer)

    def _serve(self, db: sqlite3.Connection, first: Job) -> None:
        batch = self._batch(first)
        try:
            changed = self._commit(db, batch)
        except BaseException as error:
            failure = store_error(error, self._path) if isinstance(error, sqlite3.Error) else error
            for job in batch:
                job.error = failure
            changed = False
            self._roll_back(db)
        settle(batch)
        if changed:
            self._committed()

    def _batch(self, first: Job) -> list[Job]:
        batch = [first]
        while len(batch) < MAX_BATCH:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)  # the end comes after this batch
                break
            batch.append(job)
        return [job for job in batch if not job.future.cancelled()]

    def _commit(self, db: sqlite3.Connection, batch: list[Job]) -> bool:
        before = db.total_changes
        if _identity(self._path) != self._file:
            raise StoreRemoved(f"{self._path} was removed or replaced while it was open: stop placet and put it back")
        retried(lambda: db.execute("BEGIN IMMEDIATE"), self._path, self._wait)
        for job in batch:
            db.execute("SAVEPOINT job")
            try:
                job.outcome = job.work(db)
            except sqlite3.OperationalError:  # the store's trouble, not the job's: the whole batch fails
                raise
            except Exception as error:  # the waiting task gets it, the others go on
                job.error = store_error(error, self._path) if isinstance(error, sqlite3.Error) else error
                db.execute("ROLLBACK TO job")
            db.execute("RELEASE job")
        db.execute("COMMIT")
        self.commits += 1
        return db.total_changes != before

    def _roll_back(self, db: sqlite3.Connection) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:  # what failed before is what counts; the next BEGIN tells if the store is gone
            logger.exception("rolling back %s failed", self._path)


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:  # gone; that differs from every file
        return (0, 0)
    return (found.st_dev, found.st_ino)


class Threads:
    """The writer and the readers of one store."""

    def __init__(self, path: Path, committed: Callable[[], None], *, wait: float = WAIT, readers: int = 2) -> None:
        self._writes: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._reads: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.writer = Writer(path, "placet-store-writer", self._writes, committed, wait)
        self._readers = [Reader(path, f"placet-store-reader-{n}", self._reads, connect_reader) for n in range(readers)]
        self._path = path
        self._closed = False

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run the work in the next commit. Cancelled before its turn it never runs; later, its fate is unknown."""
        return await self._put(self._writes, work)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run the work on one state of the store that holds everything committed before this call."""
        return await self._put(self._reads, work)

    async def _put(self, jobs: queue.SimpleQueue[Job | None], work: Callable[[sqlite3.Connection], T]) -> T:
        if self._closed:
            raise StoreGone(f"the store {self._path} is closed")
        job = Job(work)
        jobs.put(job)
        outcome: T = await job.future
        return outcome

    async def close(self) -> None:
        """Finish the jobs that wait, then end the threads."""
        if self._closed:
            return
        self._closed = True
        self._writes.put(None)
        for _ in self._readers:
            self._reads.put(None)
        for worker in (self.writer, *self._readers):
            await asyncio.to_thread(worker.join)
