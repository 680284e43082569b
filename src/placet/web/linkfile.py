"""The redirect file: brings the link's secret to the browser without a command line that others could read.

It is readable by its owner only, lies in the state directory, and is gone when the link is used or too old, or when
placet ends.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from html import escape
from pathlib import Path

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>placet</title>
<meta http-equiv="refresh" content="0; url={url}">
<p>Opening placet. If nothing happens, open the address that the terminal shows and type the code.
"""

PREFIX = "open-"


def place(state: Path) -> Path:
    """Return a path for a file that nobody can foresee."""
    folder = state / "tmp"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{PREFIX}{secrets.token_urlsafe(12)}.html"


def write(path: Path, url: str) -> None:
    """Write the file that leads a browser to the address."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as out:
        out.write(_PAGE.format(url=escape(url, quote=True)))


def remove(path: Path) -> None:
    """Remove the file; it may be gone."""
    with suppress(OSError):
        path.unlink()


def remove_leftovers(state: Path) -> None:
    """Remove the files that a killed server left; their links died with it."""
    with suppress(FileNotFoundError):
        for path in (state / "tmp").glob(f"{PREFIX}*.html"):
            with suppress(OSError):
                path.unlink()
