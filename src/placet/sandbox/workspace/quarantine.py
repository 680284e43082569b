"""Moving something away that a command has made, to where no program of the person looks for it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path

from placet.sandbox.errors import MoveFailed
from placet.sandbox.execution.storage import remove_below
from placet.sandbox.policy import Workdir

_HANDLE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 60
_NAME_LENGTH = 100


def move_away(workspace: Workdir, git_roots: Sequence[Path], path: Path, into: Path) -> Path:
    """Move a file or folder of the workspace, or of a git directory that belongs to it; returns where it is now.

    No symlink is followed on the way, and a symlink is moved as such. Raises `MoveFailed`, `WorkdirUnusable` or
    `WorkdirChanged`; nothing was removed then.
    """
    root, inner = _placed(workspace, git_roots, path)
    handle = workspace.open() if root is None else _opened(root)
    try:
        for part in inner.parts[:-1]:
            below = _below(handle, part, path)
            os.close(handle)
            handle = below
        return _moved(handle, inner.name, path, into)
    finally:
        os.close(handle)


def _placed(workspace: Workdir, git_roots: Sequence[Path], path: Path) -> tuple[Path | None, Path]:
    """The git root that the path lies in, or None for the workspace, and the path within it."""
    if ".." in path.parts:
        raise MoveFailed(f"{path} does not name one place")
    for root in (workspace.path, *git_roots):
        if path != root and path.is_relative_to(root):
            return (None if root == workspace.path else root), path.relative_to(root)
    raise MoveFailed(f"{path} does not lie in the session's folder")


def _opened(root: Path) -> int:
    try:
        return os.open(root, _HANDLE)
    except OSError as error:
        raise MoveFailed(f"{root} cannot be opened: {error.strerror}") from error


def _below(handle: int, name: str, path: Path) -> int:
    try:
        return os.open(name, _HANDLE, dir_fd=handle)
    except OSError as error:
        raise MoveFailed(f"{path} is no longer there: {error.strerror}") from error


def _moved(handle: int, name: str, path: Path, into: Path) -> Path:
    into.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = into / f"{secrets.token_hex(6)}-{name[:_NAME_LENGTH]}"
    there = os.open(into, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            os.rename(name, target.name, src_dir_fd=handle, dst_dir_fd=there)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy(handle, name, there, target.name, 0)
            remove_below(handle, name)
    except OSError as error:
        raise MoveFailed(f"{path} could not be moved away: {error.strerror or error}") from error
    finally:
        os.close(there)
    return target


def _copy(source: int, name: str, target: int, new: str, depth: int) -> None:
    """Copy a tree by handles; pipes, sockets and device nodes are left out."""
    facts = os.stat(name, dir_fd=source, follow_symlinks=False)
    if stat.S_ISLNK(facts.st_mode):
        os.symlink(os.readlink(name, dir_fd=source), new, dir_fd=target)
    elif stat.S_ISREG(facts.st_mode):
        _copy_file(source, name, target, new)
    elif stat.S_ISDIR(facts.st_mode):
        if depth == _DEEPEST:
            raise OSError(0, f"it is more than {_DEEPEST} folders deep")
        os.mkdir(new, 0o700, dir_fd=target)
        inner, copy = _folder(source, name), _folder(target, new)
        try:
            for entry in os.listdir(inner):
                _copy(inner, entry, copy, entry, depth + 1)
        finally:
            os.close(inner)
            os.close(copy)


def _folder(handle: int, name: str) -> int:
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)


def _copy_file(source: int, name: str, target: int, new: str) -> None:
    reading = os.open(name, _READ, dir_fd=source)
    try:
        if not stat.S_ISREG(os.fstat(reading).st_mode):
            return
        writing = os.open(new, _NEW, 0o600, dir_fd=target)
        try:
            while data := os.read(reading, 1 << 20):
                os.write(writing, data)
        finally:
            os.close(writing)
    finally:
        os.close(reading)
