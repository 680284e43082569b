"""Landlock rulesets: which directories a thread, and what it starts, may still write in (landlock(7))."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from . import handles, libc

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
(
    _EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR, _MAKE_REG,
    _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM, _REFER, _TRUNCATE, _IOCTL_DEV,
) = (1 << bit for bit in range(16))  # fmt: skip
_FILE_RIGHTS = _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_DEVICE_NODES = _MAKE_CHAR | _MAKE_BLOCK
_SCOPE_SOCKETS_AND_SIGNALS = 3
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def abi() -> int:
    """The version of Landlock that the kernel offers, 0 if none."""
    try:
        return libc.syscall("landlock", _CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))
    except OSError:
        return 0


def create(writable: Iterable[Path], version: int) -> int:
    """A ruleset (descriptor, close-on-exec) under which only the given roots can be written in.

    All files can be read, but of devices only those that say nothing: no terminal, where the person types, and no disk.
    Device nodes can be made nowhere. From version 6 on, signals and abstract sockets do not leave the domain either.
    Raises `OSError`.
    """
    handled = _handled(version)
    attributes = struct.pack("=QQQ", handled, 0, _SCOPE_SOCKETS_AND_SIGNALS if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(
        "landlock_create_ruleset", _CREATE, attributes[:size], ctypes.c_size_t(size), ctypes.c_uint(0)
    )
    try:
        for path in _readable():
            with suppress(FileNotFoundError):
                _grant(ruleset, os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC), _READ_FILE)
        for root in writable:
            _grant(ruleset, handles.exactly(root), handled & ~_DEVICE_NODES)
        for device in _DEVICES:
            if os.path.exists(device):
                _grant(ruleset, os.open(device, os.O_PATH | os.O_CLOEXEC), handled & _FILE_RIGHTS)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def enter(ruleset: int) -> None:
    """Restrict the calling thread, and what it starts, by the ruleset; no_new_privs must be set. Cannot be undone."""
    libc.syscall("landlock_restrict_self", _RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0))


def _readable() -> Iterator[str]:
    """What lies in `/`, the devices aside, and memory that programs share."""
    with os.scandir("/") as entries:
        yield from (entry.path for entry in entries if entry.name != "dev" and not entry.is_symlink())
    if os.path.isdir("/dev/shm"):
        yield "/dev/shm"


def _handled(version: int) -> int:
    rights = (
        _READ_FILE
        | _WRITE_FILE
        | _REMOVE_DIR
        | _REMOVE_FILE
        | _DEVICE_NODES
        | _MAKE_DIR
        | _MAKE_REG
        | _MAKE_SOCK
        | _MAKE_FIFO
        | _MAKE_SYM
    )
    return (
        rights
        | (_REFER if version >= 2 else 0)
        | (_TRUNCATE if version >= 3 else 0)
        | (_IOCTL_DEV if version >= 5 else 0)
    )


def _grant(ruleset: int, handle: int, rights: int) -> None:
    """Grant rights below a handle, and close it."""
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, handle)
        libc.syscall(
            "landlock_add_rule", _ADD, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint(0)
        )
    finally:
        os.close(handle)
