"""Signed bytes over the file that they are the content of: the command can read no others under that path."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from placet.kernel.scope import Scope
from placet.sandbox.backend import Covered
from placet.sandbox.errors import WorkdirChanged


def covering(files: Iterable[Covered], opened: Scope, keep: list[int]) -> list[str]:
    """The arguments of bubblewrap (bwrap(1), --ro-bind-data), with the descriptors that it needs added to `keep`.

    Raises `WorkdirChanged` where the file is no longer there: nothing is ever mounted over what does not exist.
    """
    words: list[str] = []
    for file in files:
        words += ["--perms", _rights(file), "--ro-bind-data", str(_descriptor(file, opened, keep)), str(file.path)]
    return words


def _rights(file: Covered) -> str:
    """The file's own rights, so that what could not be executed still cannot, without any to write."""
    try:
        mode = os.lstat(file.path).st_mode
    except OSError:
        mode = 0
    if not stat.S_ISREG(mode):
        raise WorkdirChanged(f"The file {file.path}, which was signed together with the command, is not there any more")
    return f"{stat.S_IMODE(mode) & 0o555:04o}"


def _descriptor(file: Covered, opened: Scope, keep: list[int]) -> int:
    held = os.memfd_create("placet-covered")
    opened.add(f"content of {file.path}", lambda: os.close(held))
    data = memoryview(file.content)
    while data:
        data = data[os.write(held, data) :]
    os.lseek(held, 0, os.SEEK_SET)
    keep.append(held)
    return held
