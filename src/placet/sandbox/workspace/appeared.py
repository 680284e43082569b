"""What other programs of the person run or obey and an agent's command has made or changed: looked for after each call.

Names, kinds and times are looked at, never contents, but for one line of git's settings: where else it looks for hooks.
No symlink is followed. A look is bounded, and says so when the bound was reached.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from .git import hook_folders

ENTRIES = 20_000
"""Directory entries that one look visits at most."""
LISTED = 40
"""Findings that one call reports at most; the rest is counted."""
_DEEPEST = 24
_CLOCK_STEP_NS = 20_000_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Kind(StrEnum):
    """Which of the person's programs runs it."""

    GIT_STEPS = "git-steps"
    GIT_SETTINGS = "git-settings"
    GIT_HOOK = "git-hook"
    REPOSITORY = "repository"
    SHELL = "shell"
    EDITOR = "editor"
    PYTHON = "python"
    PACKAGE = "package"
    MAKE = "make"


WHY: Mapping[Kind, str] = {
    Kind.GIT_STEPS: "git runs the steps in it when a rebase, merge or cherry-pick goes on",
    Kind.GIT_SETTINGS: "git obeys it, and it can name programs to run",
    Kind.GIT_HOOK: "git runs it at commits, merges and checkouts",
    Kind.REPOSITORY: "git and editors obey the settings in it once you are in that folder",
    Kind.SHELL: "direnv runs it when a shell enters the folder",
    Kind.EDITOR: "an editor that opens the folder obeys it, and it can name programs to run",
    Kind.PYTHON: "Python runs it at every start in that environment",
    Kind.PACKAGE: "npm, yarn and pnpm run the scripts in it",
    Kind.MAKE: "make runs it",
}
_NAMES = {
    ".envrc": Kind.SHELL,
    "sitecustomize.py": Kind.PYTHON,
    "usercustomize.py": Kind.PYTHON,
    "package.json": Kind.PACKAGE,
    **dict.fromkeys(("Makefile", "makefile", "GNUmakefile"), Kind.MAKE),
}
_OF_OTHERS = "node_modules"  # its thousands of packages and Makefiles are run by nobody but their own installation
_FILLED_BY_TOOLS = frozenset({_OF_OTHERS, ".venv", "venv", "target", "build", "dist", "vendor", "__pycache__"})
_EDITORS = frozenset({".vscode", ".idea"})
_OF_GIT = {
    **dict.fromkeys(("config", "config.worktree", "commondir", "gitdir"), Kind.GIT_SETTINGS),
    **dict.fromkeys(("rebase-merge", "rebase-apply", "sequencer"), Kind.GIT_STEPS),
}
_STEPS = ("git-rebase-todo", "todo")
_BARE = frozenset({"HEAD", "objects", "refs"})
_GIT_FOLDERS = frozenset({"worktrees", "modules"})


@dataclass(frozen=True, slots=True)
class Appeared:
    """One thing that a call has made or changed and other programs of the person will run."""

    path: Path
    kind: Kind

    @property
    def why(self) -> str:
        return WHY[self.kind]


@dataclass(frozen=True, slots=True)
class _Thing:
    kind: Kind
    identity: tuple[int, ...]
    newest: int


@dataclass(frozen=True, slots=True)
class Picture:
    """What was there at one moment; `whole` is false where there was more than a look visits."""

    things: Mapping[Path, _Thing]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Findings:
    """What a call has made or changed; `more` counts what is not listed, `whole` is as in the picture."""

    things: tuple[Appeared, ...] = ()
    more: int = 0
    whole: bool = True


def picture(roots: Sequence[Path], git_roots: Sequence[Path] = ()) -> Picture:
    """Look at folders, and at git directories that lie elsewhere."""
    look = _Look()
    for root in roots:
        look.folder(root)
    for git in git_roots:
        look.git(git)
    return Picture(look.things, look.left > 0)


def findings(before: Picture, after: Picture, since: int) -> Findings:
    """What differs and was made, changed or moved since that time (epoch, nanoseconds).

    The times are the system's own (ctime), which a command cannot set; what the person changed earlier is left out.
    """
    found = [
        Appeared(path, thing.kind)
        for path, thing in after.things.items()
        if thing.newest >= since - _CLOCK_STEP_NS
        and (path not in before.things or before.things[path].identity != thing.identity)
    ]
    inner = {one.path for one in found if one.kind is Kind.REPOSITORY}
    outermost = [one for one in found if not inner.intersection(one.path.parents)]
    return Findings(tuple(outermost[:LISTED]), max(0, len(outermost) - LISTED), after.whole)


