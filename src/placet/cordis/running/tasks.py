"""Work that nobody waits for, as long as the process serves."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from placet.kernel.groups import unwrapped
from placet.session.errors import StoreError

logger = logging.getLogger(__name__)


class Tasks:
    """The tasks of one process; what fails in one is logged and ends no other."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None

    @property
    def open(self) -> bool:
        """Whether something can still be begun."""
        return self._group is not None

    @asynccontextmanager
    async def serving(self, at_end: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Let tasks run inside of the block; at its end none can be begun, `at_end` runs, and the rest is cancelled."""
        with unwrapped():
            async with anyio.create_task_group() as group:
                self._group = group
                try:
                    yield
                finally:
                    self._group = None
                    with anyio.CancelScope(shield=True):
                        await at_end()
                    group.cancel_scope.cancel()

    def spawn(self, work: Callable[..., Awaitable[object]], *args: Any) -> None:
        """Let something be done; nothing happens once the process ends."""
        if self._group is not None:
            self._group.start_soon(self._guarded, work, args)

    async def _guarded(self, work: Callable[..., Awaitable[object]], args: tuple[Any, ...]) -> None:
        try:
            await work(*args)
        except StoreError as error:
            logger.warning("cordis: the store did not take it: %s", error)
        except Exception:
            logger.exception("cordis: %s failed", getattr(work, "__name__", work))
