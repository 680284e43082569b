"""The keeper: the only parent of one confined command at a time, outside of its domain, and the end of all it leaves.

A program of its own: it loads nothing but this folder and the standard library. What a command leaves behind is left to
its keeper (it is the subreaper), so it needs no guess whose it was. When the server's end of the line closes, however
the server ended, the keeper kills everything below it and ends too.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import privilege, processes, ruleset, seccomp, watching

_HEADER = struct.Struct("=I")
_DESCRIPTORS = 6
_REAP_MS = 1_000
_ROUNDS = 100
_PAUSE = 0.001


def send(line: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one message, and the descriptors with its first byte. Raises `OSError` if the other end is gone."""
    text = json.dumps(message).encode()
    socket.send_fds(line, [_HEADER.pack(len(text))], descriptors)
    line.sendall(text)


def receive(line: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Wait for one message and its descriptors (close-on-exec); None if the other end is gone."""
    try:
        head, descriptors, _, _ = socket.recv_fds(line, _HEADER.size, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        text = _exactly(line, _HEADER.unpack(head)[0]) if len(head) == _HEADER.size else b""
    except ConnectionError:
        return None
    return (json.loads(text), descriptors) if text else None


def main(descriptor: int) -> None:
    """Serve the line until its other end closes."""
    privilege.not_dumpable()
    privilege.subreaper()
    os.chdir("/")
    with socket.socket(fileno=descriptor) as line:
        _Keeper(line).serve()


class _Keeper:
    """One keeper; `_child` is the command's first process while that lives, `_handle` its pidfd."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._child, self._handle = 0, -1
        self._watcher: watching.Watcher | None = None
        self._nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)

    def serve(self) -> None:
        try:
            while self._step():
                pass
        except ConnectionError:
            pass
        finally:
            self._end_all()
            self._close_watcher()

    def _step(self) -> bool:
        """Wait for a message or the child's end; False when the server is gone."""
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        if self._handle >= 0:
            poll.register(self._handle, select.POLLIN)
        watcher = self._watcher
        if watcher is not None and not watcher.done:
            poll.register(watcher.listener, select.POLLIN)
        ready = dict(poll.poll(_REAP_MS if self._handle >= 0 else None))
        if watcher is not None and (told := ready.get(watcher.listener)):
            if told & select.POLLIN:
                watcher.take()
                return True
            watcher.done = True
        self._reap()
        if self._line.fileno() not in ready:
            return True
        received = receive(self._line)
        if received is None:
            return False
        self._answer(*received)
        return True

    def _answer(self, message: dict[str, Any], descriptors: list[int]) -> None:
        match message["do"]:
            case "start":
                try:
                    send(self._line, self._start(message, *descriptors))
                finally:
                    for descriptor in descriptors:
                        os.close(descriptor)
            case "terminate":
                for seen in processes.descendants([os.getpid()]):
                    processes.send(seen, signal.SIGTERM)
            case "clear":
                cleared = self._end_all()
                self._close_watcher()
                send(self._line, {"cleared": cleared})

    def _start(
        self, message: dict[str, Any], rules: int, workdir: int, out: int, err: int, join: int = -1, leave: int = -1
    ) -> dict[str, Any]:
        """Start the command, from inside its control group if there are descriptors to join one and to leave it."""
        started: list[subprocess.Popen[bytes]] = []
        where = f"/proc/self/fd/{workdir}"

        def begin() -> None:
            self._watcher = confine(rules, bytes.fromhex(message["filter"]), message.get("watch"))
            started.append(
                subprocess.Popen(
                    message["argv"],
                    env=message["env"],
                    cwd=where,
                    stdin=self._nothing,  # opened before: a thread that is watched opens nothing
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                    umask=message["umask"],
                )
            )

        try:
            _enter(join)
            failure = in_thread(begin)
        finally:
            _enter(leave)
        if failure is not None:
            self._close_watcher()
            at = "workdir" if failure.filename == where else "start" if failure.filename else "confine"
            return {"failed": at, "why": failure.strerror or str(failure)}
        popen = started[0]
        popen.returncode = 0  # it is reaped here, with all the others
        self._child, self._handle = popen.pid, os.pidfd_open(popen.pid)
        return {"started": popen.pid}

    def _reap(self) -> None:
        """Take away every dead child; tell of the command's own end."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._child:
                os.close(self._handle)
                self._child, self._handle = 0, -1
                tried = [] if self._watcher is None else self._watcher.tried
                send(self._line, {"ended": os.waitstatus_to_exitcode(status), "tried": tried})

    def _close_watcher(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.close()

    def _end_all(self) -> bool:
        """Stop all first, so that none can start others meanwhile, then kill until none is left; whether none is."""
        for attempt in range(_ROUNDS):
            with contextlib.suppress(ConnectionError):  # nobody is there to be told; the processes still have to go
                self._reap()
            if not any(True for _ in processes.own_children()):
                return True
            for seen in processes.descendants([os.getpid()]):
                processes.send(seen, signal.SIGSTOP if attempt == 0 else signal.SIGKILL)
            time.sleep(_PAUSE * attempt)
        return False


def confine(rules: int, filter_program: bytes, watched: Sequence[str] | None = None) -> watching.Watcher | None:
    """Give up, for good and for this thread and what it starts, all that a confined command must not have.

    Where it is `watched`, with the roots that it may write in, returns who takes what it tries; None where another
    watcher of this chain leaves no room for one.
    """
    numbers = seccomp.machine()
    assert numbers is not None
    privilege.no_new_privileges()
    ruleset.enter(rules)
    privilege.drop_capabilities()
    watcher = None
    if watched is not None:
        with contextlib.suppress(OSError):
            watcher = watching.Watcher(watching.listen(numbers), numbers, watched)
    seccomp.install(numbers, filter_program)
    return watcher


def in_thread(call: Callable[[], None]) -> OSError | None:
    """Call in a thread that lives for this call only; the error of the system, if there was one."""
    failure: list[OSError] = []

    def body() -> None:
        try:
            call()
        except OSError as error:  # handed over to the caller
            failure.append(error)
        except Exception as error:  # a command that no process can be given
            failure.append(OSError(0, str(error), "command"))

    thread = threading.Thread(target=body, name="placet-restricted")
    thread.start()
    thread.join()
    return failure[0] if failure else None


def _enter(group: int) -> None:
    """Go into a control group, by the descriptor that takes its members (cgroups(7)); the bound is then the watcher's.

    A group that cannot be entered ends no command.
    """
    if group >= 0:
        with contextlib.suppress(OSError):
            os.write(group, b"0")


def _exactly(line: socket.socket, size: int) -> bytes:
    """That many bytes, or none if the other end is gone."""
    taken = bytearray()
    while len(taken) < size:
        part = line.recv(size - len(taken))
        if not part:
            return b""
        taken += part
    return bytes(taken)
