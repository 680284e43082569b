"""The in-memory view of a stop: whoever waits is woken, whoever looks sees it, and the first reason sticks."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from .bus import Bus
from .scope import Scope, Undo


class AbortSignal:
    """A stop that is set at most once. It belongs to one event loop and is a view only: the log holds the truth."""

    def __init__(self) -> None:
        self._reason: str | None = None
        self._bus: Bus[str] = Bus("abort")
        self._sources = Scope("sources of an abort signal")

    @property
    def aborted(self) -> bool:
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """Why it was aborted, or None as long as it is not."""
        return self._reason

    def abort(self, reason: str = "user") -> None:
        """Set the signal; later calls change nothing."""
        if self._reason is None:
            self._reason = reason
            self._bus.notify(reason)
            self._sources.close()

    def on_abort(self, listener: Callable[[str], object]) -> Undo:
        """Call the listener with the reason when the signal is set, at once if it is set already. Returns the undo."""
        if self._reason is not None:
            listener(self._reason)
            return lambda: None
        return self._bus.subscribe(listener)

    async def wait(self) -> str:
        """Return the reason as soon as the signal is set."""
        if self._reason is None:
            woken = anyio.Event()
            undo = self._bus.subscribe(lambda _: woken.set())
            try:
                await woken.wait()
            finally:
                undo()
        assert self._reason is not None
        return self._reason

    def detach(self) -> None:
        """Stop following the signals that this one was made of by `any`."""
        self._sources.close()

    @classmethod
    def any(cls, *signals: AbortSignal) -> AbortSignal:
        """A signal that is set as soon as one of the given ones is, with its reason."""
        combined = cls()
        for signal in signals:
            combined._sources.add("source", signal.on_abort(combined.abort))
        return combined
