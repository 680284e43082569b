"""A process that we started: its end, and the end of everything that it left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

import anyio
from anyio import to_thread

from placet.sandbox.backend import Exit, Launch
from placet.sandbox.errors import StartFailed, Stopped, WorkdirUnusable
from placet.sandbox.linux import awaited, processes
from placet.sandbox.linux.processes import Seen

T = TypeVar("T")

_ROUNDS = 100
_PAUSE = 0.001
_lasting: dict[int, ThreadPoolExecutor] = {}


async def on_lasting_thread(call: Callable[[], T]) -> T:
    """Call on the one thread that lives as long as this process: `bwrap --die-with-parent` follows its thread."""
    executor = _lasting.setdefault(os.getpid(), ThreadPoolExecutor(1, thread_name_prefix="placet-spawn"))
    with anyio.CancelScope(shield=True):
        result = await asyncio.wrap_future(executor.submit(call))
    return result


def start(
    argv: Sequence[str], launch: Launch, *, env: Mapping[str, str], cwd: str | None, keep: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, without input, with no descriptor but its output and `keep`.

    The stop is looked at once more, right before. Raises `Stopped` or `StartFailed`.
    """
    if launch.signal is not None and launch.signal.aborted:
        raise Stopped("The call was stopped before it started")
    try:
        return awaited.known(
            lambda: subprocess.Popen(
                list(argv),
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=launch.stdout,
                stderr=launch.stderr,
                pass_fds=tuple(keep),
                start_new_session=True,
                umask=launch.umask,
            )
        )
    except OSError as error:
        if cwd is not None and error.filename == cwd:
            raise WorkdirUnusable(
                f"The working directory {launch.workdir.path} cannot be entered: {error.strerror}"
            ) from error
        raise StartFailed(f"{argv[0]} could not be started: {error.strerror or error}") from error


class Child:
    """A started process, followed by a pidfd; everything that it starts is found through /proc.

    `owns` says of a process that was left to us (we are the subreaper) whether it came from this one.
    """

    def __init__(self, popen: subprocess.Popen[bytes], owns: Callable[[Seen], bool]) -> None:
        self._popen = popen
        self._pidfd = os.pidfd_open(popen.pid)
        self._owns = owns
        self._seen: set[Seen] = set()
        began = processes.look(popen.pid)
        self._since = 0 if began is None else began.start

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def root(self) -> int:
        return self._popen.pid

    async def wait(self) -> Exit:
        await ended(self._pidfd)
        return exit_of(reaped(self._popen))

    def terminate(self) -> None:
        for seen in self._tree():
            processes.send(seen, signal.SIGTERM)

    def count(self) -> int:
        return len(processes.descendants([self.pid]))

    def kill(self) -> None:
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)

    async def clear(self) -> None:
        with anyio.CancelScope(shield=True):
            try:
                if self._popen.returncode is None or self._seen or any(True for _ in self._adopted()):
                    await to_thread.run_sync(self._kill)
                awaited.take_away_adopted(self._since)
            finally:
                os.close(self._pidfd)

    def _kill(self) -> None:
        """Stop all first, so that none can start others meanwhile, then kill and reap until nothing is found."""
        for attempt in range(_ROUNDS):
            tree = self._tree()
            for seen in tree:
                processes.send(seen, signal.SIGSTOP if attempt == 0 else signal.SIGKILL)
            if attempt and self._popen.returncode is None:
                self._popen.kill()
                self._popen.wait()
            left = [seen for seen in self._seen if seen.pid != self.pid and not processes.gone(seen)]
            if not tree and not left:
                return
            time.sleep(_PAUSE * attempt)

    def _tree(self) -> list[Seen]:
        """Everything that is known to come from this process now; what was seen once is remembered, to be reaped."""
        roots = list(self._adopted())
        if self._popen.returncode is None and (root := processes.look(self.pid)) is not None:
            roots.append(root)
        tree = [*roots, *processes.descendants([seen.pid for seen in roots])] if roots else []
        self._seen.update(tree)
        return tree

    def _adopted(self) -> Iterator[Seen]:
        return (seen for seen in processes.own_children() if seen.pid != self.pid and self._owns(seen))


async def ended(pidfd: int) -> None:
    """Return when the process of the pidfd has ended."""
    await anyio.wait_readable(pidfd)


def reaped(popen: subprocess.Popen[bytes]) -> int:
    """The return code of a process that has ended."""
    return popen.wait()


def exit_of(returncode: int) -> Exit:
    """The end that a return code of `Popen` tells."""
    if returncode < 0:
        return Exit(None, signal_name(-returncode))
    return Exit(returncode)


def signal_name(number: int) -> str:
    """The name of a signal, SIGKILL say."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
