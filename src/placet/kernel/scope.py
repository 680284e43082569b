"""Labelled undo: whatever is registered returns its undo, and undo runs in reverse."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import TracebackType

logger = logging.getLogger(__name__)

Undo = Callable[[], object]


class Scope:
    """A stack of labelled undos that all run exactly once, the newest first.

    >>> scope = Scope("demo")
    >>> scope.add("first", lambda: print("undo first"))
    >>> scope.add("second", lambda: print("undo second"))
    >>> scope.close()
    undo second
    undo first
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self._undos: list[tuple[str, Undo]] = []
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    def labels(self) -> tuple[str, ...]:
        """What is registered now, the oldest first."""
        return tuple(label for label, _ in self._undos)

    def add(self, label: str, undo: Undo) -> None:
        """Keep an undo until the scope closes; in a closed scope it runs at once."""
        if self._closed:
            self._run(label, undo)
        else:
            self._undos.append((label, undo))

    def close(self) -> None:
        """Run every undo in reverse order. One that fails is logged and never keeps another from running."""
        self._closed = True
        while self._undos:
            self._run(*self._undos.pop())

    def _run(self, label: str, undo: Undo) -> None:
        try:
            undo()
        except Exception:  # an undo that fails must not leave the others undone
            logger.exception("undo of %r in scope %r failed", label, self.label)

    def __enter__(self) -> Scope:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
