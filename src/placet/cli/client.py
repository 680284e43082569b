"""The command line's way to the running server: HTTP over its Unix socket, which checks who is at the other end."""

import http.client
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from placet.app.errors import NoServer, Refused
from placet.app.places import Places
from placet.app.program import program

_SECONDS = 30.0
_SESSION = "PLACET_SESSION"  # every command of a session has it in its environment


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server said: the status and the JSON body."""

    status: int
    body: Any

    @property
    def ok(self) -> bool:
        """Whether the request was carried out."""
        return 200 <= self.status < 300

    def refusal(self) -> Refused:
        """The server's own words as the one line of the verb."""
        error = self.body.get("error", {}) if isinstance(self.body, dict) else {}
        message = error.get("message") or f"The server answered with status {self.status}"
        return Refused(str(message), hint=str(error.get("hint") or ""))


class Client:
    """Requests to the server of this account; raises `NoServer` with one line when none runs."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def get(self, path: str, query: Mapping[str, object] | None = None) -> Any:
        """The JSON body of a read; raises the server's refusal as `Refused`."""
        given = {key: value for key, value in (query or {}).items() if value is not None}
        return self._wanted(self.request("GET", path + ("?" + urlencode(given) if given else "")))

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        """The JSON body of a successful request; raises the server's refusal as `Refused`."""
        return self._wanted(self.request("POST", path, body))

    def request(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Reply:
        """One request and its reply, whatever the status."""
        connection = _SocketConnection(self._places)
        try:
            content = None if body is None else json.dumps(body).encode()
            headers = {"Content-Type": "application/json"} if content is not None else {}
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            raw = response.read()
            return Reply(response.status, json.loads(raw) if raw else None)
        except (http.client.HTTPException, json.JSONDecodeError) as error:
            raise Refused(
                "The server's answer was not understood", why=type(error).__name__, hint="Try again"
            ) from error
        except OSError as error:
            raise Refused(
                "The connection to the placet server broke", why=error.strerror or str(error), hint="Try again"
            ) from error
        finally:
            connection.close()

    @staticmethod
    def _wanted(reply: Reply) -> Any:
        if not reply.ok:
            raise reply.refusal()
        return reply.body


def segment(text: str) -> str:
    """An id as one segment of a path, whatever somebody typed."""
    return quote(text, safe="", errors="surrogateescape")


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, places: Places) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._places = places

    def connect(self) -> None:
        path = self._places.socket
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(_SECONDS)
            _connect(self.sock, str(path))
            owner = path.stat().st_uid
        except OSError as error:
            refusal = _refusal(path, error)
            if refusal is None:
                raise
            raise refusal from error
        if owner != os.geteuid():
            raise NoServer(f"The socket {path} was not made by this account", hint="Check PLACET_HOME")


def _refusal(path: Path, error: OSError) -> NoServer | None:
    if _SESSION in os.environ:
        return NoServer(
            "A confined command cannot reach placet",
            why="That is so that no command can answer for a person",
            hint="Call placet from a terminal of your own",
        )
    match error:
        case FileNotFoundError() | ConnectionRefusedError():
            return NoServer(
                "No placet server is running for this account",
                why=f"Nothing answers on {path}",
                hint=f"Start one with: {program()} web",
            )
        case PermissionError():
            return NoServer(
                f"The socket {path} belongs to somebody else", hint="Check PLACET_HOME, or run as its owner"
            )
    return None


def _connect(sock: socket.socket, path: str) -> None:
    longest = 107  # sun_path of unix(7) holds 108 bytes, one of them NUL
    if len(os.fsencode(path)) <= longest:
        sock.connect(path)
        return
    folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sock.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)
