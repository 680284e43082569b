"""Rights that a thread or process gives up for good."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from . import libc

_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 24, 36, 38
_PR_CAPBSET_READ, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 23, 47, 4
_PR_GET_CHILD_SUBREAPER = 37
_CAPABILITY_VERSION_3 = 0x20080522


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def linux() -> tuple[int, int]:
    """The first two numbers of the kernel's version; (0, 0) for what has another form."""
    words = os.uname().release.split(".")[:2]
    return (int(words[0]), int(words[1])) if len(words) == 2 and all(word.isdigit() for word in words) else (0, 0)


def no_new_privileges() -> None:
    """No program that this thread or its children start gains rights by setuid bits or file capabilities."""
    libc.prctl("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up every capability of the calling thread, also those that uid 0 would regain at an exec."""
    capability = 0
    while True:
        try:
            if libc.prctl("capability", _PR_CAPBSET_READ, capability):
                _drop_from_bounding_set(capability)
        except OSError:
            break
        capability += 1
    libc.prctl("ambient capabilities", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    libc.capset(_Header(_CAPABILITY_VERSION_3, 0), (_Data * 2)())


def _drop_from_bounding_set(capability: int) -> None:
    try:
        libc.prctl("bounding set", _PR_CAPBSET_DROP, capability)
    except PermissionError:
        return  # without CAP_SETPCAP there is nothing to regain either: no_new_privs closes setuid programs


def not_dumpable() -> None:
    """Close the whole process to ptrace, /proc/PID/mem and core dumps by others of the same account."""
    libc.prctl("dumpable", _PR_SET_DUMPABLE, 0)


def subreaper() -> None:
    """Make the whole process the parent of what its descendants leave behind, so that it can be found and reaped."""
    libc.prctl("subreaper", _PR_SET_CHILD_SUBREAPER, 1)


@contextmanager
def adopting_nobody() -> Iterator[None]:
    """What descendants leave behind meanwhile goes to the system, not to this process."""
    told = ctypes.c_int()
    libc.prctl("subreaper", _PR_GET_CHILD_SUBREAPER, ctypes.addressof(told))
    libc.prctl("subreaper", _PR_SET_CHILD_SUBREAPER, 0)
    try:
        yield
    finally:
        libc.prctl("subreaper", _PR_SET_CHILD_SUBREAPER, told.value)
