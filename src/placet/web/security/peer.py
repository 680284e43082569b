"""Who is at the other end of the Unix socket: a process of the same person that is no part of any agent.

Checked when a connection is accepted and kept with it. Whether it lives is asked again for every request.
"""

from __future__ import annotations

import os
import select
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from placet.web.security.processes import Process, ancestors, look, placet_processes

SO_PEERPIDFD = 77  # socket(7) of Linux 6.5; Python has no name for it


@dataclass(slots=True)
class SocketPeer:
    """The process that connected. `refused` says in a sentence why it may not speak to placet."""

    pid: int
    start: int
    refused: str | None
    _pidfd: int | None

    @property
    def evidence(self) -> str:
        """What was seen, for the record."""
        return f"peer:{self.pid}:{self.start}"

    def alive(self) -> bool:
        """Return whether it still runs."""
        return self._pidfd is not None and runs(self._pidfd)

    def close(self) -> None:
        """Let go of the handle."""
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def check_peer(sock: socket.socket, state: Path) -> SocketPeer:
    """Return the peer of a connected Unix socket, with the reason if it is refused. The caller closes it."""
    pid, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    try:
        pidfd = sock.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
    except OSError:
        unknown = "The kernel cannot tell which process is at the other end (that needs Linux 6.5), or it is gone."
        return SocketPeer(pid, 0, unknown, None)
    try:
        process = look(pid)
        why = _objection(process, pid=pid, uid=uid, pidfd=pidfd, state=state)
    except BaseException:
        os.close(pidfd)
        raise
    return SocketPeer(pid, 0 if process is None else process.start, why, pidfd)


def _objection(process: Process | None, *, pid: int, uid: int, pidfd: int, state: Path) -> str | None:
    me = look(os.getpid())
    if me is None or process is None:
        return "The process at the other end is gone."
    if uid != os.geteuid():
        return "Only the account that runs placet may use its socket."
    if not process.same_world(me):
        return "The process lives in another namespace than placet: a container or a sandbox."
    if process.stricter_than(me):
        return "The process is confined: it, or what started it, took on restrictions that placet does not have."
    why = _descent(process, placet_processes(state))
    if why is not None:
        return why
    if _pid_of(pidfd) != pid or not runs(pidfd):
        return "The process at the other end is gone."
    return None


def _descent(process: Process, placets: frozenset[tuple[int, int]]) -> str | None:
    try:
        if any(ancestor.mark in placets for ancestor in ancestors(process)):
            return "The process was started by placet itself, so it may be the agent's."
    except LookupError:
        return "It cannot be told what started the process."
    return None


def runs(pidfd: int) -> bool:
    """Return whether the process of a pidfd still runs; one that is readable has ended, see pidfd_open(2)."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return not poll.poll(0)


def _pid_of(pidfd: int) -> int | None:
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line[4:])
    return None
