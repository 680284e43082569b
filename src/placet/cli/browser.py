"""Opening the page where there is a browser: by a file that only this account can read, never by a secret in argv."""

import os
import shutil
import sys
from pathlib import Path

from placet.sandbox.detached import start_detached

_OPENERS = ("xdg-open", "wslview", "x-www-browser", "gnome-open")


def open_page(file: Path) -> bool:
    """Hand the redirect file to the person's browser; returns whether there was one to hand it to.

    The browser must not become a descendant of placet: its decisions would look as if the agent had sent them.
    """
    opener = _opener()
    if opener is None:
        return False
    try:
        start_detached([opener, str(file)], dict(os.environ))
    except OSError:  # then the link in the terminal has to do
        return False
    return True


def _opener() -> str | None:
    if sys.platform == "darwin":
        return shutil.which("open")
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return None
    return next((path for name in _OPENERS if (path := shutil.which(name))), None)
