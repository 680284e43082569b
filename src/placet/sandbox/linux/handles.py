"""Handles on exactly what a path names: a path alone can be made to lead elsewhere while it is being used."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


_LARGEST = 1 << 20


def content(path: Path) -> int | None:
    """A descriptor with a copy of what a small regular file holds now, over no symlink; None for anything else."""
    handle = exactly(path)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        reading = os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(handle)
    try:
        data = os.read(reading, _LARGEST)
        if len(data) == _LARGEST:
            return None
    finally:
        os.close(reading)
    copy = os.memfd_create("placet-copy")
    os.write(copy, data)
    os.lseek(copy, 0, os.SEEK_SET)
    return copy


def exactly(path: Path) -> int:
    """A handle (O_PATH) on a resolved absolute path, over no symlink. Raises `OSError`, ELOOP for a symlink."""
    handle = os.open("/", _STEP)
    try:
        for part in path.parts[1:]:
            below = os.open(part, _STEP, dir_fd=handle)
            os.close(handle)
            handle = below
            if stat.S_ISLNK(os.fstat(handle).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    except BaseException:
        os.close(handle)
        raise
    return handle
