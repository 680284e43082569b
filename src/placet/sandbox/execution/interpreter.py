"""Which Python a confined process is started with."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from placet.sandbox.backends.flags import visible
from placet.sandbox.errors import SandboxUnavailable
from placet.sandbox.policy import Profile

from .environment import FIXED_PATH


def own() -> Path:
    """The Python that runs placet, without its environment."""
    return Path(os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable))


def interpreter(profile: Profile) -> str:
    """A Python that can be seen from inside: the one that runs placet, or the system's."""
    if not profile.mode.confines or visible(own(), profile):
        return str(own())
    for folder in FIXED_PATH.split(os.pathsep):
        if os.access(found := os.path.join(folder, "python3"), os.X_OK):
            return found
    raise SandboxUnavailable("There is no Python inside the sandbox", "install python3")
