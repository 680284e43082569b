"""Control groups (cgroups(7), version 2) of this server: one for itself, and one for each confined command.

Only where placet was given a group of its own to divide: nothing is made in a group that other programs are in.
"""

from __future__ import annotations

import os
import secrets
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import awaited, processes

_OWN = "placet-server"
_PREFIX = "placet-command"
_NEEDED = ("memory", "pids")
_WELCOME = ("cpu",)
_SHARE_OF_CPU = 20  # the server and its pages have 100: they answer while commands have the processors
_EMPTY_SECONDS = 2.0
_ADVICE = "start placet in a group of its own: systemd-run --user --scope -p Delegate=yes placet web"


class NoGroups(Exception):
    """There is no group that placet may divide. Nobody's fault; `why` says it in one line, `hint` what gives one."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


@dataclass(frozen=True, slots=True)
class Limits:
    """What a group may have: processes and threads, and bytes of memory, swap included."""

    tasks: int
    memory: int


class Group:
    """The group of one command. `join` is a descriptor: who writes `0` in it is in the group from then on.

    `leave` is the same for the group of the server.
    """

    def __init__(self, path: Path, limits: Limits, home: Path) -> None:
        self._path = path
        path.mkdir()
        try:
            _write(path / "pids.max", str(limits.tasks))
            _write(path / "memory.max", str(limits.memory))
            for name, value in (("memory.oom.group", "1"), ("memory.swap.max", "0"), ("cpu.weight", _SHARE_OF_CPU)):
                with suppress(OSError):  # an older kernel, one without swap, or no controller for the processors
                    _write(path / name, str(value))
            self.join = os.open(path / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
            self.leave = os.open(home / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        except BaseException:
            path.rmdir()
            raise

    def processes(self) -> int:
        """How many processes are in it."""
        return len(_read(self._path / "cgroup.procs").split())

    def refused_tasks(self) -> bool:
        """Whether the kernel has refused a process or thread."""
        return _events(self._path / "pids.events").get("max", 0) > 0

    def ended_for_memory(self) -> bool:
        """Whether the kernel has ended processes in it because there was no more memory for them."""
        return _events(self._path / "memory.events").get("oom_kill", 0) > 0

    def close(self) -> None:
        """Remove the group, and end first what is still in it. Can take a moment then."""
        os.close(self.join)
        os.close(self.leave)
        _remove(self._path)


class Groups:
    """The part of the hierarchy that is placet's to divide."""

    def __init__(self, base: Path, home: Path) -> None:
        self._base, self._home = base, home
        self._mark = f"{_PREFIX}-{os.getpid()}-{_started(os.getpid())}"

    def make(self, limits: Limits) -> Group:
        """Make the group of a command. Raises `OSError`."""
        return Group(self._base / f"{self._mark}-{secrets.token_hex(4)}", limits, self._home)

    def sweep(self) -> None:
        """Remove the groups of servers that live no more, and end what is in them."""
        for path in self._base.glob(f"{_PREFIX}-*-*-*"):
            pid, start = path.name.split("-")[2:4]
            if pid.isdigit() and start.isdigit() and _started(int(pid)) != int(start):
                _remove(path)

    def attempt(self) -> None:
        """Make a group, move a process into it, and remove both. Raises `NoGroups` where one of that does not work."""
        try:
            group = self.make(Limits(16, 64 << 20))
        except OSError as error:
            raise NoGroups(f"a control group could not be made: {error.strerror}") from error
        try:
            with awaited.hidden(), subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as moved:
                try:
                    os.write(group.join, str(moved.pid).encode())
                    inside = self._mark in _read(Path(f"/proc/{moved.pid}/cgroup"))
                finally:
                    moved.kill()
        except OSError as error:
            raise NoGroups(f"no process could be moved into a control group: {error.strerror}") from error
        finally:
            group.close()
        if not inside:
            raise NoGroups("a process that was moved into a control group was not in it")


