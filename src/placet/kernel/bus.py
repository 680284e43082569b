"""Notices inside one process: who listens is told, and a listener that fails disturbs nobody."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Bus(Generic[T]):
    """A list of listeners in the order in which they subscribed."""

    def __init__(self, label: str = "") -> None:
        self.label = label
        self._listeners: dict[object, Callable[[T], object]] = {}

    def subscribe(self, listener: Callable[[T], object]) -> Callable[[], None]:
        """Tell the listener every later notice; the returned undo ends that, and may be called twice."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._drop(token)

    def notify(self, notice: T) -> None:
        """Call every listener with the notice. The failure of one is logged, never raised."""
        for listener in tuple(self._listeners.values()):
            try:
                listener(notice)
            except Exception:  # a listener must not harm who notifies, nor the other listeners
                logger.exception("a listener of %r failed", self.label or "a bus")

    def __len__(self) -> int:
        return len(self._listeners)

    def _drop(self, token: object) -> None:
        self._listeners.pop(token, None)
