"""What a command tries to change, as its keeper sees it: system calls that name a path and write (seccomp_unotify(2)).

For a diagnosis only. Every call goes on, and Landlock decides: the names are read from the command's own memory, which
it can change in the same moment. So nothing is looked up by them here, and nothing may ever be granted for them.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from . import libc, seccomp

KEPT = 64
"""Distinct attempts that are remembered, of those inside and of those outside of the roots; the newest ones."""
_LONGEST, _PAGE = 4096, 4096
_HERE = -100
_RECEIVE, _SEND, _STILL_THERE, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_GO_ON, _WAKE_AT_ONCE = 1, 1
_NOTICE, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")


class How(StrEnum):
    """What a call would do at its path: make it new, put something there, remove it, write in it, or open it."""

    MAKE = "make"
    PUT = "put"
    REMOVE = "remove"
    WRITE = "write"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt, not its result; `flags` are those of open(2)."""

    how: How
    path: str
    flags: int = 0


@dataclass(frozen=True, slots=True)
class _Call:
    """Where the arguments of a system call name what it changes: (how, index of the directory or None, of the path)."""

    names: tuple[tuple[How, int | None, int], ...]
    flags: int | None = None
    flags_in_memory: bool = False


def _one(how: How, directory: int | None, path: int) -> _Call:
    return _Call(((how, directory, path),))


def _two(*indexes: int | None) -> _Call:
    source, path, target, new = indexes
    assert path is not None and new is not None
    return _Call(((How.REMOVE, source, path), (How.PUT, target, new)))


_OPEN, _OPENAT = _Call(((How.OPEN, None, 0),), 1), _Call(((How.OPEN, 0, 1),), 2)
_OPENAT2 = _Call(((How.OPEN, 0, 1),), 2, flags_in_memory=True)
_MOVE, _MOVEAT = _two(None, 0, None, 1), _two(0, 1, 2, 3)
_MAKE, _MAKEAT = _one(How.MAKE, None, 0), _one(How.MAKE, 0, 1)
_REMOVE, _REMOVEAT = _one(How.REMOVE, None, 0), _one(How.REMOVE, 0, 1)
_LINK, _LINKAT, _SYMLINKAT = _one(How.MAKE, None, 1), _one(How.MAKE, 2, 3), _one(How.MAKE, 1, 2)
_TRUNCATE, _CREAT = _one(How.WRITE, None, 0), _one(How.PUT, None, 0)

# In the order: open creat openat openat2, rename renameat renameat2, mkdir mkdirat mknod mknodat, rmdir unlink
# unlinkat, link linkat symlink symlinkat, truncate
_X86_64 = {
    2: _OPEN, 85: _CREAT, 257: _OPENAT, 437: _OPENAT2, 82: _MOVE, 264: _MOVEAT, 316: _MOVEAT,
    83: _MAKE, 258: _MAKEAT, 133: _MAKE, 259: _MAKEAT, 84: _REMOVE, 87: _REMOVE, 263: _REMOVEAT,
    86: _LINK, 265: _LINKAT, 88: _LINK, 266: _SYMLINKAT, 76: _TRUNCATE,
}  # fmt: skip
_ARM64 = {
    56: _OPENAT, 437: _OPENAT2, 38: _MOVEAT, 276: _MOVEAT, 34: _MAKEAT, 33: _MAKEAT, 35: _REMOVEAT,
    37: _LINKAT, 36: _SYMLINKAT, 45: _TRUNCATE,
}  # fmt: skip
CALLS = {"x86_64": _X86_64, "aarch64": _ARM64}


def listen(numbers: seccomp.Machine) -> int:
    """Have the calls of the calling thread, and of what it starts, be told to the descriptor that is returned.

    no_new_privs must be set. From here on the thread must not make such a call itself: it would wait for its own
    process. Raises `OSError`, with EBUSY where another watcher is set already.
    """
    calls = CALLS[numbers.name]
    opens = {number: call.flags for number, call in calls.items() if call.flags and not call.flags_in_memory}
    listener = seccomp.listen(numbers, seccomp.telling(numbers, opens, [one for one in calls if one not in opens]))
    with suppress(OSError):  # only quicker: Linux 6.6
        fcntl.ioctl(listener, _SET_FLAGS, _WAKE_AT_ONCE)
    return listener


class Watcher:
    """Takes what one command tries; the listener is the watcher's to close."""

    def __init__(self, listener: int, numbers: seccomp.Machine, roots: Sequence[str]) -> None:
        self.listener = listener
        self.done = False
        """Whether nobody is left who could tell anything."""
        self._calls = CALLS[numbers.name]
        self._below = tuple(os.path.join(root, "") for root in roots)
        self._inside: dict[tuple[str, str, int], None] = {}
        self._outside: dict[tuple[str, str, int], None] = {}

    @property
    def tried(self) -> list[tuple[str, str, int]]:
        """The attempts as they can be sent; first those at names outside of the roots."""
        return [*self._outside, *self._inside]

    def take(self) -> None:
        """Take one call and let it go on. Never waits for what the command could hold up."""
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, notice)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):  # its process was killed meanwhile
                return
            raise
        cookie, pid, _, number, _, _, *arguments = _NOTICE.unpack(notice)
        with suppress(OSError):  # it is gone, or its memory cannot be read: the call goes on all the same
            found = list(self._named(pid, number, arguments))
            fcntl.ioctl(self.listener, _STILL_THERE, struct.pack("=Q", cookie))
            for attempt in found:
                self._keep(attempt)
        with suppress(FileNotFoundError):
            fcntl.ioctl(self.listener, _SEND, _ANSWER.pack(cookie, 0, 0, _GO_ON))

    def close(self) -> None:
        """Close the listener: calls that are told from now on fail, so nothing of the command may be alive."""
        os.close(self.listener)

    def _named(self, pid: int, number: int, arguments: Sequence[int]) -> Iterator[tuple[str, str, int]]:
        call = self._calls.get(number)
        if call is None:
            return
        flags = 0 if call.flags is None else arguments[call.flags]
        if call.flags_in_memory:
            flags = int.from_bytes(libc.read_memory(pid, flags, 8), "little")
            if not flags & seccomp.WRITES:
                return
        for how, directory, path in call.names:
            name = _text(pid, arguments[path])
            if not name.startswith("/"):
                name = os.path.join(_folder(pid, _HERE if directory is None else arguments[directory]), name)
            yield how.value, name, flags & 0xFFFFFFFF

    def _keep(self, attempt: tuple[str, str, int]) -> None:
        inside = attempt[1].startswith(self._below) and "/../" not in attempt[1]
        kept = self._inside if inside else self._outside
        kept[attempt] = None
        if len(kept) > KEPT:
            del kept[next(iter(kept))]


def _text(pid: int, address: int) -> str:
    """The text that a process has at an address. Raises `OSError`."""
    data = b""
    while len(data) < _LONGEST and b"\0" not in data:
        part = libc.read_memory(pid, address + len(data), _PAGE - (address + len(data)) % _PAGE)
        if not part:
            break
        data += part
    return os.fsdecode(data.split(b"\0", 1)[0][:_LONGEST])


def _folder(pid: int, descriptor: int) -> str:
    """What a process calls its working directory, or one of its descriptors. Raises `OSError`."""
    number = ctypes.c_int(descriptor & 0xFFFFFFFF).value
    return os.readlink(f"/proc/{pid}/cwd" if number == _HERE else f"/proc/{pid}/fd/{number}")