def delegated(root: Path = Path("/proc/self")) -> Groups:
    """Take possession of the group that this process was started in, if it has that for itself.

    The process moves into a group below it, because only a group without processes of its own can be divided (cgroups,
    "no internal processes"), and what it has started with it. Raises `NoGroups`.
    """
    own = _own_directory(root)
    base = own.parent if own.name == _OWN else own
    offered = _read(base / "cgroup.controllers").split()
    missing = [name for name in _NEEDED if name not in offered]
    if missing:
        raise NoGroups(f"the kernel's control groups of version 2 have no bounds for {' and '.join(missing)} here")
    if not os.access(base, os.W_OK | os.X_OK) or not os.access(base / "cgroup.subtree_control", os.W_OK):
        raise NoGroups("the control group that placet runs in is not its own to divide", _ADVICE)
    if not base.joinpath("cgroup.type").exists():
        raise NoGroups("placet runs in the first control group of the machine, and leaves that alone", _ADVICE)
    home = base / _OWN
    if own == base:
        _settle(base, home)
    try:
        _enable(base, [name for name in (*_NEEDED, *_WELCOME) if name in offered])
    except OSError as error:
        if own == base:
            _back(base, home)
        raise NoGroups(f"the control group of placet could not be divided: {error.strerror}", _ADVICE) from error
    groups = Groups(base, home)
    groups.attempt()
    return groups


def _own_directory(root: Path) -> Path:
    """The directory of this process's group. Raises `NoGroups` where version 2 is not there."""
    path = next((line[3:] for line in _read(root / "cgroup").splitlines() if line.startswith("0::")), None)
    for line in _read(root / "mountinfo").splitlines():
        fields, _, facts = line.partition(" - ")
        if path is None or not facts.startswith("cgroup2 "):
            continue
        within, mounted = (_unescaped(field) for field in fields.split()[3:5])
        if path == within or path.startswith(within.rstrip("/") + "/"):
            found = Path(mounted, path.removeprefix(within).lstrip("/"))
            if found.is_dir():
                return found
    raise NoGroups("this machine has no control groups of version 2")


def _settle(base: Path, home: Path) -> None:
    """Move this process and what it has started one group down. Raises `NoGroups` if others are where it is."""
    own = [os.getpid(), *(seen.pid for seen in processes.descendants([os.getpid()]))]
    others = {int(pid) for pid in _read(base / "cgroup.procs").split()}.difference(own)
    if others:
        raise NoGroups("other programs are in the control group that placet runs in", _ADVICE)
    try:
        home.mkdir(exist_ok=True)
        _move(own, home)
    except OSError as error:
        _back(base, home)
        raise NoGroups(f"placet cannot move within its control group: {error.strerror}", _ADVICE) from error


def _move(pids: list[int], group: Path) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            _write(group / "cgroup.procs", str(pid))


def _back(base: Path, home: Path) -> None:
    with suppress(OSError):
        _move([int(pid) for pid in _read(home / "cgroup.procs").split()], base)
        home.rmdir()


def _enable(base: Path, names: list[str]) -> None:
    already = _read(base / "cgroup.subtree_control").split()
    for name in names:
        if name in already:
            continue
        try:
            _write(base / "cgroup.subtree_control", f"+{name}")
        except OSError:
            if name in _NEEDED:
                raise


def _remove(path: Path) -> None:
    """Remove a group; what is in it is killed first (cgroup.kill, Linux 5.14; else one by one)."""
    until = time.monotonic() + _EMPTY_SECONDS
    while True:
        try:
            path.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > until:
                return
        _kill(path)
        _await_change(path / "cgroup.events", 0.05)


def _kill(path: Path) -> None:
    try:
        _write(path / "cgroup.kill", "1")
    except OSError:
        for seen in _members(path):
            processes.send(seen, signal.SIGKILL)


def _members(path: Path) -> Iterator[processes.Seen]:
    for pid in _read(path / "cgroup.procs").split():
        if (seen := processes.look(int(pid))) is not None:
            yield seen


def _await_change(path: Path, seconds: float) -> None:
    """Return when the kernel tells a change in a file of a group, or after that time."""
    with suppress(OSError), open(path, "rb") as file:
        file.read()
        poll = select.poll()
        poll.register(file, select.POLLPRI)
        poll.poll(seconds * 1000)


def _started(pid: int) -> int:
    seen = processes.look(pid)
    return 0 if seen is None else seen.start


def _events(path: Path) -> dict[str, int]:
    lines = (line.split() for line in _read(path).splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) == 2}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _unescaped(field: str) -> str:
    """A path as the list of mounts writes it (proc_pid_mountinfo(5))."""
    for character in " \t\n\\":
        field = field.replace(f"\\{ord(character):03o}", character)
    return field
