"""Who works in a workspace now: one run can have it alone, for as long as what was signed has to stay as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from placet.kernel.signal import AbortSignal


class Live:
    """The runs of this process by workspace. Folders that lie in each other count as one."""

    def __init__(self) -> None:
        self._running: Counter[Path] = Counter()
        self._alone: dict[Path, anyio.Event] = {}
        self._kept: Counter[Path] = Counter()

    def any(self, workspace: Path) -> bool:
        """Whether something runs there that can write."""
        return any(_touch(workspace, other) for other in (*self._running, *self._alone))

    @contextmanager
    def alone(self, workspace: Path) -> Iterator[bool]:
        """Have the workspace alone until the block ends: others wait. False, and nothing is held, if somebody runs."""
        if self.any(workspace):
            yield False
            return
        over = self._alone[workspace] = anyio.Event()
        try:
            yield True
        finally:
            del self._alone[workspace]
            over.set()

    @contextmanager
    def keeping(self, workspace: Path, files: Sequence[Path]) -> Iterator[None]:
        """Run on in a workspace that the caller has alone now, and have those files kept from whoever comes after."""
        self._running[workspace] += 1
        self._kept.update(files)
        try:
            yield
        finally:
            self._gone(workspace)
            self._kept -= Counter(files)

    def kept(self, workspace: Path) -> tuple[Path, ...]:
        """The files of a workspace that a run of now needs as they are."""
        return tuple(path for path in self._kept if path.is_relative_to(workspace))

    @asynccontextmanager
    async def beside(self, workspace: Path, signal: AbortSignal | None) -> AsyncIterator[bool]:
        """Run beside others, as soon as nobody has the workspace alone; False if the stop came first."""
        admitted = await self._admitted(workspace, signal)
        if admitted:
            self._running[workspace] += 1
        try:
            yield admitted
        finally:
            if admitted:
                self._gone(workspace)

    def _gone(self, workspace: Path) -> None:
        self._running[workspace] -= 1
        if not self._running[workspace]:
            del self._running[workspace]

    async def _admitted(self, workspace: Path, signal: AbortSignal | None) -> bool:
        with anyio.CancelScope() as waiting:
            undo = signal.on_abort(lambda _: waiting.cancel()) if signal is not None else None
            try:
                while (over := self._held(workspace)) is not None:
                    await over.wait()
                return True
            finally:
                if undo is not None:
                    undo()
        return False

    def _held(self, workspace: Path) -> anyio.Event | None:
        return next((over for other, over in self._alone.items() if _touch(workspace, other)), None)


def _touch(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)
