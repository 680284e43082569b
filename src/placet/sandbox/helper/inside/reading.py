"""Reading a text file by its lines, within bounds."""

from __future__ import annotations

import os
import stat
from typing import Any

from .fence import Fence, Refused

READ, SCANNED = 128 << 10, 256 << 20
"""Bytes that one answer holds, and that are passed over to reach its first line."""
LONGEST_LINE = 8_000
_CHUNK = 1 << 16


def read(fence: Fence, request: dict[str, Any]) -> dict[str, Any]:
    first, count = request["first"], request["count"]
    descriptor, real = (request["handed"], request["path"]) if request["handed"] else opened(fence, request["path"])
    with open(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        if b"\0" in file.peek(8192)[:8192]:
            raise Refused("not-text", f"{request['path']} is not text ({size} bytes)", real)
        lines: list[tuple[str, int]] = []
        taken = scanned = number = 0
        more, whole = False, True
        while line := file.readline(1 << 16):
            number += whole
            whole = line.endswith(b"\n")
            scanned += len(line)
            if scanned > SCANNED:
                raise Refused("too-large", f"line {first} lies beyond the first {SCANNED >> 20} MiB", real)
            if number < first:
                continue
            if number >= first + count or taken > READ:
                more = True
                break
            if len(lines) <= number - first:
                lines.append((text_of(line.rstrip(b"\n")[:LONGEST_LINE]), max(0, len(line) - 1 - LONGEST_LINE)))
                taken += min(len(line), LONGEST_LINE)
            else:
                lines[-1] = (lines[-1][0], lines[-1][1] + len(line))
    if not lines and first > 1:
        raise Refused("no-such-line", f"{request['path']} has {number} lines", real)
    return {"path": real, "first": first, "lines": lines, "more": more, "size": size}


def text_of(data: bytes) -> str:
    return data.decode(errors="replace")


def opened(fence: Fence, path: str) -> tuple[int, str]:
    """A descriptor for reading a regular file, and the file's real path."""
    handle, real = fence.look(path)
    try:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise Refused("is-a-folder", f"{path} is a folder", real)
        return os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC), real
    finally:
        os.close(handle)


def content(fence: Fence, path: str, limit: int) -> tuple[bytes, str]:
    """All bytes of a regular file that has `limit` at most, and its real path."""
    descriptor, real = opened(fence, path)
    with open(descriptor, "rb") as file:
        data = file.read(limit + 1)
        if len(data) > limit:
            size = os.fstat(descriptor).st_size
            raise Refused("too-large", f"{path} has {size} bytes; the limit here is {limit}", real)
    return data, real
