"""Runs one command to its end: bounded output, a time limit, a stop, and nothing left behind."""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from placet.kernel.signal import AbortSignal

from .backend import Covered, Enforcement, Exit, Launch, Process
from .errors import InvalidCommand, Stopped, WorkdirChanged, WorkdirUnusable
from .execution.allowance import Allowance
from .execution.environment import shell
from .execution.output import Capture, Captured
from .linux import processes
from .linux.watching import Tried
from .mode import SandboxMode
from .policy import Profile, Workdir

DEFAULT_TIMEOUT_MS = 120_000
LONGEST_COMMAND = 128 * 1024 - 1
"""Bytes that the kernel takes as one argument at most (execve(2), MAX_ARG_STRLEN)."""
GRACE_FOR_TERM = 3.0
GRACE_FOR_PIPES = 0.25
_READ = 1 << 18
_SET_PIPE_SIZE, _PIPE_SIZE = 1031, 1 << 20
_ATTEMPTS = 5
_SECONDS_FOR_WHAT_MOVES = 20.0
_MOVED = ("No such file or directory", "Race condition")

OnOutput = Callable[[str, bytes], object]
Spill = Callable[[str], tuple[int, Path]]
Spawn = Callable[[Launch], Awaitable[Process]]
Allow = Callable[[], Awaitable[Allowance]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command: a shell script, or an argument list that takes its place.

    `workdir` is the directory to start in, the workspace if None. `on_start` is called when the process is there,
    `on_output` is told ("stdout" or "stderr", bytes) as they come. `covered` are the files that were signed with it;
    the caller then has the workspace alone (`Sandbox.alone`), or, if the command `lasts`, until it has started: from
    then on later runs have those files read-only, as far as their backend can do that.
    Raises `InvalidCommand` for what no process can be given.
    """

    profile: Profile
    script: str = ""
    argv: tuple[str, ...] = ()
    workdir: Workdir | None = None
    timeout_ms: float = DEFAULT_TIMEOUT_MS
    signal: AbortSignal | None = None
    on_start: Callable[[], object] | None = None
    on_output: OnOutput | None = None
    covered: tuple[Covered, ...] = ()
    lasts: bool = False

    def __post_init__(self) -> None:
        for word in (self.script, *self.argv):
            if "\0" in word:
                raise InvalidCommand("The command holds a NUL character, which no program can be given", "remove it")
            try:
                size = len(word.encode())
            except UnicodeEncodeError as error:
                raise InvalidCommand(
                    "The command holds half a character (a lone surrogate)", "send whole characters"
                ) from error
            if size > LONGEST_COMMAND:
                raise InvalidCommand(
                    f"The command has {size} bytes; the system takes {LONGEST_COMMAND} at most",
                    "write it to a file and run the file",
                )

    @property
    def words(self) -> tuple[str, ...]:
        return self.argv or (shell(), "-c", self.script, "bash")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the sandbox did: the mode the command ran in, and whether evidence shows that it denied something."""

    mode: SandboxMode
    denied: bool = False
    path: str | None = None
    enforcement: Enforcement | None = None
    backend: str | None = None
    runner_failed: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """How a command ended. Exactly one of `exit_code` and `signal` is set, neither if the sandbox broke or nothing ran.

    After a time-out or a stop both say what the command made of it: one that traps SIGTERM and exits 0 is still
    `timed_out`. `pipe_held` means that something kept its output open beyond all grace. `exceeded` says in words which
    bound it went over, or that its keeper was gone: it was killed for that. `tried` is what it tried to change, where
    that was watched: evidence for `denial`, and for nothing else.
    """

    exit_code: int | None
    signal: str | None
    timed_out: bool
    aborted: bool
    stdout: Captured
    stderr: Captured
    sandbox: Facts
    duration_ms: int
    pipe_held: bool = False
    exceeded: str | None = None
    tried: tuple[Tried, ...] = ()


class _Stream:
    """One output pipe, read by the event loop into a capture."""

    def __init__(self, name: str, spill: Spill | None, on_output: OnOutput | None) -> None:
        self.capture = Capture(None if spill is None else lambda: spill(name))
        self.ended = anyio.Event()
        self._name, self._on_output = name, on_output
        self._read, self.write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._read, False)
        with suppress(OSError):
            fcntl.fcntl(self._read, _SET_PIPE_SIZE, _PIPE_SIZE)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._read, self._ready)

    def close_write(self) -> None:
        if self.write >= 0:
            os.close(self.write)
            self.write = -1

    def close(self) -> None:
        self.close_write()
        self._loop.remove_reader(self._read)
        os.close(self._read)
        self.capture.close()

    def finish(self) -> bool:
        """Take what is still in the pipe without waiting; whether it has ended."""
        for _ in range(_PIPE_SIZE // _READ + 1):
            if self.ended.is_set() or not self._ready():
                break
        return self.ended.is_set()

    def _ready(self) -> bool:
        """Take what can be read now; whether there was anything."""
        try:
            data = os.read(self._read, _READ)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self._read)
            self.ended.set()
            return False
        self.capture.feed(data)
        if self._on_output is not None:
            self._on_output(self._name, data)
        return True


@dataclass(slots=True)
class _Course:
    """What happened to the command while it ran."""

    timed_out: bool = False
    aborted: bool = False
    exit: Exit | None = None
    pipe_held: bool = False
    exceeded: str | None = None


