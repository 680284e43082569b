"""Handles on exactly what a path names: a path alone can be made to lead elsewhere while it is being used."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


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
