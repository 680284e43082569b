"""The filter, run through a small interpreter of BPF for both machines: what it refuses and what it lets pass."""

from __future__ import annotations

import errno
import struct

import pytest

from placet.sandbox.linux.seccomp import MACHINES, program

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS

# Numbers as the kernel's headers give them, written down once more, apart from the table under test.
CALLS = {
    "x86_64": {
        "read": 0,
        "openat": 257,
        "socket": 41,
        "socketpair": 53,
        "ioctl": 16,
        "prlimit64": 302,
        "clone": 56,
        "clone3": 435,
        "unshare": 272,
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "pidfd_getfd": 438,
        "open_by_handle_at": 304,
        "bpf": 321,
        "mount": 165,
        "umount2": 166,
        "pivot_root": 155,
        "setns": 308,
        "keyctl": 250,
        "userfaultfd": 323,
        "init_module": 175,
        "execve": 59,
    },
    "aarch64": {
        "read": 63,
        "openat": 56,
        "socket": 198,
        "socketpair": 199,
        "ioctl": 29,
        "prlimit64": 261,
        "clone": 220,
        "clone3": 435,
        "unshare": 97,
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "pidfd_getfd": 438,
        "open_by_handle_at": 265,
        "bpf": 280,
        "mount": 40,
        "umount2": 39,
        "pivot_root": 41,
        "setns": 268,
        "keyctl": 219,
        "userfaultfd": 282,
        "init_module": 105,
        "execve": 221,
    },
}
SAME = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
}


def answer(code: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the filter says to one system call."""
    data = struct.pack("=IIQ6Q", number, audit, 0, *(*arguments, *(0,) * (6 - len(arguments))))
    accumulator, at = 0, 0
    while True:
        operation, then, otherwise, value = struct.unpack_from("=HBBI", code, at * 8)
        at += 1
        match operation:
            case 0x20:
                accumulator = struct.unpack_from("=I", data, value)[0]
            case 0x54:
                accumulator &= value
            case 0x15:
                at += then if accumulator == value else otherwise
            case 0x35:
                at += then if accumulator >= value else otherwise
            case 0x45:
                at += then if accumulator & value else otherwise
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"unknown instruction {operation:#x}")


@pytest.fixture(params=sorted(MACHINES))
def machine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def said(machine: str, call: str, *arguments: int, **options: bool) -> int:
    numbers = MACHINES[machine]
    return answer(program(numbers, **options), numbers.audit, {**CALLS[machine], **SAME}[call], *arguments)


@pytest.mark.parametrize(
    "call",
    [
        "ptrace",
        "process_vm_readv",
        "process_vm_writev",
        "pidfd_getfd",
        "open_by_handle_at",
        "bpf",
        "mount",
        "umount2",
        "pivot_root",
        "setns",
        "keyctl",
        "userfaultfd",
        "init_module",
        "open_tree",
        "move_mount",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "mount_setattr",
    ],
)
def test_what_reaches_out_is_refused(machine: str, call: str) -> None:
    assert said(machine, call) == EPERM


@pytest.mark.parametrize("call", ["io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"])
def test_what_a_filter_cannot_look_into_does_not_exist(machine: str, call: str) -> None:
    assert said(machine, call) == ENOSYS


@pytest.mark.parametrize("call", ["read", "openat", "execve"])
def test_everything_else_passes(machine: str, call: str) -> None:
    assert said(machine, call, 1, 2, 3) == ALLOW


def test_unix_sockets_are_refused_unless_they_are_granted(machine: str) -> None:
    assert said(machine, "socket", 1, 1) == EPERM
    assert said(machine, "socket", 1 | 7 << 32, 1) == EPERM  # the kernel reads an int
    assert said(machine, "socket", 1, 1, unix_sockets=True) == ALLOW
    assert said(machine, "socket", 2, 1) == ALLOW
    assert said(machine, "socketpair", 1, 1) == ALLOW
    assert said(machine, "socketpair", 1, 2 | 0o2000000) == EPERM  # a datagram pair can be connected to any address
    assert said(machine, "socketpair", 1, 2, unix_sockets=True) == ALLOW


def test_without_network_sockets_that_reach_out_are_refused(machine: str) -> None:
    for family in (2, 10, 17, 40):
        assert said(machine, "socket", family, 1, network=False) == EPERM
        assert said(machine, "socket", family, 1) == ALLOW


@pytest.mark.parametrize("request_", [0x5412, 0x541C, 0x100005412, 0xFFFFFFFF0000541C])
def test_sbx_18_terminal_injection_is_refused_in_every_spelling(machine: str, request_: int) -> None:
    assert said(machine, "ioctl", 0, request_) == EPERM
    assert said(machine, "ioctl", 0, 0x5413) == ALLOW


def test_new_user_namespaces_are_refused(machine: str) -> None:
    for call in ("clone", "unshare"):
        assert said(machine, call, 0x10000000 | 0x11) == EPERM
        assert said(machine, call, 0x11) == ALLOW


def test_another_architecture_is_killed_and_x32_does_not_exist(machine: str) -> None:
    numbers = MACHINES[machine]
    assert answer(program(numbers), 0x40000003, 0) == KILL
    if machine == "x86_64":
        assert answer(program(numbers), numbers.audit, 0x40000000 | 41, 1) == ENOSYS


def test_limits_are_set_to_oneself_only(machine: str) -> None:
    assert said(machine, "prlimit64", 0) == ALLOW
    assert said(machine, "prlimit64", 1) == EPERM
    assert said(machine, "prlimit64", 0x7FFFFFFF) == EPERM
