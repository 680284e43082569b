"""The Unix socket of the command line: made so that only one server has it, checked at every accept."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from placet.web.errors import AlreadyServing
from placet.web.security.peer import SocketPeer, check_peer

NAME = "placet.sock"


@dataclass(frozen=True, slots=True)
class Ear:
    """The listening socket and the file that leads to it."""

    sock: socket.socket
    path: Path
    file: tuple[int, int]  # device and inode

    def remove(self) -> None:
        """Take the file away if it is still this server's."""
        with suppress(OSError):
            found = self.path.lstat()
            if (found.st_dev, found.st_ino) == self.file:
                self.path.unlink()


def listen(state: Path) -> Ear:
    """Return the listening socket of this state directory. Raises AlreadyServing while another server answers there.

    A socket that a dead server left is taken away. The file appears under its name only when it is ready.
    """
    folder = os.open(state, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    draft = f".{secrets.token_hex(8)}.sock"
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind(_address(folder, draft))
        os.chmod(draft, 0o600, dir_fd=folder)
        sock.listen(64)
        _publish(folder, draft)
        found = os.stat(NAME, dir_fd=folder, follow_symlinks=False)
        return Ear(sock, state / NAME, (found.st_dev, found.st_ino))
    except BaseException:
        sock.close()
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        os.close(folder)


def _publish(folder: int, draft: str) -> None:
    while True:
        try:
            os.link(draft, NAME, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            return
        except FileExistsError:
            if _answers(folder):
                raise AlreadyServing("A placet server of this account is running already.") from None
            with suppress(FileNotFoundError):
                os.unlink(NAME, dir_fd=folder)


def _answers(folder: int) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        knock.settimeout(1)
        try:
            knock.connect(_address(folder, NAME))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # busy, or not ours to know: somebody is there
            return True
        return True


def _address(folder: int, name: str) -> str:
    return f"/proc/self/fd/{folder}/{name}"  # fits, however deep the directory lies


class PeerProtocol(H11Protocol):
    """HTTP over the socket; each connection carries what was found out about the process at its other end."""

    state: Path  # the state directory, set on a subclass for each server
    _peer: SocketPeer | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Check the peer first; a refused one gets its answer, and nothing else, from the guard."""
        own = transport.get_extra_info("socket")
        self._peer = check_peer(own, self.state)
        self.app_state: dict[str, Any] = {**self.app_state, "peer": self._peer}
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the peer."""
        super().connection_lost(exc)
        if self._peer is not None:
            self._peer.close()
