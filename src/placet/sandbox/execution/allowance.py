"""What each command is allowed to have, and who sees to it: a control group where there can be one, else a watcher."""

from __future__ import annotations

import threading

import anyio
from anyio import to_thread

from placet.sandbox.linux.cgroup import Group, Groups, Limits, NoGroups, delegated

from .bounds import Bounds, Machine

EVERY = 0.5
"""Seconds from one look at a command to the next."""
_GLANCE = 0.05  # the machine as a whole is looked at more often: that costs next to nothing


class Allowance:
    """What one command may have. To be closed when nothing of the command is left."""

    def __init__(self, bounds: Bounds, group: Group | None) -> None:
        self.bounds, self._group = bounds, group
        self._before = Machine.now()

    @property
    def tasks(self) -> int:
        """How many processes and threads the kernel is to grant, where it can count them for the command alone."""
        return self.bounds.tasks

    @property
    def group(self) -> tuple[int, int] | None:
        """The descriptors by which a process joins the command's group, and by which it goes back to the server's."""
        return None if self._group is None else (self._group.join, self._group.leave)

    async def passed(self, root: int) -> str:
        """Return when the tree below a process has too much of something, and say of what."""
        while True:
            await self._next_look()
            self._before = Machine.now()
            found = self.refused() or await to_thread.run_sync(self._exceeded, root)
            if found is not None:
                return found

    def refused(self) -> str | None:
        """What the kernel has refused to the command or has ended it for, in words."""
        if self._group is None:
            return None
        if self._group.ended_for_memory():
            return self.bounds.too_large
        return self.bounds.too_many if self._group.refused_tasks() else None

    async def close(self) -> None:
        """Remove the group, if there is one, with whatever is left in it."""
        if self._group is not None:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._group.close)

    async def _next_look(self) -> None:
        """Wait half a second, or less if the machine is strained meanwhile."""
        with anyio.move_on_after(EVERY):
            while True:
                await anyio.sleep(_GLANCE)
                if Machine.now().strained(self._before, self.bounds):
                    return

    def _exceeded(self, root: int) -> str | None:
        if self._group is None:
            return self.bounds.exceeded(root)
        return self.bounds.too_many if self._group.processes() > self.bounds.processes else None


class Allowances:
    """The allowances of one server; `groups` says whether control groups may be used at all."""

    def __init__(self, bounds: Bounds, *, groups: bool = True) -> None:
        self.bounds = bounds
        self._found: Groups | NoGroups | None = (
            None if groups else NoGroups("the setting sandbox.control_groups is false")
        )
        self._lock = threading.Lock()

    async def allow(self) -> Allowance:
        """The allowance of one command; its group is there when this returns, if there can be one."""
        found = self._found if self._found is not None else await to_thread.run_sync(self.groups)
        if isinstance(found, NoGroups):
            return Allowance(self.bounds, None)
        limits = Limits(self.bounds.tasks, self.bounds.memory)
        with anyio.CancelScope(shield=True):
            group = await to_thread.run_sync(_made, found, limits)
        return Allowance(self.bounds, group)

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
