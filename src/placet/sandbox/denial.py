"""Whether the sandbox denied something: evidence, not words.

A run is denied if it failed, its output has the system's error text for something that its backend refuses, next to a
path that lies outside what the profile grants, and the unconfined server could have written there. Where a backend has
watched what the command tried to change, an attempt of that kind counts where the output says nothing: it is no proof
that the command failed for it, so a person chooses whether commands are watched. The search is plain and bounded: no
regular expression, no path is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .backend import Backend
from .linux.watching import How, Tried
from .mode import SandboxMode
from .policy import Profile
from .process import Command, Run
from .workspace import git

_LINES, _LINE, _PATHS = 400, 4096, 64
_QUOTES = {"'": "'", '"': '"', "‘": "’", "“": "”", "`": "'"}
_NOT_TESTED = tuple(Path(name) for name in ("/proc", "/sys", "/dev"))
_CERTAIN = "read-only file system"
_BUSY = "device or resource busy"
_CANNOT_EXECUTE = 126


def possible(run: Run) -> bool:
    """Whether the run ended in a way that a denial can have caused."""
    failed = run.exit_code is not None and run.exit_code not in (0, _CANNOT_EXECUTE)
    return failed and not run.timed_out and not run.aborted and run.sandbox.runner_failed is None


def judged(run: Run, command: Command, backend: Backend) -> Run:
    """The run with its denial filled in. Blocks for a few system calls."""
    workdir = (command.workdir or command.profile.workspace).path
    for text in (run.stderr.text, run.stdout.text):
        path = evidence(text, backend, command.profile, workdir)
        if path is not None:
            return _denied(run, path)
    attempted = next((path for call in run.tried if (path := _refused(call, command.profile, backend))), None)
    return run if attempted is None else _denied(run, attempted)


def _denied(run: Run, path: Path) -> Run:
    return replace(run, sandbox=replace(run.sandbox, denied=True, path=str(path)))


def evidence(text: str, backend: Backend, profile: Profile, workdir: Path) -> Path | None:
    """The first path in the text of which the sandbox denied the writing, or None."""
    tested = 0
    for line in text.splitlines()[-_LINES:]:
        for phrase, candidate in _candidates(line[:_LINE], backend.phrases):
            tested += 1
            if tested > _PATHS:
                return None
            path = Path(os.path.normpath(workdir / candidate))
            refused = _refuses(profile, path, backend.private, only_protected=phrase == _BUSY)
            if refused and _server_could_write(path):
                return path
    return None


def denied_writing(path: Path, backend: Backend, profile: Profile) -> bool:
    """Whether it was the sandbox that refused to let this path be written: the evidence for the file tools."""
    return _refuses(profile, path, backend.private, only_protected=False) and _server_could_write(path)


def _refused(call: Tried, profile: Profile, backend: Backend) -> Path | None:
    """The path of a call that the sandbox refused and that would have gone through without it, as things stand now."""
    path = Path(os.path.normpath(call.path))
    there, folder = os.path.lexists(path), path.parent
    match call.how:
        case How.MAKE if there:
            return None
        case How.REMOVE | How.WRITE if not there:
            return None
        case How.OPEN if there and _fails_anyway(path, call.flags):
            return None
        case How.OPEN if not there and not call.flags & os.O_CREAT:
            return None
    follows = there and call.how in (How.OPEN, How.WRITE)
    where = path if follows else folder
    if not follows and not os.path.isdir(folder):
        return None
    return path if denied_writing(where, backend, profile) else None


def _fails_anyway(path: Path, flags: int) -> bool:
    """Whether open(2) refuses what is there, whoever asks."""
    if flags & os.O_CREAT and flags & os.O_EXCL:
        return True
    return os.path.isdir(path) and flags & os.O_TMPFILE != os.O_TMPFILE


def _candidates(line: str, phrases: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each error text that the line has, with each part of the line that may be the path it speaks of."""
    lower = line.lower()
    for phrase in phrases:
        at = lower.find(phrase)
        if at < 0:
            continue
        before, after = line[:at], line[at + len(phrase) :]
        if _ends_there(before, after.strip()):
            for candidate in _paths(before, after, certain=phrase == _CERTAIN):
                yield phrase, candidate


def _ends_there(before: str, after: str) -> bool:
    """Whether the error text ends where it should: it is not the beginning of a sentence that only sounds like it."""
    if not after or after[0] in ":.'\"’)]" or after.startswith("(os error"):
        return True
    return after[0] == "," and before.rstrip().endswith(("EACCES:", "EPERM:", "EROFS:", "EBUSY:", "EXDEV:"))


def _paths(before: str, after: str, *, certain: bool) -> Iterator[str]:
    """What may be a path: quoted parts, parts between colons, absolute words; relative ones only with care.

    The first part of a line is the program that speaks, unless it is the only one.
    """
    parts = [part.strip() for part in before.split(": ") if part.strip(": ")]
    spoken = parts[1:] or parts
    for text in (*spoken, after):
        yield from _quoted(text)
    for part in reversed(spoken):
        if part.startswith("/"):
            yield part.rstrip(":")
    last = spoken[-1].rstrip(":") if parts[1:] else ""
    if last and "@" not in last and (certain or (len(parts) > 2 and parts[1].startswith("line "))):
        yield last
    for word in " ".join((*spoken, after)).split():
        word = word.strip("'\"‘’“”`,;:()[]")
        if word.startswith(("/", "./", "../")):
            yield word


def _quoted(line: str) -> Iterator[str]:
    start = 0
    while start < len(line):
        close = _QUOTES.get(line[start])
        end = line.find(close, start + 1) if close else -1
        if end > start + 1:
            yield line[start + 1 : end]
            start = end + 1
        else:
            start += 1


def _refuses(profile: Profile, path: Path, private: tuple[Path, ...], *, only_protected: bool) -> bool:
    """Whether the profile does not grant writing at that path; symlinks in it are resolved."""
    if len(os.fsencode(str(path))) > _LINE or any(path == kept or kept in path.parents for kept in _NOT_TESTED):
        return False
    real = Path(os.path.realpath(path))
    if any(_at_or_below(real, kept) or _at_or_below(path, kept) for kept in protected(profile)):
        return True
    if only_protected:
        return False
    if any(_at_or_below(real, root) for root in profile.writable):
        return False
    in_workspace = _at_or_below(real, profile.workspace.path)
    return in_workspace or not any(_at_or_below(real, root) for root in private)


def protected(profile: Profile) -> list[Path]:
    """What exists inside the writable folders and stays as it is while commands of this profile run."""
    if profile.mode is SandboxMode.READ_ONLY:
        return []
    own = git.directory(profile.workspace.path)
    pointer = git.link(profile.workspace.path)
    directories = [*([own] if own else []), *profile.git_roots]
    kept = [path for directory in directories for path in git.protected(directory)]
    return [*kept, *profile.protected, *([pointer] if pointer else [])]


def _server_could_write(path: Path) -> bool:
    """Whether this process may write the file, or make it in the nearest directory that exists (access(2))."""
    try:
        while not os.path.lexists(path):
            path = path.parent
            if os.path.lexists(path):
                return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)
        if os.path.isdir(path) or os.path.islink(path):
            return os.access(path, os.W_OK) or os.access(path.parent, os.W_OK | os.X_OK)
        return os.access(path, os.W_OK)
    except (OSError, ValueError):
        return False


def _at_or_below(path: Path, root: Path) -> bool:
    return path == root or root in path.parents
