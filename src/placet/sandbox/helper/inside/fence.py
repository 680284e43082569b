"""What a request may reach: regular files and folders, no magic link, nothing of the system, nothing hidden."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from typing import Any

_OPENAT2, _AT_FDCWD, _NO_MAGIC_LINKS, _NO_SYMLINKS = 437, -100, 0x02, 0x04
_CLOSED = ("/proc", "/sys", "/dev")
_VIRTUAL = frozenset(
    {0x9FA0, 0x62656572, 0x64626720, 0x74726163, 0x73636673, 0x27E0EB, 0x63677270, 0xCAFE4A11, 0x1CD1, 0x19800202}
    | {0x6165676C, 0xF97CFF8C, 0xDE5E81E4, 0x42494E4D, 0x62656570, 0x6E736673, 0x65735543}
)  # proc, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2, bpf, devpts, mqueue, pstore, selinux, ... (statfs(2))
_libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """What was asked cannot be done; `code` is the word for programs."""

    def __init__(self, code: str, text: str, path: str | None = None) -> None:
        super().__init__(text)
        self.code, self.text, self.path = code, text, path


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Fence:
    """What a request may not reach, beside what the sandbox holds anyway."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.hidden, self.kept, self.open = request["hidden"], request["kept"], request["open"]
        self.straight: bool = request["straight"]

    def look(self, path: str, *, directory: bool = False) -> tuple[int, str]:
        """A handle (O_PATH) on a regular file or directory, and its real path."""
        handle = self._open(path, os.O_PATH | (os.O_DIRECTORY if directory else 0))
        try:
            real = os.readlink(f"/proc/self/fd/{handle}")
            mode = os.fstat(handle).st_mode
            self.check(real)
            if _file_system(handle) in _VIRTUAL:
                raise Refused("closed", f"{path} belongs to the system; the file tools open nothing there", real)
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise Refused("not-a-file", f"{path} is {kind_of(mode)}, neither a file nor a folder", real)
        except BaseException:
            os.close(handle)
            raise
        return handle, real

    def check(self, real: str) -> None:
        """Raise `Refused` for what is hidden, and for what belongs to the system."""
        if any(below(real, root) for root in _CLOSED):
            raise Refused("closed", f"{real} belongs to the system; the file tools open nothing there", real)
        if any(below(real, root) for root in self.hidden) and not any(below(real, root) for root in self.open):
            raise Refused("hidden", f"{real} is hidden from this session", real)

    def changes(self, real: str) -> None:
        """Raise for what must stay as it is."""
        self.check(real)
        if any(below(real, root) for root in self.kept):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), real)

    def _open(self, path: str, flags: int) -> int:
        resolve = _NO_MAGIC_LINKS | (_NO_SYMLINKS if self.straight else 0)
        how = _How(flags | os.O_CLOEXEC, 0, resolve)
        size = ctypes.c_size_t(ctypes.sizeof(how))
        handle = _libc.syscall(
            ctypes.c_long(_OPENAT2), ctypes.c_int(_AT_FDCWD), os.fsencode(path), ctypes.byref(how), size
        )
        if handle >= 0:
            return int(handle)
        code = ctypes.get_errno()
        if code == errno.ENOSYS:
            raise Refused("unsupported", "the file tools need Linux 5.6 or newer (openat2)")
        if code == errno.ELOOP:
            if self.straight and (real := os.path.realpath(path)) != os.path.abspath(path):
                raise Refused("symlink", f"{path} leads through a symlink; name the file by its real path, {real}")
            raise Refused("closed", f"{path} leads through a magic link, or in a circle", path)
        raise OSError(code, os.strerror(code), path)


def kind_of(mode: int) -> str:
    names = ((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
    return next((name for test, name in names if test(mode)), "a device")


def below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _file_system(handle: int) -> int:
    facts = (ctypes.c_long * 32)()
    return int(facts[0]) if _libc.fstatfs(ctypes.c_int(handle), facts) == 0 else 0x9FA0
