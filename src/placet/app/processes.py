"""The register of running placet processes of this account, so that the socket can tell them from people's programs.

A file per process lies in the state directory, which confined commands do not see; its name is the holder, which no
later process can bear (pid, start time, boot).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from placet.session.lease import alive, holder


@contextmanager
def registered(folder: Path, kind: str) -> Iterator[str]:
    """Register this process for as long as the context lasts; yields its name. Names of dead processes are removed."""
    name = holder()
    tidy(folder)
    path = folder / name
    with suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, kind.encode())
    finally:
        os.close(descriptor)
    try:
        yield name
    finally:
        with suppress(OSError):
            path.unlink()


def running(folder: Path) -> dict[str, str]:
    """The living placet processes: holder name to kind."""
    found: dict[str, str] = {}
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            if alive(path.name):
                with suppress(OSError):
                    found[path.name] = path.read_text(encoding="utf-8", errors="replace")
    return found


def tidy(folder: Path) -> None:
    """Remove the names of processes that are dead."""
    for path in folder.iterdir():
        if not alive(path.name):
            with suppress(OSError):
                path.unlink()
