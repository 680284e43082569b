"""The file `commondir` in a git directory, there only while commands run.

Git takes the configuration of whatever directory `commondir` names. So that no command can create it, placet does: it
holds `.`, which changes nothing, and is mounted read-only. Who holds it has a shared lock on a file of the state
directory; the last holder removes it, and a start removes what a killed server left behind. A lock on the git directory
itself tells servers with another state directory: none removes what another one needs, and the next one removes what a
killed one has left.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from placet.kernel.scope import Scope
from placet.sandbox.errors import WorkdirUnusable

_NAME, _CONTENT = "commondir", b".\n"
_ATTEMPTS, _PAUSE = 5, 0.001


class Sentinels:
    """The sentinels of one installation; `folder` (in the state directory) keeps their locks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def hold(self, git_directories: Iterable[Path]) -> Scope:
        """Create the sentinels; closing the scope gives them back, and removes those that nobody else holds."""
        scope = Scope("git sentinels")
        try:
            for directory in git_directories:
                lock = self._lock(directory)
                fcntl.flock(lock, fcntl.LOCK_SH)
                scope.add(f"sentinel in {directory}", partial(self._release, lock, directory, _shared(directory)))
                _create(directory)
        except BaseException:
            scope.close()
            raise
        return scope

    def sweep(self) -> None:
        """Remove the sentinels that no living process holds."""
        for record in self._folder.glob("*") if self._folder.is_dir() else ():
            with suppress(OSError):
                lock = os.open(record, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
                directory = Path(os.fsdecode(os.read(lock, 1 << 16)))
                self._release(lock, directory)

    def _lock(self, directory: Path) -> int:
        """The lock file of one git directory; the directory's path is its content."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = os.fsencode(directory)
        record = self._folder / hashlib.sha256(text).hexdigest()[:32]
        lock = os.open(record, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if os.fstat(lock).st_size != len(text):
            os.pwrite(lock, text, 0)
        return lock

    def _release(self, lock: int, directory: Path, shared: int = -1) -> None:
        """Remove the sentinel if nobody else holds it, here or in a server with another state directory."""
        shared = shared if shared >= 0 else _shared(directory)
        try:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if shared >= 0:
                    fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(directory)
        finally:
            os.close(lock)
            if shared >= 0:
                os.close(shared)


def _shared(directory: Path) -> int:
    """A git directory with a shared lock on it; -1 if it cannot be opened. It waits for nobody for long.

    A command could hold such a lock itself: then a sentinel stays until a later call, and does no harm.
    """
    try:
        found = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    for _ in range(_ATTEMPTS):
        try:
            fcntl.flock(found, fcntl.LOCK_SH | fcntl.LOCK_NB)
            break
        except OSError:  # somebody removes one in this moment
            time.sleep(_PAUSE)
    return found


def _create(directory: Path) -> None:
    """Write the sentinel if nothing has its name; a directory that we may not write in needs none.

    Raises `WorkdirUnusable` where there is no room for it.
    """
    with suppress(FileExistsError, PermissionError, FileNotFoundError):
        where = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            file = os.open(
                _NAME, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=where
            )
            try:
                os.write(file, _CONTENT)
            except OSError as error:  # an empty one would break git, and none would leave the settings unguarded
                os.unlink(_NAME, dir_fd=where)
                raise WorkdirUnusable(
                    f"The folder {directory} cannot be guarded, so nothing was run: {error.strerror}",
                    "make some room on that file system",
                ) from error
            finally:
                os.close(file)
        finally:
            os.close(where)


def _remove(directory: Path) -> None:
    """Remove the sentinel if it is exactly ours; a `commondir` with other content belongs to somebody else."""
    with suppress(OSError):
        where = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            file = os.open(_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=where)
            try:
                ours = stat.S_ISREG(os.fstat(file).st_mode) and os.read(file, len(_CONTENT) + 1) == _CONTENT
            finally:
                os.close(file)
            if ours:
                os.unlink(_NAME, dir_fd=where)
        finally:
            os.close(where)
