"""The files that placet keeps for a session's commands: its private temp directory and its spills."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from placet.session.ids import SessionId

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_SPILL = re.compile(r"(?:stdout|stderr)-[0-9a-f]{16}\.txt")
_DEEPEST = 100
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Storage:
    """Below the state directory, readable by this account only: `tmp/SESSION` and `spill/SESSION`."""

    def __init__(self, state: Path) -> None:
        self._temp, self._spill, self._quarantine = state / "tmp", state / "spill", state / "quarantine"

    def temp(self, session: SessionId) -> Path:
        """The session's temp directory, made if it is missing; its real path."""
        return Path(os.path.realpath(_private(self._temp, session)))

    def spills(self, session: SessionId) -> Callable[[str], tuple[int, Path]]:
        """A function that opens a new spill file for the stream it is given, as a descriptor and a path."""

        def open_spill(stream: str) -> tuple[int, Path]:
            path = _private(self._spill, session) / f"{stream}-{secrets.token_hex(8)}.txt"
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), path

        return open_spill

    def spilled(self, session: SessionId, path: str) -> int | None:
        """A descriptor to read one of the session's own spills, by the very path that it was told under.

        None for any other path. Raises `OSError` if the spill is gone, or is no longer the file that placet wrote.
        """
        given = Path(path)
        told = str(given) == path and given.parent == self._spill / _name(session)
        if not told or not _SPILL.fullmatch(given.name):
            return None
        above = os.open(self._spill, _DIRECTORY)
        try:
            folder = os.open(_name(session), _DIRECTORY, dir_fd=above)
        finally:
            os.close(above)
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            file = os.open(given.name, flags, dir_fd=folder)
        finally:
            os.close(folder)
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1 or facts.st_uid != os.geteuid():
            os.close(file)
            raise OSError(errno.ESTALE, "it is not the file that placet wrote", path)
        return file

    def quarantine(self, session: SessionId) -> Path:
        """Where things of the session's workspace are moved away to; it stays until the person removes it."""
        return self._quarantine / _name(session)

    def remove(self, session: SessionId) -> None:
        """Remove both, whatever commands have made in them; no symlink is followed."""
        for parent in (self._temp, self._spill):
            with suppress(FileNotFoundError):
                remove_tree(parent, _name(session))


def _name(session: SessionId) -> str:
    if not session or not _LETTERS.issuperset(session):
        raise ValueError(f"{session!r} is not the id of a session")
    return session


def _private(parent: Path, session: SessionId) -> Path:
    path = parent / _name(session)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def remove_tree(parent: Path, name: str) -> None:
    """Remove a directory and all in it by handles, however deep it is, also what its owner locked (mode 000).

    Raises `OSError` if something belongs to another account. What lies very deep is moved up first, so that neither the
    stack nor the number of open files grows with the depth.
    """
    above = os.open(parent, _DIRECTORY)
    try:
        remove_below(above, name)
    finally:
        os.close(above)


def remove_below(above: int, name: str) -> None:
    """Remove what has that name in an open directory, as `remove_tree` does. Raises `OSError`."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=above)
        return
    top = _enter(above, name)
    try:
        while not _clear(top, top, 0):
            pass
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=above)


def _clear(top: int, directory: int, depth: int) -> bool:
    """Empty one directory; False if something of it was too deep and now lies beside the others in the top one."""
    whole = True
    for entry in os.listdir(directory):
        if not stat.S_ISDIR(os.stat(entry, dir_fd=directory, follow_symlinks=False).st_mode):
            os.unlink(entry, dir_fd=directory)
            continue
        inner = _enter(directory, entry)
        try:
            if depth == _DEEPEST:
                os.rename(entry, secrets.token_hex(12), src_dir_fd=directory, dst_dir_fd=top)
                whole = False
                continue
            whole = _clear(top, inner, depth + 1) and whole
        finally:
            os.close(inner)
        os.rmdir(entry, dir_fd=directory)
    return whole


def _enter(parent: int, name: str) -> int:
    """Open a directory, made accessible to its owner first."""
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)
        return os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(handle)
