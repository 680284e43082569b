"""Full access: the command is started as the server itself, only tidily."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable

from placet.sandbox.backend import Launch
from placet.sandbox.linux import privilege, processes
from placet.sandbox.linux.processes import Seen

from .child import Child, on_lasting_thread, start

MARK = "PLACET_CALL"
"""The variable by which a process is known as a command's own, whatever session it has made for itself."""


async def spawn(launch: Launch) -> Child:
    """Start the process unconfined. Raises `StartFailed`, `WorkdirUnusable` or `WorkdirChanged`; nothing ran then."""
    mark = secrets.token_hex(8)

    def begin() -> Child:
        privilege.subreaper()
        handle = launch.workdir.open()
        try:
            popen = start(launch.argv, launch, env={**launch.env, MARK: mark}, cwd=f"/proc/self/fd/{handle}")
        finally:
            os.close(handle)
        return Child(popen, came_from(popen.pid, mark))

    return await on_lasting_thread(begin)


def came_from(session: int, mark: str) -> Callable[[Seen], bool]:
    """Whether a process that was left behind came from a command: it has its session, or its mark."""
    variable = f"{MARK}={mark}"
    return lambda seen: seen.session == session or processes.carries(seen.pid, variable)
