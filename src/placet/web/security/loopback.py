"""Who holds the other end of a TCP connection on loopback: the second wall in front of decisions.

A page key may be stolen out of a browser's profile. Whoever then uses it from inside the sandbox is found by its
socket.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from placet.web.security.processes import (
    PROC,
    Mark,
    Process,
    all_pids,
    ancestors,
    holds_socket,
    look,
    placet_processes,
)

Address = tuple[str, int]

LOOKS = 5

LISTENS = "0A"  # the state of a listening socket in /proc/net/tcp


@dataclass(frozen=True, slots=True)
class Row:
    """One line of /proc/net/tcp: both ends, the state, the inode of the socket (0: nobody holds it)."""

    local: Address
    remote: Address
    state: str
    inode: int


def objection(client: Address, server: Address, state: Path) -> str | None:
    """Return why a decision over this connection does not count, None if nothing speaks against it."""
    inode = _inode(client, server)
    if inode == 0:
        return "nobody holds the other end of the connection any more"
    me = look(os.getpid())
    if me is None:
        return "placet cannot see its own process"
    placets = placet_processes(state)
    holders, hidden = _holders(inode)
    for process in holders:
        if _of_the_agent(process, me, placets):
            return f"the other end is held by {process.name} (process {process.pid}), which placet started or confined"
    unseen = (found for pid in hidden if (found := look(pid)) is not None)
    if not holders and any(_of_the_agent(process, me, placets) for process in unseen):
        return (
            "it cannot be told who holds the other end, and a process of the agent hides what it holds; press again"
            " when that has ended, or use a browser of the account that placet runs under"
        )
    return None


def holder_of(client: Address, server: Address) -> Process | None:
    """Return a process that holds the client's end, for a line on the terminal."""
    inode = _inode(client, server)
    return next(iter(_holders(inode)[0]), None) if inode else None


def listener(port: int) -> Process | None:
    """Return a process that listens on the port, if it may be seen. Nothing is sent to it."""
    for row in _rows():
        if row.state == LISTENS and row.local[1] == port and row.inode:
            return next(iter(_holders(row.inode)[0]), None)
    return None


def _inode(client: Address, server: Address) -> int:
    """Return the inode of the client's socket, 0 if nobody has it. The kernel's table may skip a line as it changes."""
    for _ in range(LOOKS):
        for row in _rows():
            if row.local == client and row.remote == server:
                return row.inode
    return 0


def _holders(inode: int) -> tuple[list[Process], list[int]]:
    """Return the processes that have the socket open, and the pids of those that hide what they have open."""
    holders: list[Process] = []
    hidden: list[int] = []
    for pid in all_pids():
        holds = holds_socket(pid, inode)
        if holds is None:
            hidden.append(pid)
        elif holds and (process := look(pid)) is not None:
            holders.append(process)
    return holders, hidden


def _of_the_agent(process: Process, me: Process, placets: frozenset[Mark]) -> bool:
    """Return whether placet started it, directly or not, or it is an orphan of a confined command.

    An orphan has placet's own account, which no confined command can leave (no_new_privs); the services and browsers of
    other accounts, many of them filtered too, are none.
    An orphan of bubblewrap does not outlive it. One of Landlock lives in our own namespaces under restrictions that
    cannot be shed: the seccomp filter tells it, since the process of a browser that holds its sockets has
    no_new_privs too (Chromium's network service), but no filter. A browser that its packager confined lives in a
    mount namespace of its own.
    """
    orphan = process.uid == me.uid and process.filtered_beyond(me) and process.same_world(me)
    if process.mark in placets or orphan:
        return True
    try:
        return any(ancestor.mark in placets for ancestor in ancestors(process))
    except LookupError:
        return False  # it ended meanwhile, or its parent did; it is no child of a placet that lives


def _rows() -> Iterator[Row]:
    for name in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            yield Row(_address(fields[1]), _address(fields[2]), fields[3], int(fields[9]))


def _address(text: str) -> Address:
    """Parse an end as the kernel prints it: 32-bit words in the machine's order, the port in hex."""
    words, _, port = text.partition(":")
    raw = b"".join(int(words[i : i + 8], 16).to_bytes(4, sys.byteorder) for i in range(0, len(words), 8))
    host = ip_address(raw)
    mapped = getattr(host, "ipv4_mapped", None)
    return str(mapped or host), int(port, 16)
