"""Output of a command within bounds: its first and last bytes in memory, the rest in a capped spill file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MEMORY = 64_000
"""Bytes of one stream that are kept in memory: half from its start, half from its end."""
SPILL = 64 * 1024 * 1024
"""Bytes of one stream that are written to its spill file at most."""

_REPLACED = {0xDC00 + byte: "�" for byte in range(0x80, 0x100)}


@dataclass(frozen=True, slots=True)
class Captured:
    """One stream of a finished command.

    `text` has a line in its middle that says how many bytes were dropped there. `dropped_bytes` is exact: what the
    command wrote and `text` does not show. `replaced_bytes` counts bytes that are not UTF-8, each shown as U+FFFD.
    `spill_path` names the file with the whole stream, or with its first 64 MiB if `spill_truncated`.
    """

    text: str = ""
    truncated: bool = False
    dropped_bytes: int = 0
    replaced_bytes: int = 0
    total_bytes: int = 0
    spill_path: Path | None = None
    spill_truncated: bool = False


class Capture:
    """Takes the bytes of one stream as they come and never holds more than its share of memory."""

    def __init__(
        self, spill: Callable[[], tuple[int, Path]] | None = None, *, memory: int = MEMORY, cap: int = SPILL
    ) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._head_size, self._tail_size = memory // 2, memory - memory // 2
        self._total = 0
        self._spill, self._cap, self._spilled = spill, cap, 0
        self._file, self._path = -1, None  # type: tuple[int, Path | None]

    def feed(self, data: bytes) -> None:
        """Take what the command wrote next."""
        if (
            self._path is None
            and self._spill is not None
            and self._total + len(data) > self._head_size + self._tail_size
        ):
            self._open_spill()
        self._total += len(data)
        self._write(data)
        if len(self._head) < self._head_size:
            room = self._head_size - len(self._head)
            self._head += data[:room]
            data = data[room:]
        if len(data) >= self._tail_size:
            self._tail[:] = data[-self._tail_size :]
        elif data:
            self._tail += data
            if len(self._tail) > 4 * self._tail_size:
                del self._tail[: -self._tail_size]

    def close(self) -> None:
        """Close the spill file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def captured(self) -> Captured:
        """What was taken so far."""
        head, tail = bytes(self._head), bytes(self._tail[-self._tail_size :])
        if self._total == len(head) + len(tail):
            text, replaced = decoded(head + tail)
            return Captured(text, False, 0, replaced, self._total)
        head, tail = whole_end(head), whole_start(tail)
        dropped = self._total - len(head) - len(tail)
        (before, first), (after, second) = decoded(head), decoded(tail)
        text = f"{before}\n[... {dropped} bytes dropped here ...]\n{after}"
        return Captured(text, True, dropped, first + second, self._total, self._path, self._spilled < self._total)

    def _open_spill(self) -> None:
        assert self._spill is not None
        try:
            self._file, self._path = self._spill()
        except OSError:
            self._spill = None  # a full or missing disk costs the spill, never the result
            return
        self._write(bytes(self._head) + bytes(self._tail))

    def _write(self, data: bytes) -> None:
        if self._file < 0:
            return
        room = self._cap - self._spilled
        try:
            self._spilled += os.write(self._file, data[:room]) if room > 0 else 0
        except OSError:
            self.close()


def decoded(data: bytes) -> tuple[str, int]:
    """The text of some bytes, and how many of them are not UTF-8."""
    try:
        return data.decode(), 0
    except UnicodeDecodeError:
        text = data.decode(errors="surrogateescape")
        return text.translate(_REPLACED), sum(1 for character in text if "\udc80" <= character <= "\udcff")


def whole_end(data: bytes) -> bytes:
    """The bytes without a UTF-8 sequence that is cut at their end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if back < length else data
        if byte < 0x80:
            break
    return data


def whole_start(data: bytes) -> bytes:
    """The bytes without the rest of a UTF-8 sequence that is cut at their start."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]
