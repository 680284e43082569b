"""Whatever a plugin registers has its undo; they run in reverse, and one that fails keeps no other from running."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from .failures import cancelled

UNDO_SECONDS = 2.0
"""How long the undo of one registration may take."""

Undo = Callable[[], Any]


class Registration:
    """What was registered. Call it to take it back; await it to know that placet has accepted it."""

    def __init__(self, scope: Scope, label: str, undo: Undo, accepted: asyncio.Future[Any] | None = None) -> None:
        self._scope, self.label, self._undo = scope, label, undo
        self.accepted = accepted
        self._done = False

    def __call__(self) -> None:
        """Take it back. A later call changes nothing."""
        if not self._done:
            self._scope.forget(self)
            self._scope.spawn(self._scope.take_back(self))

    def discard(self) -> None:
        """Keep it no longer: there is nothing left to undo."""
        self._done = True
        self._scope.forget(self)

    def __await__(self) -> Generator[Any, None, Registration]:
        if self.accepted is not None:
            yield from asyncio.shield(self.accepted).__await__()
        return self

    async def undo(self) -> None:
        """Run the undo, once."""
        if self._done:
            return
        self._done = True
        result = self._undo()
        if inspect.isawaitable(result):
            await asyncio.wait_for(_awaited(result), UNDO_SECONDS)


class Scope:
    """Everything that one run of `apply` has registered. `spawn` starts a task, `failed` is told of undos that fail."""

    def __init__(self, spawn: Callable[[Any], Any], failed: Callable[[str, BaseException], None]) -> None:
        self.spawn, self._failed = spawn, failed
        self._kept: list[Registration] = []
        self.closed = False

    def add(self, label: str, undo: Undo, accepted: asyncio.Future[Any] | None = None) -> Registration:
        """Keep an undo."""
        made = Registration(self, label, undo, accepted)
        self._kept.append(made)
        return made

    def open_for(self, label: str) -> None:
        """Raise `RuntimeError` once the plugin is stopping."""
        if self.closed:
            raise RuntimeError(f"the plugin is stopping: {label} cannot be registered any more")

    def forget(self, registration: Registration) -> None:
        """Keep it no longer."""
        if registration in self._kept:
            self._kept.remove(registration)

    def waiting(self) -> list[asyncio.Future[Any]]:
        """What was registered and is not accepted yet."""
        return [made.accepted for made in self._kept if made.accepted is not None and not made.accepted.done()]

    def refused(self) -> BaseException | None:
        """The first registration's failure."""
        done = (made.accepted for made in self._kept if made.accepted is not None and made.accepted.done())
        return next((found for future in done if (found := future.exception()) is not None), None)

    async def close(self) -> None:
        """Run all undos, the newest first."""
        self.closed = True
        while self._kept:
            await self.take_back(self._kept.pop())

    async def take_back(self, made: Registration) -> None:
        """Run one undo."""
        try:
            await made.undo()
        except BaseException as failure:  # the others still have to run
            if cancelled(failure):
                raise
            self._failed(made.label, failure)


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result
