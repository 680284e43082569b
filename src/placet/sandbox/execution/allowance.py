"""What each command is allowed to have, and who sees to it: a control group where there can be one, else a watcher."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import anyio
from anyio import to_thread

from placet.sandbox.linux.cgroup import Group, Groups, Limits, NoGroups, delegated

from .bounds import Bounds
from .lookout import Crowd, Lookout


class Allowance:
    """What one command may have. To be closed when nothing of the command is left."""

    def __init__(self, bounds: Bounds, group: Group | None, lookout: Lookout) -> None:
        self.bounds, self._group, self._lookout = bounds, group, lookout
        self._killed_for: str | None = None

    @property
    def tasks(self) -> int:
        """How many processes and threads the kernel is to grant, where it can count them for the command alone."""
        return self.bounds.tasks

    @property
    def group(self) -> tuple[int, int] | None:
        """The descriptors by which a process joins the command's group, and by which it goes back to the server's."""
        return None if self._group is None else (self._group.join, self._group.leave)

    async def passed(self, crowd: Crowd) -> str:
        """Return when a command has had too much of something and was killed for it, and say of what."""
        over, said = anyio.Event(), ""
        loop = asyncio.get_running_loop()

        def tell(words: str) -> None:
            nonlocal said
            said = words
            loop.call_soon_threadsafe(over.set)

        undo = self._lookout.watch(self._look(crowd), tell, self.bounds)
        try:
            await over.wait()
        finally:
            undo()
        return said

    def refused(self) -> str | None:
        """What the command was ended for, or the kernel has refused to it, in words."""
        if self._group is None or self._killed_for is not None:
            return self._killed_for
        if self._group.ended_for_memory():
            return self.bounds.too_large
        return self.bounds.too_many if self._group.refused_tasks() else None

    async def close(self) -> None:
        """Remove the group, if there is one, with whatever is left in it."""
        if self._group is not None:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._group.close)

    def _look(self, crowd: Crowd) -> Callable[[], str | None]:
        """A look at the command, which kills it if it has too much of something."""

        def look() -> str | None:
            found = self.refused() or (self.bounds.too_many if crowd.count() > self.bounds.processes else None)
            if found is None and self._group is None:
                found = self.bounds.exceeded(crowd.root)
            if found is not None:
                self._killed_for = found  # before the end, which may be seen before the news of it
                crowd.kill()
            return found

        return look


class Allowances:
    """The allowances of one server; `groups` says whether control groups may be used at all."""

    def __init__(self, bounds: Bounds, *, groups: bool = True) -> None:
        self.bounds = bounds
        self._found: Groups | NoGroups | None = None
        if not groups:
            self._found = NoGroups("the setting sandbox.control_groups is false")
        self._lock = threading.Lock()
        self._lookout = Lookout()

    async def allow(self, bounds: Bounds | None = None) -> Allowance:
        """The allowance of one command; its group is there when this returns, if there can be one."""
        bounds = bounds or self.bounds
        found = self._found if self._found is not None else await to_thread.run_sync(self.groups)
        if isinstance(found, NoGroups):
            return Allowance(bounds, None, self._lookout)
        limits = Limits(bounds.tasks, bounds.memory)
        with anyio.CancelScope(shield=True):
            group = await to_thread.run_sync(_made, found, limits)
        return Allowance(bounds, group, self._lookout)

    def groups(self) -> Groups | NoGroups:
        """The control groups of this server, or why there are none. Blocks for a trial the first time."""
        with self._lock:
            if self._found is None:
                try:
                    self._found = delegated()
                except NoGroups as why:
                    self._found = why.with_traceback(None)
            return self._found

    def sweep(self) -> None:
        """Remove the groups that killed servers have left."""
        found = self.groups()
        if isinstance(found, Groups):
            found.sweep()


def _made(groups: Groups, limits: Limits) -> Group | None:
    """A group; None if the system has none to give in this moment: the watcher is enough then."""
    try:
        return groups.make(limits)
    except OSError:
        return None
