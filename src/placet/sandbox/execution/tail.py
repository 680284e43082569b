"""The last output of a command that runs for long, readable piece by piece while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from .output import MEMORY, decoded, whole_end, whole_start


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the output: its text, where it begins and ends in bytes, and what is no longer there before it.

    `more` bytes follow that the bound of the request left out.
    """

    text: str
    start: int
    end: int
    dropped: int
    more: int


class Tail:
    """Keeps the last bytes of both streams, in the order in which they came."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._kept, self._memory = bytearray(), memory
        self._total = 0

    @property
    def total(self) -> int:
        """How many bytes the command has written."""
        return self._total

    def feed(self, data: bytes) -> None:
        """Take what the command wrote next."""
        self._total += len(data)
        self._kept += data[-self._memory :]
        if len(self._kept) > 2 * self._memory:
            del self._kept[: -self._memory]

    def read(self, after: int, limit: int, *, final: bool) -> Piece:
        """Return at most `limit` bytes from byte `after` on; `final` says that no more will come.

        A character that is cut at the end stays for the next piece.
        """
        kept = bytes(self._kept[-self._memory :])
        first = self._total - len(kept)
        start = min(max(after, first), self._total)
        data = kept[start - first : start - first + limit]
        if start > after:
            whole = whole_start(data)
            start, data = start + len(data) - len(whole), whole
        if not (final and start + len(data) == self._total):
            data = whole_end(data)
        end = start + len(data)
        return Piece(decoded(data)[0], start, end, max(0, start - after), self._total - end)
