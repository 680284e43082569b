"""The system call filter of every confined command, as a classic BPF program (seccomp(2), seccomp_unotify(2))."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import libc

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO, _TELL = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_AF_UNIX, _SOCK_DGRAM, _SOCK_TYPE_MASK, _CLONE_NEWUSER = 1, 2, 0xF, 0x10000000
_NETWORK_FAMILIES = (2, 10, 16, 17, 40)  # AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX; the kernel looks at the low 32 bits only
_SET_MODE_FILTER, _NEW_LISTENER = 1, 8

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
"""The flags of open(2) that change something."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The numbers of one processor architecture."""

    name: str
    audit: int
    refused: tuple[int, ...]
    unknown: tuple[int, ...]
    clone: int
    unshare: int
    socket: int
    socketpair: int
    ioctl: int
    prlimit: int
    seccomp: int
    x32: bool


# In the order: ptrace process_vm_readv process_vm_writev kcmp open_by_handle_at bpf perf_event_open add_key request_key
# keyctl userfaultfd setns mount umount2 pivot_root kexec_load kexec_file_load init_module finit_module delete_module
# swapon swapoff reboot
_X86_64 = (
    101,
    310,
    311,
    312,
    304,
    321,
    298,
    248,
    249,
    250,
    323,
    308,
    165,
    166,
    155,
    246,
    320,
    175,
    313,
    176,
    167,
    168,
    169,
)
_ARM64 = (
    117,
    270,
    271,
    272,
    265,
    280,
    241,
    217,
    218,
    219,
    282,
    268,
    40,
    39,
    41,
    104,
    294,
    105,
    273,
    106,
    224,
    225,
    142,
)
# open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr open_tree_attr pidfd_getfd: one number everywhere
_EVERYWHERE = (428, 429, 430, 431, 432, 433, 442, 467, 438)
# io_uring_setup io_uring_enter io_uring_register, and clone3, whose flags a filter cannot read: programs use clone then
_UNKNOWN = (425, 426, 427, 435)

MACHINES = {
    "x86_64": Machine("x86_64", 0xC000003E, _X86_64 + _EVERYWHERE, _UNKNOWN, 56, 272, 41, 53, 16, 302, 317, x32=True),
    "aarch64": Machine(
        "aarch64", 0xC00000B7, _ARM64 + _EVERYWHERE, _UNKNOWN, 220, 97, 198, 199, 29, 261, 277, x32=False
    ),
}


def machine() -> Machine | None:
    """The table of this processor, or None if there is none: then nothing can be confined here."""
    return MACHINES.get(platform.machine())


@functools.cache
def program(numbers: Machine, *, unix_sockets: bool = False, network: bool = True) -> bytes:
    """The filter for one machine.

    Refused: looking into other processes, io_uring, mounts, new user namespaces, kernel keyrings, modules, terminal
    injection, and setting limits of a process by its number: one of CPU time kills, and no scope of Landlock covers
    it. Unless `unix_sockets`, sockets of the AF_UNIX family; a stream socketpair stays, a datagram pair is refused
    because it can be connected anew to any address. Unless `network`, sockets that reach other machines.
    """
    refuse, absent = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    code = [_step(_LOAD, _ARCHITECTURE), *_unless(numbers.audit, _KILL), _step(_LOAD, _NUMBER)]
    if numbers.x32:
        code += [_step(_JUMP_AT_LEAST, 0x40000000, 0, 1), _step(_RETURN, absent)]
    for number in numbers.refused:
        code += _when(number, refuse)
    for number in numbers.unknown:
        code += _when(number, absent)
    for number in (numbers.clone, numbers.unshare):
        code += _guard(number, [_argument(0), _step(_JUMP_ANY_BIT, _CLONE_NEWUSER, 0, 1), _step(_RETURN, refuse)])
    code += _guard(numbers.ioctl, [_argument(1), *_in(_TERMINAL_INJECTION, refuse)])
    code += _guard(numbers.prlimit, [_argument(0), *_unless(0, refuse)])
    families = (() if unix_sockets else (_AF_UNIX,)) + (() if network else _NETWORK_FAMILIES)
    if families:
        code += _guard(numbers.socket, [_argument(0), *_in(families, refuse)])
    if not unix_sockets:
        code += _guard(
            numbers.socketpair,
            [_argument(1), _step(_AND, _SOCK_TYPE_MASK), *_in((_SOCK_DGRAM,), refuse)],
        )
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def telling(numbers: Machine, opens: Mapping[int, int], others: Sequence[int]) -> bytes:
    """A filter that refuses nothing and tells of system calls: `others`, and `opens` whose flags would write.

    `opens` maps a number to the index of the argument that holds the flags.
    """
    code = [_step(_LOAD, _ARCHITECTURE), *_unless(numbers.audit, _ALLOW), _step(_LOAD, _NUMBER)]
    for number, flags in opens.items():
        code += _guard(number, [_argument(flags), _step(_JUMP_ANY_BIT, WRITES, 0, 1), _step(_RETURN, _TELL)])
    for number in others:
        code += _when(number, _TELL)
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def install(numbers: Machine, filter_program: bytes) -> None:
    """Confine the calling thread, and what it starts, by the filter; no_new_privs must be set. Cannot be undone."""
    _load(numbers, filter_program, 0)


def listen(numbers: Machine, filter_program: bytes) -> int:
    """Install a filter whose tellings come to the descriptor that is returned (close-on-exec). Raises `OSError`."""
    return _load(numbers, filter_program, _NEW_LISTENER)


def _load(numbers: Machine, filter_program: bytes, flags: int) -> int:

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    buffer = ctypes.create_string_buffer(filter_program, len(filter_program))
    loaded = ctypes.byref(Program(len(filter_program) // 8, ctypes.addressof(buffer)))
    return libc.syscall("seccomp", numbers.seccomp, ctypes.c_uint(_SET_MODE_FILTER), ctypes.c_uint(flags), loaded)


def _step(operation: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, then, otherwise, value)


def _argument(index: int) -> bytes:
    """Load the low half of an argument; both machines are little-endian."""
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _when(value: int, result: int) -> list[bytes]:
    return [_step(_JUMP_EQUAL, value, 0, 1), _step(_RETURN, result)]


def _unless(value: int, result: int) -> list[bytes]:
    return [_step(_JUMP_EQUAL, value, 1, 0), _step(_RETURN, result)]


def _in(values: tuple[int, ...], result: int) -> list[bytes]:
    return [step for value in values for step in _when(value, result)]


def _guard(number: int, body: list[bytes]) -> list[bytes]:
    """The body for one system call; it overwrites the loaded number, so it always ends with an answer."""
    return [_step(_JUMP_EQUAL, number, 0, len(body) + 1), *body, _step(_RETURN, _ALLOW)]
