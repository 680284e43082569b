"""Writing and editing: a file gets its new content in one step, and the answer says what changed."""

from __future__ import annotations

import os
import re
import stat
import time
from typing import Any

from .fence import Fence, Refused, kind_of
from .reading import LONGEST_LINE, content

LARGEST, EDITED = 16 << 20, 4 << 20
"""Bytes that a file may get, and that one may have to be edited."""
DIFFED_LINES, DIFF = 600, 24_000
"""Lines of a change, on either side, that are compared; characters of the difference that are told."""


def write(fence: Fence, request: dict[str, Any]) -> dict[str, Any]:
    return put(fence, request["path"], request["text"].encode("utf-8", "surrogateescape"), None)


def edit(fence: Fence, request: dict[str, Any]) -> dict[str, Any]:
    data, _ = content(fence, request["path"], EDITED)
    old, new = request["old"].encode(), request["new"].encode()
    found = data.count(old)
    if found == 0:
        raise Refused("no-match", "the text to replace does not occur; read the file and copy it exactly")
    if found > 1 and not request["all"]:
        raise Refused("ambiguous", f"the text to replace occurs {found} times; give more of it, or replace all")
    if len(data) + found * (len(new) - len(old)) > LARGEST:
        raise Refused("too-large", f"the file would have more than {LARGEST} bytes")
    return {**put(fence, request["path"], data.replace(old, new), data), "replaced": found}


def locate(fence: Fence, request: dict[str, Any]) -> dict[str, Any]:
    """Where a path leads, whether there is something or not; nothing is opened."""
    real = os.path.realpath(request["path"])
    return {"path": real, "straight": real == os.path.abspath(request["path"])}


def put(fence: Fence, path: str, data: bytes, old: bytes | None) -> dict[str, Any]:
    """Give a file its new content in one step: another program sees the old one or the new one, never a part."""
    folder, name, real = place(fence, path)
    try:
        fence.changes(real)
        mode = writable(folder, name, real)
        if mode is not None and old is None:
            old = small(folder, name)
        temporary = f".{name[:80]}.{os.getpid()}{time.monotonic_ns()}.placet"
        try:
            target = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder
            )
        except OSError as failure:
            raise OSError(failure.errno, failure.strerror, real) from failure
        try:
            with open(target, "wb") as file:
                if mode is not None:
                    os.fchmod(target, stat.S_IMODE(mode))
                file.write(data)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as failure:
            os.unlink(temporary, dir_fd=folder)
            raise OSError(failure.errno, failure.strerror, real) from failure
    finally:
        os.close(folder)
    created = mode is None
    return {"path": real, "created": created, "size": len(data), "diff": diff(b"" if created else old, data, real)}


def place(fence: Fence, path: str) -> tuple[int, str, str]:
    """A handle on the folder that holds the file or will hold it, the file's name there, and its real path.

    Symlinks are followed to their end, whether there is a file yet or not, as a shell's redirection does.
    """
    for _ in range(40):
        above, name = os.path.split(path.rstrip("/") if path.strip("/") else path)
        if name in ("", ".", "..") or path.endswith("/"):
            raise Refused("is-a-folder", f"{path} names a folder")
        made(fence, above or ".")
        folder, real = fence.look(above or ".", directory=True)
        try:
            target = os.readlink(name, dir_fd=folder)
        except OSError:
            return folder, name, os.path.join(real, name)
        os.close(folder)
        if fence.straight:
            at = os.path.realpath(os.path.join(real, name))
            raise Refused("symlink", f"{path} is a symlink; name the file by its real path, {at}")
        path = os.path.join(real, target)
    raise Refused("closed", f"{path} leads in a circle")


def made(fence: Fence, folder: str) -> None:
    """Make the folder, with all above it that are missing."""
    fence.check(os.path.abspath(folder))
    if os.path.lexists(folder) or folder in ("", "/"):
        return
    made(fence, os.path.dirname(folder))
    real = os.path.realpath(folder)
    fence.changes(real)
    try:
        os.mkdir(folder)
    except FileExistsError:
        return
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, real) from failure


def writable(folder: int, name: str, real: str) -> int | None:
    """The mode of the file that is there; None if there is none. Raises for what cannot be written."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        code = "is-a-folder" if stat.S_ISDIR(mode) else "not-a-file"
        raise Refused(code, f"{real} is {kind_of(mode)}, not a file", real)
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder))
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, real) from failure
    return mode


def small(folder: int, name: str) -> bytes | None:
    """What is in the file, for the difference; None if that is too much or cannot be read."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        data = file.read(EDITED + 1)
    return data if len(data) <= EDITED else None


def diff(old: bytes | None, new: bytes, path: str) -> dict[str, Any]:
    """The difference as counts and, where it is not too long, as text."""
    if old is None or b"\0" in old[:8192] or b"\0" in new[:8192]:
        return {"added": None, "removed": None, "text": None}
    before, after = old.decode(errors="replace").split("\n"), new.decode(errors="replace").split("\n")
    before, after = (lines[:-1] if lines[-1] == "" else lines for lines in (before, after))
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    removed, added = len(before) - start - end, len(after) - start - end
    if removed > DIFFED_LINES or added > DIFFED_LINES:
        return {"added": added, "removed": removed, "text": None}
    import difflib

    low = max(0, start - 3)
    old_part, new_part = before[low : len(before) - max(0, end - 3)], after[low : len(after) - max(0, end - 3)]
    lines, added, removed = [], 0, 0
    for line in list(difflib.unified_diff(old_part, new_part, n=3, lineterm=""))[2:]:
        if line.startswith("@@"):
            numbers = re.sub(r"(?<=[-+])\d+", lambda found: str(int(found[0]) + low), line)
            lines.append(numbers)
            continue
        added, removed = added + line.startswith("+"), removed + line.startswith("-")
        lines.append(line[:LONGEST_LINE])
    text = "\n".join(lines)
    return {"added": added, "removed": removed, "text": text if len(text) <= DIFF else None}
