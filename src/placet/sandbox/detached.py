"""Starting a program of the person's own that is no part of placet, and no child of it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from placet.sandbox.linux import awaited, privilege

_LET_GO = '"$@" </dev/null >/dev/null 2>&1 &'


def start_detached(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Start a program that outlives placet and whose ancestors are not placet: the shell between the two ends at once.

    Not for anything that an agent wants: nothing confines it. To be called before the first command: what a command
    leaves behind in this moment is not adopted.
    """
    with privilege.adopting_nobody(), awaited.hidden():
        subprocess.run(
            ["/bin/sh", "-c", _LET_GO, "sh", *argv],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=False,
            timeout=10,
        )
