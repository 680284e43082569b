"""Somebody else's process that talks to a server: `python -m tests.web.visitor HOW JSON`; prints status and body.

HOW says what kind of process it is: `plain`, `private` (others cannot look into it), `no-new-privs`, `confined` (that
and a filter of its calls), `placets-child` (started by a process that registered as placet), `heir` (the process that
connected is gone), `other-mounts`, `other-pids`.
"""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from placet.session.lease import holder

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS = 0x0002_0000


class Filter(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(Filter)))


def become(how: str) -> None:
    """Take on what cannot be shed: prctl(2), seccomp(2)."""
    if how == "private":
        LIBC.prctl(4, 0, 0, 0, 0)
    if how in ("no-new-privs", "confined"):
        assert LIBC.prctl(38, 1, 0, 0, 0) == 0
    if how == "confined":
        allow_all = Filter(0x06, 0, 0, 0x7FFF_0000)
        program = Program(1, ctypes.pointer(allow_all))
        assert LIBC.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
    if how == "other-mounts" and LIBC.unshare(CLONE_NEWNS) != 0:
        print(json.dumps({"cannot": os.strerror(ctypes.get_errno())}))
        sys.exit(0)


class OnSocket(http.client.HTTPConnection):
    def __init__(self, path: str, how: str) -> None:
        super().__init__("localhost", timeout=20)
        self._path, self._how = path, how

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)
        if self._how == "heir":
            become_heir()


def become_heir() -> None:
    """Go on as a child that has the connection, while the process that connected ends and is reaped."""
    reading, writing = os.pipe()
    connected = os.getpid()
    if os.fork():
        os._exit(0)
    os.close(reading), os.close(writing)
    while os.path.exists(f"/proc/{connected}") and os.getppid() == connected:
        pass


def by_socket(wish: dict[str, Any], how: str) -> None:
    """Ask over the socket, each request over a connection of its own."""
    for verb, path, content in wish["requests"]:
        connection = OnSocket(wish["socket"], how)
        body = None if content is None else json.dumps(content)
        connection.request(verb, path, body, {"Content-Type": "application/json"} if body else {})
        tell(connection.getresponse())


def by_page(wish: dict[str, Any]) -> None:
    """Link a page and ask as it does."""
    from placet.testing.page_key import PageKey

    host = wish["url"].removeprefix("http://").rstrip("/")
    key, connection = PageKey(), http.client.HTTPConnection(host, timeout=20)
    site = {"Sec-Fetch-Site": "same-origin", "Origin": f"http://{host}", "Content-Type": "application/json"}
    if "secret" in wish:
        link = json.dumps({"secret": wish["secret"], "publicKey": key.public, "label": wish.get("label", "visitor")})
        connection.request("POST", "/api/link", link, site)
        linked = connection.getresponse()
        if linked.status != 200 or "path" not in wish:
            tell(linked)
            return
        instance = json.loads(linked.read())["instance"]
    body = json.dumps(wish["body"]).encode()
    connection.request("POST", wish["path"], body, site | key.headers("POST", wish["path"], body, instance))
    tell(connection.getresponse())


def tell(response: http.client.HTTPResponse) -> None:
    raw = response.read()
    print(json.dumps({"status": response.status, "body": json.loads(raw) if raw else None}), flush=True)


def main(how: str, wish: dict[str, Any]) -> None:
    """Be that kind of process, then ask."""
    again = [sys.executable, "-m", "tests.web.visitor"]
    if how == "placets-child":
        mark = Path(wish["state"]) / "processes" / holder()
        mark.parent.mkdir(exist_ok=True)
        mark.write_text("run")
        subprocess.run([*again, "plain", json.dumps(wish)], check=True, timeout=60)
        return
    if how == "other-pids":
        unshare = subprocess.run(
            ["unshare", "--pid", "--fork", *again, "plain", json.dumps(wish)], check=False, timeout=60
        )
        if unshare.returncode:
            print(json.dumps({"cannot": "unshare"}))
        return
    become(how)
    by_socket(wish, how) if "socket" in wish else by_page(wish)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
