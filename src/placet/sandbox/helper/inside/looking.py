"""Listing folders and searching in files, within bounds."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from typing import Any

from .fence import Fence, Refused
from .reading import content, text_of

ENTRIES, FILES, MATCHES = 1_000, 20_000, 200
"""Entries that are listed, files that are looked into, lines that are found at most."""
SEARCHED, SEARCHED_LINE, LONGEST_MATCH = 4 << 20, 20_000, 400
"""Bytes of a file, and characters of a line, that are searched; characters of a line that are told."""


def entries(fence: Fence, request: dict[str, Any]) -> dict[str, Any]:
    handle, top = fence.look(request["path"], directory=True)
    os.close(handle)
    found: list[dict[str, Any]] = []
    complete = True
    waiting = [(top, 1)]
    while waiting and complete:
        folder, depth = waiting.pop(0)
        for entry in listed(fence, folder, top):
            if len(found) == ENTRIES:
                complete = False
                break
            found.append(described(entry, os.path.relpath(entry.path, top)))
            if depth < request["depth"] and found[-1]["kind"] == "folder" and entry.name != ".git":
                waiting.append((entry.path, depth + 1))
    return {"path": top, "entries": found, "complete": complete}


def listed(fence: Fence, folder: str, top: str) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; none if it cannot be read, but an error for the top."""
    try:
        handle, real = fence.look(folder, directory=True)
        os.close(handle)
        with os.scandir(real) as all_of_them:
            some = [entry for entry, _ in zip(all_of_them, range(50 * ENTRIES), strict=False)]
    except (OSError, Refused):
        if folder == top:
            raise
        return []
    return sorted(some, key=lambda entry: entry.name)


def described(entry: os.DirEntry[str], name: str) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name}
    try:
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(facts.st_mode):
            return {**told, "kind": "symlink", "target": os.readlink(entry.path)}
        if stat.S_ISREG(facts.st_mode):
            return {**told, "kind": "file", "size": facts.st_size}
        return {**told, "kind": "folder" if stat.S_ISDIR(facts.st_mode) else "other"}
    except OSError:
        return {**told, "kind": "other"}


def search(fence: Fence, request: dict[str, Any]) -> dict[str, Any]:
    try:
        pattern = re.compile(request["pattern"], re.IGNORECASE if request["ignoreCase"] else 0)
    except (re.error, RecursionError, OverflowError) as failure:
        raise Refused("bad-pattern", f"the pattern is not a regular expression: {failure}") from failure
    handle, top = fence.look(request["path"])
    is_file = stat.S_ISREG(os.fstat(handle).st_mode)
    os.close(handle)
    ends = time.monotonic() + request["seconds"]
    matches: list[tuple[str, int, str]] = []
    skipped = {"binary": 0, "large": 0, "unreadable": 0}
    looked, why = 0, None
    for path in [top] if is_file else files(fence, top, request["glob"]):
        if time.monotonic() > ends:
            why = f"it was ended after {request['seconds']:g} seconds"
        elif looked == FILES:
            why = f"it looked into {FILES} files and no more"
        if why is not None:
            break
        looked += 1
        try:
            data = content(fence, path, SEARCHED)[0]
        except (OSError, Refused) as failure:
            skipped["large" if isinstance(failure, Refused) and failure.code == "too-large" else "unreadable"] += 1
            continue
        if b"\0" in data[:8192]:
            skipped["binary"] += 1
            continue
        name = os.path.basename(path) if is_file else os.path.relpath(path, top)
        for number, line in enumerate(text_of(data).split("\n"), start=1):
            if pattern.search(line[:SEARCHED_LINE]) is not None:
                if len(matches) == MATCHES:
                    why = f"it found {MATCHES} lines and looked for no more"
                    break
                matches.append((name, number, line[:LONGEST_MATCH]))
    return {"path": top, "matches": matches, "files": looked, "skipped": skipped, "incomplete": why}


def files(fence: Fence, top: str, glob: str | None) -> Iterator[str]:
    """The regular files below a folder whose name fits, by name; .git folders aside, no symlink followed."""
    import fnmatch

    waiting = [top]
    while waiting:
        folder = waiting.pop()
        inner = []
        for entry in listed(fence, folder, top):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    inner.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                whole = os.path.relpath(entry.path, top)
                name = whole if glob is not None and "/" in glob else entry.name
                if glob is None or any(fnmatch.fnmatchcase(name, one) for one in (glob, glob.replace("**/", ""))):
                    yield entry.path
        waiting.extend(reversed(inner))
