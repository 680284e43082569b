"""A job of this process while it lives, and its last output for a while after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from placet.kernel.signal import AbortSignal
from placet.sandbox.execution.tail import Tail
from placet.tools.jobs.record import Ended, Reason, Started

By = Mapping[str, Any]


@dataclass(slots=True, eq=False)
class Job:
    """One command in the background. `told` is how many bytes of its output the agent has read.

    `begun` is set once the process is there or will never be, `over` once the end is in the log or cannot get there.
    """

    started: Started
    output: Tail = field(default_factory=Tail)
    stop: AbortSignal = field(default_factory=AbortSignal)
    begun: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    ended: Ended | None = None
    failure: Exception | None = None
    told: int = 0
    by: By | None = None
    _news: anyio.Event = field(default_factory=anyio.Event)

    def feed(self, stream: str, data: bytes) -> None:
        """Take output of either stream, and wake who waits for it."""
        self.output.feed(data)
        self.wake()

    def wake(self) -> None:
        """Wake who waits for news of this job."""
        self._news.set()
        self._news = anyio.Event()

    def end(self, reason: Reason, by: By | None = None) -> None:
        """Ask the command to end; the first reason counts."""
        if not self.stop.aborted:
            self.by = by
            self.stop.abort(reason.value)

    async def news(self) -> None:
        """Return at the next output, or when the job is over."""
        if not self.over.is_set():
            await self._news.wait()
