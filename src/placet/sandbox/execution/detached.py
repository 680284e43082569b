"""Programs that are started for the person and are nobody's children afterwards: the browser, say."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

_SCRIPT = '"$@" </dev/null >/dev/null 2>&1 &'


def start_detached(argv: Sequence[str]) -> None:
    """Start a program that is no descendant of this process, so that what it does is not taken for an agent's doing.

    To be called before the first command runs: from then on this process adopts what its descendants leave behind.
    Errors of the program itself are not seen. Raises `OSError` if there is no shell.
    """
    words = ["/bin/sh", "-c", _SCRIPT, "sh", *argv]
    subprocess.run(words, stdin=subprocess.DEVNULL, start_new_session=True, check=False)
