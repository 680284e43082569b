"""Commands under keepers: starting keepers, talking to them, and the process of a command as the server sees it."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from placet.sandbox.backend import Exit, Launch
from placet.sandbox.errors import SandboxUnavailable, StartFailed, Stopped, WorkdirUnusable
from placet.sandbox.execution.child import exit_of
from placet.sandbox.linux import awaited, keeper, privilege, processes
from placet.sandbox.linux.watching import How, Tried

_IDLE = 2
"""Keepers without a command that are kept for the next one."""
_ANSWER_SECONDS = 60.0
_LOST = "no keeper left (the process that watches over it was killed)"
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from linux.keeper import main; main(int(sys.argv[2]))"
PYTHON = sys.executable
FOLDER = str(Path(keeper.__file__).parents[1])
_idle: dict[int, list[Keeper]] = {}
_lock = threading.Lock()


class Keeper:
    """One keeper and the line to it. Everything here blocks, for a moment only unless it says otherwise."""

    def __init__(self) -> None:
        privilege.subreaper()  # what a keeper leaves behind, should it be killed, is left to this process
        self.line, theirs = socket.socketpair()
        with theirs:
            self._popen = awaited.known(
                lambda: subprocess.Popen(
                    [PYTHON, "-I", "-S", "-X", "utf8", "-c", _PROGRAM, FOLDER, str(theirs.fileno())],
                    env={},
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            )
        self.line.settimeout(_ANSWER_SECONDS)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def fresh(self) -> bool:
        """Whether it can take a command: it lives, and has nothing to say."""
        return self._popen.poll() is None

    def start(self, launch: Launch, rules: int, workdir: int, filter_program: bytes) -> int:
        """Have a command started; its pid. Raises `Stopped`, `StartFailed`, `WorkdirUnusable`, `SandboxUnavailable`."""
        if launch.signal is not None and launch.signal.aborted:
            raise Stopped("The call was stopped before it started")
        message = {
            "do": "start",
            "argv": list(launch.argv),
            "env": dict(launch.env),
            "umask": launch.umask,
            "filter": filter_program.hex(),
        }
        if launch.watch:
            message["watch"] = [str(root) for root in launch.profile.writable]
        group = launch.allowance.group or () if launch.allowance is not None else ()
        answer = self.ask(message, rules, workdir, launch.stdout, launch.stderr, *group)
        match answer:
            case {"started": int(pid)}:
                return pid
            case {"failed": "workdir", "why": why}:
                raise WorkdirUnusable(f"The working directory {launch.workdir.path} cannot be entered: {why}")
            case {"failed": "start", "why": why}:
                raise StartFailed(f"{launch.argv[0]} could not be started: {why}")
            case {"failed": _, "why": why}:
                raise SandboxUnavailable(f"Landlock could not be set up: {why}")
        raise SandboxUnavailable("The keeper of confined commands ended")

    def ask(self, message: dict[str, Any], *descriptors: int) -> dict[str, Any]:
        """Send a message and wait for the answer; empty if the keeper is gone."""
        try:
            keeper.send(self.line, message, descriptors)
        except OSError:
            return {}
        return self.hear()

    def hear(self) -> dict[str, Any]:
        """Wait for the next message; empty if the keeper is gone."""
        try:
            received = keeper.receive(self.line)
        except OSError:
            return {}
        return received[0] if received else {}

    def clear(self) -> None:
        """Have everything of its command killed, and keep it for the next one. Can take seconds."""
        self.line.settimeout(_ANSWER_SECONDS)
        answer = self.ask({"do": "clear"})
        while "ended" in answer:
            answer = self.hear()
        self.give_back(answer)

    def give_back(self, answer: dict[str, Any]) -> None:
        """Keep it for the next command if nothing is left of the last one, else let it go."""
        with _lock:
            idle = _idle.setdefault(os.getpid(), [])
            if answer.get("cleared") and len(idle) < _IDLE:
                idle.append(self)
                return
        self.close()
        if not answer.get("cleared"):
            _end_orphans()

    def close(self) -> None:
        """Close the line: the keeper kills what is below it, and ends. Can take seconds."""
        self.line.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_ANSWER_SECONDS)


def take() -> Keeper:
    """A keeper without a command: one that is waiting for it, or a new one."""
    while True:
        with _lock:
            idle = _idle.setdefault(os.getpid(), [])
            if not idle:
                break
            found = idle.pop()
        if found.fresh:
            return found
        found.close()
    try:
        return Keeper()
    except OSError as error:
        raise StartFailed(f"The keeper of confined commands could not be started: {error.strerror or error}") from error


@atexit.register
def dismiss() -> None:
    """Let go of the keepers that wait for a command."""
    with _lock:
        idle = _idle.pop(os.getpid(), [])
    for found in idle:
        found.close()


class KeptProcess:
    """A confined command below its keeper."""

    def __init__(self, own: Keeper, pid: int) -> None:
        self.keeper, self._pid = own, pid
        self._exit: Exit | None = None

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def root(self) -> int:
        return self.keeper.pid

    async def wait(self) -> Exit:
        while self._exit is None:
            await anyio.wait_readable(self.keeper.line)
            self._hear()
        return self._exit

    def terminate(self) -> None:
        with contextlib.suppress(OSError):
            keeper.send(self.keeper.line, {"do": "terminate"})

    def count(self) -> int:
        return len(processes.descendants([self.root]))

    def kill(self) -> None:
        first = processes.look(self._pid)
        if (
            first is not None and first.parent == self.root
        ):  # what has made a session of its own is the keeper's to find
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)

    async def clear(self) -> None:
        with anyio.CancelScope(shield=True):
            try:
                keeper.send(self.keeper.line, {"do": "clear"})
            except OSError:
                await to_thread.run_sync(self.keeper.give_back, {})
                return
            while True:
                await anyio.wait_readable(self.keeper.line)
                answer = self._hear()
                if "ended" not in answer:
                    break
            if answer.get("cleared"):
                self.keeper.give_back(answer)
            else:
                await to_thread.run_sync(self.keeper.give_back, answer)

    def _hear(self) -> dict[str, Any]:
        answer = self.keeper.hear()
        if "ended" in answer:
            tried = tuple(Tried(How(how), path, flags) for how, path, flags in answer.get("tried", ()))
            self._exit = replace(exit_of(answer["ended"]), tried=tried)
        elif not answer:
            self._exit = self._exit or Exit(None, "SIGKILL", lost=_LOST)  # the command will be killed as well
        return answer


def _end_orphans() -> None:
    """Kill what a killed keeper has left to this process: restricted, and a child of nobody else."""
    left = [seen for seen in processes.own_children() if processes.is_restricted(seen.pid)]
    left += processes.descendants([seen.pid for seen in left])
    for seen in left:
        processes.send(seen, signal.SIGKILL)
    processes.await_end(left, 5.0)
