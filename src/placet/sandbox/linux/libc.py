"""System calls that Python has no function for. Each acts on the calling thread unless it says otherwise."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long


class _Part(ctypes.Structure):
    """A piece of memory (iovec)."""

    _fields_ = (("address", ctypes.c_void_p), ("size", ctypes.c_size_t))


def syscall(what: str, number: int, *arguments: object) -> int:
    """Make a raw system call. Raises `OSError` that names `what` was tried."""
    return _checked(what, int(_syscall(number, *arguments)))


def prctl(what: str, option: int, value: int = 0) -> int:
    """Call prctl(2) with one value. Raises `OSError` that names `what` was tried."""
    zero = ctypes.c_ulong(0)
    return _checked(what, int(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero)))


def read_memory(pid: int, address: int, size: int) -> bytes:
    """Read from another process what lies on one page of its memory. Raises `OSError`."""
    buffer = ctypes.create_string_buffer(size)
    ours, theirs = _Part(ctypes.addressof(buffer), size), _Part(address, size)
    one, none, call = ctypes.c_ulong(1), ctypes.c_ulong(0), _libc.process_vm_readv
    call.restype = ctypes.c_ssize_t
    got = int(call(pid, ctypes.byref(ours), one, ctypes.byref(theirs), one, none))
    return buffer.raw[: _checked("process_vm_readv", got)]


def capset(header: ctypes.Structure, data: ctypes.Array[Any]) -> None:
    """Set the capabilities of the calling thread. Raises `OSError`."""
    _checked("capset", int(_libc.capset(ctypes.byref(header), data)))


def _checked(what: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