async def run(
    command: Command,
    spawn: Spawn,
    facts: Facts,
    *,
    env: Mapping[str, str],
    spill: Spill | None = None,
    umask: int = -1,
    allow: Allow | None = None,
    watch: bool = False,
) -> Run:
    """Run the command and return when it and everything that it started is gone.

    `facts` are returned with `runner_failed` set if the sandbox itself broke; denial is not looked for here. Raises
    what `spawn` raises. A cancelled task kills the command first.
    """
    began = time.monotonic()
    workdir = command.workdir or command.profile.workspace
    for attempt in itertools.count():
        left = command.timeout_ms / 1000 - (time.monotonic() - began)
        course, out, err = await _once(
            command, spawn, env=env, spill=spill, umask=umask, seconds=left, allow=allow, watch=watch
        )
        broken = course.exit is not None and course.exit.broken and not (course.timed_out or course.aborted)
        moves = any(word in err.text for word in _MOVED)  # in the workspace, during the set-up: it is looked at anew
        patient = time.monotonic() - began < _SECONDS_FOR_WHAT_MOVES if moves else attempt < _ATTEMPTS - 1
        if not (broken and patient):
            break
        await anyio.sleep(0.01 * min(attempt, _ATTEMPTS))
    ended = course.exit or Exit(None)
    if broken:
        lines = err.text.strip().splitlines()
        said = lines[-1][:500] if lines else "the sandbox ended before the command started"
        if "Can't chdir" in said:  # only the message is better for it: nothing ran either way
            raise WorkdirUnusable(f"The working directory {workdir.path} cannot be entered: {said}")
        facts = Facts(facts.mode, False, None, facts.enforcement, facts.backend, said)
    return Run(
        None if broken else ended.code,
        ended.signal,
        course.timed_out,
        course.aborted,
        out,
        err,
        facts,
        round((time.monotonic() - began) * 1000),
        course.pipe_held,
        course.exceeded,
        ended.tried,
    )


async def _once(
    command: Command,
    spawn: Spawn,
    *,
    env: Mapping[str, str],
    spill: Spill | None,
    umask: int,
    seconds: float,
    allow: Allow | None,
    watch: bool,
) -> tuple[_Course, Captured, Captured]:
    course = _Course()
    out, err = _Stream("stdout", spill, command.on_output), _Stream("stderr", spill, command.on_output)
    allowance: Allowance | None = None
    try:
        allowance = await allow() if allow is not None else None
        workdir = command.workdir or command.profile.workspace
        launch = Launch(
            command.profile, command.words, env, workdir, out.write, err.write, umask, command.signal, command.covered,
            allowance, watch,
        )  # fmt: skip
        try:
            process = await spawn(launch)
        except Stopped:
            return _Course(aborted=True), Captured(), Captured()
        if allowance is not None:
            processes.first_to_end(process.pid)
        if command.on_start is not None:
            command.on_start()
        out.close_write()
        err.close_write()
        try:
            await _follow(process, command.signal, seconds, course, allowance)
            if not (course.timed_out or course.aborted or course.exceeded):
                await _drain(out, err, GRACE_FOR_PIPES)
        finally:
            await process.clear()
        if course.exit is not None and course.exit.moved:
            raise WorkdirChanged(f"The directory {workdir.path} was replaced by another one right before the start")
        course.pipe_held = not (out.finish() and err.finish())
        return course, out.capture.captured(), err.capture.captured()
    finally:
        out.close()
        err.close()
        if allowance is not None:
            await allowance.close()


async def _follow(
    process: Process, signal: AbortSignal | None, seconds: float, course: _Course, allowance: Allowance | None
) -> None:
    """Wait for the end; at the time limit or a stop ask the tree to end, and give it its grace. A bound gives none."""
    async with anyio.create_task_group() as group:

        async def limit() -> None:
            await anyio.sleep(max(0.0, seconds))
            course.timed_out = True
            group.cancel_scope.cancel()

        async def stop(signal: AbortSignal) -> None:
            await signal.wait()
            course.aborted = True
            group.cancel_scope.cancel()

        async def bound(allowance: Allowance) -> None:
            course.exceeded = await allowance.passed(process)
            group.cancel_scope.cancel()

        group.start_soon(limit)
        if allowance is not None:
            group.start_soon(bound, allowance)
        if signal is not None:
            group.start_soon(stop, signal)
        course.exit = await process.wait()
        group.cancel_scope.cancel()
    if course.exit is not None:
        course.timed_out = course.aborted = False  # it ended by itself in the same moment
        killed = course.exit.signal == "SIGKILL"
        refused = allowance.refused() if killed and allowance is not None else None
        course.exceeded = course.exit.lost or refused
        return
    if course.exceeded is not None:
        course.exit = Exit(None, "SIGKILL")
        return
    process.terminate()
    with anyio.move_on_after(GRACE_FOR_TERM):
        course.exit = await process.wait()
    if course.exit is None or course.exit.broken:
        course.exit = Exit(None, "SIGKILL")


async def _drain(out: _Stream, err: _Stream, seconds: float) -> bool:
    """Whether both pipes ended within that time."""
    with anyio.move_on_after(seconds):
        await out.ended.wait()
        await err.ended.wait()
    return out.ended.is_set() and err.ended.is_set()
