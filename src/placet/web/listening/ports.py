"""A port on loopback: the wanted one, else one near it; who holds it is named, and gets nothing sent."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass

from placet.web.errors import PortTaken
from placet.web.security.loopback import listener

NEARBY = 20


@dataclass(frozen=True, slots=True)
class Port:
    """The listening socket; `taken_by` says who holds the port that was wanted, where it is another one."""

    sock: socket.socket
    number: int
    wanted: int
    taken_by: str | None


def take_port(wanted: int) -> Port:
    """Return a listening socket on 127.0.0.1. 0 takes any free port. Raises PortTaken if none near by is free."""
    taken_by = None
    for number in (0,) if wanted == 0 else range(wanted, min(wanted + NEARBY, 65_535) + 1):
        # with the protocol named, asyncio turns off Nagle's algorithm, which costs 40 ms for each answer: tcp(7)
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that just ended does not block its port
        try:
            sock.bind(("127.0.0.1", number))
            sock.listen(128)
        except OSError as error:
            sock.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            if number == wanted:
                taken_by = _holder(number)
            continue
        return Port(sock, sock.getsockname()[1], wanted, taken_by)
    raise PortTaken(f"No port from {wanted} to {wanted + NEARBY} is free; {wanted} is held by {taken_by}.")


def _holder(port: int) -> str:
    process = listener(port)
    return "another program" if process is None else f"{process.name} (process {process.pid})"