@dataclass(slots=True)
class _Look:
    """One look, with what it may still visit."""

    things: dict[Path, _Thing] = field(default_factory=dict)
    left: int = ENTRIES

    def folder(self, root: Path) -> None:
        with suppress(OSError):
            handle = os.open(root, _DIRECTORY)
            try:
                self._walk(handle, root, 0, None, 0)
            finally:
                os.close(handle)

    def git(self, root: Path) -> None:
        with suppress(OSError):
            handle = os.open(root, _DIRECTORY)
            try:
                self._git(handle, root, 0, 0)
            finally:
                os.close(handle)

    def _walk(self, handle: int, path: Path, newest: int, kind: Kind | None, depth: int) -> None:
        """One folder: first its own entries, then the folders in it. `kind` is what all files in it are."""
        entries = list(self._entries(handle))
        names = {entry.name for entry in entries}
        if names >= _BARE:
            self._note(path, Kind.REPOSITORY, os.fstat(handle), newest, by_content=False)
            return self._git(handle, path, newest, depth)
        for entry in entries:
            found = kind or self._kind(entry.name, path)
            if found is not None and not entry.is_dir(follow_symlinks=False):
                self._entry(entry, path, found, newest)
        for entry in sorted(entries, key=_when):
            if not entry.is_dir(follow_symlinks=False) or depth == _DEEPEST:
                continue
            with self._inner(handle, entry.name) as (inner, facts):
                if inner < 0:
                    continue
                below, new = path / entry.name, max(newest, facts.st_ctime_ns)
                if entry.name == ".git":
                    self._note(below, Kind.REPOSITORY, facts, new, by_content=False)
                    self._git(inner, below, newest, depth + 1)
                    for name in hook_folders(inner):
                        self._hooks(handle, path, name, newest)
                else:
                    self._walk(inner, below, new, Kind.EDITOR if entry.name in _EDITORS else kind, depth + 1)
        return None

    def _kind(self, name: str, path: Path) -> Kind | None:
        if name == ".git" or name in _EDITORS:  # a file or a symlink of that name
            return Kind.REPOSITORY if name == ".git" else Kind.EDITOR
        if name.endswith(".pth"):
            return Kind.PYTHON
        kind = _NAMES.get(name)
        return None if kind in (Kind.PACKAGE, Kind.MAKE) and _OF_OTHERS in path.parts else kind

    def _git(self, handle: int, path: Path, newest: int, depth: int) -> None:
        """What git obeys or runs in one of its directories, and in those of worktrees and submodules below it."""
        for entry in self._entries(handle):
            name, below = entry.name, path / entry.name
            if not entry.is_dir(follow_symlinks=False):
                kind = _OF_GIT.get(name, Kind.GIT_SETTINGS if name in ("hooks", "info", *_GIT_FOLDERS) else None)
                if kind is not None:
                    self._entry(entry, path, kind, newest)
            elif name in _OF_GIT:
                with self._inner(handle, name) as (inner, facts):
                    if inner >= 0:
                        self._note(below, _OF_GIT[name], facts, newest, *_steps(inner))
            elif name in ("hooks", "info"):
                with self._inner(handle, name) as (inner, facts):
                    for one in self._entries(inner) if inner >= 0 else ():
                        if name == "hooks" and not one.name.endswith(".sample"):
                            self._entry(one, below, Kind.GIT_HOOK, max(newest, facts.st_ctime_ns))
                        elif name == "info" and one.name == "attributes":
                            self._entry(one, below, Kind.GIT_SETTINGS, newest)
            elif name in _GIT_FOLDERS and depth < _DEEPEST:
                with self._inner(handle, name) as (inner, facts):
                    for one in self._entries(inner) if inner >= 0 else ():
                        with self._inner(inner, one.name) as (own, own_facts):
                            if own >= 0:
                                self._git(own, below / one.name, max(newest, own_facts.st_ctime_ns), depth + 2)

    def _hooks(self, handle: int, path: Path, name: str, newest: int) -> None:
        """What git runs from a folder of the tree that its settings name."""
        with ExitStack() as opened:
            for part in Path(name).parts:
                handle, facts = opened.enter_context(self._inner(handle, part))
                if handle < 0 or part == "..":
                    return
                path, newest = path / part, max(newest, facts.st_ctime_ns)
            for one in self._entries(handle):
                if not one.is_dir(follow_symlinks=False):
                    self._entry(one, path, Kind.GIT_HOOK, newest)

    def _entries(self, handle: int) -> Iterator[os.DirEntry[str]]:
        with suppress(OSError), os.scandir(handle) as entries:
            for entry in entries:
                if self.left <= 0:
                    return
                self.left -= 1
                yield entry

    def _entry(self, entry: os.DirEntry[str], path: Path, kind: Kind, newest: int) -> None:
        with suppress(OSError):
            self._note(path / entry.name, kind, entry.stat(follow_symlinks=False), newest)

    def _note(
        self, path: Path, kind: Kind, facts: os.stat_result, newest: int, *more: int, by_content: bool = True
    ) -> None:
        identity: tuple[int, ...] = (stat.S_IFMT(facts.st_mode), facts.st_ino)
        if by_content:
            identity += (facts.st_ctime_ns, facts.st_size, *more)
        self.things[path] = _Thing(kind, identity, max([newest, facts.st_ctime_ns, *more]))

    def _inner(self, handle: int, name: str) -> _Inner:
        return _Inner(handle, name)


class _Inner:
    """A folder below an open one, opened without following a symlink; the handle is -1 if it cannot be opened."""

    def __init__(self, above: int, name: str) -> None:
        self._above, self._name, self._handle = above, name, -1

    def __enter__(self) -> tuple[int, os.stat_result]:
        try:
            self._handle = os.open(self._name, _DIRECTORY, dir_fd=self._above)
        except OSError:
            return -1, os.fstat(self._above)
        return self._handle, os.fstat(self._handle)

    def __exit__(self, *_: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)


def _when(entry: os.DirEntry[str]) -> tuple[bool, str]:
    """The order of folders: those that tools fill come last, if the bound lets them come at all."""
    return entry.name in _FILLED_BY_TOOLS, entry.name


def _steps(handle: int) -> list[int]:
    """When the lists of steps in a directory were last changed."""
    found = []
    for name in _STEPS:
        with suppress(OSError):
            found.append(os.stat(name, dir_fd=handle, follow_symlinks=False).st_ctime_ns)
    return found
