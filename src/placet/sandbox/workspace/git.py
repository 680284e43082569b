"""What of a git repository other programs of the person run or read as configuration, and so stays read-only.

A `.git` directory is made a mount point of its own, so that it cannot be renamed away; `git` reads all else of it as
data (gitrepository-layout(5)).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

_LIMIT = 4096
_SETTINGS, _LINES, _FOLDERS = 1 << 16, 2_000, 8
READ_ONLY = ("config", "config.worktree", "hooks", "info/attributes", "modules", "commondir")
_READ_ONLY_OF_WORKTREE = ("gitdir", "commondir", "config.worktree")


def directory(folder: Path) -> Path | None:
    """The folder's own git directory: `.git`, or where a symlink of that name leads to inside the folder; else None.

    The symlink itself cannot be kept: a look after the call finds that it was replaced.
    """
    git = folder / ".git"
    if _is(git, stat.S_ISDIR):
        return git
    return _inside(git, folder, stat.S_ISDIR) if _is(git, stat.S_ISLNK) else None


def link(folder: Path) -> Path | None:
    """The folder's `.git` file, by which a worktree or submodule names its git directory; None if it has none."""
    git = folder / ".git"
    return git if _is(git, stat.S_ISREG) else None


def protected(git: Path) -> list[Path]:
    """What exists in a git directory and must stay as it is while commands of an agent run."""
    found = [git / name for name in READ_ONLY]
    worktrees = git / "worktrees"
    if _is(worktrees, stat.S_ISDIR):
        found += [entry / name for entry in sorted(worktrees.iterdir()) for name in _READ_ONLY_OF_WORKTREE]
    return [path for path in found if _is(path, _kept)]


def targets(git: Path, folder: Path) -> list[Path]:
    """Where protected names that are symlinks lead to inside the folder (hooks that are shared through the tree, say).

    As with `.git`, the symlink itself can be replaced, and a look after the call finds it.
    """
    links = [git / name for name in READ_ONLY if _is(git / name, stat.S_ISLNK)]
    found = [_inside(path, folder, _kept) for path in links]
    return [path for path in found if path is not None]


def _kept(mode: int) -> bool:
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)


def _inside(link: Path, folder: Path, kind: Callable[[int], bool]) -> Path | None:
    """Where a symlink leads to, if that is something of that kind below the folder."""
    try:
        real = Path(os.path.realpath(link, strict=True))
    except (OSError, ValueError):
        return None
    return real if folder in real.parents and _is(real, kind) else None


def outside_roots(folder: Path) -> tuple[Path, ...]:
    """The git directories outside the folder that commits in a linked worktree need, resolved from its `.git` file.

    Only for a true linked worktree: its git directory must lie in `worktrees` of the common directory and name the
    folder back (`gitdir`). Anything else gives nothing, and commits are then denied like any other write outside.
    To be called once, before any code of an agent has run in the folder.
    """
    pointer = link(folder)
    text = _line(pointer) if pointer else None
    if text is None or not text.startswith("gitdir: "):
        return ()
    own = Path(os.path.realpath(folder / text.removeprefix("gitdir: ")))
    common_text, back = _line(own / "commondir"), _line(own / "gitdir")
    if common_text is None or back is None:
        return ()
    common = Path(os.path.realpath(own / common_text))
    names_folder = os.path.realpath(own / back) == os.path.realpath(folder / ".git")
    if not names_folder or own.parent != common / "worktrees" or not _is(common, stat.S_ISDIR):
        return ()
    return (common,)


def hook_folders(directory: int) -> list[str]:
    """The folders of the tree, beside an open git directory, that its settings name for hooks (`core.hooksPath`).

    A bounded look for lines of that name, in whatever section: one too many only makes a list longer. What leads out of
    the tree is left out. Nothing is obeyed.
    """
    found = []
    for name in ("config", "config.worktree"):
        for line in _small(name, directory).splitlines()[:_LINES]:
            key, _, value = line.partition("=")
            if key.split("]")[-1].strip().lower() == "hookspath":
                found.append(value.strip().strip('"'))
    return [
        path for path in found[:_FOLDERS] if path and not path.startswith(("/", "~")) and ".." not in path.split("/")
    ]


def _small(name: str, directory: int) -> str:
    """The text of a small regular file in an open directory, over no symlink; empty for anything else."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return ""
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
        return os.fsdecode(os.read(handle, _SETTINGS)) if regular else ""
    except OSError:
        return ""
    finally:
        os.close(handle)


def _is(path: Path, kind: Callable[[int], bool]) -> bool:
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        return False
    return kind(mode)


def _line(path: Path) -> str | None:
    """The one line of a small regular file; None for anything else. Never blocks and follows no link."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return os.fsdecode(os.read(handle, _LIMIT)).removesuffix("\n")
    except OSError:
        return None
    finally:
        os.close(handle)
